//! The consequences of the constraints of a conjunction.
//!
//! Constraints and declarations are rows, comparisons of polynomials with 0. The following rows are
//! added until nothing new follows:
//!
//! | from                      | follows                                              |
//! |---------------------------|------------------------------------------------------|
//! | a call                    | its arguments lie in the domain, its value in the range |
//! | calls of equal arguments  | equal values                                         |
//! | equal keys on one curve   | equal coordinates                                    |
//! | a key on a curve          | it is not negative                                   |
//! | a clause of declarations  | its last literal, once all others are refuted        |
//! | `a floordiv b`, `a mod b` | `a = b * q + r`, `0 <= r < b` where `0 < b`          |
//! | `a <= x`, `0 <= N`, a product of `N` and a term of `a` or `x` | `N * a <= N * x` |
//! | `N * p + q = 0`, `-N < q < N` | `p = 0`: numbers with equal places have equal digits |
//! | `p != 0`, `p >= 0`        | `p > 0`                                              |
//!
//! Only the module `linear` refutes rows, and only refuted opposites are concluded. So a conclusion
//! may be missing, but none is wrong. Declarations apply only to calls in the constraints, since
//! those have values.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::rc::Rc;

use rustc_hash::FxBuildHasher;

use crate::budget::Budget;
use crate::declarations::Declarations;
use crate::expression::{Comparison, Constraint, Expression, Values, Variable};
use crate::key;
use crate::linear::{Except, Linear, Sources, System};
use crate::polynomial::{Atom, Polynomial, Row, Sign};
use crate::set::Set;
use choice::Choices;
use questions::Answers;
use theory::Theory;

mod choice;
mod form;
mod products;
mod questions;
mod theory;

pub(crate) use choice::{MOST_CREATED, MOST_INSTANCES};
pub(crate) use questions::Solved;
pub use theory::remembering;

/// Rounds of conclusions from conclusions.
pub(crate) const MOST_ROUNDS: usize = 4;
/// Proofs that may be tried, which bounds the time.
pub(crate) const MOST_TRIALS: usize = 4000;
/// Rows that may be held.
pub(crate) const MOST_FACTS: usize = 400;

/// The rows with their consequences.
#[derive(Clone)]
pub(crate) struct Facts {
    theory: Rc<Theory>,
    rows: Vec<Row>,
    /// The rows in numbers.
    linear: Vec<Linear>,
    system: System,
    /// Rows that are kept or were proved, with the given rows that they follow from.
    known: HashMap<Linear, Sources, FxBuildHasher>,
    /// Rows with a second proof, from other given rows.
    implied: Vec<(Linear, Sources)>,
    /// Whether a row has an unknown, by its number.
    has_unknown: Vec<bool>,
    /// The atoms of the rows.
    atoms: BTreeSet<Atom>,
    /// The atoms whose domains and ranges are added.
    valued: BTreeSet<Atom>,
    choices: Choices,
    /// How many of the rows have been multiplied, for each product that is spoken of,
    /// and the greatest degree at that time.
    multiplied: BTreeMap<(Atom, Atom), (usize, usize)>,
    /// The rows that are such products.
    scaled: Vec<Range<usize>>,
    /// How many of the rows are given.
    n_given: usize,
    trials: usize,
    /// The first budget that ran out.
    spent: Option<Budget>,
    answers: Answers,
}

