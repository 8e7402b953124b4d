//! `singleton`: one entry for each parent position, at the same position.

use super::Segment;
use crate::cursor::Place;
use crate::signature::Arrays;

/// The entries below `parent`: as many as there are parents.
pub(crate) fn segment(arrays: &Arrays, level: usize, parent: &Place) -> Segment {
    let (lo, hi) = match parent {
        Place::At(p) => (p.clone(), p.clone().add(1)),
        Place::Run { lo, hi } => (lo.clone(), hi.clone()),
    };
    Segment {
        lo,
        hi,
        crd: arrays.crd(level),
    }
}
