//! Level kinds: what each can do, which arrays it keeps, and its relation.
//!
//! | kind                 | positions below parent `p`                       | arrays        |
//! |----------------------|--------------------------------------------------|---------------|
//! | [`dense`], [`batch`] | every coordinate: `q = p * N + i`                |               |
//! | [`bitmap`]           | the same, stored where `bits(q) = 1`             | `bits`        |
//! | [`compressed`]       | a segment: `pos(p) <= q < pos(p+1)`, `i = crd(q)`  | `pos crd`     |
//! | [`loose_compressed`] | a segment with room: `pos(p) <= q < end(p)`      | `pos end crd` |
//! | [`hashed`]           | the slots of a table, some of them empty         | `pos crd`     |
//! | [`singleton`]        | one: `q = p`, `i = crd(q)`                       | `crd`         |
//! | [`structured`]       | `n` of them, `i = crd(q)`                        | `crd`         |
//! | [`range`](mod@range) | a run: `q = pos(p) + i - first(p)`               | `pos first`   |
//! | [`run_length`]       | runs of coordinates that share a value           | `pos bounds`  |
//!
//! A kind is one file here that declares one [`LevelSpec`]: the relation
//! fragment and the capabilities. How its loops are emitted stands in the file
//! of the same name in `sparsec-lower`.

pub mod batch;
pub mod bitmap;
pub mod compressed;
pub mod dense;
pub mod hashed;
pub mod loose_compressed;
pub mod range;
pub mod run_length;
pub mod singleton;
pub mod structured;

use crate::arrays::Role;

/// The kind of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LevelKind {
    /// Every coordinate of the mode, stored or not.
    Dense,
    /// Segments of stored coordinates.
    Compressed,
    /// One coordinate for each parent position.
    Singleton,
    /// Segments of stored coordinates with room after them.
    LooseCompressed,
    /// So many stored coordinates for each block of so many.
    Structured {
        /// Stored.
        n: u32,
        /// In a block.
        m: u32,
    },
    /// Every coordinate, each with a tensor of its own.
    Batch,
    /// A run of neighbouring coordinates for each parent.
    Range,
    /// Every coordinate, with a bit that says whether it is stored.
    Bitmap,
    /// Hash tables of stored coordinates.
    Hashed,
    /// Runs of coordinates with one value.
    RunLength,
}

/// Everything there is to know about a kind, declared once.
#[derive(Debug)]
pub struct LevelSpec {
    /// The name in format text.
    pub name: &'static str,
    /// What a position is, for `sparsec formats`.
    pub summary: &'static str,
    /// The arrays that a level of this kind keeps.
    pub arrays: &'static [Part],
    /// What a level of this kind can do.
    pub capabilities: Capabilities,
    /// The relation between parent position and coordinate, and position, as
    /// text that `sparsec-relation` parses: `{[p, i] -> [q] : …}`. `N` is the
    /// extent of the level, `M` the number of parent positions, `K` what
    /// `structured` stores of a block; functions are the level's arrays.
    pub fragment: &'static str,
    /// How many positions the level has, as an expression in the same terms:
    /// the `M` of the level below.
    pub n_positions: &'static str,
    /// What is known of the arrays, as text of `sparsec_relation::Declarations` in
    /// the same terms. `E` is one more than the greatest coordinate that a place may
    /// hold: `N`, or `N + 1` where that is the mark of no entry.
    pub declarations: &'static str,
    /// Which positions `q1` before `q2` hold two coordinates of one parent `p`, where
    /// order and repetition tell of them; empty where there is none.
    pub siblings: &'static str,
}

