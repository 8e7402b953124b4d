//! Budgets of proofs.
//!
//! Proofs are searched for within limits, so that a question costs little even where
//! nothing can be proved. A limit that was reached is part of the
//! [`Answer`](crate::Answer): what is not known might follow with more work.

use std::fmt;

use crate::facts::{MOST_CREATED, MOST_FACTS, MOST_INSTANCES, MOST_ROUNDS, MOST_TRIALS};

/// A limit of a proof that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Budget {
    /// How often conclusions are drawn from conclusions.
    Rounds,
    /// How many conclusions are tried.
    Proofs,
    /// How many comparisons are held.
    Rows,
    /// For how many terms one declaration is tried.
    Instances,
    /// How many calls quantifiers may bring in.
    Calls,
    /// The steps, or the size of numbers, of one search for integers.
    Search,
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rounds => write!(f, "{MOST_ROUNDS} rounds of conclusions"),
            Self::Proofs => write!(f, "{MOST_TRIALS} tried conclusions"),
            Self::Rows => write!(f, "{MOST_FACTS} comparisons"),
            Self::Instances => write!(f, "{MOST_INSTANCES} instances of one declaration"),
            Self::Calls => write!(f, "{MOST_CREATED} calls that quantifiers bring in"),
            Self::Search => f.write_str("one search for integers"),
        }
    }
}

impl Budget {
    /// A sentence for a note of a diagnostic.
    ///
    /// ```
    /// use sparsec_relation::Budget;
    /// assert_eq!(
    ///     Budget::Rounds.note(),
    ///     "the proof ran out of its budget of 4 rounds of conclusions",
    /// );
    /// ```
    pub fn note(self) -> String {
        format!("the proof ran out of its budget of {self}")
    }
}
