//! A `where`: its temporaries begin, the producer writes them, the consumer reads them.
//!
//! ```text
//! where(y(i) = t,             var t = 0
//!   forall j: t += …)         for pA1 in … { t += … }
//!                             y.vals[i] = t
//! ```
//!
//! | module     | does                                                             |
//! |------------|------------------------------------------------------------------|
//! | [`array`]  | allocates arrays                                                 |
//! | [`flag`]   | finds out whether it matters that anything was added, and how to know |
//! | [`stored`] | workspaces that list what was written                            |
//! | [`hashed`] | those of them that find an entry by its key                      |
//!
//! Source: Kjolstad et al., "Tensor Algebra Compilation with Workspaces", CGO
//! 2019. The workspaces there are dense, with or without a list.

mod array;
mod flag;
mod hashed;
mod stored;

pub(crate) use self::stored::reserve_appended;

use std::collections::BTreeMap;

use sparsec_base::Scalar;
use sparsec_graph::workspace_kind;
use sparsec_index::concrete::Stmt;
use sparsec_index::{Access, TensorRole, TensorVar, WorkspaceKind};
use sparsec_loop::{BinaryOp, Builder, Expr, Var};

use self::array::Allocated;
use self::flag::{Flag, flag, own_temporaries, unstored_after};
use self::stored::{allocate_stored, assign_stored, begin_stored, clear_stored, sort_stored};
use crate::context::{Context, Write};
use crate::presence::Presence;
use crate::temporary::{Stored, Workspace};
use crate::value::{Update, combine};

/// Allocates every array that a `where` of the statement needs, once for
/// the whole kernel.
pub(crate) fn allocate(b: &mut Builder, at: &Context<'_>) -> BTreeMap<TensorVar, Workspace> {
    let concrete = at.kernel.concrete;
    let mut wanted: Vec<Access> = Vec::new();
    concrete.stmt.for_each_assign(&mut |lhs, _, _| {
        let is_array =
            concrete.tensors[lhs.tensor].role == TensorRole::Workspace && !lhs.indices.is_empty();
        if is_array && !wanted.iter().any(|known| known.tensor == lhs.tensor) {
            wanted.push(lhs.clone());
        }
    });
    let wanted = wanted.into_iter();
    wanted
        .map(|access| (access.tensor, allocate_one(b, at, &access)))
        .collect()
}

fn allocate_one(b: &mut Builder, at: &Context<'_>, access: &Access) -> Workspace {
    let (concrete, formats) = (at.kernel.concrete, at.kernel.formats);
    let kind = workspace_kind(concrete, formats, access.tensor);
    if kind.has_list() {
        return Workspace::Stored(allocate_stored(b, at, access, kind));
    }
    let data = &concrete.tensors[access.tensor];
    let len = at.workspace_len(access);
    let arrays = Allocated::of(&data.name);
    let vals = arrays.values(b, "vals", data.element, len.clone());
    match kind {
        WorkspaceKind::Bitmap => Workspace::Bitmap {
            vals,
            set: arrays.bits(b, "set", len),
        },
        _ => Workspace::Dense {
            vals,
            unstored: None,
            written: None,
        },
    }
}

