//! Numbers, vectors and memrefs in the notation of MLIR's runner.
//!
//! ```text
//! vector.print    ( ( 1, 2.5 ), ( 0, 1e+10 ) )
//! printMemref     [[1,   2.5],
//!                  [0,   1e+10]]
//! ```
//!
//! Floating-point numbers have six digits, as those of `%g` in C.

use sparsec_base::Scalar;
use sparsec_mlir::Type;
use sparsec_mlir::types::Sign;

use crate::memory::MemRef;

/// A floating-point number as `%g` prints it.
///
/// Source: ISO C, 7.21.6.1: scientific notation for exponents below -4 and from the precision on,
/// without zeros at the end.
pub(crate) fn general(value: f64) -> String {
    if value.is_nan() {
        return if value.is_sign_negative() {
            "-nan"
        } else {
            "nan"
        }
        .to_owned();
    }
    if value.is_infinite() {
        return if value < 0.0 { "-inf" } else { "inf" }.to_owned();
    }
    let scientific = format!("{value:.5e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if !(-4..6).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trimmed(digits), exponent.abs());
    }
    let precision = (5 - exponent).max(0) as usize;
    trimmed(&format!("{value:.precision$}"))
}

/// How integers are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Integers {
    Signed,
    Unsigned,
}

impl Integers {
    /// As the runner prints the entries of this type.
    pub(crate) fn of(element: &Type) -> Self {
        match element {
            Type::Index | Type::Integer(_, Sign::Unsigned) => Self::Unsigned,
            _ => Self::Signed,
        }
    }
}

/// A number; a complex one in parentheses.
pub(crate) fn number(value: Scalar, integers: Integers) -> String {
    match value {
        Scalar::Bool(value) => u8::from(value).to_string(),
        Scalar::I64(value) if integers == Integers::Unsigned => (value as u64).to_string(),
        Scalar::C64(_) | Scalar::C128(_) => {
            let value = value.to_c128();
            format!("({},{})", general(value.re), general(value.im))
        }
        _ => match value.to_integer() {
            Some(integer) => integer.to_string(),
            None => general(value.to_f64()),
        },
    }
}

/// A vector in parentheses, mode by mode.
pub(crate) fn vector(entries: &[Scalar], shape: &[u64], integers: Integers) -> String {
    let Some((first, rest)) = shape.split_first() else {
        return match entries.first() {
            Some(value) => format!("( {} )", number(*value, integers)),
            None => "( )".to_owned(),
        };
    };
    let each = entries.len().checked_div(*first as usize).unwrap_or(0);
    let parts = (0..*first as usize).map(|n| {
        let part = &entries[n * each..][..each];
        match rest.is_empty() {
            true => number(part[0], integers),
            false => vector(part, rest, integers),
        }
    });
    let parts: Vec<String> = parts.collect();
    format!("( {} )", parts.join(", "))
}

/// The first line of a memref: where it lies, and its shape.
pub(crate) fn shape(memref: &MemRef) -> String {
    let list = |numbers: Vec<String>| format!("[{}]", numbers.join(", "));
    // The same numbers in every run stand for addresses.
    format!(
        "base@ = 0x{:x} rank = {} offset = {} sizes = {} strides = {}",
        memref.buffer.number * 16,
        memref.sizes.len(),
        memref.offset,
        list(memref.sizes.iter().map(ToString::to_string).collect()),
        list(memref.strides.iter().map(ToString::to_string).collect()),
    )
}

/// The entries of a memref in brackets; `None` if some lie outside of the buffer.
pub(crate) fn entries(memref: &MemRef, integers: Integers) -> Option<String> {
    let mut text = String::new();
    nested(memref, integers, &mut Vec::new(), &mut text)?;
    Some(match memref.sizes.is_empty() {
        true => format!("[{text}]"),
        false => text,
    })
}

fn nested(memref: &MemRef, integers: Integers, at: &mut Vec<i64>, text: &mut String) -> Option<()> {
    let (rank, mode) = (memref.sizes.len(), at.len());
    if mode == rank {
        match memref.get(at)? {
            // The runner's stream takes these for characters.
            Scalar::I8(value) => text.push(char::from(value as u8)),
            value => text.push_str(&number(value, integers)),
        }
        return Some(());
    }
    text.push('[');
    for n in 0..memref.sizes[mode] {
        if n > 0 {
            text.push_str(", ");
            if mode + 1 < rank {
                text.push('\n');
            }
            text.push_str(&" ".repeat(mode + 1));
        }
        at.push(n as i64);
        nested(memref, integers, at, text)?;
        at.pop();
    }
    text.push(']');
    Some(())
}

#[cfg(test)]
mod tests {
    use super::general;

    #[test]
    fn numbers_are_those_of_c() {
        for (value, text) in [
            (1.0, "1"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (1e10, "1e+10"),
            (2.5e-5, "2.5e-05"),
            (123_456.0, "123456"),
            (1_234_567.0, "1.23457e+06"),
            (999_999.5, "1e+06"),
            (0.000_123_456_7, "0.000123457"),
            (f64::INFINITY, "inf"),
            (1e-300, "1e-300"),
        ] {
            assert_eq!(general(value), text);
        }
    }
}
