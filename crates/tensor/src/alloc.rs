//! Vectors whose memory may be refused.

use sparsec_base::{Diagnostic, Result, code};
use sparsec_parallel::fault::{self, Fault};
use sparsec_parallel::{AllocError, Bytes, MemoryLimit};

/// Refuses an array of so many bytes that is beyond a limit.
///
/// # Errors
/// `E0407`, with the limit where the system has more.
pub(crate) fn ask(limit: MemoryLimit, bytes: u64) -> Result<()> {
    let most = match limit {
        MemoryLimit::Array(most) | MemoryLimit::Bytes(most) if bytes > most => most,
        _ => return limit.ask(bytes).map_err(Diagnostic::from),
    };
    let [bytes, most] = match bytes {
        // Sums and products of sizes saturate here.
        u64::MAX => [u128::MAX, most.into()].map(|n| Bytes(n).to_string()),
        bytes => Bytes(bytes.into()).beside(Bytes(most.into())),
    };
    let message = format!("an array of the tensor would take {bytes}, and the limit is {most}");
    let error = Diagnostic::new(code::TENSOR_TOO_LARGE, message);
    let error = match limit {
        MemoryLimit::Array(_) => error
            .note("an array may take 1 GiB, or 16 times the bytes of the entries if that is more"),
        _ => error,
    };
    Err(error.help(
        "store it as `coo` or `csf`, which store entries alone, or allow more with `Options::memory`",
    ))
}

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
