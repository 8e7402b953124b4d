//! Values as text, read exactly and written shortest.
//!
//! A value is read where it stands: the reader gets the rest of the line and
//! says how many bytes it took. What is read is the nearest value of the type,
//! and written values are the shortest text that reads back as the same bits,
//! `NaN` payloads excepted: text has `nan` and `-nan`, which SciPy reads too.
//!
//! | type         | text                                                        |
//! |--------------|-------------------------------------------------------------|
//! | `bool`       | `0 1 true false`                                            |
//! | integers     | digits; `3.0` and `1e3` below 2^53                          |
//! | `f16` `bf16` | as `f64`, and rounded from there                            |
//! | `f32` `f64`  | decimals, `inf`, `infinity`, `nan`, in any case             |
//! | complex      | two of these: the real part, then the imaginary             |
//!
//! An integer of 64 bits that the nearest double is not is told by
//! [`is_rounded_integer`]: readers refuse it where nobody asked for a float.
//!
//! A type that would lose a value refuses it: `1.5` as `i32`, `300` as `u8`,
//! `1e40` as `f32`, which has no such finite number.
//!
//! What [`Line`] leaves is read by the crate `fast-float2`; the shortest text is
//! found by `zmij`.

use sparsec_base::{Bool8, Complex, bf16, f16};
use sparsec_tensor::Element;
use wide::i16x8;

use crate::line::Line;

/// A value that can be read from a file and written to one.
pub(crate) trait Value: Element {
    /// What a value of this type looks like, for messages.
    const WANTED: &'static str;
    /// The one of this type: the value of entries of pattern files.
    const ONE: Self;
    /// The value that a text begins with, and how many bytes it takes.
    /// `n_parts` is 2 for complex numbers with both parts, else 1.
    fn read(text: &[u8], n_parts: usize) -> Option<(Self, usize)>;
    /// The value that comes next in a line of the common shape, where values of
    /// this type have one.
    #[inline(always)]
    fn common(_: &mut Line<'_>) -> Option<Self> {
        None
    }
    /// Appends the value.
    fn write(self, out: &mut Vec<u8>);
    /// The value of the mirror image where it is the negative. That of zero is
    /// +0, as it is where a zero is not stored.
    fn negated(self) -> Self;
    /// The value of the mirror image where it is the conjugate; zeros as above.
    fn conjugated(self) -> Self {
        self
    }
}

macro_rules! integers {
    ($($ty:ident $wanted:literal;)*) => {$(
        impl Value for $ty {
            const WANTED: &'static str = $wanted;
            const ONE: Self = 1;
            fn read(text: &[u8], _: usize) -> Option<(Self, usize)> {
                let (value, length) = integer(text)?;
                Some((value.try_into().ok()?, length))
            }
            #[inline(always)]
            fn common(line: &mut Line<'_>) -> Option<Self> {
                line.integer()?.try_into().ok()
            }
            fn write(self, out: &mut Vec<u8>) {
                out.extend_from_slice(itoa::Buffer::new().format(self).as_bytes());
            }
            fn negated(self) -> Self {
                self.wrapping_neg()
            }
        }
    )*};
}
integers! {
    i8 "an integer from -128 to 127";
    i16 "an integer from -32768 to 32767";
    i32 "an integer of at most 32 bits";
    i64 "an integer of at most 64 bits";
    u8 "an integer from 0 to 255";
    u16 "an integer from 0 to 65535";
    u32 "an integer of at most 32 bits, without sign";
    u64 "an integer of at most 64 bits, without sign";
}

/// An integer of up to 64 bits, with or without a sign.
#[inline]
fn integer(text: &[u8]) -> Option<(i128, usize)> {
    let negative = text.first() == Some(&b'-');
    let start = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let (size, length) = digits(&text[start..]);
    let at = start + length;
    if matches!(text.get(at), Some(b'.' | b'e' | b'E')) || length == 0 {
        return whole(text);
    }
    let size = i128::from(size?);
    Some((if negative { -size } else { size }, at))
}

/// A decimal number that is an integer: `3.0`. Doubles hold those below 2^53.
#[cold]
fn whole(text: &[u8]) -> Option<(i128, usize)> {
    let (value, length) = f64::read(text, 1)?;
    let exact = value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0;
    exact.then_some((value as i128, length))
}

