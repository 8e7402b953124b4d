//! Which formats kernels read and write as they are, and in which order results take
//! their entries.
//!
//! ```text
//! (i : dense, j : dense)          any order: each position is computed
//! (i : hashed)                    any order: each entry is looked for
//! (i : dense, j : hashed)         any order below one i after the other
//! (i : dense, j : compressed)     in order: each entry is appended
//! ```

use crate::format::{Format, Level, Widths};
use crate::level::LevelKind;

impl Format {
    /// Whether kernels walk tensors in the format as they are; others are read
    /// through a conversion.
    pub fn is_native(&self) -> bool {
        self.is_plain()
    }

    /// Whether kernels assemble results in the format; others are made by a
    /// conversion. Entries along a curve can be read, but have to be sorted; entries that
    /// may repeat are not made; levels
    /// with widths of their own can be read, but are checked as one when written;
    /// a `bitmap` below lists would have to grow with them; and what is below a table
    /// would have to move with it.
    pub fn is_assembled(&self) -> bool {
        let has_own = |level: &Level| level.widths != Widths::default();
        let kinds = || self.levels.iter().map(|level| level.kind);
        self.is_native()
            && self.order.is_none()
            && !self.levels.iter().any(has_own)
            && self.levels.last().is_none_or(|level| level.unique)
            && kinds().all(LevelKind::is_assembled)
            && (self.takes_any_order() || kinds().all(|kind| kind != LevelKind::Bitmap))
            && kinds()
                .rev()
                .skip(1)
                .all(|kind| !kind.capabilities().probing_insert)
    }

    /// Whether a result in the format takes its entries in any order below one parent
    /// of the last level: each is looked for.
    pub fn is_probed(&self) -> bool {
        let last = self.levels.last();
        self.is_plain() && last.is_some_and(|level| level.kind.capabilities().probing_insert)
    }

    /// Whether a result in the format takes its entries in any order: the position of
    /// each is computed, or looked for among all.
    pub fn is_scattered_to(&self) -> bool {
        self.takes_any_order() || (self.is_probed() && self.levels.len() == 1)
    }

    /// Whether a result in the format takes its entries in any order: the position
    /// of each is computed.
    pub fn takes_any_order(&self) -> bool {
        let takes = |level: &Level| level.kind.capabilities().random_insert;
        self.is_plain() && self.levels.iter().all(takes)
    }
}
