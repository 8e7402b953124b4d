//! Which points have something stored: a union of joins.
//!
//! Whether a part of an expression is stored follows from which operands are:
//!
//! | part                                   | stored at most where            |
//! |----------------------------------------|---------------------------------|
//! | literal                                | nowhere                         |
//! | operand that stores everything         | everywhere                      |
//! | other operand                          | it is                           |
//! | application, some arguments annihilate | all of those are                |
//! | other application                      | some argument is                |
//!
//! Multiplied out, that is a union of **terms**, each a set of operands that
//! must all be stored: `(a + b) * c` has the terms `{a, c} {b, c}`. The set of
//! everything is the empty term, the empty set no term at all.
//!
//! Terms may promise too much and never too little: what is stored is asked
//! again at each point.

/// A union of terms; each lists the operands that must be stored, ascending.
/// No term contains another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Support {
    pub(crate) terms: Vec<Vec<usize>>,
}

/// The most terms that multiplying out may give. Past it a factor is left out,
/// which makes the support larger.
const MOST_TERMS: usize = 64;

impl Support {
    pub(crate) fn nowhere() -> Self {
        Self { terms: Vec::new() }
    }

    pub(crate) fn everywhere() -> Self {
        Self {
            terms: vec![Vec::new()],
        }
    }

    pub(crate) fn operand(number: usize) -> Self {
        Self {
            terms: vec![vec![number]],
        }
    }

    pub(crate) fn union(mut self, other: Self) -> Self {
        self.terms.extend(other.terms);
        self.absorb()
    }

    pub(crate) fn intersection(self, other: Self) -> Self {
        if self.terms.len() * other.terms.len() > MOST_TERMS {
            return match self.terms.len() <= other.terms.len() {
                true => self,
                false => other,
            };
        }
        let terms = self.terms.iter().flat_map(|left| {
            other.terms.iter().map(move |right| {
                let mut both: Vec<usize> = left.iter().chain(right).copied().collect();
                both.sort_unstable();
                both.dedup();
                both
            })
        });
        Self {
            terms: terms.collect(),
        }
        .absorb()
    }

    /// Drops the terms that contain another one.
    fn absorb(self) -> Self {
        let mut terms: Vec<Vec<usize>> = Vec::new();
        for term in self.terms {
            let contains =
                |large: &[usize], small: &[usize]| small.iter().all(|n| large.contains(n));
            if !terms.iter().any(|kept| contains(&term, kept)) {
                terms.retain(|kept| !contains(kept, &term));
                terms.push(term);
            }
        }
        Self { terms }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(support: &Support, expect: &[&[usize]]) {
        assert_eq!(support.terms, expect);
    }

    #[test]
    fn products_of_sums_multiply_out() {
        let [a, b, c] = [0, 1, 2].map(Support::operand);
        let sum = a.clone().union(b);
        check(&sum.clone().intersection(c), &[&[0, 2], &[1, 2]]);
        check(&sum.intersection(a), &[&[0]]);
    }

    #[test]
    fn everything_and_nothing_absorb() {
        let a = Support::operand(0);
        check(&a.clone().union(Support::everywhere()), &[&[]]);
        check(&a.clone().union(Support::nowhere()), &[&[0]]);
        check(&a.clone().intersection(Support::everywhere()), &[&[0]]);
        check(&a.intersection(Support::nowhere()), &[]);
    }
}
