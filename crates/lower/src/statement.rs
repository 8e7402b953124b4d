//! The walk over a statement, from outside in.

use std::collections::{BTreeMap, BTreeSet};

use sparsec_base::{ElementType, Scalar};
use sparsec_format::Level;
use sparsec_graph::operand::is_inside;
use sparsec_graph::{Formats, Operand, Operands, Scope};
use sparsec_index::concrete::Stmt;
use sparsec_index::{Access, Concrete, Expr as Value, IndexVar, Operator, TensorRole, TensorVar};
use sparsec_loop::{Block, Buffer, Builder, Expr, Function, Mark, Stmt as Loop, Var};

use crate::absent::decided;
use crate::assemble::Assembly;
use crate::cursor::{Bindings, Cursor, Place};
use crate::fill::Fill;
use crate::level::dense::locate;
use crate::positions::Positions;
use crate::presence::{Factor, Presence};
use crate::signature::{Arrays, arguments};
use crate::value;
use crate::workspace::Workspace;

/// A kernel being written from a statement.
pub(crate) struct Lowerer<'a> {
    pub(crate) builder: Builder,
    pub(crate) concrete: &'a Concrete,
    pub(crate) formats: &'a Formats,
    pub(crate) operands: Operands,
    pub(crate) tensors: BTreeMap<TensorVar, Arrays>,
    pub(crate) workspaces: BTreeMap<TensorVar, Workspace>,
    pub(crate) assembly: Option<Assembly>,
    pub(crate) fill: Option<Fill>,
    /// The positions that loops go over, by the variable that counts them.
    pub(crate) positions: BTreeMap<IndexVar, Positions>,
    /// Temporaries known to hold something where the code being written runs.
    pub(crate) certain: BTreeSet<TensorVar>,
    /// The arrays of index sets.
    pub(crate) lists: BTreeMap<Vec<u64>, Buffer>,
    /// The left side that the nest being written has for the result.
    assigned: Access,
}

impl<'a> Lowerer<'a> {
    pub(crate) fn new(name: &str, concrete: &'a Concrete, formats: &'a Formats) -> Self {
        let mut builder = Builder::new(name);
        let tensors = arguments(&mut builder, concrete, formats);
        Self {
            builder,
            concrete,
            formats,
            operands: Operands::of(concrete),
            tensors,
            workspaces: BTreeMap::new(),
            assembly: None,
            fill: None,
            positions: BTreeMap::new(),
            certain: BTreeSet::new(),
            lists: BTreeMap::new(),
            assigned: assigned(&concrete.stmt, concrete.result)
                .expect("a statement assigns its result"),
        }
    }

    pub(crate) fn run(mut self) -> Function {
        let mut bindings = Bindings::default();
        for operand in self.operands.ids() {
            bindings.cursors.insert(operand, Cursor::root());
        }
        bindings.result = Some(Cursor::root());
        self.allocate_workspaces();
        self.write_lists();
        self.begin_result();
        self.advance(&mut bindings);
        self.count_entries(&bindings);
        self.found(&self.concrete.stmt, &bindings);
        self.end_result();
        self.builder.finish()
    }

