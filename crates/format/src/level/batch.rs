//! `batch`: every coordinate of a mode, each with a tensor of its own.
//!
//! ```text
//! (b, i, j) -> (b : batch, i : dense, j : compressed)     a matrix for each b
//! ```
//!
//! Stored as `dense`; it stands outside all other levels and says that
//! nothing below is ever merged across its coordinates.

use super::{Capabilities, LevelSpec};

/// What a batch level is.
pub const SPEC: LevelSpec = LevelSpec {
    name: "batch",
    summary: "every coordinate, each with a tensor of its own",
    arrays: &[],
    capabilities: Capabilities {
        full: true,
        locate: true,
        single: false,
        positional: false,
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
