//! Workspaces that know which of their entries were written.
//!
//! ```text
//! listed   w.vals w.set               by row-major position
//!          w.list[0..w.n]             the positions written
//! marked   w.vals w.set w.list        the same; loops see the bits
//! hashed   w.vals w.key  [0..w.n]     the entries, in the order of writing
//!          w.table[0..w.slots]        which entry is where its key hashes to
//! appended w.vals w.crd0 [0..w.n]     the entries, in the order of writing, which ascends
//! ```
//!
//! Before they are read, the entries are sorted, unless they come in order, and each mode gets an array of
//! coordinates: to the loops that read it, such a workspace is a tensor in the
//! format `scoo` whose values are elsewhere.
//!
//! ```text
//! w.crd0[p], w.crd1[p]   the coordinates of entry p, ascending
//! w.vals[w.list[p]]      its value
//! ```
//!
//! A listed workspace is cleared through its list, so that clearing costs what
//! was written and not the extents. The list is the row accumulator of
//! Gustavson's algorithm (1978).

use std::ops::Range;

use sparsec_base::{ElementType, IndexWidth, Scalar};
use sparsec_graph::is_written_in_order;
use sparsec_index::concrete::Stmt;
use sparsec_index::{Access, WorkspaceKind};
use sparsec_loop::{BinaryOp, Buffer, Builder, Expr};

use super::array::{Allocated, FIRST_ROOM};
use super::hashed::{allocate_table, assign_hashed, begin_table, sort_table};
use crate::arrays::crd_width;
use crate::context::Context;
use crate::temporary::{Index, Stored, Workspace};
use crate::value::Update;

/// The arrays of a workspace that lists its entries.
pub(super) fn allocate_stored(
    b: &mut Builder,
    at: &Context<'_>,
    access: &Access,
    kind: WorkspaceKind,
) -> Stored {
    let data = &at.kernel.concrete.tensors[access.tensor];
    let (arrays, element) = (Allocated::of(&data.name), data.element);
    if kind == WorkspaceKind::Hashed {
        let vals = arrays.values(b, "vals", element, FIRST_ROOM);
        let list = arrays.integers(b, "list", FIRST_ROOM);
        let table = allocate_table(b, at, access);
        let mut crd = Vec::new();
        for word in &table.words {
            match word.modes.len() {
                1 => crd.push(word.sorted),
                _ => crd.extend(coordinate_arrays(b, arrays, word.modes.clone())),
            }
        }
        return Stored {
            vals,
            crd,
            at: list,
            n: None,
            index: Index::Hashed(table),
        };
    }
    let order = access.indices.len();
    let width = list_width(at, order).element();
    if kind == WorkspaceKind::Appended {
        let vals = arrays.values(b, "vals", element, FIRST_ROOM);
        let crd = arrays.list(b, "crd0", width, FIRST_ROOM);
        return Stored {
            vals,
            crd: vec![crd],
            at: crd,
            n: None,
            index: Index::Appended,
        };
    }
    let len = at.workspace_len(access);
    let vals = arrays.values(b, "vals", element, len.clone());
    if kind == WorkspaceKind::Marked {
        let set = arrays.bits(b, "set", len.clone());
        let list = arrays.list(b, "list", width, len);
        return Stored {
            vals,
            crd: vec![list],
            at: list,
            n: None,
            index: Index::Marked { set },
        };
    }
    let set = arrays.values(b, "set", ElementType::Bool, len.clone());
    let list = arrays.list(b, "list", width, len);
    let crd = match order {
        1 => vec![list],
        _ => coordinate_arrays(b, arrays, 0..order),
    };
    Stored {
        vals,
        crd,
        at: list,
        n: None,
        index: Index::Listed { set },
    }
}

/// Arrays for the coordinates of some modes, which grow.
fn coordinate_arrays(b: &mut Builder, arrays: Allocated<'_>, modes: Range<usize>) -> Vec<Buffer> {
    modes
        .map(|mode| arrays.integers(b, &format!("crd{mode}"), FIRST_ROOM))
        .collect()
}

/// The width of a list of positions. Lists are sorted, which primitives do
/// for these widths; the positions of a vector fit where its coordinates do.
fn list_width(at: &Context<'_>, order: usize) -> IndexWidth {
    let result = at.kernel.formats.of(at.kernel.concrete.result);
    match order == 1 && result.has_sparse() {
        true => Ord::max(crd_width(result), IndexWidth::W32),
        false => IndexWidth::W64,
    }
}

pub(super) fn begin_stored(b: &mut Builder, name: &str, stored: Stored) -> Stored {
    let n = Some(b.var_(&format!("{name}.n"), 0));
    let index = match stored.index {
        Index::Hashed(table) => Index::Hashed(begin_table(b, name, table)),
        index => index,
    };
    Stored { n, index, ..stored }
}

