//! Level kinds: what each can do, which arrays it keeps, and its relation.
//!
//! | kind           | positions below parent `p`                     | arrays     |
//! |----------------|------------------------------------------------|------------|
//! | [`dense`]      | every coordinate: `q = p * N + i`              |            |
//! | [`compressed`] | a segment: `pos(p) <= q < pos(p+1)`, `i = crd(q)` | `pos crd` |
//! | [`singleton`]  | one: `q = p`, `i = crd(q)`                     | `crd`      |
//!
//! A kind is one file here that declares one [`LevelSpec`]: the relation
//! fragment and the capabilities. How its loops are emitted stands in the file
//! of the same name in `sparsec-lower`.

pub mod compressed;
pub mod dense;
pub mod singleton;

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
    /// extent of the mode, `M` the number of parent positions; `pos` and `crd`
    /// are the level's arrays.
    pub fragment: &'static str,
    /// How many positions the level has, as an expression in the same terms:
    /// the `M` of the level below.
    pub n_positions: &'static str,
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
    /// May be given `nonunique`.
    pub may_repeat: bool,
    /// May be given `nonordered`.
    pub may_be_unordered: bool,
    /// As part of a result, takes coordinates in any order (`locate` levels),
    /// rather than appended in order.
    pub random_insert: bool,
}

/// One of the arrays of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Segment bounds.
    Pos,
    /// Coordinates.
    Crd,
}

impl Part {
    /// The role of this array at level `number`.
    pub fn role(self, number: usize) -> Role {
        match self {
            Self::Pos => Role::Pos(number),
            Self::Crd => Role::Crd(number),
        }
    }
}

impl LevelKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Dense, Self::Compressed, Self::Singleton];

    /// What the kind's file declares.
    pub fn spec(self) -> &'static LevelSpec {
        match self {
            Self::Dense => &dense::SPEC,
            Self::Compressed => &compressed::SPEC,
            Self::Singleton => &singleton::SPEC,
        }
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
