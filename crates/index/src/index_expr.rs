//! Index expressions: what stands at a mode of an access.
//!
//! ```text
//! written            meaning                       as terms
//! A(i)               coordinate i                  i
//! A(2*i + r - 1)     an affine map                 2*i + r - 1
//! A(i(2:9:3))        a window, i from 0            3*i + 2
//! A(i({4,1,7}))      an index set, i from 0        {4,1,7}[i]
//! A(i // 4, i % 4)   blocks                        i // 4, i % 4
//! A(morton(i, j))    a place on a curve            morton(i, j)
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

use crate::curve::Curve;
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
    /// The place of coordinates on a curve.
    Place(Curve, Vec<IndexExpr>),
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

    /// The place of coordinates on a curve.
    #[must_use]
    pub fn place(curve: Curve, coordinates: Vec<Self>) -> Self {
        Self::of_term(Term::Place(curve, coordinates))
    }

    /// The curve and the coordinates, if the expression is a place and nothing else.
    pub fn as_place(&self) -> Option<(&Curve, &[Self])> {
        match (&self.terms[..], self.constant) {
            ([(Term::Place(curve, coordinates), 1)], 0) => Some((curve, coordinates)),
            _ => None,
        }
    }

    /// Calls `visit` on every variable, once for each time it stands there.
    pub fn for_each_var(&self, visit: &mut dyn FnMut(IndexVar)) {
        for (term, _) in &self.terms {
            match term {
                Term::Var(var) => visit(*var),
                Term::Place(_, coordinates) => {
                    coordinates.iter().for_each(|it| it.for_each_var(visit));
                }
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
    /// is linear in `var`, [apart](Self::apart) or not; a factor of zero where it does
    /// not depend on it.
    pub fn linear_in(&self, var: IndexVar) -> Option<(i64, Self)> {
        let mut rest = self.clone();
        let is_var = |(term, _): &(Term, i64)| match term {
            Term::FloorDiv(inner, 1) => inner.as_var() == Some(var),
            term => *term == Term::Var(var),
        };
        let at = rest.terms.iter().position(is_var);
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
                Term::Place(curve, coordinates) => {
                    let values = coordinates.iter();
                    let values = values.map(|it| u64::try_from(it.evaluate(at)?).ok());
                    let place = curve.place(&values.collect::<Option<Vec<u64>>>()?);
                    i64::try_from(place?).ok()?
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
                Term::Place(curve, coordinates) => {
                    // Places ascend with each coordinate.
                    let ranges = coordinates.iter().map(|it| {
                        let (low, high) = it.range(extent)?;
                        Some((u64::try_from(low).ok()?, u64::try_from(high).ok()?))
                    });
                    let (low, high): (Vec<u64>, Vec<u64>) =
                        ranges.collect::<Option<Vec<_>>>()?.into_iter().unzip();
                    (curve.place(&low)?.into(), curve.place(&high)?.into())
                }
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
        // A variable that stands apart runs as far as it is said to.
        let (factor, rest) = match self.as_var_apart() == self.as_var() {
            true => self.linear_in(var)?,
            false => return None,
        };
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
    /// that is not known. That of `i % 4` is 4, however far `i` runs.
    pub fn extent_needed(&self, extent: ExtentOf<'_>) -> Option<u64> {
        match self.range(extent) {
            Some((_, most)) => u64::try_from((most + 1).max(0)).ok(),
            None => self.has_none(extent).then_some(0),
        }
    }

    /// Whether there are no coordinates at all: a variable has extent 0.
    pub fn has_none(&self, extent: ExtentOf<'_>) -> bool {
        self.vars().iter().any(|var| extent(*var) == Some(0))
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
                Term::Place(_, coordinates) => {
                    coordinates.iter().for_each(|it| it.for_each_set(visit));
                }
            }
        }
    }

    /// Whether a place on a curve stands in it.
    pub fn has_places(&self) -> bool {
        self.terms.iter().any(|(term, _)| match term {
            Term::Var(_) => false,
            Term::FloorDiv(inner, _) | Term::Mod(inner, _) | Term::Element(_, inner) => {
                inner.has_places()
            }
            Term::Place(..) => true,
        })
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
                Term::Place(curve, coordinates) => {
                    let coordinates = coordinates.iter().map(inner);
                    Self::place(curve.clone(), coordinates.collect::<Option<_>>()?)
                }
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
mod tests;
