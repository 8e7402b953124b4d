//! `structured[n, m]`: of each block of `m` coordinates, `n` are stored.
//!
//! ```text
//! structured[2, 4]        block 0     block 1
//! crd                   [ 0 3         1 2 ]       ascending in a block
//! position                0 1         2 3         n * p to n * p + n
//! ```
//!
//! Stands below the level of the blocks, as in
//! `(i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])`, the
//! sparsity that tensor cores multiply with. A block with fewer than `n` entries
//! is padded with fill at coordinates that nothing else takes.

use super::{Capabilities, LevelSpec, Part};

/// What a structured level is.
pub const SPEC: LevelSpec = LevelSpec {
    name: "structured",
    summary: "a fixed number of stored coordinates for each block",
    arrays: &[Part::Crd],
    capabilities: Capabilities {
        full: false,
        locate: false,
        single: false,
        positional: false,
        ordered: true,
        may_repeat: false,
        may_be_unordered: false,
        random_insert: false,
        probing_insert: false,
    },
    fragment: "{[p, i] -> [q] : 0 <= p < M && p * K <= q < p * K + K && crd(q) = i && 0 <= i < N}",
    n_positions: "M * K",
    declarations: "function crd : {[q] : 0 <= q < M * K} -> {[i] : 0 <= i <= N}",
    siblings: "0 <= p < M && p * K <= q1 < q2 < p * K + K && crd(q2) < N",
};
