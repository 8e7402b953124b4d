//! Kinds of workspaces, and how loops read them.
//!
//! ```text
//! C : dense      C(i,j) = w(j)      w : dense          located
//! C : csr        C(i,j) = w(j)      w : listed         walked: only what was written
//! C : csf        …      = w(j,k)    w : listed, in two levels, j outside k
//! ```
//!
//! One that is `appended` is written in the order of its coordinates, each once:
//!
//! ```text
//! forall j: w(j) = A(i,j) + B(i,j)      if A and B store j in order, each coordinate once
//! ```
//!
//! A workspace records which of its entries were written if levels of stored coordinates are
//! assembled from it, or if it decides a value where it holds nothing: as the operand of
//! `isstored`, or as a factor beside an infinity. A workspace that feeds full levels alone does
//! not. Loops read a workspace with a list as a tensor in the format `scoo`. They read one with
//! bits alone as a tensor whose last level is `bitmap` and whose others are `dense`, so they can
//! look it up as well.

use std::collections::BTreeSet;

use sparsec_format::{Format, Level};
use sparsec_index::concrete::Stmt;
use sparsec_index::{Access, Concrete, Expr, IndexVar, TensorRole, TensorVar, WorkspaceKind};

use crate::factor::for_each_factor;
use crate::not_lowerable::{NotLowerable, UnfitWorkspace};
use crate::operand::{Formats, is_inside, level_at};

/// The kind of the workspace `tensor`: the stated one, or the one that its readers need.
pub fn workspace_kind(concrete: &Concrete, formats: &Formats, tensor: TensorVar) -> WorkspaceKind {
    let said = concrete.kinds.get(&tensor).copied();
    said.unwrap_or_else(|| {
        match feeds_stored_level(concrete, formats, tensor) || is_asked(concrete, formats, tensor) {
            true => WorkspaceKind::Listed,
            false => WorkspaceKind::Dense,
        }
    })
}

/// The format in which loops read a workspace of this kind and order.
pub fn workspace_format(kind: WorkspaceKind, order: usize) -> Format {
    match kind {
        _ if order == 0 => Format::dense(order),
        WorkspaceKind::Dense => Format::dense(order),
        WorkspaceKind::Bitmap | WorkspaceKind::Marked => Format::dense_bitmap(order),
        _ => Format::scoo(order),
    }
}

/// Checks that workspaces record the entries that their readers ask for: one without a list does
/// not say that `isstored(w(j))` is false, or that `w(j) * x(j)` is 0 where `x(j)` is infinite.
/// Checks as well that loops of their own read those with lists: a workspace that is read at a
/// coordinate of a loop around is not walked there, and would count as empty.
///
/// ```text
/// forall k: where(… t(k) …, forall j: t(j) += …, t : listed)
/// ```
///
/// # Errors
/// `E0307`.
pub(crate) fn check_reads(concrete: &Concrete, formats: &Formats) -> Result<(), NotLowerable> {
    let mut dense = concrete
        .kinds
        .iter()
        .filter(|(_, kind)| !kind.knows_entries());
    if let Some((&tensor, _)) = dense.find(|(tensor, _)| is_asked(concrete, formats, **tensor)) {
        return Err(unfit(tensor, UnfitWorkspace::DenseAsked));
    }
    let mut kinds = concrete.kinds.iter();
    let is_appended = |kind: &WorkspaceKind| *kind == WorkspaceKind::Appended;
    let unordered = kinds.find(|(tensor, kind)| {
        is_appended(kind) && !is_written_in_order(concrete, formats, **tensor)
    });
    if let Some((&tensor, _)) = unordered {
        return Err(unfit(tensor, UnfitWorkspace::NotAppended));
    }
    check_inside(concrete, formats, &concrete.stmt, &mut Vec::new())
}

fn unfit(workspace: TensorVar, why: UnfitWorkspace) -> NotLowerable {
    NotLowerable::Workspace { workspace, why }
}

