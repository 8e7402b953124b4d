//! `range`: for each parent position one run of neighbouring coordinates.
//!
//! ```text
//! parent         0       1    2
//! pos          [ 0       3    3    5 ]
//! first        [ 4       0    1 ]         the first coordinate of the run
//! coordinates    4 5 6        1 2         q = pos(p) + i - first(p)
//! ```
//!
//! Stores no coordinates, and finds one in constant time: diagonals (`dia`) and
//! skylines (`sky`). A run reaches from the first entry to the last; what lies
//! between is stored, as the fill where nobody put anything else.

use super::{Capabilities, LevelSpec, Part};

/// What a range level is.
pub const SPEC: LevelSpec = LevelSpec {
    name: "range",
    summary: "a run of neighbouring coordinates for each parent",
    arrays: &[Part::Pos, Part::First],
    capabilities: Capabilities {
        full: false,
        locate: true,
        single: false,
        positional: false,
        ordered: true,
        may_repeat: false,
        may_be_unordered: false,
        random_insert: false,
        probing_insert: false,
    },
    fragment: "{[p, i] -> [q] : 0 <= p < M && pos(p) <= q < pos(p + 1) && q = pos(p) + i - first(p) && 0 <= i < N}",
    n_positions: "pos(M)",
    declarations: "assume pos(0) = 0
        function pos : {[p] : 0 <= p <= M} -> {[q] : 0 <= q <= pos(M)} nondecreasing
        function first : {[p] : 0 <= p < M} -> {[i] : 0 <= i <= N}
        forall p : 0 <= p < M => first(p) + pos(p + 1) - pos(p) <= N",
    siblings: "",
};
