//! A format as a sum of pieces, each stored without parts and regions.
//!
//! Where several lists hold the entries of a tensor, or an entry stands for its
//! mirror image too, no loop meets all of them in order. But the tensor is the sum
//! of tensors of which each can be walked, in the same arrays:
//!
//! ```text
//! (i, j) -> (i : dense, j : compressed), symmetric(i, j)
//!
//! A(i,j) = S(i,j) + S(j,i) where i < j         S : csr, the triangle that is stored
//!
//! (i, j) -> (i : dense), diagonal(i, j) | (i : dense, j : compressed)
//!
//! A(i,j) = D(i) where i = j + R(i,j)           D, R : the arrays of each part
//! ```
//!
//! No two pieces have an entry at the same coordinates.

use crate::format::{Format, Level};
use crate::level::LevelKind;
use crate::map::undetermined;
use crate::region::{Mirror, Region, Side};

/// One of the tensors that one is the sum of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The number of the part of the union whose arrays it has.
    pub part: usize,
    /// How these arrays are seen: without a region and mirror images.
    pub format: Format,
    /// The mode of the tensor that each mode of the piece is.
    pub modes: Vec<usize>,
    /// A mode that the piece does not have, and the one that it is equal to wherever
    /// an entry is stored: a diagonal stores one of the two.
    pub equal: Option<[usize; 2]>,
    /// Where entries lie, if places outside may be stored as well.
    pub within: Option<Region>,
    /// What entries stand for beside themselves, and the triangle that they lie in.
    pub mirror: Option<(Mirror, Side)>,
}

impl Format {
    /// The pieces that a tensor in this format is the sum of; `None` where it is no
    /// more than one, stored without a region.
    ///
    /// ```
    /// use sparsec_format::FormatSpec;
    /// let msr = "msr".parse::<FormatSpec>()?.resolve(2)?;
    /// let pieces = msr.pieces().expect("two parts");
    /// assert_eq!(pieces[1].format.to_string(), "(i, j) -> (i : dense, j : compressed)");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn pieces(&self) -> Option<Vec<Piece>> {
        let is_one = |part: &Self| part.region.is_none() && part.mirror.is_none();
        if self.rest.is_empty() && is_one(self) {
            return None;
        }
        let pieces = self.parts().into_iter().enumerate().map(|(number, part)| {
            let whole = Self {
                region: None,
                mirror: None,
                fill: self.fill,
                ..part.clone()
            };
            let open = undetermined(&whole);
            let modes: Vec<usize> = (0..part.order()).filter(|it| !open.contains(it)).collect();
            let equal = match (part.region, &open[..]) {
                (Some(Region { modes: [a, b], .. }), [open]) => {
                    Some([*open, if a == *open { b } else { a }])
                }
                _ => None,
            };
            Piece {
                part: number,
                within: part
                    .region
                    .filter(|_| open.is_empty() && part.reaches_beyond()),
                mirror: part.mirror.zip(part.region.map(|region| region.side)),
                format: whole.of_modes(&modes),
                modes,
                equal,
            }
        });
        let pieces: Vec<Piece> = pieces.collect();
        let is_whole =
            |piece: &Piece| piece.modes.len() + usize::from(piece.equal.is_some()) == self.order();
        pieces.iter().all(is_whole).then_some(pieces)
    }

    /// The format of a tensor of some of the modes, which the levels store no others
    /// of.
    fn of_modes(self, modes: &[usize]) -> Self {
        let place = |mode: usize| {
            let place = modes.iter().position(|&it| it == mode);
            place.expect("levels store what they determine")
        };
        let level = |level: Level| Level {
            coordinate: level.coordinate.with_modes(&place),
            ..level
        };
        Self {
            modes: modes.iter().map(|&mode| self.modes[mode].clone()).collect(),
            levels: self.levels.into_iter().map(level).collect(),
            order: self.order.map(|key| key.with_modes(&place)),
            ..self
        }
    }

    /// Whether places outside of the region may be stored: below the coordinates of
    /// an entry are others, whatever the region says.
    pub fn reaches_beyond(&self) -> bool {
        let pads = |kind: LevelKind| matches!(kind, LevelKind::Structured { .. });
        let last = self.levels.last();
        last.is_some_and(|last| last.is_full() || pads(last.kind))
    }
}
