//! `sprs`: matrices by rows or columns, and vectors.

use ::sprs::{CsMatI, CsMatViewI, CsVecI, SpIndex};
use sparsec_base::{Diagnostic, Result};
use sparsec_format::{Format, Role};

use super::compressed_vector;
use super::outward::Outward;
use crate::array::{Array, Element};
use crate::index::IndexInteger;
use crate::tensor::Tensor;

/// Takes the vectors over, as `csr` or `csc`.
impl<T, I, P> TryFrom<CsMatI<T, I, P>> for Tensor
where
    T: Element,
    I: SpIndex + IndexInteger,
    P: SpIndex + IndexInteger,
{
    type Error = Diagnostic;

    fn try_from(matrix: CsMatI<T, I, P>) -> Result<Self> {
        let format = if matrix.is_csr() {
            Format::csr()
        } else {
            Format::csc()
        };
        let extents = vec![matrix.rows() as u64, matrix.cols() as u64];
        // Positions of a part of a matrix need not begin at 0.
        let is_proper = matrix.indptr().is_proper();
        let proper = (!is_proper).then(|| matrix.proper_indptr().into_owned());
        let (positions, coordinates, values) = matrix.into_raw_storage();
        Self::new(
            format,
            extents,
            T::TYPE,
            T::ZERO.scalar(),
            vec![
                Array::from_index_vec(proper.unwrap_or(positions)),
                Array::from_index_vec(coordinates),
                Array::from_vec(values),
            ],
        )
    }
}

/// From `csr` or `csc`; the arrays are copied.
impl<T, I, P> TryFrom<&Tensor> for CsMatI<T, I, P>
where
    T: Element,
    I: SpIndex + TryFrom<i64>,
    P: SpIndex + TryFrom<i64>,
{
    type Error = Diagnostic;

    fn try_from(tensor: &Tensor) -> Result<Self> {
        let outward = Outward::new(tensor, "sprs::CsMat", &[Format::csr(), Format::csc()])?;
        let shape = (outward.extent(0)?, outward.extent(1)?);
        let positions = outward.indices(Role::Pos(1))?;
        let coordinates = outward.indices(Role::Crd(1))?;
        let values = outward.values::<T>()?.to_vec();
        let is_csr = tensor.format().arranges_like(&Format::csr());
        let made = if is_csr {
            Self::try_new(shape, positions, coordinates, values)
        } else {
            Self::try_new_csc(shape, positions, coordinates, values)
        };
        made.map_err(|(_, _, _, error)| outward.refuse(error))
    }
}

/// The arrays of a `csr` or `csc` tensor where they are, if its index arrays are
/// of these types.
impl<'a, T, I> TryFrom<&'a Tensor> for CsMatViewI<'a, T, I>
where
    T: Element,
    I: SpIndex + IndexInteger,
{
    type Error = Diagnostic;

    fn try_from(tensor: &'a Tensor) -> Result<Self> {
        let outward = Outward::new(tensor, "sprs::CsMatView", &[Format::csr(), Format::csc()])?;
        let shape = (outward.extent(0)?, outward.extent(1)?);
        let values = outward.values::<T>()?;
        let index = |role| {
            let array = tensor.array(role);
            array.as_index_slice::<I>().ok_or_else(|| {
                outward
                    .refuse(format!("its index arrays are {}", array.element()))
                    .help("ask for a view with indices of that type, or for a matrix of its own")
            })
        };
        let (positions, coordinates) = (index(Role::Pos(1))?, index(Role::Crd(1))?);
        let is_csr = tensor.format().arranges_like(&Format::csr());
        let made = if is_csr {
            Self::try_new(shape, positions, coordinates, values)
        } else {
            Self::try_new_csc(shape, positions, coordinates, values)
        };
        made.map_err(|(_, _, _, error)| outward.refuse(error))
    }
}

/// Takes the vectors over, as `(i) -> (i : compressed)`.
impl<T, I> TryFrom<CsVecI<T, I>> for Tensor
where
    T: Element,
    I: SpIndex + IndexInteger,
{
    type Error = Diagnostic;

    fn try_from(vector: CsVecI<T, I>) -> Result<Self> {
        let extents = vec![vector.dim() as u64];
        let (coordinates, values) = vector.into_raw_storage();
        Self::new(
            compressed_vector(),
            extents,
            T::TYPE,
            T::ZERO.scalar(),
            vec![
                Array::from_index_vec(vec![0, values.len()]),
                Array::from_index_vec(coordinates),
                Array::from_vec(values),
            ],
        )
    }
}

/// From `(i) -> (i : compressed)`; the arrays are copied.
impl<T, I> TryFrom<&Tensor> for CsVecI<T, I>
where
    T: Element,
    I: SpIndex + TryFrom<i64>,
{
    type Error = Diagnostic;

    fn try_from(tensor: &Tensor) -> Result<Self> {
        let outward = Outward::new(tensor, "sprs::CsVec", &[compressed_vector()])?;
        let coordinates = outward.indices(Role::Crd(0))?;
        let values = outward.values::<T>()?.to_vec();
        Self::try_new(outward.extent(0)?, coordinates, values)
            .map_err(|(_, _, error)| outward.refuse(error))
    }
}
