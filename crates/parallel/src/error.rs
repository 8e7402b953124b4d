//! Memory that is not to be had, as a value.

use std::fmt;

use sparsec_base::{Diagnostic, code};

/// Memory that the system did not give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocError {
    /// How many bytes were asked for; `u64::MAX` for more than that counts.
    pub bytes: u64,
}

impl fmt::Display for AllocError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bytes {
            // What cannot be counted was counted up to here.
            u64::MAX => f.write_str("more memory than can be addressed is not to be had"),
            bytes => write!(f, "{bytes} bytes of memory are not to be had"),
        }
    }
}

impl std::error::Error for AllocError {}

impl From<AllocError> for Diagnostic {
    fn from(error: AllocError) -> Self {
        Diagnostic::new(code::TENSOR_TOO_LARGE, error.to_string())
            .help("store fewer positions: use compressed levels where most entries are zero")
    }
}
