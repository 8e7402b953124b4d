//! Instances of clauses for the terms in the rows.
//!
//! Monotone and injective functions and quantifiers are clauses: disjunctions that hold for all
//! values of their variables. So is the rule that equal arguments have equal values:
//!
//! ```text
//! f nondecreasing      a > b  or  f(a) <= f(b)
//! ```
//!
//! For `f(i)` and `f(j + 1)` in the rows, `a` and `b` take the values `i` and `j + 1`. This
//! instance is a **choice** and its literals are **members**. If all members but one are refuted,
//! the last one holds (unit propagation).
//!
//! **New terms.** If one call determines all variables of a clause, the other calls of the clause
//! may be new. A new call has a value only in the domain of its function. The choice therefore gets
//! more members, which say that the call is outside of the domain:
//!
//! ```text
//! forall e : 0 <= e < m => ptr(e) <= diag(e)      and diag(c) in the rows
//!
//! c < 0  or  c >= m  or  ptr(c) <= diag(c)  or  c outside of the domain of ptr
//! ```
//!
//! A new call may create further calls, but those create none. A conclusion about a new call
//! depends on the rows that put it into its domain.

use std::collections::{BTreeMap, BTreeSet};

use sparsec_base::arena::Id;

use super::{Facts, MOST_ROUNDS};
use crate::budget::Budget;
use crate::declarations::{Clause, Declarations};
use crate::expression::{Constraint, Expression, Values, Variable};
use crate::key;
use crate::linear::{Except, Linear, Sources};
use crate::polynomial::{Atom, Polynomial, Row, Sign};

/// Terms for which one declared choice is tried.
pub(crate) const MOST_INSTANCES: usize = 600;
/// New calls that clauses may create.
pub(crate) const MOST_CREATED: usize = 24;
/// Generations of calls that are created from created calls.
const MOST_GENERATIONS: usize = 2;

/// The choices that are still open.
pub(super) struct Choices {
    clauses: Vec<Clause>,
    /// How many calls there were when instances were made last; `None` before the first time.
    n_calls: Option<usize>,
    made: BTreeSet<Vec<Linear>>,
    open: Vec<Choice>,
    /// Decided choices, with the rows that decided them.
    taken: Vec<(Choice, Sources)>,
    /// New calls, with their generation.
    created: BTreeMap<Atom, usize>,
    /// New calls that a row contains by now, with the rows that give them a value.
    reasons: BTreeMap<Atom, Sources>,
}

/// An instance of a clause: one of the members holds. It depends on the rows `from`, which give its
/// calls a value.
#[derive(Clone)]
struct Choice {
    members: Vec<Member>,
    from: Sources,
}

#[derive(Clone)]
struct Member {
    row: Row,
    /// The opposite row. A proof of it refutes the member.
    opposite: Linear,
}

impl Choices {
    pub(super) fn of(declarations: &Declarations) -> Self {
        Self {
            clauses: declarations.clauses(),
            n_calls: None,
            made: BTreeSet::new(),
            open: Vec::new(),
            taken: Vec::new(),
            created: BTreeMap::new(),
            reasons: BTreeMap::new(),
        }
    }

    /// Records that a row contains a new call for the first time, and the rows that this row
    /// follows from.
    pub(super) fn note_reason(&mut self, atom: &Atom, from: Sources) {
        if self.created.contains_key(atom) {
            self.reasons.insert(atom.clone(), from);
        }
    }

    /// The rows that give a call a value; none for a call of the given rows.
    pub(super) fn reason(&self, atom: &Atom) -> Sources {
        self.reasons.get(atom).copied().unwrap_or(Sources::NONE)
    }
}

