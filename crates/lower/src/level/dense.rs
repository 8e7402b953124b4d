//! `dense`: the position of a coordinate is computed.

use sparsec_base::Scalar;
use sparsec_loop::Expr;

use super::{Coordinates, Entries, Holes, Segment, bounds};
use crate::cursor::Place;

/// The position of `coordinate` below `parent` in a mode of extent `extent`.
pub(crate) fn locate(parent: &Expr, extent: Expr, coordinate: Expr) -> Expr {
    if *parent == Expr::Const(Scalar::I64(0)) {
        return coordinate;
    }
    parent.clone().mul(extent).add(coordinate)
}

/// How many positions so many parents have in a mode of extent `extent`.
pub(crate) fn n_positions(parents: Expr, extent: Expr) -> Expr {
    match parents == Expr::int(1) {
        true => extent,
        false => parents.mul(extent),
    }
}

/// The positions below `parent`: one for each coordinate.
pub(crate) fn segment(extent: &Expr, parent: &Place) -> Segment {
    let times = |p: Expr| match p == Expr::int(0) {
        true => p,
        false => p.mul(extent.clone()),
    };
    let (lo, hi) = bounds(parent);
    let (lo, hi) = (times(lo), times(hi));
    Segment {
        entries: Entries {
            crd: Coordinates::Counted(lo.clone()),
            holes: Holes::None,
        },
        lo,
        hi,
    }
}
