//! Structured operations: kernels run by the host, and their results.

use std::cell::Cell;
use std::rc::Rc;

use sparsec_base::{Result, Scalar, Span, code};
use sparsec_mlir::{Op, Operation, Value};
use sparsec_tensor::{Entries, Tensor};

use crate::datum::{Datum, TensorHandle, array_of, dense, pack};
use crate::kernel::{self, Kernel, Known, Outcome, Source, format_of, loop_extents};
use crate::machine::{Frame, Machine, set};
use crate::memory::{advance, count};
use crate::pointwise;
use crate::structured::Structured;

/// An operand of a structured operation.
#[derive(Clone, Debug)]
pub(crate) enum Operand {
    Number(Scalar),
    /// A tensor, or the copy of a memref.
    Tensor(TensorHandle),
    /// A result that waits for this operation.
    Later(Rc<Later>),
}

/// A result that waits for the one operation that reads it, with the operands of its kernel.
#[derive(Debug)]
pub(crate) struct Later {
    op: Op,
    kernel: Kernel,
    inputs: Vec<Rc<Tensor>>,
    extents: Vec<u64>,
    /// The place of its release.
    pub(crate) released: Cell<Option<Span>>,
}

impl Operand {
    pub(crate) fn extents(&self) -> Option<Vec<u64>> {
        match self {
            Self::Number(_) => None,
            Self::Tensor(handle) => Some(handle.extents()),
            Self::Later(later) => Some(later.extents.clone()),
        }
    }
}

impl<'a> Machine<'a> {
    /// Whether an operation of `linalg` was run.
    pub(crate) fn linalg(&mut self, frame: &mut Frame, op: Operation<'a>) -> Result<bool> {
        match op.name() {
            "linalg.init_tensor" => {
                let datum = self.empty(frame, op, op.operands("sizes"))?;
                set(frame, op.data().results[0], datum);
                return Ok(true);
            }
            "linalg.fill" => return self.fill(frame, op),
            _ => {}
        }
        let Some(structured) = Structured::of(op)? else {
            return Ok(false);
        };
        if structured.maps.len() != op.data().operands.len() {
            return Ok(false);
        }
        let mut operands: Vec<Operand> = op
            .data()
            .operands
            .iter()
            .map(|value| self.operand(frame, op, *value))
            .collect::<Result<_>>()?;
        let extents: Vec<Option<Vec<u64>>> = operands.iter().map(Operand::extents).collect();
        let loops = loop_extents(&structured, &extents)?;
        let known: Vec<Option<Known>> = operands
            .iter()
            .zip(&op.data().operands)
            .map(|(operand, value)| self.known(op, operand, *value))
            .collect::<Result<_>>()?;
        let tensors = match kernel::of_structured(&structured, &known, &loops)? {
            Some(kernel) => {
                let (whole, inputs) = self.joined(frame, op, &kernel, &mut operands)?;
                if let Some(result) = self.waits(op, &whole) {
                    let output = operands.pop().and_then(|output| output.extents());
                    let later = Later {
                        op: op.id(),
                        kernel: whole,
                        inputs,
                        extents: output.unwrap_or_default(),
                        released: Cell::new(None),
                    };
                    set(frame, result, Datum::Later(Rc::new(later)));
                    return Ok(true);
                }
                self.computed(frame, op, (&kernel, &mut operands), (&whole, &inputs))?
            }
            None => {
                self.compute_all(&mut operands)?;
                pointwise::evaluate(self, frame, &structured, &operands, &loops)?
            }
        };
        let outputs = &operands[structured.n_inputs()..];
        let mut results = op.data().results.iter();
        for ((output, tensor), value) in outputs.iter().zip(tensors).zip(op.operands("outputs")) {
            match (self.get(frame, *value)?, output) {
                (Datum::MemRef(memref), _) => {
                    let (.., mut arrays) = tensor.into_parts();
                    if !memref.assign(arrays.remove(0)) {
                        return Err(self.outside(op, "the result has another shape"));
                    }
                }
                _ => {
                    let Some(result) = results.next() else {
                        return Err(self.not_run(op));
                    };
                    set(frame, *result, Datum::Tensor(TensorHandle::new(tensor)));
                }
            }
        }
        Ok(true)
    }

    fn operand(&self, frame: &Frame, op: Operation<'a>, value: Value) -> Result<Operand> {
        Ok(match self.get(frame, value)? {
            Datum::Number(number) => Operand::Number(number),
            Datum::MemRef(_) => {
                let memref = self.memref(frame, op, value)?;
                let entries = self.memref_entries(op, &memref)?;
                Operand::Tensor(TensorHandle::new(dense(memref.sizes, entries)?))
            }
            Datum::Later(later) => {
                self.live(op, "tensor", later.released.get())?;
                Operand::Later(later)
            }
            datum => Operand::Tensor(self.as_tensor(op, datum)?),
        })
    }