/// Whether each coordinate of the workspace `tensor` is written once at most, after the
/// lesser ones: by one loop over its one mode, which walks levels that are stored so.
pub fn is_written_in_order(concrete: &Concrete, formats: &Formats, tensor: TensorVar) -> bool {
    let mut n_written = 0;
    concrete.stmt.for_each_assign(&mut |lhs, _, _| {
        n_written += usize::from(lhs.tensor == tensor);
    });
    let mut in_order = false;
    concrete.stmt.for_each(&mut |stmt| {
        if let Stmt::Where { producer, .. } = stmt
            && let Some((var, body)) = last_loop(producer)
            && let Some(lhs) = assigned(body)
            && lhs.tensor == tensor
        {
            let is_own = lhs.plain_vars() == Some(vec![var]);
            let is_plain = concrete.derived_by(var).is_none() && concrete.made_by(var).is_none();
            let mut ascend = true;
            body.for_each_assign(&mut |_, _, rhs| {
                rhs.for_each_access(&mut |access| {
                    ascend &= !access.uses(var) || ascends(concrete, formats, access, var);
                });
            });
            in_order |= is_own && is_plain && ascend;
        }
    });
    n_written == 1 && in_order
}

/// Whether the list of a marked workspace has its entries in order: a loop that walks it alone goes
/// along the list then, in place of the bits of all coordinates.
pub fn is_listed_in_order(concrete: &Concrete, formats: &Formats, tensor: TensorVar) -> bool {
    workspace_kind(concrete, formats, tensor) == WorkspaceKind::Marked
        && concrete.tensors[tensor].order() == 1
        && is_written_in_order(concrete, formats, tensor)
}

/// The loop that is done at last, behind what it reads.
fn last_loop(stmt: &Stmt) -> Option<(IndexVar, &Stmt)> {
    match stmt {
        Stmt::Forall { var, body } => Some((*var, body)),
        Stmt::Where { consumer, .. } => last_loop(consumer),
        Stmt::Assign { .. } | Stmt::Sequence(_) => None,
    }
}

/// The left side of what is done in a loop, where that is one assignment.
fn assigned(body: &Stmt) -> Option<&Access> {
    match body {
        Stmt::Assign { lhs, .. } => Some(lhs),
        Stmt::Where { consumer, .. } => assigned(consumer),
        Stmt::Forall { .. } | Stmt::Sequence(_) => None,
    }
}

/// Whether a loop over `var` that walks `access` comes to each coordinate once, in order.
fn ascends(concrete: &Concrete, formats: &Formats, access: &Access, var: IndexVar) -> bool {
    let walked;
    let format = match concrete.tensors[access.tensor].role {
        TensorRole::Workspace => {
            let kind = workspace_kind(concrete, formats, access.tensor);
            walked = workspace_format(kind, access.indices.len());
            &walked
        }
        _ => formats.of(access.tensor),
    };
    let levels = format.levels().iter();
    let mut levels = levels.filter(|level| access.var(level.mode()) == Some(var));
    let is_plain = |level: &Level| {
        let can = level.kind.capabilities();
        let comes_to_each_once = can.positional || can.locate;
        comes_to_each_once && !can.single && level.is_ordered() && level.unique
    };
    access.plain_vars().is_some() && levels.next().is_some_and(is_plain) && levels.next().is_none()
}

/// Whether it matters to some statement which entries of the workspace `tensor` are
/// stored, and not all of them are.
fn is_asked(concrete: &Concrete, formats: &Formats, tensor: TensorVar) -> bool {
    let absent = |part: &Expr| part.fill(&concrete.tensors, &concrete.vars);
    let mut asked = false;
    concrete.stmt.for_each_assign(&mut |_, _, rhs| {
        for_each_factor(concrete, rhs, &absent, &mut |access| {
            asked |= access.tensor == tensor && !access.indices.is_empty();
        });
    });
    asked && !is_full(concrete, formats, tensor)
}

/// Whether every entry of the workspace `tensor` is computed of what is stored.
fn is_full(concrete: &Concrete, formats: &Formats, tensor: TensorVar) -> bool {
    let mut full = true;
    concrete.stmt.for_each_assign(&mut |lhs, _, rhs| {
        if lhs.tensor != tensor {
            return;
        }
        rhs.for_each_access(&mut |access| {
            let data = &concrete.tensors[access.tensor];
            full &= match data.role {
                TensorRole::Workspace => {
                    access.tensor != tensor && is_full(concrete, formats, access.tensor)
                }
                _ => {
                    let mut modes = 0..access.indices.len();
                    formats.of(access.tensor).is_all_dense()
                        && modes.all(|mode| is_inside(access, mode, concrete))
                }
            };
        });
    });
    full
}

