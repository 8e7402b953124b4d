//! Index expressions: what stands at a mode of an access.
//!
//! ```text
//! written            meaning                       as terms
//! A(i)               coordinate i                  i
//! A(2*i + r - 1)     an affine map                 2*i + r - 1
//! A(i(2:9:3))        a window, i from 0            3*i + 2
//! A(i({4,1,7}))      an index set, i from 0        {4,1,7}[i]
//! A(i // 4, i % 4)   blocks                        i // 4, i % 4
//! ```
//!
//! An expression is a sum `Σ factor * term + constant`. Terms are sorted, each
//! once and with a factor other than zero, so that equal sums are equal values
//! and an access by `i + 1` and one by `1 + i` are one operand.
//!
//! A quotient or remainder is simplified where the bounds of its variables
//! decide it: with `0 <= i1 < 4`, `(4*i0 + i1) // 4` is `i0` and
//! `(4*i0 + i1) % 4` is `i1`. This is how a variable that a schedule splits
//! meets a level that stores blocks.
//!
//! A variable alone says that it runs as far as the mode does. Where it does not, as
//! in the window `i(0:2)` of a mode of extent 9, the coordinate is `i // 1`
//! ([`IndexExpr::apart`]), which says nothing of the kind.
//!
//! All arithmetic is checked: an expression that could leave 64 bits is not
//! built.

use std::collections::BTreeSet;

use crate::program::IndexVar;

/// `Σ factor * term + constant`, the coordinate along one mode of an access.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IndexExpr {
    terms: Vec<(Term, i64)>,
    constant: i64,
}

/// What an index expression is a sum of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Term {
    /// An index variable.
    Var(IndexVar),
    /// The quotient by a positive number, rounded down.
    FloorDiv(Box<IndexExpr>, i64),
    /// The remainder by a positive number, never negative.
    Mod(Box<IndexExpr>, i64),
    /// The element of a list at a place counted from 0: an index set.
    Element(Vec<u64>, Box<IndexExpr>),
}

/// The extent of each index variable, where it is known.
pub type ExtentOf<'a> = &'a dyn Fn(IndexVar) -> Option<u64>;

impl From<IndexVar> for IndexExpr {
    fn from(var: IndexVar) -> Self {
        Self::of_term(Term::Var(var))
    }
}

impl IndexExpr {
    /// A constant coordinate.
    pub fn constant(value: i64) -> Self {
        Self {
            terms: Vec::new(),
            constant: value,
        }
    }

    /// The same coordinate, which does not say that a mode has the extent of a
    /// variable: `i // 1` for `i`, and everything else as it is.
    #[must_use]
    pub fn apart(self) -> Self {
        match self.as_var() {
            Some(_) => Self::of_term(Term::FloorDiv(Box::new(self), 1)),
            None => self,
        }
    }

    /// The variable of a coordinate that is one, [apart](Self::apart) or not.
    pub fn as_var_apart(&self) -> Option<IndexVar> {
        match (&self.terms[..], self.constant) {
            ([(Term::FloorDiv(inner, 1), 1)], 0) => inner.as_var(),
            _ => self.as_var(),
        }
    }

    /// A term alone.
    pub(crate) fn from_term(term: Term) -> Self {
        Self::of_term(term)
    }

    fn of_term(term: Term) -> Self {
        Self {
            terms: vec![(term, 1)],
            constant: 0,
        }
    }

    /// The variable, if the expression is one and nothing else.
    pub fn as_var(&self) -> Option<IndexVar> {
        match (&self.terms[..], self.constant) {
            ([(Term::Var(var), 1)], 0) => Some(*var),
            _ => None,
        }
    }

    /// The value, if the expression has no variables.
    pub fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The terms with their factors, sorted.
    pub fn terms(&self) -> &[(Term, i64)] {
        &self.terms
    }

    /// What is added to the terms.
    pub fn offset(&self) -> i64 {
        self.constant
    }

