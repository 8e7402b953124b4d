//! Operations of `tensor`, `bufferization` and `linalg`.

mod reshape;
mod slices;
pub(crate) mod structured;

use std::rc::Rc;

use sparsec_base::{Result, Scalar, code};
use sparsec_format::Format;
use sparsec_mlir::{Operation, Type, Value};
use sparsec_tensor::{Array, Tensor};

use crate::datum::{Datum, Growing, State, TensorHandle, array_of, dense};
use crate::kernel::format_of;
use crate::machine::{Frame, Machine, set};
use crate::memory::{advance, count};
use crate::numbers::bits::recast;

impl<'a> Machine<'a> {
    /// Whether an operation of `tensor` or `bufferization` was run.
    pub(crate) fn tensor_operation(
        &mut self,
        frame: &mut Frame,
        op: Operation<'a>,
    ) -> Result<bool> {
        let result = op.data().results.first().copied();
        let datum = match op.meaning() {
            "tensor.empty" => self.empty(frame, op, op.operands("dynamicSizes"))?,
            "bufferization.alloc_tensor" => match op.operands("copy") {
                [copied] => {
                    let handle = self.tensor_handle(frame, op, *copied)?;
                    Datum::Tensor(TensorHandle::of_state(handle.state()?))
                }
                _ => self.empty(frame, op, op.operands("dynamic_sizes"))?,
            },
            "tensor.splat" => {
                let value = self.number(frame, op, op.operand("input"))?;
                let dynamic = self.integers(frame, op, &op.data().operands[1..])?;
                let extents = self.extents_of(op, op.result_type("aggregate"), &dynamic)?;
                let splat = TensorHandle::splat(value, extents);
                self.in_format(op, splat, op.result_type("aggregate"))?
            }
            "tensor.from_elements" => {
                let element = self.element(op, op.result_type("result"))?;
                let values = op.operands("elements");
                let mut array = Array::zeroed(element, values.len())?;
                for (n, value) in values.iter().enumerate() {
                    array.set(n, self.number(frame, op, *value)?);
                }
                let extents = self.extents_of(op, op.result_type("result"), &[])?;
                let made = TensorHandle::new(dense(extents, array)?);
                self.in_format(op, made, op.result_type("result"))?
            }
            "tensor.generate" => self.generate(frame, op)?,
            "tensor.extract" => self.extract(frame, op)?,
            "tensor.insert" => self.insert_scalar(frame, op)?,
            "tensor.cast" => {
                let handle = self.tensor_handle(frame, op, op.operand("source"))?;
                let (from, to) = (op.operand_type("source"), op.result_type("dest"));
                self.check_extents(op, &handle.extents(), to)?;
                let is_slice = to.encoding().is_some_and(|it| it.is_slice());
                match from.encoding() == to.encoding() {
                    true => Datum::Tensor(handle),
                    false if is_slice => return Err(self.not_run(op)),
                    false => {
                        let is_sparse = from.encoding().is_some();
                        Datum::Tensor(self.converted(op, &handle, is_sparse, to)?)
                    }
                }
            }
            "tensor.bitcast" => self.bitcast(frame, op)?,
            "tensor.dim" => {
                let handle = self.tensor_handle(frame, op, op.operand("source"))?;
                self.extent(frame, op, &handle.extents())?
            }
            "tensor.rank" => {
                let handle = self.tensor_handle(frame, op, op.operand("tensor"))?;
                index(handle.extents().len() as i64)
            }
            "tensor.reshape" | "tensor.collapse_shape" | "tensor.expand_shape" => {
                self.reshape(frame, op)?
            }
            "tensor.extract_slice" => self.extract_slice(frame, op)?,
            "tensor.insert_slice" => self.insert_slice(frame, op)?,
            "tensor.pad" => self.pad(frame, op)?,
            "bufferization.dealloc_tensor" => {
                self.release(frame, op, op.operand("tensor"))?;
                return Ok(true);
            }
            "bufferization.to_memref" => self.memref_of(frame, op, op.operand("tensor"))?,
            "bufferization.to_tensor" => self.tensor_of(frame, op, op.operand("memref"))?,
            "bufferization.clone" => {
                let memref = self.memref(frame, op, op.operand("input"))?;
                let entries = self.memref_entries(op, &memref)?;
                Datum::MemRef(self.new_memref(entries, memref.sizes))
            }
            "bufferization.materialize_in_destination" => {
                let source = self.stored(frame, op, op.operand("source"))?;
                if let Datum::MemRef(_) = self.get(frame, op.operand("dest"))? {
                    let memref = self.memref(frame, op, op.operand("dest"))?;
                    let source = self.row_major(op, source)?;
                    let entries = source.vals().try_clone()?;
                    if memref.sizes != source.extents() || !memref.assign(entries) {
                        return Err(self
                            .outside(op, "the destination has another shape")
                            .help("give the destination the shape of the source"));
                    }
                    return Ok(true);
                }
                self.get(frame, op.operand("source"))?
            }
            _ => return Ok(false),
        };
        if let Some(result) = result {
            set(frame, result, datum);
        }
        Ok(true)
    }

