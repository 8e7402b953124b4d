//! Temporaries of a `where`: scalars, dense arrays, lists of entries.
//!
//! ```text
//! scalar   var t = 0                  written when the producer adds to it
//! dense    w.vals                     filled whenever the `where` begins
//! stored   w.vals, w.crd0[0..w.n] …   what was written, sorted before it is read
//! ```
//!
//! Of the last there are three kinds, which find an entry by its position or by
//! hashing, or never look for one: see [`stored`] and [`hashed`].
//!
//! Source: Kjolstad et al., "Tensor Algebra Compilation with Workspaces", CGO
//! 2019. The workspaces there are dense, with or without a list.

mod hashed;
mod stored;

use sparsec_base::{ElementType, Scalar};
use sparsec_graph::{Lattice, space, workspace_kind};
use sparsec_index::concrete::Stmt;
use sparsec_index::{Access, Expr as Value, IndexVar, Operator, TensorRole, TensorVar};
use sparsec_loop::{Access as BufferAccess, BinaryOp, Buffer, Expr, Stmt as Loop, Var};

use self::stored::Stored;
use crate::cursor::Bindings;
use crate::presence::Presence;
use crate::statement::Lowerer;
use crate::value::{combine, store_combined};

/// Where a temporary is kept.
#[derive(Clone, Debug)]
pub(crate) enum Workspace {
    /// In a variable.
    Scalar {
        /// The value.
        value: Var,
        /// What the value is where nothing that is stored is added to it, if
        /// that is known.
        unstored: Option<Scalar>,
        /// Whether anything was, where the result asks.
        written: Option<Var>,
    },
    /// In an array over its modes.
    Dense {
        /// The entries.
        vals: Buffer,
        /// What an entry is where nothing that is stored is added to it, if
        /// that is known.
        unstored: Option<Scalar>,
        /// Whether anything was added to any, where the result asks.
        written: Option<Var>,
    },
    /// In arrays that know which entries were written.
    Stored(Stored),
}

impl Workspace {
    /// The array with its values, if it is kept in arrays.
    pub(crate) fn values(&self) -> Option<Buffer> {
        match self {
            Self::Scalar { .. } => None,
            Self::Dense { vals, .. } => Some(*vals),
            Self::Stored(stored) => Some(stored.vals),
        }
    }
}

/// How it is known whether anything was added to a temporary.
#[derive(Clone, Debug)]
enum Flag {
    /// It does not matter.
    None,
    /// The producer says so when it adds something.
    Raised,
    /// Before the producer runs.
    Known(Expr),
}

