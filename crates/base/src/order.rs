//! The most modes that a tensor may have.
//!
//! Loops nest as deep as a tensor has modes, and so do the walks over its
//! levels; what describes a tensor (its format, its axes in a file) grows with
//! them. A bound keeps a line of a thousand words, read as a thousand modes, from
//! costing more than a diagnostic. NumPy has the same one.

use crate::{Diagnostic, Result, code};

/// The most modes that a tensor may have.
pub const MAX_ORDER: usize = 64;

/// Refuses a tensor of more than [`MAX_ORDER`] modes.
///
/// # Errors
/// `E0434`, without a place.
///
/// ```
/// use sparsec_base::{MAX_ORDER, check_order};
/// assert!(check_order(MAX_ORDER).is_ok());
/// assert!(check_order(MAX_ORDER + 1).is_err());
/// ```
pub fn check_order(order: usize) -> Result<()> {
    if order <= MAX_ORDER {
        return Ok(());
    }
    let message = format!("a tensor of order {order}; there are at most {MAX_ORDER} modes");
    Err(Diagnostic::new(code::TOO_MANY_MODES, message)
        .help("combine modes, or leave out those that have one coordinate only"))
}
