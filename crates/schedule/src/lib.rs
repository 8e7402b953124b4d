//! Commands that rewrite concrete notation without changing what it means.
//!
//! | command                          | does                                                     |
//! |----------------------------------|----------------------------------------------------------|
//! | `reorder(i, k, j)`               | puts loops that are directly inside one another in this order |
//! | `split(i, i0, i1, 32)`           | loops over blocks of 32 coordinates and within each      |
//! | `divide(i, i0, i1, 4)`           | loops over 4 blocks of equal size and within each        |
//! | `fuse(i, j, f)`                  | makes one loop of two that are directly inside one another |
//! | `skew(j, d, j - i + 2)`          | loops over the values of a sum in place of one of its variables |
//! | `deal(m, morton(i, j))`          | loops over places on a curve in place of coordinates     |
//! | `pos(j, p, A(i,j))`              | loops over the positions of `A(i,:)` instead of coordinates |
//! | `bound(i, ib, 64, MaxExact)`     | says, and checks, how far a loop runs                    |
//! | `unroll(i, 4)`                   | writes the body of a loop four times for each turn       |
//! | `parallelize(i, CPUThread, NoRaces)` | lets iterations run at once, where none disturbs another |
//! | `mergeby(i, Gallop)`             | leaps over coordinates that an intersection does not hold |
//! | `prefetch(j, B, 4)`              | fetches what the loop reads of `B` four turns later      |
//! | `assemble(A, Insert)`            | counts the entries of a result before inserting them     |
//! | `precompute(EXPR, {j}, w)`       | collects a reduction of `EXPR` in a workspace `w(j)`     |
//! | `precompute(FACTORS, {j}, w)`    | the same for some factors of what is reduced, the others multiplied later |
//! | `precompute(EXPR, j, jw, w)`     | the same, the workspace being computed by loops over `jw` |
//! | `fission(i)`                     | divides a loop around a `where` into one for each side   |
//! | `loopfuse(i)`                    | makes one loop of those around the sides of a `where`, or of two nests of a sequence |
//! | `store(w, hashed, i)`            | keeps a workspace so, anew in each iteration of a loop |
//! | `convert(A(i,k), FORMAT)`        | reads these accesses from a copy of `A` in another format |
//! | `convert(A, FORMAT)`             | reads every access of `A` from such a copy               |
//! | `levels(A, FORMAT)`              | names the coordinates of levels in accesses of `A`, which is stored so |
//! | `pieces(A, FORMAT)`              | reads the parts and mirror images that `A`, which is stored so, is the sum of |
//!
//! The last three rewrites follow a format; the others know nothing of formats.
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
//! [`workspace`](sparsec_index::workspace).
//!
//! Loops over derived variables leave accesses as they are: a clause behind the
//! statement says where their variables come from ([`Clause`]). Only what is one of
//! them is named so: after `split(i, i0, i1, 4)` the coordinate `i // 4` is `i0`.
//!
//! A program of several statements has a [`ProgramSchedule`], which says for which
//! statement its commands are.
//!
//! Reordering loops and collecting in workspaces changes the order in which
//! values are reduced and nothing else: reductions commute.

mod additive;
mod apply;
mod bound;
mod concrete;
mod convert;
mod deal;
mod expression;
mod fission;
mod fuse;
mod levels;
mod made;
mod mark;
mod nests;
mod parallelize;
mod parse;
mod pieces;
mod pos;
mod precompute;
mod program;
mod reorder;
mod skew;
mod split;
mod store;
#[cfg(test)]
mod tests;

use std::fmt;

use sparsec_base::{Result, Source, Span};
use sparsec_format::FormatSpec;
use sparsec_index::concrete::Clause;
use sparsec_index::{Concrete, UserFunction, WorkspaceKind};
use sparsec_notation::{Index, Node, Word};