impl Facts {
    /// The rows of constraints, and all that follows.
    pub(crate) fn of<'c>(
        constraints: impl IntoIterator<Item = &'c Constraint>,
        declarations: &Declarations,
    ) -> Rc<Self> {
        let links = constraints.into_iter().flat_map(Constraint::links);
        let rows = links.filter_map(|(left, comparison, right)| Row::of(left, comparison, right));
        Self::of_rows(rows, declarations)
    }

    /// The rows, and all that follows.
    pub(crate) fn of_rows(
        rows: impl IntoIterator<Item = Row>,
        declarations: &Declarations,
    ) -> Rc<Self> {
        Self::of_numbered(rows.into_iter().enumerate(), declarations)
    }

    /// The rows with their numbers, and all that follows from which of them.
    pub(crate) fn of_numbered(
        rows: impl IntoIterator<Item = (usize, Row)>,
        declarations: &Declarations,
    ) -> Rc<Self> {
        theory::remembered(rows.into_iter().collect(), declarations, Self::derived_from)
    }

    fn derived_from(theory: &Rc<Theory>, rows: &[(usize, Row)]) -> Self {
        let mut facts = Self {
            theory: Rc::clone(theory),
            rows: Vec::new(),
            linear: Vec::new(),
            system: System::default(),
            known: HashMap::default(),
            implied: Vec::new(),
            has_unknown: Vec::new(),
            atoms: BTreeSet::new(),
            valued: BTreeSet::new(),
            choices: Choices::of(theory),
            multiplied: BTreeMap::new(),
            scaled: Vec::new(),
            n_given: 0,
            trials: 0,
            spent: None,
            answers: Answers::default(),
        };
        for constraint in &theory.declarations.assumptions {
            for (left, comparison, right) in constraint.links() {
                if let Some(row) = Row::of(left, comparison, right) {
                    let linear = facts.system.linear(&row);
                    facts.push(row, linear, Sources::NONE, None);
                }
            }
        }
        for (number, row) in rows {
            let linear = facts.system.linear(row);
            facts.push(row.clone(), linear, Sources::of(*number), Some(*number));
        }
        facts.n_given = facts.rows.len();
        facts.close();
        facts
    }

    fn push(&mut self, row: Row, linear: Linear, from: Sources, given: Option<usize>) {
        self.system.add(&linear, from, given);
        self.known.entry(linear.clone()).or_insert(from);
        for (unknown, _) in linear.terms() {
            if self.has_unknown.len() <= *unknown {
                self.has_unknown.resize(*unknown + 1, false);
            }
            if std::mem::replace(&mut self.has_unknown[*unknown], true) {
                continue;
            }
            self.system.product(*unknown).visit(&mut |atom| {
                if !self.atoms.contains(atom) {
                    self.atoms.insert(atom.clone());
                    self.choices.note_reason(atom, from);
                }
            });
        }
        self.linear.push(linear);
        self.rows.push(row);
    }

    /// The budget that ran out, if one did: more may follow than is known.
    pub(crate) fn gave_up(&self) -> Option<Budget> {
        self.spent.or(self.system.gave_up())
    }

    fn proof(&self, row: &Linear, except: Except) -> Option<Sources> {
        let held = || self.known.get(row).copied();
        let held = || held().filter(|from| !from.meet(except.sources));
        self.system.proof(row, except).or_else(held)
    }

    /// Whether the given row of a number is known to hold without it and `without`.
    pub(crate) fn is_implied(&mut self, number: usize, row: &Row, without: Sources) -> bool {
        for (row, from) in std::mem::take(&mut self.implied) {
            self.system.add(&row, from, None);
        }
        let linear = self.system.linear(row);
        let except = Except {
            sources: without.and(Sources::of(number)),
            given: None,
        };
        let proof = |facts: &Self, except| facts.system.proof(&linear, except);
        // If the consequences of the row itself do not suffice, a subset does not either.
        let alone = Except {
            sources: Sources::NONE,
            given: Some(number),
        };
        let Some(sources) = proof(self, alone) else {
            return false;
        };
        !sources.meet(except.sources) || proof(self, except).is_some() || {
            // A consequence of the row itself may also follow from other rows.
            self.retake(except.sources);
            proof(self, except).is_some()
        }
    }

    /// The rows.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The consequences of the given rows.
    pub(crate) fn derived(&self) -> &[Row] {
        &self.rows[self.n_given..]
    }

    /// Holds a row that follows from these; whether that is new.
    fn hold(&mut self, row: Option<Row>, from: Sources) -> bool {
        let Some(row) = row else { return false };
        if self.rows.len() >= MOST_FACTS {
            self.spent.get_or_insert(Budget::Rows);
            return false;
        }
        let linear = self.system.linear(&row);
        let known = self.known.get(&linear);
        if known.is_some_and(|known| known.are_within(from)) {
            return false;
        }
        if let Some(proof) = self.trial(&linear, Except::default()) {
            if !proof.are_within(from) {
                self.implied.push((linear.clone(), from));
            }
            self.known.insert(linear, from);
            return false;
        }
        self.push(row, linear, from, None);
        true
    }

    /// The rows that a row follows from; none once trials are used up.
    fn trial(&mut self, row: &Linear, except: Except) -> Option<Sources> {
        self.trials += 1;
        if self.trials > MOST_TRIALS {
            self.spent.get_or_insert(Budget::Proofs);
            return None;
        }
        self.proof(row, except)
    }

    fn try_row(&mut self, row: &Row) -> Option<Sources> {
        let linear = self.system.linear(row);
        self.trial(&linear, Except::default())
    }

    fn close(&mut self) {
        for _ in 0..MOST_ROUNDS {
            if self.system.contradiction().is_some() || self.trials > MOST_TRIALS {
                return;
            }
            let mut new = self.hold_values();
            new |= self.hold_products();
            new |= self.hold_digits();
            if self.system.contradiction().is_some() {
                return;
            }
            new |= self.hold_choices();
            new |= self.hold_strictness();
            if !new {
                return;
            }
        }
        self.spent.get_or_insert(Budget::Rounds);
    }

    /// Domains and ranges of calls; quotients and rests.
    fn hold_values(&mut self) -> bool {
        let mut new = false;
        let atoms: Vec<Atom> = self.atoms.difference(&self.valued).cloned().collect();
        for atom in atoms {
            let from = self.choices.reason(&atom);
            match &atom {
                Atom::Call(name, arguments) => {
                    let theory = Rc::clone(&self.theory);
                    let declarations = &theory.declarations;
                    if let Some((n_elements, members)) = theory.members(name)
                        && arguments.len() == n_elements
                    {
                        let value = [Polynomial::atom(atom.clone())];
                        for row in &members.domain {
                            new |= self.hold(row.at(arguments), from);
                        }
                        for row in &members.range {
                            new |= self.hold(row.at(&value), from);
                        }
                    }
                    if key::is_number(name) {
                        let zero = Expression::Integer(0);
                        let key = atom.to_expression();
                        new |= self.hold(Row::of(&zero, Comparison::LessEqual, &key), from);
                    }
                    // The range relates the elements of one value.
                    if let Some((tuple, _)) = declarations.tuple_of(name)
                        && arguments.len() == tuple.domain.n_elements()
                    {
                        let arguments: Vec<Expression> =
                            arguments.iter().map(Polynomial::to_expression).collect();
                        let value = tuple
                            .elements()
                            .map(|element| Expression::Call(element, arguments.clone()));
                        let value: Vec<Expression> = value.collect();
                        new |= self.hold_member(&tuple.range, &value, from);
                    }
                }
                Atom::FloorDivide(a, b) | Atom::Modulo(a, b) => {
                    let Some(held) = self.hold_division(a, b) else {
                        continue;
                    };
                    new |= held;
                }
                Atom::Variable(_) | Atom::Constant(_) => {}
            }
            self.valued.insert(atom);
        }
        new
    }

    /// Adds the constraints of a domain or a range for a call. A call in the given rows has a value
    /// without conditions; a call that a quantifier created has one because of the rows `from`.
    fn hold_member(&mut self, set: &Set, tuple: &[Expression], from: Sources) -> bool {
        let [part] = set.parts() else { return false };
        if part.exists().len() > 0 {
            return false;
        }
        let mut new = false;
        for constraint in part.constraints() {
            let constraint = constraint.rewritten(&Values(tuple));
            for (left, comparison, right) in constraint.links() {
                new |= self.hold(Row::of(left, comparison, right), from);
            }
        }
        new
    }

    fn hold_strictness(&mut self) -> bool {
        let rows = self.rows.iter().zip(&self.linear);
        let differ = rows.filter(|(row, _)| row.sign == Sign::NonZero);
        let differ: Vec<(Row, Option<Sources>)> = differ
            .map(|(row, linear)| (row.clone(), self.known.get(linear).copied()))
            .collect();
        let mut new = false;
        for (row, held) in differ {
            for factor in [1, -1] {
                let weak = Polynomial::default().plus(factor, &row.sum).map(|sum| Row {
                    sum,
                    sign: Sign::NonNegative,
                });
                let from = weak.and_then(|weak| self.try_row(&weak));
                if let (Some(from), Some(held)) = (from, held) {
                    let strict = Polynomial::integer(-1).plus(factor, &row.sum);
                    let strict = strict.map(|sum| Row {
                        sum,
                        sign: Sign::NonNegative,
                    });
                    new |= self.hold(strict, from.and(held));
                }
            }
        }
        new
    }
}

