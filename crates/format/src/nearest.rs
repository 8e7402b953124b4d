//! Which formats are alike, and which one kernels use in place of another.

use crate::format::{Format, Level, Widths};
use crate::level::LevelKind;

impl Format {
    /// Whether both arrange entries in the same way, in arrays of whatever width.
    pub fn arranges_like(&self, other: &Self) -> bool {
        self.is_like(other, |_| Widths::default())
    }

    fn without_widths(&self) -> Self {
        let level = |level: &Level| Level {
            widths: Widths::default(),
            ..level.clone()
        };
        Self {
            levels: self.levels.iter().map(level).collect(),
            widths: Widths::default(),
            rest: self.rest.iter().map(Self::without_widths).collect(),
            ..self.clone()
        }
    }

    /// Whether both arrange entries in the same arrays: equal but for the
    /// names of modes and the fill.
    pub fn stores_like(&self, other: &Self) -> bool {
        self.is_like(other, |widths| widths)
    }

    /// Whether both are equal but for the names of modes, the fill, and what is not `seen`
    /// of widths.
    fn is_like(&self, other: &Self, seen: fn(Widths) -> Widths) -> bool {
        let Self {
            modes: _,
            fill: _,
            levels,
            widths,
            region,
            mirror,
            order,
            rest,
        } = self;
        let is_like = |(a, b): (&Level, &Level)| {
            seen(a.widths) == seen(b.widths)
                && (a.kind, a.unique, a.ordered) == (b.kind, b.unique, b.ordered)
                && a.coordinate == b.coordinate
        };
        seen(*widths) == seen(other.widths)
            && (region, mirror, order) == (&other.region, &other.mirror, &other.order)
            && (levels.len(), rest.len()) == (other.levels.len(), other.rest.len())
            && levels.iter().zip(&other.levels).all(is_like)
            && (rest.iter().zip(&other.rest)).all(|(part, other)| part.is_like(other, seen))
    }

    /// The format nearest to this one that kernels walk and assemble, which stores
    /// the same entries and no others: modes in the order of the levels where
    /// these store them, the outermost dense where it is here.
    ///
    /// ```
    /// use sparsec_format::{Format, FormatSpec};
    /// let nearest = |text: &str| -> Result<Format, sparsec_base::Diagnostic> {
    ///     Ok(text.parse::<FormatSpec>()?.resolve(2)?.nearest())
    /// };
    /// assert_eq!(nearest("bsr(4, 4)")?, Format::csr());
    /// assert_eq!(nearest("(i, j) -> (j : hashed, i : bitmap)")?, Format::dcsc());
    /// assert_eq!(nearest("csc")?, Format::csc());
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    #[must_use]
    pub fn nearest(&self) -> Self {
        let mut modes: Vec<usize> = Vec::new();
        // Modes that are computed have no place in the order.
        let stored = self
            .levels
            .iter()
            .filter_map(|level| level.coordinate.mode());
        let (stored, all): (Vec<usize>, _) = (stored.collect(), 0..self.order());
        let is_listed = stored.len() == self.order();
        for mode in stored.into_iter().filter(|_| is_listed).chain(all) {
            if !modes.contains(&mode) {
                modes.push(mode);
            }
        }
        let is_whole = self.region.is_none() && self.rest.is_empty();
        let is_full = is_whole && self.levels.iter().all(Level::is_full);
        let is_rank = |level: &Level| level.coordinate.is_rank();
        let has_full_rows = self.order() > 1 && self.levels.first().is_some_and(Level::is_full);
        let has_ranks = self.levels.iter().any(is_rank);
        let kind = |place: usize| match is_full && !has_ranks || place == 0 && has_full_rows {
            true => LevelKind::Dense,
            false => LevelKind::Compressed,
        };
        let levels = modes.iter().enumerate();
        let levels = levels.map(|(place, &mode)| Level::new(mode, kind(place)));
        let without_widths = self.without_widths().with_widths(self.widths);
        if without_widths.is_assembled() {
            return without_widths;
        }
        Self::unchecked(self.modes.clone(), levels.collect()).with_widths(self.widths)
    }
}