    pub(crate) fn scope(&self) -> Scope<'_> {
        Scope {
            concrete: self.concrete,
            formats: self.formats,
            operands: &self.operands,
        }
    }

    /// The left side of the result where the code being written runs. Only the nests
    /// of a sequence have several.
    pub(crate) fn result_access(&self) -> Access {
        self.assigned.clone()
    }

    pub(crate) fn stmt(&mut self, stmt: &Stmt, bindings: &Bindings) {
        match stmt {
            Stmt::Assign { lhs, reduce, rhs } => self.assign(lhs, reduce.as_ref(), rhs, bindings),
            Stmt::Forall { var, body } => self.forall(*var, body, bindings),
            Stmt::Where { consumer, producer } => self.where_(consumer, producer, bindings),
            Stmt::Sequence(stmts) => {
                for stmt in stmts {
                    self.nest(stmt, bindings);
                }
            }
        }
    }

    /// A nest of a sequence, which may have variables of its own on the left side.
    fn nest(&mut self, stmt: &Stmt, bindings: &Bindings) {
        let Some(own) = assigned(stmt, self.concrete.result) else {
            return self.stmt(stmt, bindings);
        };
        let around = std::mem::replace(&mut self.assigned, own);
        let mut bindings = bindings.clone();
        if self.assigned != around {
            bindings.result = Some(Cursor::root());
            self.advance(&mut bindings);
        }
        self.stmt(stmt, &bindings);
        self.assigned = around;
    }

    /// What `stmt` lowers to, as a block of its own.
    pub(crate) fn block(&mut self, write: impl FnOnce(&mut Self)) -> Block {
        self.builder.begin_block();
        write(self);
        self.builder.end_block()
    }

    /// `for var in lo..hi { … }`
    pub(crate) fn for_loop(
        &mut self,
        var: Var,
        lo: impl Into<Expr>,
        hi: impl Into<Expr>,
        write: impl FnOnce(&mut Self),
    ) {
        let body = self.block(write);
        self.builder.push(Loop::For {
            var,
            lo: lo.into(),
            hi: hi.into(),
            mark: Mark::default(),
            body,
        });
    }

    /// A fresh fixed `i64` variable for the coordinate of `var`.
    pub(crate) fn coordinate(&mut self, var: IndexVar) -> Var {
        let name = self.concrete.vars[var].name.clone();
        self.builder.fixed(&name, ElementType::I64)
    }

    /// The extent of an index variable, from the first argument that has it.
    pub(crate) fn extent(&self, var: IndexVar) -> Expr {
        if let Some(extent) = self.derived_extent(var) {
            return extent;
        }
        let mut same = vec![var];
        let mut at = 0;
        // A mode of a workspace has one extent, whatever variables stand there.
        while let Some(var) = same.get(at).copied() {
            if let Some(extent) = self.argument_extent(var) {
                return Expr::Var(extent);
            }
            for other in self.beside_in_workspaces(var) {
                if !same.contains(&other) {
                    same.push(other);
                }
            }
            at += 1;
        }
        match self.concrete.vars[var].extent {
            Some(extent) => Expr::Const(Scalar::I64(extent as i64)),
            None => panic!("a lowerable statement has extents for its loops"),
        }
    }

    fn argument_extent(&self, var: IndexVar) -> Option<Var> {
        let mut found = None;
        self.for_each_access(&mut |access| {
            let mode = access.mode_of(var);
            if let (None, Some(mode), Some(arrays)) =
                (found, mode, self.tensors.get(&access.tensor))
            {
                found = Some(arrays.extents[mode]);
            }
        });
        found
    }

    /// The variables at the modes of workspaces at which `var` is too.
    fn beside_in_workspaces(&self, var: IndexVar) -> Vec<IndexVar> {
        let mut modes = Vec::new();
        self.for_each_access(&mut |access| {
            let is_workspace = !self.tensors.contains_key(&access.tensor);
            if let (true, Some(mode)) = (is_workspace, access.mode_of(var)) {
                modes.push((access.tensor, mode));
            }
        });
        let mut found = Vec::new();
        self.for_each_access(&mut |access| {
            for (tensor, mode) in &modes {
                if access.tensor == *tensor {
                    found.extend(access.var(*mode));
                }
            }
        });
        found
    }

    fn for_each_access(&self, visit: &mut dyn FnMut(&Access)) {
        self.concrete.stmt.for_each_assign(&mut |lhs, _, rhs| {
            rhs.for_each_access(&mut |access| visit(access));
            visit(lhs);
        });
    }

    /// Moves every cursor below the levels whose coordinates are bound and
    /// positions computed.
    pub(crate) fn advance(&self, bindings: &mut Bindings) {
        for operand in self.operands.ids() {
            let access = self.operands.access(operand);
            let cursor = bindings
                .cursors
                .get_mut(&operand)
                .expect("every operand has a cursor");
            let computed = Level::is_computed;
            self.advance_cursor(access, cursor, &bindings.coordinates, computed);
        }
        let access = self.result_access();
        let mut cursor = bindings.result.take().expect("the result has a cursor");
        let computed = |level: &Level| level.kind.capabilities().random_insert;
        self.advance_cursor(&access, &mut cursor, &bindings.coordinates, computed);
        bindings.result = Some(cursor);
    }

    fn advance_cursor(
        &self,
        access: &Access,
        cursor: &mut Cursor,
        coordinates: &BTreeMap<IndexVar, Expr>,
        is_computed: fn(&Level) -> bool,
    ) {
        let levels = self.formats.of(access.tensor).levels();
        while let Some(level) = levels.get(cursor.levels) {
            let mode = level.mode();
            let coordinate = self.coordinate_of(&access.indices[mode], coordinates);
            let (true, Some(coordinate)) = (is_computed(level), coordinate) else {
                return;
            };
            // Elsewhere it is looked at where the coordinate is.
            if !is_inside(access, mode, self.concrete) {
                return;
            }
            let extent = self.mode_extent(access, mode);
            let position = locate(cursor.position(), extent, coordinate);
            cursor.place = Place::At(position);
            cursor.levels += 1;
        }
    }

    /// The extent of one mode of an access; of a workspace, that of its variable.
    pub(crate) fn mode_extent(&self, access: &Access, mode: usize) -> Expr {
        // A level of places in blocks has as many as a block.
        let place = access.var(mode).and_then(|var| self.size_of_block_of(var));
        if let Some(size) = place {
            return Expr::int(size as i64);
        }
        match self.tensors.get(&access.tensor) {
            Some(arrays) => Expr::Var(arrays.extents[mode]),
            None => self.extent(access.var(mode).expect("workspaces have plain variables")),
        }
    }

    fn assign(
        &mut self,
        lhs: &Access,
        reduce: Option<&Operator>,
        rhs: &Value,
        bindings: &Bindings,
    ) {
        // Outside of loops no lattice has left out what literals decide.
        let rhs = &decided(self.concrete, rhs.clone());
        if let Some(factor) = self.uncertain_factor(rhs) {
            return self.assign_by_factor(factor, lhs, reduce, rhs, bindings);
        }
        let value = self.value(rhs, bindings);
        let is_workspace = self.concrete.tensors[lhs.tensor].role == TensorRole::Workspace;
        let has_pattern = match self.workspaces.get(&lhs.tensor) {
            Some(workspace) => matches!(workspace, Workspace::Stored(_)),
            None => !self.formats.of(lhs.tensor).is_all_dense(),
        };
        let presence = if has_pattern {
            self.presence_in(self.identity(lhs.tensor, reduce), rhs)
        } else {
            Presence::Always
        };
        let written = self.presence(rhs);
        let store = |it: &mut Self| {
            if is_workspace {
                it.assign_workspace(lhs, reduce, value, written, bindings);
            } else {
                it.store_result(lhs, reduce, value, bindings);
            }
        };
        match presence {
            Presence::Always => store(self),
            Presence::Never => {}
            Presence::When(condition) => {
                let then = self.block(store);
                self.builder.push(Loop::If {
                    condition,
                    then,
                    otherwise: Block::new(),
                });
            }
        }
    }

    /// An assignment in two versions: where a temporary holds something, and
    /// where it does not and so has a say in what it is combined with.
    fn assign_by_factor(
        &mut self,
        factor: Factor,
        lhs: &Access,
        reduce: Option<&Operator>,
        rhs: &Value,
        bindings: &Bindings,
    ) {
        let then = self.block(|it| {
            it.certain.insert(factor.temporary);
            it.assign(lhs, reduce, rhs, bindings);
            it.certain.remove(&factor.temporary);
        });
        let absent = rhs.map_accesses(&mut |access| {
            (access.tensor == factor.temporary).then_some(Value::Literal(factor.unstored))
        });
        let absent = absent.simplify_with(&|part| self.where_absent(part).literal());
        let otherwise = self.block(|it| it.assign(lhs, reduce, &absent, bindings));
        self.builder.push(Loop::If {
            condition: Expr::Var(factor.written),
            then,
            otherwise,
        });
    }

    /// The expression of the loop IR for a value.
    fn value(&self, expr: &Value, bindings: &Bindings) -> Expr {
        match expr {
            Value::Literal(value) => Expr::Const(*value),
            Value::Access(access) => self.entry(access, bindings),
            Value::Index(index) => self.bound_coordinate(bindings, index),
            Value::Cast(element, body) => value::cast(
                *element,
                self.value(body, bindings),
                body.element(&self.concrete.tensors),
            ),
            Value::Apply {
                op: Operator::Defined(function),
                args,
            } => self.value(&function.expand(args, &self.concrete.tensors), bindings),
            Value::Apply {
                op: Operator::IsStored,
                args,
            } => match self.presence(&args[0]) {
                Presence::Always => Expr::Const(Scalar::Bool(true)),
                Presence::Never => Expr::Const(Scalar::Bool(false)),
                Presence::When(condition) => condition,
            },
            Value::Apply { op, args } => {
                let element = args
                    .last()
                    .expect("every operator has an argument")
                    .element(&self.concrete.tensors);
                let args = args.iter().map(|arg| self.value(arg, bindings)).collect();
                value::apply(op, element, args)
            }
            Value::Reduce { .. } => unreachable!("concrete notation has loops for reductions"),
        }
    }

    /// The value of a stored entry.
    fn entry(&self, access: &Access, bindings: &Bindings) -> Expr {
        if let Some(Workspace::Scalar { value, .. }) = self.workspaces.get(&access.tensor) {
            return Expr::Var(*value);
        }
        let operand = self
            .operands
            .find(access)
            .expect("operands hold every access");
        let cursor = &bindings.cursors[&operand];
        let position = cursor.position().clone();
        match self.workspaces.get(&access.tensor) {
            Some(Workspace::Dense { vals, .. }) => Expr::load(*vals, position),
            Some(Workspace::Stored(stored)) => stored.value(position, || {
                self.bound_coordinate(bindings, &access.indices[0])
            }),
            _ => Expr::load(self.tensors[&access.tensor].vals, position),
        }
    }

    /// The level of `operand` at `var`, if a loop over `var` walks it.
    pub(crate) fn walked_level(&self, operand: Operand, var: IndexVar) -> Option<usize> {
        self.operands.walked_level(operand, var, self.formats)
    }

    /// The value that a reduction into `tensor` begins with.
    pub(crate) fn identity(&self, tensor: TensorVar, reduce: Option<&Operator>) -> Scalar {
        let data = &self.concrete.tensors[tensor];
        reduce
            .and_then(|op| op.identity(data.element))
            .unwrap_or(data.fill)
    }
}

/// The left side that a statement has for a tensor; of a sequence that of its first
/// nest.
fn assigned(stmt: &Stmt, tensor: TensorVar) -> Option<Access> {
    let mut found = None;
    stmt.for_each_assign(&mut |lhs, _, _| {
        if lhs.tensor == tensor && found.is_none() {
            found = Some(lhs.clone());
        }
    });
    found
}