impl Lowerer<'_> {
    /// Allocates every array that a `where` of the statement needs, once for
    /// the whole kernel.
    pub(crate) fn allocate_workspaces(&mut self) {
        let mut wanted: Vec<Access> = Vec::new();
        self.concrete.stmt.for_each_assign(&mut |lhs, _, _| {
            let is_array = self.concrete.tensors[lhs.tensor].role == TensorRole::Workspace
                && !lhs.indices.is_empty();
            if is_array && !wanted.iter().any(|known| known.tensor == lhs.tensor) {
                wanted.push(lhs.clone());
            }
        });
        for access in wanted {
            let workspace = self.allocate(&access);
            self.workspaces.insert(access.tensor, workspace);
        }
    }

    fn allocate(&mut self, access: &Access) -> Workspace {
        let kind = workspace_kind(self.concrete, self.formats, access.tensor);
        if kind.has_list() {
            return self.allocate_stored(access, kind).into();
        }
        let data = &self.concrete.tensors[access.tensor];
        let (name, element) = (data.name.clone(), data.element);
        let len = self.workspace_len(access);
        Workspace::Dense {
            vals: self.workspace_array(&name, "vals", element, element, len),
            unstored: None,
            written: None,
        }
    }

    /// Makes one array of a workspace.
    fn workspace_array(
        &mut self,
        workspace: &str,
        part: &str,
        storage: ElementType,
        compute: ElementType,
        len: impl Into<Expr>,
    ) -> Buffer {
        let name = format!("{workspace}.{part}");
        let buffer = self
            .builder
            .buffer(&name, storage, compute, BufferAccess::Workspace);
        let len = len.into();
        self.builder.push(Loop::Alloc { buffer, len });
        buffer
    }

    fn workspace_len(&self, access: &Access) -> Expr {
        access
            .vars()
            .into_iter()
            .map(|var| self.extent(var))
            .reduce(Expr::mul)
            .unwrap_or(Expr::int(1))
    }

    pub(crate) fn where_(&mut self, consumer: &Stmt, producer: &Stmt, bindings: &Bindings) {
        let temporaries = own_temporaries(producer);
        for (access, reduce) in &temporaries {
            let flag = self.flag(consumer, producer, access.tensor);
            let unstored = self.unstored_after(producer, access.tensor, reduce.as_ref());
            self.begin_workspace(access, reduce.as_ref(), flag, unstored);
        }
        self.stmt(producer, bindings);
        let stored: Vec<(Access, Stored)> = temporaries
            .into_iter()
            .filter_map(|(access, _)| match &self.workspaces[&access.tensor] {
                Workspace::Stored(stored) => Some((access, stored.clone())),
                _ => None,
            })
            .collect();
        for (access, stored) in &stored {
            // How many there are does not depend on their order, unless loops look
            // for the part that they go through.
            let vars = access.vars();
            let is_whole = vars
                .iter()
                .all(|var| self.concrete.derived_by(*var).is_none());
            let is_read_alone = is_whole && reads_alone(consumer, access.tensor);
            if !(self.counts() && stored.is_vector() && is_read_alone) {
                self.sort_stored(stored, access);
            }
        }
        self.stmt(consumer, bindings);
        for (access, stored) in &stored {
            self.clear_stored(stored, access);
        }
    }

    fn begin_workspace(
        &mut self,
        access: &Access,
        reduce: Option<&Operator>,
        flag: Flag,
        unstored: Option<Scalar>,
    ) {
        let tensor = access.tensor;
        let identity = self.identity(tensor, reduce);
        let name = self.concrete.tensors[tensor].name.clone();
        let workspace = match self.workspaces.get(&tensor).cloned() {
            Some(Workspace::Dense { vals, .. }) => {
                let hi = self.workspace_len(access);
                self.builder.push(Loop::Fill {
                    buffer: vals,
                    lo: Expr::int(0),
                    hi,
                    value: identity.into(),
                });
                Workspace::Dense {
                    vals,
                    unstored,
                    written: self.begin_flag(&name, flag),
                }
            }
            Some(Workspace::Stored(stored)) => self.begin_stored(&name, stored).into(),
            Some(Workspace::Scalar { .. }) | None => Workspace::Scalar {
                value: self.builder.var_(&name, Expr::Const(identity)),
                unstored,
                written: self.begin_flag(&name, flag),
            },
        };
        self.workspaces.insert(tensor, workspace);
    }

    /// What a temporary is where nothing that is stored was added to it: the
    /// operator's identity if what is added is that too, else the fill as often
    /// as the extents say, where they are known.
    fn unstored_after(
        &self,
        producer: &Stmt,
        temporary: TensorVar,
        reduce: Option<&Operator>,
    ) -> Option<Scalar> {
        let identity = self.identity(temporary, reduce);
        let mut stays = true;
        producer.for_each_assign(&mut |lhs, _, rhs| {
            stays &= lhs.tensor != temporary || self.where_absent(rhs) == Value::Literal(identity);
        });
        let known = |var: IndexVar| self.concrete.vars[var].extent.is_some();
        let loops = producer.loops().into_iter();
        if stays {
            Some(identity)
        } else if loops
            .flat_map(|var| self.concrete.originals(var))
            .all(known)
        {
            Some(self.concrete.tensors[temporary].fill)
        } else {
            None
        }
    }

    fn begin_flag(&mut self, name: &str, flag: Flag) -> Option<Var> {
        let name = format!("{name}.written");
        match flag {
            Flag::None => None,
            Flag::Raised => Some(self.builder.var_(&name, Expr::Const(Scalar::Bool(false)))),
            Flag::Known(condition) => Some(self.builder.let_(&name, condition)),
        }
    }

    pub(crate) fn assign_workspace(
        &mut self,
        lhs: &Access,
        reduce: Option<&Operator>,
        value: Expr,
        presence: Presence,
        bindings: &Bindings,
    ) {
        let element = self.concrete.tensors[lhs.tensor].element;
        match self.workspaces[&lhs.tensor].clone() {
            Workspace::Scalar {
                value: var,
                written,
                ..
            } => {
                let new = match reduce {
                    Some(op) => combine(&mut self.builder, op, element, Expr::Var(var), value),
                    None => value,
                };
                self.builder.assign(var, new);
                self.raise_flag(written, presence);
            }
            Workspace::Dense { vals, written, .. } => {
                let at = self.workspace_position(lhs, bindings);
                store_combined(&mut self.builder, vals, at, value, reduce);
                self.raise_flag(written, presence);
            }
            Workspace::Stored(stored) => {
                self.assign_stored(&stored, lhs, reduce, value, bindings);
            }
        }
    }

    /// Remembers that something was added to a temporary, where it was.
    fn raise_flag(&mut self, flag: Option<Var>, presence: Presence) {
        let Some(flag) = flag.filter(|flag| self.builder.function().vars[*flag].mutable) else {
            return;
        };
        let stored = match presence {
            Presence::Always => Expr::Const(Scalar::Bool(true)),
            Presence::Never => return,
            Presence::When(condition) => Expr::Var(flag).binary(BinaryOp::Or, condition),
        };
        self.builder.assign(flag, stored);
    }

    /// The position of an entry of an array workspace: row-major.
    fn workspace_position(&self, access: &Access, bindings: &Bindings) -> Expr {
        let mut position = Expr::int(0);
        for var in access.vars() {
            let coordinate = bindings.coordinates[&var].clone();
            position = crate::level::dense::locate(&position, self.extent(var), coordinate);
        }
        position
    }

    /// How to know whether the producer of a temporary without a list added
    /// anything to it: that matters where the result's pattern depends on it,
    /// and where a temporary that holds nothing annihilates.
    fn flag(&self, consumer: &Stmt, producer: &Stmt, temporary: TensorVar) -> Flag {
        if !self.asks_for_flag(consumer, temporary) {
            return Flag::None;
        }
        if !self.always_writes(producer, temporary) || self.searches(producer) {
            return Flag::Raised;
        }
        // Loops over everything add something unless there is nothing.
        producer
            .loops()
            .into_iter()
            .map(|var| Expr::int(0).less(self.extent(var)))
            .reduce(Expr::and)
            .map_or(Flag::None, Flag::Known)
    }

    /// Whether the consumer stores something else if nothing was added to a temporary. A
    /// temporary of a `where` inside `consumer` has no workspace yet, so its own consumer
    /// decides.
    fn asks_for_flag(&self, consumer: &Stmt, temporary: TensorVar) -> bool {
        let inner = temporaries_within(consumer);
        let mut asks = false;
        consumer.for_each_assign(&mut |lhs, _, rhs| {
            self.for_each_factor(rhs, &mut |access| asks |= access.tensor == temporary);
            let mut read = rhs.accesses().into_iter();
            if asks || !read.any(|access| access.tensor == temporary) {
                return;
            }
            asks = match self.workspaces.get(&lhs.tensor) {
                Some(Workspace::Stored(_)) => true,
                _ if inner.contains(&lhs.tensor) => self.asks_for_flag(consumer, lhs.tensor),
                Some(Workspace::Scalar { written, .. } | Workspace::Dense { written, .. }) => {
                    written.is_some()
                }
                None => !self.formats.of(lhs.tensor).is_all_dense(),
            };
        });
        asks
    }

    /// Whether every run of `producer` stores something in `temporary`, as it
    /// does if its loops are over everything and nothing in them may be absent.
    fn always_writes(&self, producer: &Stmt, temporary: TensorVar) -> bool {
        match producer {
            Stmt::Assign { lhs, rhs, .. } => {
                lhs.tensor == temporary && matches!(self.presence(rhs), Presence::Always)
            }
            Stmt::Forall { var, body } => {
                self.is_over_everything(*var, body) && self.always_writes(body, temporary)
            }
            Stmt::Where {
                consumer,
                producer: inner,
            } => {
                let certain = |access: &Access| self.always_writes(inner, access.tensor);
                own_temporaries(inner)
                    .iter()
                    .all(|(access, _)| certain(access))
                    && self.always_writes(consumer, temporary)
            }
            Stmt::Sequence(stmts) => stmts.iter().any(|stmt| self.always_writes(stmt, temporary)),
        }
    }

    /// Whether the loop over `var` visits every coordinate, with one case.
    pub(crate) fn is_over_everything(&self, var: IndexVar, body: &Stmt) -> bool {
        let lattice = Lattice::of(&space(self.scope(), body, var));
        let is_derived = self.concrete.made_by(var).is_some();
        !is_derived && lattice.everything && lattice.operands().is_empty()
    }
}