impl Facts<'_> {
    /// Takes the one member of a choice that is left, for terms that fit.
    pub(super) fn hold_choices(&mut self) -> bool {
        self.make_choices();
        let mut new = false;
        for choice in std::mem::take(&mut self.choices.open) {
            match self.left(&choice, Except::default()) {
                Some((row, from)) => {
                    new |= self.hold(Some(row), from);
                    self.choices.taken.push((choice, from));
                }
                None => self.choices.open.push(choice),
            }
        }
        new
    }

    /// Decides choices again whose decision depended on given rows, as far as other rows suffice.
    pub(super) fn retake(&mut self, without: Sources) {
        let except = Except {
            sources: without,
            given: None,
        };
        for _ in 0..MOST_ROUNDS {
            let mut taken = std::mem::take(&mut self.choices.taken);
            let mut new = false;
            for (choice, from) in taken.iter_mut().filter(|(_, from)| from.meet(without)) {
                if let Some((row, others)) = self.left(choice, except) {
                    let row = self.system.linear(&row);
                    self.system.add(&row, others, None);
                    *from = others;
                    new = true;
                }
            }
            self.choices.taken = taken;
            if !new {
                return;
            }
        }
    }

    /// The only member that is not refuted, with the rows that refute the others.
    fn left(&mut self, choice: &Choice, except: Except) -> Option<(Row, Sources)> {
        let mut from = choice.from;
        if from.meet(except.sources) {
            return None;
        }
        let mut left = None;
        for member in &choice.members {
            match self.trial(&member.opposite, except) {
                Some(sources) => from = from.and(sources),
                None if left.is_some() => return None,
                None => left = Some(member.row.clone()),
            }
        }
        // If all members are refuted, the rows contradict each other.
        let never = Row {
            sum: Polynomial::integer(-1),
            sign: Sign::NonNegative,
        };
        Some((left.unwrap_or(never), from))
    }

    fn make_choices(&mut self) {
        let calls = self
            .atoms
            .iter()
            .filter(|atom| matches!(atom, Atom::Call(..)));
        let calls: BTreeSet<Atom> = calls.cloned().collect();
        if self.choices.n_calls.replace(calls.len()) == Some(calls.len()) {
            return;
        }
        for clause in std::mem::take(&mut self.choices.clauses) {
            self.make_instances(&clause, &calls);
            if clause.is_stated {
                self.make_terms(&clause, &calls);
            }
            self.choices.clauses.push(clause);
        }
        self.make_congruences(&calls);
    }

    /// Equal arguments give equal values; equal keys on a curve are of equal
    /// coordinates.
    fn make_congruences(&mut self, calls: &BTreeSet<Atom>) {
        for first in calls {
            for second in calls.range(first..).skip(1) {
                let (Atom::Call(f, xs), Atom::Call(g, ys)) = (first, second) else {
                    continue;
                };
                if f != g || xs.len() != ys.len() {
                    continue;
                }
                let compared = |x: &Polynomial, y: &Polynomial, sign| {
                    x.plus(-1, y).map(|sum| Row { sum, sign })
                };
                let [a, b] = [first, second].map(|call| Polynomial::atom(call.clone()));
                if key::is_injective(f) {
                    let pairs = || xs.iter().zip(&**ys).enumerate();
                    if pairs().any(|(at, (x, y))| key::is_extent(f, at) && x != y) {
                        continue;
                    }
                    for (_, (x, y)) in pairs().filter(|(at, _)| !key::is_extent(f, *at)) {
                        let differ = compared(&a, &b, Sign::NonZero);
                        self.open([differ, compared(x, y, Sign::Zero)]);
                    }
                }
                let pairs = xs.iter().zip(&**ys).filter(|(x, y)| x != y);
                let differ = pairs.map(|(x, y)| compared(x, y, Sign::NonZero));
                self.open(differ.chain([compared(&a, &b, Sign::Zero)]));
            }
        }
    }

    fn make_instances(&mut self, clause: &Clause, calls: &BTreeSet<Atom>) {
        let mut candidates = vec![BTreeSet::new(); clause.n_variables];
        for e in clause.literals.iter().flat_map(Constraint::expressions) {
            e.visit(&mut |e| {
                if let Expression::Call(name, arguments) = e {
                    collect_candidates(name, arguments, calls, &mut candidates);
                }
            });
        }
        let n_instances = candidates
            .iter()
            .try_fold(1usize, |n, terms| n.checked_mul(terms.len()));
        if n_instances.is_none_or(|n| n > MOST_INSTANCES) {
            self.spent.get_or_insert(Budget::Instances);
            return;
        }
        let mut instances: Vec<Vec<Expression>> = vec![Vec::new()];
        for terms in &candidates {
            let terms: Vec<Expression> = terms.iter().map(Polynomial::to_expression).collect();
            let with = |before: &Vec<Expression>| {
                let before = before.clone();
                let terms = terms.iter();
                terms.map(move |term| [&before[..], std::slice::from_ref(term)].concat())
            };
            instances = instances.iter().flat_map(with).collect::<Vec<_>>();
        }
        for instance in instances {
            let rows = clause.literals.iter().map(|literal| {
                let literal = literal.rewritten(&Values(&instance));
                let (comparison, right) = &literal.rest[0];
                let row = Row::of(&literal.first, *comparison, right)?;
                speaks_of(&row, calls, self.declarations).then_some(row)
            });
            self.open(rows);
        }
    }

    /// Adds the instances of a clause that one call determines and that contain new calls.
    fn make_terms(&mut self, clause: &Clause, calls: &BTreeSet<Atom>) {
        let mut patterns: Vec<&Expression> = Vec::new();
        for e in clause.literals.iter().flat_map(Constraint::expressions) {
            e.visit(&mut |e| {
                if matches!(e, Expression::Call(..)) && !patterns.contains(&e) {
                    patterns.push(e);
                }
            });
        }
        for call in calls {
            let generation = self.choices.created.get(call).copied().unwrap_or(0);
            if generation >= MOST_GENERATIONS {
                continue;
            }
            for pattern in &patterns {
                let Some(instance) = matched(pattern, call, clause.n_variables) else {
                    continue;
                };
                let rows: Option<Vec<Row>> = clause
                    .literals
                    .iter()
                    .map(|literal| {
                        let literal = literal.rewritten(&Values(&instance));
                        let (comparison, right) = &literal.rest[0];
                        Row::of(&literal.first, *comparison, right)
                    })
                    .collect();
                let Some(mut rows) = rows else { continue };
                let Some(new) = new_calls(&rows, calls, self.declarations) else {
                    continue;
                };
                if new.is_empty() {
                    continue;
                }
                let count = new
                    .iter()
                    .filter(|n| !self.choices.created.contains_key(*n));
                if self.choices.created.len() + count.count() > MOST_CREATED {
                    self.spent.get_or_insert(Budget::Calls);
                    continue;
                }
                let outside: Option<Vec<Vec<Row>>> =
                    new.iter().map(|call| self.outside(call)).collect();
                let Some(outside) = outside else { continue };
                rows.extend(outside.into_iter().flatten());
                for call in new {
                    self.choices.created.entry(call).or_insert(generation + 1);
                }
                self.open(rows.into_iter().map(Some));
            }
        }
    }

    /// The comparisons of which one holds if a call is outside of its domain; `None` if they are
    /// unknown.
    fn outside(&self, call: &Atom) -> Option<Vec<Row>> {
        let Atom::Call(name, arguments) = call else {
            return Some(Vec::new());
        };
        let domain = self.declarations.function(name)?.domain_at(arguments)?;
        let outside = domain.iter().map(|link| {
            let (comparison, right) = &link.rest[0];
            Row::of(&link.first, comparison.negated(), right)
        });
        outside.collect()
    }

    /// Opens a choice of rows, unless one of them is none or holds anyway.
    fn open(&mut self, rows: impl IntoIterator<Item = Option<Row>>) {
        let mut members = Vec::new();
        let mut from = Sources::NONE;
        for row in rows {
            let Some(row) = row else { return };
            row.sum
                .visit(&mut |atom| from = from.and(self.choices.reason(atom)));
            let linear = self.system.linear(&row);
            let Some(opposite) = linear.negated().filter(|_| !holds(&row)) else {
                return;
            };
            members.push(Member { row, opposite });
        }
        let rows = members.iter().map(|member| member.opposite.clone());
        if self.choices.made.insert(rows.collect()) {
            self.choices.open.push(Choice { members, from });
        }
    }
}

