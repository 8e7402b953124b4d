//! What a user is told when a kernel gives up.

use sparsec_base::{Diagnostic, cancel::cancelled, code};
use sparsec_loop::{Argument, Buffer, Failure, Function};
use sparsec_parallel::{Bytes, MemoryLimit};

/// Why a launch ended early.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop {
    pub(crate) failure: Failure,
    /// What there was no memory for, where the engine knows.
    pub(crate) shortage: Option<Shortage>,
}

/// A request for memory that was refused.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shortage {
    /// The array of a result that was to grow; a workspace otherwise.
    pub(crate) buffer: Option<Buffer>,
    /// As many bytes as it was to have.
    pub(crate) bytes: u128,
    /// The most bytes that an array may take, where that refused it.
    pub(crate) most: Option<u64>,
}

impl Shortage {
    /// A request for `entries` of `size` bytes.
    pub(crate) fn of(buffer: Option<Buffer>, entries: i64, size: i64) -> Self {
        let positive = |number: i64| u128::try_from(number).unwrap_or(0);
        Self {
            buffer,
            bytes: positive(entries) * positive(size),
            most: None,
        }
    }

    /// The request under a limit.
    pub(crate) fn within(self, limit: MemoryLimit) -> Self {
        let is_beyond = |most: &u64| self.bytes > u128::from(*most);
        let most = match limit {
            MemoryLimit::Array(most) => Some(most).filter(is_beyond),
            _ => None,
        };
        Self { most, ..self }
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            shortage: None,
        }
    }
}

/// The diagnostic of a failure of `function`.
pub fn diagnose(failure: Failure, function: &Function) -> Diagnostic {
    diagnose_stop(failure.into(), function)
}

pub(crate) fn diagnose_stop(stop: Stop, function: &Function) -> Diagnostic {
    match stop.failure {
        Failure::DivisionByZero => {
            Diagnostic::new(code::DIVISION_BY_ZERO, "an integer is divided by zero")
                .note("entries that a sparse tensor does not store are zero")
                .help("divide where the divisor `b` is not zero: `select(b == 0, 0, a // b)`")
        }
        Failure::NegativePower => Diagnostic::new(
            code::NEGATIVE_POWER,
            "an integer is raised to a negative power",
        )
        .help("compute with floats, as in `pow(f64(x), y)`"),
        Failure::CastOutOfRange => Diagnostic::new(
            code::CAST_OUT_OF_RANGE,
            "a number does not fit the integer type that it is converted to",
        )
        .help("bring the value into range first with `min` and `max`"),
        Failure::WidthOverflow => Diagnostic::new(
            code::WIDTH_OVERFLOW,
            "the result has more entries than its index arrays count",
        )
        .help("declare wider arrays in the result's format, as in `, pos = 64` or `, crd = 64`"),
        Failure::OutOfMemory => out_of_memory(stop.shortage, function),
        Failure::Cancelled => cancelled(),
        Failure::NotAsDeclared => Diagnostic::new(
            code::NOT_AS_DECLARED,
            format!(
                "`{}` computed data that are not as it declares them",
                function.name
            ),
        )
        .help("correct the statements that compute them, or the declarations"),
    }
}

fn out_of_memory(shortage: Option<Shortage>, function: &Function) -> Diagnostic {
    let growing = shortage.and_then(|shortage| {
        let buffer = shortage.buffer?;
        let is_of = |argument: &Argument| argument.buffers.contains(&buffer);
        let is_argument = function.arguments.iter().any(is_of);
        is_argument.then(|| &function.buffers[buffer].name)
    });
    let message = match (growing, shortage) {
        (Some(_), _) => "there is no memory for the result",
        (None, Some(_)) => "there is no memory for a workspace",
        (None, None) => "there is no memory for the result or a workspace",
    };
    let mut diagnostic = Diagnostic::new(code::KERNEL_OUT_OF_MEMORY, message);
    if let Some(Shortage {
        bytes: bytes @ 1..,
        most,
        ..
    }) = shortage
    {
        let what = growing.map_or("it".to_owned(), |array| format!("its array `{array}`"));
        let limit = most.map_or(String::new(), |most| {
            format!(
                ", and may have {}: 1 GiB, or 16 times the bytes of the entries if that is more",
                Bytes(most.into())
            )
        });
        diagnostic = diagnostic.note(format!("{what} was to have {}{limit}", Bytes(bytes)));
    }
    let is_limited = shortage.is_some_and(|shortage| shortage.most.is_some());
    diagnostic.help(match is_limited {
        true => "store it as `coo` or `csf`, which store entries alone, or allow more with `Options::memory`",
        // What grows is what stores entries: no format would hold fewer of them.
        false => "compute a window of the result, or allow more with `Options::memory`",
    })
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
