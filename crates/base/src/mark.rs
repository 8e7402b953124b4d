//! Marks of loops: how a back end may run them.
//!
//! ```text
//! for i in 0..A.n0 unroll 4 parallel(CPUThread, NoRaces) { … }
//! ```
//!
//! A mark never changes what a function computes: an engine that passes over
//! it runs the loop as it stands, iteration after iteration. It says what an
//! engine *may* do, and who wrote it has made sure that this is right:
//!
//! | mark                  | an engine may                                          |
//! |-----------------------|--------------------------------------------------------|
//! | `unroll N`            | write the body `N` times for each turn                 |
//! | `parallel(U, NoRaces)` | run iterations at once on units of kind `U`: none writes what another reads or writes |
//! | `… IgnoreRaces)`      | the same                                               |
//! | `… Atomics)`          | do so if stores that combine are atomic                |
//! | `… Temporary)`        | do so if each unit combines into a copy, added up afterwards |
//! | `… ParallelReduction)` | do so if each unit has its own value of a reduced scalar, combined afterwards |
//! | `chunks`              | hand its iterations to units, as they stand              |
//!
//! The same words stand in schedules, in concrete notation and in the loop IR.
//! There the verifier asks of a parallel loop that its body assigns no variable
//! of outside, unless its strategy combines, and that it neither grows nor
//! resizes an array.
//!
//! In the loop IR a pass divides parallel loops into `chunks`: how many there are
//! and where they end follows from sizes, what each unit has to itself is said, and
//! what chunks combine is combined in their order. So an engine has nothing left to
//! choose but how many chunks it runs at once, and results do not depend on that.
//!
//! Source: the words are those of TACO's scheduling language; Senanayake et al.,
//! "A Sparse Iteration Space Transformation Framework for Sparse Tensor
//! Algebra", OOPSLA 2020, <https://doi.org/10.1145/3428226>.

use std::fmt;

/// How a back end may run a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mark {
    /// How many times to write the body for each turn; 0 is as the engine likes, and 1
    /// keeps the loop as it is written, for few turns.
    pub unroll: u32,
    /// Whether iterations may run at once.
    pub parallel: Option<Parallel>,
    /// Whether each iteration is a chunk of work for a unit.
    pub chunks: bool,
}

/// How iterations may run at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parallel {
    /// What they run on.
    pub unit: Unit,
    /// What keeps them from disturbing one another.
    pub races: Races,
}

/// What iterations run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Threads.
    CpuThread,
    /// Lanes of vectors.
    CpuVector,
}

/// What keeps iterations that run at once from disturbing one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Races {
    /// There is nothing to be kept from.
    NoRaces,
    /// Nothing has to.
    IgnoreRaces,
    /// Stores that combine are atomic.
    Atomics,
    /// Each unit combines into a copy of its own.
    Temporary,
    /// Each unit has its own value of a reduced scalar.
    ParallelReduction,
}

impl Unit {
    /// All units.
    pub const ALL: [Self; 2] = [Self::CpuThread, Self::CpuVector];

    /// The unit with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|unit| unit.name() == name)
    }

    /// The name, such as `CPUThread`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CpuThread => "CPUThread",
            Self::CpuVector => "CPUVector",
        }
    }
}

impl Races {
    /// All strategies.
    pub const ALL: [Self; 5] = [
        Self::NoRaces,
        Self::IgnoreRaces,
        Self::Atomics,
        Self::Temporary,
        Self::ParallelReduction,
    ];

    /// The strategy with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|races| races.name() == name)
    }

    /// The name, such as `NoRaces`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoRaces => "NoRaces",
            Self::IgnoreRaces => "IgnoreRaces",
            Self::Atomics => "Atomics",
            Self::Temporary => "Temporary",
            Self::ParallelReduction => "ParallelReduction",
        }
    }
}

/// The marks with a space before each, as they stand behind a loop's bounds.
impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.unroll > 0 {
            write!(f, " unroll {}", self.unroll)?;
        }
        if let Some(Parallel { unit, races }) = self.parallel {
            write!(f, " parallel({}, {})", unit.name(), races.name())?;
        }
        if self.chunks {
            write!(f, " chunks")?;
        }
        Ok(())
    }
}