    fn bitcast(&mut self, frame: &Frame, op: Operation<'a>) -> Result<Datum> {
        let ty = op.result_type("dest");
        if op.operand_type("source").element() == ty.element() {
            return self.get(frame, op.operand("source"));
        }
        let tensor = self.stored(frame, op, op.operand("source"))?;
        let tensor = self.row_major(op, tensor)?;
        let vals = tensor.vals();
        let entries: Vec<Scalar> = (0..vals.len()).map(|n| vals.get(n)).collect();
        let element = self.element(op, ty)?;
        let entries = recast(&entries, element).ok_or_else(|| self.not_run(op))?;
        let entries = array_of(element, &entries)?;
        let made = TensorHandle::new(dense(tensor.extents().to_vec(), entries)?);
        self.in_format(op, made, ty)
    }

    /// A tensor without entries, or of zeros.
    pub(crate) fn empty(
        &self,
        frame: &Frame,
        op: Operation<'a>,
        dynamic: &[Value],
    ) -> Result<Datum> {
        let ty = self.module.ty(op.data().results[0]);
        let dynamic = self.integers(frame, op, dynamic)?;
        let extents = self.extents_of(op, ty, &dynamic)?;
        let element = self.element(op, ty)?;
        let handle = match ty.encoding() {
            Some(_) => {
                let growing = Growing::new(format_of(ty)?, &extents, element);
                TensorHandle::of_state(State::Growing(Rc::new(growing)))
            }
            None => TensorHandle::splat(element.zero(), extents),
        };
        Ok(Datum::Tensor(handle))
    }

    /// Releases a tensor; later uses are refused.
    pub(crate) fn release(&self, frame: &Frame, op: Operation<'_>, value: Value) -> Result<()> {
        let by = op.data().span;
        match self.get(frame, value)? {
            Datum::Later(later) => {
                self.live(op, "tensor", later.released.get())?;
                later.released.set(Some(by));
            }
            datum => self.as_tensor(op, datum)?.release(by),
        }
        Ok(())
    }

    /// Refuses extents that a type does not have.
    pub(crate) fn check_extents(
        &self,
        op: Operation<'_>,
        extents: &[u64],
        ty: &Type,
    ) -> Result<()> {
        let Some(shape) = ty.shape() else {
            return Ok(());
        };
        let fits = |(known, extent): (&Option<u64>, &u64)| known.is_none_or(|it| it == *extent);
        if shape.len() == extents.len() && shape.iter().zip(extents).all(fits) {
            return Ok(());
        }
        let ty = self.module.spell().ty(ty);
        let message = format!("extents {extents:?} are not those of {ty}");
        let help = match shape.len() == extents.len() {
            true => "write `?` for extents that the program computes".to_owned(),
            false => format!("write a type of {} modes", extents.len()),
        };
        Err(self.fault(op, code::SHAPE_MISMATCH, message).help(help))
    }

    pub(crate) fn extent(
        &self,
        frame: &Frame,
        op: Operation<'a>,
        extents: &[u64],
    ) -> Result<Datum> {
        let mode = self.integer(frame, op, op.operand("index"))?;
        match usize::try_from(mode)
            .ok()
            .and_then(|mode| extents.get(mode))
        {
            Some(extent) => Ok(index(*extent as i64)),
            None => Err(self
                .outside(op, format!("mode {mode} of {} modes", extents.len()))
                .help("modes count from 0")),
        }
    }

    fn generate(&mut self, frame: &mut Frame, op: Operation<'a>) -> Result<Datum> {
        let ty = op.result_type("result");
        let dynamic = self.integers(frame, op, op.operands("dynamicExtents"))?;
        let extents = self.extents_of(op, ty, &dynamic)?;
        let n = count(&extents)?;
        let mut array = Array::zeroed(self.element(op, ty)?, n)?;
        let mut at = vec![0; extents.len()];
        let Some(block) = op.region("body").block else {
            return Err(self.not_run(op));
        };
        for n in 0..n {
            let args = at.iter().map(|at| index(*at)).collect();
            match self.block(frame, block, args)?.first() {
                Some(Datum::Number(value)) => array.set(n, *value),
                _ => return Err(self.not_run(op)),
            }
            advance(&mut at, &extents);
        }
        let made = TensorHandle::new(dense(extents, array)?);
        self.in_format(op, made, ty)
    }

