//! The order of coordinates, and which of them are there twice.

use std::cmp::Ordering;

use sparsec_base::Result;
use sparsec_format::{Level, LevelKind};

use super::Part;
use super::check::bad;
use crate::walk::WalkLevel;

/// A search for coordinates that do not ascend below a position.
pub(super) struct Order<'a> {
    part: &'a Part,
    levels: &'a [WalkLevel<'a>],
    /// From this level on, coordinates ascend by themselves.
    by_itself: usize,
}

impl<'a> Order<'a> {
    pub(super) fn of(part: &'a Part, levels: &'a [WalkLevel<'a>]) -> Self {
        let is_by_itself = |level: &Level| {
            use LevelKind::{Batch, Bitmap, Dense, Range};
            matches!(level.kind, Dense | Batch | Bitmap | Range) && level.may_pad()
        };
        let mut levels_of_part = part.format.levels().iter();
        let by_itself = levels_of_part.rposition(|level| !is_by_itself(level));
        Self {
            part,
            levels,
            by_itself: by_itself.map_or(0, |last| last + 1),
        }
    }

    /// # Errors
    /// `E0405` for the first coordinate that is out of order.
    pub(super) fn check(&self) -> Result<()> {
        self.below(0, 0)
    }

    fn below(&self, number: usize, parent: usize) -> Result<()> {
        if number >= self.by_itself {
            return Ok(());
        }
        let (format, level) = (&self.part.format, &self.levels[number]);
        // The bounds of runs were checked.
        let is_mode = format.levels()[number].coordinate.mode().is_some();
        if level.kind == LevelKind::RunLength && is_mode {
            return Ok(());
        }
        let end = format.chain_end(number);
        let kinds = &format.levels()[number..=end];
        let mut before: Vec<u64> = Vec::new();
        let mut tuple: Vec<u64> = Vec::new();
        let mut fault = Ok(());
        level.for_each_child(parent, |coord, position| {
            if fault.is_err() {
                return;
            }
            tuple.clear();
            tuple.push(coord);
            for level in &self.levels[number + 1..=end] {
                level.for_each_child(position, |coord, _| tuple.push(coord));
            }
            for ((at, &place), level) in (number..).zip(&tuple).zip(kinds) {
                if !level.may_pad() && !self.part.map.has_place(at, place) {
                    let message =
                        format!("level {at} has coordinate {place}, which is that of no entry");
                    fault = Err(bad(message).help(
                        "places on a curve are those of coordinates within the extents",
                    ));
                    return;
                }
            }
            let decides = before.iter().zip(&tuple).zip(kinds);
            let decides = decides.map(|((a, b), level)| (a.cmp(b), level));
            let is_wrong = match decides.clone().find(|(found, _)| found.is_ne()) {
                _ if before.is_empty() => false,
                Some((found, level)) => found == Ordering::Greater && level.is_ordered(),
                None => kinds.last().is_some_and(|level| level.unique),
            };
            if is_wrong {
                let message = format!(
                    "level {number}: coordinate {tuple:?} comes after {before:?} below position {parent}"
                );
                let help = "sort the entries, or make the level `nonordered`";
                fault = Err(bad(message).help(help));
                return;
            }
            std::mem::swap(&mut before, &mut tuple);
            fault = self.below(end + 1, position);
        });
        fault
    }
}

/// The coordinates of entries, to find those that are stored twice: as numbers, where
/// these have 64 bits at most.
pub(super) enum Coordinates<'a> {
    Numbers(&'a [u64], Vec<u64>),
    Tuples(Vec<Vec<u64>>),
}

impl<'a> Coordinates<'a> {
    pub(super) fn new(extents: &'a [u64]) -> Self {
        let mut sizes = extents.iter().copied();
        match sizes.try_fold(1_u64, u64::checked_mul) {
            Some(_) => Self::Numbers(extents, Vec::new()),
            None => Self::Tuples(Vec::new()),
        }
    }

    pub(super) fn push(&mut self, coords: &[u64]) {
        match self {
            Self::Numbers(extents, all) => {
                let places = extents.iter().zip(coords);
                all.push(places.fold(0, |number, (extent, coord)| number * extent + coord));
            }
            Self::Tuples(all) => all.push(coords.to_vec()),
        }
    }

    /// Coordinates that are there twice.
    pub(super) fn repeated(self) -> Option<Vec<u64>> {
        match self {
            Self::Numbers(extents, mut all) => {
                all.sort_unstable();
                let pair = all.windows(2).find(|pair| pair[0] == pair[1])?;
                let mut rest = pair[0];
                let mut coords: Vec<u64> = Vec::new();
                for extent in extents.iter().rev() {
                    coords.insert(0, rest % extent);
                    rest /= extent;
                }
                Some(coords)
            }
            Self::Tuples(mut all) => {
                all.sort_unstable();
                let pair = all.windows(2).find(|pair| pair[0] == pair[1])?;
                Some(pair[0].clone())
            }
        }
    }
}
