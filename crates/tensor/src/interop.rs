//! Tensors from and to the types of other libraries, each behind a feature of
//! the library's name.
//!
//! | feature           | from and to a tensor                                   | as a view of a tensor |
//! |-------------------|--------------------------------------------------------|-----------------------|
//! | `sprs`            | `CsMatI` (CSR and CSC), `CsVecI`                        | `CsMatViewI`          |
//! | `nalgebra-sparse` | `CsrMatrix`, `CscMatrix`, `CooMatrix`, `DMatrix`        |                       |
//! | `ndarray`         | `Array` of any order                                   | `ArrayView`           |
//! | `faer`            | `SparseColMat`, `SparseRowMat`, `Mat`                   |                       |
//! | `serde`           | whatever serialises: JSON, binary formats              |                       |
//!
//! *From* another library: vectors are taken over without a copy where they are
//! arrays of one of our formats already, and checked as any others. What the
//! other library keeps in an order that no format of ours has is packed.
//!
//! *To* another library: only what its type holds as it is. A tensor in another
//! format, of another type of values, or with a fill that is not zero is refused
//! with `E0023`; [`Tensor::convert`] comes first, in sight. Index arrays are
//! converted to the width asked for, and refused where they do not fit. Nothing
//! that is stored is lost, zeros included.

#[cfg(feature = "faer")]
mod faer;
#[cfg(feature = "nalgebra-sparse")]
mod nalgebra;
#[cfg(feature = "ndarray")]
mod ndarray;
#[cfg(feature = "serde")]
mod serde;
#[cfg(feature = "sprs")]
mod sprs;

#[cfg(any(
    feature = "faer",
    feature = "nalgebra-sparse",
    feature = "ndarray",
    feature = "sprs"
))]
mod outward;

#[cfg(any(feature = "faer", feature = "nalgebra-sparse", feature = "sprs"))]
use sparsec_format::{Format, Level, LevelKind};

/// A matrix stored by columns, all of it.
#[cfg(any(feature = "faer", feature = "nalgebra-sparse"))]
fn dense_by_columns() -> Format {
    let level = |mode| Level::new(mode, LevelKind::Dense);
    Format::new(["i", "j"], vec![level(1), level(0)]).expect("dense levels stand in any order")
}

/// A vector of its stored entries.
#[cfg(feature = "sprs")]
fn compressed_vector() -> Format {
    let level = Level::new(0, LevelKind::Compressed);
    Format::new(["i"], vec![level]).expect("a compressed level stands alone")
}
