//! Relations and sets out of relations and sets.
//!
//! | operation                        | gives                                        |
//! |----------------------------------|----------------------------------------------|
//! | [`Relation::intersect`]          | the pairs in both                            |
//! | [`Relation::minus`]              | the pairs of the first that the second has not |
//! | [`Relation::domain`], [`range`](Relation::range) | the first, the second tuples |
//! | [`Relation::apply`]              | the second tuples of the first tuples in a set |
//! | [`Relation::restricted_to`], [`range_restricted_to`](Relation::range_restricted_to) | the pairs with their first, second tuple in a set |
//! | [`Relation::without_inputs`], [`without_outputs`](Relation::without_outputs) | the shadow of the pairs on the other elements |
//! | [`Relation::closed_under`]       | the same pairs, with all that follows written out |
//!
//! All are exact. The complement of a part with variables that have to exist, or
//! with calls that may have no value, is no union of conjunctions; a difference
//! that would need it is refused.

use sparsec_base::arena::Id;
use sparsec_base::{Diagnostic, Result, Source, Span, code};

use crate::conjunction::Conjunction;
use crate::declarations::Declarations;
use crate::expression::{Constraint, Expression, Rewrite, Variable};
use crate::facts::{Facts, to_constraint};
use crate::names::Uses;
use crate::polynomial::{Atom, Polynomial};
use crate::relation::Relation;
use crate::set::Set;

impl Relation {
    /// The pairs in both.
    ///
    /// # Errors
    /// `E0130` if their tuples differ in length, and as [`Relation::new`] where
    /// a name means different things in the two.
    pub fn intersect(&self, other: &Self) -> Result<Self> {
        self.check_shape(other)?;
        let mut parts = Vec::new();
        for first in self.parts() {
            for second in other.parts() {
                let mut both = first.clone();
                let tuples = first.inputs().chain(first.outputs());
                both.conjoin_at(second, tuples);
                parts.push(both);
            }
        }
        Self::new(parts)
    }

    /// The pairs here that `other` does not have.
    ///
    /// # Errors
    /// As [`intersect`](Self::intersect), and `E0704` where `other` has a part
    /// with a variable that only has to exist and cannot be eliminated, or with
    /// a call or division that may have no value where this relation has pairs.
    ///
    /// ```
    /// use sparsec_relation::{Declarations, Relation};
    /// let square: Relation = "{[i] -> [j] : 0 <= i < N && 0 <= j < N}".parse()?;
    /// let diagonal: Relation = "{[i] -> [i]}".parse()?;
    /// assert_eq!(
    ///     square.minus(&diagonal, &Declarations::new())?.to_string(),
    ///     "{[i] -> [j] : 0 <= i < N && 0 <= j < N && j != i}",
    /// );
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn minus(&self, other: &Self, declarations: &Declarations) -> Result<Self> {
        self.check_shape(other)?;
        let mut left = self.parts().to_vec();
        for without in other.simplified_under(declarations).parts() {
            if without.exists().len() > 0 {
                return Err(other.not_exact("has a variable that only has to exist"));
            }
            let mut fewer = Vec::new();
            for part in &left {
                if !defined(without, part, declarations) {
                    return Err(other.not_exact("has a call or division that may have no value"));
                }
                fewer.extend(part_minus(part, without));
            }
            left = fewer;
            if left.is_empty() {
                left.push(crate::reduce::never(&self.parts()[0]));
            }
        }
        Self::new(left)
    }

    /// The first tuples.
    #[must_use]
    pub fn domain(&self) -> Set {
        let outputs: Vec<usize> = (0..self.n_outputs()).collect();
        Set::of(self.without(&[], &outputs))
    }

    /// The second tuples.
    #[must_use]
    pub fn range(&self) -> Set {
        self.inverse().domain()
    }