/// The number of the digits that a text begins with, and how many they are;
/// no number where 64 bits do not hold it.
#[inline]
pub(crate) fn digits(text: &[u8]) -> (Option<u64>, usize) {
    if let Some(eight) = text.first_chunk() {
        let (value, length) = up_to_eight(*eight);
        if length < 8 {
            return (Some(value), length);
        }
    }
    many_digits(text)
}

fn many_digits(text: &[u8]) -> (Option<u64>, usize) {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let value = text[..length].iter().try_fold(0u64, |value, byte| {
        value.checked_mul(10)?.checked_add(u64::from(byte - b'0'))
    });
    (value, length)
}

/// The number of the digits that eight bytes begin with, and how many they are.
///
/// All eight are looked at in one word, the first in its lowest byte. Shifting
/// out what follows the digits puts zeros before them.
#[inline]
pub(crate) fn up_to_eight(bytes: [u8; 8]) -> (u64, usize) {
    let (word, others) = spread(bytes);
    match others.trailing_zeros() & !7 {
        0 => (0, 0),
        n_bits => (joined(word << (64 - n_bits)), n_bits as usize / 8),
    }
}

/// The number that the first `n` of eight bytes are, if those are digits; there
/// is at least one.
#[inline(always)]
pub(crate) fn number_of_first(bytes: [u8; 8], n: usize) -> u64 {
    let (word, _) = spread(bytes);
    joined(word.wrapping_shl(64 - 8 * n as u32))
}

/// Eight bytes less `'0'`, and the top bits of those that are no digit: what is
/// below 10 stays below 0x80 when 0x76 is added.
#[inline(always)]
fn spread(bytes: [u8; 8]) -> (u64, u64) {
    const EACH: u64 = u64::MAX / 0xFF;
    let word = u64::from_le_bytes(bytes) ^ (EACH * u64::from(b'0'));
    let others = (word.wrapping_add(EACH * 0x76) | word) & (EACH * 0x80);
    (word, others)
}

/// Eight digits as a number: neighbours become numbers of two digits, of four, of
/// eight, each by one multiplication that moves the first to the second.
#[inline(always)]
fn joined(word: u64) -> u64 {
    let pairs = word.wrapping_mul(1 + (10 << 8)) >> 8 & 0x00FF_00FF_00FF_00FF;
    let fours = pairs.wrapping_mul(1 + (100 << 16)) >> 16 & 0x0000_FFFF_0000_FFFF;
    fours.wrapping_mul(1 + (10_000 << 32)) >> 32
}

/// The number that sixteen digits are.
#[inline(always)]
pub(crate) fn number_of_sixteen(bytes: [u8; 16]) -> u64 {
    let neighbours = std::array::from_fn(|k| i16::from_le_bytes([bytes[2 * k], bytes[2 * k + 1]]));
    let digits = i16x8::new(neighbours) ^ i16x8::splat(i16::from_le_bytes(*b"00"));
    let pairs: i16x8 = (digits * i16x8::splat(1 + (10 << 8))) >> 8;
    let fours = pairs.dot(i16x8::new([100, 1, 100, 1, 100, 1, 100, 1]));
    let [first, second, third, fourth] =
        fours.to_array().map(|four| u64::from(four.cast_unsigned()));
    let eight = |word: u64| word.wrapping_mul(1 + (10_000 << 32)) >> 32;
    eight(first | second << 32) * 100_000_000 + eight(third | fourth << 32)
}

/// So many digits are below 2^53, up to which doubles hold every integer.
pub(crate) const MOST_EXACT: usize = 15;

/// Whether a word is an integer of 64 bits that no double is.
pub(crate) fn is_rounded_integer(word: &[u8]) -> bool {
    let word = word.strip_prefix(b"-").unwrap_or(word);
    match digits(word) {
        (Some(n), length) if length == word.len() => u128::from(n) != (n as f64) as u128,
        _ => false,
    }
}

macro_rules! floats {
    ($($ty:ident $common:expr, $wanted:literal;)*) => {$(
        impl Value for $ty {
            const WANTED: &'static str = $wanted;
            const ONE: Self = 1.0;
            #[inline]
            fn read(text: &[u8], _: usize) -> Option<(Self, usize)> {
                let (value, length) = fast_float2::parse_partial::<Self, _>(text).ok()?;
                (value.is_finite() || is_named(text)).then_some((value, length))
            }
            #[inline(always)]
            fn common(line: &mut Line<'_>) -> Option<Self> {
                $common(line)
            }
            fn write(self, out: &mut Vec<u8>) {
                match self.is_finite() {
                    true => out.extend_from_slice(zmij::Buffer::new().format_finite(self).as_bytes()),
                    false => out.extend_from_slice(name(self.into())),
                }
            }
            fn negated(self) -> Self {
                0.0 - self
            }
        }
    )*};
}
floats! {
    // Not by way of f64, which would round twice.
    f32 |_| None, "a number within the range of f32";
    f64 Line::double, "a number within the range of f64";
}

