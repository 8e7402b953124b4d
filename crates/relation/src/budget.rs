//! Budgets of proofs.
//!
//! The search for a proof has limits, so a question takes little time even if there is no proof. An
//! [`Answer`](crate::Answer) names a limit that the search reached: with a higher limit it might
//! find a proof.

use std::fmt;

use crate::facts::{MOST_CREATED, MOST_FACTS, MOST_INSTANCES, MOST_ROUNDS, MOST_TRIALS};

/// A limit that the search for a proof reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Budget {
    /// Rounds of conclusions from earlier conclusions.
    Rounds,
    /// Conclusions that the search tries to prove.
    Proofs,
    /// Comparisons that the search keeps.
    Rows,
    /// Instances of one declaration.
    Instances,
    /// Calls that quantifiers create.
    Calls,
    /// Steps of one integer search, or the size of its numbers.
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
    /// The budget as a sentence, for the note of a diagnostic.
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