pub use concrete::parse_concrete;
pub use precompute::{Factors, factors, product};
pub use program::{Place, ProgramSchedule, Said, Section};

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
    /// `precompute(EXPR, {j}, w)`, `precompute(EXPR, {j}, w : hashed)` or
    /// `precompute(EXPR, j, jw, w)`
    Precompute {
        /// What is computed apart.
        expr: Node,
        /// The modes of the workspace.
        vars: Vec<Name>,
        /// The variables of the loops that compute it, where they get names of
        /// their own; as many as modes.
        own: Option<Vec<Name>>,
        /// The name of the workspace; `w`, or that with a number, if there is none.
        workspace: Option<Name>,
        /// How it is kept, where that is said.
        kind: Option<WorkspaceKind>,
    },
    /// `fission(i)`
    Fission {
        /// The loop around a `where`.
        var: Name,
    },
    /// `loopfuse(i)`
    LoopFuse {
        /// The loops around both sides of a `where`.
        var: Name,
    },
    /// `store(w, hashed)` or `store(w, hashed, i)`
    Store {
        /// The workspace.
        workspace: Name,
        /// How it is kept.
        kind: WorkspaceKind,
        /// The loop in each iteration of which it begins anew, where that is said.
        place: Option<Name>,
    },
    /// A command that leaves a clause behind the statement.
    Clause {
        /// The clause, with names.
        clause: Clause<Name, Name>,
        /// The place of the command.
        span: Span,
    },
    /// `convert(A, FORMAT)` or `convert(A(j,i), FORMAT)`
    Convert {
        /// The tensor.
        tensor: Name,
        /// Which of its accesses; all of them where not given.
        indices: Option<Vec<Index>>,
        /// The format of the copy.
        format: FormatSpec,
    },
    /// `levels(A, FORMAT)`
    Levels {
        /// The tensor.
        tensor: Name,
        /// How it is stored.
        format: FormatSpec,
    },
    /// `pieces(A, FORMAT)`
    Pieces {
        /// The tensor.
        tensor: Name,
        /// How it is stored.
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

impl Command {
    /// Whether the command leaves loops and accesses as they are, and says only how
    /// they run or how the result is put together.
    pub fn is_mark(&self) -> bool {
        let Self::Clause { clause, .. } = self else {
            return false;
        };
        clause.derives().is_none()
    }

    /// Visits the functions of the user that the command calls.
    fn for_each_function(&self, visit: &mut dyn FnMut(&UserFunction)) {
        if let Self::Precompute { expr, .. } = self {
            expr.for_each_function(&mut |function| visit(function));
        }
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
                own,
                workspace,
                kind,
            } => {
                write!(f, "precompute({expr}, {{{}}}", list(vars, ", "))?;
                if let Some(own) = own {
                    write!(f, ", {{{}}}", list(own, ", "))?;
                }
                if let Some(workspace) = workspace {
                    write!(f, ", {workspace}")?;
                }
                if let Some(kind) = kind {
                    write!(f, " : {kind}")?;
                }
                f.write_str(")")
            }
            Self::Fission { var } => write!(f, "fission({var})"),
            Self::Store {
                workspace,
                kind,
                place,
            } => {
                write!(f, "store({workspace}, {kind}")?;
                match place {
                    Some(place) => write!(f, ", {place})"),
                    None => f.write_str(")"),
                }
            }
            Self::LoopFuse { var } => write!(f, "loopfuse({var})"),
            Self::Clause { clause, .. } => clause.fmt(f),
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
            Self::Levels { tensor, format } => write!(f, "levels({tensor}, {format})"),
            Self::Pieces { tensor, format } => write!(f, "pieces({tensor}, {format})"),
        }
    }
}

fn list(names: &[impl fmt::Display], separator: &str) -> String {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    names.join(separator)
}

/// One command a line, behind the functions of the user that they call.
impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut functions = Vec::new();
        for command in &self.0 {
            command.for_each_function(&mut |function| functions.push(function.clone()));
        }
        f.write_str(&UserFunction::definitions(&functions))?;
        for (number, command) in self.0.iter().enumerate() {
            if number > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{command}")?;
        }
        Ok(())
    }
}
