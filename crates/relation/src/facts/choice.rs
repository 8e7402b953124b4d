//! What declared choices give for the terms at hand.
//!
//! Monotonicity, injectivity and quantifiers are choices of which one member
//! holds, whatever their variables are, and so is that equal arguments have equal
//! values:
//!
//! ```text
//! f nondecreasing      a > b  or  f(a) <= f(b)
//! ```
//!
//! For `f(i)` and `f(j + 1)` in the rows, `a` and `b` are tried as `i` and
//! `j + 1`. Where all members but one are refuted, that one holds.

use std::collections::BTreeSet;

use sparsec_base::arena::Id;

use super::{Facts, MOST_ROUNDS};
use crate::declarations::{Clause, Declarations};
use crate::expression::{Constraint, Expression, Values};
use crate::key;
use crate::linear::{Except, Linear, Sources};
use crate::polynomial::{Atom, Polynomial, Row, Sign};

/// Terms for which one declared choice is tried.
const MOST_INSTANCES: usize = 600;

/// Choices that are open.
pub(super) struct Choices {
    clauses: Vec<Clause>,
    /// How many calls there were when instances were made last.
    n_calls: usize,
    made: BTreeSet<Vec<Linear>>,
    open: Vec<Vec<Member>>,
    /// Those of which a member was taken, with what that follows from.
    taken: Vec<(Vec<Member>, Sources)>,
}

#[derive(Clone)]
struct Member {
    row: Row,
    /// What refutes it.
    opposite: Linear,
}

impl Choices {
    pub(super) fn of(declarations: &Declarations) -> Self {
        Self {
            clauses: declarations.clauses(),
            n_calls: 0,
            made: BTreeSet::new(),
            open: Vec::new(),
            taken: Vec::new(),
        }
    }
}

impl Facts<'_> {
    /// Takes the one member of a choice that is left, for terms that fit.
    pub(super) fn hold_choices(&mut self) -> bool {
        self.make_choices();
        let mut new = false;
        for members in std::mem::take(&mut self.choices.open) {
            match self.left(&members, Except::default()) {
                Some((row, from)) => {
                    new |= self.hold(Some(row), from);
                    self.choices.taken.push((members, from));
                }
                None => self.choices.open.push(members),
            }
        }
        new
    }

    /// Takes the members again that were taken because of given rows, as far as the
    /// others suffice for that.
    pub(super) fn retake(&mut self, without: Sources) {
        let except = Except {
            sources: without,
            given: None,
        };
        for _ in 0..MOST_ROUNDS {
            let mut taken = std::mem::take(&mut self.choices.taken);
            let mut new = false;
            for (members, from) in taken.iter_mut().filter(|(_, from)| from.meet(without)) {
                if let Some((row, others)) = self.left(members, except) {
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

    /// The one member that is not refuted, and what the others are refuted by.
    fn left(&mut self, members: &[Member], except: Except) -> Option<(Row, Sources)> {
        let mut from = Sources::NONE;
        let mut left = None;
        for member in members {
            match self.trial(&member.opposite, except) {
                Some(sources) => from = from.and(sources),
                None if left.is_some() => return None,
                None => left = Some(member.row.clone()),
            }
        }
        // A choice of which nothing is left contradicts the rows.
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
        if calls.len() == self.choices.n_calls {
            return;
        }
        self.choices.n_calls = calls.len();
        for clause in std::mem::take(&mut self.choices.clauses) {
            self.make_instances(&clause, &calls);
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
                } else {
                    let pairs = xs.iter().zip(&**ys).filter(|(x, y)| x != y);
                    let differ = pairs.map(|(x, y)| compared(x, y, Sign::NonZero));
                    self.open(differ.chain([compared(&a, &b, Sign::Zero)]));
                }
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
        if n_instances.is_none_or(|n| n == 0 || n > MOST_INSTANCES) {
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
                speaks_of(&row, calls).then_some(row)
            });
            self.open(rows);
        }
    }

    /// Opens a choice of rows, unless one of them is none or holds anyway.
    fn open(&mut self, rows: impl IntoIterator<Item = Option<Row>>) {
        let mut members = Vec::new();
        for row in rows {
            let Some(row) = row else { return };
            let linear = self.system.linear(&row);
            let Some(opposite) = linear.negated().filter(|_| !holds(&row)) else {
                return;
            };
            members.push(Member { row, opposite });
        }
        let rows = members.iter().map(|member| member.opposite.clone());
        if self.choices.made.insert(rows.collect()) {
            self.choices.open.push(members);
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
fn speaks_of(row: &Row, calls: &BTreeSet<Atom>) -> bool {
    let mut known = true;
    row.sum.visit(&mut |atom| {
        known &= match atom {
            Atom::Call(name, _) => key::is_variadic(name) || calls.contains(atom),
            _ => !atom.is_partial(),
        }
    });
    known
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
        let variables = pattern.variables();
        let (1, Some(variable)) = (variables.len(), variables.first()) else {
            continue;
        };
        let alone = Polynomial::atom(Atom::Variable(*variable));
        let Some(offset) = pattern
            .plus(-1, &alone)
            .filter(|rest| rest.value().is_some())
        else {
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
