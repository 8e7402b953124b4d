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
        let (loops, Some((lhs, rhs))) = consumed(&self.concrete.stmt) else {
            return Vec::new();
        };
        let accesses = rhs.accesses();
        // A variable that no other factor has would be summed before these are multiplied.
        let has_own = |access: &Access| {
            access.vars().into_iter().any(|var| {
                let others = accesses.iter().filter(|other| **other != access);
                !lhs.uses(var) && !others.clone().any(|other| other.uses(var))
            })
        };
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
                last == Some(*inner) && !access.uses(*outer) && !has_own(access)
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

/// The loops around the assignment that comes last, and its sides.
fn consumed(stmt: &Stmt) -> (Vec<IndexVar>, Option<(&Access, &Expr)>) {
    let mut loops = Vec::new();
    let mut inner = stmt;
    loop {
        let (more, next) = inner.nest();
        loops.extend(more);
        match next {
            Stmt::Where { consumer, .. } => inner = consumer,
            Stmt::Assign { lhs, rhs, .. } => return (loops, Some((lhs, rhs))),
            Stmt::Forall { .. } | Stmt::Sequence(_) => return (loops, None),
        }
    }
}
