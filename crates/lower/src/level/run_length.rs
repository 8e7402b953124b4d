//! `run_length`: runs that cover every coordinate, a position for each.

use sparsec_format::Role;
use sparsec_loop::Expr;

use super::{Coordinates, Entries, Holes, LevelArrays, Segment, single};
use crate::cursor::Place;

/// The runs below `parent`: run `q` reaches from `bounds[q + p]` to the next.
pub(crate) fn segment(level: &LevelArrays<'_>, parent: &Place) -> Segment {
    let pos = level.arrays.pos(level.number);
    let parent = single(parent);
    Segment {
        lo: Expr::load(pos, parent.clone()),
        hi: Expr::load(pos, parent.clone().add(1)),
        entries: Entries {
            crd: Coordinates::Runs {
                bounds: level.arrays.index(Role::Bounds(level.number)),
                before: parent,
            },
            holes: Holes::None,
        },
    }
}
