//! What declared choices give for the terms at hand.
//!
//! Monotonicity, injectivity and quantifiers are choices of which one member
//! holds, whatever their variables are:
//!
//! ```text
//! f nondecreasing      a > b  or  f(a) <= f(b)
//! ```
//!
//! For `f(i)` and `f(j + 1)` in the rows, `a` and `b` are tried as `i` and
//! `j + 1`. Where all members but one are refuted, that one holds.

use std::collections::BTreeSet;

use sparsec_base::arena::Id;

use super::Facts;
use crate::declarations::Clause;
use crate::expression::{Constraint, Expression, Values};
use crate::key;
use crate::polynomial::{Atom, Polynomial, Row, Sign};

/// Terms for which one declared choice is tried.
const MOST_INSTANCES: usize = 600;

impl Facts<'_> {
    /// Takes the one member of a choice that is left, for terms that fit.
    pub(super) fn hold_clause(&mut self, clause: &Clause) -> bool {
        let calls: BTreeSet<Atom> = self
            .atoms()
            .into_iter()
            .filter(|atom| matches!(atom, Atom::Call(..)))
            .collect();
        let mut candidates = vec![BTreeSet::new(); clause.n_variables];
        for e in clause.literals.iter().flat_map(Constraint::expressions) {
            e.visit(&mut |e| {
                if let Expression::Call(name, arguments) = e {
                    collect_candidates(name, arguments, &calls, &mut candidates);
                }
            });
        }
        let n_instances = candidates
            .iter()
            .try_fold(1usize, |n, terms| n.checked_mul(terms.len()));
        if n_instances.is_none_or(|n| n == 0 || n > MOST_INSTANCES) {
            return false;
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
        let mut new = false;
        for instance in instances {
            new |= self.hold_instance(clause, &instance, &calls);
        }
        new
    }

    fn hold_instance(
        &mut self,
        clause: &Clause,
        instance: &[Expression],
        calls: &BTreeSet<Atom>,
    ) -> bool {
        let mut rows = Vec::new();
        for literal in &clause.literals {
            let literal = literal.rewritten(&Values(instance));
            for (left, comparison, right) in literal.links() {
                let Some(row) = Row::of(left, comparison, right) else {
                    return false;
                };
                if !speaks_of(&row, calls) {
                    return false;
                }
                rows.push(row);
            }
        }
        let mut left = None;
        for row in rows {
            if row.negated().is_some_and(|denied| self.trial(&denied)) {
                continue;
            }
            if left.is_some() {
                return false;
            }
            left = Some(row);
        }
        // A choice of which nothing is left contradicts the rows.
        self.hold(Some(left.unwrap_or(Row {
            sum: Polynomial::integer(-1),
            sign: Sign::NonNegative,
        })))
    }
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
            if called == name && values.len() == arguments.len() {
                candidates[variable.index()].extend(values[at].plus(-1, &offset));
            }
        }
    }
}
