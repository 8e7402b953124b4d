//! Kinds of workspaces: how the temporary tensor of a `where` is kept.
//!
//! | kind       | holds                                            | suits                       |
//! |------------|--------------------------------------------------|-----------------------------|
//! | `dense`    | a value for every coordinate                     | consumers that read them all |
//! | `listed`   | that, a bit for each, and a list of those written | sparse consumers             |
//! | `hashed`   | only the entries written, found by hashing       | extents too large for arrays |
//! | `appended` | the entries in the order in which they come      | producers that write each once, in order |
//!
//! A scalar is `dense` over no modes. Where a schedule names no kind, a
//! workspace is `listed` if a level of stored coordinates is assembled from it,
//! and `dense` if not.

use std::fmt;

use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, Result, code};

use crate::notation::Parser;

/// How a workspace is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WorkspaceKind {
    /// A value for every coordinate, cleared as a whole.
    Dense,
    /// A value and a bit for every coordinate, and a list of those written,
    /// through which it is sorted and cleared.
    Listed,
    /// The entries written and a table to find them in; both grow.
    Hashed,
    /// The entries written, one behind the other: a vector whose producer writes each
    /// coordinate once at most, in ascending order.
    Appended,
}

impl WorkspaceKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Dense, Self::Listed, Self::Hashed, Self::Appended];

    /// The name in schedules and in concrete notation.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Listed => "listed",
            Self::Hashed => "hashed",
            Self::Appended => "appended",
        }
    }

    /// The kind of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether it knows which of its entries were written.
    pub fn has_list(self) -> bool {
        self != Self::Dense
    }
}

/// `":" KIND`, if it stands here.
pub(crate) fn parse_kind(parser: &mut Parser) -> Result<Option<WorkspaceKind>> {
    if !parser.tokens.eat(":") {
        return Ok(None);
    }
    kind_word(parser).map(Some)
}

/// The word for a kind.
pub(crate) fn kind_word(parser: &mut Parser) -> Result<WorkspaceKind> {
    let word = parser.word("a kind of workspace")?;
    if let Some(kind) = WorkspaceKind::parse(&word.text) {
        return Ok(kind);
    }
    let names = WorkspaceKind::ALL.map(WorkspaceKind::name);
    let error = Diagnostic::new(
        code::UNKNOWN_WORKSPACE_KIND,
        format!("unknown kind of workspace `{}`", word.text),
    )
    .at(parser.tokens.source(), word.span, "no kind has this name");
    Err(error.help(match closest(&word.text, names) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("these are: `{}`", names.join("`, `")),
    }))
}

impl fmt::Display for WorkspaceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
