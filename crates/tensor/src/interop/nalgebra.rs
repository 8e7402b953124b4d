//! `nalgebra-sparse`: matrices by rows, by columns and as lists; and the dense
//! matrices of `nalgebra`.

use nalgebra::DMatrix;
use nalgebra_sparse::{CooMatrix, CscMatrix, CsrMatrix};
use sparsec_base::{Diagnostic, Result};
use sparsec_format::{Format, Role};

use super::dense_by_columns;
use super::outward::Outward;
use crate::array::{Array, Element};
use crate::entries::Entries;
use crate::pack::PackOptions;
use crate::tensor::Tensor;

/// Declares both ways for a matrix of compressed rows or columns.
macro_rules! compressed {
    ($Matrix:ident, $format:ident, $name:literal, $from_arrays:ident) => {
        #[doc = concat!("Takes the vectors over, as `", stringify!($format), "`.")]
        impl<T: Element> TryFrom<$Matrix<T>> for Tensor {
            type Error = Diagnostic;

            fn try_from(matrix: $Matrix<T>) -> Result<Self> {
                let extents = vec![matrix.nrows() as u64, matrix.ncols() as u64];
                let (positions, coordinates, values) = matrix.disassemble();
                Self::new(
                    Format::$format(),
                    extents,
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
        impl<T: Element> TryFrom<&Tensor> for $Matrix<T> {
            type Error = Diagnostic;

            fn try_from(tensor: &Tensor) -> Result<Self> {
                let outward = Outward::new(tensor, $name, &[Format::$format()])?;
                Self::$from_arrays(
                    outward.extent(0)?,
                    outward.extent(1)?,
                    outward.indices(Role::Pos(1))?,
                    outward.indices(Role::Crd(1))?,
                    outward.values::<T>()?.to_vec(),
                )
                .map_err(|error| outward.refuse(error))
            }
        }
    };
}

compressed!(
    CsrMatrix,
    csr,
    "nalgebra_sparse::CsrMatrix",
    try_from_csr_data
);
compressed!(
    CscMatrix,
    csc,
    "nalgebra_sparse::CscMatrix",
    try_from_csc_data
);

/// Packs the entries as `coo`; those at equal coordinates are added, as that
/// library has it.
impl<T: Element> TryFrom<CooMatrix<T>> for Tensor {
    type Error = Diagnostic;

    fn try_from(matrix: CooMatrix<T>) -> Result<Self> {
        let extents = vec![matrix.nrows() as u64, matrix.ncols() as u64];
        let (rows, columns, values) = matrix.disassemble();
        let pairs = rows.iter().zip(&columns);
        let entries = Entries {
            extents,
            coords: pairs.flat_map(|(&i, &j)| [i as u64, j as u64]).collect(),
            values: Array::from_vec(values),
        };
        Self::pack_entries(&Format::coo(2), entries, PackOptions::default())
    }
}

/// From `coo` or `scoo`; the arrays are copied.
impl<T: Element> TryFrom<&Tensor> for CooMatrix<T> {
    type Error = Diagnostic;

    fn try_from(tensor: &Tensor) -> Result<Self> {
        let formats = [Format::coo(2), Format::scoo(2)];
        let outward = Outward::new(tensor, "nalgebra_sparse::CooMatrix", &formats)?;
        Self::try_from_triplets(
            outward.extent(0)?,
            outward.extent(1)?,
            outward.indices(Role::Crd(0))?,
            outward.indices(Role::Crd(1))?,
            outward.values::<T>()?.to_vec(),
        )
        .map_err(|error| outward.refuse(error))
    }
}

/// Takes the vector over, as `(i, j) -> (j : dense, i : dense)`.
impl<T: Element> TryFrom<DMatrix<T>> for Tensor {
    type Error = Diagnostic;

    fn try_from(matrix: DMatrix<T>) -> Result<Self> {
        let extents = vec![matrix.nrows() as u64, matrix.ncols() as u64];
        let values: Vec<T> = matrix.data.into();
        Self::new(
            dense_by_columns(),
            extents,
            T::TYPE,
            T::ZERO.scalar(),
            vec![Array::from_vec(values)],
        )
    }
}

/// From a dense matrix by rows or by columns; the values are copied.
impl<T: Element> TryFrom<&Tensor> for DMatrix<T> {
    type Error = Diagnostic;

    fn try_from(tensor: &Tensor) -> Result<Self> {
        let formats = [Format::dense(2), dense_by_columns()];
        let outward = Outward::new(tensor, "nalgebra::DMatrix", &formats)?;
        let (rows, columns) = (outward.extent(0)?, outward.extent(1)?);
        let values = outward.values::<T>()?;
        let by_rows = tensor.format().arranges_like(&Format::dense(2));
        Ok(if by_rows {
            Self::from_row_slice(rows, columns, values)
        } else {
            Self::from_column_slice(rows, columns, values)
        })
    }
}
