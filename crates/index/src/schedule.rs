//! wip
use crate::concrete::Concrete;
use crate::notation::{Node, Word};
use sparsec_base::{Result, Source};
use sparsec_format::FormatSpec;

/// A name in a schedule and its place.
#[derive(Clone, Debug)]
pub struct Name {
    /// The name.
    pub word: Word,
    /// The text of the schedule.
    pub source: Source,
}

/// One command.
#[derive(Clone, Debug)]
pub enum Command {
    /// `reorder(i, k, j)`
    Reorder {
        /// The loops in their new order.
        vars: Vec<Name>,
    },
    /// `precompute(EXPR, {j}, w)`
    Precompute {
        /// What is computed.
        expr: Node,
        /// The modes of the workspace.
        vars: Vec<Name>,
        /// The name of the workspace.
        workspace: Name,
    },
    /// `convert(A, FORMAT)` or `convert(A(j,i), FORMAT)`
    Convert {
        /// The tensor.
        tensor: Name,
        /// Which of its accesses; all where not given.
        indices: Option<Vec<Name>>,
        /// The format.
        format: FormatSpec,
    },
}

/// Commands in order.
#[derive(Clone, Debug, Default)]
pub struct Schedule(pub Vec<Command>);

impl Schedule {
    /// Reads a schedule.
    pub fn parse(source: &Source) -> Result<Self> {
        let _ = source;
        unimplemented!()
    }
    /// Applies every command.
    pub fn apply(&self, concrete: &Concrete) -> Result<Concrete> {
        self.0
            .iter()
            .try_fold(concrete.clone(), |concrete, command| {
                command.apply(&concrete)
            })
    }
}

impl Command {
    /// Applies the command.
    pub fn apply(&self, concrete: &Concrete) -> Result<Concrete> {
        let _ = concrete;
        unimplemented!()
    }
}

impl std::fmt::Display for Command {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        unimplemented!()
    }
}
impl std::fmt::Display for Schedule {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        unimplemented!()
    }
}
