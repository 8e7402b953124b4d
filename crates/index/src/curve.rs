//! Curves: one number for several coordinates, whose bits it holds in turn.
//!
//! ```text
//! morton(i, j)             … i1 j1 i0 j0
//! alto(i, 8, j, 2)         i2 i1 i0 j0          extents say how many bits there are
//! ```
//!
//! The number is a place along a curve through all coordinates. Levels of formats
//! store such places; an index may name them, and a loop may go over them in place of
//! those over the coordinates (the command `deal`).

use std::fmt;

use sparsec_base::Deal;

/// In which order the bits of coordinates are dealt.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Curve {
    /// All in turn, the last coordinate lowest.
    Morton,
    /// Those with fewer bits first, as many as coordinates below these extents have.
    Alto(Vec<u64>),
}

impl Curve {
    /// Which bit of a place is which of a coordinate, for coordinates that are at
    /// most these; `None` where places have more than 63 bits.
    pub fn deal(&self, greatest: &[u64]) -> Option<Deal> {
        let deal = match self {
            Self::Morton => Deal::morton(greatest),
            Self::Alto(extents) => {
                let last = extents.iter().map(|extent| extent.saturating_sub(1));
                let last: Vec<u64> = last.collect();
                let mut pairs = greatest.iter().zip(&last);
                if pairs.any(|(greatest, last)| greatest > last) {
                    return None;
                }
                Deal::alto(&last)
            }
        };
        deal.greatest().is_some().then_some(deal)
    }

    /// The place of these coordinates; `None` where it has more than 63 bits, or they
    /// are beyond the extents.
    pub fn place(&self, coordinates: &[u64]) -> Option<u64> {
        let deal = self.deal(coordinates)?;
        Some(deal.key(|number| coordinates[number]))
    }

    /// Writes the curve through coordinates, of which `write` writes one each.
    ///
    /// # Errors
    /// Those of `f` and `write`.
    pub fn write(
        &self,
        f: &mut dyn fmt::Write,
        n_coordinates: usize,
        write: &mut dyn FnMut(&mut dyn fmt::Write, usize) -> fmt::Result,
    ) -> fmt::Result {
        f.write_str(match self {
            Self::Morton => "morton(",
            Self::Alto(_) => "alto(",
        })?;
        for number in 0..n_coordinates {
            if number > 0 {
                f.write_str(", ")?;
            }
            write(f, number)?;
            if let Self::Alto(extents) = self {
                write!(f, ", {}", extents[number])?;
            }
        }
        f.write_str(")")
    }
}
