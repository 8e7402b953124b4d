//! Dense products whose rows share a factor: kernels keep several rows in a tile of registers.
//!
//! ```text
//! forall i: forall k: forall j: C(i,j) += A(i,k) * B(k,j)         all of them dense
//!
//! i    goes from row to row of `C`
//! k    changes nothing of where the row is
//! j    goes along the row, and along `B(k,:)`, which is the same for all rows
//! ```
//!
//! See `sparsec_loop::passes::tile`, which makes the tiles.

use sparsec_index::concrete::Stmt;
use sparsec_index::{Access, Concrete, IndexVar};

/// Whether the innermost of these loops adds to rows of which a tile holds several. `is_full`
/// says which loops go over all coordinates.
pub(super) fn holds_rows(
    concrete: &Concrete,
    vars: &[IndexVar],
    is_full: &[bool],
    body: &Stmt,
) -> bool {
    let Stmt::Assign {
        lhs,
        reduce: Some(_),
        rhs,
    } = body
    else {
        return false;
    };
    let Some((column, around)) = vars.split_last() else {
        return false;
    };
    let moves = |access: &Access, depth: usize| {
        let moved = concrete.newly_bound(&vars[..depth], vars[depth]);
        moved.iter().any(|var| access.uses(*var))
    };
    let Some(row) = (0..around.len()).rev().find(|depth| moves(lhs, *depth)) else {
        return false;
    };
    let is_reduced = row + 1 < around.len();
    let shared = |access: &&Access| access.uses(*column) && !moves(access, row);
    is_reduced && is_full[row..].iter().all(|full| *full) && rhs.accesses().iter().any(shared)
}
