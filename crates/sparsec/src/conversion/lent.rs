//! The arrays of a tensor as a conversion reads them.

use sparsec_base::{Diagnostic, Result, Scalar, code};
use sparsec_tensor::{Array, Format, Tensor, TensorRef};

use super::converter::Converter;
use super::names;

/// The arrays of a tensor that a conversion reads.
#[derive(Debug)]
pub struct Lent<'t> {
    pub(super) arrays: Vec<(String, TensorRef<'t>)>,
    /// The mask of padding and the fill, where the conversion reads them.
    pub(super) own: Vec<(&'static str, Tensor)>,
    pub(super) tensor: &'t Tensor,
}

impl Converter {
    /// The arrays of a tensor, for conversions that are prepared. None is copied; where the
    /// tensor may have padding, a mask says where there is none.
    ///
    /// # Errors
    /// `E0518` for a tensor of another fill; those of [`TensorRef::new`].
    pub fn lend<'t>(&self, tensor: &'t Tensor) -> Result<Lent<'t>> {
        if self.fill.unwrap_or_else(|| tensor.element().zero()) != tensor.fill() {
            let message = format!("the fill of the tensor is {}", tensor.fill());
            return Err(Diagnostic::new(code::GIVEN_MISFIT, message)
                .help("make a converter for a tensor of this fill"));
        }
        let arrays = names(&self.source, "A").into_iter().zip(tensor.arrays());
        let arrays = arrays.map(|(name, array)| Ok((name, list(array)?)));
        let mut own = Vec::new();
        if self.has_padding {
            own.push(stored_mask(tensor.nonfill_mask()?)?);
        }
        own.extend(fill_of_tensor(tensor.fill())?);
        Ok(Lent {
            arrays: arrays.collect::<Result<_>>()?,
            own,
            tensor,
        })
    }
}

/// The given array of a conversion that has a 1 for each place that holds an entry, and a 0 for each
/// that does not.
///
/// # Errors
/// Those of [`Tensor::new`].
pub(crate) fn stored_mask(mask: Array) -> Result<(&'static str, Tensor)> {
    let (element, length) = (mask.element(), vec![mask.len() as u64]);
    let mask = Tensor::new(
        Format::dense(1),
        length,
        element,
        element.zero(),
        vec![mask],
    )?;
    Ok(("A_stored", mask))
}

/// The given number of a conversion that is the fill, if it is not 0.
///
/// # Errors
/// Those of [`Tensor::new`].
pub(crate) fn fill_of_tensor(fill: Scalar) -> Result<Option<(&'static str, Tensor)>> {
    let (element, zero) = (fill.element(), fill.element().zero());
    if fill == zero {
        return Ok(None);
    }
    let number = vec![Array::filled(fill, 1)?];
    let number = Tensor::new(Format::dense(0), Vec::new(), element, zero, number)?;
    Ok(Some(("A_fill", number)))
}

/// An array as a dense vector, used where it lies.
fn list(array: &Array) -> Result<TensorRef<'_>> {
    let (extents, zero) = (vec![array.len() as u64], array.element().zero());
    TensorRef::new(Format::dense(1), extents, zero, vec![array.into()])
}
