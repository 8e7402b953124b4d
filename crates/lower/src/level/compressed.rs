//! `compressed`: entries stand in a segment for each parent position.

use sparsec_loop::Expr;

use super::{Entries, LevelArrays, Segment, bounds};
use crate::cursor::Place;

/// The segment below `parent`: `pos[p]..pos[p + 1]`.
pub(crate) fn segment(level: &LevelArrays<'_>, parent: &Place) -> Segment {
    let pos = level.arrays.pos(level.number);
    // A run of parents is a run of segments that follow one another.
    let (first, last) = bounds(parent);
    Segment {
        lo: Expr::load(pos, first),
        hi: Expr::load(pos, last),
        entries: Entries::listed(level.arrays.crd(level.number)),
    }
}
