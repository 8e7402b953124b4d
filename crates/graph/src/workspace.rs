//! How a workspace is kept, and what that makes it to the loops that read it.
//!
//! ```text
//! C : dense      C(i,j) = w(j)      w : dense          located
//! C : csr        C(i,j) = w(j)      w : listed         walked: only what was written
//! C : csf        …      = w(j,k)    w : listed, in two levels, j outside k
//! ```
//!
//! A temporary from which levels of stored coordinates are assembled must know
//! which of its entries were written; one that feeds full levels need not. To a
//! loop, a workspace with a list is a tensor in the format `scoo`.

use sparsec_format::Format;
use sparsec_index::{Concrete, TensorRole, TensorVar, WorkspaceKind};

use crate::operand::{Formats, level_at};

/// How the workspace `tensor` is kept: as is said, or as what reads it needs.
pub fn workspace_kind(concrete: &Concrete, formats: &Formats, tensor: TensorVar) -> WorkspaceKind {
    let said = concrete.kinds.get(&tensor).copied();
    said.unwrap_or_else(|| match feeds_stored_level(concrete, formats, tensor) {
        true => WorkspaceKind::Listed,
        false => WorkspaceKind::Dense,
    })
}

/// How loops see a workspace of this kind over so many modes.
pub fn workspace_format(kind: WorkspaceKind, order: usize) -> Format {
    match kind.has_list() && order > 0 {
        true => Format::scoo(order),
        false => Format::dense(order),
    }
}

/// Whether some statement assembles a level of stored coordinates from `tensor`.
pub fn feeds_stored_level(concrete: &Concrete, formats: &Formats, tensor: TensorVar) -> bool {
    let mut feeds = false;
    concrete.stmt.for_each_assign(&mut |lhs, _, rhs| {
        if concrete.tensors[lhs.tensor].role == TensorRole::Workspace {
            return;
        }
        let format = formats.of(lhs.tensor);
        rhs.for_each_access(&mut |access| {
            feeds |= access.tensor == tensor
                && access.vars().into_iter().any(|var| {
                    level_at(lhs, var, format)
                        .is_some_and(|(_, level)| !level.kind.capabilities().full)
                });
        });
    });
    feeds
}
