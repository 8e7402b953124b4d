//! How much memory a tensor would take in a format that it is not in.
//!
//! The arrays of a format follow from how many positions each level has, and
//! that from how many distinct tuples the entries have in the modes of the
//! levels so far:
//!
//! | level      | positions                                                |
//! |------------|----------------------------------------------------------|
//! | dense      | those of the level above times the extent                |
//! | compressed | distinct tuples down to the end of the level's chain     |
//! | singleton  | those of the level above                                 |
//!
//! Exact for matrices; for other tensors as good as
//! [`Statistics::n_distinct`](super::Statistics::n_distinct).

use sparsec_base::{ElementType, IndexWidth};

use super::Statistics;
use crate::arrays::{ArraySpec, Role};
use crate::format::Format;
use crate::level::LevelKind;

/// The bytes of each array of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Footprint {
    /// Each array with its bytes, in the order of [`Format::arrays`].
    pub arrays: Vec<(ArraySpec, u64)>,
}

impl Footprint {
    /// Arrays with these bytes.
    pub fn new(arrays: Vec<(ArraySpec, u64)>) -> Self {
        Self { arrays }
    }

    /// The bytes of all arrays.
    pub fn total(&self) -> u64 {
        let bytes = self.arrays.iter().map(|&(_, bytes)| bytes);
        bytes.fold(0, u64::saturating_add)
    }
}

impl Statistics {
    /// How many positions each level of `format` would have; `None` where there
    /// are more than 64 bits count, and for formats that are not
    /// [regular](Format::is_regular), whose positions depend on more than counts.
    ///
    /// # Panics
    /// If the format is of another order.
    pub fn positions_in(&self, format: &Format) -> Option<Vec<u64>> {
        assert_eq!(
            format.order(),
            self.extents.len(),
            "`{format}` for statistics of another order"
        );
        if !format.is_regular() {
            return None;
        }
        let modes = format.level_order();
        let mut parents = 1u64;
        let mut positions = Vec::new();
        for (number, level) in format.levels().iter().enumerate() {
            parents = match level.kind {
                LevelKind::Dense | LevelKind::Batch => {
                    parents.checked_mul(self.extents[level.mode()])?
                }
                LevelKind::Compressed => self.n_distinct(&modes[..=format.chain_end(number)]),
                _ => parents,
            };
            positions.push(parents);
        }
        Some(positions)
    }

    /// How many bytes the arrays would take in `format` with values of
    /// `element`; `None` where [`Statistics::positions_in`] is.
    ///
    /// # Panics
    /// If the format is of another order.
    ///
    /// ```
    /// use sparsec_base::ElementType;
    /// use sparsec_format::{Format, Statistics};
    /// let none = Statistics::empty(&[1000, 1000]);
    /// let bytes = |format| none.bytes_in(&format, ElementType::F64).map(|bytes| bytes.total());
    /// assert_eq!(bytes(Format::csr()), Some(4 * 1001));
    /// assert_eq!(bytes(Format::dense(2)), Some(8_000_000));
    /// ```
    pub fn bytes_in(&self, format: &Format, element: ElementType) -> Option<Footprint> {
        let positions = self.positions_in(format)?;
        let above = |level: usize| match level {
            0 => 1,
            _ => positions[level - 1],
        };
        let bytes = |width: IndexWidth| u64::from(width.bits() / 8);
        let mut arrays = Vec::new();
        for spec in format.arrays() {
            let declared = format.declared_width(spec.role);
            let (n, size) = match (spec.role, spec.role.level()) {
                (Role::Pos(level), _) => {
                    let width = IndexWidth::holding(positions[level]);
                    (
                        above(level).checked_add(1)?,
                        bytes(declared.unwrap_or(width)),
                    )
                }
                (_, Some(level)) => {
                    let extent = self.extents[format.levels()[level].mode()];
                    let width = IndexWidth::holding(extent.saturating_sub(1));
                    (positions[level], bytes(declared.unwrap_or(width)))
                }
                (_, None) => {
                    let n = positions.last().copied().unwrap_or(1);
                    (n, element.size() as u64)
                }
            };
            arrays.push((spec, n.checked_mul(size)?));
        }
        Some(Footprint { arrays })
    }
}
