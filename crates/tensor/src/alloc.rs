//! Vectors whose memory may be refused.

use sparsec_base::Result;
use sparsec_parallel::AllocError;
use sparsec_parallel::fault::{self, Fault};

/// A vector without entries and room for `len`.
///
/// # Errors
/// `E0407` when memory is out.
pub(crate) fn with_room<T>(len: usize) -> Result<Vec<T>> {
    let mut vector = Vec::new();
    let error = AllocError {
        bytes: (len as u64).saturating_mul(size_of::<T>() as u64),
    };
    if fault::strikes(Fault::Memory) {
        return Err(error.into());
    }
    vector.try_reserve_exact(len).map_err(|_| error)?;
    Ok(vector)
}

/// A vector of `len` times what `value` makes.
///
/// # Errors
/// `E0407` when memory is out.
pub(crate) fn filled<T>(len: usize, value: impl FnMut() -> T) -> Result<Vec<T>> {
    let mut vector = with_room(len)?;
    vector.resize_with(len, value);
    Ok(vector)
}
