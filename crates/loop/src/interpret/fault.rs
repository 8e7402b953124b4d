//! How a run can break the rules.

use std::fmt;

/// A kernel broke the rules of the loop IR: a fault of whoever wrote the
/// kernel, never of its data. Compare [`Failure`](crate::Failure), the
/// kernel's own error exits.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Which rule.
    pub kind: FaultKind,
    /// The first line of the statement that broke it; empty for the function
    /// as a whole.
    pub statement: String,
}

/// The rule that a [`Fault`] broke. Buffers are given by name.
#[derive(Clone, Debug, PartialEq)]
pub enum FaultKind {
    /// The arguments given do not fit the function's signature.
    Signature(String),
    /// An access outside a buffer that has room for `len` entries.
    OutOfBounds {
        /// The buffer.
        buffer: String,
        /// The entry asked for.
        index: i64,
        /// How many entries there is room for.
        len: usize,
    },
    /// A read of an entry that was never stored, or a result that holds one.
    Undefined {
        /// The buffer.
        buffer: String,
        /// The entry.
        index: usize,
    },
    /// A length below zero.
    NegativeLength {
        /// The buffer.
        buffer: String,
        /// The length.
        len: i64,
    },
    /// A second `alloc` of a workspace.
    AllocatedTwice(String),
    /// A second `resize` of a result array.
    ResizedTwice(String),
    /// An entry that two chunks of one loop touch, one of which writes it.
    Race {
        /// The buffer.
        buffer: String,
        /// The entry.
        index: usize,
    },
    /// A return without the `resize` of a result array.
    NotResized(String),
    /// The run took more steps than it was given.
    StepLimit(u64),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            FaultKind::Signature(why) => f.write_str(why)?,
            FaultKind::OutOfBounds { buffer, index, len } => {
                write!(f, "entry {index} of `{buffer}`, which has room for {len}")?;
            }
            FaultKind::Undefined { buffer, index } => {
                write!(f, "entry {index} of `{buffer}` was never stored")?;
            }
            FaultKind::NegativeLength { buffer, len } => {
                write!(f, "`{buffer}` is to have {len} entries")?;
            }
            FaultKind::AllocatedTwice(buffer) => write!(f, "`{buffer}` is allocated twice")?,
            FaultKind::ResizedTwice(buffer) => write!(f, "`{buffer}` is resized twice")?,
            FaultKind::Race { buffer, index } => {
                write!(f, "two chunks touch entry {index} of `{buffer}`")?;
            }
            FaultKind::NotResized(buffer) => write!(f, "`{buffer}` is never resized")?,
            FaultKind::StepLimit(limit) => write!(f, "more than {limit} steps")?,
        }
        if !self.statement.is_empty() {
            write!(f, ", in `{}`", self.statement)?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}
