//! Random programs: expressions × formats × types × schedules × small integer
//! data, on the interpreter, as code in memory and as compiled C, against the dense
//! oracle.
//!
//! ```text
//! seed ──► program ─┬─► compile, run ──────────────────────► agrees? ◄── oracle
//!                   ├─► again, its workspaces hashed ──────►
//!                   └─► again, its plan with random commands ►
//! ```
//!
//! Every program has a seed of its own, so that one that went wrong can be run
//! again alone. Values are small integers, so that nearly every result is exact
//! and the comparison is of bits, patterns included.
//!
//! | module         | makes or does                                        |
//! |----------------|------------------------------------------------------|
//! | `call`         | calls of the program, with the expected answer       |
//! | `expression`   | operators, calls and reductions over operands        |
//! | `index`        | what stands at a mode of an access                   |
//! | `meaning`      | reductions over variables that their bodies use      |
//! | `left`         | what stands at a mode of a part that is assigned     |
//! | `format`       | how a tensor is stored                               |
//! | `huge`         | programs over extents that nothing may have the size of |
//! | `operand`      | a format, a type, and entries                        |
//! | `program`      | statements, and the request for them                 |
//! | `spelling`     | other programs that say the same                     |
//! | `check`        | a program on every engine, compared with the oracle  |
//! | `tally`        | counts of what became of programs                    |
//!
//! A program without a schedule of the user that planning refuses is a failure, as a
//! program with a wrong result is.

use std::cell::RefCell;
use std::fmt;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

mod call;
mod check;
mod expression;
mod format;
mod huge;
mod index;
mod left;
mod meaning;
mod operand;
mod program;
mod spelling;
mod tally;

pub use call::{Call, reads_as};
use check::Engines;
pub use format::OTHERS as FORMATS;
use program::Case;
pub use tally::Tally;

/// One program in so many runs as C too: a compile takes tens of milliseconds.
const C_EVERY: u64 = 15;

/// Runs random programs, and counts what becomes of them.
pub struct Random {
    cases: BoxedStrategy<Case>,
    engines: Engines,
    tally: RefCell<Tally>,
}

/// A program whose result is not the oracle's, or that broke something.
#[derive(Debug)]
pub struct Failure {
    /// What makes this program.
    pub seed: u64,
    why: String,
    program: String,
}

impl Random {
    /// Nothing has run yet.
    ///
    /// # Panics
    /// If there is no room for a scratch directory.
    pub fn new() -> Self {
        Self {
            cases: program::any().boxed(),
            engines: Engines::new(),
            tally: RefCell::default(),
        }
    }

    /// Runs the program of this seed.
    ///
    /// # Errors
    /// The smallest program found that goes wrong as this one does.
    pub fn run(&self, seed: u64) -> Result<(), Failure> {
        let config = Config {
            cases: 1,
            failure_persistence: None,
            max_shrink_iters: 4000,
            // In milliseconds.
            max_shrink_time: 60_000,
            ..Config::default()
        };
        let as_c = seed.is_multiple_of(C_EVERY);
        let ended = TestRunner::new_with_rng(config, rng(seed)).run(&self.cases, |case| {
            check::check(&case, &self.engines, as_c, &mut self.tally.borrow_mut())
                .map_err(TestCaseError::fail)
        });
        ended.map_err(|error| match error {
            TestError::Fail(why, case) => Failure {
                seed,
                why: why.message().to_owned(),
                program: case.to_string(),
            },
            TestError::Abort(why) => Failure {
                seed,
                why: why.message().to_owned(),
                program: String::new(),
            },
        })
    }

    /// The program of this seed as a call, if options say all of it.
    pub fn call(&self, seed: u64) -> Option<Call> {
        let mut runner = TestRunner::new_with_rng(Config::default(), rng(seed));
        let case = self.cases.new_tree(&mut runner).ok()?.current();
        call::of(&case, self.engines.functions())
    }

    /// What became of the programs so far.
    pub fn tally(&self) -> Tally {
        self.tally.borrow().clone()
    }
}

/// What draws the program of a seed.
fn rng(seed: u64) -> TestRng {
    let mut bytes = [7; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}

impl Default for Random {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, why, program } = self;
        write!(
            f,
            "the program of seed {seed} goes wrong, as does this smaller one:\n\n\
             {program}\n{why}\n\nto run it again: cargo xtask soak --seed {seed} --programs 1"
        )
    }
}
