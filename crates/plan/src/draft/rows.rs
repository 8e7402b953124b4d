//! Operands that loops come back to, kept in workspaces.
//!
//! ```text
//! forall i: forall j: forall k:           forall i: where(
//!   t += A(i,j) * A(j,k) * A(i,k)           forall j: forall k: t += A(i,j) * A(j,k) * w(k),
//!                                           forall k: w(k) += A(i,k))
//!
//!   precompute(A(i,k), {k}, w : marked)
//! ```
//!
//! A merge of two rows takes the steps of both. Row `i` of `A` is the same in all iterations of `j`:
//! once it is spread over an array, the innermost loop walks row `j` alone and looks up row `i`.
//!
//! Several rows that a loop does not change are multiplied once, before it: a loop over `k`
//! inside of `j` leaves `w(l) * A(j,l)` as it is.
//!
//! ```text
//!   precompute(w(l) * A(j,l), {l}, w1 : marked)
//!   precompute(A(i,r) * B(j,r), {r}, w)                 of dense rows, for each entry of (i, j)
//! ```

use sparsec_index::concrete::{Nested, for_each_nested};
use sparsec_index::{Access, Expr, IndexVar, TensorRole, WorkspaceKind};
use sparsec_schedule::product;

use super::{Draft, walked};

impl Draft<'_> {
    /// The drafts with one more row in a workspace: of an operand that a loop merges with
    /// others, or of the product of all operands that the loop around it does not change.
    pub(crate) fn with_row_kept(&self) -> Vec<Self> {
        let mut drafts = Vec::new();
        for_each_nested(&self.concrete.stmt, &mut |nested| {
            drafts.extend(self.keeping_row_of(nested));
        });
        drafts
    }

    /// The drafts with one more row of an assignment in a workspace.
    fn keeping_row_of(&self, nested: Nested<'_, '_>) -> Vec<Self> {
        let mut drafts = Vec::new();
        for pair in nested.loops.windows(2) {
            let (outer, inner) = (pair[0], pair[1]);
            let place = |var: IndexVar| nested.loops.iter().position(|known| *known == var);
            let ends = |access: &Access| {
                let last = access.vars().into_iter().max_by_key(|var| place(*var));
                last == Some(inner) && !access.uses(outer)
            };
            let mut merged: Vec<&Access> = Vec::new();
            for access in nested.rhs.accesses() {
                if self.is_merged(access, inner) && !merged.contains(&access) {
                    merged.push(access);
                }
            }
            if merged.len() > 1 {
                let rows = merged.iter().filter(|row| ends(row));
                let alone = rows.filter(|row| !has_own(nested, &[row]));
                let kept = alone.map(|row| Expr::Access((*row).clone()));
                let marked = Some(WorkspaceKind::Marked);
                drafts.extend(kept.filter_map(|row| self.keeping(&row, inner, marked)));
            }
            let product = self.product_of(nested, &ends);
            drafts.extend(product.and_then(|product| {
                let accesses = product.accesses();
                let is_sparse = accesses.iter().any(|access| merged.contains(access));
                let is_dense = accesses.iter().all(|access| self.is_dense(access));
                let kind = is_sparse.then_some(WorkspaceKind::Marked);
                (is_sparse || is_dense).then(|| self.keeping(&product, inner, kind))?
            }));
        }
        drafts
    }

    /// The draft with a row in a workspace.
    fn keeping(&self, row: &Expr, mode: IndexVar, kind: Option<WorkspaceKind>) -> Option<Self> {
        let mut draft = self.clone();
        let kept = draft.precompute(row, &[mode], "w", kind);
        kept.is_ok().then_some(draft)
    }

    /// Whether an operand is an array of all places.
    fn is_dense(&self, access: &Access) -> bool {
        let is_workspace = self.concrete.tensors[access.tensor].role == TensorRole::Workspace;
        !is_workspace && walked(&self.formats, access).is_all_dense()
    }

    /// The product of all factors that are such rows, if these are some of several.
    fn product_of(&self, nested: Nested<'_, '_>, is_row: &dyn Fn(&Access) -> bool) -> Option<Expr> {
        let (op, factors) = product(&self.concrete, nested.reduce?, nested.rhs)?;
        let element = nested.rhs.element(&self.concrete.tensors);
        let rounds = element.is_float() || element.is_complex();
        if rounds && self.facts.strict {
            return None;
        }
        let rows = factors.iter().filter_map(|factor| match factor {
            Expr::Access(access) => is_row(access).then_some(access),
            _ => None,
        });
        let rows: Vec<&Access> = rows.collect();
        if rows.len() < 2 || rows.len() == factors.len() || has_own(nested, &rows) {
            return None;
        }
        let rows = rows.into_iter().cloned().map(Expr::Access);
        rows.reduce(|left, right| Expr::Apply {
            op: op.clone(),
            args: vec![left, right],
        })
    }

    /// Whether a loop walks stored coordinates of an operand.
    fn is_merged(&self, access: &Access, var: IndexVar) -> bool {
        if self.concrete.tensors[access.tensor].role == TensorRole::Workspace {
            return false;
        }
        let format = walked(&self.formats, access);
        // Values at the same coordinates would be added before they are multiplied.
        let is_copied = !self.facts.strict || format.levels().iter().all(|level| level.unique);
        let vars = access.plain_vars().unwrap_or_default();
        let is_own = vars.iter().filter(|own| **own == var).count() == 1;
        is_own && is_copied && format.has_sparse()
    }
}

/// Whether rows have a variable that is summed and that no other operand has: it would be
/// summed before these are multiplied.
fn has_own(nested: Nested<'_, '_>, rows: &[&Access]) -> bool {
    let accesses = nested.rhs.accesses();
    let is_own = |var: IndexVar| {
        let mut others = accesses.iter().filter(|other| !rows.contains(other));
        let is_kept = nested.lhs.uses(var) || nested.loops[..nested.n_outside].contains(&var);
        !is_kept && !others.any(|other| other.uses(var))
    };
    let mut vars = rows.iter().flat_map(|row| row.vars());
    vars.any(is_own)
}
