//! How long plans are searched for: as long as a better one may save more than that takes.
//!
//! Each candidate takes about as long as its statement has places where a loop meets an
//! operand. A search goes on while it has taken a small share of the time of the best plan
//! known, and the searches of a program together have not taken long. It does not look at a
//! clock, so that the same program always has the same plan.

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
const LEAST: f64 = 4e6;

/// A search takes no longer than this, however long the plan takes.
/// Source: `sparsec bench networks` has the same plans with 200 ms in place of 8.
const MOST: f64 = 8e6;

/// The searches of a program take no longer than this together, but for finding a first plan of
/// each statement.
const MOST_OF_PROGRAM: f64 = 80e6;

/// Whether a better plan may save more time than the shortest search takes. The known plan takes
/// `least` nanoseconds.
pub(crate) fn may_save_more(least: f64) -> bool {
    SHARE * least > LEAST
}

/// The time that the searches for the plans of a program have taken, as estimated from their
/// candidates.
#[derive(Debug, Default)]
pub struct Effort {
    nanoseconds: Cell<f64>,
}

impl Effort {
    /// Begins a search.
    pub(crate) fn begin(&self) -> Search<'_> {
        Search {
            of_program: self,
            begun: self.nanoseconds.get(),
        }
    }

    fn spend(&self, n_places: usize) {
        let nanoseconds = CANDIDATE * n_places as f64;
        self.nanoseconds.set(self.nanoseconds.get() + nanoseconds);
    }
}

/// One search, with the time that it has taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search<'a> {
    of_program: &'a Effort,
    begun: f64,
}

impl Search<'_> {
    /// Takes in an order of loops, for which so many copies of operands are looked at.
    pub(crate) fn spend_on_copies(&self, n: usize) {
        self.of_program.spend(n);
    }

    /// Takes in a candidate for a statement.
    pub(crate) fn spend_on(&self, concrete: &Concrete) {
        let mut places = 0;
        concrete.stmt.for_each_assign(&mut |_, _, rhs| {
            rhs.for_each_access(&mut |_| places += 1);
        });
        let n_loops = concrete.stmt.loops().len().max(1);
        self.of_program.spend((places + 1) * n_loops);
    }

    /// Whether looking further is worth it where a plan is known that takes so long.
    pub(crate) fn is_worth_more(&self, least: f64) -> bool {
        let all = self.of_program.nanoseconds.get();
        all < MOST_OF_PROGRAM && self.spent() < (SHARE * least).clamp(LEAST, MOST)
    }

    /// Whether the search for a first plan goes on.
    pub(crate) fn is_worth_a_plan(&self) -> bool {
        self.spent() < MOST
    }

    fn spent(&self) -> f64 {
        self.of_program.nanoseconds.get() - self.begun
    }
}
