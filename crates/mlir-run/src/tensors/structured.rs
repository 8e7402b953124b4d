//! Structured operations: kernels run by the host, and their results.

mod zeros;

use std::cell::Cell;
use std::rc::Rc;

use sparsec_base::{ElementType, Result, Scalar, Span, code};
use sparsec_mlir::module::Origin;
use sparsec_mlir::{Attribute, Op, Operation, Type, Value};
use sparsec_tensor::{Entries, Tensor};

use crate::constants::attribute_number;
use crate::datum::{Datum, TensorHandle, array_of, dense, pack, repacked};
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

/// A result that waits for the one operation that reads it.
#[derive(Debug)]
pub(crate) struct Later {
    work: Work,
    extents: Vec<u64>,
    /// The place of its release.
    pub(crate) released: Cell<Option<Span>>,
}

/// The kernel of an operation with its inputs.
#[derive(Debug)]
struct Work {
    op: Op,
    kernel: Kernel,
    inputs: Vec<Input>,
    /// The kernel with those of the results that wait, and its inputs.
    whole: (Kernel, Vec<Rc<Tensor>>),
}

#[derive(Clone, Debug)]
enum Input {
    Here(Rc<Tensor>),
    Later(Rc<Later>),
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
        if let Some(place) = structured.outside(&extents, &loops) {
            return Err(self.outside(op, place));
        }
        let known: Vec<Option<Known>> = operands
            .iter()
            .zip(&op.data().operands)
            .map(|(operand, value)| self.known(op, operand, *value))
            .collect::<Result<_>>()?;
        let tensors = match kernel::of_structured(&structured, &known, &loops)? {
            Some(kernel) => {
                let work = self.work(frame, op, kernel, &operands)?;
                if let Some(result) = self.waits(op, &work.whole.0) {
                    let output = operands.pop().and_then(|output| output.extents());
                    let later = Later {
                        work,
                        extents: output.unwrap_or_default(),
                        released: Cell::new(None),
                    };
                    set(frame, result, Datum::Later(Rc::new(later)));
                    return Ok(true);
                }
                self.done(&work)?
            }
            None => {
                self.compute_all(&mut operands)?;
                let found = pointwise::evaluate(self, frame, &structured, &operands, &loops)?;
                let found = found
                    .into_iter()
                    .map(|tensor| zeros::without_zeros(op, tensor));
                found.collect::<Result<_>>()?
            }
        };
        let outputs = &operands[structured.n_inputs()..];
        let mut results = op.data().results.iter();
        for ((output, tensor), value) in outputs.iter().zip(tensors).zip(op.operands("outputs")) {
            match (self.get(frame, *value)?, output) {
                (Datum::MemRef(memref), _) => {
                    let (.., mut arrays) = tensor.into_parts();
                    if !memref.assign(arrays.remove(0)) {
                        return Err(self
                            .outside(op, "the result has another shape")
                            .help("give the output the shape of the result"));
                    }
                }
                _ => {
                    let Some(result) = results.next() else {
                        return Err(self.not_run(op));
                    };
                    let handle = TensorHandle::new(tensor);
                    if self.is_in_place(op, *value)
                        && let Datum::Tensor(caller) = self.get(frame, *value)?
                    {
                        let computed = handle.0.state.borrow().clone();
                        *caller.0.state.borrow_mut() = computed;
                    }
                    set(frame, *result, Datum::Tensor(handle));
                }
            }
        }
        Ok(true)
    }

    /// Whether an output is an argument `{linalg.inplaceable = true}` of a function. Releases 13 and
    /// 14 then compute kernels of sparse operands in the tensor of the caller.
    fn is_in_place(&self, op: Operation<'a>, output: Value) -> bool {
        let mut types = op
            .data()
            .operands
            .iter()
            .map(|value| self.module.ty(*value));
        if self.module.dialect().release() > 14 || types.all(|ty| ty.encoding().is_none()) {
            return false;
        }
        let Origin::Argument(block, number) = self.module.value(output).origin else {
            return false;
        };
        let region = self.module.block(block).region;
        let Some(function) = self.module.region(region).op else {
            return false;
        };
        let Some(Attribute::Array(all)) = self.module.op(function).attribute("arg_attrs") else {
            return false;
        };
        let Some(Attribute::Dictionary(own)) = all.get(number) else {
            return false;
        };
        let in_place = ("linalg.inplaceable".to_owned(), Attribute::Bool(true));
        own.contains(&in_place)
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
            datum => {
                let handle = self.as_tensor(op, datum)?;
                Operand::Tensor(self.with_explicit_value(op, self.module.ty(value), handle)?)
            }
        })
    }

    /// The tensor with the value that its encoding states for all entries, if it states one.
    fn with_explicit_value(
        &self,
        op: Operation<'a>,
        ty: &Type,
        handle: TensorHandle,
    ) -> Result<TensorHandle> {
        let value = ty.encoding().and_then(|it| it.explicit_value.as_ref());
        let Some(value) = value else {
            return Ok(handle);
        };
        let tensor = handle.tensor()?;
        let value = attribute_number(value, tensor.element());
        let value = value.ok_or_else(|| self.not_run(op))?;
        let vals = tensor.vals();
        if (0..vals.len()).all(|n| vals.get(n) == value) {
            return Ok(handle);
        }
        let given = |_| Some(value);
        let made = repacked(&tensor, tensor.element(), tensor.format(), given)?;
        Ok(TensorHandle::new(made))
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
        let element = self.element(op, ty)?;
        // `true` is -1, as an integer of one bit with a sign.
        let value = match value {
            Scalar::Bool(true) if element != ElementType::Bool => Scalar::I64(-1),
            value => value,
        };
        let Some(value) = value.cast(element) else {
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
        let outputs = op.operands("outputs");
        if outputs.iter().any(|output| self.is_in_place(op, *output)) {
            return None;
        }
        kernel::reader(self.module, op.id(), result, &self.uses)?;
        kernel.may_wait().then_some(result)
    }

    /// The kernel of an operation with its inputs. Those that wait are a part of it, if their
    /// programs and that of the operation fit together.
    fn work(
        &mut self,
        frame: &Frame,
        op: Operation<'a>,
        kernel: Kernel,
        operands: &[Operand],
    ) -> Result<Work> {
        let mut inputs = Vec::new();
        for source in &kernel.inputs {
            inputs.push(match source {
                Source::Operand(number, _) => match &operands[*number] {
                    Operand::Later(later) => Input::Later(later.clone()),
                    Operand::Tensor(handle) => Input::Here(handle.tensor()?),
                    Operand::Number(number) => Input::Here(Rc::new(Tensor::scalar(*number))),
                },
                Source::Captured(value) => {
                    let number = self.number(frame, op, *value)?;
                    Input::Here(Rc::new(Tensor::scalar(number)))
                }
            });
        }
        let (mut whole, mut left) = (kernel.clone(), inputs.clone());
        let is_later = |input: &Input| matches!(input, Input::Later(_));
        while let Some(n) = left.iter().position(is_later) {
            let Input::Later(later) = &left[n] else {
                return Err(self.not_run(op));
            };
            let later = later.clone();
            let (producer, first) = &later.work.whole;
            match whole.after(producer, n, &shared(first, &left)) {
                Ok(Some((both, own))) => {
                    let first = first.iter().cloned().map(Input::Here);
                    let rest = own.iter().map(|own| left[*own].clone());
                    left = first.chain(rest).collect();
                    whole = both;
                }
                _ => left[n] = Input::Here(self.now(&later)?),
            }
        }
        let left = left.into_iter().filter_map(|input| match input {
            Input::Here(tensor) => Some(tensor),
            Input::Later(_) => None,
        });
        Ok(Work {
            op: op.id(),
            kernel,
            inputs,
            whole: (whole, left.collect()),
        })
    }

    /// The tensor of a result that waits.
    fn now(&mut self, later: &Later) -> Result<Rc<Tensor>> {
        let op = self.module.op(later.work.op);
        let found = self.done(&later.work);
        let mut found = found.map_err(|fault| self.placed(op, fault))?;
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
    fn done(&mut self, work: &Work) -> Result<Vec<Tensor>> {
        let op = self.module.op(work.op);
        let (whole, inputs) = &work.whole;
        let found = self.results(op, whole, inputs);
        if found.is_ok() || whole.n_inner == 0 {
            return found;
        }
        let mut inputs = Vec::new();
        for input in &work.inputs {
            inputs.push(match input {
                Input::Here(tensor) => tensor.clone(),
                Input::Later(later) => self.now(later)?,
            });
        }
        self.results(op, &work.kernel, &inputs)
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
            results.push(zeros::without_zeros(
                op,
                self.settled(op, value, kept, *outcome)?,
            )?);
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
                _ => kept.for_each_stored(|at, is_kept| {
                    if is_kept == Scalar::Bool(true) {
                        keep(at, value.get(at));
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

/// The inputs of a producer and of its reader that are the same tensor, each once.
fn shared(first: &[Rc<Tensor>], next: &[Input]) -> Vec<(usize, usize)> {
    let mut same: Vec<(usize, usize)> = Vec::new();
    for (own, input) in next.iter().enumerate() {
        let Input::Here(input) = input else { continue };
        let mut others = first.iter().enumerate();
        let other = others.find(|(number, other)| {
            Rc::ptr_eq(input, other) && same.iter().all(|(taken, _)| taken != number)
        });
        same.extend(other.map(|(number, _)| (number, own)));
    }
    same
}

/// The most points that are visited one by one.
pub(crate) const MOST_POINTS: u64 = 1 << 32;