/// A `where`; `write` writes its parts.
pub(crate) fn where_(
    b: &mut Builder,
    at: &Context<'_>,
    (consumer, producer): (&Stmt, &Stmt),
    write: Write,
) {
    let mut at = at.clone();
    let temporaries = own_temporaries(producer);
    for (access, reduce) in &temporaries {
        let flag = flag(&at, (consumer, producer), access.tensor);
        let unstored = unstored_after(&at, producer, access.tensor, reduce.as_ref());
        let identity = at.kernel.identity(access.tensor, reduce.as_ref());
        let workspace = begin(b, &at, access, identity, (flag, unstored));
        at.workspaces.insert(access.tensor, workspace);
    }
    write(b, producer, &at);
    let stored = temporaries.iter().filter_map(|(access, _)| {
        let workspace = &at.workspaces[&access.tensor];
        match workspace {
            Workspace::Stored(stored) => Some((access, stored)),
            _ => None,
        }
    });
    let stored: Vec<(&Access, &Stored)> = stored.collect();
    for (access, stored) in &stored {
        // How many there are does not depend on their order, unless loops look
        // for the part that they go through.
        let mut vars = access.vars().into_iter();
        let is_whole = vars.all(|var| at.kernel.concrete.derived_by(var).is_none());
        let is_read_alone = is_whole && reads_alone(consumer, access.tensor);
        if !(at.counts() && stored.is_vector() && is_read_alone) {
            sort_stored(b, &at, stored, access);
        }
    }
    write(b, consumer, &at);
    for (access, stored) in &stored {
        clear_stored(b, stored, at.kernel.name(access.tensor));
    }
}

/// Begins a workspace whose entries begin with `identity`.
fn begin(
    b: &mut Builder,
    at: &Context<'_>,
    access: &Access,
    identity: Scalar,
    (flag, unstored): (Flag, Option<Scalar>),
) -> Workspace {
    let name = at.kernel.name(access.tensor);
    match at.workspaces.get(&access.tensor).cloned() {
        Some(Workspace::Dense { vals, .. }) => {
            b.fill(vals, Expr::int(0)..at.workspace_len(access), identity);
            Workspace::Dense {
                vals,
                unstored,
                written: flag.begin(b, name),
            }
        }
        Some(Workspace::Bitmap { vals, set }) => {
            let all = Expr::int(0)..at.workspace_len(access);
            b.fill(vals, all.clone(), identity);
            b.fill(set, all, Expr::int(0));
            Workspace::Bitmap { vals, set }
        }
        Some(Workspace::Stored(stored)) => Workspace::Stored(begin_stored(b, name, stored)),
        Some(Workspace::Scalar { .. }) | None => Workspace::Scalar {
            value: b.var_(name, Expr::Const(identity)),
            unstored,
            written: flag.begin(b, name),
        },
    }
}

/// Assigns an entry of a temporary; `presence` says whether anything is added.
pub(crate) fn assign_workspace(
    b: &mut Builder,
    at: &Context<'_>,
    lhs: &Access,
    update: Update<'_>,
    presence: Presence,
) {
    match &at.workspaces[&lhs.tensor] {
        Workspace::Scalar { value, written, .. } => {
            let element = at.kernel.concrete.tensors[lhs.tensor].element;
            let new = match update.reduce {
                Some(op) => combine(b, op, element, Expr::Var(*value), update.value),
                None => update.value,
            };
            b.assign(*value, new);
            raise(b, *written, presence);
        }
        Workspace::Dense { vals, written, .. } => {
            update.store(b, *vals, at.workspace_position(lhs));
            raise(b, *written, presence);
        }
        Workspace::Bitmap { vals, set } => {
            let here = at.workspace_position(lhs);
            update.store(b, *vals, here.clone());
            b.store(*set, here, Expr::int(1));
        }
        Workspace::Stored(stored) => assign_stored(b, at, stored, lhs, update),
    }
}

/// Remembers that something was added to a temporary, where it was.
fn raise(b: &mut Builder, flag: Option<Var>, presence: Presence) {
    let Some(flag) = flag.filter(|flag| b.function().vars[*flag].mutable) else {
        return;
    };
    let stored = match presence {
        Presence::Always => Expr::Const(Scalar::Bool(true)),
        Presence::Never => return,
        Presence::When(condition) => Expr::Var(flag).binary(BinaryOp::Or, condition),
    };
    b.assign(flag, stored);
}

/// Whether `stmt` reads no other tensor than `tensor`.
fn reads_alone(stmt: &Stmt, tensor: TensorVar) -> bool {
    let mut alone = true;
    stmt.for_each_assign(&mut |_, _, rhs| {
        rhs.for_each_access(&mut |access| alone &= access.tensor == tensor);
    });
    alone
}
