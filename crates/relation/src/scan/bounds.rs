//! Bounds of a variable in terms of known variables.
//!
//! | comparison                              | bound                                 |
//! |-----------------------------------------|---------------------------------------|
//! | `a <= v`, `v < b`                       | itself                                |
//! | `a <= c * v`, `0 < c`                   | `(a + c - 1) floordiv c`              |
//! | `e <= f(v + a)`, `f` never falls        | `f.first(e) - a`                      |
//! | `f(v + a) <= e`, `f` never falls        | below `f.first(e + 1) - a`            |
//! | `v = e + u`, `a <= u` for an unknown `u` | `e + a`                               |
//! | none, but all rows imply one            | projection, without the other unknowns |
//!
//! `f.first(e)` is the first argument from which on `f` is at least `e` (at most, if `f` is
//! decreasing). Bisection finds it.

use std::collections::BTreeMap;

use super::item::{Item, domain};
use super::proofs::Proofs;
use super::shadow::{shadow, without};
use crate::declarations::Monotone;
use crate::expression::Variable;
use crate::facts::atom;
use crate::polynomial::{Atom, Polynomial, Row, Sign};
use crate::solve::solved;

/// The values that a variable takes: from each of `lower`, below each of `upper`.
#[derive(Clone, Debug, Default)]
pub(super) struct Bounds {
    pub(super) lower: Vec<Bound>,
    pub(super) upper: Vec<Bound>,
}

/// One side of [`Bounds`].
#[derive(Clone, Debug)]
pub(super) struct Bound {
    is_lower: bool,
    pub(super) value: Polynomial,
    /// The pending comparison that it is, or half of.
    of: Option<usize>,
    is_searched: bool,
    /// The rows that hold inside of the bounds.
    follow: Vec<Row>,
}

impl Bounds {
    pub(super) fn is_closed(&self) -> bool {
        !self.lower.is_empty() && !self.upper.is_empty()
    }

    /// The bounds of the one value, if there is just one place between two.
    pub(super) fn only(&self) -> Option<Self> {
        let pairs = (self.lower.iter()).flat_map(|a| self.upper.iter().map(move |b| (a, b)));
        let mut one = pairs.filter(|(lower, upper)| {
            let width = upper.value.plus(-1, &lower.value);
            width.is_some_and(|width| width.value() == Some(1))
        });
        let (lower, upper) = one.next()?;
        Some(Self {
            lower: vec![lower.clone()],
            upper: vec![upper.clone()],
        })
    }

    fn push(&mut self, bound: Bound) {
        match bound.is_lower {
            true => self.lower.push(bound),
            false => self.upper.push(bound),
        }
    }
}

impl Item {
    /// The bounds from single comparisons, and from those of an unknown that an equality ties to
    /// the variable, as far as the others do not imply them.
    pub(super) fn direct(&self, variable: Variable, proofs: &Proofs<'_>) -> Bounds {
        let mut found: Vec<Bound> = Vec::new();
        let follows = self.followers(variable, proofs);
        for of in 0..self.pending.len() {
            for bound in self.sides(of, variable, &follows, proofs) {
                let same = |b: &Bound| b.is_lower == bound.is_lower && b.value == bound.value;
                if !found.iter().any(same) {
                    found.push(bound);
                }
            }
        }
        for bound in self.tied(variable, proofs) {
            let same = |b: &Bound| b.is_lower == bound.is_lower && b.value == bound.value;
            if !found.iter().any(same) {
                found.push(bound);
            }
        }
        // A search costs more than a comparison, so it goes first.
        for is_searched in [true, false] {
            for at in (0..found.len()).rev() {
                if found[at].is_searched == is_searched && self.is_implied(&found, at, proofs) {
                    found.remove(at);
                }
            }
        }
        let mut bounds = Bounds::default();
        for bound in found {
            bounds.push(bound);
        }
        bounds
    }