/// Whether `stmt` reads no other tensor than `tensor`.
fn reads_alone(stmt: &Stmt, tensor: TensorVar) -> bool {
    let mut alone = true;
    stmt.for_each_assign(&mut |_, _, rhs| {
        rhs.for_each_access(&mut |access| alone &= access.tensor == tensor);
    });
    alone
}

/// The temporaries that a producer computes for its consumer, with how:
/// those of a `where` inside it are its own.
fn own_temporaries(producer: &Stmt) -> Vec<(Access, Option<Operator>)> {
    fn collect(stmt: &Stmt, found: &mut Vec<(Access, Option<Operator>)>) {
        match stmt {
            Stmt::Assign { lhs, reduce, .. } => {
                if !found.iter().any(|(known, _)| known.tensor == lhs.tensor) {
                    found.push((lhs.clone(), reduce.clone()));
                }
            }
            Stmt::Forall { body, .. } => collect(body, found),
            Stmt::Where { consumer, .. } => collect(consumer, found),
            Stmt::Sequence(stmts) => stmts.iter().for_each(|stmt| collect(stmt, found)),
        }
    }
    let mut found = Vec::new();
    collect(producer, &mut found);
    found
}

/// The temporaries of every `where` inside a statement.
fn temporaries_within(stmt: &Stmt) -> Vec<TensorVar> {
    let mut found = Vec::new();
    stmt.for_each(&mut |part| {
        if let Stmt::Where { producer, .. } = part {
            found.extend(
                own_temporaries(producer)
                    .iter()
                    .map(|(access, _)| access.tensor),
            );
        }
    });
    found
}
