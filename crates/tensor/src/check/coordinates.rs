//! Checks of coordinates: bounds, order and uniqueness.
//!
//! Nearly all tensors pass, so a check has to be fast for those. Coordinates are read once, in
//! blocks that fit into the nearest cache, without a branch. A block has a mark for each entry that
//! does not ascend, and a segment takes the mark away where it begins. What is left is a fault:
//!
//! ```text
//! 1.pos   0     3   5           crd    1 4 7   2 8   0 3
//! entries that do not ascend           . . .   x .   x .
//! entries at which a segment begins    x . .   x .   x .
//! ```
//!
//! Of tuples of several coordinates, the marks are those of the last one, and each one before it
//! keeps them where it is equal. Only if a mark is left are entries gone through one by one, to name
//! the first fault.

use std::cmp::Ordering;
use std::ops::Range;

use sparsec_base::{Diagnostic, Result, code};
use sparsec_format::{Curve, LevelKind, Role};
use sparsec_parallel::{map, ranges, sort_pairs};

use super::{Checker, Depth, GRAIN, first};
use crate::index::Index;

/// Entries that are looked at before the next ones are.
const BLOCK: usize = 1 << 10;

/// A number of an index array as the checks read it: negative ones are beyond
/// every extent.
trait Coordinate: Copy + Ord + Send + Sync {
    /// What is noted of no coordinates.
    const NOTHING: Self;
    fn unsigned(self) -> u64;
    /// The last coordinate of an extent, or the greatest number of the width.
    fn last_of(extent: u64) -> Option<Self>;
    /// What is noted of coordinates and one more: one number for any of them, since loops that
    /// branch nowhere vectorise.
    fn noted(noted: Self, coord: Self, last: Self) -> Self;
    /// Whether all of which this is noted are at most `last`.
    fn are_inside(noted: Self, last: Self) -> bool;
}

macro_rules! coordinates {
    ($($ty:ty: |$noted:ident, $coord:ident, $last:ident| $note:expr, $inside:expr;)*) => {$(
        impl Coordinate for $ty {
            const NOTHING: Self = 0;
            fn unsigned(self) -> u64 {
                // A sign becomes the highest of all 64 bits.
                i64::from(self) as u64
            }
            fn last_of(extent: u64) -> Option<Self> {
                let last = extent.checked_sub(1)?;
                Some(Self::try_from(last).unwrap_or(Self::MAX))
            }
            #[allow(unused_variables, reason = "without a sign, the greatest is noted")]
            fn noted($noted: Self, $coord: Self, $last: Self) -> Self {
                $note
            }
            #[allow(unused_variables, reason = "with a sign, it is noted of each")]
            fn are_inside($noted: Self, $last: Self) -> bool {
                $inside
            }
        }
    )*};
}
// With a sign, a number beyond the extent has a negative difference to the last coordinate.
coordinates! {
    u8: |noted, coord, last| noted.max(coord), noted <= last;
    u16: |noted, coord, last| noted.max(coord), noted <= last;
    i32: |noted, coord, last| noted | coord | last.wrapping_sub(coord), noted >= 0;
    i64: |noted, coord, last| noted | coord | last.wrapping_sub(coord), noted >= 0;
}

/// Whether all coordinates are below the extent.
fn are_below<T: Coordinate>(coords: &[T], extent: u64) -> bool {
    let Some(last) = T::last_of(extent) else {
        return coords.is_empty();
    };
    let coords = coords.iter();
    let noted = coords.fold(T::NOTHING, |noted, &coord| T::noted(noted, coord, last));
    T::are_inside(noted, last)
}

