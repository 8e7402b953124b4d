//! `tensor.extract_slice`, `insert_slice` and `pad`.

use sparsec_base::{Result, Scalar};
use sparsec_mlir::{Attribute, Operation, Type};
use sparsec_tensor::{Array, Entries, Tensor};

use crate::datum::{Datum, Source, TensorHandle, array_of, dense, pack};
use crate::kernel::format_of;
use crate::machine::{Frame, Machine};
use crate::memory::{advance, count};

use super::index;

/// A rectangle of every `stride`th coordinate.
struct Window {
    offsets: Vec<i64>,
    sizes: Vec<i64>,
    strides: Vec<i64>,
}

impl Window {
    /// The coordinates outside of those inside; `None` past 64 bits.
    fn outer(&self, at: &[i64]) -> Option<Vec<i64>> {
        let modes = at.iter().zip(&self.strides).zip(&self.offsets);
        modes
            .map(|((at, stride), offset)| at.checked_mul(*stride)?.checked_add(*offset))
            .collect()
    }

    /// The coordinates inside of those outside.
    fn inner(&self, mode: usize, at: u64) -> Option<u64> {
        let from = (at as i64).checked_sub(self.offsets[mode])?;
        let stride = self.strides[mode];
        if from < 0 || stride <= 0 || from % stride != 0 || from / stride >= self.sizes[mode] {
            return None;
        }
        Some((from / stride) as u64)
    }
}

/// Calls `found` with the stored entries of a tensor that has an encoding, zeros too, or with the
/// entries of another that are not zero.
fn for_each_entry(tensor: &Tensor, ty: &Type, mut found: impl FnMut(&[u64], Scalar)) {
    let is_encoded = ty.encoding().is_some();
    tensor.for_each_stored(|at, value| {
        if is_encoded || !value.is_zero() {
            found(at, value);
        }
    });
}

impl<'a> Machine<'a> {
    /// A list of numbers, in which operands stand for dynamic ones.
    pub(crate) fn mixed(
        &self,
        frame: &Frame,
        op: Operation<'a>,
        numbers: &str,
        operands: &str,
    ) -> Result<Vec<i64>> {
        let numbers = op.attribute(numbers).and_then(Attribute::integers);
        let dynamic = self.integers(frame, op, op.operands(operands))?;
        let mut dynamic = dynamic.into_iter();
        let numbers = numbers.unwrap_or_default().into_iter();
        let found = numbers.map(|number| match i64::try_from(number) {
            // The numbers of the dialect and of releases before 17 that stand for operands.
            Ok(i64::MIN) => dynamic.next(),
            Ok(number) => Some(number),
            Err(_) => None,
        });
        let found: Option<Vec<i64>> = found.collect();
        found.ok_or_else(|| self.not_run(op))
    }

    fn window(&self, frame: &Frame, op: Operation<'a>, whole: &[u64]) -> Result<Window> {
        let window = Window {
            offsets: self.mixed(frame, op, "static_offsets", "offsets")?,
            sizes: self.mixed(frame, op, "static_sizes", "sizes")?,
            strides: self.mixed(frame, op, "static_strides", "strides")?,
        };
        let last: Vec<i64> = window
            .sizes
            .iter()
            .map(|size| size.saturating_sub(1))
            .collect();
        let fits = |at: &[i64]| {
            let mut modes = at.iter().zip(whole);
            modes.all(|(at, extent)| *at >= 0 && (*at as u64) < *extent)
        };
        let is_empty = window.sizes.contains(&0);
        let outer = window.outer(&last).filter(|last| fits(last));
        let is_inside = window.sizes.iter().all(|size| *size >= 0)
            && (is_empty || (outer.is_some() && fits(&window.offsets)));
        match is_inside {
            true => Ok(window),
            false => Err(self.outside(
                op,
                format!(
                    "offsets {:?} and sizes {:?} of a tensor with extents {whole:?}",
                    window.offsets, window.sizes
                ),
            )),
        }
    }

