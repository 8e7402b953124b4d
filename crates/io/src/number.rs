//! Coordinates and values as text, read exactly.
//!
//! Most values in files are short decimals. With `m` the digits as an integer
//! and `e` the power of ten, `m * 10^e` is one correctly rounded operation on
//! exact operands where `m < 2^53` and `|e| <= 22`, so its result is the nearest
//! double. Everything else goes to the standard library.
//!
//! Source: Clinger, "How to Read Floating Point Numbers Accurately", PLDI 1990,
//! <https://doi.org/10.1145/93542.93557>.

use sparsec_base::{Bool8, Complex, bf16, f16};
use sparsec_tensor::Element;

/// Powers of ten that doubles hold exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// A value that can be read from a file.
pub(crate) trait Value: Element {
    /// What a value of this type looks like, for messages.
    const WANTED: &'static str;
    /// The one of this type: the value of entries of pattern files.
    const ONE: Self;
    /// The value that a word states.
    fn read(word: &[u8]) -> Option<Self>;
}

impl Value for f64 {
    const WANTED: &'static str = "a number";
    const ONE: Self = 1.0;
    fn read(word: &[u8]) -> Option<Self> {
        short_decimal(word).or_else(|| std::str::from_utf8(word).ok()?.parse().ok())
    }
}

impl Value for f32 {
    const WANTED: &'static str = "a number";
    const ONE: Self = 1.0;
    fn read(word: &[u8]) -> Option<Self> {
        // Not by way of f64: that would round twice.
        std::str::from_utf8(word).ok()?.parse().ok()
    }
}

impl Value for i64 {
    const WANTED: &'static str = "an integer of at most 64 bits";
    const ONE: Self = 1;
    fn read(word: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(word).ok()?;
        text.parse().ok().or_else(|| {
            // `3.0` and `1e3` are integers too; doubles hold them below 2^53.
            let value: f64 = text.parse().ok()?;
            (value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0).then_some(value as i64)
        })
    }
}

impl Value for u64 {
    const WANTED: &'static str = "an integer from 0 to 18446744073709551615";
    const ONE: Self = 1;
    fn read(word: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(word).ok()?;
        text.parse()
            .ok()
            .or_else(|| i64::read(word)?.try_into().ok())
    }
}

macro_rules! narrow {
    ($($ty:ty, $wanted:literal;)*) => {$(
        impl Value for $ty {
            const WANTED: &'static str = $wanted;
            const ONE: Self = 1;
            fn read(word: &[u8]) -> Option<Self> {
                i64::read(word)?.try_into().ok()
            }
        }
    )*};
}

narrow! {
    i8, "an integer from -128 to 127";
    i16, "an integer from -32768 to 32767";
    i32, "an integer of at most 32 bits";
    u8, "an integer from 0 to 255";
    u16, "an integer from 0 to 65535";
    u32, "an integer from 0 to 4294967295";
}

macro_rules! other {
    ($($ty:ty, $one:expr, $wanted:literal, $read:expr;)*) => {$(
        impl Value for $ty {
            const WANTED: &'static str = $wanted;
            const ONE: Self = $one;
            fn read(word: &[u8]) -> Option<Self> {
                let read: fn(f64) -> Self = $read;
                f64::read(word).map(read)
            }
        }
    )*};
}

other! {
    f16, f16::ONE, "a number", f16::from_f64;
    bf16, bf16::ONE, "a number", bf16::from_f64;
    Complex<f32>, Complex::new(1.0, 0.0), "a number", |v| Complex::from(v as f32);
    Complex<f64>, Complex::new(1.0, 0.0), "a number", Complex::from;
}

impl Value for Bool8 {
    const WANTED: &'static str = "`true`, `false` or a number";
    const ONE: Self = Self::TRUE;
    fn read(word: &[u8]) -> Option<Self> {
        match word {
            b"true" => Some(true.into()),
            b"false" => Some(false.into()),
            _ => Some((f64::read(word)? != 0.0).into()),
        }
    }
}