    /// The bounds of an unknown, of which an equality says what the variable is: a position among
    /// those of its parent, where the coordinate is not known yet.
    fn tied(&self, variable: Variable, proofs: &Proofs<'_>) -> Vec<Bound> {
        let own = atom(variable);
        let mut found = Vec::new();
        for tie in self.rows.iter().filter(|row| row.sign == Sign::Zero) {
            let is_open = |atoms: &[Atom]| {
                let mut sums = atoms.iter().cloned().map(Polynomial::atom);
                sums.any(|sum| !self.open(&sum).is_empty())
            };
            let terms = tie.sum.terms().map(|(atoms, _)| atoms);
            let open: Vec<&[Atom]> = terms.filter(|atoms| is_open(atoms)).collect();
            let unknown = match open[..] {
                [[a], [b]] if *a == own => b,
                [[a], [b]] if *b == own => a,
                _ => continue,
            };
            let value = tie.sum.solved_for(unknown);
            let Some(value) = value.filter(|_| !mentions(unknown, variable)) else {
                continue;
            };
            let product = std::slice::from_ref(unknown);
            let compares =
                |row: &&Row| row.sign == Sign::NonNegative && row.sum.factor(product) != 0;
            let comparisons = self.rows.iter().filter(compares);
            for row in comparisons.filter_map(|row| without(row, product, &value)) {
                let is_own = self.open(&row.sum) == [variable];
                let plain = is_own.then(|| self.plain(&row.sum, variable, proofs));
                let Some((is_lower, value)) = plain.flatten() else {
                    continue;
                };
                if self.has_values(&value, proofs) {
                    found.push(Bound {
                        is_lower,
                        value,
                        of: None,
                        is_searched: false,
                        follow: vec![row],
                    });
                }
            }
        }
        found
    }

    /// Whether there is another bound on the side of this one, and all others together
    /// imply it.
    fn is_implied(&self, bounds: &[Bound], at: usize, proofs: &Proofs<'_>) -> bool {
        let bound = &bounds[at];
        let others = || bounds.iter().enumerate().filter(|(n, _)| *n != at);
        if !others().any(|(_, other)| other.is_lower == bound.is_lower) {
            return false;
        }
        let others: Vec<Row> = others()
            .flat_map(|(_, other)| other.follow.clone())
            .collect();
        if !bound.is_searched {
            return proofs.holds_with(&self.context, &others, &bound.follow[0]);
        }
        // All bounds share the consequences of the context.
        proofs.within(&self.context, |_| ());
        let context: Vec<Row> = [&self.context[..], &others].concat();
        // The comparison itself, if its calls have values.
        let row = &self.pending[bound.of.expect("a search is for a comparison")].row;
        let has_values = proofs.within(&context, |facts| {
            let mut has_values = true;
            let sum = &row.sum;
            sum.visit(&mut |atom| has_values &= !atom.is_partial() || facts.has_value(atom));
            has_values
        });
        has_values && proofs.holds(&context, row)
    }

    /// The variables that are known as soon as this one is, with their values.
    fn followers(&self, variable: Variable, proofs: &Proofs<'_>) -> BTreeMap<Variable, Polynomial> {
        let of_two = |row: &Row| row.sign == Sign::Zero && self.open(&row.sum).len() == 2;
        if !self.rows.iter().any(of_two) {
            return BTreeMap::new();
        }
        let given = self.known.iter().copied().chain([variable]);
        let mut follows = proofs.of(&self.rows, |facts| {
            solved(&self.rows, facts, given, proofs.declarations)
        });
        follows.retain(|v, value| {
            !self.known.contains(v) && *v != variable && self.has_values(value, proofs)
        });
        follows
    }