    /// The modes of a window that a type keeps: all but some whose size is written as 1.
    pub(crate) fn kept_modes(op: Operation<'a>, ty: &Type) -> Vec<usize> {
        let sizes = op.attribute("static_sizes").and_then(Attribute::integers);
        let sizes = sizes.unwrap_or_default();
        let shape = ty.shape().unwrap_or_default();
        let mut dropped = sizes.len().saturating_sub(shape.len());
        let mut kept = Vec::new();
        for (mode, size) in sizes.iter().enumerate() {
            let is_one = shape.get(kept.len()) == Some(&Some(1));
            if *size == 1 && dropped > 0 && !is_one {
                dropped -= 1;
                continue;
            }
            kept.push(mode);
        }
        kept
    }

    pub(super) fn extract_slice(&mut self, frame: &Frame, op: Operation<'a>) -> Result<Datum> {
        let source = self.stored(frame, op, op.operand("source"))?;
        let ty = op.result_type("result");
        let window = self.window(frame, op, source.extents())?;
        let modes = Self::kept_modes(op, ty);
        let extents: Vec<u64> = modes
            .iter()
            .map(|mode| window.sizes[*mode] as u64)
            .collect();
        self.check_extents(op, &extents, ty)?;
        if !source.format().has_sparse() && ty.encoding().is_none() {
            let array = self.dense_window(&source, &window)?;
            return Ok(Datum::Tensor(TensorHandle::new(dense(extents, array)?)));
        }
        let (mut coords, mut values) = (Vec::new(), Vec::new());
        for_each_entry(&source, op.operand_type("source"), |at, value| {
            let outer = at.iter().enumerate();
            let inner: Option<Vec<u64>> = outer.map(|(mode, at)| window.inner(mode, *at)).collect();
            if let Some(inner) = inner {
                coords.extend(modes.iter().map(|mode| inner[*mode]));
                values.push(value);
            }
        });
        let entries = Entries {
            extents,
            coords: coords.into(),
            values: array_of(source.element(), &values)?,
        };
        let tensor = pack(&format_of(ty)?, entries)?;
        let handle = TensorHandle::new(tensor);
        let whole = self.tensor_handle(frame, op, op.operand("source"))?;
        let slice = window.offsets.into_iter().zip(window.strides).collect();
        let made = handle.made_from(Source::Whole(whole), slice);
        made.map(Datum::Tensor)
    }

    fn dense_window(&self, source: &Tensor, window: &Window) -> Result<Array> {
        let sizes: Vec<u64> = window.sizes.iter().map(|size| *size as u64).collect();
        let n = count(&sizes)?;
        let mut array = Array::zeroed(source.element(), n)?;
        let mut at = vec![0; sizes.len()];
        for n in 0..n {
            let outer = window.outer(&at).unwrap_or_default();
            let outer: Vec<u64> = outer.into_iter().map(|at| at as u64).collect();
            array.set(n, source.get(&outer));
            advance(&mut at, &sizes);
        }
        Ok(array)
    }

    pub(super) fn insert_slice(&mut self, frame: &Frame, op: Operation<'a>) -> Result<Datum> {
        let source = self.stored(frame, op, op.operand("source"))?;
        let dest = self.stored(frame, op, op.operand("dest"))?;
        let window = self.window(frame, op, dest.extents())?;
        if source.format().has_sparse() || dest.format().has_sparse() {
            return self.insert_entries(op, &source, &dest, &window);
        }
        let (source, dest) = (self.row_major(op, source)?, self.row_major(op, dest)?);
        let extents = dest.extents().to_vec();
        let mut array = dest.vals().try_clone()?;
        let sizes: Vec<u64> = window.sizes.iter().map(|size| *size as u64).collect();
        if count(&sizes)? != source.vals().len() {
            return Err(self
                .outside(op, "the source has another size than the window")
                .help("give the window the sizes of the source"));
        }
        let mut at = vec![0; sizes.len()];
        for n in 0..source.vals().len() {
            let outer = window.outer(&at).unwrap_or_default();
            let mut place = 0;
            for (at, extent) in outer.iter().zip(&extents) {
                place = place * *extent as usize + *at as usize;
            }
            array.set(place, source.vals().get(n));
            advance(&mut at, &sizes);
        }
        let made = TensorHandle::new(dense(extents, array)?);
        self.in_format(op, made, op.result_type("result"))
    }

