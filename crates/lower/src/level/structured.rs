//! `structured`: as many entries for each parent as the format says.

use sparsec_loop::Expr;

use super::{Entries, LevelArrays, Segment, bounds};
use crate::cursor::Place;

/// The `n` entries below `parent`.
pub(crate) fn segment(level: &LevelArrays<'_>, n: u32, parent: &Place) -> Segment {
    let (lo, hi) = bounds(parent);
    let times = |p: Expr| p.mul(i64::from(n));
    Segment {
        lo: times(lo),
        hi: times(hi),
        entries: Entries::listed(level.arrays.crd(level.number)),
    }
}