fn check_inside(
    concrete: &Concrete,
    formats: &Formats,
    stmt: &Stmt,
    loops: &mut Vec<IndexVar>,
) -> Result<(), NotLowerable> {
    match stmt {
        Stmt::Assign { .. } => Ok(()),
        Stmt::Forall { var, body } => {
            loops.push(*var);
            check_inside(concrete, formats, body, loops)?;
            loops.pop();
            Ok(())
        }
        Stmt::Sequence(stmts) => stmts
            .iter()
            .try_for_each(|stmt| check_inside(concrete, formats, stmt, loops)),
        Stmt::Where { consumer, producer } => {
            let mut read = None;
            producer.for_each_assign(&mut |lhs, _, _| {
                let is_listed = concrete.tensors[lhs.tensor].role == TensorRole::Workspace
                    && workspace_kind(concrete, formats, lhs.tensor).is_walked_by_list();
                consumer.for_each_assign(&mut |_, _, rhs| {
                    rhs.for_each_access(&mut |access| {
                        if !is_listed || access.tensor != lhs.tensor || read.is_some() {
                            return;
                        }
                        let around = |mode: usize, access: &Access| {
                            access.var(mode).filter(|var| loops.contains(var))
                        };
                        let mut modes = 0..access.indices.len();
                        let above = modes.find_map(|mode| {
                            around(mode, access).filter(|_| around(mode, lhs).is_none())
                        });
                        read = above.map(|var| (lhs.tensor, var));
                    });
                });
            });
            if let Some((workspace, var)) = read {
                return Err(unfit(workspace, UnfitWorkspace::ReadAt(var)));
            }
            check_inside(concrete, formats, consumer, loops)?;
            check_inside(concrete, formats, producer, loops)
        }
    }
}

/// Whether some statement assembles a level of stored coordinates from `tensor`, or from what
/// another workspace collects of its entries, where it may lack some.
///
/// ```text
/// forall i: forall j: where(R(i,j) = t, forall l: t += A(i,l) * w(l,j))      R : csr
/// ```
pub fn feeds_stored_level(concrete: &Concrete, formats: &Formats, tensor: TensorVar) -> bool {
    // A scalar remembers by itself whether it was written.
    concrete.tensors[tensor].order() > 0 && is_assembled_from(concrete, formats, tensor)
}

fn is_assembled_from(concrete: &Concrete, formats: &Formats, tensor: TensorVar) -> bool {
    let mut feeds = false;
    let mut collecting = BTreeSet::new();
    concrete.stmt.for_each_assign(&mut |lhs, _, rhs| {
        let is_workspace = concrete.tensors[lhs.tensor].role == TensorRole::Workspace;
        let mut accesses = rhs.accesses().into_iter();
        if is_workspace && accesses.any(|access| access.tensor == tensor) {
            collecting.insert(lhs.tensor);
            return;
        }
        feeds |= !is_workspace && assembles(formats, lhs, rhs, tensor);
    });
    collecting.remove(&tensor);
    feeds
        || collecting
            .into_iter()
            .any(|other| is_assembled_from(concrete, formats, other))
            && !is_full(concrete, formats, tensor)
}

/// Whether an assignment to a result assembles a level of stored coordinates from `tensor`; all
/// of them from a scalar.
fn assembles(formats: &Formats, lhs: &Access, rhs: &Expr, tensor: TensorVar) -> bool {
    let format = formats.of(lhs.tensor);
    let is_stored = |level: &Level| !level.kind.capabilities().full;
    let mut accesses = rhs.accesses().into_iter();
    accesses.any(|access| {
        let vars = access.vars();
        let levels = || vars.iter().filter_map(|var| level_at(lhs, *var, format));
        access.tensor == tensor
            && match vars.is_empty() {
                true => format.levels().iter().any(is_stored),
                false => levels().any(|(_, level)| is_stored(level)),
            }
    })
}