    /// The facts of an operand: its type, and extents where the type has them.
    fn known(&self, op: Operation<'a>, operand: &Operand, value: Value) -> Result<Option<Known>> {
        let uniform = match operand {
            Operand::Number(_) => return Ok(None),
            Operand::Tensor(handle) => handle.uniform(),
            Operand::Later(_) => None,
        };
        let ty = self.module.ty(value);
        Ok(Some(Known {
            element: self.element(op, ty)?,
            format: format_of(ty)?,
            extents: ty.shape().unwrap_or_default(),
            uniform,
        }))
    }

    fn fill(&mut self, frame: &mut Frame, op: Operation<'a>) -> Result<bool> {
        let value = self.number(frame, op, op.operands("inputs")[0])?;
        let output = op.operands("outputs")[0];
        let ty = self.module.ty(output);
        let Some(value) = value.cast(self.element(op, ty)?) else {
            return Err(self.not_run(op));
        };
        if let Datum::MemRef(_) = self.get(frame, output)? {
            let memref = self.memref(frame, op, output)?;
            let n = count(&memref.sizes)?;
            let entries = sparsec_tensor::Array::filled(value, n)?;
            if !memref.assign(entries) {
                return Err(self.outside(op, "a part of the memref lies outside of its buffer"));
            }
            return Ok(true);
        }
        let extents = self.tensor_handle(frame, op, output)?.extents();
        let splat = TensorHandle::splat(value, extents);
        let datum = self.in_format(op, splat, ty)?;
        set(frame, op.data().results[0], datum);
        Ok(true)
    }

    /// The value of an operation that waits for its reader.
    fn waits(&self, op: Operation<'a>, kernel: &Kernel) -> Option<Value> {
        let result = *op.data().results.first()?;
        kernel::reader(self.module, op.id(), result, &self.uses)?;
        kernel.may_wait().then_some(result)
    }

    /// The kernel of an operation and of those that wait for it, with its inputs. Operands that
    /// do not fit into one program are computed.
    fn joined(
        &mut self,
        frame: &Frame,
        op: Operation<'a>,
        kernel: &Kernel,
        operands: &mut [Operand],
    ) -> Result<(Kernel, Vec<Rc<Tensor>>)> {
        let mut whole = kernel.clone();
        let mut inputs: Vec<Option<Rc<Tensor>>> = Vec::new();
        let mut waiting: Vec<(usize, Rc<Later>)> = Vec::new();
        for (n, source) in kernel.inputs.iter().enumerate() {
            inputs.push(match source {
                Source::Operand(number, _) => match &operands[*number] {
                    Operand::Later(later) => {
                        waiting.push((n, later.clone()));
                        None
                    }
                    operand => Some(tensor_of(operand)?),
                },
                Source::Captured(value) => {
                    let number = self.number(frame, op, *value)?;
                    Some(Rc::new(Tensor::scalar(number)))
                }
            });
        }
        while let Some((n, later)) = waiting.pop() {
            let mut same: Vec<(usize, usize)> = Vec::new();
            for (own, input) in inputs.iter().enumerate() {
                let Some(input) = input else { continue };
                let mut others = later.inputs.iter().enumerate();
                let other = others.find(|(number, other)| {
                    Rc::ptr_eq(input, other) && same.iter().all(|(taken, _)| taken != number)
                });
                same.extend(other.map(|(number, _)| (number, own)));
            }
            match whole.after(&later.kernel, n, &same) {
                Ok(Some((both, left))) => {
                    // The numbers of operands that still wait are those of the program of both.
                    let n_first = later.inputs.len();
                    for (waits, _) in &mut waiting {
                        let place = left.iter().position(|own| own == waits);
                        *waits = n_first + place.unwrap_or(0);
                    }
                    let first = later.inputs.iter().cloned().map(Some);
                    inputs = first
                        .chain(left.iter().map(|own| inputs[*own].clone()))
                        .collect();
                    whole = both;
                }
                _ => inputs[n] = Some(self.now(&later)?),
            }
        }
        let inputs: Option<Vec<Rc<Tensor>>> = inputs.into_iter().collect();
        Ok((whole, inputs.ok_or_else(|| self.not_run(op))?))
    }

    /// The tensor of a result that waits.
    fn now(&mut self, later: &Later) -> Result<Rc<Tensor>> {
        let op = self.module.op(later.op);
        let mut found = self
            .results(op, &later.kernel, &later.inputs)
            .map_err(|fault| self.placed(op, fault))?;
        match found.pop() {
            Some(tensor) => Ok(Rc::new(tensor)),
            None => Err(self.not_run(op)),
        }
    }

