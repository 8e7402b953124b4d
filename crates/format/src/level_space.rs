//! A format as its levels see it: level coordinates in place of modes.
//!
//! A tensor stored by level expressions is a tensor of as many modes as levels,
//! stored by levels of plain modes, in the same arrays:
//!
//! ```text
//! A : (i, j) -> (i floordiv 4 : dense, j floordiv 4 : compressed, i mod 4 : dense, j mod 4 : dense)
//! A': (i, j, k, l) -> (i : dense, j : compressed, k : dense, l : dense)
//!
//! A(i,j) = A'(i // 4, j // 4, i % 4, j % 4)
//! ```
//!
//! Nothing is copied to look at a tensor in this way, and kernels walk the
//! levels of `A'` as they walk those of any tensor. A rank of entries is a mode of its
//! own, which the other coordinates do not say: `A(i,j)` is the sum of `A'(k,i,j)` over
//! all `k`. The array that keeps the extent of ranks is none of those of `A'`.
//!
//! What stores a part of the entries, or entries that stand for others, has no such
//! tensor: unions of parts and regions. Nor does what is sorted along a curve of which it does not list the places, or a plain format,
//! whose levels store modes already.

use crate::coordinate::Coordinate;
use crate::format::{Format, Level};
use crate::preset::mode_names;

/// How kernels get at the entries of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// As it is stored.
    Native,
    /// As the tensor of its levels ([`Format::level_space`]), in the same arrays; or,
    /// where loops cannot follow these, by conversion.
    Levels,
    /// As the sum of its pieces ([`Format::pieces`]), in the same arrays; or, where
    /// what is computed is no sum, by conversion.
    Pieces,
    /// As a copy in the nearest format ([`Format::nearest`]).
    Conversion,
}

impl Format {
    /// How kernels read an operand in this format.
    ///
    /// ```
    /// use sparsec_format::{FormatSpec, Way};
    /// let read = |text: &str| -> Result<Way, sparsec_base::Diagnostic> {
    ///     Ok(text.parse::<FormatSpec>()?.resolve(2)?.read_by())
    /// };
    /// assert_eq!(read("csr")?, Way::Native);
    /// assert_eq!(read("dia")?, Way::Levels);
    /// assert_eq!(read("msr")?, Way::Pieces);
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn read_by(&self) -> Way {
        let is_read = |format: &Self| format.way(Self::is_native) != Way::Conversion;
        match self.pieces() {
            Some(pieces) if pieces.iter().all(|piece| is_read(&piece.format)) => Way::Pieces,
            _ => self.way(Self::is_native),
        }
    }

    /// How kernels write a result in this format.
    pub fn written_by(&self) -> Way {
        match self.way(Self::is_assembled) {
            Way::Levels if self.has_ranks() || self.has_lists_in_edges() => Way::Conversion,
            way => way,
        }
    }

    /// Whether a level counts entries.
    pub fn has_ranks(&self) -> bool {
        self.levels.iter().any(|level| level.coordinate.is_rank())
    }

    /// Whether lists hang below a level of which loops leave out what lies beyond
    /// the edge of the tensor: the last block may be a part of one, and lists that
    /// no loop comes to are not closed.
    fn has_lists_in_edges(&self) -> bool {
        let lists = self.levels.iter().rposition(|level| !level.is_full());
        let above = &self.levels[..lists.unwrap_or(0)];
        above.iter().enumerate().any(|(number, level)| {
            let mut is_edge = false;
            level.coordinate.for_each_mode(&mut |mode| {
                for outer in &above[..number] {
                    outer
                        .coordinate
                        .for_each_mode(&mut |other| is_edge |= other == mode);
                }
            });
            level.is_full() && is_edge
        })
    }

    fn way(&self, is_native: fn(&Self) -> bool) -> Way {
        let by_levels = || self.level_space().is_some_and(|levels| is_native(&levels));
        match is_native(self) {
            true => Way::Native,
            false if by_levels() => Way::Levels,
            false => Way::Conversion,
        }
    }

    /// The plain format of the same levels over their own coordinates, which
    /// stores the same arrays; `None` where there is none, or only the format itself:
    /// for unions of parts, regions, orders along a curve, curves whose
    /// places are not listed, and plain formats.
    ///
    /// ```
    /// use sparsec_format::{Format, FormatSpec};
    /// let blocks = "bsr(4, 4)".parse::<FormatSpec>()?.resolve(2)?;
    /// assert_eq!(
    ///     blocks.level_space().map(|format| format.to_string()).as_deref(),
    ///     Some("(i, j, k, l) -> (i : dense, j : compressed, k : dense, l : dense)"),
    /// );
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn level_space(&self) -> Option<Self> {
        let is_whole = self.rest.is_empty() && self.region.is_none() && self.mirror.is_none();
        let is_apart = |level: &Level| match level.coordinate {
            Coordinate::Morton(_) | Coordinate::Alto(_) => level.may_pad(),
            _ => false,
        };
        if !is_whole || self.levels.iter().any(is_apart) || self.order.is_some() || self.is_plain()
        {
            return None;
        }
        let levels = self.levels.iter().enumerate();
        let levels = levels.map(|(number, level)| Level {
            coordinate: number.into(),
            ..level.clone()
        });
        let names = mode_names(self.levels.len());
        let plain = Self::unchecked(names, levels.collect()).with_widths(self.widths);
        Some(Self {
            fill: self.fill,
            ..plain
        })
    }

    /// The extents of the levels, where those of the modes say them.
    pub fn level_extents(&self, extents: &[Option<u64>]) -> Vec<Option<u64>> {
        let is_computed = |level: &Level| !matches!(level.coordinate, Coordinate::Mode(_));
        let known = self.levels.iter().any(is_computed).then(|| extents.iter());
        let known: Option<Vec<u64>> = known.and_then(|extents| extents.copied().collect());
        if let Some(map) = known.and_then(|extents| self.level_map(&extents).ok()) {
            return map.extents().to_vec();
        }
        let levels = self.levels.iter().map(|level| match &level.coordinate {
            Coordinate::Mode(mode) => extents[*mode],
            Coordinate::Modulo(_, by) => Some(*by),
            _ => None,
        });
        levels.collect()
    }
}

impl Coordinate {
    /// The value that is counted as 0, where modes of these extents say it: that
    /// of sums and blocks is 0 whatever they are.
    pub fn least_known(&self, extents: &[Option<u64>]) -> Option<i64> {
        let mut is_known = true;
        self.for_each_mode(&mut |mode| is_known &= extents[mode].is_some());
        let with = |other: u64| {
            let extents = extents.iter().map(|extent| extent.unwrap_or(other));
            Some(self.bounds(&extents.collect::<Vec<_>>())?.0)
        };
        let least = with(1)?;
        (is_known || with(1 << 30)? == least).then_some(least)
    }
}
