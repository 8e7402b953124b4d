//! The arrays of levels: as memrefs, as tensors, and back.
//!
//! ```text
//! (i, j) -> (i : compressed(nonunique), j : singleton)
//! positions 0     0 3
//! coordinates     0 1 | 0 3 | 2 0      tuples, unless the singleton is `soa`
//! ```

mod assembly;
mod batches;

use sparsec_base::{Result, Scalar};
use sparsec_mlir::affine::AffineOp;
use sparsec_mlir::encoding::LevelExpr;
use sparsec_mlir::{AffineExpr, Attribute, Encoding, Operation};
use sparsec_tensor::{Array, Tensor};

use crate::datum::Datum;
use crate::machine::{Frame, Machine, set};
use crate::memory::{MemRef, count};
use crate::tensors::index;

pub(crate) use batches::{Batches, Rows};

/// The extents of the levels of a tensor.
pub(crate) fn level_sizes(tensor: &Tensor) -> Vec<u64> {
    let known: Vec<Option<u64>> = tensor.extents().iter().copied().map(Some).collect();
    let levels = tensor.format().level_extents(&known).into_iter();
    let size = |l: usize| match tensor.level(l).size() {
        sizes if sizes.is_empty() => 0,
        sizes => sizes.get(0) as u64,
    };
    levels
        .enumerate()
        .map(|(l, extent)| extent.unwrap_or_else(|| size(l)))
        .collect()
}

/// The coordinates of levels at coordinates of modes.
pub(crate) fn to_levels(encoding: &Encoding, modes: &[i64]) -> Option<Vec<i64>> {
    let levels = encoding.levels.iter();
    levels
        .map(|level| match &level.expression {
            LevelExpr::Affine(expression) => expression.value(modes, &[]),
            LevelExpr::Other(_) => None,
        })
        .collect()
}

/// The coordinates of modes at coordinates of levels: those of a level that is the mode, or
/// of a quotient and a remainder.
pub(crate) fn to_modes(encoding: &Encoding, levels: &[i64]) -> Option<Vec<i64>> {
    of_levels(encoding, levels, |block, inside, by| {
        block.checked_mul(by)?.checked_add(inside)
    })
}

/// The extents of modes with these extents of levels.
pub(crate) fn extents_of_levels(encoding: &Encoding, sizes: &[u64]) -> Option<Vec<u64>> {
    let sizes: Vec<i64> = sizes.iter().map(|size| *size as i64).collect();
    let extents = of_levels(encoding, &sizes, |blocks, _, by| blocks.checked_mul(by))?;
    extents
        .into_iter()
        .map(|it| u64::try_from(it).ok())
        .collect()
}

fn of_levels(
    encoding: &Encoding,
    levels: &[i64],
    joined: impl Fn(i64, i64, i64) -> Option<i64>,
) -> Option<Vec<i64>> {
    let affine = |n: usize| match &encoding.levels[n].expression {
        LevelExpr::Affine(expression) => Some(expression),
        LevelExpr::Other(_) => None,
    };
    let part = |wanted: AffineOp, mode: usize| {
        (0..encoding.n_levels()).find_map(|n| match affine(n)? {
            AffineExpr::Binary(op, of, by) if *op == wanted && of.dimension() == Some(mode) => {
                match **by {
                    AffineExpr::Constant(by) => Some((*levels.get(n)?, by)),
                    _ => None,
                }
            }
            _ => None,
        })
    };
    let modes = (0..encoding.n_modes).map(|mode| {
        let whole = (0..encoding.n_levels())
            .find(|n| affine(*n).and_then(AffineExpr::dimension) == Some(mode));
        if let Some(level) = whole {
            return levels.get(level).copied();
        }
        let (block, by) = part(AffineOp::FloorDivide, mode)?;
        let (inside, _) = part(AffineOp::Modulo, mode)?;
        joined(block, inside, by)
    });
    modes.collect()
}

impl<'a> Machine<'a> {
    /// Whether an operation on the arrays of a tensor was run.
    pub(crate) fn array_operation(&mut self, frame: &mut Frame, op: Operation<'a>) -> Result<bool> {
        let word = op.name().strip_prefix("sparse_tensor.").unwrap_or_default();
        let datum = match word {
            "positions" | "pointers" => {
                let level = self.level(frame, op)?;
                let (tensor, encoding) = self.with_encoding(frame, op)?;
                let batches = Batches::of(&tensor, encoding);
                let rows = batches.positions(level);
                let rows = rows.ok_or_else(|| self.not_run(op))?;
                Datum::MemRef(self.index_memref(op, &batches, &rows)?)
            }
            "coordinates" | "indices" => {
                let level = self.level(frame, op)?;
                let (tensor, encoding) = self.with_encoding(frame, op)?;
                let batches = Batches::of(&tensor, encoding);
                let tuples = encoding.tuples_start().filter(|from| level >= *from);
                let Some(from) = tuples else {
                    let memref = self.index_memref(op, &batches, &batches.coords(level))?;
                    return self.view(frame, op, memref, false);
                };
                // One number of each tuple.
                let width = encoding.n_levels() - from;
                let mut part = self.index_memref(op, &batches, &batches.tuples(from))?;
                let last = part.sizes.len() - 1;
                part.offset = (level - from) as i64;
                part.sizes[last] /= width as u64;
                part.strides[last] = width as i64;
                Datum::MemRef(part)
            }
            "coordinates_buffer" | "indices_buffer" => {
                let (tensor, encoding) = self.with_encoding(frame, op)?;
                let from = encoding.coo_start().ok_or_else(|| self.not_run(op))?;
                let batches = Batches::of(&tensor, encoding);
                Datum::MemRef(self.index_memref(op, &batches, &batches.tuples(from))?)
            }
            "values" => {
                let handle = self.tensor_handle(frame, op, op.operand("tensor"))?;
                let (tensor, encoding) = self.with_encoding(frame, op)?;
                let batches = Batches::of(&tensor, encoding);
                let vals = tensor.vals();
                if batches.sizes.is_empty() {
                    let known = handle.values_in_memory();
                    let known = known.filter(|it| it.array.borrow().len() == vals.len());
                    let memref = match known {
                        Some(buffer) => MemRef::whole(buffer),
                        None => self.new_memref(vals.try_clone()?, batches.sizes_of(vals.len())),
                    };
                    return self.view(frame, op, memref, true);
                }
                let rows = batches.values();
                let longest = rows.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
                let mut entries = Array::zeroed(vals.element(), rows.len() * longest)?;
                for (batch, row) in rows.into_iter().enumerate() {
                    for (n, at) in row.enumerate() {
                        entries.set(batch * longest + n, vals.get(at));
                    }
                }
                Datum::MemRef(self.new_memref(entries, batches.sizes_of(longest)))
            }
            "assemble" | "pack" | "tensor" => self.assemble(frame, op)?,
            "disassemble" | "unpack" => return self.disassemble(frame, op),
            "push_back" => return self.push_back(frame, op),
            _ => return Ok(false),
        };
        if let Datum::MemRef(memref) = datum {
            return self.view(frame, op, memref, false);
        }
        set(frame, op.data().results[0], datum);
        Ok(true)
    }

