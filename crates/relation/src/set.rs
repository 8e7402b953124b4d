//! Sets of integer tuples.
//!
//! A set `{[i, j] : 0 <= i < N && 0 <= j <= i}` is a relation to the empty
//! tuple, so that all that holds for relations holds for sets; only the text
//! leaves the empty tuple out.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use sparsec_base::Result;
use sparsec_base::arena::Id;

use crate::conjunction::Conjunction;
use crate::consequences::Consequences;
use crate::declarations::Declarations;
use crate::enumerate::Environment;
use crate::expression::{Constraint, Expression, Rewrite};
use crate::polynomial::{Atom, Polynomial, Row, Sign};
use crate::relation::Relation;

/// A set of integer tuples: a union of conjunctions of constraints.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Set {
    relation: Relation,
}

impl Set {
    /// The set of the first tuples of a relation to the empty tuple.
    pub(crate) fn of(relation: Relation) -> Self {
        debug_assert_eq!(relation.n_outputs(), 0);
        Self { relation }
    }

    /// The union of these conjunctions, whose outputs are empty.
    ///
    /// # Errors
    /// As [`Relation::new`].
    ///
    /// # Panics
    /// If there are outputs.
    pub fn new(parts: Vec<Conjunction>) -> Result<Self> {
        let relation = Relation::new(parts)?;
        assert_eq!(relation.n_outputs(), 0, "a set has one tuple");
        Ok(Self { relation })
    }

    /// The set of one tuple.
    pub fn point(tuple: &[i64]) -> Self {
        let names = (0..tuple.len()).map(|k| format!("x{k}"));
        let mut part = Conjunction::new(names, []);
        for (variable, value) in part.inputs().zip(tuple) {
            part.add(Expression::Variable(variable).equals(Expression::Integer(*value)));
        }
        Self::of(Relation::of_parts(vec![part]))
    }

    /// The length of the tuples.
    pub fn n_elements(&self) -> usize {
        self.relation.n_inputs()
    }

    /// The parts of the union; at least one. Their output tuples are empty.
    pub fn parts(&self) -> &[Conjunction] {
        self.relation.parts()
    }

    /// The set with other constants and functions.
    ///
    /// # Errors
    /// As [`Relation::rewritten`].
    pub fn rewritten(&self, names: &impl Rewrite) -> Result<Self> {
        Ok(Self::of(self.relation.rewritten(names)?))
    }

    /// The set as a relation to the empty tuple.
    pub fn as_relation(&self) -> &Relation {
        &self.relation
    }

    /// Whether a constraint of the elements, which are the first variables, is
    /// known to hold for all tuples: its calls have values there, and it is met.
    ///
    /// ```
    /// use sparsec_relation::{Declarations, Set};
    /// let known: Declarations =
    ///     "function crd : {[k] : 0 <= k < NZ} -> {[j] : 0 <= j < M}".parse()?;
    /// let columns: Set = "{[k] : 0 <= k < NZ}".parse()?;
    /// let asked: Set = "{[k] : 0 <= crd(k) < M}".parse()?;
    /// assert!(columns.implies(&asked.parts()[0].constraints()[0], &known));
    /// let asked: Set = "{[k] : crd(k + 1) < M}".parse()?;
    /// assert!(!columns.implies(&asked.parts()[0].constraints()[0], &known));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    ///
    /// For several constraints, see [`Consequences`](crate::Consequences).
    pub fn implies(&self, constraint: &Constraint, declarations: &Declarations) -> bool {
        Consequences::of(self, declarations).implies(constraint)
    }

    /// The lower bound and the end of each element, if the set is a box with constant extents.
    pub fn as_box(&self) -> Option<Vec<(Expression, Expression)>> {
        let [part] = self.parts() else { return None };
        let mut sides = vec![(None, None); self.n_elements()];
        let links = part.constraints().iter().flat_map(Constraint::links);
        for (left, comparison, right) in links {
            let row = Row::of(left, comparison, right)?;
            let [variable] = row.sum.variables().into_iter().collect::<Vec<_>>()[..] else {
                return None;
            };
            let (lower, upper) = sides.get_mut(variable.index())?;
            let alone = Atom::Variable(variable);
            let value = row.sum.solved_for(&alone)?;
            let (side, value) = match row.sum.factor(std::slice::from_ref(&alone)) {
                _ if row.sign != Sign::NonNegative => return None,
                1 => (lower, value),
                _ => (upper, value.plus(1, &Polynomial::integer(1))?),
            };
            let value = value.to_expression();
            // A bound may speak of the variable inside of a call.
            let mut is_fixed = true;
            value.visit(&mut |e| is_fixed &= !matches!(e, Expression::Variable(_)));
            if !is_fixed || side.replace(value).is_some() {
                return None;
            }
        }
        sides
            .into_iter()
            .map(|(lower, upper)| lower.zip(upper))
            .collect()
    }

    /// All tuples of elements `within` a range; see [`Relation::enumerate`].
    ///
    /// # Errors
    /// As [`Relation::enumerate`].
    pub fn enumerate(
        &self,
        environment: &Environment<'_>,
        within: Range<i64>,
    ) -> Result<BTreeSet<Vec<i64>>> {
        let pairs = self.relation.enumerate(environment, within)?;
        Ok(pairs.into_iter().map(|(tuple, _)| tuple).collect())
    }
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.relation.write(f, false)
    }
}
