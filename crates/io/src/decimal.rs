//! Doubles from the decimals that files are full of.
//!
//! A value of a file is mostly a sign, some digits, a point and up to nineteen
//! digits in all: `m * 10^q` with `m` below 2^64 and `q` between -27 and 27. The
//! digits are read eight at a time. With `5^q` as a fraction of 128 bits, one or two
//! multiplications of words give `m * 5^q` to more bits than a double has, and
//! in this range always enough to round it to the nearest:
//!
//! ```text
//! m * 10^q = m * 5^q * 2^q      1.1011…101 1010…  × 2^p
//!                                 53 bits  | what decides the rounding
//! ```
//!
//! Everything else (more digits, larger exponents, names) is left to the caller.
//!
//! Source: Lemire, "Number Parsing at a Gigabyte per Second", Software: Practice
//! and Experience 2021, <https://doi.org/10.1002/spe.2984>; why no other case can
//! arise: Mushtak and Lemire, "Fast Number Parsing Without Fallback", 2023,
//! <https://doi.org/10.1002/spe.3198>.

use crate::number::{all_eight, up_to_eight};

/// The largest power of five below 2^64.
const MOST: i32 = 27;

/// `5^q` for `q` from `-MOST` to `MOST`, as 128 bits of which the first is set.
/// Those of negative powers are rounded up.
const FIVES: [u128; 2 * MOST as usize + 1] = fives();

const fn fives() -> [u128; 2 * MOST as usize + 1] {
    let mut table = [0; 2 * MOST as usize + 1];
    let mut power = 1u128;
    let mut q = 0;
    while q <= MOST as usize {
        table[MOST as usize + q] = power << power.leading_zeros();
        table[MOST as usize - q] = reciprocal(power);
        power *= 5;
        q += 1;
    }
    // One is its own reciprocal, exactly.
    table[MOST as usize] = 1 << 127;
    table
}

/// `2^b / power` rounded up, with `b` such that it has 128 bits.
const fn reciprocal(power: u128) -> u128 {
    let mut bits = 0;
    while (1 << bits) < power {
        bits += 1;
    }
    let (mut quotient, mut rest) = (0u128, 1u128);
    let mut bit = 0;
    while bit < bits + 127 {
        rest <<= 1;
        quotient <<= 1;
        if rest >= power {
            rest -= power;
            quotient |= 1;
        }
        bit += 1;
    }
    quotient.wrapping_add(1)
}

const TENS: [u64; 9] = [
    1,
    10,
    100,
    1000,
    10_000,
    100_000,
    1_000_000,
    10_000_000,
    100_000_000,
];

/// The number that a text begins with and how many bytes it takes, if it is of
/// the common form and more text follows it.
#[inline]
pub(crate) fn double(text: &[u8]) -> Option<(f64, usize)> {
    let negative = *text.first()? == b'-';
    let mut at = usize::from(negative);
    let start: [u8; 8] = *text.get(at..)?.first_chunk()?;
    let (whole, n_whole) = match start {
        [digit @ b'0'..=b'9', b'.', ..] => (u64::from(digit - b'0'), 1),
        eight => up_to_eight(eight),
    };
    at += n_whole;
    let (mut digits, mut n_fraction) = (whole, 0);
    if text.get(at) == Some(&b'.') {
        at += 1;
        let mut eight = *text.get(at..)?.first_chunk()?;
        // A length that is guessed right costs less than one that is counted.
        while let Some(word) = all_eight(eight) {
            digits = digits.wrapping_mul(TENS[8]).wrapping_add(word);
            at += 8;
            n_fraction += 8;
            if n_fraction > 16 {
                return None;
            }
            eight = *text.get(at..)?.first_chunk()?;
        }
        let (word, n) = up_to_eight(eight);
        at += n;
        n_fraction += n;
        // Nineteen digits are below 2^64; a zero before them is none.
        if n_fraction + if whole == 0 { 0 } else { n_whole } > 19 {
            return None;
        }
        digits = digits * TENS[n] + word;
    }
    if n_whole == 8 || n_whole + n_fraction == 0 {
        return None;
    }
    let mut power = -(n_fraction as i32);
    if matches!(text.get(at)?, b'e' | b'E') {
        let (exponent, length) = exponent(&text[at + 1..])?;
        power += exponent;
        at += 1 + length;
    }
    let value = nearest(digits, power)?;
    Some((if negative { -value } else { value }, at))
}