/// Whether a row of a number alone holds.
fn holds(row: &Row) -> bool {
    row.sum.value().is_some_and(|value| match row.sign {
        Sign::Zero => value == 0,
        Sign::NonNegative => value >= 0,
        Sign::NonZero => value != 0,
    })
}

/// Whether all calls of a row are among these; keys have values by declaration.
fn speaks_of(row: &Row, calls: &BTreeSet<Atom>, known: &Declarations) -> bool {
    let mut speaks = true;
    row.sum.visit(&mut |atom| {
        speaks &= match atom {
            Atom::Call(name, _) => known.is_key(name) || calls.contains(atom),
            _ => !atom.is_partial(),
        }
    });
    speaks
}

/// The variables of a clause, if a call matches this pattern and determines all of them.
fn matched(pattern: &Expression, call: &Atom, n_variables: usize) -> Option<Vec<Expression>> {
    let (Expression::Call(name, arguments), Atom::Call(called, values)) = (pattern, call) else {
        return None;
    };
    if **called != **name || values.len() != arguments.len() {
        return None;
    }
    let mut found: Vec<Option<Polynomial>> = vec![None; n_variables];
    for (argument, value) in arguments.iter().zip(&**values) {
        let pattern = Polynomial::of(argument)?;
        if pattern.variables().is_empty() {
            if pattern != *value {
                return None;
            }
            continue;
        }
        let (variable, offset) = shifted(&pattern)?;
        let here = value.plus(-1, &offset)?;
        match &mut found[variable.index()] {
            Some(before) if *before != here => return None,
            place => *place = Some(here),
        }
    }
    let found: Option<Vec<Polynomial>> = found.into_iter().collect();
    Some(found?.iter().map(Polynomial::to_expression).collect())
}

