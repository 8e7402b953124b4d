//! Building a tensor entry by entry, and dense ones from their values.
//!
//! ```
//! use sparsec_tensor::Tensor;
//! let a = Tensor::builder("csr", &[2, 3])?
//!     .push([0, 2], 1.5)
//!     .push([1, 0], 2.5)
//!     .build()?;
//! assert_eq!(a.level(1).crd(), [2, 0]);
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```

use sparsec_base::{Diagnostic, Result, code};
use sparsec_format::{Format, FormatSpec};

use crate::array::{Array, Element};
use crate::duplicates::Duplicates;
use crate::entries::{Entries, plural};
use crate::pack::PackOptions;
use crate::tensor::Tensor;

/// Entries of a tensor in the making, in any order; see [`Tensor::builder`].
///
/// The first value decides the type of all.
#[derive(Clone, Debug)]
#[must_use]
pub struct TensorBuilder<T: Element = f64> {
    format: Format,
    extents: Vec<u64>,
    coords: Vec<u64>,
    values: Vec<T>,
    options: PackOptions,
    /// The first entry with another number of coordinates than modes.
    misfit: Option<(usize, usize)>,
}

impl Tensor {
    /// A builder for a tensor in `format` of these extents, one a mode.
    ///
    /// * `format`: a [`Format`], or the text of a preset or a map.
    ///
    /// # Errors
    /// The code of what is wrong with a text; `E0115` where the format is for
    /// another order than there are extents.
    ///
    /// ```
    /// use sparsec_tensor::{Format, Tensor};
    /// let by_columns = Format::parse("(i, j) -> (j : dense, i : compressed)")?;
    /// let mut builder = Tensor::builder(&by_columns, &[100, 100])?;
    /// for i in 0..100 {
    ///     builder = builder.push([i, i], 1.0f32);
    /// }
    /// assert_eq!(builder.build()?.n_stored(), 100);
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn builder<T, F>(format: F, extents: &[u64]) -> Result<TensorBuilder<T>>
    where
        T: Element,
        F: TryInto<FormatSpec>,
        Diagnostic: From<F::Error>,
    {
        Ok(TensorBuilder {
            format: format.try_into()?.resolve(extents.len())?,
            extents: extents.to_vec(),
            coords: Vec::new(),
            values: Vec::new(),
            options: PackOptions::default(),
            misfit: None,
        })
    }

    /// A dense tensor of these values, the last mode running fastest.
    ///
    /// A vector is taken over without a copy.
    ///
    /// # Errors
    /// `E0403` where there is not one value for each combination of
    /// coordinates.
    ///
    /// ```
    /// use sparsec_tensor::Tensor;
    /// let a = Tensor::dense(&[2, 3], [1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(a.get(&[1, 0]).to_string(), "4");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn dense<T: Element>(extents: &[u64], values: impl Into<Vec<T>>) -> Result<Self> {
        Self::new(
            Format::dense(extents.len()),
            extents.to_vec(),
            T::TYPE,
            T::ZERO.scalar(),
            vec![Array::from_vec(values.into())],
        )
    }
}

impl<T: Element> TensorBuilder<T> {
    /// Adds an entry: one coordinate a mode, counted from 0.
    ///
    /// What is wrong with it, [`TensorBuilder::build`] says.
    pub fn push(mut self, coordinates: impl AsRef<[u64]>, value: T) -> Self {
        self.add(coordinates, value);
        self
    }

    /// As [`TensorBuilder::push`], for a builder in a variable.
    pub fn add(&mut self, coordinates: impl AsRef<[u64]>, value: T) -> &mut Self {
        let coordinates = coordinates.as_ref();
        if coordinates.len() != self.extents.len() && self.misfit.is_none() {
            self.misfit = Some((self.values.len(), coordinates.len()));
        }
        self.coords.extend_from_slice(coordinates);
        self.values.push(value);
        self
    }

    /// The value of every entry that is not added; zero unless said.
    pub fn fill(mut self, fill: T) -> Self {
        self.options.fill = Some(fill.scalar());
        self
    }

