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
    /// The drafts with one more row in a workspace: of an operand that a loop merges with
    /// others, and that the loop around it does not change.
    pub(crate) fn with_row_kept(&self) -> Vec<Self> {
        let (loops, rhs) = consumed(&self.concrete.stmt);
        let accesses = rhs.map(Expr::accesses).unwrap_or_default();
        let mut drafts = Vec::new();
        for (outer, inner) in loops.iter().zip(&loops[1.min(loops.len())..]) {
            let mut merged: Vec<&Access> = Vec::new();
            for access in &accesses {
                if self.is_merged(access, *inner) && !merged.contains(access) {
                    merged.push(access);
                }
            }
            let place = |var: IndexVar| loops.iter().position(|known| *known == var);
            let ends = |access: &&Access| {
                let last = access.vars().into_iter().max_by_key(|var| place(*var));
                last == Some(*inner) && !access.uses(*outer)
            };
            if merged.len() > 1 {
                let rows = merged.into_iter().filter(ends);
                drafts.extend(rows.filter_map(|row| self.keeping(row, *inner)));
            }
        }
        drafts
    }

    /// The draft with a row of an operand in a workspace.
    fn keeping(&self, row: &Access, mode: IndexVar) -> Option<Self> {
        let mut draft = self.clone();
        let workspace = draft.concrete.fresh_name("w");
        let row = draft.concrete.expr_text(&Expr::Access(row.clone()));
        let mode = draft.name(mode);
        let text = format!("precompute({row}, {{{mode}}}, {workspace} : marked)");
        draft.say(text).is_ok().then_some(draft)
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