/// The calls of rows that are not in `calls`; `None` if a quotient may have no value.
fn new_calls(rows: &[Row], calls: &BTreeSet<Atom>, known: &Declarations) -> Option<BTreeSet<Atom>> {
    let mut new = BTreeSet::new();
    let mut is_known = true;
    for row in rows {
        row.sum.visit(&mut |atom| match atom {
            Atom::Call(name, _) if known.is_key(name) => {}
            Atom::Call(..) if !calls.contains(atom) => {
                new.insert(atom.clone());
            }
            Atom::Call(..) => {}
            _ => is_known &= !atom.is_partial(),
        });
    }
    is_known.then_some(new)
}

/// The variable and the constant of a sum such as `x + 1`.
fn shifted(pattern: &Polynomial) -> Option<(Variable, Polynomial)> {
    let variables = pattern.variables();
    let (1, Some(variable)) = (variables.len(), variables.first()) else {
        return None;
    };
    let alone = Polynomial::atom(Atom::Variable(*variable));
    let offset = pattern.plus(-1, &alone)?;
    offset.value().is_some().then_some((*variable, offset))
}

/// For `f(x + 1)` in a choice and `f(a)` in a row, `a - 1` may be `x`.
fn collect_candidates(
    name: &str,
    arguments: &[Expression],
    calls: &BTreeSet<Atom>,
    candidates: &mut [BTreeSet<Polynomial>],
) {
    for (at, argument) in arguments.iter().enumerate() {
        let Some(pattern) = Polynomial::of(argument) else {
            continue;
        };
        let Some((variable, offset)) = shifted(&pattern) else {
            continue;
        };
        for call in calls {
            let Atom::Call(called, values) = call else {
                continue;
            };
            if **called == *name && values.len() == arguments.len() {
                candidates[variable.index()].extend(values[at].plus(-1, &offset));
            }
        }
    }
}
