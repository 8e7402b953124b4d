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
//! | `p != 0`, `p >= 0`        | `p > 0`                                              |
//!
//! Only the module `linear` refutes rows, and only refuted opposites are concluded. So a conclusion
//! may be missing, but none is wrong. Declarations apply only to calls in the constraints, since
//! those have values.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::budget::Budget;
use crate::declarations::Declarations;
use crate::expression::{Comparison, Constraint, Expression, Values, Variable};
use crate::key;
use crate::linear::{Except, Linear, Sources, System};
use crate::polynomial::{Atom, Polynomial, Row, Sign};
use crate::set::Set;
use choice::Choices;

mod choice;
mod form;
mod products;

pub(crate) use choice::{MOST_CREATED, MOST_INSTANCES};

/// Rounds of conclusions from conclusions.
pub(crate) const MOST_ROUNDS: usize = 4;
/// Proofs that may be tried, which bounds the time.
pub(crate) const MOST_TRIALS: usize = 4000;
/// Rows that may be held.
pub(crate) const MOST_FACTS: usize = 400;

/// The rows with their consequences.
#[derive(Clone)]
pub(crate) struct Facts<'a> {
    declarations: &'a Declarations,
    rows: Vec<Row>,
    /// The rows in numbers.
    linear: Vec<Linear>,
    system: System,
    /// Rows that are kept or were proved, with the given rows that they follow from.
    known: BTreeMap<Linear, Sources>,
    /// Rows with a second proof, from other given rows.
    implied: Vec<(Linear, Sources)>,
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
}

impl<'a> Facts<'a> {
    /// The rows of constraints, and all that follows.
    pub(crate) fn of<'c>(
        constraints: impl IntoIterator<Item = &'c Constraint>,
        declarations: &'a Declarations,
    ) -> Self {
        let links = constraints.into_iter().flat_map(Constraint::links);
        let rows = links.filter_map(|(left, comparison, right)| Row::of(left, comparison, right));
        Self::of_rows(rows, declarations)
    }

    /// The rows, and all that follows.
    pub(crate) fn of_rows(
        rows: impl IntoIterator<Item = Row>,
        declarations: &'a Declarations,
    ) -> Self {
        Self::of_numbered(rows.into_iter().enumerate(), declarations)
    }

    /// The rows with their numbers, and all that follows from which of them.
    pub(crate) fn of_numbered(
        rows: impl IntoIterator<Item = (usize, Row)>,
        declarations: &'a Declarations,
    ) -> Self {
        let mut facts = Self {
            declarations,
            rows: Vec::new(),
            linear: Vec::new(),
            system: System::default(),
            known: BTreeMap::new(),
            implied: Vec::new(),
            atoms: BTreeSet::new(),
            valued: BTreeSet::new(),
            choices: Choices::of(declarations),
            multiplied: BTreeMap::new(),
            scaled: Vec::new(),
            n_given: 0,
            trials: 0,
            spent: None,
        };
        for constraint in &declarations.assumptions {
            for (left, comparison, right) in constraint.links() {
                if let Some(row) = Row::of(left, comparison, right) {
                    let linear = facts.system.linear(&row);
                    facts.push(row, linear, Sources::NONE, None);
                }
            }
        }
        for (number, row) in rows {
            let linear = facts.system.linear(&row);
            facts.push(row, linear, Sources::of(number), Some(number));
        }
        facts.n_given = facts.rows.len();
        facts.close();
        facts
    }

    fn push(&mut self, row: Row, linear: Linear, from: Sources, given: Option<usize>) {
        self.system.add(&linear, from, given);
        self.known.entry(linear.clone()).or_insert(from);
        self.linear.push(linear);
        row.sum.visit(&mut |atom| {
            if !self.atoms.contains(atom) {
                self.atoms.insert(atom.clone());
                self.choices.note_reason(atom, from);
            }
        });
        self.rows.push(row);
    }

    /// Whether the rows are known to contradict each other.
    pub(crate) fn impossible(&self) -> bool {
        let never = |row: &Row| row.sign == Sign::NonZero && row.sum.value() == Some(0);
        self.rows.iter().any(never) || self.system.contradiction().is_some()
    }

    /// The budget that ran out, if one did: more may follow than is known.
    pub(crate) fn gave_up(&self) -> Option<Budget> {
        self.spent.or(self.system.gave_up())
    }

    /// Whether a row is known to hold where all others do.
    pub(crate) fn entails(&self, row: &Row) -> bool {
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
                let Some(function) = self.declarations.function(name) else {
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
        // What is known already suffices for most.
        if let [row] = rows
            && let Some(opposite) = self.system.find(row).and_then(|row| row.negated())
            && self.proof(&opposite, Except::default()).is_some()
        {
            return true;
        }
        self.under(rows).impossible()
    }

    /// The facts of the given rows and further ones, for questions that do not ask which rows
    /// something follows from.
    pub(crate) fn under(&self, rows: &[Row]) -> Self {
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
                    let declarations = self.declarations;
                    if let Some(function) = declarations.function(name)
                        && arguments.len() == function.domain.n_elements()
                    {
                        let arguments: Vec<Expression> =
                            arguments.iter().map(Polynomial::to_expression).collect();
                        let value = [atom.to_expression()];
                        new |= self.hold_member(&function.domain, &arguments, from);
                        new |= self.hold_member(&function.range, &value, from);
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
