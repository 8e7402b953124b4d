//! `loose_compressed`: segments that end before the next begins.

use sparsec_format::Role;
use sparsec_loop::Expr;

use super::{Entries, LevelArrays, Segment, single};
use crate::cursor::Place;

/// The segment below `parent`: `pos[p]..end[p]`.
pub(crate) fn segment(level: &LevelArrays<'_>, parent: &Place) -> Segment {
    let parent = single(parent);
    let end = level.arrays.index(Role::End(level.number));
    Segment {
        lo: Expr::load(level.arrays.pos(level.number), parent.clone()),
        hi: Expr::load(end, parent),
        entries: Entries::listed(level.arrays.crd(level.number)),
    }
}