/// What a level can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Holds every coordinate of its mode below every parent position.
    pub full: bool,
    /// Finds the position of a coordinate in constant time.
    pub locate: bool,
    /// Has one position for each parent position.
    pub single: bool,
    /// A loop may go over its positions: each holds an entry and tells its parent and its
    /// coordinate. Positions of a result may be appended in pieces, one behind the other.
    pub positional: bool,
    /// Keeps coordinates in the order of its positions, unless it is given
    /// `nonordered`.
    pub ordered: bool,
    /// May be given `nonunique`.
    pub may_repeat: bool,
    /// May be given `nonordered`.
    pub may_be_unordered: bool,
    /// As part of a result, takes coordinates in any order, at positions that
    /// are computed, rather than appended in order.
    pub random_insert: bool,
    /// As part of a result, takes the coordinates below one parent in any order, each
    /// looked for and given a place if it has none: of one parent after the other.
    pub probing_insert: bool,
}

/// One of the arrays of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Segment bounds.
    Pos,
    /// Coordinates.
    Crd,
    /// Where segments end.
    End,
    /// First coordinates of runs.
    First,
    /// Which coordinates are stored.
    Bits,
    /// Where runs begin and end.
    Bounds,
    /// The extent of a level of ranks.
    Size,
}

impl Part {
    /// The name in array names: `A1.pos`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pos => "pos",
            Self::Crd => "crd",
            Self::End => "end",
            Self::First => "first",
            Self::Bits => "bits",
            Self::Bounds => "bounds",
            Self::Size => "size",
        }
    }

    /// The role of this array at level `number`.
    pub fn role(self, number: usize) -> Role {
        match self {
            Self::Pos => Role::Pos(number),
            Self::Crd => Role::Crd(number),
            Self::End => Role::End(number),
            Self::First => Role::First(number),
            Self::Bits => Role::Bits(number),
            Self::Bounds => Role::Bounds(number),
            Self::Size => Role::Size(number),
        }
    }
}

impl LevelKind {
    /// All kinds; of those with parameters one.
    pub const ALL: [Self; 10] = [
        Self::Dense,
        Self::Compressed,
        Self::Singleton,
        Self::LooseCompressed,
        Self::Structured { n: 2, m: 4 },
        Self::Batch,
        Self::Range,
        Self::Bitmap,
        Self::Hashed,
        Self::RunLength,
    ];

    /// What the kind's file declares.
    pub fn spec(self) -> &'static LevelSpec {
        match self {
            Self::Dense => &dense::SPEC,
            Self::Compressed => &compressed::SPEC,
            Self::Singleton => &singleton::SPEC,
            Self::LooseCompressed => &loose_compressed::SPEC,
            Self::Structured { .. } => &structured::SPEC,
            Self::Batch => &batch::SPEC,
            Self::Range => &range::SPEC,
            Self::Bitmap => &bitmap::SPEC,
            Self::Hashed => &hashed::SPEC,
            Self::RunLength => &run_length::SPEC,
        }
    }

    /// The kind in format text: its name, and its parameters.
    pub fn text(self) -> String {
        match self {
            Self::Structured { n, m } => format!("structured[{n}, {m}]"),
            _ => self.spec().name.to_owned(),
        }
    }

    /// Whether kernels assemble levels of this kind as they are. All kinds are
    /// walked.
    pub fn is_assembled(self) -> bool {
        self.is_regular() || matches!(self, Self::LooseCompressed | Self::Bitmap | Self::Hashed)
    }

    /// Whether every position has a parent, one coordinate, and a place in the
    /// order of its level's positions.
    pub fn is_regular(self) -> bool {
        matches!(
            self,
            Self::Dense | Self::Batch | Self::Compressed | Self::Singleton
        )
    }

    /// Whether the position of every coordinate is computed from that of its
    /// parent: the level holds them all, and finds each in constant time.
    pub fn is_computed(self) -> bool {
        let can = self.capabilities();
        can.full && can.locate
    }

    /// What a level of this kind can do.
    pub fn capabilities(self) -> Capabilities {
        self.spec().capabilities
    }

    /// The relation fragment; see [`LevelSpec::fragment`].
    pub fn fragment(self) -> &'static str {
        self.spec().fragment
    }
}
