//! What lowering needs of a level kind, one file a kind.
//!
//! A kind says which positions are below a place of its parent, and how their
//! coordinates are read. From that follows how it is walked, and how a coordinate
//! is found ([`crate::search`]):
//!
//! | kind                 | positions            | coordinate        | found by          |
//! |----------------------|----------------------|-------------------|-------------------|
//! | [`dense`]            | computed, not walked | `q - p * N`       | `q = p * N + i`   |
//! | [`bitmap`]           | `p * N..(p + 1) * N` | `q - p * N`, where a bit is set | the same, and the bit |
//! | [`range`](mod@range) | `pos[p]..pos[p + 1]` | `q - pos[p] + first[p]` | computing, within the run |
//! | [`compressed`]       | `pos[p]..pos[p + 1]` | `crd[q]`          | bisection         |
//! | [`loose_compressed`] | `pos[p]..end[p]`     | `crd[q]`          | bisection         |
//! | [`structured`]       | `p * n..(p + 1) * n` | `crd[q]`          | bisection         |
//! | [`singleton`]        | the parent's place   | `crd[q]`          | comparison        |
//! | [`hashed`]           | `pos[p]..pos[p + 1]` | `crd[q]`, where it is not the extent | its hash |
//! | [`run_length`]       | `pos[p]..pos[p + 1]` | many              | bisection of `bounds` |
//!
//! Results: [`dense`] and [`bitmap`] levels are located, coordinates of [`hashed`] ones
//! looked for, the others appended to ([`crate::assembly`]).

pub(crate) mod bitmap;
pub(crate) mod compressed;
pub(crate) mod dense;
pub(crate) mod hashed;
pub(crate) mod loose_compressed;
pub(crate) mod range;
pub(crate) mod run_length;
pub(crate) mod singleton;
pub(crate) mod structured;

use sparsec_format::{Level, LevelKind, Role};
use sparsec_loop::{BinaryOp, Buffer, Expr};

use crate::arrays::Arrays;
use crate::cursor::Place;

/// The entries of a level below one place of its parent.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    /// The first position.
    pub(crate) lo: Expr,
    /// The bound.
    pub(crate) hi: Expr,
    /// What is at the positions.
    pub(crate) entries: Entries,
}

/// What is at the positions of a segment.
#[derive(Clone, Debug)]
pub(crate) struct Entries {
    pub(crate) crd: Coordinates,
    pub(crate) holes: Holes,
}

/// How the coordinate at a position is read, and the position of one found.
#[derive(Clone, Debug)]
pub(crate) enum Coordinates {
    /// From an array, in the order that the level has.
    Listed(Buffer),
    /// It counts positions from this one on, which has coordinate 0.
    Counted(Expr),
    /// From an array in which each stands where its hash leads.
    Hashed(Buffer),
    /// A position has all coordinates from `bounds[q + before]` up to the next.
    Runs { bounds: Buffer, before: Expr },
}

/// Positions at which nothing is stored.
#[derive(Clone, Debug)]
pub(crate) enum Holes {
    /// There are none.
    None,
    /// Those whose bit is not set.
    Unset(Buffer),
    /// Those with this coordinate, the extent.
    Marked { crd: Buffer, mark: Expr },
}

/// A level of a tensor, with what its segments depend on.
#[derive(Clone, Debug)]
pub(crate) struct LevelArrays<'a> {
    pub(crate) arrays: &'a Arrays,
    pub(crate) kind: LevelKind,
    /// The number of the level.
    pub(crate) number: usize,
    pub(crate) extent: Expr,
    /// Whether the level may have coordinates that mark places of no entry.
    pub(crate) may_pad: bool,
}

/// Whether the entries of a parent are neighbours in an array of coordinates, from one
/// bound of `pos` up to the next.
pub(crate) fn has_segments(level: &Level) -> bool {
    level.kind == LevelKind::Compressed
}

/// Whether a level stores everything, one coordinate behind the other.
pub(crate) fn holds_all(level: &Level) -> bool {
    level.kind == LevelKind::Dense
}

