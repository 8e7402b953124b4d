//! `tensor.reshape`, `collapse_shape` and `expand_shape`: the same entries in another shape.
//!
//! An entry keeps its number, counted with the last mode fastest.

use sparsec_base::{Result, code};
use sparsec_mlir::{Attribute, Operation};
use sparsec_tensor::Entries;

use crate::datum::{Datum, TensorHandle, array_of, dense, pack};
use crate::kernel::format_of;
use crate::machine::{Frame, Machine};
use crate::memory::n_places;

/// The number of places of a shape; `None` past 64 bits.
fn n_numbered<'e>(extents: impl IntoIterator<Item = &'e u64>) -> Option<u64> {
    n_places(extents)?.try_into().ok()
}

impl<'a> Machine<'a> {
    pub(super) fn reshape(&mut self, frame: &Frame, op: Operation<'a>) -> Result<Datum> {
        let source = self.stored(frame, op, op.data().operands[0])?;
        let ty = op.result_type("result");
        let extents = self.new_extents(frame, op, source.extents())?;
        let n = n_numbered(&extents);
        if n.is_none() || n != n_numbered(source.extents()) {
            let message = format!("extents {extents:?} for {:?}", source.extents());
            return Err(self
                .fault(op, code::SHAPE_MISMATCH, message)
                .help("keep the number of entries"));
        }
        if !source.format().has_sparse() && ty.encoding().is_none() {
            let source = self.row_major(op, source)?;
            let entries = source.vals().try_clone()?;
            return Ok(Datum::Tensor(TensorHandle::new(dense(extents, entries)?)));
        }
        // Zeros that a sparse tensor stores stay stored.
        let keeps_zeros = self.module.ty(op.data().operands[0]).encoding().is_some();
        let (mut coords, mut values) = (Vec::new(), Vec::new());
        source.for_each_stored(|at, value| {
            if value.is_zero() && !keeps_zeros {
                return;
            }
            values.push(value);
            let numbered = at.iter().zip(source.extents());
            let mut number = numbered.fold(0, |number, (at, extent)| number * extent + at);
            let start = coords.len();
            for extent in extents.iter().rev() {
                coords.push(number % extent);
                number /= extent;
            }
            coords[start..].reverse();
        });
        let moved = Entries {
            extents,
            coords: coords.into(),
            values: array_of(source.element(), &values)?,
        };
        Ok(Datum::Tensor(TensorHandle::new(pack(
            &format_of(ty)?,
            moved,
        )?)))
    }

    fn new_extents(&self, frame: &Frame, op: Operation<'a>, source: &[u64]) -> Result<Vec<u64>> {
        let ty = op.result_type("result");
        let shape = ty.shape().unwrap_or_default();
        if op.name() == "tensor.reshape" {
            let sizes = self.stored(frame, op, op.operand("shape"))?;
            let sizes = (0..sizes.vals().len()).map(|n| sizes.vals().get(n).to_integer());
            let sizes: Vec<i64> = sizes.map(|size| size.unwrap_or(0) as i64).collect();
            let open = shape
                .iter()
                .zip(&sizes)
                .filter(|(extent, _)| extent.is_none());
            let open: Vec<i64> = open.map(|(_, size)| *size).collect();
            return self.extents_of(op, ty, &open);
        }
        if let Some(Attribute::Numbers(..)) = op.attribute("static_output_shape") {
            let dynamic = self.integers(frame, op, op.operands("output_shape"))?;
            return self.extents_of(op, ty, &dynamic);
        }
        let Some(Attribute::Array(groups)) = op.attribute("reassociation") else {
            return Err(self.not_run(op));
        };
        let groups: Option<Vec<Vec<i128>>> = groups.iter().map(Attribute::integers).collect();
        let groups = groups.ok_or_else(|| self.not_run(op))?;
        if op.meaning() == "tensor.collapse_shape" {
            let product =
                |group: &Vec<i128>| n_numbered(group.iter().map(|mode| &source[*mode as usize]));
            let extents: Option<Vec<u64>> = groups.iter().map(product).collect();
            return extents.ok_or_else(|| {
                self.outside(op, "an extent of more than 64 bits")
                    .help("collapse fewer modes into one")
            });
        }
        // Each group has at most one open extent.
        let mut extents: Vec<u64> = shape.iter().map(|extent| extent.unwrap_or(0)).collect();
        for (group, whole) in groups.iter().zip(source) {
            let known = group.iter().filter_map(|mode| shape[*mode as usize]);
            let known: Vec<u64> = known.collect();
            let known = n_numbered(&known);
            for mode in group {
                if shape[*mode as usize].is_none() {
                    extents[*mode as usize] = known
                        .and_then(|known| whole.checked_div(known))
                        .unwrap_or(0);
                }
            }
        }
        Ok(extents)
    }
}