    /// What becomes of entries at equal coordinates; they are added unless said.
    pub fn duplicates(mut self, duplicates: Duplicates) -> Self {
        self.options.duplicates = duplicates;
        self
    }

    /// The tensor. Time and space as [`Tensor::pack`].
    ///
    /// # Errors
    /// `E0402` for an entry that has not one coordinate a mode; else as
    /// [`Tensor::pack_entries`].
    pub fn build(self) -> Result<Tensor> {
        if let Some((entry, given)) = self.misfit {
            let order = self.extents.len();
            return Err(Diagnostic::new(
                code::LENGTH_MISMATCH,
                format!(
                    "entry {entry} has {}, the tensor has {}",
                    plural(given, "coordinate"),
                    plural(order, "mode"),
                ),
            )
            .help("give one coordinate a mode"));
        }
        let entries = Entries {
            extents: self.extents,
            coords: self.coords.into(),
            values: Array::from_vec(self.values),
        };
        Tensor::pack_entries(&self.format, entries, self.options)
    }
}

impl<T: Element> Extend<(Vec<u64>, T)> for TensorBuilder<T> {
    fn extend<I: IntoIterator<Item = (Vec<u64>, T)>>(&mut self, entries: I) {
        for (coordinates, value) in entries {
            self.add(coordinates, value);
        }
    }
}

impl<const N: usize, T: Element> Extend<([u64; N], T)> for TensorBuilder<T> {
    fn extend<I: IntoIterator<Item = ([u64; N], T)>>(&mut self, entries: I) {
        for (coordinates, value) in entries {
            self.add(coordinates, value);
        }
    }
}

/// A tensor of order 0.
impl<T: Element> From<T> for Tensor {
    fn from(value: T) -> Self {
        Self::scalar(value.scalar())
    }
}

#[cfg(test)]
mod tests {
    use sparsec_base::Scalar;

    use super::*;

    #[test]
    fn entries_come_in_any_order_and_add_up() {
        let mut builder = Tensor::builder("csr", &[2, 2]).unwrap();
        builder.extend([([1, 0], 1i64), ([0, 1], 2), ([1, 0], 4)]);
        let a = builder.build().unwrap();
        assert_eq!(a.values::<i64>(), Some(&[2, 5][..]));
        assert_eq!(a.level(1).pos(), [0, 1, 2]);
    }

    #[test]
    fn options_are_those_of_packing() {
        let refused = Tensor::builder("coo", &[4])
            .unwrap()
            .push([1], 1.0)
            .push([1], 2.0)
            .duplicates(Duplicates::Refuse)
            .build();
        assert_eq!(refused.unwrap_err().code(), code::DUPLICATE_ENTRY);
        let a = Tensor::builder("csf", &[2, 2, 2]).unwrap().fill(7u8);
        let a = a.build().unwrap();
        assert_eq!((a.fill(), a.n_stored()), (Scalar::U8(7), 0));
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let code_of = |result: Result<Tensor>| result.unwrap_err().code();
        let none = || Tensor::builder::<f64, _>("csr", &[2, 2]).unwrap();
        assert_eq!(
            code_of(none().push([0], 1.0).build()),
            code::LENGTH_MISMATCH
        );
        let late = none().push([0, 1], 1.0).push([0, 1, 1], 1.0).push([0], 1.0);
        let error = late.build().unwrap_err();
        assert_eq!(
            error.message(),
            "entry 1 has 3 coordinates, the tensor has 2 modes"
        );
        assert_eq!(
            code_of(none().push([0, 2], 1.0).build()),
            code::OUT_OF_BOUNDS
        );
        let wrong_order = Tensor::builder::<f64, _>("csr", &[2, 2, 2]);
        assert_eq!(wrong_order.unwrap_err().code(), code::FORMAT_ORDER);
        assert_eq!(
            code_of(Tensor::dense(&[2, 2], [1.0, 2.0, 3.0])),
            code::ARRAY_MISMATCH
        );
    }
}