/// Writes the entry that `lhs` has here, or combines it with what was written there.
pub(super) fn assign_stored(
    b: &mut Builder,
    at: &Context<'_>,
    stored: &Stored,
    lhs: &Access,
    update: Update<'_>,
) {
    match &stored.index {
        Index::Listed { set } | Index::Marked { set } => {
            let (set, n) = (*set, stored.n());
            let is_bool = matches!(stored.index, Index::Listed { .. });
            let (is_set, yes): (fn(Expr) -> Expr, Scalar) = match is_bool {
                true => (|bit| bit, Scalar::Bool(true)),
                false => (|bit| bit.binary(BinaryOp::Ne, 0), Scalar::I64(1)),
            };
            let mut here = at.workspace_position(lhs);
            if lhs.indices.len() > 1 {
                let name = format!("{}.at", at.kernel.name(lhs.tensor));
                here = Expr::Var(b.let_(&name, here));
            }
            let combine = |b: &mut Builder| update.clone().store(b, stored.vals, here.clone());
            let write = |b: &mut Builder| {
                b.store(set, here.clone(), yes);
                b.store(stored.at, n, here.clone());
                b.assign(n, Expr::Var(n).add(1));
                let value = update.clone().first(b, stored.vals);
                b.store(stored.vals, here.clone(), value);
            };
            // An entry that is written once at most is not set yet.
            match is_written_in_order(at.kernel.concrete, at.kernel.formats, lhs.tensor) {
                true => write(b),
                false => b.if_else(is_set(Expr::load(set, here.clone())), combine, write),
            }
        }
        Index::Hashed(table) => assign_hashed(b, at, (stored, table), lhs, update),
        Index::Appended => {
            let n = stored.n();
            let coordinate = at.workspace_position(lhs);
            let value = update.first(b, stored.vals);
            b.store(stored.vals, n, value);
            b.store(stored.at, n, coordinate);
            b.assign(n, Expr::Var(n).add(1));
        }
    }
}

/// Makes room for the entries that a loop appends to a workspace, one for each
/// coordinate that it visits, and for one behind them.
pub(crate) fn reserve_appended(b: &mut Builder, at: &Context<'_>, body: &Stmt, visited: &Expr) {
    let lhs = match body {
        Stmt::Assign { lhs, .. } => lhs,
        Stmt::Where { consumer, .. } => return reserve_appended(b, at, consumer, visited),
        Stmt::Forall { .. } | Stmt::Sequence(_) => return,
    };
    let Some(Workspace::Stored(stored)) = at.workspaces.get(&lhs.tensor) else {
        return;
    };
    if let Index::Appended = stored.index {
        for buffer in [stored.vals, stored.at] {
            let len = Expr::Var(stored.n()).add(visited.clone()).add(1);
            b.grow(buffer, len);
        }
    }
}

/// Puts the entries in order, and their coordinates where loops read them.
pub(super) fn sort_stored(b: &mut Builder, at: &Context<'_>, stored: &Stored, access: &Access) {
    match &stored.index {
        Index::Listed { .. } => {
            b.sort(stored.at, None, Expr::int(0)..stored.n().into());
            if stored.crd.len() > 1 {
                let all = 0..stored.crd.len();
                split_keys(b, at, stored, access, (stored.at, all));
            }
        }
        Index::Hashed(table) => {
            sort_table(b, stored, table);
            for word in table.words.iter().filter(|word| word.modes.len() > 1) {
                let keys = (word.sorted, word.modes.clone());
                split_keys(b, at, stored, access, keys);
            }
        }
        // Nothing goes through the list before it is cleared.
        Index::Marked { .. } | Index::Appended => {}
    }
}

/// Takes keys apart into the coordinates of the modes that they number.
fn split_keys(
    b: &mut Builder,
    at: &Context<'_>,
    stored: &Stored,
    access: &Access,
    (keys, modes): (Buffer, Range<usize>),
) {
    let n = stored.n();
    for mode in modes.clone() {
        b.grow(stored.crd[mode], n);
    }
    let extent = |mode: usize| at.mode_extent(access, mode);
    let p = format!("p{}", at.kernel.name(access.tensor));
    let p = b.fixed(&p, ElementType::I64);
    b.for_loop(p, 0, n, |b| {
        for mode in modes.clone() {
            let mut crd = Expr::load(keys, p);
            let inside = mode + 1..modes.end;
            if let Some(stride) = inside.map(extent).reduce(Expr::mul) {
                crd = crd.binary(BinaryOp::FloorDiv, stride);
            }
            if mode > modes.start {
                crd = crd.binary(BinaryOp::Mod, extent(mode));
            }
            b.store(stored.crd[mode], p, crd);
        }
    });
}

/// Forgets what was written to a workspace called `name`.
pub(super) fn clear_stored(b: &mut Builder, stored: &Stored, name: &str) {
    let (set, no) = match stored.index {
        Index::Listed { set } => (set, Scalar::Bool(false)),
        Index::Marked { set } => (set, Scalar::I64(0)),
        _ => return,
    };
    let p = b.fixed(&format!("p{name}"), ElementType::I64);
    b.for_loop(p, 0, stored.n(), |b| {
        b.store(set, Expr::load(stored.at, p), no);
    });
}
