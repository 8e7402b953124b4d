//! An allocation that failed, as a value.

use std::fmt;

use sparsec_base::{Diagnostic, code};

use crate::bytes::Bytes;

/// Memory that the system did not give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocError {
    /// How many bytes were asked for; `u64::MAX` for more than that counts.
    pub bytes: u64,
}

impl fmt::Display for AllocError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("out of memory: could not allocate ")?;
        match self.bytes {
            // Sums and products of sizes saturate here.
            u64::MAX => f.write_str("more bytes than can be addressed"),
            bytes => Bytes(bytes.into()).fmt(f),
        }
    }
}

impl std::error::Error for AllocError {}

impl From<AllocError> for Diagnostic {
    fn from(error: AllocError) -> Self {
        Diagnostic::new(code::TENSOR_TOO_LARGE, error.to_string())
            .help("store fewer entries, or fewer positions by compressed levels, or run it where more memory is free")
    }
}
