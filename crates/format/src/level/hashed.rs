//! `hashed`: for each parent position a table that finds a coordinate by its hash.
//!
//! ```text
//! parent         0                 1
//! pos          [ 0                 4  4 ]       tables of a power of two of slots
//! crd          [ 8 N N 3 ]                      N, the extent, marks an empty slot
//! ```
//!
//! Coordinate `i` begins its search at [`first_slot`] and goes on to the next
//! slot, around the end of the table, until it meets itself or an empty slot.
//! Tables are at most half full, so there is one. Coordinates stand in no order.

pub use sparsec_base::hash::{MULTIPLIER, first_slot, n_slots};

use super::{Capabilities, LevelSpec, Part};

/// What a hashed level is.
pub const SPEC: LevelSpec = LevelSpec {
    name: "hashed",
    summary: "a hash table of stored coordinates for each parent",
    arrays: &[Part::Pos, Part::Crd],
    capabilities: Capabilities {
        full: false,
        locate: true,
        single: false,
        positional: false,
        ordered: false,
        may_repeat: false,
        may_be_unordered: false,
        random_insert: false,
        probing_insert: true,
    },
    fragment: "{[p, i] -> [q] : 0 <= p < M && pos(p) <= q < pos(p + 1) && crd(q) = i && 0 <= i < N}",
    n_positions: "pos(M)",
    declarations: "assume pos(0) = 0
        function pos : {[p] : 0 <= p <= M} -> {[q] : 0 <= q <= pos(M)} nondecreasing
        function crd : {[q] : 0 <= q < pos(M)} -> {[i] : 0 <= i <= N}",
    siblings: "0 <= p < M && pos(p) <= q1 < q2 < pos(p + 1) && crd(q1) < N",
};
