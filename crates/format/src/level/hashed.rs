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
        may_repeat: false,
        may_be_unordered: false,
        random_insert: true,
    },
    fragment: "{[p, i] -> [q] : 0 <= p < M && pos(p) <= q < pos(p + 1) && crd(q) = i && 0 <= i < N}",
    n_positions: "pos(M)",
};

/// How many slots a table of so many coordinates has.
pub fn n_slots(n: usize) -> usize {
    match n {
        0 => 0,
        n => (2 * n).next_power_of_two(),
    }
}

/// The slot, counted from the first of a table of `n_slots`, at which the search
/// for a coordinate begins.
pub fn first_slot(coordinate: u64, n_slots: usize) -> usize {
    // The upper bits of a product with an odd constant depend on all bits.
    let mixed = coordinate.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    mixed as usize & n_slots.saturating_sub(1)
}