/// Whether [`LevelArrays::n_positions`] knows how many positions the level has.
pub(crate) fn counts_positions(level: &Level) -> bool {
    matches!(
        level.kind,
        LevelKind::Dense | LevelKind::Compressed | LevelKind::Singleton
    )
}

impl LevelArrays<'_> {
    /// The entries below `parent`.
    pub(crate) fn segment(&self, parent: &Place) -> Segment {
        match self.kind {
            LevelKind::Bitmap => {
                let bits = self.arrays.index(Role::Bits(self.number));
                bitmap::segment(&self.extent, bits, parent)
            }
            LevelKind::Compressed => compressed::segment(self, parent),
            LevelKind::Dense | LevelKind::Batch => dense::segment(&self.extent, parent),
            LevelKind::Hashed => hashed::segment(self, parent),
            LevelKind::LooseCompressed => loose_compressed::segment(self, parent),
            LevelKind::Range => range::segment(self, parent),
            LevelKind::RunLength => run_length::segment(self, parent),
            LevelKind::Singleton => singleton::segment(self, parent),
            LevelKind::Structured { n, .. } => structured::segment(self, n, parent),
        }
    }

    /// How many positions there are below the first `parents` positions of the level above;
    /// `None` where that takes more than one array to say.
    pub(crate) fn n_positions(&self, parents: Expr) -> Option<Expr> {
        match self.kind {
            LevelKind::Dense => Some(dense::n_positions(parents, self.extent.clone())),
            LevelKind::Compressed => Some(Expr::load(self.arrays.pos(self.number), parents)),
            LevelKind::Singleton => Some(parents),
            _ => None,
        }
    }

    /// The position of the parent of an entry; `None` where it is the segment that holds the
    /// position.
    pub(crate) fn parent_of(&self, position: Expr) -> Option<Expr> {
        match self.kind {
            LevelKind::Dense => Some(position.binary(BinaryOp::FloorDiv, self.extent.clone())),
            LevelKind::Compressed => None,
            _ => Some(position),
        }
    }

    /// The coordinate of the entry at a position below `parent`, as the entries of its segment
    /// have it.
    pub(crate) fn coordinate(&self, parent: &Expr, position: Expr) -> Expr {
        match self.kind {
            LevelKind::Dense => {
                let before = parent.clone().mul(self.extent.clone());
                position.binary(BinaryOp::Sub, before)
            }
            _ => Expr::load(self.arrays.crd(self.number), position),
        }
    }
}

impl Entries {
    /// Coordinates in an array, one for each position.
    pub(crate) fn listed(crd: Buffer) -> Self {
        Self {
            crd: Coordinates::Listed(crd),
            holes: Holes::None,
        }
    }

    /// The coordinate at a position, which has one.
    pub(crate) fn coordinate(&self, position: impl Into<Expr>) -> Expr {
        let position = position.into();
        match &self.crd {
            Coordinates::Listed(crd) | Coordinates::Hashed(crd) => Expr::load(*crd, position),
            Coordinates::Counted(first) if *first == Expr::int(0) => position,
            Coordinates::Counted(first) => position.binary(BinaryOp::Sub, first.clone()),
            Coordinates::Runs { .. } => unreachable!("a position of a run has many coordinates"),
        }
    }

    /// Whether something is stored at a position; `None` is always.
    pub(crate) fn is_stored(&self, position: impl Into<Expr>) -> Option<Expr> {
        match &self.holes {
            Holes::None => None,
            Holes::Unset(bits) => Some(Expr::load(*bits, position).binary(BinaryOp::Ne, 0)),
            Holes::Marked { crd, mark } => Some(Expr::load(*crd, position).less(mark.clone())),
        }
    }
}

/// The bounds of the positions of one parent or of a run of them.
pub(crate) fn bounds(parent: &Place) -> (Expr, Expr) {
    match parent {
        Place::At(p) => (p.clone(), p.clone().add(1)),
        Place::Run { lo, hi } => (lo.clone(), hi.clone()),
    }
}

/// The position of a parent whose level below has segments apart.
pub(crate) fn single(parent: &Place) -> Expr {
    match parent {
        Place::At(p) => p.clone(),
        Place::Run { .. } => unreachable!("runs of positions have levels below that join them"),
    }
}
