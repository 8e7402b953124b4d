//! What follows from the constraints of a conjunction.
//!
//! Constraints and declarations are rows that compare polynomials with 0. To
//! them are added, until nothing new follows:
//!
//! | from                      | follows                                              |
//! |---------------------------|------------------------------------------------------|
//! | a call                    | its arguments lie in the domain, its value in the range |
//! | calls of equal arguments  | equal values                                         |
//! | equal keys on one curve   | equal coordinates                                    |
//! | a declared choice         | its last member, once all others are refuted         |
//! | `a floordiv b`, `a mod b` | `a = b * q + r`, `0 <= r < b` where `0 < b`          |
//! | `a <= x`, `0 <= N`, a product of `N` and what is in `a` or `x` | `N * a <= N * x` |
//! | `p != 0`, `p >= 0`        | `p > 0`                                              |
//!
//! What the module `linear` refutes is refuted; nothing else is concluded, so an
//! answer may be missing but never wrong. Declared facts are used only for calls
//! that the constraints have: those have values.

use std::collections::BTreeSet;

use crate::declarations::Declarations;
use crate::expression::{Comparison, Constraint, Expression, Values, Variable};
use crate::key;
use crate::linear::System;
use crate::polynomial::{Atom, Polynomial, Row, Sign};
use crate::set::Set;

mod clause;

/// Rounds of conclusions from conclusions.
const MOST_ROUNDS: usize = 4;
/// Refutations that may be tried, which bounds the time.
const MOST_TRIALS: usize = 4000;
/// Rows that may be held.
const MOST_FACTS: usize = 160;