    fn extract(&mut self, frame: &Frame, op: Operation<'a>) -> Result<Datum> {
        let handle = self.tensor_handle(frame, op, op.operand("tensor"))?;
        let at = self.integers(frame, op, op.operands("indices"))?;
        let extents = handle.extents();
        let coords = self.checked(op, &at, &extents)?;
        if let Some(value) = handle.uniform() {
            return Ok(Datum::Number(value));
        }
        Ok(Datum::Number(handle.tensor()?.get(&coords)))
    }

    /// Coordinates inside of extents.
    pub(crate) fn checked(
        &self,
        op: Operation<'_>,
        at: &[i64],
        extents: &[u64],
    ) -> Result<Vec<u64>> {
        let coords = at.iter().zip(extents).map(|(at, extent)| {
            let coord = u64::try_from(*at).ok();
            coord.filter(|coord| coord < extent)
        });
        let coords: Option<Vec<u64>> = coords.collect();
        match coords {
            Some(coords) if at.len() == extents.len() => Ok(coords),
            _ => Err(self.outside(
                op,
                format!("coordinates {at:?} of a tensor with extents {extents:?}"),
            )),
        }
    }

    fn insert_scalar(&mut self, frame: &mut Frame, op: Operation<'a>) -> Result<Datum> {
        let value = self.number(frame, op, op.operand("scalar"))?;
        let at = self.integers(frame, op, op.operands("indices"))?;
        let datum = self.taken(frame, op, op.operand("dest"))?;
        let handle = self.as_tensor(op, datum)?;
        if op.operand_type("dest").encoding().is_some() {
            return self.insert_entry(op, handle, &at, value);
        }
        let extents = handle.extents();
        let coords = self.checked(op, &at, &extents)?;
        let place = coords
            .iter()
            .zip(&extents)
            .fold(0, |place, (at, extent)| place * extent + at);
        let (_, extents, _, mut arrays) = handle.into_tensor()?.into_parts();
        let mut array = arrays.remove(0);
        array.set(place as usize, value);
        Ok(Datum::Tensor(TensorHandle::new(dense(extents, array)?)))
    }

    pub(crate) fn memref_of(
        &mut self,
        frame: &Frame,
        op: Operation<'a>,
        value: Value,
    ) -> Result<Datum> {
        let tensor = self.stored(frame, op, value)?;
        let tensor = self.row_major(op, tensor)?;
        let entries = tensor.vals().try_clone()?;
        Ok(Datum::MemRef(
            self.new_memref(entries, tensor.extents().to_vec()),
        ))
    }

    pub(crate) fn tensor_of(
        &mut self,
        frame: &Frame,
        op: Operation<'a>,
        value: Value,
    ) -> Result<Datum> {
        let memref = self.memref(frame, op, value)?;
        let entries = self.memref_entries(op, &memref)?;
        Ok(Datum::Tensor(TensorHandle::new(dense(
            memref.sizes,
            entries,
        )?)))
    }

    /// A dense tensor with its entries in the order of their coordinates, the last mode fastest.
    ///
    /// # Errors
    /// `E1060` for a tensor with sparse levels.
    pub(crate) fn row_major(
        &mut self,
        op: Operation<'a>,
        tensor: Rc<Tensor>,
    ) -> Result<Rc<Tensor>> {
        if tensor.format().has_sparse() {
            return Err(self.not_run(op));
        }
        let format = Format::dense(tensor.extents().len());
        match *tensor.format() == format {
            true => Ok(tensor),
            false => self.host.convert(&tensor, &format).map(Rc::new),
        }
    }

    /// A dense tensor in the format of a type.
    pub(crate) fn in_format(
        &mut self,
        op: Operation<'a>,
        handle: TensorHandle,
        ty: &Type,
    ) -> Result<Datum> {
        match ty.encoding() {
            Some(_) => self.converted(op, &handle, false, ty).map(Datum::Tensor),
            None => Ok(Datum::Tensor(handle)),
        }
    }
}

/// A number of type `index`.
pub(crate) fn index(value: i64) -> Datum {
    Datum::Number(sparsec_base::Scalar::I64(value))
}
