//! `faer`: sparse matrices by columns and by rows, and dense ones.

use ::faer::sparse::{SparseColMat, SparseRowMat, SymbolicSparseColMat, SymbolicSparseRowMat};
use ::faer::{Index, Mat};
use sparsec_base::{Diagnostic, Result};
use sparsec_format::{Format, Role};

use super::dense_by_columns;
use super::outward::Outward;
use crate::array::{Array, Element};
use crate::index::IndexInteger;
use crate::tensor::Tensor;

/// Declares both ways for a matrix of compressed columns or rows.
macro_rules! compressed {
    ($Matrix:ident, $Symbolic:ident, $format:ident, $name:literal) => {
        #[doc = concat!("Takes the vectors over, as `", stringify!($format), "`.")]
        ///
        /// Segments that leave room between them are moved together first.
        impl<I, T> TryFrom<$Matrix<I, T>> for Tensor
        where
            I: Index + IndexInteger,
            T: Element,
        {
            type Error = Diagnostic;

            fn try_from(matrix: $Matrix<I, T>) -> Result<Self> {
                let (symbolic, values) = matrix.into_parts();
                let (rows, columns, positions, counts, coordinates) = symbolic.into_parts();
                let parts = match counts {
                    None => (positions, coordinates, values),
                    Some(counts) => close_gaps(&positions, &counts, &coordinates, &values),
                };
                let (positions, mut coordinates, mut values) = parts;
                // Room after the last segment is no part of the matrix.
                let end = positions.last().map_or(0, |end| end.zx());
                coordinates.truncate(end);
                values.truncate(end);
                Self::new(
                    Format::$format(),
                    vec![rows as u64, columns as u64],
                    T::TYPE,
                    T::ZERO.scalar(),
                    vec![
                        Array::from_index_vec(positions),
                        Array::from_index_vec(coordinates),
                        Array::from_vec(values),
                    ],
                )
            }
        }

        #[doc = concat!("From `", stringify!($format), "`; the arrays are copied.")]
        impl<I, T> TryFrom<&Tensor> for $Matrix<I, T>
        where
            I: Index + IndexInteger + TryFrom<i64>,
            T: Element,
        {
            type Error = Diagnostic;

            fn try_from(tensor: &Tensor) -> Result<Self> {
                let outward = Outward::new(tensor, $name, &[Format::$format()])?;
                let (rows, columns) = (outward.extent(0)?, outward.extent(1)?);
                // An index type of that library counts with half of its values.
                let most = (I::WIDTH.max()).min(i64::MAX as u64) as usize;
                if rows.max(columns).max(tensor.n_stored()) > most {
                    let bits = I::WIDTH.bits();
                    let error =
                        outward.refuse(format!("its indices of {bits} bits are too narrow"));
                    return Err(error.help("ask for wider indices"));
                }
                let symbolic = $Symbolic::new_checked(
                    rows,
                    columns,
                    outward.indices(Role::Pos(1))?,
                    None,
                    outward.indices(Role::Crd(1))?,
                );
                Ok(Self::new(symbolic, outward.values::<T>()?.to_vec()))
            }
        }
    };
}

compressed!(
    SparseColMat,
    SymbolicSparseColMat,
    csc,
    "faer::sparse::SparseColMat"
);
compressed!(
    SparseRowMat,
    SymbolicSparseRowMat,
    csr,
    "faer::sparse::SparseRowMat"
);

/// The same segments, each beginning where the one before it ends.
fn close_gaps<I: Index, T: Copy>(
    positions: &[I],
    counts: &[I],
    coordinates: &[I],
    values: &[T],
) -> (Vec<I>, Vec<I>, Vec<T>) {
    let mut closed = (vec![I::truncate(0)], Vec::new(), Vec::new());
    for (start, count) in positions.iter().zip(counts) {
        let segment = start.zx()..start.zx() + count.zx();
        closed.1.extend_from_slice(&coordinates[segment.clone()]);
        closed.2.extend_from_slice(&values[segment]);
        closed.0.push(I::truncate(closed.1.len()));
    }
    closed
}

/// Copies the values, as `(i, j) -> (j : dense, i : dense)`: columns of that
/// library have room after them.
impl<T: Element> TryFrom<&Mat<T>> for Tensor {
    type Error = Diagnostic;

    fn try_from(matrix: &Mat<T>) -> Result<Self> {
        let mut values = Vec::with_capacity(matrix.nrows() * matrix.ncols());
        for column in 0..matrix.ncols() {
            values.extend_from_slice(matrix.col_as_slice(column));
        }
        Self::new(
            dense_by_columns(),
            vec![matrix.nrows() as u64, matrix.ncols() as u64],
            T::TYPE,
            T::ZERO.scalar(),
            vec![Array::from_vec(values)],
        )
    }
}

/// From a dense matrix by rows or by columns; the values are copied.
impl<T: Element> TryFrom<&Tensor> for Mat<T> {
    type Error = Diagnostic;

    fn try_from(tensor: &Tensor) -> Result<Self> {
        let formats = [Format::dense(2), dense_by_columns()];
        let outward = Outward::new(tensor, "faer::Mat", &formats)?;
        let (rows, columns) = (outward.extent(0)?, outward.extent(1)?);
        let values = outward.values::<T>()?;
        let by_rows = tensor.format().arranges_like(&Format::dense(2));
        Ok(Self::from_fn(rows, columns, |i, j| {
            values[if by_rows {
                i * columns + j
            } else {
                j * rows + i
            }]
        }))
    }
}
