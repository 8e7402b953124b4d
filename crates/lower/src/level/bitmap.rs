//! `bitmap`: a position for every coordinate, stored where its bit is set.
//!
//! ```text
//! walked                               located
//! for p in p0 * N..(p0 + 1) * N {      p = p0 * N + i
//!   if bits[p] != 0 {                  if bits[p] != 0 { … }
//!     i = p - p0 * N … } }
//! ```

use sparsec_format::Role;

use super::{Coordinates, Entries, Holes, LevelArrays, Segment, dense};
use crate::cursor::Place;

/// The segment below `parent`: all coordinates.
pub(crate) fn segment(level: &LevelArrays<'_>, parent: &Place) -> Segment {
    let Segment { lo, hi, .. } = dense::segment(level, parent);
    Segment {
        entries: Entries {
            crd: Coordinates::Counted(lo.clone()),
            holes: Holes::Unset(level.arrays.index(Role::Bits(level.number))),
        },
        lo,
        hi,
    }
}
