//! `singleton`: one coordinate for each parent position.
//!
//! ```text
//! parent         0 1 2 3        the parent level repeats coordinates
//! crd          [ 3 0 1 1 ]
//! position       0 1 2 3        q = p
//! ```
//!
//! Stands below a `nonunique` level, as in coordinate lists (`coo`). With
//! `nonordered` the coordinates below equal parent coordinates stand in any
//! order; with `nonunique` they may repeat, as they must where another
//! singleton follows.

use super::{Capabilities, LevelSpec, Part};

/// What a singleton level is.
pub const SPEC: LevelSpec = LevelSpec {
    name: "singleton",
    summary: "one coordinate for each parent",
    arrays: &[Part::Crd],
    capabilities: Capabilities {
        full: false,
        locate: false,
        single: true,
        positional: true,
        ordered: true,
        may_repeat: true,
        may_be_unordered: true,
        random_insert: false,
        probing_insert: false,
    },
    fragment: "{[p, i] -> [q] : 0 <= p < M && q = p && crd(q) = i && 0 <= i < N}",
    n_positions: "M",
    declarations: "function crd : {[q] : 0 <= q < M} -> {[i] : 0 <= i < E}",
    siblings: "",
};
