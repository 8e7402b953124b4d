//! Several questions about the tuples of one set.
//!
//! ```text
//! {[k] : 0 <= k < NZ}   and declarations  ──►  all that follows, once
//!                                                ├─► 0 <= crd(k) ?
//!                                                ├─► crd(k) < M ?
//!                                                └─► crd(k + 1) < M ?
//! ```
//!
//! A proof begins with the consequences of the set's constraints. They are the same for each
//! question, and most proofs need no more than them. Otherwise the proof adds the opposite of the
//! question to a copy, and only what is new has consequences.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::conjunction::Conjunction;
use crate::declarations::Declarations;
use crate::expression::Constraint;
use crate::facts::Facts;
use crate::polynomial::Row;
use crate::relation::Relation;
use crate::set::Set;

/// All that follows from the constraints of a set; see the module's page.
pub struct Consequences<'a> {
    declarations: &'a Declarations,
    parts: Vec<Part<'a>>,
}

struct Part<'a> {
    conjunction: &'a Conjunction,
    /// What follows, and whether no tuple is left, once a question needs this.
    known: OnceCell<(Rc<Facts>, bool)>,
}

impl<'a> Consequences<'a> {
    /// The consequences for the tuples of a set.
    pub fn of(set: &'a Set, declarations: &'a Declarations) -> Self {
        Self::of_pairs(set.as_relation(), declarations)
    }

    /// The consequences for the pairs of a relation.
    pub fn of_pairs(relation: &'a Relation, declarations: &'a Declarations) -> Self {
        let parts = relation.parts().iter();
        Self {
            declarations,
            parts: parts
                .map(|conjunction| Part {
                    conjunction,
                    known: OnceCell::new(),
                })
                .collect(),
        }
    }

    /// Whether a constraint is known to hold for all tuples, as [`Set::implies`].
    ///
    /// ```
    /// use sparsec_relation::{Consequences, Declarations, Set};
    /// let known: Declarations =
    ///     "function crd : {[k] : 0 <= k < NZ} -> {[j] : 0 <= j < M}".parse()?;
    /// let columns: Set = "{[k] : 0 <= k < NZ}".parse()?;
    /// let of_columns = Consequences::of(&columns, &known);
    /// let asked: Set = "{[k] : 0 <= crd(k) && crd(k + 1) < M}".parse()?;
    /// let answers: Vec<bool> = asked.parts()[0]
    ///     .constraints()
    ///     .iter()
    ///     .map(|constraint| of_columns.implies(constraint))
    ///     .collect();
    /// assert_eq!(answers, [true, false]);
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn implies(&self, constraint: &Constraint) -> bool {
        self.parts.iter().all(|part| {
            // A constraint that the set states needs no proof.
            let stated = part.conjunction.constraints().iter();
            let stated: Vec<_> = stated.flat_map(Constraint::links).collect();
            if constraint.links().all(|link| stated.contains(&link)) {
                return true;
            }
            let (facts, is_empty) = self.known(part);
            *is_empty || facts.meets(constraint)
        })
    }

    /// Whether no tuple is known to satisfy further constraints, whose calls have values.
    ///
    /// ```
    /// use sparsec_relation::{Consequences, Declarations, Set};
    /// let known: Declarations = "function f : {[i]} -> {[x]} increasing".parse()?;
    /// let below: Set = "{[i, j] : i < j}".parse()?;
    /// let falls: Set = "{[i, j] : f(j) <= f(i)}".parse()?;
    /// assert!(Consequences::of(&below, &known).exclude(falls.parts()[0].constraints()));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn exclude(&self, constraints: &[Constraint]) -> bool {
        let rows = rows(constraints);
        self.parts.iter().all(|part| {
            let (facts, is_empty) = self.known(part);
            *is_empty || facts.excludes(&rows)
        })
    }

    /// The consequences for the tuples that satisfy further constraints, whose calls have values.
    ///
    /// ```
    /// use sparsec_relation::{Consequences, Declarations, Set};
    /// let known: Declarations = "function f : {[i]} -> {[x]} increasing".parse()?;
    /// let pairs: Set = "{[i, j] : 0 <= i}".parse()?;
    /// let below: Set = "{[i, j] : i < j}".parse()?;
    /// let asked: Set = "{[i, j] : 0 < j && f(i) < f(j)}".parse()?;
    /// let of_pairs = Consequences::of(&pairs, &known);
    /// let of_both = of_pairs.under(below.parts()[0].constraints());
    /// let asked = asked.parts()[0].constraints();
    /// assert!(asked.iter().all(|constraint| of_both.implies(constraint)));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    #[must_use]
    pub fn under(&self, constraints: &[Constraint]) -> Self {
        let rows = rows(constraints);
        let parts = self.parts.iter().map(|part| {
            let (facts, _) = self.known(part);
            let facts = facts.under(&rows);
            let is_empty = facts.impossible();
            Part {
                conjunction: part.conjunction,
                known: OnceCell::from((facts, is_empty)),
            }
        });
        Self {
            declarations: self.declarations,
            parts: parts.collect(),
        }
    }

    fn known<'b>(&self, part: &'b Part<'a>) -> &'b (Rc<Facts>, bool) {
        part.known.get_or_init(|| {
            let facts = Facts::of(part.conjunction.constraints(), self.declarations);
            let is_empty = facts.impossible();
            (facts, is_empty)
        })
    }
}

fn rows(constraints: &[Constraint]) -> Vec<Row> {
    let links = constraints.iter().flat_map(Constraint::links);
    let rows = links.filter_map(|(left, comparison, right)| Row::of(left, comparison, right));
    rows.collect()
}
