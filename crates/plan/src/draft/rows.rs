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
//! A merge of two rows takes the steps of both. Row `i` of `A` is the same in all turns of `j`:
//! once it is spread over an array, the innermost loop walks row `j` alone and looks up row `i`.

use sparsec_index::concrete::Stmt;
use sparsec_index::{Access, Expr, IndexVar, TensorRole};

use super::{Draft, walked};

impl Draft<'_> {
    /// The drafts with one more row in a workspace: of an operand that the innermost loop merges
    /// with others, and that a loop around it does not change.
    pub(crate) fn with_row_kept(&self) -> Vec<Self> {
        let (loops, rhs) = consumed(&self.concrete.stmt);
        let Some((inner, around)) = loops.split_last() else {
            return Vec::new();
        };
        let mut merged: Vec<&Access> = Vec::new();
        for access in rhs.map(Expr::accesses).into_iter().flatten() {
            if self.is_merged(access, *inner) && !merged.contains(&access) {
                merged.push(access);
            }
        }
        if merged.len() < 2 {
            return Vec::new();
        }
        let is_same = |access: &&Access| around.last().is_some_and(|var| !access.uses(*var));
        let kept = merged.iter().copied().filter(is_same);
        let drafts = kept.filter_map(|access| {
            let mut draft = self.clone();
            let workspace = draft.concrete.fresh_name("w");
            let row = draft.concrete.expr_text(&Expr::Access(access.clone()));
            let mode = draft.name(*inner);
            let text = format!("precompute({row}, {{{mode}}}, {workspace} : marked)");
            draft.say(text).is_ok().then_some(draft)
        });
        drafts.collect()
    }

    /// Whether a loop walks stored coordinates of an operand.
    fn is_merged(&self, access: &Access, var: IndexVar) -> bool {
        let is_workspace = self.concrete.tensors[access.tensor].role == TensorRole::Workspace;
        let is_own = access
            .plain_vars()
            .is_some_and(|vars| vars.iter().filter(|own| **own == var).count() == 1);
        is_own && !is_workspace && walked(&self.formats, access).has_sparse()
    }
}

/// The loops around the assignment that comes last, and its right side.
fn consumed(stmt: &Stmt) -> (Vec<IndexVar>, Option<&Expr>) {
    let mut loops = Vec::new();
    let mut inner = stmt;
    loop {
        let (more, next) = inner.nest();
        loops.extend(more);
        match next {
            Stmt::Where { consumer, .. } => inner = consumer,
            Stmt::Assign { rhs, .. } => return (loops, Some(rhs)),
            Stmt::Forall { .. } | Stmt::Sequence(_) => return (loops, None),
        }
    }
}
