//! `ndarray`: dense arrays of any order.

use ::ndarray::{Array as NdArray, ArrayD, ArrayViewD, Dimension, IxDyn, ShapeBuilder};
use sparsec_base::{Diagnostic, Result};
use sparsec_format::{Format, Level, LevelKind};

use super::outward::Outward;
use crate::array::{Array, Element};
use crate::tensor::Tensor;

/// Takes the vector over where the last axis runs fastest, or the first, whose
/// format then stores the modes the other way round; else copies it.
impl<T: Element, D: Dimension> TryFrom<NdArray<T, D>> for Tensor {
    type Error = Diagnostic;

    fn try_from(array: NdArray<T, D>) -> Result<Self> {
        let extents: Vec<u64> = array.shape().iter().map(|&extent| extent as u64).collect();
        let is_reversed = !array.is_standard_layout() && array.t().is_standard_layout();
        let format = match is_reversed {
            true => dense_in(&(0..extents.len()).rev().collect::<Vec<_>>())?,
            false => Format::dense(extents.len()),
        };
        let values: Vec<T> = if !is_reversed && !array.is_standard_layout() {
            array.iter().copied().collect()
        } else {
            let n = array.len();
            let (values, first) = array.into_raw_vec_and_offset();
            match first {
                // The array may be a part of a longer vector.
                Some(first) if (first, n) != (0, values.len()) => values[first..first + n].to_vec(),
                _ => values,
            }
        };
        Self::new(
            format,
            extents,
            T::TYPE,
            T::ZERO.scalar(),
            vec![Array::from_vec(values)],
        )
    }
}

/// The format with dense levels that store these modes, outermost first.
fn dense_in(modes: &[usize]) -> Result<Format> {
    Format::dense(modes.len()).with_mode_order(modes)
}

/// From dense levels in any order of modes; the values are copied.
impl<T: Element> TryFrom<&Tensor> for ArrayD<T> {
    type Error = Diagnostic;

    fn try_from(tensor: &Tensor) -> Result<Self> {
        Ok(ArrayViewD::try_from(tensor)?.to_owned())
    }
}

/// The values of a tensor with dense levels where they are, in any order of
/// modes.
impl<'a, T: Element> TryFrom<&'a Tensor> for ArrayViewD<'a, T> {
    type Error = Diagnostic;

    fn try_from(tensor: &'a Tensor) -> Result<Self> {
        let format = tensor.format();
        let modes = format.level_order();
        let dense: Vec<Level> = modes
            .iter()
            .map(|&mode| Level::new(mode, LevelKind::Dense))
            .collect();
        let wanted = Format::new(format.modes().iter().cloned(), dense)?;
        let outward = Outward::new(tensor, "ndarray::Array", &[wanted])?;
        let mut shape = vec![0; modes.len()];
        let mut strides = vec![0; modes.len()];
        let mut stride = 1usize;
        for &mode in modes.iter().rev() {
            shape[mode] = outward.extent(mode)?;
            strides[mode] = stride;
            // Without entries no stride is followed.
            stride = stride.saturating_mul(shape[mode]);
        }
        let shape = IxDyn(&shape).strides(IxDyn(&strides));
        Self::from_shape(shape, outward.values::<T>()?).map_err(|error| outward.refuse(error))
    }
}
