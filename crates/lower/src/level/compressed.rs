//! `compressed`: entries stand in a segment for each parent position.

use sparsec_loop::Expr;

use super::Segment;
use crate::cursor::Place;
use crate::signature::Arrays;

/// The segment below `parent`: `pos[p]..pos[p + 1]`.
pub(crate) fn segment(arrays: &Arrays, level: usize, parent: &Place) -> Segment {
    let pos = arrays.pos(level);
    // A run of parents is a run of segments that follow one another.
    let (first, last) = match parent {
        Place::At(p) => (p.clone(), p.clone().add(1)),
        Place::Run { lo, hi } => (lo.clone(), hi.clone()),
    };
    Segment {
        lo: Expr::load(pos, first),
        hi: Expr::load(pos, last),
        crd: arrays.crd(level),
    }
}