/// Marks the coordinates that are less than the one before, and keeps the marks of those that are
/// equal: a mark for each but the first. Whether all coordinates are below the extent.
fn mark<T: Coordinate>(coords: &[T], extent: u64, marks: &mut [u32]) -> bool {
    let (Some(last), [first, rest @ ..]) = (T::last_of(extent), coords) else {
        return coords.is_empty();
    };
    let mut noted = T::noted(T::NOTHING, *first, last);
    for ((&before, &at), mark) in coords.iter().zip(rest).zip(marks) {
        noted = T::noted(noted, at, last);
        *mark = u32::from(before > at) | (u32::from(before == at) & *mark);
    }
    T::are_inside(noted, last)
}

/// Runs an expression with the numbers of an index array as a slice.
macro_rules! with_slice {
    ($index:expr, $slice:ident => $body:expr) => {
        match $index {
            Index::W8($slice) => $body,
            Index::W16($slice) => $body,
            Index::W32($slice) => $body,
            Index::W64($slice) => $body,
        }
    };
}

impl<'a> Checker<'a> {
    /// Checks the coordinates of all levels.
    pub(super) fn coordinates(&self) -> Result<()> {
        let starts: Vec<usize> = (0..self.format.levels().len())
            .filter(|&level| self.format.levels()[level].kind == LevelKind::Compressed)
            .collect();
        if starts.iter().all(|&level| self.is_sound(level)) {
            return Ok(());
        }
        for (number, level) in self.format.levels().iter().enumerate() {
            if !level.is_full() {
                self.bounds(number)?;
            }
        }
        starts.into_iter().try_for_each(|level| self.order(level))
    }

    /// Whether the chain that begins at `level` is in bounds and in order, as far
    /// as one quick look tells; false where it needs a closer one.
    fn is_sound(&self, level: usize) -> bool {
        let chain = self.chain(level);
        let (_, pos) = self.index(Role::Pos(level));
        let n = chain.crds[0].len();
        let blocks = map(ranges(n, GRAIN), |block| chain.is_sound(pos, block));
        !blocks.contains(&false)
    }

    /// Whether entries ascend along the curve that the format names.
    pub(super) fn along_the_curve(&self) -> Result<()> {
        let curve = match self.depth {
            Depth::Entries => Curve::new(self.format, self.extents)?,
            Depth::Levels => None,
        };
        let Some(curve) = curve else {
            return Ok(());
        };
        let crds: Vec<Index<'_>> = (0..self.format.levels().len())
            .map(|level| self.index(Role::Crd(level)).1)
            .collect();
        let mut row = vec![0; crds.len()];
        let mut before = None;
        for at in 0..crds.first().map_or(0, |crd| crd.len()) {
            for (level, crd) in self.format.levels().iter().zip(&crds) {
                row[level.mode()] = crd.at(at) as u64;
            }
            let key = curve.key(&row);
            if before.is_some_and(|before| before > key) {
                return Err(Diagnostic::new(
                    code::BAD_COORDINATES,
                    format!("entry {at} comes before entry {} along the curve", at - 1),
                )
                .help("pack the entries, or leave out `order`"));
            }
            before = Some(key);
        }
        Ok(())
    }

    fn extent(&self, level: usize) -> u64 {
        self.extents[self.format.levels()[level].mode()]
    }

