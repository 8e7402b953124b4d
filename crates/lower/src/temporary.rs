//! Where temporaries of a `where` are kept: scalars, dense arrays, lists of entries.
//!
//! ```text
//! scalar   var t = 0                  written when the producer adds to it
//! dense    w.vals                     filled whenever the `where` begins
//! bitmap   w.vals, w.set              the same, and which were written
//! stored   w.vals, w.crd0[0..w.n] …   what was written, sorted before it is read
//! ```
//!
//! Of the last there are three kinds, which find an entry by its position or by hashing, or
//! never look for one ([`Index`]). What is done with them is in [`crate::workspace`].

use std::ops::Range;

use sparsec_base::Scalar;
use sparsec_loop::{Buffer, Expr, Var};

use crate::cursor::Place;
use crate::level::{Entries, Segment, bounds};

/// Where a temporary is kept.
#[derive(Clone, Debug)]
pub(crate) enum Workspace {
    /// In a variable.
    Scalar {
        /// The value.
        value: Var,
        /// What the value is where nothing that is stored is added to it, if
        /// that is known.
        unstored: Option<Scalar>,
        /// Whether anything was, where the result asks.
        written: Option<Var>,
    },
    /// In an array over its modes.
    Dense {
        /// The entries.
        vals: Buffer,
        /// What an entry is where nothing that is stored is added to it, if
        /// that is known.
        unstored: Option<Scalar>,
        /// Whether anything was added to any, where the result asks.
        written: Option<Var>,
    },
    /// In an array over its modes, beside one that says which entries were written.
    Bitmap {
        /// The entries.
        vals: Buffer,
        /// 1 for those written, 0 for others.
        set: Buffer,
    },
    /// In arrays that list the entries written.
    Stored(Stored),
}

/// The arrays of a workspace that lists its entries.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) vals: Buffer,
    /// The coordinates of the entries in order, an array for each mode.
    pub(crate) crd: Vec<Buffer>,
    /// Where the values of the entries are, in the same order; for a vector that
    /// is listed, the coordinates too.
    pub(crate) at: Buffer,
    /// How many entries there are, once the `where` has begun.
    pub(crate) n: Option<Var>,
    pub(crate) index: Index,
}

/// How an entry is found by its coordinates.
#[derive(Clone, Debug)]
pub(crate) enum Index {
    /// By its position, where a bit says whether it was written.
    Listed {
        set: Buffer,
    },
    /// The same, and loops see the bits in place of a list.
    Marked {
        set: Buffer,
    },
    Hashed(Table),
    /// Nothing looks for one: each is written once.
    Appended,
}

/// Where entries are found by their keys.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) table: Buffer,
    pub(crate) words: Vec<Word>,
    /// How many slots are in use, once the `where` has begun.
    pub(crate) slots: Option<Var>,
}

/// One word of the keys.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    /// The modes that it numbers, row-major.
    pub(crate) modes: Range<usize>,
    /// Of the entries in the order of writing.
    pub(crate) keys: Buffer,
    /// Of the entries in ascending order.
    pub(crate) sorted: Buffer,
}

impl Workspace {
    /// The array with its values, if it is kept in arrays.
    pub(crate) fn values(&self) -> Option<Buffer> {
        match self {
            Self::Scalar { .. } => None,
            Self::Dense { vals, .. } | Self::Bitmap { vals, .. } => Some(*vals),
            Self::Stored(stored) => Some(stored.vals),
        }
    }

    /// Whether anything was added to it, where that is not known before and matters.
    pub(crate) fn written(&self) -> Option<Var> {
        match self {
            Self::Scalar { written, .. } | Self::Dense { written, .. } => *written,
            Self::Bitmap { .. } | Self::Stored(_) => None,
        }
    }

    /// The array that loops see in place of coordinates: an array that says which entries were written.
    pub(crate) fn bits(&self) -> Option<Buffer> {
        match self {
            Self::Bitmap { set, .. } => Some(*set),
            Self::Stored(stored) => match stored.index {
                Index::Marked { set } => Some(set),
                _ => None,
            },
            _ => None,
        }
    }

    /// From now on an array that does not know which of its entries were written.
    pub(crate) fn forget_bits(&mut self) {
        if let Self::Bitmap { vals, .. } = *self {
            *self = Self::Dense {
                vals,
                unstored: None,
                written: None,
            };
        }
    }

    /// Whether it knows which of its entries were written.
    pub(crate) fn knows_entries(&self) -> bool {
        matches!(self, Self::Bitmap { .. } | Self::Stored(_))
    }
}

impl Stored {
    /// How many entries there are.
    pub(crate) fn n(&self) -> Var {
        self.n.expect("a list is begun before it is used")
    }

    /// Whether it is the list of one mode's coordinates, which loops read as it is.
    pub(crate) fn is_vector(&self) -> bool {
        self.at == self.crd[0]
    }

    /// The entries of one level as loops see them.
    pub(crate) fn segment(&self, level: usize, parent: &Place) -> Segment {
        let (lo, hi) = match level {
            0 => (Expr::int(0), Expr::Var(self.n())),
            _ => bounds(parent),
        };
        Segment {
            lo,
            hi,
            entries: Entries::listed(self.crd[level]),
        }
    }

    /// The value of the entry at a position of the list; `coordinate` is that of
    /// a vector's entry.
    pub(crate) fn value(&self, position: Expr, coordinate: impl FnOnce() -> Expr) -> Expr {
        let at = match &self.index {
            Index::Appended | Index::Marked { .. } => position,
            _ if self.is_vector() => coordinate(),
            _ => Expr::load(self.at, position),
        };
        Expr::load(self.vals, at)
    }

    /// Whether there is room behind the last entry, for one that is read and not used.
    pub(crate) fn has_room_behind(&self) -> bool {
        matches!(self.index, Index::Appended)
    }
}

impl Table {
    pub(crate) fn slots(&self) -> Var {
        self.slots.expect("a table is begun before it is used")
    }
}