    /// The bounds that one pending comparison is, of the variable or of one that
    /// follows it.
    fn sides(
        &self,
        of: usize,
        variable: Variable,
        follows: &BTreeMap<Variable, Polynomial>,
        proofs: &Proofs<'_>,
    ) -> Vec<Bound> {
        let row = &self.pending[of].row;
        let put =
            |sum: Polynomial, (v, value): (&Variable, &Polynomial)| sum.substituted(*v, value);
        let Some(sum) = follows.iter().try_fold(row.sum.clone(), put) else {
            return Vec::new();
        };
        let is_own = sum == row.sum;
        if row.sign == Sign::NonZero || self.open(&sum) != [variable] {
            return Vec::new();
        }
        let mut rows = vec![sum.clone()];
        if row.sign == Sign::Zero {
            rows.extend(Polynomial::default().plus(-1, &sum));
        }
        let sides = rows.into_iter().filter_map(|sum| {
            let plain = self.plain(&sum, variable, proofs);
            let is_searched = plain.is_none();
            let (is_lower, value, follow) = match plain {
                Some((is_lower, value)) => {
                    let sign = Sign::NonNegative;
                    (is_lower, value, vec![Row { sum, sign }])
                }
                None if is_own => self.searched(&sum, variable, proofs)?,
                None => return None,
            };
            self.has_values(&value, proofs).then_some(Bound {
                is_lower,
                value,
                of: Some(of),
                is_searched,
                follow,
            })
        });
        sides.collect()
    }

    /// The bound that `0 <= sum` is, where the variable has a factor.
    fn plain(
        &self,
        sum: &Polynomial,
        variable: Variable,
        proofs: &Proofs<'_>,
    ) -> Option<(bool, Polynomial)> {
        let zero = Polynomial::default();
        let rest = sum.substituted(variable, &zero)?;
        let one = sum.substituted(variable, &Polynomial::integer(1))?;
        let factor = one.plus(-1, &rest)?;
        let product = factor.times(&Polynomial::atom(atom(variable)))?;
        if factor == zero || factor.has(variable) || rest.plus(1, &product)? != *sum {
            return None;
        }
        let is_lower = match factor.value() {
            Some(factor) => factor > 0,
            None => {
                let positive = |factor: &Polynomial| {
                    let sum = factor.plus(-1, &Polynomial::integer(1))?;
                    let sign = Sign::NonNegative;
                    Some(proofs.holds(&self.context, &Row { sum, sign }))
                };
                if positive(&factor)? {
                    true
                } else if positive(&zero.plus(-1, &factor)?)? {
                    false
                } else {
                    return None;
                }
            }
        };
        let one = Polynomial::integer(1);
        Some(match is_lower {
            true => {
                // Rounded up: `-rest / factor`.
                let up = factor.plus(-1, &one)?.plus(-1, &rest)?;
                (true, up.floor_divide(factor))
            }
            false => {
                let factor = zero.plus(-1, &factor)?;
                (false, rest.floor_divide(factor).plus(1, &one)?)
            }
        })
    }

    /// The bound that `0 <= sum` is, where the variable is in the argument of one
    /// call of a monotone function.
    fn searched(
        &self,
        sum: &Polynomial,
        variable: Variable,
        proofs: &Proofs<'_>,
    ) -> Option<(bool, Polynomial, Vec<Row>)> {
        let (call, factor) = sum.terms().find_map(|(atoms, factor)| match atoms {
            [atom @ Atom::Call(..)] if mentions(atom, variable) => Some((atom, factor)),
            _ => None,
        })?;
        let Atom::Call(name, arguments) = call else {
            return None;
        };
        let ([argument], Some(function)) = (&arguments[..], proofs.declarations.function(name))
        else {
            return None;
        };
        function.domain.as_box()?;
        let is_rising = match function.monotone? {
            Monotone::Nondecreasing | Monotone::Increasing => true,
            Monotone::Nonincreasing | Monotone::Decreasing => false,
        };
        let rest = sum.plus(-factor, &Polynomial::atom(call.clone()))?;
        let shift = argument.plus(-1, &Polynomial::atom(atom(variable)))?;
        if factor.abs() != 1 || rest.has(variable) || shift.has(variable) {
            return None;
        }
        // `f >= -rest`, or `f <= rest`.
        let value = Polynomial::default().plus(-factor, &rest)?;
        let is_lower = (factor > 0) == is_rising;
        let wanted = match (is_lower, is_rising) {
            (true, _) => value,
            (false, true) => value.plus(1, &Polynomial::integer(1))?,
            (false, false) => value.plus(-1, &Polynomial::integer(1))?,
        };
        let first = Polynomial::atom(Atom::Call(
            format!("{name}.first").into(),
            [wanted.clone()].into(),
        ));
        // A found argument lies in the domain, or is its end.
        let alone = [atom(variable)];
        let mut follow = domain(name, arguments, proofs.declarations).ok()?;
        follow.retain(|row| {
            let factor = row.sum.factor(&alone);
            row.sign == Sign::NonNegative && (factor > 0) == is_lower && factor != 0
        });
        if is_lower {
            for row in &mut follow {
                // Where the first of the domain is not far enough, it is not found.
                let begin = row.sum.solved_for(&alone[0])?.plus(1, &shift)?;
                let begin = Polynomial::atom(Atom::Call(name.clone(), [begin].into()));
                let one = Polynomial::integer(1);
                let sum = match is_rising {
                    true => wanted.plus(-1, &begin)?.plus(-1, &one)?,
                    false => begin.plus(-1, &wanted)?.plus(-1, &one)?,
                };
                let sign = Sign::NonNegative;
                if proofs.holds(&self.context, &Row { sum, sign }) {
                    row.sum = row.sum.plus(-1, &one)?;
                }
            }
        }
        Some((is_lower, first.plus(-1, &shift)?, follow))
    }