    /// The sum of two expressions; `None` where a number leaves 64 bits.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Option<Self> {
        let mut terms = self.terms.clone();
        for (term, factor) in &other.terms {
            match terms.binary_search_by(|(known, _)| known.cmp(term)) {
                Ok(at) => {
                    terms[at].1 = terms[at].1.checked_add(*factor)?;
                    if terms[at].1 == 0 {
                        terms.remove(at);
                    }
                }
                Err(at) => terms.insert(at, (term.clone(), *factor)),
            }
        }
        Some(Self {
            terms,
            constant: self.constant.checked_add(other.constant)?,
        })
    }

    /// The expression times a number; `None` where a number leaves 64 bits.
    #[must_use]
    pub fn times(&self, factor: i64) -> Option<Self> {
        if factor == 0 {
            return Some(Self::constant(0));
        }
        let terms = self.terms.iter();
        let terms: Option<_> = terms
            .map(|(term, known)| Some((term.clone(), known.checked_mul(factor)?)))
            .collect();
        Some(Self {
            terms: terms?,
            constant: self.constant.checked_mul(factor)?,
        })
    }

    /// The difference of two expressions; `None` where a number leaves 64 bits.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Option<Self> {
        self.plus(&other.times(-1)?)
    }

    /// The quotient by a positive number, rounded down.
    ///
    /// # Panics
    /// If `by` is not positive.
    #[must_use]
    pub fn floor_div(&self, by: i64, extent: ExtentOf<'_>) -> Self {
        let (quotient, rest) = self.divided(by);
        let within = |least: i128, most: i128| least >= 0 && most < i128::from(by);
        match rest.range(extent) {
            Some((least, most)) if within(least, most) => quotient,
            _ => quotient
                .plus(&Self::of_term(Term::FloorDiv(Box::new(rest), by)))
                .expect("quotients are no larger than what is divided"),
        }
    }

    /// The remainder by a positive number, which is never negative.
    ///
    /// # Panics
    /// If `by` is not positive.
    #[must_use]
    pub fn modulo(&self, by: i64, extent: ExtentOf<'_>) -> Self {
        let (_, rest) = self.divided(by);
        match rest.range(extent) {
            Some((least, most)) if least >= 0 && most < i128::from(by) => rest,
            _ => Self::of_term(Term::Mod(Box::new(rest), by)),
        }
    }

    /// `q` and `r` with `self = by * q + r`, in which `r` has what does not
    /// divide.
    fn divided(&self, by: i64) -> (Self, Self) {
        assert!(by > 0, "divisors are positive");
        let mut quotient = Self::constant(self.constant.div_euclid(by));
        let mut rest = Self::constant(self.constant.rem_euclid(by));
        for (term, factor) in &self.terms {
            match factor % by == 0 {
                true => quotient.terms.push((term.clone(), factor / by)),
                false => rest.terms.push((term.clone(), *factor)),
            }
        }
        (quotient, rest)
    }

    /// The element of `list` at this place.
    #[must_use]
    pub fn element_of(&self, list: Vec<u64>) -> Self {
        match self.as_constant().map(usize::try_from) {
            Some(Ok(at)) if at < list.len() => match i64::try_from(list[at]) {
                Ok(value) => Self::constant(value),
                Err(_) => Self::of_term(Term::Element(list, Box::new(self.clone()))),
            },
            _ => Self::of_term(Term::Element(list, Box::new(self.clone()))),
        }
    }

    /// Calls `visit` on every variable, once for each time it stands there.
    pub fn for_each_var(&self, visit: &mut dyn FnMut(IndexVar)) {
        for (term, _) in &self.terms {
            match term {
                Term::Var(var) => visit(*var),
                Term::FloorDiv(inner, _) | Term::Mod(inner, _) | Term::Element(_, inner) => {
                    inner.for_each_var(visit);
                }
            }
        }
    }

    /// The variables, each once.
    pub fn vars(&self) -> BTreeSet<IndexVar> {
        let mut found = BTreeSet::new();
        self.for_each_var(&mut |var| {
            found.insert(var);
        });
        found
    }

    /// Whether the expression depends on `var`.
    pub fn uses(&self, var: IndexVar) -> bool {
        let mut found = false;
        self.for_each_var(&mut |known| found |= known == var);
        found
    }

    /// `factor` and `rest` with `self = factor * var + rest`, if the expression
    /// is linear in `var`; a factor of zero where it does not depend on it.
    pub fn linear_in(&self, var: IndexVar) -> Option<(i64, Self)> {
        let mut rest = self.clone();
        let at = rest.terms.iter().position(|(t, _)| *t == Term::Var(var));
        let factor = at.map_or(0, |at| rest.terms.remove(at).1);
        (!rest.uses(var)).then_some((factor, rest))
    }

    /// The value at a point; `None` outside of an index set, or where it
    /// leaves 64 bits.
    pub fn evaluate(&self, at: &dyn Fn(IndexVar) -> u64) -> Option<i64> {
        let mut sum = i128::from(self.constant);
        for (term, factor) in &self.terms {
            let value = match term {
                Term::Var(var) => i64::try_from(at(*var)).ok()?,
                Term::FloorDiv(inner, by) => inner.evaluate(at)?.div_euclid(*by),
                Term::Mod(inner, by) => inner.evaluate(at)?.rem_euclid(*by),
                Term::Element(list, inner) => {
                    let place = usize::try_from(inner.evaluate(at)?).ok()?;
                    i64::try_from(*list.get(place)?).ok()?
                }
            };
            sum += i128::from(value) * i128::from(*factor);
        }
        i64::try_from(sum).ok()
    }

    /// The least and the largest value over all points; `None` where an extent
    /// is not known, or a variable has no values.
    pub fn range(&self, extent: ExtentOf<'_>) -> Option<(i128, i128)> {
        let (mut least, mut most) = (i128::from(self.constant), i128::from(self.constant));
        for (term, factor) in &self.terms {
            let (low, high) = match term {
                Term::Var(var) => (0, i128::from(extent(*var)?.checked_sub(1)?)),
                Term::FloorDiv(inner, by) => {
                    let (low, high) = inner.range(extent)?;
                    (low.div_euclid((*by).into()), high.div_euclid((*by).into()))
                }
                Term::Mod(_, by) => (0, i128::from(*by) - 1),
                Term::Element(list, _) => (
                    i128::from(*list.iter().min()?),
                    i128::from(*list.iter().max()?),
                ),
            };
            let ends = (low * i128::from(*factor), high * i128::from(*factor));
            least += ends.0.min(ends.1);
            most += ends.0.max(ends.1);
        }
        Some((least, most))
    }

    /// How far `var` runs if every coordinate is to lie below `bound`: the
    /// largest extent with which none is outside, for the other variables as
    /// they are. `None` where the first coordinates lie outside already, or
    /// where that cannot be told.
    pub fn valid_extent(&self, var: IndexVar, bound: u64, extent: ExtentOf<'_>) -> Option<u64> {
        let (factor, rest) = self.linear_in(var)?;
        let (least, most) = rest.range(extent)?;
        let room = match factor {
            0 => return None,
            1.. => (least >= 0).then(|| i128::from(bound) - 1 - most)?,
            _ => (most < i128::from(bound)).then_some(least)?,
        };
        let last = room.div_euclid(i128::from(factor).abs());
        u64::try_from((last + 1).max(0)).ok()
    }

    /// The least extent of a mode that holds every coordinate; `None` where
    /// that is not known.
    pub fn extent_needed(&self, extent: ExtentOf<'_>) -> Option<u64> {
        if self.vars().iter().any(|var| extent(*var) == Some(0)) {
            return Some(0);
        }
        let (_, most) = self.range(extent)?;
        u64::try_from((most + 1).max(0)).ok()
    }

    /// Whether every coordinate lies below `bound`, and none below 0.
    pub fn is_within(&self, bound: Option<u64>, extent: ExtentOf<'_>) -> bool {
        self.range(extent).is_some_and(|(least, most)| {
            least >= 0 && bound.is_some_and(|bound| most < i128::from(bound))
        })
    }

    /// Calls `visit` on every index set, with what stands for the place in it.
    pub fn for_each_set<'a>(&'a self, visit: &mut dyn FnMut(&'a [u64], &'a Self)) {
        for (term, _) in &self.terms {
            match term {
                Term::Var(_) => {}
                Term::FloorDiv(inner, _) | Term::Mod(inner, _) => inner.for_each_set(visit),
                Term::Element(list, at) => {
                    visit(list, at);
                    at.for_each_set(visit);
                }
            }
        }
    }

    /// The expression with variables replaced; those without a replacement
    /// stay. `None` where a number leaves 64 bits.
    #[must_use]
    pub fn substitute(
        &self,
        replacement: &dyn Fn(IndexVar) -> Option<Self>,
        extent: ExtentOf<'_>,
    ) -> Option<Self> {
        let mut sum = Self::constant(self.constant);
        for (term, factor) in &self.terms {
            let inner = |inner: &Self| inner.substitute(replacement, extent);
            let term = match term {
                Term::Var(var) => replacement(*var).unwrap_or(Self::from(*var)),
                Term::FloorDiv(body, 1) => inner(body)?.apart(),
                Term::FloorDiv(body, by) => inner(body)?.floor_div(*by, extent),
                Term::Mod(body, by) => inner(body)?.modulo(*by, extent),
                Term::Element(list, body) => inner(body)?.element_of(list.clone()),
            };
            sum = sum.plus(&term.times(*factor)?)?;
        }
        Some(sum)
    }

    /// The expression with each variable exchanged for another.
    #[must_use]
    pub fn renamed(&self, rename: &dyn Fn(IndexVar) -> IndexVar) -> Self {
        let replace = |var| Some(Self::from(rename(var)));
        self.substitute(&replace, &|_| None)
            .expect("other names change no number")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsec_base::arena::Id;

    fn var(n: usize) -> IndexExpr {
        IndexExpr::from(IndexVar::from_index(n))
    }

    /// Extents 3, 4, 5, … of the variables 0, 1, 2, …
    fn extent(var: IndexVar) -> Option<u64> {
        Some(var.index() as u64 + 3)
    }

    #[test]
    fn sums_have_one_form() {
        let one = IndexExpr::constant(1);
        assert_eq!(var(0).plus(&one), one.plus(&var(0)));
        let none = var(0).minus(&var(0)).expect("small numbers");
        assert_eq!(none.as_constant(), Some(0));
        let back = var(0).plus(&one).and_then(|sum| sum.minus(&one));
        assert_eq!(back.and_then(|sum| sum.as_var()), var(0).as_var());
        assert_eq!(IndexExpr::constant(i64::MAX).plus(&one), None);
    }

    #[test]
    fn blocks_come_apart() {
        // x1 runs from 0 to 3.
        let whole = var(0).times(4).and_then(|sum| sum.plus(&var(1)));
        let whole = whole.expect("small numbers");
        assert_eq!(whole.floor_div(4, &extent), var(0));
        assert_eq!(whole.modulo(4, &extent), var(1));
        // x2 runs from 0 to 4, so the quotient may be one more.
        let whole = var(0).times(4).and_then(|sum| sum.plus(&var(2)));
        let whole = whole.expect("small numbers");
        let quotient = var(0).plus(&var(2).floor_div(4, &extent));
        assert_eq!(Some(whole.floor_div(4, &extent)), quotient);
    }

    #[test]
    fn values_lie_in_the_range() {
        let set = var(0).element_of(vec![4, 1, 7]);
        let negative = var(1).times(-2).expect("small numbers");
        let sums = [
            set.plus(&negative),
            negative.plus(&var(2).modulo(3, &extent)),
            negative.floor_div(3, &extent).plus(&set),
        ];
        for sum in sums.map(|sum| sum.expect("small numbers")) {
            let (least, most) = sum.range(&extent).expect("extents are known");
            let mut met = BTreeSet::new();
            for point in 0..3 * 4 * 5 {
                let at = |var: IndexVar| [point % 3, point / 3 % 4, point / 12][var.index()];
                met.insert(i128::from(sum.evaluate(&at).expect("small numbers")));
            }
            assert!(met.first() >= Some(&least) && met.last() <= Some(&most));
        }
    }

    #[test]
    fn substitution_simplifies() {
        // i = 4*x0 + x1 in i // 4 and {5,6,7}[i % 4].
        let i = var(9);
        let split = var(0).times(4).and_then(|sum| sum.plus(&var(1)));
        let replace = |var: IndexVar| (var.index() == 9).then(|| split.clone()).flatten();
        let put = |expr: IndexExpr| expr.substitute(&replace, &extent);
        assert_eq!(put(i.floor_div(4, &|_| None)), Some(var(0)));
        let list = vec![5, 6, 7];
        let element = i.modulo(4, &|_| None).element_of(list.clone());
        assert_eq!(put(element), Some(var(1).element_of(list)));
    }

    #[test]
    fn linear_forms_are_taken_apart() {
        let x0 = IndexVar::from_index(0);
        let sum = var(0).times(2).and_then(|sum| sum.plus(&var(1)));
        assert_eq!(sum.expect("small").linear_in(x0), Some((2, var(1))));
        assert_eq!(var(1).linear_in(x0), Some((0, var(1))));
        assert_eq!(var(0).modulo(2, &|_| None).linear_in(x0), None);
    }
}
