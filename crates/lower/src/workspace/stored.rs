//! Workspaces that know which of their entries were written.
//!
//! ```text
//! listed   w.vals w.set               by row-major position
//!          w.list[0..w.n]             the positions written
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
use sparsec_index::concrete::Stmt;
use sparsec_index::{Access, Operator, WorkspaceKind};
use sparsec_loop::{BinaryOp, Buffer, Expr, Stmt as Loop, Var};

use super::Workspace;
use super::hashed::Table;
use crate::cursor::{Bindings, Place};
use crate::level::{Entries, Segment};
use crate::signature::crd_width;
use crate::statement::Lowerer;
use crate::value::{first, store_combined};

/// How many entries arrays that grow begin with.
pub(super) const FIRST_ROOM: i64 = 32;

/// The arrays of a workspace that lists its entries.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(super) vals: Buffer,
    /// The coordinates of the entries in order, an array for each mode.
    crd: Vec<Buffer>,
    /// Where the values of the entries are, in the same order; for a vector that
    /// is listed, the coordinates too.
    pub(super) at: Buffer,
    /// How many entries there are, once the `where` has begun.
    n: Option<Var>,
    index: Index,
}

/// How an entry is found by its coordinates.
#[derive(Clone, Debug)]
enum Index {
    /// By its position, where a bit says whether it was written.
    Listed {
        set: Buffer,
    },
    Hashed(Table),
    /// Nothing looks for one: each is written once.
    Appended,
}

impl Stored {
    /// How many entries there are.
    pub(super) fn n(&self) -> Var {
        self.n.expect("a list is begun before it is used")
    }

    /// Whether it is the list of one mode's coordinates, which loops read as it is.
    pub(super) fn is_vector(&self) -> bool {
        self.at == self.crd[0]
    }

    /// The entries of one level as loops see them.
    pub(crate) fn segment(&self, level: usize, parent: &Place) -> Segment {
        let (lo, hi) = match parent {
            _ if level == 0 => (Expr::int(0), Expr::Var(self.n())),
            Place::At(p) => (p.clone(), p.clone().add(1)),
            Place::Run { lo, hi } => (lo.clone(), hi.clone()),
        };
        Segment {
            lo,
            hi,
            entries: Entries::listed(self.crd[level]),
        }
    }

    /// The value of the entry at a position of the list; `coordinate` is that of
    /// a vector's entry.
    pub(crate) fn value(&self, position: Expr, coordinate: impl FnOnce() -> Expr) -> Expr {
        let at = match &self.index {
            Index::Appended => position,
            _ if self.is_vector() => coordinate(),
            _ => Expr::load(self.at, position),
        };
        Expr::load(self.vals, at)
    }

    /// Whether there is room behind the last entry, for one that is read and not used.
    pub(crate) fn has_room_behind(&self) -> bool {
        matches!(self.index, Index::Appended)
    }
}

