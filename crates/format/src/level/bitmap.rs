//! `bitmap`: a position for every coordinate, and a bit that says which are stored.
//!
//! ```text
//! extent 4, two parents        parent 0        parent 1
//! bits                       [ 0 1 0 1         1 0 0 0 ]     one byte each
//! position                     0 1 2 3         4 5 6 7       q = p * N + i
//! ```
//!
//! Finds a coordinate in constant time, as `dense` does, and still tells what is
//! stored. Values at other positions are the fill.

use super::{Capabilities, LevelSpec, Part};

/// What a bitmap level is.
pub const SPEC: LevelSpec = LevelSpec {
    name: "bitmap",
    summary: "a place for every coordinate, and which are stored",
    arrays: &[Part::Bits],
    capabilities: Capabilities {
        full: false,
        locate: true,
        single: false,
        positional: false,
        ordered: true,
        may_repeat: false,
        may_be_unordered: false,
        random_insert: true,
        probing_insert: false,
    },
    fragment: "{[p, i] -> [q] : q = p * N + i && 0 <= p < M && 0 <= i < N && bits(q) = 1}",
    n_positions: "M * N",
    declarations: "function bits : {[q] : 0 <= q < M * N} -> {[b] : 0 <= b <= 1}",
    siblings: "",
};
