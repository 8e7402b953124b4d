//! How long a plan is searched for: as long as a better one may save more than that takes.
//!
//! Each candidate takes about as long as its statement has places where a loop meets an
//! operand. A search goes on while it has taken a small share of the time of the best plan
//! known. It does not look at a clock, so that the same statement always has the same plan.

use std::cell::Cell;

use sparsec_index::Concrete;

/// The time of a candidate for each loop and each operand, in nanoseconds, and of the format of
/// a copy.
/// Source: products of three to eight sparse matrices, 4 to 6 µs (`sparsec bench latency`).
const CANDIDATE: f64 = 5e3;

/// The share of the time of the best plan that a search for a better one may take.
const SHARE: f64 = 0.05;

/// A search takes at least this long, if it has so many candidates: a plan that is
/// thought to be quick may run often. In nanoseconds.
const LEAST: f64 = 20e6;

/// A search takes no longer than this, however long the plan takes.
const MOST: f64 = 200e6;

/// The time of a search so far, as estimated from its candidates.
#[derive(Debug, Default)]
pub(crate) struct Effort {
    nanoseconds: Cell<f64>,
}

impl Effort {
    /// Takes in an order of loops, for which so many copies of operands are looked at.
    pub(crate) fn spend_on_copies(&self, n: usize) {
        self.nanoseconds
            .set(self.nanoseconds.get() + CANDIDATE * n as f64);
    }

    /// Takes in a candidate for a statement.
    pub(crate) fn spend_on(&self, concrete: &Concrete) {
        let mut places = 0;
        concrete.stmt.for_each_assign(&mut |_, _, rhs| {
            rhs.for_each_access(&mut |_| places += 1);
        });
        let places = (places + 1) * concrete.stmt.loops().len().max(1);
        let nanoseconds = CANDIDATE * places as f64;
        self.nanoseconds.set(self.nanoseconds.get() + nanoseconds);
    }

    /// Whether looking further is worth it where a plan is known that takes so long.
    pub(crate) fn is_worth_more(&self, least: f64) -> bool {
        self.nanoseconds.get() < (SHARE * least).clamp(LEAST, MOST)
    }
}