/// Whether a number is given by its name: `inf`, `nan`.
fn is_named(text: &[u8]) -> bool {
    let first = text.iter().find(|byte| !matches!(byte, b'+' | b'-'));
    first.is_some_and(u8::is_ascii_alphabetic)
}

/// The name of a number that is not finite.
fn name(value: f64) -> &'static [u8] {
    match value {
        f64::INFINITY => b"inf",
        f64::NEG_INFINITY => b"-inf",
        value if value.is_sign_negative() => b"-nan",
        _ => b"nan",
    }
}

macro_rules! halves {
    ($($ty:ident $wanted:literal;)*) => {$(
        impl Value for $ty {
            const WANTED: &'static str = $wanted;
            const ONE: Self = $ty::ONE;
            fn read(text: &[u8], _: usize) -> Option<(Self, usize)> {
                let (value, length) = f64::read(text, 1)?;
                let near = $ty::from_f64(value);
                (near.is_finite() || !value.is_finite()).then_some((near, length))
            }
            /// The fewest digits that read back: five are always enough.
            fn write(self, out: &mut Vec<u8>) {
                let value = self.to_f64();
                if !value.is_finite() {
                    return out.extend_from_slice(name(value));
                }
                let same = |short: &f64| $ty::from_f64(*short).to_bits() == self.to_bits();
                let mut shorter = (0..5).filter_map(|n| format!("{value:.n$e}").parse().ok());
                shorter.find(same).unwrap_or(value).write(out);
            }
            fn negated(self) -> Self {
                $ty::ZERO - self
            }
        }
    )*};
}
halves! {
    f16 "a number within the range of f16";
    bf16 "a number within the range of bf16";
}

impl Value for Bool8 {
    const WANTED: &'static str = "a truth value: `0`, `1`, `true` or `false`";
    const ONE: Self = Self::TRUE;
    fn read(text: &[u8], _: usize) -> Option<(Self, usize)> {
        if text.starts_with(b"true") {
            return Some((Self::TRUE, 4));
        }
        if text.starts_with(b"false") {
            return Some((Self::FALSE, 5));
        }
        let (value, length) = f64::read(text, 1)?;
        (value == 0.0 || value == 1.0).then_some(((value != 0.0).into(), length))
    }
    fn write(self, out: &mut Vec<u8>) {
        out.push(b'0' + u8::from(self.get()));
    }
    fn negated(self) -> Self {
        self
    }
}

