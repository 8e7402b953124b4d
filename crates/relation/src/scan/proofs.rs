//! What follows from rows, for the questions that making loops asks.
//!
//! ```text
//! 0 <= i, i < N      does 0 <= pos(i) hold?     the consequences, and the answer
//! 0 <= i, i < N      does i + 1 <= N hold?      the same consequences
//! 0 <= i, i < N      does 0 <= pos(i) hold?     the same answer
//! ```
//!
//! Items that share loops have the same context, and tests are tried before one is chosen. So most
//! questions come again.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::declarations::Declarations;
use crate::facts::Facts;
use crate::polynomial::{Polynomial, Row, Sign};

/// Consequences of rows, and answers that follow from them.
pub(super) struct Proofs<'a> {
    pub(super) declarations: &'a Declarations,
    known: RefCell<BTreeMap<Vec<Row>, Rc<Known<'a>>>>,
}

struct Known<'a> {
    facts: Facts<'a>,
    answers: RefCell<BTreeMap<Row, bool>>,
}

impl<'a> Proofs<'a> {
    pub(super) fn new(declarations: &'a Declarations) -> Self {
        Self {
            declarations,
            known: RefCell::default(),
        }
    }

    /// Calls `ask` with the rows and all that follows from them.
    pub(super) fn of<R>(&self, rows: &[Row], ask: impl FnOnce(&Facts<'a>) -> R) -> R {
        ask(&self.known(rows).facts)
    }

    fn known(&self, rows: &[Row]) -> Rc<Known<'a>> {
        if let Some(known) = self.known.borrow().get(rows) {
            return Rc::clone(known);
        }
        // What follows from fewer rows follows from these.
        let before = (1..rows.len()).rev().find_map(|n| {
            let known = self.known.borrow();
            Some((Rc::clone(known.get(&rows[..n])?), n))
        });
        let facts = match before {
            Some((known, n)) => known.facts.under(&rows[n..]),
            None => Facts::of_rows(rows.iter().cloned(), self.declarations),
        };
        let known = Rc::new(Known {
            facts,
            answers: RefCell::default(),
        });
        let mut all = self.known.borrow_mut();
        Rc::clone(all.entry(rows.to_vec()).or_insert(known))
    }

    /// Whether a row is known to hold where a context does. Its calls have values.
    pub(super) fn holds(&self, context: &[Row], row: &Row) -> bool {
        if let Some(value) = row.sum.value() {
            return match row.sign {
                Sign::Zero => value == 0,
                Sign::NonNegative => value >= 0,
                Sign::NonZero => value != 0,
            };
        }
        if context.contains(row) {
            return true;
        }
        let known = self.known(context);
        if let Some(answer) = known.answers.borrow().get(row) {
            return *answer;
        }
        let refuted = |sum: Option<Polynomial>, sign| {
            sum.is_some_and(|sum| known.facts.excludes(&[Row { sum, sign }]))
        };
        let below = || Polynomial::integer(-1).plus(-1, &row.sum);
        let above = || Polynomial::integer(-1).plus(1, &row.sum);
        let answer = match row.sign {
            Sign::NonNegative => refuted(below(), Sign::NonNegative),
            Sign::Zero => {
                refuted(below(), Sign::NonNegative) && refuted(above(), Sign::NonNegative)
            }
            Sign::NonZero => refuted(Some(row.sum.clone()), Sign::Zero),
        };
        known.answers.borrow_mut().insert(row.clone(), answer);
        answer
    }
}