    /// The second tuples of the pairs whose first tuple is in `set`.
    ///
    /// # Errors
    /// As [`then`](Self::then).
    ///
    /// ```
    /// use sparsec_relation::{Declarations, Relation, Set};
    /// let interchange: Relation = "{[i, j] -> [j, i]}".parse()?;
    /// let space: Set = "{[i, j] : 0 <= i < M && 0 <= j < N}".parse()?;
    /// let image = interchange.apply(&space)?.simplified_under(&Declarations::new());
    /// assert_eq!(image.to_string(), "{[j_1, i_1] : 0 <= i_1 < M && 0 <= j_1 < N}");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn apply(&self, set: &Set) -> Result<Set> {
        let to_set = set.as_relation().inverse();
        Ok(Set::of(to_set.then(self)?.inverse()))
    }

    /// The pairs whose first tuple is in `set`.
    ///
    /// # Errors
    /// As [`intersect`](Self::intersect).
    pub fn restricted_to(&self, set: &Set) -> Result<Self> {
        if self.n_inputs() != set.n_elements() {
            return Err(self.shape_differs(set.as_relation()));
        }
        let mut parts = Vec::new();
        for part in self.parts() {
            for within in set.parts() {
                let mut both = part.clone();
                both.conjoin_at(within, part.inputs());
                parts.push(both);
            }
        }
        Self::new(parts)
    }

    /// The pairs whose second tuple is in `set`.
    ///
    /// # Errors
    /// As [`intersect`](Self::intersect).
    pub fn range_restricted_to(&self, set: &Set) -> Result<Self> {
        Ok(self.inverse().restricted_to(set)?.inverse())
    }

    /// The pairs without the elements of the first tuple at these places.
    ///
    /// # Panics
    /// If there is no such place.
    #[must_use]
    pub fn without_inputs(&self, places: &[usize]) -> Self {
        self.without(places, &[])
    }

    /// The pairs without the elements of the second tuple at these places.
    ///
    /// # Panics
    /// If there is no such place.
    #[must_use]
    pub fn without_outputs(&self, places: &[usize]) -> Self {
        self.without(&[], places)
    }

    fn without(&self, inputs: &[usize], outputs: &[usize]) -> Self {
        assert!(
            inputs.iter().all(|&at| at < self.n_inputs())
                && outputs.iter().all(|&at| at < self.n_outputs()),
            "an element that is projected out is there"
        );
        let parts = self.parts().iter();
        Self::of_parts(parts.map(|part| project(part, inputs, outputs)).collect())
    }

    /// The same pairs, for all functions and constants that meet the declarations, with implied
    /// constraints: domains and ranges of calls, and consequences of monotonicity, injectivity and
    /// quantifiers. A constraint that would give a name a second role is left out: declarations may
    /// have a function `N` if this relation has a constant `N`.
    ///
    /// ```
    /// use sparsec_relation::{Declarations, Relation};
    /// let known: Declarations = "function f : {[i]} -> {[x] : 0 <= x} increasing".parse()?;
    /// let r: Relation = "{[i] -> [j] : f(i) < f(j)}".parse()?;
    /// assert_eq!(
    ///     r.closed_under(&known).to_string(),
    ///     "{[i] -> [j] : f(i) < f(j) && 0 <= f(i) && i < j}",
    /// );
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    #[must_use]
    pub fn closed_under(&self, declarations: &Declarations) -> Self {
        let derived = |part: &Conjunction| -> Vec<Constraint> {
            let facts = Facts::of(part.constraints(), declarations);
            facts.derived().iter().map(to_constraint).collect()
        };
        let derived: Vec<Vec<Constraint>> = self.parts().iter().map(derived).collect();
        let roles = self.roles().ok();
        let mut roles = roles.expect("a name has one role in a relation");
        let mut parts = self.parts().to_vec();
        for (closed, derived) in parts.iter_mut().zip(&derived) {
            for constraint in derived {
                let mut with = roles.clone();
                if with.note(&Uses::of([constraint])).is_ok() {
                    roles = with;
                    closed.add(constraint.clone());
                }
            }
        }
        Self::of_parts(parts)
    }

    fn check_shape(&self, other: &Self) -> Result<()> {
        let shape = |r: &Self| (r.n_inputs(), r.n_outputs());
        if shape(self) == shape(other) {
            return Ok(());
        }
        Err(self.shape_differs(other))
    }

    fn shape_differs(&self, other: &Self) -> Diagnostic {
        let (first, second) = (self.to_string(), other.to_string());
        let message = "relations of tuples of different lengths do not meet";
        Diagnostic::new(code::RELATION_ARITY, message)
            .at(
                &Source::new("second relation", second.as_str()),
                Span::new(0, second.len()),
                "these tuples",
            )
            .also(
                &Source::new("first relation", first.as_str()),
                Span::new(0, first.len()),
                "and these",
            )
            .help("give both relations tuples of the same length, or project elements out")
    }

    fn not_exact(&self, why: &str) -> Diagnostic {
        let text = self.to_string();
        let place = Span::new(0, text.len());
        Diagnostic::new(
            code::RELATION_NOT_EXACT,
            format!("a difference that cannot be written: the second relation {why}"),
        )
        .at(&Source::new("second relation", text), place, "subtracted")
        .help("declare where its functions have values, or restrict the first relation to there")
    }
}

