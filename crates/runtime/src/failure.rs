//! What a user is told when a kernel gives up.

use sparsec_base::{Diagnostic, code};
use sparsec_loop::{Failure, Function};

/// The diagnostic of a failure of `function`.
pub fn diagnose(failure: Failure, function: &Function) -> Diagnostic {
    let name = &function.name;
    match failure {
        Failure::DivisionByZero => Diagnostic::new(
            code::DIVISION_BY_ZERO,
            format!("kernel `{name}` divided an integer by zero"),
        )
        .help("entries that a sparse tensor does not store are zero"),
        Failure::CastOutOfRange => Diagnostic::new(
            code::CAST_OUT_OF_RANGE,
            format!(
                "kernel `{name}` met a number that does not fit the integer type it is converted to"
            ),
        )
        .help("bring the value into range first with `min` and `max`"),
        Failure::WidthOverflow => Diagnostic::new(
            code::WIDTH_OVERFLOW,
            format!("a result of kernel `{name}` has more entries than its index arrays can count"),
        )
        .help("declare wider arrays in the result's format, as in `pos 64` or `crd 64`"),
        Failure::OutOfMemory => Diagnostic::new(
            code::KERNEL_OUT_OF_MEMORY,
            format!("kernel `{name}` ran out of memory for a result or a workspace"),
        )
        .help("give the result a format with compressed levels"),
    }
}

/// The failure that a status of a compiled kernel stands for.
///
/// # Panics
/// If no failure has that status.
pub(crate) fn of_status(status: i32) -> Option<Failure> {
    if status == 0 {
        return None;
    }
    let found = Failure::ALL
        .into_iter()
        .find(|failure| failure.status() == status);
    match found {
        Some(failure) => Some(failure),
        None => panic!("a kernel returned {status}, which no failure has"),
    }
}
