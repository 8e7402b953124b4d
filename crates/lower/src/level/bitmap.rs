//! `bitmap`: a position for every coordinate, stored where its bit is set.
//!
//! ```text
//! walked                               located
//! for p in p0 * N..(p0 + 1) * N {      p = p0 * N + i
//!   if bits[p] != 0 {                  if bits[p] != 0 { … }
//!     i = p - p0 * N … } }
//! ```

use sparsec_loop::{Buffer, Expr};

use super::{Holes, Segment, dense};
use crate::cursor::Place;

/// The segment below `parent`: all coordinates.
pub(crate) fn segment(extent: &Expr, bits: Buffer, parent: &Place) -> Segment {
    let mut segment = dense::segment(extent, parent);
    segment.entries.holes = Holes::Unset(bits);
    segment
}
