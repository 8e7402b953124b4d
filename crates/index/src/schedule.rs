//! Commands that rewrite concrete notation without changing what it means.
//!
//! | command                          | does                                                     |
//! |----------------------------------|----------------------------------------------------------|
//! | `reorder(i, k, j)`               | puts loops that are directly inside one another in this order |
//! | `precompute(EXPR, {j}, w)`       | collects a reduction of `EXPR` in a workspace `w(j)`     |
//! | `convert(A(i,k), FORMAT)`        | reads these accesses from a copy of `A` in another format |
//! | `convert(A, FORMAT)`             | reads every access of `A` from such a copy               |
//!
//! A schedule is a list of commands, separated by newlines or `;`. Planning
//! states its choices as commands, so that every plan can be printed, changed
//! by hand and replayed:
//!
//! ```text
//! forall i: forall j: forall k: C(i,j) += A(i,k) * B(k,j)
//!
//!   reorder(i, k, j)
//!   precompute(A(i,k) * B(k,j), {j}, w)
//!
//! forall i: where(
//!   forall j: C(i,j) = w(j),
//!   forall k: forall j: w(j) += A(i,k) * B(k,j))
//! ```
//!
//! Behind the name of a workspace may stand how it is kept, as in `w : hashed`; see
//! [`workspace`](crate::workspace).
//!
//! Reordering loops and collecting in workspaces changes the order in which
//! values are reduced and nothing else: reductions commute.

mod apply;
mod parse;
mod precompute;
#[cfg(test)]
mod tests;

use std::fmt;

use sparsec_base::{Result, Source};
use sparsec_format::FormatSpec;

use crate::concrete::Concrete;
use crate::notation::{Node, Word};
use crate::workspace::WorkspaceKind;

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
        /// The loops in their new order, the outermost first.
        vars: Vec<Name>,
    },
    /// `precompute(EXPR, {j}, w)` or `precompute(EXPR, {j}, w : hashed)`
    Precompute {
        /// What is reduced: the right side of a reducing assignment.
        expr: Node,
        /// The modes of the workspace.
        vars: Vec<Name>,
        /// The name of the workspace.
        workspace: Name,
        /// How it is kept, where that is said.
        kind: Option<WorkspaceKind>,
    },
    /// `convert(A, FORMAT)` or `convert(A(j,i), FORMAT)`
    Convert {
        /// The tensor.
        tensor: Name,
        /// Which of its accesses; all of them where not given.
        indices: Option<Vec<Name>>,
        /// The format of the copy.
        format: FormatSpec,
    },
}

/// Commands in the order in which they are applied.
#[derive(Clone, Debug, Default)]
pub struct Schedule(pub Vec<Command>);

impl Schedule {
    /// Applies every command in turn.
    ///
    /// # Errors
    /// As [`Command::apply`].
    pub fn apply(&self, concrete: &Concrete) -> Result<Concrete> {
        let apply = |concrete: Concrete, command: &Command| command.apply(&concrete);
        self.0.iter().try_fold(concrete.clone(), apply)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.word.text)
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reorder { vars } => write!(f, "reorder({})", list(vars, ", ")),
            Self::Precompute {
                expr,
                vars,
                workspace,
                kind,
            } => {
                let vars = list(vars, ", ");
                write!(f, "precompute({expr}, {{{vars}}}, {workspace}")?;
                if let Some(kind) = kind {
                    write!(f, " : {kind}")?;
                }
                f.write_str(")")
            }
            Self::Convert {
                tensor,
                indices,
                format,
            } => {
                write!(f, "convert({tensor}")?;
                if let Some(indices) = indices {
                    write!(f, "({})", list(indices, ","))?;
                }
                write!(f, ", {format})")
            }
        }
    }
}

fn list(names: &[Name], separator: &str) -> String {
    let names: Vec<&str> = names.iter().map(|name| name.word.text.as_str()).collect();
    names.join(separator)
}

/// One command a line.
impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, command) in self.0.iter().enumerate() {
            if number > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{command}")?;
        }
        Ok(())
    }
}
