//! `loose_compressed`: segments that need not be full.
//!
//! ```text
//! parent         0     1    2
//! pos          [ 0     3    3    6 ]        where the room of each parent begins
//! end          [ 2     3    6 ]             where its segment ends
//! crd          [ 1 4 ~      0 2 3 ]         ~ is room for one more
//! ```
//!
//! Entries can be taken out of a segment, or put into its room, without moving
//! the others.

use super::{Capabilities, LevelSpec, Part};

/// What a loosely compressed level is.
pub const SPEC: LevelSpec = LevelSpec {
    name: "loose_compressed",
    summary: "a segment of stored coordinates for each parent, with room after it",
    arrays: &[Part::Pos, Part::End, Part::Crd],
    capabilities: Capabilities {
        full: false,
        locate: false,
        single: false,
        positional: false,
        ordered: true,
        may_repeat: true,
        may_be_unordered: true,
        random_insert: false,
        probing_insert: false,
    },
    fragment: "{[p, i] -> [q] : 0 <= p < M && pos(p) <= q < end(p) && crd(q) = i && 0 <= i < N}",
    n_positions: "pos(M)",
    declarations: "assume pos(0) = 0
        function pos : {[p] : 0 <= p <= M} -> {[q] : 0 <= q <= pos(M)} nondecreasing
        function end : {[p] : 0 <= p < M} -> {[q] : 0 <= q <= pos(M)}
        function crd : {[q] : 0 <= q < pos(M)} -> {[i]}
        forall p : 0 <= p < M => pos(p) <= end(p) <= pos(p + 1)
        forall p, q : 0 <= p < M && pos(p) <= q < end(p) => 0 <= crd(q) < N",
    siblings: "0 <= p < M && pos(p) <= q1 < q2 < end(p)",
};
