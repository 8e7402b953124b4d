//! Encodings: how a sparse tensor is stored, in the spelling of any release.
//!
//! ```text
//! 14   {dimLevelType = ["dense", "compressed"], dimOrdering = affine_map<(i, j) -> (j, i)>}
//! 17   {lvlTypes = ["dense", "compressed"], dimToLvl = affine_map<(i, j) -> (j, i)>}
//! 19   {map = (i, j) -> (j : dense, i : compressed)}
//! ```
//!
//! All three spell one [`Encoding`]: each level has an expression over the modes, a kind and
//! properties. [`Encoding::refusal`] explains why a release cannot spell an encoding.
//! [`Encoding::to_format`] and [`Encoding::of_format`] convert to and from the formats of sparsec.

use sparsec_format::{Coordinate, LevelKind};

use crate::affine::{AffineExpr, AffineMap, AffineOp};
use crate::attribute::Attribute;
use crate::types::Type;

pub(crate) mod arrays;
pub(crate) mod blocks;
mod format;
pub(crate) mod list;
mod print;
mod refusal;
pub(crate) mod rules;

/// How a sparse tensor is stored.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Encoding {
    /// The order of the tensor.
    pub n_modes: usize,
    /// How many symbols the expressions of levels have.
    pub n_symbols: usize,
    /// The levels, outermost first.
    pub levels: Vec<Level>,
    /// The slice of each mode if the tensor is a slice, else empty.
    pub slices: Vec<Option<Slice>>,
    /// The bits of a position; 0 for `index`.
    pub pos_width: u32,
    /// The bits of a coordinate; 0 for `index`.
    pub crd_width: u32,
    /// The value that all stored entries have, if declared.
    pub explicit_value: Option<Attribute>,
    /// The value of implicit entries if declared, which is zero.
    pub implicit_value: Option<Attribute>,
}

/// One level of storage.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Level {
    /// The expression whose values the level stores as coordinates.
    pub expression: LevelExpr,
    /// The kind of the level.
    pub kind: LevelKind,
    /// Whether a coordinate may occur twice in a segment.
    pub nonunique: bool,
    /// Whether the coordinates of a segment may have any order.
    pub nonordered: bool,
    /// Whether a singleton has an array of coordinates of its own. Otherwise its coordinates are
    /// part of tuples.
    pub soa: bool,
}

/// The expression of a level.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LevelExpr {
    /// An affine expression over the modes.
    Affine(AffineExpr),
    /// A position on a curve or the rank of an entry. Only sparsec has these.
    Other(Coordinate),
}

/// The coordinates of a mode that a slice selects. `None` is a number that the program computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slice {
    /// The first coordinate.
    pub offset: Option<u64>,
    /// The number of coordinates.
    pub size: Option<u64>,
    /// The distance between neighbours.
    pub stride: Option<u64>,
}

impl Level {
    /// A unique, ordered level.
    pub fn new(expression: LevelExpr, kind: LevelKind) -> Self {
        Self {
            expression,
            kind,
            nonunique: false,
            nonordered: false,
            soa: false,
        }
    }

    /// The mode whose coordinates the level stores, if its expression is a mode.
    pub fn mode(&self) -> Option<usize> {
        match &self.expression {
            LevelExpr::Affine(expression) => expression.dimension(),
            LevelExpr::Other(coordinate) => coordinate.mode(),
        }
    }

    /// Whether the level has an array of positions.
    pub fn has_positions(&self) -> bool {
        matches!(
            self.kind,
            LevelKind::Compressed | LevelKind::LooseCompressed
        )
    }

    /// Whether the level has an array of coordinates.
    pub fn has_coordinates(&self) -> bool {
        !matches!(self.kind, LevelKind::Dense | LevelKind::Batch)
    }
}

impl Encoding {
    /// The type of sizes in storage specifiers of release 16: the wider of both widths.
    pub(crate) fn size_type(&self) -> Type {
        let width = |bits: u32| if bits == 0 { 64 } else { bits };
        Type::integer(width(self.pos_width).max(width(self.crd_width)))
    }

    /// An encoding with default widths and values.
    pub fn new(n_modes: usize, levels: Vec<Level>) -> Self {
        Self {
            n_modes,
            n_symbols: 0,
            levels,
            slices: Vec::new(),
            pos_width: 0,
            crd_width: 0,
            explicit_value: None,
            implicit_value: None,
        }
    }

    /// How many levels there are.
    pub fn n_levels(&self) -> usize {
        self.levels.len()
    }

    /// Whether the tensor is a slice of another.
    pub fn is_slice(&self) -> bool {
        !self.slices.is_empty()
    }

    /// Whether all levels are dense.
    pub fn is_all_dense(&self) -> bool {
        self.levels
            .iter()
            .all(|level| level.kind == LevelKind::Dense)
    }

    /// The map from modes to levels, if all expressions are affine.
    pub fn map(&self) -> Option<AffineMap> {
        let affine = |level: &Level| match &level.expression {
            LevelExpr::Affine(expression) => Some(expression.clone()),
            LevelExpr::Other(_) => None,
        };
        Some(AffineMap {
            n_dimensions: self.n_modes,
            n_symbols: self.n_symbols,
            results: self.levels.iter().map(affine).collect::<Option<_>>()?,
        })
    }

    /// The mode of each level, if every level stores a mode.
    pub fn permutation(&self) -> Option<Vec<usize>> {
        self.map()?.permutation()
    }

    /// The extents of the levels, for a tensor with these extents. `None` is an unknown extent.
    pub fn level_shape(&self, shape: &[Option<u64>]) -> Vec<Option<u64>> {
        let extent = |level: &Level| match &level.expression {
            LevelExpr::Affine(AffineExpr::Dimension(mode)) => shape.get(*mode).copied().flatten(),
            LevelExpr::Affine(AffineExpr::Binary(op, of, by)) => match (op, &**of, &**by) {
                (AffineOp::Modulo, _, AffineExpr::Constant(by)) => u64::try_from(*by).ok(),
                (AffineOp::FloorDivide, AffineExpr::Dimension(mode), AffineExpr::Constant(by)) => {
                    let extent = shape.get(*mode).copied().flatten()?;
                    u64::try_from(*by)
                        .ok()
                        .filter(|by| *by > 0)
                        .map(|by| extent.div_ceil(by))
                }
                _ => None,
            },
            _ => None,
        };
        self.levels.iter().map(extent).collect()
    }

    /// The first level of a trailing coordinate list: `compressed` followed by singletons, which
    /// all have arrays of their own, or all share tuples.
    pub fn coo_start(&self) -> Option<usize> {
        let is_tail = |from: usize| {
            let [first, rest @ ..] = &self.levels[from..] else {
                return false;
            };
            first.has_positions()
                && !rest.is_empty()
                && rest.iter().all(|level| level.kind == LevelKind::Singleton)
        };
        (0..self.levels.len()).find(|&from| is_tail(from))
    }
}
