//! Matrices as other code passes them around: slices of known types.
//!
//! ```text
//! CsrRef { row_ptr: &[I], cols: &[I], vals: &[T] }   ── as_tensor ──►   TensorRef     checked
//!                                                    ◄── as_csr ───      &Tensor       a lookup
//! ```
//!
//! Both ways the arrays stay where they are. Into a tensor they are checked as any
//! others; out of a tensor they come where its format and the types of its
//! arrays are the ones asked for, else not at all.
//!
//! ```
//! use sparsec_tensor::{CsrRef, Tensor};
//! let a = CsrRef::new([2, 3], &[0i32, 2, 3], &[0, 2, 1], &[1.0, 2.0, 3.0]);
//! let tensor = a.as_tensor()?;
//! assert_eq!(tensor.get(&[0, 2]).to_string(), "2.0");
//!
//! let again = tensor.as_csr::<f64, i32>().unwrap();
//! assert_eq!(again.vals.as_ptr(), a.vals.as_ptr());
//! assert!(tensor.as_csr::<f32, i32>().is_none());
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```

use sparsec_base::Result;
use sparsec_format::{Format, Role};

use crate::array::{Array, Element};
use crate::borrowed::{ArrayRef, TensorRef};
use crate::index::IndexInteger;
use crate::tensor::Tensor;

/// Declares the view of a matrix whose segments are rows, or columns.
macro_rules! compressed {
    (
        $(#[$meta:meta])* $name:ident, $format:ident, $as_this:ident,
        $ptr:ident: $of:literal, $coordinates:ident: $each:literal
    ) => {
        $(#[$meta])*
        #[derive(Debug)]
        #[non_exhaustive]
        pub struct $name<'a, T, I> {
            /// How many rows and columns there are.
            pub extents: [u64; 2],
            #[doc = concat!("Where the entries of each ", $of, " begin, and the last end.")]
            pub $ptr: &'a [I],
            #[doc = concat!("The ", $each, " of each entry.")]
            pub $coordinates: &'a [I],
            /// The value of each entry.
            pub vals: &'a [T],
        }

        impl<'a, T: Element, I: IndexInteger> $name<'a, T, I> {
            /// The slices as they are: nothing is checked before they become a
            /// tensor.
            pub fn new(
                extents: [u64; 2],
                $ptr: &'a [I],
                $coordinates: &'a [I],
                vals: &'a [T],
            ) -> Self {
                Self { extents, $ptr, $coordinates, vals }
            }

            /// The matrix as a tensor, checked; nothing is copied.
            ///
            /// # Errors
            /// As [`Tensor::new`].
            pub fn as_tensor(self) -> Result<TensorRef<'a>> {
                TensorRef::new(
                    Format::$format(),
                    self.extents.to_vec(),
                    T::ZERO.scalar(),
                    vec![
                        ArrayRef::index(self.$ptr),
                        ArrayRef::index(self.$coordinates),
                        ArrayRef::from(self.vals),
                    ],
                )
            }
        }

        impl<T, I> Clone for $name<'_, T, I> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T, I> Copy for $name<'_, T, I> {}

        impl<'a, T: Element, I: IndexInteger> TryFrom<$name<'a, T, I>> for TensorRef<'a> {
            type Error = sparsec_base::Diagnostic;

            fn try_from(view: $name<'a, T, I>) -> Result<Self> {
                view.as_tensor()
            }
        }

        impl Tensor {
            #[doc = concat!("The arrays, if the format is that of `", stringify!($format), "`, values")]
            /// are of type `T` and index arrays as wide as `I`.
            pub fn $as_this<T: Element, I: IndexInteger>(&self) -> Option<$name<'_, T, I>> {
                if !self.format().arranges_like(&Format::$format()) {
                    return None;
                }
                Some($name {
                    extents: [self.extents()[0], self.extents()[1]],
                    $ptr: self.array(Role::Pos(1)).as_index_slice()?,
                    $coordinates: self.array(Role::Crd(1)).as_index_slice()?,
                    vals: self.values()?,
                })
            }
        }
    };
}

compressed! {
    /// A matrix by rows: each entry with its column, the entries of each row in
    /// order of columns.
    CsrRef, csr, as_csr, row_ptr: "row", cols: "column"
}

compressed! {
    /// A matrix by columns: each entry with its row, the entries of each column
    /// in order of rows.
    CscRef, csc, as_csc, col_ptr: "column", rows: "row"
}

/// A list of entries of any order: a slice of coordinates for each mode.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CooRef<'a, T, I> {
    /// One extent a mode.
    pub extents: Vec<u64>,
    /// For each mode the coordinates of all entries.
    pub crd: Vec<&'a [I]>,
    /// The value of each entry.
    pub vals: &'a [T],
}

impl<'a, T: Element, I: IndexInteger> CooRef<'a, T, I> {
    /// The slices as they are: nothing is checked before they become a tensor.
    pub fn new(extents: impl Into<Vec<u64>>, crd: impl Into<Vec<&'a [I]>>, vals: &'a [T]) -> Self {
        Self {
            extents: extents.into(),
            crd: crd.into(),
            vals,
        }
    }

    /// The entries as a tensor in the format `coo`, checked; nothing is copied.
    /// No two may have the same coordinates, and their order is free.
    ///
    /// # Errors
    /// As [`Tensor::new`].
    ///
    /// ```
    /// use sparsec_tensor::CooRef;
    /// let (rows, cols) = ([1i64, 0], [0i64, 2]);
    /// let a = CooRef::new([2, 3], [&rows[..], &cols], &[5.0, 6.0]);
    /// assert_eq!(a.as_tensor()?.get(&[0, 2]).to_string(), "6.0");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn as_tensor(&self) -> Result<TensorRef<'a>> {
        let n_stored = self.vals.len() as i64;
        // The one array that a list of entries has no slice for.
        let mut arrays = vec![ArrayRef::from(Array::from_index_vec(vec![0, n_stored]))];
        arrays.extend(self.crd.iter().map(|crd| ArrayRef::index(crd)));
        arrays.push(ArrayRef::from(self.vals));
        TensorRef::new(
            Format::coo(self.extents.len()),
            self.extents.clone(),
            T::ZERO.scalar(),
            arrays,
        )
    }
}

