//! Questions to facts. Each is answered once: passes ask the same ones again.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use rustc_hash::FxBuildHasher;
use sparsec_base::cancel::checkpoint;

use super::Facts;
use crate::expression::{Comparison, Constraint, Expression, Values, Variable};
use crate::linear::{Except, Sources};
use crate::polynomial::{Atom, Polynomial, Row, Sign};

/// Answers by question.
type Asked<Q, A> = RefCell<HashMap<Q, A, FxBuildHasher>>;

/// Questions to facts, with their answers.
#[derive(Default)]
pub(super) struct Answers {
    /// The facts of further rows.
    under: Asked<Vec<Row>, Rc<Facts>>,
    /// Whether further rows are excluded.
    excluded: Asked<Vec<Row>, bool>,
    /// The values of variables, by the rows that are solved and the given variables.
    solved: Asked<(Vec<Row>, BTreeSet<Variable>), Solved>,
}

/// The values of variables.
pub(crate) type Solved = BTreeMap<Variable, Polynomial>;

impl Clone for Answers {
    /// None: facts are copied to get further rows.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Facts {
    /// Whether the rows are known to contradict each other.
    pub(crate) fn impossible(&self) -> bool {
        let never = |row: &Row| row.sign == Sign::NonZero && row.sum.value() == Some(0);
        self.rows.iter().any(never) || self.system.contradiction().is_some()
    }

    /// Whether a row is known to hold where all others do.
    pub(crate) fn entails(&self, row: &Row) -> bool {
        checkpoint();
        let linear = self.system.find(row);
        linear.is_some_and(|linear| self.proof(&linear, Except::default()).is_some())
    }

    /// Whether a row is one of these, and all calls in it have values without conditions.
    pub(crate) fn includes(&self, row: &Row) -> bool {
        let mut is_given = true;
        row.sum
            .visit(&mut |atom| is_given &= !self.choices.is_created(atom));
        let linear = self.system.find(row).filter(|_| is_given);
        linear.is_some_and(|linear| self.linear.contains(&linear))
    }

    /// Whether a call or division is known to have a value.
    pub(crate) fn has_value(&self, atom: &Atom) -> bool {
        match atom {
            Atom::Variable(_) | Atom::Constant(_) => true,
            Atom::FloorDivide(_, b) | Atom::Modulo(_, b) => self.entails(&Row {
                sum: (**b).clone(),
                sign: Sign::NonZero,
            }),
            Atom::Call(..) if self.is_given(atom) => true,
            Atom::Call(name, arguments) => {
                let Some(function) = self.theory.declarations.function(name) else {
                    return false;
                };
                let [part] = function.domain.parts() else {
                    return false;
                };
                let arguments: Vec<Expression> =
                    arguments.iter().map(Polynomial::to_expression).collect();
                let within = |constraint: &Constraint| {
                    let constraint = constraint.rewritten(&Values(&arguments));
                    constraint.links().all(|(left, comparison, right)| {
                        Row::of(left, comparison, right).is_some_and(|row| self.entails(&row))
                    })
                };
                arguments.len() == function.domain.n_elements()
                    && part.exists().len() == 0
                    && part.constraints().iter().all(within)
            }
        }
    }

    /// Whether a given row speaks of a call, which then has a value wherever the rows hold.
    fn is_given(&self, atom: &Atom) -> bool {
        let mut found = false;
        for row in &self.rows[..self.n_given] {
            row.sum.visit(&mut |it| found |= it == atom);
        }
        found
    }

    /// Whether no values satisfy the given rows and further ones.
    pub(crate) fn excludes(&self, rows: &[Row]) -> bool {
        // The known rows suffice for most.
        if let [row] = rows
            && let Some(opposite) = self.system.find(row).and_then(|row| row.negated())
            && self.proof(&opposite, Except::default()).is_some()
        {
            return true;
        }
        if let Some(answer) = self.answers.excluded.borrow().get(rows) {
            return *answer;
        }
        let facts = self.answers.under.borrow().get(rows).cloned();
        let answer = match facts {
            Some(facts) => facts.impossible(),
            None => self.with(rows).impossible(),
        };
        let mut excluded = self.answers.excluded.borrow_mut();
        excluded.insert(rows.to_vec(), answer);
        answer
    }

    /// The facts of the given rows and further ones, for questions that do not ask which rows
    /// something follows from.
    pub(crate) fn under(&self, rows: &[Row]) -> Rc<Self> {
        if let Some(facts) = self.answers.under.borrow().get(rows) {
            return Rc::clone(facts);
        }
        let facts = Rc::new(self.with(rows));
        let mut under = self.answers.under.borrow_mut();
        under.insert(rows.to_vec(), Rc::clone(&facts));
        facts
    }

    /// The values that `solve` finds for rows and given variables, once.
    pub(crate) fn solved(
        &self,
        rows: &[Row],
        given: BTreeSet<Variable>,
        solve: impl FnOnce(BTreeSet<Variable>) -> Solved,
    ) -> Solved {
        let key = (rows.to_vec(), given);
        if let Some(values) = self.answers.solved.borrow().get(&key) {
            return values.clone();
        }
        let values = solve(key.1.clone());
        let mut solved = self.answers.solved.borrow_mut();
        solved.insert(key, values.clone());
        values
    }

    fn with(&self, rows: &[Row]) -> Self {
        checkpoint();
        let mut facts = self.clone();
        for row in rows {
            row.sum.visit(&mut |atom| facts.choices.give(atom));
            let linear = facts.system.linear(row);
            facts.push(row.clone(), linear, Sources::NONE, None);
        }
        facts.close();
        facts
    }

    /// Whether a further constraint has values and holds wherever the given ones do.
    pub(crate) fn meets(&self, constraint: &Constraint) -> bool {
        let mut atoms = BTreeSet::new();
        for e in constraint.expressions() {
            let Some(sum) = Polynomial::of(e) else {
                return false;
            };
            sum.visit(&mut |atom| {
                atoms.insert(atom.clone());
            });
        }
        let has_values = atoms
            .iter()
            .all(|atom| !atom.is_partial() || self.has_value(atom));
        has_values
            && constraint.split().all(|link| {
                let (comparison, right) = &link.rest[0];
                let fails = |comparison| {
                    let row = Row::of(&link.first, comparison, right);
                    row.is_some_and(|row| self.excludes(&[row]))
                };
                match comparison {
                    Comparison::Equal => fails(Comparison::Less) && fails(Comparison::Greater),
                    other => fails(other.negated()),
                }
            })
    }
}