impl Lowerer<'_> {
    pub(super) fn allocate_stored(&mut self, access: &Access, kind: WorkspaceKind) -> Stored {
        let data = &self.concrete.tensors[access.tensor];
        let (name, element) = (data.name.clone(), data.element);
        let order = access.indices.len();
        let i64 = ElementType::I64;
        if kind == WorkspaceKind::Hashed {
            let vals = self.workspace_array(&name, "vals", element, element, FIRST_ROOM);
            let at = self.workspace_array(&name, "list", i64, i64, FIRST_ROOM);
            let table = self.allocate_table(access);
            let mut crd = Vec::new();
            for word in &table.words {
                match word.modes.len() {
                    1 => crd.push(word.sorted),
                    _ => crd.extend(self.coordinate_arrays(&name, word.modes.clone())),
                }
            }
            let index = Index::Hashed(table);
            return Stored {
                vals,
                crd,
                at,
                n: None,
                index,
            };
        }
        let width = self.list_width(order).element();
        if kind == WorkspaceKind::Appended {
            let vals = self.workspace_array(&name, "vals", element, element, FIRST_ROOM);
            let crd = self.workspace_array(&name, "crd0", width, i64, FIRST_ROOM);
            return Stored {
                vals,
                crd: vec![crd],
                at: crd,
                n: None,
                index: Index::Appended,
            };
        }
        let len = self.workspace_len(access);
        let vals = self.workspace_array(&name, "vals", element, element, len.clone());
        let bool = ElementType::Bool;
        let set = self.workspace_array(&name, "set", bool, bool, len.clone());
        let at = self.workspace_array(&name, "list", width, i64, len);
        let crd = match order {
            1 => vec![at],
            _ => self.coordinate_arrays(&name, 0..order),
        };
        Stored {
            vals,
            crd,
            at,
            n: None,
            index: Index::Listed { set },
        }
    }

    /// Arrays for the coordinates of some modes, which grow.
    fn coordinate_arrays(&mut self, name: &str, modes: Range<usize>) -> Vec<Buffer> {
        let i64 = ElementType::I64;
        modes
            .map(|mode| self.workspace_array(name, &format!("crd{mode}"), i64, i64, FIRST_ROOM))
            .collect()
    }

    /// The width of a list of positions. Lists are sorted, which primitives do
    /// for these widths; the positions of a vector fit where its coordinates do.
    fn list_width(&self, order: usize) -> IndexWidth {
        let result = self.formats.of(self.concrete.result);
        match order == 1 && result.has_sparse() {
            true => Ord::max(crd_width(result), IndexWidth::W32),
            false => IndexWidth::W64,
        }
    }

    pub(super) fn begin_stored(&mut self, name: &str, stored: Stored) -> Stored {
        let n = Some(self.builder.var_(&format!("{name}.n"), 0));
        let index = match stored.index {
            Index::Hashed(table) => Index::Hashed(self.begin_table(name, table)),
            index => index,
        };
        Stored { n, index, ..stored }
    }

    /// Writes an entry, or combines it with what was written there.
    pub(super) fn assign_stored(
        &mut self,
        stored: &Stored,
        lhs: &Access,
        reduce: Option<&Operator>,
        value: Expr,
        bindings: &Bindings,
    ) {
        match &stored.index {
            Index::Listed { set } => {
                let (set, n, at) = (*set, stored.n(), self.workspace_position(lhs, bindings));
                let at = match lhs.indices.len() {
                    1 => at,
                    _ => {
                        let name = format!("{}.at", self.concrete.tensors[lhs.tensor].name);
                        Expr::Var(self.builder.let_(&name, at))
                    }
                };
                let then = self.block(|it| {
                    let (vals, at) = (stored.vals, at.clone());
                    store_combined(&mut it.builder, vals, at, value.clone(), reduce);
                });
                let otherwise = self.block(|it| {
                    it.builder.store(set, at.clone(), Scalar::Bool(true));
                    it.builder.store(stored.at, n, at.clone());
                    it.builder.assign(n, Expr::Var(n).add(1));
                    let value = first(&mut it.builder, stored.vals, value, reduce);
                    it.builder.store(stored.vals, at.clone(), value);
                });
                self.builder.push(Loop::If {
                    condition: Expr::load(set, at),
                    then,
                    otherwise,
                });
            }
            Index::Hashed(table) => {
                self.assign_hashed(stored, table, lhs, reduce, value, bindings);
            }
            Index::Appended => {
                let n = stored.n();
                let coordinate = self.workspace_position(lhs, bindings);
                let value = first(&mut self.builder, stored.vals, value, reduce);
                self.builder.store(stored.vals, n, value);
                self.builder.store(stored.at, n, coordinate);
                self.builder.assign(n, Expr::Var(n).add(1));
            }
        }
    }

    /// Makes room for the entries that a loop appends to a workspace, one for each
    /// coordinate that it visits, and for one behind them.
    pub(crate) fn reserve_appended(&mut self, body: &Stmt, visited: &Expr) {
        let lhs = match body {
            Stmt::Assign { lhs, .. } => lhs,
            Stmt::Where { consumer, .. } => return self.reserve_appended(consumer, visited),
            Stmt::Forall { .. } | Stmt::Sequence(_) => return,
        };
        let Some(Workspace::Stored(stored)) = self.workspaces.get(&lhs.tensor) else {
            return;
        };
        if let Index::Appended = stored.index {
            let buffers = [stored.vals, stored.at];
            let len = Expr::Var(stored.n()).add(visited.clone()).add(1);
            for buffer in buffers {
                let len = len.clone();
                self.builder.push(Loop::Grow { buffer, len });
            }
        }
    }

    /// Puts the entries in order, and their coordinates where loops read them.
    pub(super) fn sort_stored(&mut self, stored: &Stored, access: &Access) {
        let n = stored.n();
        match &stored.index {
            Index::Listed { .. } => {
                self.builder.push(Loop::Sort {
                    buffer: stored.at,
                    along: None,
                    lo: Expr::int(0),
                    hi: Expr::Var(n),
                });
                if stored.crd.len() > 1 {
                    self.split_keys(stored, access, stored.at, 0..stored.crd.len());
                }
            }
            Index::Hashed(table) => {
                self.sort_table(stored, table);
                for word in table.words.iter().filter(|word| word.modes.len() > 1) {
                    self.split_keys(stored, access, word.sorted, word.modes.clone());
                }
            }
            Index::Appended => {}
        }
    }

    /// Takes keys apart into the coordinates of the modes that they number.
    fn split_keys(&mut self, stored: &Stored, access: &Access, keys: Buffer, modes: Range<usize>) {
        let n = stored.n();
        for mode in modes.clone() {
            let len = Expr::Var(n);
            let buffer = stored.crd[mode];
            self.builder.push(Loop::Grow { buffer, len });
        }
        let name = &self.concrete.tensors[access.tensor].name;
        let p = self.builder.fixed(&format!("p{name}"), ElementType::I64);
        self.for_loop(p, 0, n, |it| {
            for mode in modes.clone() {
                let mut crd = Expr::load(keys, p);
                let inside = mode + 1..modes.end;
                if let Some(stride) = it.n_positions(access, inside) {
                    crd = crd.binary(BinaryOp::FloorDiv, stride);
                }
                if mode > modes.start {
                    crd = crd.binary(BinaryOp::Mod, it.mode_extent(access, mode));
                }
                it.builder.store(stored.crd[mode], p, crd);
            }
        });
    }

    /// How many positions some modes have together; `None` for no modes.
    fn n_positions(&self, access: &Access, modes: Range<usize>) -> Option<Expr> {
        modes
            .map(|mode| self.mode_extent(access, mode))
            .reduce(Expr::mul)
    }

    /// Forgets what was written.
    pub(super) fn clear_stored(&mut self, stored: &Stored, access: &Access) {
        let Index::Listed { set } = stored.index else {
            return;
        };
        let name = &self.concrete.tensors[access.tensor].name;
        let p = self.builder.fixed(&format!("p{name}"), ElementType::I64);
        self.for_loop(p, 0, stored.n(), |it| {
            it.builder
                .store(set, Expr::load(stored.at, p), Scalar::Bool(false));
        });
    }
}

impl From<Stored> for Workspace {
    fn from(stored: Stored) -> Self {
        Self::Stored(stored)
    }
}
