//! `singleton`: one entry for each parent position, at the same position.
//!
//! Where the parents have places of no entry, the extent marks those here.

use super::{Entries, Holes, LevelArrays, Segment, bounds};
use crate::cursor::Place;

/// The entries below `parent`: as many as there are parents.
pub(crate) fn segment(level: &LevelArrays<'_>, parent: &Place) -> Segment {
    let (lo, hi) = bounds(parent);
    let crd = level.arrays.crd(level.number);
    let mut entries = Entries::listed(crd);
    if level.may_pad {
        let mark = level.extent.clone();
        entries.holes = Holes::Marked { crd, mark };
    }
    Segment { lo, hi, entries }
}
