//! Kinds of workspaces: how the temporary tensor of a `where` is kept.
//!
//! | kind       | holds                                            | suits                       |
//! |------------|--------------------------------------------------|-----------------------------|
//! | `dense`    | a value for every coordinate                     | consumers that read them all |
//! | `bitmap`   | that, and a bit for each that was written        | consumers that look entries up, and full workspaces |
//! | `marked`   | that, and a list of those written to clear them by | consumers that look entries up, of few entries |
//! | `listed`   | that, and a list of those written                | sparse consumers             |
//! | `hashed`   | only the entries written, found by hashing       | extents too large for arrays |
//! | `appended` | the entries in the order in which they come      | producers that write each once, in order |
//!
//! A scalar is `dense` over no modes. Where a schedule names no kind, a
//! workspace is `listed` if a level of stored coordinates is assembled from it,
//! and `dense` if not.

use std::fmt;

/// How a workspace is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WorkspaceKind {
    /// A value for every coordinate, cleared as a whole.
    Dense,
    /// A value and a bit for every coordinate, cleared as a whole.
    Bitmap,
    /// A value and a bit for every coordinate, and a list of those written, through which
    /// it is cleared.
    Marked,
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
    pub const ALL: [Self; 6] = [
        Self::Dense,
        Self::Bitmap,
        Self::Marked,
        Self::Listed,
        Self::Hashed,
        Self::Appended,
    ];

    /// The name in schedules and in concrete notation.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Bitmap => "bitmap",
            Self::Marked => "marked",
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
    pub fn knows_entries(self) -> bool {
        self != Self::Dense
    }

    /// Whether it keeps a list of the entries written.
    pub fn has_list(self) -> bool {
        !matches!(self, Self::Dense | Self::Bitmap)
    }

    /// Whether loops go through this list, and not through all coordinates.
    pub fn is_walked_by_list(self) -> bool {
        self.has_list() && self != Self::Marked
    }
}

impl fmt::Display for WorkspaceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
