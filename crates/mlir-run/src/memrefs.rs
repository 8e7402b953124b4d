//! Operations of `memref` and `vector`.

mod vectors;

use std::rc::Rc;

use sparsec_base::{Result, code};
use sparsec_mlir::types::Layout;
use sparsec_mlir::{Operation, Type};
use sparsec_tensor::Array;

use crate::datum::Datum;
use crate::machine::{Frame, Machine, set};
use crate::memory::{MemRef, count};

impl<'a> Machine<'a> {
    /// Whether an operation of `memref` or `vector` was run.
    pub(crate) fn memref_operation(
        &mut self,
        frame: &mut Frame,
        op: Operation<'a>,
    ) -> Result<bool> {
        let datum = match op.name() {
            "memref.alloc" | "memref.alloca" => {
                let ty = op.result_type("memref");
                let dynamic = self.integers(frame, op, op.operands("dynamicSizes"))?;
                let sizes = self.extents_of(op, ty, &dynamic)?;
                let is_plain = match ty {
                    Type::MemRef(ty) => match &ty.layout {
                        None => true,
                        Some(Layout::Map(map)) => map.is_identity(),
                        Some(Layout::Strided { .. }) => false,
                    },
                    _ => true,
                };
                if !is_plain {
                    return Ok(false);
                }
                let array = Array::zeroed(self.element(op, ty)?, count(&sizes)?)?;
                Datum::MemRef(self.new_memref(array, sizes))
            }
            "memref.realloc" => {
                let memref = self.memref(frame, op, op.operand("source"))?;
                let ty = op.result_type("result");
                let dynamic = self.integers(frame, op, op.operands("dynamicResultSize"))?;
                let sizes = self.extents_of(op, ty, &dynamic)?;
                let old = self.memref_entries(op, &memref)?;
                let mut array = Array::zeroed(old.element(), count(&sizes)?)?;
                for n in 0..old.len().min(array.len()) {
                    array.set(n, old.get(n));
                }
                memref.buffer.released.set(Some(op.data().span));
                Datum::MemRef(self.new_memref(array, sizes))
            }
            "memref.dealloc" => {
                let memref = self.memref(frame, op, op.operand("memref"))?;
                memref.buffer.released.set(Some(op.data().span));
                return Ok(true);
            }
            "memref.load" => {
                let memref = self.memref(frame, op, op.operand("memref"))?;
                let at = self.integers(frame, op, op.operands("indices"))?;
                match memref.get(&at) {
                    Some(value) => Datum::Number(value),
                    None => return Err(self.outside_of_memref(op, &memref, &at)),
                }
            }
            "memref.store" => {
                let memref = self.memref(frame, op, op.operand("memref"))?;
                let at = self.integers(frame, op, op.operands("indices"))?;
                let value = self.number(frame, op, op.operand("value"))?;
                if !memref.set(&at, value) {
                    return Err(self.outside_of_memref(op, &memref, &at));
                }
                return Ok(true);
            }
            "memref.dim" => {
                let memref = self.memref(frame, op, op.operand("source"))?;
                self.extent(frame, op, &memref.sizes)?
            }
            "memref.cast" => {
                let memref = self.memref(frame, op, op.operand("source"))?;
                self.check_extents(op, &memref.sizes, op.result_type("dest"))?;
                Datum::MemRef(memref)
            }
            "memref.copy" => {
                let source = self.memref(frame, op, op.operand("source"))?;
                let target = self.memref(frame, op, op.operand("target"))?;
                let entries = self.memref_entries(op, &source)?;
                if source.sizes != target.sizes || !target.assign(entries) {
                    let message = format!(
                        "a copy of sizes {:?} to sizes {:?}",
                        source.sizes, target.sizes
                    );
                    return Err(self
                        .outside(op, message)
                        .help("give both memrefs the same sizes"));
                }
                return Ok(true);
            }
            "memref.subview" => self.subview(frame, op)?,
            "memref.buffer_cast" => self.memref_of(frame, op, op.operand("tensor"))?,
            "memref.tensor_load" => self.tensor_of(frame, op, op.operand("memref"))?,
            _ => return self.vector_operation(frame, op),
        };
        set(frame, op.data().results[0], datum);
        Ok(true)
    }

    pub(crate) fn outside_of_memref(
        &self,
        op: Operation<'a>,
        memref: &MemRef,
        at: &[i64],
    ) -> sparsec_base::Diagnostic {
        let message = format!(
            "coordinates {at:?} of a memref with sizes {:?}",
            memref.sizes
        );
        self.outside(op, message)
    }

    fn subview(&mut self, frame: &Frame, op: Operation<'a>) -> Result<Datum> {
        let memref = self.memref(frame, op, op.operand("source"))?;
        let offsets = self.mixed(frame, op, "static_offsets", "offsets")?;
        let sizes = self.mixed(frame, op, "static_sizes", "sizes")?;
        let by = self.mixed(frame, op, "static_strides", "strides")?;
        let mut view = MemRef {
            buffer: Rc::clone(&memref.buffer),
            offset: memref.offset,
            sizes: Vec::new(),
            strides: Vec::new(),
        };
        let wanted = op.result_type("result");
        let kept = Self::kept_modes(op, wanted);
        for (mode, extent) in memref.sizes.iter().enumerate() {
            let last = sizes[mode]
                .saturating_sub(1)
                .checked_mul(by[mode])
                .and_then(|last| last.checked_add(offsets[mode]));
            let is_inside = sizes[mode] >= 0
                && offsets[mode] >= 0
                && (sizes[mode] == 0 || last.is_some_and(|it| it >= 0 && (it as u64) < *extent));
            if !is_inside {
                return Err(self.outside(
                    op,
                    format!(
                        "offsets {offsets:?} and sizes {sizes:?} of a memref with sizes {:?}",
                        memref.sizes
                    ),
                ));
            }
            // A product past 64 bits belongs to a mode of size 0 or 1, so no entry is found by it.
            let offset = offsets[mode].wrapping_mul(memref.strides[mode]);
            view.offset = view.offset.wrapping_add(offset);
            if kept.contains(&mode) {
                let stride = memref.strides[mode].wrapping_mul(by[mode]);
                view.sizes.push(sizes[mode] as u64);
                view.strides.push(stride);
            }
        }
        if Some(view.sizes.len()) != wanted.shape().map(|shape| shape.len()) {
            return Err(self
                .fault(
                    op,
                    code::SHAPE_MISMATCH,
                    "a view of another order than its type",
                )
                .help("drop modes of size 1 only"));
        }
        Ok(Datum::MemRef(view))
    }
}
