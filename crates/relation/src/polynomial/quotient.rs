//! Quotients and rests of polynomials by integers.

use super::{Atom, Polynomial, Product};
use crate::simplify::floor_divide;

impl Polynomial {
    /// The quotient, rounded down. Terms that are multiples of the divisor are divided apart:
    /// `(4 * b + e) floordiv 4` is `b + e floordiv 4`.
    pub(crate) fn floor_divide(self, by: Self) -> Self {
        let Some(number) = by.value().filter(|number| *number != 0) else {
            return Self::atom(Atom::FloorDivide(self.into(), by.into()));
        };
        if let Some(quotient) = self.value().and_then(|a| floor_divide(a, number)) {
            return Self::integer(quotient);
        }
        let (quotient, rest) = self.multiples(number);
        if rest.terms.is_empty() {
            return quotient;
        }
        let apart = Self::atom(Atom::FloorDivide(rest.into(), by.clone().into()));
        let sum = quotient.plus(1, &apart);
        sum.unwrap_or_else(|| Self::atom(Atom::FloorDivide(self.into(), by.into())))
    }

    /// The rest of the quotient.
    pub(super) fn modulo(self, by: Self) -> Option<Self> {
        let Some(number) = by.value().filter(|number| *number != 0) else {
            return Some(Self::atom(Atom::Modulo(self.into(), by.into())));
        };
        if let Some(a) = self.value()
            && let Some(quotient) = floor_divide(a, number)
        {
            return Self::integer(a).plus(-1, &by.times(&Self::integer(quotient))?);
        }
        let (_, rest) = self.multiples(number);
        Some(match rest.terms.is_empty() {
            true => rest,
            false => Self::atom(Atom::Modulo(rest.into(), by.into())),
        })
    }

    /// The terms that are multiples of a number, divided by it, and the others.
    fn multiples(&self, number: i64) -> (Self, Self) {
        let is_multiple = |(_, factor): &&(Product, i64)| factor.checked_rem(number) == Some(0);
        let whole = self.terms.iter().filter(is_multiple);
        let divided = whole.map(|(product, factor)| (product.clone(), factor / number));
        let rest = self.terms.iter().filter(|term| !is_multiple(term)).cloned();
        let (divided, rest) = (divided.collect(), rest.collect());
        (Self { terms: divided }, Self { terms: rest })
    }
}
