//! Quotients and rests of polynomials by integers, and by products of symbolic constants.

use std::collections::BTreeSet;

use super::{Atom, Polynomial, Product};
use crate::linear::gcd;
use crate::simplify::floor_divide;

/// A polynomial `by * quotient + rest`.
pub(crate) struct Division {
    pub(crate) by: Polynomial,
    pub(crate) quotient: Polynomial,
    pub(crate) rest: Polynomial,
}

impl Polynomial {
    /// The divisions by products of symbolic constants that some of its terms multiply with other
    /// atoms: by each constant, and by all that such a term has. No division leaves out a term that
    /// is a multiple of its divisor.
    pub(crate) fn divisions(&self) -> Vec<Division> {
        let mut divisors: BTreeSet<Vec<Atom>> = BTreeSet::new();
        for (atoms, _) in self.terms().filter(|(atoms, _)| atoms.len() > 1) {
            let constants = atoms.iter().filter(|it| matches!(it, Atom::Constant(_)));
            let constants: Vec<Atom> = constants.cloned().collect();
            divisors.extend(constants.iter().map(|constant| vec![constant.clone()]));
            if constants.len() > 1 {
                divisors.insert(constants);
            }
        }
        let divisions = divisors.iter().map(|by| self.divided(by));
        divisions.flatten().collect()
    }

    /// The division by a product of atoms and the greatest integer that divides its multiples.
    fn divided(&self, by: &[Atom]) -> Option<Division> {
        let (mut multiples, mut rest) = (Vec::new(), Vec::new());
        for (product, factor) in &*self.terms {
            match product.without(by) {
                Some(quotient) => multiples.push((quotient, *factor)),
                None => rest.push((product.clone(), *factor)),
            }
        }
        let factors = multiples.iter().map(|(_, factor)| factor.unsigned_abs());
        let integer = i64::try_from(factors.fold(0, gcd)).ok()?;
        let quotient = multiples.into_iter();
        let quotient = quotient.map(|(product, factor)| (product, factor / integer));
        let mut product = by.iter().cloned().map(Self::atom);
        let by = product.try_fold(Self::integer(integer), |by, atom| by.times(&atom))?;
        Some(Division {
            by,
            quotient: Self::sum(quotient.collect())?,
            rest: Self::sum(rest)?,
        })
    }

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