/// An exponent of at most three digits, and how many bytes it takes.
#[inline]
fn exponent(text: &[u8]) -> Option<(i32, usize)> {
    let negative = *text.first()? == b'-';
    let start = usize::from(matches!(text[0], b'+' | b'-'));
    let mut value = 0;
    let mut at = start;
    while let Some(digit @ b'0'..=b'9') = text.get(at) {
        value = value * 10 + i32::from(digit - b'0');
        at += 1;
        if at - start > 3 {
            return None;
        }
    }
    (at > start).then_some((if negative { -value } else { value }, at))
}

/// The double nearest to `digits * 10^power`, ties to even.
#[inline]
fn nearest(digits: u64, power: i32) -> Option<f64> {
    let five = *FIVES.get(usize::try_from(power + MOST).ok()?)?;
    if digits == 0 {
        return Some(0.0);
    }
    let zeros = digits.leading_zeros();
    let digits = digits << zeros;
    let product = u128::from(digits) * (five >> 64);
    let (mut high, mut low) = ((product >> 64) as u64, product as u64);
    // Only if all bits that a double has not are set can the lower half of the
    // power carry into those that it has.
    const SPARE: u64 = u64::MAX >> 55;
    if high & SPARE == SPARE {
        let lower = u128::from(digits) * u128::from(five as u64);
        let carry;
        (low, carry) = low.overflowing_add((lower >> 64) as u64);
        high += u64::from(carry);
    }
    let upper = (high >> 63) as u32;
    let shift = upper + 9;
    let mut mantissa = high >> shift;
    // Halfway between two doubles, exactly, is possible for small powers alone.
    if low <= 1 && (-4..=23).contains(&power) && mantissa & 3 == 1 && mantissa << shift == high {
        mantissa &= !1;
    }
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    // floor(power * log2(10)), and the place of the first bit.
    let mut exponent = ((power * 217_706) >> 16) + 63 + upper as i32 - zeros as i32 + 1023;
    if mantissa >= 1 << 53 {
        mantissa = 1 << 52;
        exponent += 1;
    }
    Some(f64::from_bits(
        mantissa & !(1 << 52) | (exponent as u64) << 52,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str) {
        // More text than a number takes, as in a file.
        let padded = format!("{text}\n        ");
        if let Some((value, length)) = double(padded.as_bytes()) {
            assert_eq!(length, text.len(), "{text}");
            let expected: f64 = text.parse().unwrap();
            assert_eq!(value.to_bits(), expected.to_bits(), "{text}");
        }
    }

    fn is_common(text: &str) -> bool {
        double(format!("{text}\n        ").as_bytes()).is_some()
    }

    #[test]
    fn common_numbers_are_read_here() {
        for text in [
            "0.97100275358679622",
            "-12.5",
            "1",
            "0",
            "-0",
            ".5",
            "5.",
            "1e5",
            "1.5e-3",
            "1.7976931348623157e20",
            "9007199254740993e0",
        ] {
            check(text);
            assert_eq!(
                is_common(text),
                text.len() < 18 || text.contains('.'),
                "{text}"
            );
        }
        for text in [
            "inf", "nan", "", "-", ".", "x", "+1", "1e", "1e400", "1e-30",
        ] {
            assert!(!is_common(text), "{text}");
        }
    }

    #[test]
    fn halves_round_to_even() {
        for text in [
            "9007199.254740993e9",
            "9007199.254740995e9",
            "4503599.6273704965e9",
            "4503599.6273704955e9",
            "0.5e1",
            "1.00000000000000011102230246251565e0",
            "2.5e-1",
            "18014398.509481986e9",
        ] {
            check(text);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5000))]

        #[test]
        fn numbers_are_the_nearest(text in "-?[0-9]{0,8}(\\.[0-9]{0,20})?([eE][+-]?[0-9]{1,2})?") {
            check(&text);
        }

        #[test]
        fn doubles_read_back(value in -1e9..1e9f64) {
            check(&format!("{value:?}"));
            check(&format!("{value:.17e}"));
        }
    }
}
