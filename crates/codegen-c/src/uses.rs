//! What a function uses: which arguments its loops need, and what a block
//! changes.

use std::collections::HashSet;

use sparsec_loop::{Access, BinaryOp, Block, Buffer, Expr, Function, Stmt, Var};

/// The variables that are read and the buffers that are touched.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    /// Variables that some expression reads.
    pub(crate) vars: HashSet<Var>,
    /// Buffers that some statement or expression names.
    pub(crate) buffers: HashSet<Buffer>,
    /// Buffers whose entries are read or written.
    pub(crate) accessed: HashSet<Buffer>,
    /// Buffers that are grown or resized.
    pub(crate) grown: HashSet<Buffer>,
    /// Whether the kernel calls its context: for memory or to sort.
    pub(crate) context: bool,
}

impl Uses {
    /// What some statements of a function use.
    pub(crate) fn of(function: &Function, block: &Block) -> Self {
        let mut uses = Self::default();
        uses.block(function, block);
        uses
    }

    fn block(&mut self, function: &Function, block: &Block) {
        for stmt in block {
            stmt.for_each_expr(&mut |expr| self.expr(expr));
            match stmt {
                Stmt::For { mark, .. } if mark.chunks => self.context = true,
                Stmt::Turn | Stmt::Pass | Stmt::Poll => self.context = true,
                Stmt::Store { buffer, .. }
                | Stmt::Fill { buffer, .. }
                | Stmt::Prefetch { buffer, .. } => {
                    self.buffers.insert(*buffer);
                    self.accessed.insert(*buffer);
                }
                Stmt::Sort { .. } => {
                    self.context = true;
                    for buffer in stmt.stored_buffers() {
                        self.buffers.insert(buffer);
                        self.accessed.insert(buffer);
                    }
                }
                Stmt::Alloc { buffer, .. } => {
                    self.context |= function.local_len(*buffer).is_none();
                    self.buffers.insert(*buffer);
                }
                Stmt::Grow { buffer, .. } | Stmt::Resize { buffer, .. } => {
                    self.context = true;
                    self.buffers.insert(*buffer);
                    self.grown.insert(*buffer);
                }
                _ => {}
            }
            for inner in stmt.blocks() {
                self.block(function, inner);
            }
        }
    }

    /// Notes what an expression uses.
    pub(crate) fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Var(var) => {
                self.vars.insert(*var);
            }
            Expr::Load { buffer, .. } => {
                self.buffers.insert(*buffer);
                self.accessed.insert(*buffer);
            }
            _ => {}
        }
        expr.for_each_operand(&mut |operand| self.expr(operand));
    }
}

/// Whether evaluating `expr` may end the kernel with a failure.
pub(crate) fn may_fail(function: &Function, expr: &Expr) -> bool {
    expr.any(&mut |part| match part {
        Expr::Binary(BinaryOp::FloorDiv | BinaryOp::Mod, _, right) => {
            function.type_of(right).is_integer() && !is_nonzero_constant(right)
        }
        Expr::Call(called, arguments) => {
            called.takes_integers() && function.type_of(&arguments[0]).is_integer()
        }
        Expr::Cast(ty, value) => ty.is_integer() && function.type_of(value).is_float(),
        _ => false,
    })
}

/// Whether `expr` is a constant other than zero.
pub(crate) fn is_nonzero_constant(expr: &Expr) -> bool {
    matches!(expr, Expr::Const(value) if !value.is_zero())
}

/// Whether `expr` keeps its value while `body` runs: then C may evaluate it
/// again where the IR evaluates it once.
pub(crate) fn keeps_value(function: &Function, expr: &Expr, body: &Block) -> bool {
    !expr.any(&mut |part| match part {
        Expr::Var(var) => function.vars[*var].mutable && assigns(body, *var),
        Expr::Load { buffer, .. } => {
            function.buffers[*buffer].access != Access::Read && changes(body, *buffer)
        }
        _ => false,
    })
}

fn assigns(block: &Block, wanted: Var) -> bool {
    any_stmt(
        block,
        &|stmt| matches!(stmt, Stmt::Assign { var, .. } if *var == wanted),
    )
}

fn changes(block: &Block, wanted: Buffer) -> bool {
    any_stmt(block, &|stmt| match stmt {
        Stmt::Grow { buffer, .. } | Stmt::Resize { buffer, .. } | Stmt::Alloc { buffer, .. } => {
            *buffer == wanted
        }
        _ => stmt.stored_buffers().any(|buffer| buffer == wanted),
    })
}

fn any_stmt(block: &Block, holds: &dyn Fn(&Stmt) -> bool) -> bool {
    let inside = |stmt: &Stmt| stmt.blocks().iter().any(|inner| any_stmt(inner, holds));
    block.iter().any(|stmt| holds(stmt) || inside(stmt))
}