impl Tensor {
    /// The arrays, if the format is `coo` or `scoo`, values are of type `T` and
    /// coordinates as wide as `I`.
    pub fn as_coo<T: Element, I: IndexInteger>(&self) -> Option<CooRef<'_, T, I>> {
        let order = self.order();
        let levels = self.format().levels();
        if order == 0
            || (levels != Format::coo(order).levels() && levels != Format::scoo(order).levels())
        {
            return None;
        }
        let crd = (0..order).map(|level| self.array(Role::Crd(level)).as_index_slice());
        Some(CooRef {
            extents: self.extents().to_vec(),
            crd: crd.collect::<Option<_>>()?,
            vals: self.values()?,
        })
    }

    /// All values, the last mode running fastest, if the format is dense in the
    /// order of modes and values are of type `T`.
    pub fn as_dense<T: Element>(&self) -> Option<&[T]> {
        let is_dense = self.format().arranges_like(&Format::dense(self.order()));
        self.values().filter(|_| is_dense)
    }
}

#[cfg(test)]
mod tests {
    use sparsec_base::code;

    use super::*;

    #[test]
    fn slices_go_in_and_out() {
        let (ptr, crd, vals) = ([0u32, 1, 1, 2], [1u32, 0], [5i16, 7]);
        let by_columns = CscRef::new([2, 3], &ptr, &crd, &vals).as_tensor().unwrap();
        assert_eq!(by_columns.get(&[0, 2]).to_string(), "7");
        let view = by_columns.as_csc::<i16, i32>().unwrap();
        assert_eq!((view.extents, view.col_ptr), ([2, 3], &[0, 1, 1, 2][..]));
        assert_eq!(view.rows.as_ptr().cast(), crd.as_ptr());
        assert!(by_columns.as_csr::<i16, i32>().is_none());
        assert!(by_columns.as_csc::<i16, u64>().is_none());
        assert!(by_columns.as_coo::<i16, i32>().is_none());
        assert!(by_columns.as_dense::<i16>().is_none());
    }

    #[test]
    fn lists_of_entries_have_any_order() {
        let (i, j, k) = ([1u8, 0], [0u8, 2], [3u8, 3]);
        let list = CooRef::new([2, 3, 4], [&i[..], &j, &k], &[1.0f32, 2.0]);
        let tensor = list.as_tensor().unwrap();
        assert_eq!(tensor.as_coo::<f32, u8>().unwrap().crd, list.crd);
        let scalar = Tensor::dense(&[], [1.0]).unwrap();
        assert!(scalar.as_coo::<f64, i32>().is_none());
        assert_eq!(scalar.as_dense::<f64>(), Some(&[1.0][..]));
    }

    #[test]
    fn slices_are_checked() {
        let refused = |ptr: &[i32], cols: &[i32]| {
            let view = CsrRef::new([2, 2], ptr, cols, &[1.0, 2.0]);
            view.as_tensor().unwrap_err().code()
        };
        assert_eq!(refused(&[0, 1, 2], &[0, 2]), code::OUT_OF_BOUNDS);
        assert_eq!(refused(&[0, 2, 1], &[0, 1]), code::BAD_SEGMENTS);
        assert_eq!(refused(&[0, 2, 2], &[1, 0]), code::BAD_COORDINATES);
        assert_eq!(refused(&[0, 2], &[0, 1]), code::ARRAY_MISMATCH);
        let twice = CooRef::new([2, 2], [&[0i32, 0][..], &[1, 1]], &[1.0, 2.0]);
        assert_eq!(twice.as_tensor().unwrap_err().code(), code::BAD_COORDINATES);
        let none = CooRef::<f64, i32>::new([2, 2], [&[0i32][..]], &[1.0]);
        assert_eq!(none.as_tensor().unwrap_err().code(), code::ARRAY_MISMATCH);
    }
}
