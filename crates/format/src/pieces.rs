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
//! A(i,j) = D(i,j) + R(i,j)                     D, R : the arrays of each part
//! ```
//!
//! No two pieces have an entry at the same coordinates.

use crate::format::Format;
use crate::level::LevelKind;
use crate::region::{Mirror, Region, Side};

/// One of the tensors that one is the sum of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The number of the part of the union whose arrays it has.
    pub part: usize,
    /// How these arrays are seen: without mirror images, and with a region only
    /// where levels leave a coordinate open that it says.
    pub format: Format,
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
        let is_cut = |format: &Self| format.cut_region().is_some() || format.mirror.is_some();
        let is_one = self.rest.is_empty() && !is_cut(self);
        let parts = (!is_one).then(|| self.parts())?.into_iter().enumerate();
        let pieces = parts.map(|(number, part)| Piece {
            part: number,
            within: part.region.filter(|_| part.reaches_beyond()),
            mirror: part.mirror.zip(part.region.map(|region| region.side)),
            format: Self {
                region: part.region.filter(|_| part.cut_region().is_none()),
                mirror: None,
                fill: self.fill,
                ..part
            },
        });
        Some(pieces.collect())
    }

    /// The region, where the levels say all coordinates without it.
    fn cut_region(&self) -> Option<Region> {
        let whole = Self {
            region: None,
            mirror: None,
            rest: Vec::new(),
            ..self.clone()
        };
        let modes: Vec<usize> = (0..self.order()).collect();
        self.region
            .filter(|_| whole.determines(whole.levels.len(), &modes))
    }

    /// Whether places outside of the region may be stored: below the coordinates of
    /// an entry others are.
    fn reaches_beyond(&self) -> bool {
        let pads =
            |kind: LevelKind| matches!(kind, LevelKind::Range | LevelKind::Structured { .. });
        let is_cut = self.cut_region().is_some();
        is_cut && (self.levels.last()).is_some_and(|last| last.is_full() || pads(last.kind))
    }
}