/// The row as a constraint that reads well.
pub(crate) fn to_constraint(row: &Row) -> Constraint {
    let mut positive = Polynomial::default();
    let mut negative = Polynomial::default();
    for (atoms, factor) in row.sum.terms() {
        let mut atoms = atoms.iter().cloned().map(Polynomial::atom);
        let term = atoms.try_fold(Polynomial::integer(1), |product, atom| product.times(&atom));
        let (side, factor) = if factor > 0 {
            (&mut positive, factor)
        } else {
            (&mut negative, factor.saturating_neg())
        };
        if let Some(sum) = term.and_then(|term| side.plus(factor, &term)) {
            *side = sum;
        }
    }
    let comparison = match row.sign {
        Sign::Zero => Comparison::Equal,
        Sign::NonZero => Comparison::NotEqual,
        Sign::NonNegative => Comparison::LessEqual,
    };
    let strict = row.sign == Sign::NonNegative && negative.value().is_none();
    let one = Polynomial::integer(1);
    match negative.plus(-1, &one) {
        // `a + 1 <= b` reads better as `a < b`.
        Some(less) if strict && negative.factor(&[]) >= 1 => Constraint::new(
            less.to_expression(),
            Comparison::Less,
            positive.to_expression(),
        ),
        _ => Constraint::new(
            negative.to_expression(),
            comparison,
            positive.to_expression(),
        ),
    }
}

/// The variable as a polynomial's atom.
pub(crate) fn atom(variable: Variable) -> Atom {
    Atom::Variable(variable)
}
