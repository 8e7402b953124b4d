//! Doubles from the decimals that files are full of.
//!
//! A value of a file is mostly a sign, some digits, a point and up to nineteen
//! digits in all: `m * 10^q` with `m` below 2^64 and `q` between -27 and 27. With
//! `5^q` as a fraction of 128 bits, one or two multiplications of words give
//! `m * 5^q` to more bits than a double has, and in this range always enough to
//! round it to the nearest:
//!
//! ```text
//! m * 10^q = m * 5^q * 2^q      1.1011…101 1010…  × 2^p
//!                                 53 bits  | what decides the rounding
//! ```
//!
//! Everything else (more digits, larger exponents) is left to the caller.
//!
//! Source: Lemire, "Number Parsing at a Gigabyte per Second", Software: Practice
//! and Experience 2021, <https://doi.org/10.1002/spe.2984>; why no other case can
//! arise: Mushtak and Lemire, "Fast Number Parsing Without Fallback", 2023,
//! <https://doi.org/10.1002/spe.3198>.

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

/// Powers of ten up to that of eight digits.
pub(crate) const TENS: [u64; 9] = [
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

/// The double nearest to `digits * 10^power`, ties to even; `None` for powers
/// beyond the table.
#[inline(always)]
pub(crate) fn nearest(digits: u64, power: i32) -> Option<f64> {
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
    let exponent = ((power * 217_706) >> 16) + 63 + upper as i32 - zeros as i32 + 1023;
    // The first bit of the mantissa is not kept: it counts as one more of the
    // exponent, or two where rounding made it longer.
    Some(f64::from_bits(((exponent as u64 - 1) << 52) + mantissa))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(digits: u64, power: i32) {
        let text = format!("{digits}e{power}");
        let expected: f64 = text.parse().unwrap();
        assert_eq!(nearest(digits, power), Some(expected), "{text}");
    }

    #[test]
    fn halves_round_to_even() {
        for (digits, power) in [
            (9_007_199_254_740_993, 0),
            (9_007_199_254_740_995, 0),
            (45_035_996_273_704_965, -1),
            (45_035_996_273_704_955, -1),
            (5, 0),
            (25, -1),
            (18_014_398_509_481_986, 0),
            (u64::MAX, MOST),
            (u64::MAX, -MOST),
            (1, MOST),
            (1, -MOST),
        ] {
            check(digits, power);
        }
    }

    #[test]
    fn other_powers_are_left() {
        assert_eq!(nearest(1, MOST + 1), None);
        assert_eq!(nearest(1, -MOST - 1), None);
        assert_eq!(nearest(0, MOST), Some(0.0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn every_number_is_the_nearest(digits: u64, zeros in 0u32..64, power in -MOST..=MOST) {
            check(digits >> zeros, power);
        }
    }
}