/// Rows that hold, with what follows from them.
pub(crate) struct Facts<'a> {
    declarations: &'a Declarations,
    rows: Vec<Row>,
    /// The rows as a system to refute others with.
    system: System,
    /// Rows that follow from declarations, but from the other rows as well.
    implied: Vec<Row>,
    /// The rows and the implied ones as a system.
    wide: System,
    /// How many of the rows are given.
    n_given: usize,
    trials: usize,
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
        let mut facts = Self {
            declarations,
            rows: Vec::new(),
            system: System::default(),
            implied: Vec::new(),
            wide: System::default(),
            n_given: 0,
            trials: 0,
        };
        for constraint in &declarations.assumptions {
            facts.add(constraint);
        }
        for row in rows {
            facts.push(row);
        }
        facts.n_given = facts.rows.len();
        facts.close();
        facts
    }

    fn add(&mut self, constraint: &Constraint) {
        for (left, comparison, right) in constraint.links() {
            if let Some(row) = Row::of(left, comparison, right) {
                self.push(row);
            }
        }
    }

    fn push(&mut self, row: Row) {
        self.system.add(&row);
        self.wide.add(&row);
        self.rows.push(row);
    }

    /// Whether the rows are known to contradict each other.
    pub(crate) fn impossible(&self) -> bool {
        let never = |row: &Row| row.sign == Sign::NonZero && row.sum.value() == Some(0);
        self.rows.iter().any(never) || self.system.impossible()
    }

    /// Whether a row is known to hold where all others do.
    pub(crate) fn entails(&self, row: &Row) -> bool {
        self.rows.contains(row) || proves(&self.system, row, None)
    }

    /// Whether a given row may follow from the others. Where this says no, it
    /// does not; the rows may have followed from the row itself.
    pub(crate) fn may_follow(&self, row: &Row) -> bool {
        self.implied.contains(row) || proves(&self.wide, row, Some(row))
    }

    /// The rows.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The rows that follow from those given.
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

    /// Whether a further constraint has values and holds wherever the ones do that
    /// these facts are of.
    pub(crate) fn meets(&self, given: &[Constraint], constraint: &Constraint) -> bool {
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
                    let not = Constraint::new(link.first.clone(), comparison, right.clone());
                    Self::of(given.iter().chain([&not]), self.declarations).impossible()
                };
                match comparison {
                    Comparison::Equal => fails(Comparison::Less) && fails(Comparison::Greater),
                    other => fails(other.negated()),
                }
            })
    }

    fn hold(&mut self, row: Option<Row>) -> bool {
        let Some(row) = row else { return false };
        if self.rows.len() >= MOST_FACTS || self.implied.contains(&row) {
            return false;
        }
        if self.trial(&row) {
            if self.implied.len() < MOST_FACTS && !self.implied.contains(&row) {
                self.wide.add(&row);
                self.implied.push(row);
            }
            return false;
        }
        self.push(row);
        true
    }

    /// As [`entails`](Self::entails); false once trials are used up.
    fn trial(&mut self, row: &Row) -> bool {
        self.trials += 1;
        self.trials <= MOST_TRIALS && self.entails(row)
    }

    fn close(&mut self) {
        let clauses = self.declarations.clauses();
        for _ in 0..MOST_ROUNDS {
            if self.system.impossible() || self.trials > MOST_TRIALS {
                return;
            }
            let mut new = self.hold_values();
            new |= self.hold_products();
            new |= self.hold_congruence();
            for clause in &clauses {
                new |= self.hold_clause(clause);
            }
            new |= self.hold_strictness();
            if !new {
                return;
            }
        }
    }

    fn atoms(&self) -> BTreeSet<Atom> {
        let mut atoms = BTreeSet::new();
        for row in &self.rows {
            row.sum.visit(&mut |atom| {
                atoms.insert(atom.clone());
            });
        }
        atoms
    }

    /// Domains and ranges of calls; quotients and rests.
    fn hold_values(&mut self) -> bool {
        let mut new = false;
        for atom in self.atoms() {
            match &atom {
                Atom::Call(name, arguments) => {
                    let Some(function) = self.declarations.function(name) else {
                        continue;
                    };
                    if arguments.len() != function.domain.n_elements() {
                        continue;
                    }
                    let arguments: Vec<Expression> =
                        arguments.iter().map(Polynomial::to_expression).collect();
                    let value = [atom.to_expression()];
                    new |= self.hold_member(&function.domain, &arguments);
                    new |= self.hold_member(&function.range, &value);
                }
                Atom::FloorDivide(a, b) | Atom::Modulo(a, b) => new |= self.hold_division(a, b),
                Atom::Variable(_) | Atom::Constant(_) => {}
            }
        }
        new
    }

    fn hold_member(&mut self, set: &Set, tuple: &[Expression]) -> bool {
        let [part] = set.parts() else { return false };
        if part.exists().len() > 0 {
            return false;
        }
        let mut new = false;
        for constraint in part.constraints() {
            let constraint = constraint.rewritten(&Values(tuple));
            for (left, comparison, right) in constraint.links() {
                new |= self.hold(Row::of(left, comparison, right));
            }
        }
        new
    }

    fn hold_division(&mut self, a: &Polynomial, b: &Polynomial) -> bool {
        let positive = Row {
            sum: b.plus(-1, &Polynomial::integer(1)).unwrap_or_default(),
            sign: Sign::NonNegative,
        };
        if b.plus(-1, &Polynomial::integer(1)).is_none() || !self.trial(&positive) {
            return false;
        }
        let (a, b) = (Box::new(a.clone()), Box::new(b.clone()));
        let quotient = Polynomial::atom(Atom::FloorDivide(a.clone(), b.clone()));
        let Some(product) = b.times(&quotient) else {
            return false;
        };
        let Some(left) = a.plus(-1, &product) else {
            return false;
        };
        let rest = Polynomial::atom(Atom::Modulo(a, b.clone()));
        let row = |sum: Option<Polynomial>, sign| sum.map(|sum| Row { sum, sign });
        let mut new = self.hold(row(left.plus(-1, &rest), Sign::Zero));
        new |= self.hold(row(Some(rest.clone()), Sign::NonNegative));
        let below = b.plus(-1, &rest);
        let below = below.and_then(|sum| sum.plus(-1, &Polynomial::integer(1)));
        new | self.hold(row(below, Sign::NonNegative))
    }

    /// Multiplies comparisons by symbolic constants that are not negative, where
    /// such a product is spoken of.
    fn hold_products(&mut self) -> bool {
        let mut products: BTreeSet<(Atom, Atom)> = BTreeSet::new();
        for (atoms, _) in self.rows.iter().flat_map(|row| row.sum.terms()) {
            if let [a, b] = atoms {
                products.insert((a.clone(), b.clone()));
                products.insert((b.clone(), a.clone()));
            }
        }
        let degree = |row: &Row| row.sum.terms().map(|(atoms, _)| atoms.len()).max();
        let greatest = self.rows.iter().filter_map(degree).max().unwrap_or(0);
        let mut new = false;
        for (by, other) in products {
            if !matches!(by, Atom::Constant(_)) {
                continue;
            }
            let by = Polynomial::atom(by);
            let sign = Row {
                sum: by.clone(),
                sign: Sign::NonNegative,
            };
            if !self.trial(&sign) {
                continue;
            }
            let alone = [other];
            let rows = self.rows.iter().filter(|row| {
                row.sign != Sign::NonZero
                    && row.sum.factor(&alone) != 0
                    && degree(row).is_some_and(|degree| degree < greatest)
            });
            let scaled: Vec<Row> = rows
                .filter_map(|row| {
                    let sign = row.sign;
                    row.sum.times(&by).map(|sum| Row { sum, sign })
                })
                .collect();
            for row in scaled {
                new |= self.hold(Some(row));
            }
        }
        new
    }

    /// Equal arguments give equal values.
    fn hold_congruence(&mut self) -> bool {
        let calls: Vec<Atom> = self
            .atoms()
            .into_iter()
            .filter(|atom| matches!(atom, Atom::Call(..)))
            .collect();
        let mut new = false;
        for (at, first) in calls.iter().enumerate() {
            for second in &calls[at + 1..] {
                let (Atom::Call(f, xs), Atom::Call(g, ys)) = (first, second) else {
                    continue;
                };
                if f != g || xs.len() != ys.len() {
                    continue;
                }
                let equal = |x: &Polynomial, y: &Polynomial| {
                    let sign = Sign::Zero;
                    x.plus(-1, y).map(|sum| Row { sum, sign })
                };
                let [a, b] = [first, second].map(|call| Polynomial::atom(call.clone()));
                let values = equal(&a, &b);
                let mut pairs = xs.iter().zip(ys);
                if key::is_injective(f) && values.as_ref().is_some_and(|row| self.trial(row)) {
                    let (extents, coordinates): (Vec<_>, Vec<_>) = pairs
                        .enumerate()
                        .partition(|(at, _)| key::is_extent(f, *at));
                    if extents.iter().all(|(_, (x, y))| x == y) {
                        for (_, (x, y)) in coordinates {
                            new |= self.hold(equal(x, y));
                        }
                    }
                    continue;
                }
                if pairs.all(|(x, y)| equal(x, y).is_some_and(|row| self.trial(&row))) {
                    new |= self.hold(values);
                }
            }
        }
        new
    }

    fn hold_strictness(&mut self) -> bool {
        let differ: Vec<Polynomial> = self
            .rows
            .iter()
            .filter(|row| row.sign == Sign::NonZero)
            .map(|row| row.sum.clone())
            .collect();
        let mut new = false;
        for sum in differ {
            for factor in [1, -1] {
                let weak = Polynomial::default().plus(factor, &sum).map(|sum| Row {
                    sum,
                    sign: Sign::NonNegative,
                });
                if weak.is_some_and(|weak| self.trial(&weak)) {
                    let strict = Polynomial::integer(-1).plus(factor, &sum);
                    new |= self.hold(strict.map(|sum| Row {
                        sum,
                        sign: Sign::NonNegative,
                    }));
                }
            }
        }
        new
    }
}

/// Whether a row holds where a system does, the rows equal to `except` left out.
fn proves(system: &System, row: &Row, except: Option<&Row>) -> bool {
    let refutes = |sum: Option<Polynomial>, sign| {
        sum.is_some_and(|sum| system.refutes(&Row { sum, sign }, except))
    };
    let above = || Polynomial::integer(-1).plus(1, &row.sum);
    let below = || Polynomial::integer(-1).plus(-1, &row.sum);
    match row.sign {
        Sign::NonNegative => refutes(below(), Sign::NonNegative),
        Sign::Zero => refutes(above(), Sign::NonNegative) && refutes(below(), Sign::NonNegative),
        Sign::NonZero => refutes(Some(row.sum.clone()), Sign::Zero),
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
