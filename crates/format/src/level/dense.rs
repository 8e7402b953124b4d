//! `dense`: every coordinate of the mode, stored or not.
//!
//! ```text
//! extent 4, two parents        parent 0        parent 1
//! coordinate                   0 1 2 3         0 1 2 3
//! position                     0 1 2 3         4 5 6 7      q = p * N + i
//! ```
//!
//! Needs no array. Finds a coordinate in constant time, holds all of them, in
//! order and once; as part of a result it takes coordinates in any order.

use super::{Capabilities, LevelSpec};

/// What a dense level is.
pub const SPEC: LevelSpec = LevelSpec {
    name: "dense",
    summary: "every coordinate, stored or not",
    arrays: &[],
    capabilities: Capabilities {
        full: true,
        locate: true,
        single: false,
        positional: true,
        ordered: true,
        may_repeat: false,
        may_be_unordered: false,
        random_insert: true,
        probing_insert: false,
    },
    fragment: "{[p, i] -> [q] : q = p * N + i && 0 <= p < M && 0 <= i < N}",
    n_positions: "M * N",
    declarations: "",
    siblings: "",
};