    /// The levels from a compressed one to the end of its chain.
    fn chain(&self, level: usize) -> Chain<'a> {
        let end = self.format.chain_end(level);
        let levels = &self.format.levels()[level..=end];
        let is_looked_at = self.depth == Depth::Entries || levels.iter().all(|it| it.ordered);
        Chain {
            crds: (level..=end)
                .map(|level| self.index(Role::Crd(level)).1)
                .collect(),
            extents: (level..=end).map(|level| self.extent(level)).collect(),
            ordered: levels.iter().map(|level| level.ordered).collect(),
            unique: levels[levels.len() - 1].unique && is_looked_at,
        }
    }

    /// Names the first coordinate of a level that its mode does not have.
    fn bounds(&self, level: usize) -> Result<()> {
        let (name, crd) = self.index(Role::Crd(level));
        let mode = self.format.levels()[level].mode();
        let extent = self.extents[mode];
        let outside = first(crd.len(), |range| {
            with_slice!(crd, crd => {
                let block = &crd[range];
                if are_below(block, extent) {
                    return None;
                }
                block.iter().position(|c| c.unsigned() >= extent)
            })
        });
        match outside {
            None => Ok(()),
            Some(at) => {
                let found = crd.get(at);
                let message =
                    format!("`{name}[{at}]` is {found}, but mode {mode} has extent {extent}");
                let fault = Diagnostic::new(code::OUT_OF_BOUNDS, message)
                    .help("correct the coordinate, or state a larger extent");
                Err(match found < 0 {
                    true => fault.note(format!(
                        "in an array without a sign, that is {}",
                        crd.unsigned(at)
                    )),
                    false => fault,
                })
            }
        }
    }

    /// Names the first entry that breaks order or uniqueness in the chain that
    /// begins at `level`.
    fn order(&self, level: usize) -> Result<()> {
        let chain = self.chain(level);
        let (_, pos) = self.index(Role::Pos(level));
        let faults = map(ranges(pos.len() - 1, GRAIN / 16), |parents| {
            parents
                .map(|parent| chain.fault(pos.at(parent)..pos.at(parent + 1)))
                .find(|fault| !matches!(fault, Ok(None)))
                .unwrap_or(Ok(None))
        });
        for fault in faults {
            if let Some(fault) = fault? {
                let (name, _) = self.index(Role::Crd(level + fault.depth));
                return Err(chain.diagnostic(&name, &fault));
            }
        }
        Ok(())
    }
}

/// The tuples of a chain of levels and what is promised of them.
struct Chain<'a> {
    crds: Vec<Index<'a>>,
    extents: Vec<u64>,
    ordered: Vec<bool>,
    unique: bool,
}

/// Where a chain breaks its promise.
struct ChainFault {
    at: usize,
    before: usize,
    depth: usize,
    repeats: bool,
}

