//! Encodings as sparsec's formats, and back.
//!
//! Both use the same names for levels, and list them outermost first. An encoding has no clauses
//! (symmetric, unions of parts, curves). A format has no symbols and no slices, since a slice is a
//! view of another tensor.

use sparsec_base::{Diagnostic, IndexWidth, Result, code};
use sparsec_format::{Coordinate, Format, Level as FormatLevel, LevelKind, Widths};

use crate::affine::{AffineExpr, AffineOp};

use super::{Encoding, Level, LevelExpr};

impl Encoding {
    /// The format that stores tensors of this encoding.
    ///
    /// # Errors
    /// `E1027` for slices, symbols and products, which formats lack. Checks of formats report
    /// faults under their own codes.
    ///
    /// ```
    /// use sparsec_format::Format;
    /// use sparsec_mlir::Encoding;
    /// let encoding = Encoding::of_format(&Format::csr())?;
    /// assert_eq!(encoding.to_format()?.to_string(), "(d0, d1) -> (d0 : dense, d1 : compressed)");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn to_format(&self) -> Result<Format> {
        if self.is_slice() {
            return Err(none("a slice is a view of another tensor")
                .help("use the encoding of the whole tensor"));
        }
        let level = |(number, level): (usize, &Level)| {
            let coordinate = match &level.expression {
                LevelExpr::Affine(expression) => expression.coordinate(),
                LevelExpr::Other(coordinate) => Some(coordinate.clone()),
            };
            let Some(coordinate) = coordinate else {
                return Err(none("levels of formats have no symbols and no products")
                    .help("write ELL as `(#i : dense, i : dense, j : singleton)`"));
            };
            let mut level_of = FormatLevel::new(coordinate, level.kind);
            // A singleton stores one coordinate for each entry of the level above, which then
            // lists a coordinate once for each of its entries.
            let below = self.levels.get(number + 1);
            let lists_entries = below.is_some_and(|below| below.kind == LevelKind::Singleton);
            let stands_above = level.has_positions() || level.kind == LevelKind::Singleton;
            level_of.unique = !(level.nonunique || lists_entries && stands_above);
            level_of.ordered = !level.nonordered;
            Ok(level_of)
        };
        let levels: Vec<FormatLevel> = self
            .levels
            .iter()
            .enumerate()
            .map(level)
            .collect::<Result<_>>()?;
        let modes = (0..self.n_modes).map(|n| format!("d{n}"));
        let width = |bits: u32| {
            IndexWidth::ALL
                .into_iter()
                .find(|width| width.bits() == bits)
        };
        Ok(Format::new(modes, levels)?.with_widths(Widths {
            pos: width(self.pos_width),
            crd: width(self.crd_width),
        }))
    }

    /// The encoding of tensors in a format.
    ///
    /// # Errors
    /// `E1028` for a union of parts, a part of the entries, and entries along a curve. A level map
    /// that only sparsec has is accepted; see [`refusal`](Self::refusal).
    pub fn of_format(format: &Format) -> Result<Self> {
        let lacks = [
            (format.n_parts() > 1, "a union of parts"),
            (format.region().is_some(), "a part of the entries"),
            (format.mirror().is_some(), "mirror images of entries"),
            (format.order_key().is_some(), "entries sorted along a curve"),
            (
                format.fill().is_some_and(|fill| fill != 0.0),
                "a fill other than zero",
            ),
            (
                format
                    .levels()
                    .iter()
                    .any(|level| level.widths != Widths::default()),
                "index widths of single levels",
            ),
        ];
        if let Some((_, lack)) = lacks.into_iter().find(|(has, _)| *has) {
            let message = format!("an encoding does not describe {lack}: `{format}`");
            return Err(Diagnostic::new(code::NO_ENCODING, message)
                .help("use a format of one map of levels, such as `csr`"));
        }
        let level = |level: &FormatLevel| Level {
            expression: match affine(&level.coordinate) {
                Some(expression) => LevelExpr::Affine(expression),
                None => LevelExpr::Other(level.coordinate.clone()),
            },
            kind: level.kind,
            nonunique: !level.unique,
            nonordered: !level.ordered,
            soa: false,
        };
        let levels = format.levels().iter().map(level).collect();
        let bits = |width: Option<IndexWidth>| width.map_or(0, IndexWidth::bits);
        Ok(Self {
            pos_width: bits(format.widths().pos),
            crd_width: bits(format.widths().crd),
            ..Self::new(format.order(), levels)
        })
    }
}

fn none(why: &str) -> Diagnostic {
    Diagnostic::new(
        code::NO_FORMAT,
        format!("no format has this encoding: {why}"),
    )
}

impl AffineExpr {
    /// The expression as a coordinate of a format, if it has neither symbols nor products.
    pub(crate) fn coordinate(&self) -> Option<Coordinate> {
        Some(match self {
            Self::Dimension(mode) => Coordinate::Mode(*mode),
            Self::Constant(value) => Coordinate::Integer(*value),
            Self::Symbol(_) => return None,
            Self::Binary(op, a, b) => {
                let divisor = || match &**b {
                    Self::Constant(by) => u64::try_from(*by).ok(),
                    _ => None,
                };
                let of = Box::new(a.coordinate()?);
                match op {
                    AffineOp::Add => Coordinate::Sum(of, Box::new(b.coordinate()?)),
                    AffineOp::Subtract => Coordinate::Difference(of, Box::new(b.coordinate()?)),
                    AffineOp::FloorDivide => Coordinate::FloorDivide(of, divisor()?),
                    AffineOp::Modulo => Coordinate::Modulo(of, divisor()?),
                    AffineOp::Multiply | AffineOp::CeilDivide => return None,
                }
            }
        })
    }
}

fn affine(coordinate: &Coordinate) -> Option<AffineExpr> {
    let binary = |op, a: &Coordinate, b: AffineExpr| {
        Some(AffineExpr::Binary(op, Box::new(affine(a)?), Box::new(b)))
    };
    let number = |n: u64| Some(AffineExpr::Constant(i64::try_from(n).ok()?));
    match coordinate {
        Coordinate::Mode(mode) => Some(AffineExpr::Dimension(*mode)),
        Coordinate::Integer(value) => Some(AffineExpr::Constant(*value)),
        Coordinate::Sum(a, b) => binary(AffineOp::Add, a, affine(b)?),
        Coordinate::Difference(a, b) => binary(AffineOp::Subtract, a, affine(b)?),
        Coordinate::FloorDivide(a, by) => binary(AffineOp::FloorDivide, a, number(*by)?),
        Coordinate::Modulo(a, by) => binary(AffineOp::Modulo, a, number(*by)?),
        Coordinate::Morton(_) | Coordinate::Alto(_) | Coordinate::Rank { .. } => None,
    }
}