    /// Gives the program memory of an array of a tensor: of its values in order, or of another.
    fn view(
        &self,
        frame: &mut Frame,
        op: Operation<'a>,
        memref: MemRef,
        is_values: bool,
    ) -> Result<bool> {
        let tensor = self.tensor_handle(frame, op, op.operand("tensor"))?;
        tensor.viewed_by(&memref.buffer, is_values);
        set(frame, op.data().results[0], Datum::MemRef(memref));
        Ok(true)
    }

    /// The level of an attribute, or of an operand in early releases.
    fn level(&self, frame: &Frame, op: Operation<'a>) -> Result<usize> {
        let attributes = ["level", "dimension"].into_iter();
        let mut found = attributes.filter_map(|name| op.attribute(name)?.natural());
        if let Some(level) = found.next() {
            return Ok(level as usize);
        }
        let level = self.integer(frame, op, op.operand("dim"))?;
        let n_levels = op
            .operand_type("tensor")
            .encoding()
            .map_or(0, |it| it.n_levels());
        match usize::try_from(level) {
            Ok(level) if level < n_levels => Ok(level),
            _ => Err(self.outside(op, format!("level {level} of {n_levels}"))),
        }
    }

    fn with_encoding(
        &self,
        frame: &Frame,
        op: Operation<'a>,
    ) -> Result<(std::rc::Rc<Tensor>, &'a Encoding)> {
        let tensor = self.stored(frame, op, op.operand("tensor"))?;
        match op.operand_type("tensor").encoding() {
            Some(encoding) => Ok((tensor, encoding)),
            None => Err(self.not_run(op)),
        }
    }

    /// A new buffer of numbers, in the type of the operation's result.
    fn index_memref(
        &mut self,
        op: Operation<'a>,
        batches: &Batches<'_>,
        rows: &Rows,
    ) -> Result<MemRef> {
        let ty = self.module.ty(op.data().results[0]);
        let element = self.element(op, ty)?;
        let longest = rows.iter().map(Vec::len).max().unwrap_or(0);
        let mut array = Array::zeroed(element, rows.len() * longest)?;
        for (batch, row) in rows.iter().enumerate() {
            for (n, number) in row.iter().enumerate() {
                array.set(batch * longest + n, Scalar::from_i64(element, *number));
            }
        }
        Ok(self.new_memref(array, batches.sizes_of(longest)))
    }

    fn push_back(&mut self, frame: &mut Frame, op: Operation<'a>) -> Result<bool> {
        let size = self.integer(frame, op, op.operand("curSize"))?;
        let memref = self.memref(frame, op, op.operand("inBuffer"))?;
        let value = self.number(frame, op, op.operand("value"))?;
        let n = match op.operands("n") {
            [n] => self.integer(frame, op, *n)?,
            _ => 1,
        };
        let Some(new_size) = size.checked_add(n).filter(|_| size >= 0 && n >= 0) else {
            return Err(self.outside(op, format!("{n} entries behind {size}")));
        };
        let mut buffer = memref.clone();
        let capacity = memref.sizes[0].max(1);
        if new_size as u64 > memref.sizes[0] {
            if op.attribute("inbounds") == Some(&Attribute::Unit) {
                let message = format!("{new_size} entries in a buffer of {}", memref.sizes[0]);
                return Err(self.outside(op, message));
            }
            let mut grown = capacity;
            while grown < new_size as u64 {
                grown = grown.saturating_mul(2);
            }
            let old = self.memref_entries(op, &memref)?;
            let mut array = Array::zeroed(old.element(), count(&[grown])?)?;
            for n in 0..old.len() {
                array.set(n, old.get(n));
            }
            buffer = self.new_memref(array, vec![grown]);
        }
        for at in size..new_size {
            buffer.set(&[at], value);
        }
        self.set_results(frame, op, vec![Datum::MemRef(buffer), index(new_size)])?;
        Ok(true)
    }
}