impl Chain<'_> {
    /// Whether tuples in the block are in bounds, and ascend, the one before the block with them,
    /// wherever no segment begins between two.
    fn is_sound(&self, pos: Index<'_>, block: Range<usize>) -> bool {
        let is_promised = self.unique || self.ordered.contains(&true);
        with_slice!(pos, pos => {
            let place = |p: &_| Coordinate::unsigned(*p) as usize;
            let first = pos.partition_point(|p| place(p) < block.start);
            let mut starts = pos[first..].iter().map(place).peekable();
            let mut marks = [0; BLOCK];
            let mut parts = block.clone().step_by(BLOCK).map(|start| {
                start..block.end.min(start + BLOCK)
            });
            parts.all(|part| {
                // The first entry of all has none before it.
                let from = part.start.saturating_sub(1);
                let marks = &mut marks[..part.end - from - 1];
                if !self.mark(from..part.end, marks) {
                    return false;
                }
                while let Some(at) = starts.next_if(|at| *at < part.end) {
                    if let Some(pair) = at.checked_sub(from + 1) {
                        marks[pair] = 0;
                    }
                }
                !is_promised || marks.iter().fold(0, |any, mark| any | mark) == 0
            })
        })
    }

    /// Marks the tuples that may not follow the one before them in a segment. Whether all
    /// coordinates are in bounds.
    fn mark(&self, part: Range<usize>, marks: &mut [u32]) -> bool {
        marks.fill(u32::from(self.unique));
        let mut levels = self.crds.iter().zip(&self.extents).rev();
        levels
            .all(|(&crd, &extent)| with_slice!(crd, crd => mark(&crd[part.clone()], extent, marks)))
    }

    /// The first fault in a segment.
    fn fault(&self, segment: Range<usize>) -> Result<Option<ChainFault>> {
        let mut ascending = true;
        for at in segment.start + 1..segment.end.max(segment.start + 1) {
            let (depth, order) = self.compare(at - 1, at);
            let fault = |repeats| {
                Ok(Some(ChainFault {
                    at,
                    before: at - 1,
                    depth,
                    repeats,
                }))
            };
            match order {
                Ordering::Less => {}
                Ordering::Equal if self.unique => return fault(true),
                Ordering::Equal => {}
                Ordering::Greater if self.ordered[depth] => return fault(false),
                Ordering::Greater => ascending = false,
            }
        }
        if ascending || !self.unique {
            return Ok(None);
        }
        self.repetition(segment)
    }

    /// The first position of an unordered segment whose tuple was there before.
    fn repetition(&self, segment: Range<usize>) -> Result<Option<ChainFault>> {
        let widths = self.extents.iter();
        let widths = widths.map(|extent| u64::BITS - extent.saturating_sub(1).leading_zeros());
        let bits = widths.clone().sum();
        // Tuples are compared through hashes of 64 bits where they have more:
        // what is equal there is looked at itself.
        let key = |at: usize| {
            let coords = self.crds.iter().zip(widths.clone());
            coords.fold(0u64, |key, (crd, width)| match bits {
                0..=64 => key.checked_shl(width).unwrap_or(0) | crd.at(at) as u64,
                _ => (key ^ crd.at(at) as u64)
                    .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                    .rotate_left(29),
            })
        };
        let mut keys = crate::alloc::with_room(segment.len())?;
        keys.extend(segment.clone().map(key));
        let mut places = crate::alloc::with_room(segment.len())?;
        places.extend(segment);
        let sorted = sort_pairs(&keys[..], &places, bits.min(64), None)?;
        let mut found: Option<ChainFault> = None;
        let mut at = 0;
        for run in sorted.keys().chunk_by(|a, b| a == b) {
            let places = &sorted.values()[at..at + run.len()];
            at += run.len();
            if places.len() < 2 {
                continue;
            }
            let mut places = places.to_vec();
            places.sort_by(|&a, &b| self.compare(a, b).1.then(a.cmp(&b)));
            for pair in places.windows(2) {
                let repeats = self.compare(pair[0], pair[1]).1.is_eq();
                if repeats && found.as_ref().is_none_or(|found| pair[1] < found.at) {
                    found = Some(ChainFault {
                        at: pair[1],
                        before: pair[0],
                        depth: self.crds.len() - 1,
                        repeats: true,
                    });
                }
            }
        }
        Ok(found)
    }

    /// How the tuples at two positions compare, and in which level of the chain
    /// that is decided.
    #[inline]
    fn compare(&self, a: usize, b: usize) -> (usize, Ordering) {
        for (depth, crd) in self.crds.iter().enumerate() {
            match crd.get(a).cmp(&crd.get(b)) {
                Ordering::Equal => {}
                unequal => return (depth, unequal),
            }
        }
        (self.crds.len() - 1, Ordering::Equal)
    }

    fn diagnostic(&self, name: &str, fault: &ChainFault) -> Diagnostic {
        let tuple = |q: usize| {
            let coords = self.crds.iter().map(|crd| crd.get(q).to_string());
            match &coords.collect::<Vec<_>>()[..] {
                [one] => one.clone(),
                more => format!("({})", more.join(", ")),
            }
        };
        let (at, before) = (fault.at, fault.before);
        let (message, help) = if fault.repeats {
            (
                format!(
                    "`{name}[{at}]`: coordinate {} stands twice in its segment",
                    tuple(at)
                ),
                "add up the duplicates, or make the level `nonunique`",
            )
        } else {
            (
                format!(
                    "`{name}[{at}]`: coordinate {} comes after {} in its segment",
                    tuple(at),
                    tuple(before)
                ),
                "sort the entries, or make the level `nonordered`",
            )
        };
        Diagnostic::new(code::BAD_COORDINATES, message).help(help)
    }
}
