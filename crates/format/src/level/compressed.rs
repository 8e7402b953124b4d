//! `compressed`: for each parent position a segment of stored coordinates.
//!
//! ```text
//! parent         0     1    2
//! pos          [ 0     2    2    5 ]        one more than there are parents
//! crd          [ 1 4        0 2 3 ]         ascending in a segment if ordered
//! position       0 1        2 3 4
//! ```
//!
//! With `nonunique` a coordinate may repeat in a segment: once for each entry
//! that the singletons below it tell apart, or, as the last level, for entries
//! that add up. With `nonordered` coordinates stand in any order.

use super::{Capabilities, LevelSpec, Part};

/// What a compressed level is.
pub const SPEC: LevelSpec = LevelSpec {
    name: "compressed",
    summary: "a segment of stored coordinates for each parent",
    arrays: &[Part::Pos, Part::Crd],
    capabilities: Capabilities {
        full: false,
        locate: false,
        single: false,
        positional: true,
        ordered: true,
        may_repeat: true,
        may_be_unordered: true,
        random_insert: false,
        probing_insert: false,
    },
    fragment: "{[p, i] -> [q] : 0 <= p < M && pos(p) <= q < pos(p + 1) && crd(q) = i && 0 <= i < N}",
    n_positions: "pos(M)",
    declarations: "assume pos(0) = 0
        function pos : {[p] : 0 <= p <= M} -> {[q] : 0 <= q <= pos(M)} nondecreasing
        function crd : {[q] : 0 <= q < pos(M)} -> {[i] : 0 <= i < N}",
    siblings: "0 <= p < M && pos(p) <= q1 < q2 < pos(p + 1)",
};
