//! `range`: one run of neighbouring coordinates, whose positions follow it.
//!
//! ```text
//! walked                               located
//! for p in pos[p0]..pos[p0 + 1] {      p = i + (pos[p0] - first[p0])
//!   i = p - (pos[p0] - first[p0]) … }  if pos[p0] <= p and p < pos[p0 + 1] { … }
//! ```

use sparsec_format::Role;
use sparsec_loop::{BinaryOp, Expr};

use super::{Coordinates, Entries, Holes, LevelArrays, Segment, single};
use crate::cursor::Place;

/// The run below `parent`: `pos[p]..pos[p + 1]`.
pub(crate) fn segment(level: &LevelArrays<'_>, parent: &Place) -> Segment {
    let pos = level.arrays.pos(level.number);
    let parent = single(parent);
    let lo = Expr::load(pos, parent.clone());
    let hi = Expr::load(pos, parent.clone().add(1));
    let first = Expr::load(level.arrays.index(Role::First(level.number)), parent);
    Segment {
        entries: Entries {
            crd: Coordinates::Counted(lo.clone().binary(BinaryOp::Sub, first)),
            holes: Holes::None,
        },
        lo,
        hi,
    }
}
