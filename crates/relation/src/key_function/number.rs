//! The numbers of key functions: integers with a sign and 128 bits.

use std::cmp::Ordering;
use std::fmt;

/// An integer of up to 128 bits beside its sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Number {
    is_negative: bool,
    magnitude: u128,
}

impl Number {
    /// Nought.
    pub const ZERO: Self = Self::of(0);
    /// One.
    pub const ONE: Self = Self::of(1);

    /// A number that is not negative.
    pub const fn of(magnitude: u128) -> Self {
        Self {
            is_negative: false,
            magnitude,
        }
    }

    /// The power of two.
    pub(crate) fn power(bits: u32) -> Option<Self> {
        1_u128.checked_shl(bits).map(Self::of)
    }

    fn signed(is_negative: bool, magnitude: u128) -> Self {
        Self {
            is_negative: is_negative && magnitude > 0,
            magnitude,
        }
    }

    /// The number without its sign, if it is not negative.
    pub fn unsigned(self) -> Option<u128> {
        (!self.is_negative).then_some(self.magnitude)
    }

    /// Whether it is below 0.
    pub fn is_negative(self) -> bool {
        self.is_negative
    }

    /// How many bits it has beside its sign.
    pub(crate) fn n_bits(self) -> u32 {
        u128::BITS - self.magnitude.leading_zeros()
    }

    pub(crate) fn negated(self) -> Self {
        Self::signed(!self.is_negative, self.magnitude)
    }

    /// The sum; `None` for one of more bits, as in the operations below.
    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        let (a, b) = (self, other);
        if a.is_negative == b.is_negative {
            let magnitude = a.magnitude.checked_add(b.magnitude)?;
            return Some(Self::signed(a.is_negative, magnitude));
        }
        Some(match a.magnitude >= b.magnitude {
            true => Self::signed(a.is_negative, a.magnitude - b.magnitude),
            false => Self::signed(b.is_negative, b.magnitude - a.magnitude),
        })
    }

    pub(crate) fn minus(self, other: Self) -> Option<Self> {
        self.plus(other.negated())
    }

    pub(crate) fn times(self, other: Self) -> Option<Self> {
        let magnitude = self.magnitude.checked_mul(other.magnitude)?;
        Some(Self::signed(
            self.is_negative != other.is_negative,
            magnitude,
        ))
    }

    /// The quotient, rounded down, by a number above 0.
    pub(crate) fn over(self, other: Self) -> Option<Self> {
        let by = other.unsigned().filter(|by| *by > 0)?;
        let whole = self.magnitude / by;
        let has_rest = !self.magnitude.is_multiple_of(by);
        let magnitude = whole + u128::from(self.is_negative && has_rest);
        Some(Self::signed(self.is_negative, magnitude))
    }

    /// What the rounded quotient leaves.
    pub(crate) fn rest(self, other: Self) -> Option<Self> {
        self.minus(self.over(other)?.times(other)?)
    }

    /// The product with a power of two, of numbers that are not negative.
    pub(crate) fn shifted_left(self, n: Self) -> Option<Self> {
        let (a, n) = (self.unsigned()?, u32::try_from(n.unsigned()?).ok()?);
        match a {
            0 => Some(Self::ZERO),
            _ if n > a.leading_zeros() => None,
            _ => Some(Self::of(a << n)),
        }
    }

    /// The bits above the last `n`.
    pub(crate) fn shifted_right(self, n: Self) -> Option<Self> {
        let (a, n) = (self.unsigned()?, u32::try_from(n.unsigned()?).ok()?);
        Some(Self::of(a.checked_shr(n).unwrap_or(0)))
    }

    /// An operation on the bits of numbers that are not negative.
    pub(crate) fn bits(self, other: Self, of: fn(u128, u128) -> u128) -> Option<Self> {
        Some(Self::of(of(self.unsigned()?, other.unsigned()?)))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.is_negative, other.is_negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.magnitude.cmp(&other.magnitude),
            (true, true) => other.magnitude.cmp(&self.magnitude),
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_negative { "-" } else { "" };
        write!(f, "{sign}{}", self.magnitude)
    }
}

#[cfg(test)]
mod tests {
    use super::Number;

    fn number(n: i64) -> Number {
        let magnitude = Number::of(n.unsigned_abs().into());
        if n < 0 {
            magnitude.negated()
        } else {
            magnitude
        }
    }

    #[test]
    fn small_numbers_are_those_of_64_bits() {
        for a in -9..10_i64 {
            for b in -9..10_i64 {
                let [x, y] = [a, b].map(number);
                let found = [x.plus(y), x.minus(y), x.times(y)];
                assert_eq!(found, [a + b, a - b, a * b].map(|n| Some(number(n))));
                assert_eq!(x.cmp(&y), a.cmp(&b));
                if b > 0 {
                    assert_eq!(x.over(y), Some(number(a.div_euclid(b))), "{a} {b}");
                    assert_eq!(x.rest(y), Some(number(a.rem_euclid(b))), "{a} {b}");
                }
                if a >= 0 && b >= 0 {
                    assert_eq!(x.shifted_left(y), Some(number(a << b)));
                    assert_eq!(x.shifted_right(y), Some(number(a >> b)));
                }
            }
        }
    }

    #[test]
    fn large_numbers_are_exact_or_none() {
        let most = Number::of(u128::MAX);
        assert_eq!(most.plus(Number::ONE), None);
        assert_eq!(most.minus(most), Some(Number::ZERO));
        assert_eq!(most.times(number(2)), None);
        assert_eq!(Number::ONE.shifted_left(number(128)), None);
        assert_eq!(Number::ONE.shifted_left(number(127)), Number::power(127));
        assert_eq!(most.shifted_right(number(127)), Some(Number::ONE));
    }
}