    /// The entries of the destination outside of the window, and those of the source inside.
    fn insert_entries(
        &self,
        op: Operation<'a>,
        source: &Tensor,
        dest: &Tensor,
        window: &Window,
    ) -> Result<Datum> {
        let modes = Self::kept_modes(op, self.module.ty(op.operand("source")));
        let sizes = modes.iter().map(|mode| window.sizes[*mode] as u64);
        if !sizes.eq(source.extents().iter().copied()) {
            return Err(self
                .outside(op, "the source has another size than the window")
                .help("give the window the sizes of the source"));
        }
        let (mut coords, mut values) = (Vec::new(), Vec::new());
        for_each_entry(dest, op.operand_type("dest"), |at, value| {
            let mut modes = at.iter().enumerate();
            if modes.any(|(mode, at)| window.inner(mode, *at).is_none()) {
                coords.extend(at);
                values.push(value);
            }
        });
        for_each_entry(source, op.operand_type("source"), |at, value| {
            let mut inner = vec![0; window.sizes.len()];
            for (at, mode) in at.iter().zip(&modes) {
                inner[*mode] = *at as i64;
            }
            let outer = window.outer(&inner).unwrap_or_default();
            coords.extend(outer.into_iter().map(|at| at as u64));
            values.push(value);
        });
        let entries = Entries {
            extents: dest.extents().to_vec(),
            coords: coords.into(),
            values: array_of(dest.element(), &values)?,
        };
        let tensor = pack(&format_of(op.result_type("result"))?, entries)?;
        Ok(Datum::Tensor(TensorHandle::new(tensor)))
    }

    pub(super) fn pad(&mut self, frame: &mut Frame, op: Operation<'a>) -> Result<Datum> {
        let source = self.stored(frame, op, op.operand("source"))?;
        let ty = op.result_type("result");
        let low = self.mixed(frame, op, "static_low", "low")?;
        let high = self.mixed(frame, op, "static_high", "high")?;
        let padded = source.extents().iter().zip(low.iter().zip(&high));
        let extents: Option<Vec<u64>> = padded
            .map(|(extent, (low, high))| {
                let extent = i64::try_from(*extent).ok()?;
                u64::try_from(extent.checked_add(*low)?.checked_add(*high)?).ok()
            })
            .collect();
        let extents = extents.ok_or_else(|| {
            self.outside(op, "a negative extent")
                .help("pad by so much that extents stay 0 or more")
        })?;
        let Some(block) = op.region("region").block else {
            return Err(self.not_run(op));
        };
        let n = count(&extents)?;
        let mut array = Array::zeroed(source.element(), n)?;
        let mut at: Vec<i64> = vec![0; extents.len()];
        for n in 0..n {
            let inner: Option<Vec<u64>> = (0..at.len())
                .map(|mode| {
                    let inner = u64::try_from(at[mode].checked_sub(low[mode])?).ok()?;
                    (inner < source.extents()[mode]).then_some(inner)
                })
                .collect();
            let value = match inner {
                Some(inner) => source.get(&inner),
                None => {
                    let args = at.iter().map(|at: &i64| index(*at)).collect();
                    match self.block(frame, block, args)?.first() {
                        Some(Datum::Number(value)) => *value,
                        _ => Scalar::Bool(false),
                    }
                }
            };
            array.set(n, value);
            advance(&mut at, &extents);
        }
        let made = TensorHandle::new(dense(extents, array)?);
        self.in_format(op, made, ty)
    }
}