    /// Computes operands that wait.
    fn compute_all(&mut self, operands: &mut [Operand]) -> Result<()> {
        for operand in operands {
            if let Operand::Later(later) = operand {
                let tensor = self.now(&later.clone())?;
                *operand = Operand::Tensor(TensorHandle::of_shared(tensor));
            }
        }
        Ok(())
    }

    /// The results of an operation, by one program with those that wait for it. If that fails, one
    /// after another: the fault of an operation has its place.
    fn computed(
        &mut self,
        frame: &Frame,
        op: Operation<'a>,
        (kernel, operands): (&Kernel, &mut [Operand]),
        (whole, inputs): (&Kernel, &[Rc<Tensor>]),
    ) -> Result<Vec<Tensor>> {
        match self.results(op, whole, inputs) {
            Err(_) if whole.n_inner > 0 => {
                self.compute_all(operands)?;
                let (kernel, inputs) = self.joined(frame, op, kernel, operands)?;
                self.results(op, &kernel, &inputs)
            }
            found => found,
        }
    }

    fn results(
        &mut self,
        op: Operation<'a>,
        kernel: &Kernel,
        inputs: &[Rc<Tensor>],
    ) -> Result<Vec<Tensor>> {
        let mut found = self.host.compute(kernel, inputs)?.into_iter();
        let mut results = Vec::new();
        for outcome in &kernel.results {
            let (Some(value), kept) = (
                found.next(),
                outcome.has_kept.then(|| found.next()).flatten(),
            ) else {
                return Err(self.not_run(op));
            };
            results.push(self.settled(op, value, kept, *outcome)?);
        }
        Ok(results)
    }

    /// A result whose entries that are not stored are zero.
    fn settled(
        &self,
        op: Operation<'a>,
        value: Tensor,
        kept: Option<Tensor>,
        outcome: Outcome,
    ) -> Result<Tensor> {
        let element = value.element();
        let zero = element.zero();
        let is_sparse = value.format().has_sparse();
        if let (Some(kept), true) = (kept, is_sparse) {
            let format = value.format().clone();
            let mut entries = Entries::empty(value.extents(), element);
            let mut coords = Vec::new();
            let mut values = Vec::new();
            let mut keep = |at: &[u64], entry: Scalar| {
                coords.extend_from_slice(at);
                values.push(entry);
            };
            match kept.fill() {
                Scalar::Bool(true) => {
                    self.for_each_point(op, value.extents(), &mut |at| {
                        if kept.get(at) == Scalar::Bool(true) {
                            keep(at, value.get(at));
                        }
                    })?;
                }
                _ => value.for_each_stored(|at, entry| {
                    if kept.get(at) == Scalar::Bool(true) {
                        keep(at, entry);
                    }
                }),
            }
            entries.coords = coords.into();
            entries.values = array_of(element, &values)?;
            return pack(&format, entries);
        }
        if value.fill() == zero {
            return Ok(value);
        }
        if !is_sparse || outcome.drops_fill {
            let (format, extents, _, arrays) = value.into_parts();
            return Tensor::new(format, extents, element, zero, arrays);
        }
        // Every entry is stored.
        let mut entries = Entries::empty(value.extents(), element);
        let (mut coords, mut values) = (Vec::new(), Vec::new());
        self.for_each_point(op, value.extents(), &mut |at| {
            coords.extend_from_slice(at);
            values.push(value.get(at));
        })?;
        entries.coords = coords.into();
        entries.values = array_of(element, &values)?;
        pack(value.format(), entries)
    }

    /// All coordinates of a shape, the last mode fastest.
    pub(crate) fn for_each_point(
        &self,
        op: Operation<'a>,
        extents: &[u64],
        visit: &mut dyn FnMut(&[u64]),
    ) -> Result<()> {
        let n = count(extents)?;
        if n as u64 > MOST_POINTS {
            let message = format!("a result of {n} entries that are not zero");
            return Err(self
                .fault(op, code::RUN_LIMIT, message)
                .help("use smaller extents, or a body that gives zero for zeros"));
        }
        let mut at = vec![0i64; extents.len()];
        let mut coords = vec![0u64; extents.len()];
        for _ in 0..n {
            for (coord, at) in coords.iter_mut().zip(&at) {
                *coord = *at as u64;
            }
            visit(&coords);
            advance(&mut at, extents);
        }
        Ok(())
    }
}

/// The tensor of an operand that does not wait.
fn tensor_of(operand: &Operand) -> Result<Rc<Tensor>> {
    match operand {
        Operand::Tensor(handle) => handle.tensor(),
        Operand::Number(number) => Ok(Rc::new(Tensor::scalar(*number))),
        Operand::Later(later) => unreachable!("{:?} waits", later.op),
    }
}

/// The most points that are visited one by one.
pub(crate) const MOST_POINTS: u64 = 1 << 32;