/// A decimal number whose digits and power of ten are small enough to be exact.
fn short_decimal(word: &[u8]) -> Option<f64> {
    let mut at = 0;
    let negative = word.first() == Some(&b'-');
    if matches!(word.first(), Some(b'+' | b'-')) {
        at = 1;
    }
    let (mut digits, mut n_digits, mut power) = (0u64, 0usize, 0i64);
    let mut seen_point = false;
    while let Some(&byte) = word.get(at) {
        match byte {
            b'0'..=b'9' => {
                digits = digits.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
                n_digits += 1;
                power -= i64::from(seen_point);
            }
            b'.' if !seen_point => seen_point = true,
            _ => break,
        }
        at += 1;
    }
    // Nineteen digits never overflow 64 bits.
    if n_digits == 0 || n_digits > 19 || digits >= 1 << 53 {
        return None;
    }
    if let Some(b'e' | b'E') = word.get(at) {
        let (exponent, next) = exponent(word, at + 1)?;
        power += exponent;
        at = next;
    }
    if at != word.len() {
        return None;
    }
    let size = POWERS.get(usize::try_from(power.unsigned_abs()).ok()?)?;
    let value = match power < 0 {
        true => digits as f64 / size,
        false => digits as f64 * size,
    };
    Some(if negative { -value } else { value })
}

/// An exponent of at most four digits, and the byte after it.
fn exponent(word: &[u8], mut at: usize) -> Option<(i64, usize)> {
    let negative = word.get(at) == Some(&b'-');
    if matches!(word.get(at), Some(b'+' | b'-')) {
        at += 1;
    }
    let start = at;
    let mut exponent = 0;
    while let Some(digit @ b'0'..=b'9') = word.get(at) {
        exponent = exponent * 10 + i64::from(digit - b'0');
        at += 1;
        if at - start > 4 {
            return None;
        }
    }
    (at > start).then_some((if negative { -exponent } else { exponent }, at))
}

/// Appends the decimal digits of `n`.
pub(crate) fn push_digits(out: &mut Vec<u8>, mut n: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_read_as_the_nearest_value() {
        for text in [
            "0",
            "-0",
            "1",
            "+1",
            ".5",
            "5.",
            "1e5",
            "1E+5",
            "1.5e-3",
            "123456789.123456789",
            "9007199254740993",
            "1e22",
            "1e23",
            "1e-22",
            "1e-23",
            "4.9e-324",
            "1e400",
            "-1e400",
            "0.1",
            "0.30000000000000004",
            "179769313486231570000000000000000000000",
            "inf",
            "-inf",
            "Infinity",
            "00001.50",
            "1e00001",
            "0e5000",
        ] {
            let expected: f64 = text.parse().unwrap();
            let found = f64::read(text.as_bytes()).unwrap();
            assert_eq!(found.to_bits(), expected.to_bits(), "{text}");
        }
        assert!(f64::read(b"NaN").unwrap().is_nan());
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in [
            "", "-", ".", "e5", "1e", "1e+", "1.2.3", "x", "1x", "0x10", "--1", "1,5",
        ] {
            assert_eq!(f64::read(text.as_bytes()), None, "{text}");
            assert_eq!(i64::read(text.as_bytes()), None, "{text}");
        }
        assert_eq!(i64::read(b"2.5"), None);
        assert_eq!(i64::read(b"9223372036854775808"), None);
        assert_eq!(i64::read(b"-9223372036854775808"), Some(i64::MIN));
        assert_eq!(i64::read(b"3.0"), Some(3));
        assert_eq!(i32::read(b"2147483648"), None);
        assert_eq!(u8::read(b"0"), Some(0));
        assert_eq!(u8::read(b"true"), Some(1));
    }

    proptest! {
        #[test]
        fn every_double_reads_back(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(!value.is_nan());
            let found = f64::read(format!("{value:?}").as_bytes()).unwrap();
            prop_assert_eq!(found.to_bits(), bits);
        }

        #[test]
        fn decimals_agree_with_the_library(text in "[+-]?[0-9]{0,20}\\.?[0-9]{0,20}([eE][+-]?[0-9]{0,4})?") {
            let expected = text.parse::<f64>().ok().map(f64::to_bits);
            prop_assert_eq!(f64::read(text.as_bytes()).map(f64::to_bits), expected);
        }

        #[test]
        fn digits_are_decimal(n: u64) {
            let mut out = Vec::new();
            push_digits(&mut out, n);
            prop_assert_eq!(out, n.to_string().into_bytes());
        }
    }
}