    /// Bounds that follow from all comparisons together, whatever the variables
    /// without values are: at most one on each side.
    pub(super) fn derived(&self, variable: Variable, proofs: &Proofs<'_>) -> Bounds {
        let alone = atom(variable);
        let keep = |atoms: &[Atom]| {
            let product = atoms.iter().cloned().map(Polynomial::atom);
            let others = product.flat_map(|sum| self.open(&sum));
            let others = others.filter(|v| *v != variable).count();
            let mut atoms = atoms.iter();
            others == 0
                && atoms.clone().all(|a| {
                    !a.is_partial() || self.has_values(&Polynomial::atom(a.clone()), proofs)
                })
                && atoms.all(|a| *a == alone || !mentions(a, variable))
        };
        let mut bounds = Bounds::default();
        let mut rows = proofs.of(&self.rows, |facts| shadow(facts.rows(), &keep));
        rows.sort_by_key(|row| {
            let mut n_calls = 0;
            row.sum
                .visit(&mut |atom| n_calls += usize::from(atom.is_partial()));
            (n_calls, row.sum.terms().count())
        });
        for row in rows {
            if !row.sum.has(variable) || !self.has_values(&row.sum, proofs) {
                continue;
            }
            let Some((is_lower, value)) = self.plain(&row.sum, variable, proofs) else {
                continue;
            };
            let side = match is_lower {
                true => &bounds.lower,
                false => &bounds.upper,
            };
            if side.is_empty() {
                bounds.push(Bound {
                    is_lower,
                    value,
                    of: None,
                    is_searched: false,
                    follow: vec![row],
                });
            }
        }
        bounds
    }

    /// The direct bounds, and derived ones on a side that has none.
    pub(super) fn bounds(&self, variable: Variable, proofs: &Proofs<'_>) -> Bounds {
        let mut bounds = self.direct(variable, proofs);
        if !bounds.is_closed() {
            let derived = self.derived(variable, proofs);
            if bounds.lower.is_empty() {
                bounds.lower = derived.lower;
            }
            if bounds.upper.is_empty() {
                bounds.upper = derived.upper;
            }
        }
        bounds
    }

    /// Takes a variable as one between the bounds.
    pub(super) fn within(&mut self, variable: Variable, bounds: &Bounds) {
        self.known.insert(variable);
        self.exists.retain(|v| *v != variable);
        for bound in bounds.lower.iter().chain(&bounds.upper) {
            if let Some(at) = bound.of {
                // An equality is met where both of its sides are; else it is
                // tested, or follows.
                let both = |side: &[Bound]| side.iter().any(|b| b.of == Some(at));
                let pending = &mut self.pending[at];
                pending.is_met |= pending.row.sign == Sign::NonNegative
                    || (both(&bounds.lower) && both(&bounds.upper));
            }
            self.context.extend(bound.follow.iter().cloned());
        }
    }
}

fn mentions(atom: &Atom, variable: Variable) -> bool {
    Polynomial::atom(atom.clone()).has(variable)
}
