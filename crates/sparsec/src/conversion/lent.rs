//! The arrays of a tensor as a conversion reads them.

use sparsec_base::{Diagnostic, Result, code};
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
            own.push(("A_stored", as_tensor(tensor.nonfill_mask()?, true)?));
        }
        if self.fill.is_some() {
            own.push((
                "A_fill",
                as_tensor(Array::filled(tensor.fill(), 1)?, false)?,
            ));
        }
        Ok(Lent {
            arrays: arrays.collect::<Result<_>>()?,
            own,
            tensor,
        })
    }
}

/// An array of a conversion's own as a dense tensor: a vector, or a scalar.
fn as_tensor(array: Array, is_vector: bool) -> Result<Tensor> {
    let (element, length) = (array.element(), array.len() as u64);
    let (format, extents) = match is_vector {
        true => (Format::dense(1), vec![length]),
        false => (Format::dense(0), Vec::new()),
    };
    Tensor::new(format, extents, element, element.zero(), vec![array])
}

/// An array as a dense vector, used where it lies.
fn list(array: &Array) -> Result<TensorRef<'_>> {
    let (extents, zero) = (vec![array.len() as u64], array.element().zero());
    TensorRef::new(Format::dense(1), extents, zero, vec![array.into()])
}
