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
//! If columns are those of several modes, `C(i,j,n)` and `B(k,j,n)`, one loop goes along all of
//! them wherever the loop over `j` is.
//!
//! See `sparsec_loop::passes`: `tile` makes the tiles, `collapse` the one loop.

use sparsec_index::concrete::Stmt;
use sparsec_index::{Access, Concrete, IndexVar};

use super::Estimate;

/// Loops around an assignment.
pub(super) struct Around<'a> {
    pub(super) estimate: Estimate<'a>,
    /// Their variables, the outermost first.
    pub(super) vars: &'a [IndexVar],
    /// Which of them go over all coordinates.
    pub(super) is_full: &'a [bool],
    /// How many of them are around other statements too.
    pub(super) n_shared: usize,
}

/// Rows of which a tile holds several.
pub(super) struct Tiled {
    /// The variable of the innermost loop, behind those of loops around it whose columns lie one
    /// behind the other with its own, so that one loop goes along all of them.
    pub(super) columns: Vec<IndexVar>,
    /// The bytes of an entry.
    pub(super) bytes: f64,
}

impl Around<'_> {
    /// The rows that the innermost of the loops adds to, if a tile holds several of them.
    pub(super) fn tiled(&self, body: &Stmt) -> Option<Tiled> {
        let Stmt::Assign {
            lhs,
            reduce: Some(_),
            rhs,
        } = body
        else {
            return None;
        };
        let (column, around) = self.vars.split_last()?;
        let row = (0..around.len())
            .rev()
            .find(|depth| self.moves(lhs, *depth))?;
        let is_reduced = row + 1 < around.len();
        let is_full = self.is_full[row..].iter().all(|full| *full);
        let read = rhs.accesses();
        let shared = |access: &&Access| access.uses(*column) && !self.moves(access, row);
        if !is_reduced || !is_full || !read.iter().copied().any(|access| shared(&access)) {
            return None;
        }
        let mut accesses = read;
        accesses.push(lhs);
        let mut columns = vec![*column];
        while let Some(outer) = self.before(lhs, columns[0])
            && let Some(depth) = self.vars[self.n_shared.min(row)..row]
                .iter()
                .position(|var| *var == outer)
            && self.is_full[self.n_shared + depth]
            && accesses.iter().all(|access| {
                let follows = self.before(access, columns[0]) == Some(outer);
                follows || !(access.uses(outer) || access.uses(columns[0]))
            })
        {
            columns.insert(0, outer);
        }
        let bytes = self.estimate.concrete.tensors[lhs.tensor].element.size() as f64;
        Some(Tiled { columns, bytes })
    }

    /// Whether the loop at a depth moves an access.
    fn moves(&self, access: &Access, depth: usize) -> bool {
        let concrete: &Concrete = self.estimate.concrete;
        let moved = concrete.newly_bound(&self.vars[..depth], self.vars[depth]);
        moved.iter().any(|var| access.uses(*var))
    }

    /// The variable of the level above that of another in a dense array: their coordinates lie
    /// one behind the other.
    fn before(&self, access: &Access, var: IndexVar) -> Option<IndexVar> {
        let levels = self.estimate.formats.of(access.tensor).levels();
        let at = levels
            .iter()
            .position(|level| access.var(level.mode()) == Some(var))?;
        let above = levels.get(at.checked_sub(1)?)?;
        let is_dense = [above, &levels[at]].iter().all(|level| level.is_full());
        let named = access.var(above.mode())?;
        let is_once = access
            .indices
            .iter()
            .filter(|index| index.uses(named))
            .count()
            == 1;
        (is_dense && is_once).then_some(named)
    }
}
