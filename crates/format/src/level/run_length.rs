//! `run_length`: runs of coordinates that share one value.
//!
//! ```text
//! parent         0            1
//! pos          [ 0            2      3 ]
//! bounds       [ 0   3   8    0   8 ]      where runs begin, and the extent last
//! runs           0-2 3-7      0-7
//! ```
//!
//! The runs of a parent cover every coordinate, and those of `p` are bounded by
//! `bounds[pos(p) + p]` up to `bounds[pos(p+1) + p]`. Stands only as the last
//! level: a position holds the value of all coordinates of its run.

use super::{Capabilities, LevelSpec, Part};

/// What a run-length level is.
pub const SPEC: LevelSpec = LevelSpec {
    name: "run_length",
    summary: "a run of coordinates with one value",
    arrays: &[Part::Pos, Part::Bounds],
    capabilities: Capabilities {
        full: true,
        locate: false,
        single: false,
        positional: false,
        ordered: true,
        may_repeat: false,
        may_be_unordered: false,
        random_insert: false,
        probing_insert: false,
    },
    fragment: "{[p, i] -> [q] : 0 <= p < M && pos(p) <= q < pos(p + 1) && bounds(q + p) <= i < bounds(q + p + 1) && 0 <= i < N}",
    n_positions: "pos(M)",
    declarations: "assume pos(0) = 0
        function pos : {[p] : 0 <= p <= M} -> {[q] : 0 <= q <= pos(M)} nondecreasing
        function bounds : {[b] : 0 <= b < pos(M) + M} -> {[i] : 0 <= i <= N}
        forall p, b1, b2 : 0 <= p < M && pos(p) + p <= b1 < b2 <= pos(p + 1) + p => bounds(b1) < bounds(b2)",
    siblings: "",
};
