//! Statements.

use sparsec_loop::walk::for_each_stmt;
use sparsec_loop::{Access, BinaryOp, Block, Buffer, Expr, Failure, Stmt, Var};

use crate::helper::Helper;
use crate::state::Slot;
use crate::types::Type;
use crate::writer::{Value, Writer};

impl Writer<'_> {
    /// The statements of a block. What it allocates lives until its end.
    pub(crate) fn block(&mut self, block: &Block) {
        for stmt in block {
            self.stmt(stmt);
        }
        for stmt in block {
            if let Stmt::Alloc { buffer, .. } = stmt {
                let array = self.array(*buffer);
                if matches!(array.ty, Type::Array(_)) {
                    self.line(&format!("memref.dealloc {} : {}", array.name, array.ty));
                }
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Comment(text) => {
                let text = text.replace(['\n', '\r'], " ");
                self.line(&format!("// {text}"));
            }
            Stmt::Declare { var, value } | Stmt::Assign { var, value } => self.set(*var, value),
            Stmt::Store {
                buffer,
                index,
                value,
                reduce,
            } => self.store(*buffer, index, value, *reduce),
            Stmt::For {
                var,
                lo,
                hi,
                mark,
                body,
            } => match mark.chunks && self.is_independent(body) {
                true => self.parallel_loop(*var, lo, hi, body),
                false => self.for_loop(*var, lo, hi, body),
            },
            Stmt::While { condition, body } => self.while_loop(condition, body),
            Stmt::If {
                condition,
                then,
                otherwise,
            } => self.branch(condition, then, otherwise),
            Stmt::Fill {
                buffer,
                lo,
                hi,
                value,
            } => {
                let value = self.stored(*buffer, value);
                let (lo, hi) = (self.index(lo), self.index(hi));
                self.fill(*buffer, &lo, &hi, &value);
            }
            Stmt::Alloc { buffer, len } => self.alloc(*buffer, len),
            Stmt::Grow { buffer, len } => {
                let len = self.index(len);
                self.grow(*buffer, &len);
            }
            Stmt::Resize { buffer, len } => {
                let len = self.index(len);
                self.grow(*buffer, &len);
                self.state.set(Slot::Len(*buffer), len);
            }
            Stmt::Sort {
                buffer,
                along,
                lo,
                hi,
            } => {
                let data = self.array(*buffer);
                let along = along.map(|along| self.array(along));
                let (lo, hi) = (self.index(lo), self.index(hi));
                self.sort(&data, along.as_ref(), &lo, &hi);
            }
            Stmt::Prefetch { buffer, lo, .. } => {
                let (array, at) = (self.array(*buffer), self.index(lo));
                self.line(&format!(
                    "memref.prefetch {}[{}], read, locality<3>, data : {}",
                    array.name, at.name, array.ty
                ));
            }
            // Chunks run in order, and nobody cancels them.
            Stmt::Turn | Stmt::Pass | Stmt::Poll => {}
            Stmt::Fail(failure) => {
                let never = self.constant(sparsec_base::Scalar::Bool(false));
                self.assert(&never, *failure);
            }
        }
    }

    /// Writes that a failure ends the program where the condition does not hold.
    pub(crate) fn assert(&mut self, condition: &Value, failure: Failure) {
        let (condition, name) = (&condition.name, failure.name());
        self.line(&format!("cf.assert {condition}, \"{name}\""));
    }

    /// A declaration or an assignment.
    fn set(&mut self, var: Var, value: &Expr) {
        let ty = self.var_type(var);
        let value = self.expr(value, ty == Type::Index);
        let name = self.function.vars[var].name.clone();
        let value = self.named(value, &name);
        self.state.set(Slot::Var(var), value);
    }

    fn store(&mut self, buffer: Buffer, at: &Expr, value: &Expr, reduce: Option<BinaryOp>) {
        let index = self.index(at);
        let value = match reduce {
            None => self.stored(buffer, value),
            Some(op) => {
                let old = Box::new(Expr::load(buffer, at.clone()));
                self.stored(buffer, &Expr::Binary(op, old, Box::new(value.clone())))
            }
        };
        self.store_at(buffer, &index, &value);
    }

    fn store_at(&mut self, buffer: Buffer, index: &Value, value: &Value) {
        let array = self.array(buffer);
        self.line(&format!(
            "memref.store {}, {}[{}] : {}",
            value.name, array.name, index.name, array.ty
        ));
    }

    fn fill(&mut self, buffer: Buffer, lo: &Value, hi: &Value, value: &Value) {
        let one = self.integer(1, true);
        let at = self.fresh("at");
        let (lo, hi, step) = (&lo.name, &hi.name, &one.name);
        self.line(&format!("scf.for {at} = {lo} to {hi} step {step} {{"));
        self.indented(|w| w.store_at(buffer, &Value::new(at, Type::Index), value));
        self.line("}");
    }

    /// Makes a workspace of zeros: in the frame of the function if it is small.
    fn alloc(&mut self, buffer: Buffer, len: &Expr) {
        let data = &self.function.buffers[buffer];
        let (storage, name) = (data.storage, data.name.clone());
        let length = self.index(len);
        let fixed = match data.access {
            Access::Workspace => self.function.local_len(buffer),
            _ => None,
        };
        let ty = fixed.map_or(Type::Array(storage), |len| Type::Fixed(storage, len));
        let made = match ty {
            Type::Fixed(..) => format!("memref.alloca() : {ty}"),
            _ => format!("memref.alloc({}) : {ty}", length.name),
        };
        let array = self.op(ty, &made);
        let array = self.named(array, &name);
        self.state.set(Slot::Array(buffer), array);
        let (first, zero) = (self.integer(0, true), self.constant(storage.zero()));
        self.fill(buffer, &first, &length, &zero);
    }

    /// Makes room for so many entries.
    fn grow(&mut self, buffer: Buffer, len: &Value) {
        let data = &self.function.buffers[buffer];
        let name = data.name.clone();
        let helper = match data.access.is_allocated() {
            true => Helper::GrowWithZeros,
            false => Helper::Grow,
        };
        let array = self.array(buffer);
        let called = self.helpers.helper(helper, data.storage);
        let text = format!(
            "func.call @{called}({}, {}) : ({}, index) -> {}",
            array.name, len.name, array.ty, array.ty
        );
        let grown = self.op(array.ty, &text);
        let grown = self.named(grown, &name);
        self.state.set(Slot::Array(buffer), grown);
    }

    /// Whether chunks neither wait for one another nor share anything that they change: variables,
    /// arrays that move, workspaces.
    fn is_independent(&self, body: &Block) -> bool {
        let mut is_independent = self.state.changed_by(&[body]).is_empty();
        for_each_stmt(body, &mut |stmt| {
            let waits = matches!(stmt, Stmt::Turn | Stmt::Pass);
            let is_own = |buffer| self.function.buffers[buffer].access.is_allocated();
            is_independent &= !waits && !stmt.touched_buffers().any(is_own);
        });
        is_independent
    }
}
