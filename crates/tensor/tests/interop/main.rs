//! Tensors from and to the types of other crates: there and back is the same,
//! arrays are taken over where they can be, and what cannot be held is refused.

#![cfg(any(
    feature = "faer",
    feature = "nalgebra-sparse",
    feature = "ndarray",
    feature = "serde",
    feature = "sprs"
))]

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

use sparsec_base::{Result, code};
use sparsec_tensor::Tensor;

/// 2x3 with entries in both rows and a column without any.
fn matrix(format: &str) -> Tensor {
    Tensor::builder(format, &[2, 3])
        .unwrap()
        .push([0, 2], 2.0)
        .push([0, 0], 1.0)
        .push([1, 0], 3.0)
        .build()
        .unwrap()
}

/// Refused as not transferable, saying this.
fn refuse(result: Result<impl Sized>, says: &str) {
    let error = result.map(drop).unwrap_err();
    assert_eq!(error.code(), code::NOT_TRANSFERABLE, "{error}");
    assert!(error.to_string().contains(says), "{error}");
    assert!(error.help_text().is_some(), "{error}");
}
