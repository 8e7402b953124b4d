//! Formats: how a tensor's entries are arranged in arrays.
//!
//! A format maps the **modes** of a tensor to an ordered list of storage
//! **levels**, in MLIR's map notation:
//!
//! ```text
//! csr:  (i, j) -> (i : dense, j : compressed)
//! csc:  (i, j) -> (j : dense, i : compressed)
//! coo:  (i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonordered))
//! dia:  (i, j) -> (j - i : compressed, i : range)
//! msr:  (i, j) -> (i : dense), diagonal(i, j) | (i, j) -> (i : dense, j : compressed)
//! ```
//!
//! A level may store an expression over the modes ([`Coordinate`]); a
//! [`LevelMap`] computes the coordinates of levels from those of modes, and back.
//! A format may store a part of the entries ([`Region`], [`Mirror`]) and be a
//! union of several. The coordinates of every entry must follow from its levels.
//!
//! A level has two faces that must agree. Its **level face** says what it can
//! do (iterate, locate, append: [`Capabilities`]); its **relation face** says
//! which pairs of parent position and coordinate belong to which position
//! ([`LevelKind::fragment`]). Both stand in the file of the level's kind in
//! [`level`]; nothing else in the project knows a kind by name except the
//! emission of its loops.
//!
//! What levels cannot say is a [`RelationFormat`]: a relation given whole, as `jds` and the
//! `.fmt` files of users are.
//!
//! [`Format::relation`] composes the fragments into the relation of a whole
//! format. A format is read from text with [`Format::parse`], or with
//! [`FormatSpec`] where a preset's order comes from the tensor.
//!
//! Source: Chou et al., "Format Abstraction for Sparse Tensor Algebra
//! Compilers", OOPSLA 2018, <https://doi.org/10.1145/3276493>; notation of the
//! MLIR `sparse_tensor` dialect.

pub mod choice;
pub mod level;
pub mod statistics;

mod arrays;
mod assembled;
mod check;
mod coordinate;
mod descriptor;
mod face;
mod format;
mod level_space;
mod map;
mod nearest;
mod parse;
mod pieces;
mod preset;
mod print;
mod region;
mod relational;
#[cfg(feature = "serde")]
mod serde;
mod short_name;
mod spec;

pub use arrays::{ArraySpec, Holds, Role};
pub use choice::{Candidate, Choice};
pub use coordinate::Coordinate;
pub use format::{Format, Level, Widths};
pub use level::{Capabilities, LevelKind};
pub use level_space::Way;
pub use map::{Curve, LevelMap};
pub use parse::parse_spec;
pub use pieces::Piece;
pub use preset::{Parameters, Preset, presets};
pub use region::{Mirror, Mirrored, Region, Side};
pub use relational::{
    RelationFormat, RelationParameter, RelationPreset, Storage, relation_presets,
};
pub use sparsec_base::Fill;
pub use spec::FormatSpec;
pub use statistics::{
    BlockFill, Distribution, Footprint, Group, MatrixStatistics, Statistics, Symmetry,
};