macro_rules! complex {
    ($($ty:ident $wanted:literal;)*) => {$(
        impl Value for Complex<$ty> {
            const WANTED: &'static str = $wanted;
            const ONE: Self = Complex::new(1.0, 0.0);
            fn read(text: &[u8], n_parts: usize) -> Option<(Self, usize)> {
                let (re, length) = $ty::read(text, 1)?;
                if n_parts == 1 {
                    return Some((re.into(), length));
                }
                let blanks = text[length..].iter().take_while(|&&b| b == b' ' || b == b'\t');
                let next = length + blanks.count();
                let (im, length) = $ty::read(&text[next..], 1).filter(|_| next > length)?;
                Some((Complex::new(re, im), next + length))
            }
            fn write(self, out: &mut Vec<u8>) {
                self.re.write(out);
                out.push(b' ');
                self.im.write(out);
            }
            fn negated(self) -> Self {
                Complex::new(self.re.negated(), self.im.negated())
            }
            fn conjugated(self) -> Self {
                Complex::new(self.re, self.im.negated())
            }
        }
    )*};
}
complex! {
    f32 "a real and an imaginary part within the range of f32";
    f64 "a real and an imaginary part within the range of f64";
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The value of a whole word.
    fn read<T: Value>(word: &str) -> Option<T> {
        let n_parts = 1 + usize::from(word.contains(' '));
        let (value, length) = T::read(word.as_bytes(), n_parts)?;
        (length == word.len()).then_some(value)
    }

    fn written<T: Value>(value: T) -> String {
        let mut out = Vec::new();
        value.write(&mut out);
        String::from_utf8(out).unwrap()
    }

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
            "1e-400",
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
            let found: f64 = read(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(found.to_bits(), expected.to_bits(), "{text}");
        }
        assert!(read::<f64>("NaN").unwrap().is_nan());
        assert!(read::<f64>("-nan").unwrap().is_nan());
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in [
            "", "-", ".", "e5", "1e", "1e+", "1.2.3", "x", "1x", "0x10", "--1", "1,5",
        ] {
            assert_eq!(read::<f64>(text), None, "{text}");
            assert_eq!(read::<i64>(text), None, "{text}");
        }
        assert_eq!(read::<Complex<f64>>("1 x"), None);
    }

    #[test]
    fn types_refuse_what_they_would_lose() {
        assert_eq!(read::<i64>("2.5"), None);
        assert_eq!(read::<i64>("9223372036854775808"), None);
        assert_eq!(read::<i64>("-9223372036854775808"), Some(i64::MIN));
        assert_eq!(read::<u64>("18446744073709551615"), Some(u64::MAX));
        assert_eq!(read::<u64>("18446744073709551616"), None);
        assert_eq!(read::<u64>("-1"), None);
        assert_eq!(read::<i64>("3.0"), Some(3));
        assert_eq!(read::<i32>("2147483648"), None);
        assert_eq!(read::<u8>("300"), None);
        assert_eq!(read::<u8>("3e2"), None);
        assert_eq!(read::<i8>("-128"), Some(-128));
        assert_eq!(read::<f64>("1e400"), None);
        assert_eq!(read::<f32>("1e40"), None);
        assert_eq!(read::<f32>("inf"), Some(f32::INFINITY));
        assert_eq!(read::<f16>("65520"), None);
        assert_eq!(read::<bf16>("3e38"), Some(bf16::from_f64(3e38)));
        assert_eq!(read::<Bool8>("0"), Some(Bool8::FALSE));
        assert_eq!(read::<Bool8>("true"), Some(Bool8::TRUE));
        assert_eq!(read::<Bool8>("2"), None);
        assert_eq!(
            read::<Complex<f32>>("1 \t-2e1"),
            Some(Complex::new(1.0, -20.0))
        );
    }

    #[test]
    fn halves_are_written_short_and_read_back() {
        assert_eq!(written(f16::from_f64(0.1)), "0.1");
        assert_eq!(written(bf16::from_f64(1e30)), "1e+30");
        for bits in 0..=u16::MAX {
            let value = f16::from_bits(bits);
            let back: f16 = read(&written(value)).unwrap();
            assert!(back.to_bits() == bits || value.is_nan() && back.is_nan());
            let value = bf16::from_bits(bits);
            let back: bf16 = read(&written(value)).unwrap();
            assert!(back.to_bits() == bits || value.is_nan() && back.is_nan());
        }
    }

    proptest! {
        #[test]
        fn digits_read_as_one_by_one(text in "[0-9]{0,22}[^0-9]{0,9}") {
            let length = text.chars().take_while(char::is_ascii_digit).count();
            let expected = match length {
                0 => Some(0),
                _ => text[..length].parse::<u64>().ok(),
            };
            prop_assert_eq!(digits(text.as_bytes()), (expected, length));
        }

        #[test]
        fn every_double_reads_back(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(!value.is_nan());
            let text = written(value);
            prop_assert_eq!(read::<f64>(&text).unwrap().to_bits(), bits);
            prop_assert!(!is_rounded_integer(text.as_bytes()), "{}", text);
            prop_assert_eq!(read::<u64>(&written(bits)), Some(bits));
            prop_assert_eq!(read::<i64>(&written(bits as i64)), Some(bits as i64));
        }

        #[test]
        fn every_single_reads_back(bits: u32) {
            let value = f32::from_bits(bits);
            prop_assume!(!value.is_nan());
            prop_assert_eq!(read::<f32>(&written(value)).unwrap().to_bits(), bits);
        }

        #[test]
        fn decimals_agree_with_the_library(text in "[+-]?[0-9]{0,20}\\.?[0-9]{0,20}([eE][+-]?[0-9]{0,2})?") {
            let expected = text.parse::<f64>().ok().map(f64::to_bits);
            prop_assert_eq!(read::<f64>(&text).map(f64::to_bits), expected);
        }
    }
}
