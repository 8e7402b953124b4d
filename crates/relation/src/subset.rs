//! Whether one relation contains another.
//!
//! A part `p` lies in a union if `p` minus the union is empty, or if it lies in one part `q`. For
//! the second test the `exists` variables of `q` are solved for and replaced by their values:
//!
//! ```text
//! {[i] : i = 6 * N}  in  {[i] : exists k : i - N = k && k mod 5 = 0}
//!
//! k = i - N          i = 6 * N  =>  (i - N) mod 5 = 0  ?
//! ```

use sparsec_base::{Result, code};

use crate::conjunction::Conjunction;
use crate::declarations::Declarations;
use crate::expression::{Expression, Values, Variable};
use crate::facts::Facts;
use crate::polynomial::{Polynomial, Row};
use crate::relation::Relation;
use crate::set::Set;
use crate::solve::{Answer, solved};

impl Relation {
    /// Whether `other` contains all pairs of this relation.
    ///
    /// # Errors
    /// As [`intersect`](Self::intersect).
    ///
    /// ```
    /// use sparsec_relation::{Answer, Declarations, Relation};
    /// let known: Declarations = "
    ///     function pos : {[i] : 0 <= i <= N} -> {[p] : 0 <= p <= NZ} nondecreasing".parse()?;
    /// let rows: Relation = "{[i] -> [p] : 0 <= i < N && pos(i) <= p < pos(i + 1)}".parse()?;
    /// let all: Relation = "{[i] -> [p] : 0 <= p < NZ}".parse()?;
    /// assert_eq!(rows.is_subset(&all, &known)?, Answer::Yes);
    /// assert_eq!(rows.is_equal(&all, &known)?, Answer::Unknown);
    /// let below: Relation = "{[i] -> [p] : p < i}".parse()?;
    /// assert_eq!(all.is_subset(&below, &known)?, Answer::No);
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn is_subset(&self, other: &Self, declarations: &Declarations) -> Result<Answer> {
        // Returns the errors for tuples of different lengths and for names with two roles.
        self.intersect(other)?;
        let mut all = Answer::Yes;
        for part in self.parts() {
            let mut others = other.parts().iter();
            if others.any(|within| lies_in(part, within, declarations)) {
                continue;
            }
            let alone = Self::of_parts(vec![part.clone()]);
            let answer = match alone.minus(other, declarations) {
                Ok(left) => left.is_empty(declarations),
                Err(error) if error.code() == code::RELATION_NOT_EXACT => {
                    match alone.is_empty(declarations) {
                        Answer::No => Answer::Unknown,
                        answer => answer,
                    }
                }
                Err(error) => return Err(error),
            };
            all = all.and(answer);
        }
        Ok(all)
    }

    /// Whether both relations have the same pairs.
    ///
    /// # Errors
    /// As [`intersect`](Self::intersect).
    ///
    /// ```
    /// use sparsec_relation::{Answer, Declarations, Relation};
    /// let (a, b): (Relation, Relation) = (
    ///     "{[i] -> [b, e] : i = 4 * b + e && 0 <= e < 4}".parse()?,
    ///     "{[i] -> [i floordiv 4, i mod 4]}".parse()?,
    /// );
    /// assert_eq!(a.is_equal(&b, &Declarations::new())?, Answer::Yes);
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn is_equal(&self, other: &Self, declarations: &Declarations) -> Result<Answer> {
        match self.is_subset(other, declarations)? {
            Answer::No => Ok(Answer::No),
            one => Ok(one.and(other.is_subset(self, declarations)?)),
        }
    }
}

impl Set {
    /// Whether `other` contains all tuples of this set.
    ///
    /// # Errors
    /// As [`Relation::intersect`].
    ///
    /// ```
    /// use sparsec_relation::{Answer, Declarations, Set};
    /// let (few, more): (Set, Set) = ("{[i] : 0 < i < N}".parse()?, "{[i] : 0 <= i < N}".parse()?);
    /// assert_eq!(few.is_subset(&more, &Declarations::new())?, Answer::Yes);
    /// assert_eq!(few.is_equal(&more, &Declarations::new())?, Answer::No);
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn is_subset(&self, other: &Self, declarations: &Declarations) -> Result<Answer> {
        let (one, other) = (self.as_relation(), other.as_relation());
        one.is_subset(other, declarations)
    }

    /// Whether both sets have the same tuples.
    ///
    /// # Errors
    /// As [`Relation::intersect`].
    pub fn is_equal(&self, other: &Self, declarations: &Declarations) -> Result<Answer> {
        let (one, other) = (self.as_relation(), other.as_relation());
        one.is_equal(other, declarations)
    }
}

/// Whether the pairs of one part are known to lie in another part.
fn lies_in(part: &Conjunction, within: &Conjunction, declarations: &Declarations) -> bool {
    let tuples = || part.inputs().chain(part.outputs());
    let mut both = part.clone();
    both.conjoin_at(within, tuples());
    let values = match within.exists().len() {
        0 => tuples().map(Expression::Variable).collect(),
        n => {
            let facts = Facts::of(both.constraints(), declarations);
            let links = both.constraints()[part.constraints().len()..].iter();
            let links = links.flat_map(|c| c.links().collect::<Vec<_>>());
            let stated: Vec<Row> = links.filter_map(|(a, c, b)| Row::of(a, c, b)).collect();
            let given = tuples().chain(part.exists());
            let found = solved(&stated, &facts, given, declarations);
            let added: Vec<Variable> = both.exists().collect();
            let witnesses = added[added.len() - n..].iter();
            let witnesses = witnesses.map(|v| found.get(v).map(Polynomial::to_expression));
            let tuple = tuples().map(|v| Some(Expression::Variable(v)));
            match tuple.chain(witnesses).collect::<Option<Vec<_>>>() {
                Some(values) => values,
                None => return false,
            }
        }
    };
    let facts = Facts::of(part.constraints(), declarations);
    facts.impossible()
        || within.constraints().iter().all(|constraint| {
            let constraint = constraint.rewritten(&Values(&values));
            facts.meets(&constraint)
        })
}