impl Set {
    /// The tuples of both.
    ///
    /// # Errors
    /// As [`Relation::new`].
    pub fn union(&self, other: &Self) -> Result<Self> {
        Ok(Self::of(self.as_relation().union(other.as_relation())?))
    }

    /// The tuples in both.
    ///
    /// # Errors
    /// As [`Relation::intersect`].
    pub fn intersect(&self, other: &Self) -> Result<Self> {
        Ok(Self::of(self.as_relation().intersect(other.as_relation())?))
    }

    /// The tuples here that `other` does not have.
    ///
    /// # Errors
    /// As [`Relation::minus`].
    pub fn minus(&self, other: &Self, declarations: &Declarations) -> Result<Self> {
        let left = self
            .as_relation()
            .minus(other.as_relation(), declarations)?;
        Ok(Self::of(left))
    }

    /// The tuples without the elements at these places.
    ///
    /// # Panics
    /// If there is no such place.
    #[must_use]
    pub fn without(&self, places: &[usize]) -> Self {
        Self::of(self.as_relation().without_inputs(places))
    }
}

/// The constraints over fewer elements. The others become `exists` variables.
fn project(part: &Conjunction, inputs: &[usize], outputs: &[usize]) -> Conjunction {
    let kept = |ids: &mut dyn Iterator<Item = Variable>, gone: &[usize]| -> Vec<Variable> {
        let all = ids.enumerate();
        all.filter(|(at, _)| !gone.contains(at))
            .map(|(_, v)| v)
            .collect()
    };
    let first = kept(&mut part.inputs(), inputs);
    let second = kept(&mut part.outputs(), outputs);
    let names = |ids: &[Variable]| -> Vec<String> {
        ids.iter().map(|v| part.name(*v).to_owned()).collect()
    };
    let mut shadow = Conjunction::new(names(&first), names(&second));
    let mut places: Vec<Option<Variable>> = vec![None; part.n_variables()];
    let here: Vec<Variable> = shadow.inputs().chain(shadow.outputs()).collect();
    for (from, to) in first.iter().chain(&second).zip(here) {
        places[from.index()] = Some(to);
    }
    for variable in part.inputs().chain(part.outputs()).chain(part.exists()) {
        if places[variable.index()].is_none() {
            places[variable.index()] = Some(shadow.add_exists(part.name(variable)));
        }
    }
    shadow.conjoin(part, &Places(places));
    shadow
}

struct Places(Vec<Option<Variable>>);

impl Rewrite for Places {
    fn variable(&self, variable: Variable) -> Expression {
        Expression::Variable(self.0[variable.index()].expect("every variable has a place"))
    }
}

/// `part` without the pairs of `without`, as parts that have no pair in common:
/// the first comparison fails, or it holds and the second fails, and so on.
fn part_minus(part: &Conjunction, without: &Conjunction) -> Vec<Conjunction> {
    let mut parts = Vec::new();
    let mut held: Vec<Constraint> = Vec::new();
    for link in without.constraints().iter().flat_map(Constraint::split) {
        let (comparison, right) = &link.rest[0];
        let mut fails = part.clone();
        for constraint in &held {
            fails.add(constraint.clone());
        }
        fails.add(Constraint::new(
            link.first.clone(),
            comparison.negated(),
            right.clone(),
        ));
        parts.push(fails);
        held.push(link);
    }
    parts
}

/// Whether all calls and divisions of `without` have values for the pairs of
/// `part`: they are in it, or declared and in their domain.
fn defined(without: &Conjunction, part: &Conjunction, declarations: &Declarations) -> bool {
    let atoms = |of: &Conjunction| -> Option<Vec<Atom>> {
        let mut atoms = Vec::new();
        for e in of.constraints().iter().flat_map(Constraint::expressions) {
            let mut every = Vec::new();
            e.visit(&mut |e| every.push(e));
            for e in every {
                if matches!(
                    e,
                    Expression::Call(..) | Expression::FloorDivide(..) | Expression::Modulo(..)
                ) {
                    Polynomial::of(e)?.visit(&mut |atom| {
                        if atom.is_partial() {
                            atoms.push(atom.clone());
                        }
                    });
                }
            }
        }
        Some(atoms)
    };
    let (Some(needed), Some(here)) = (atoms(without), atoms(part)) else {
        return false;
    };
    let needed: Vec<Atom> = needed.into_iter().filter(|a| !here.contains(a)).collect();
    if needed.is_empty() {
        return true;
    }
    let facts = Facts::of(part.constraints(), declarations);
    needed.iter().all(|atom| facts.has_value(atom))
}
