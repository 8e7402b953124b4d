//! Moving what does not change out of loops.
//!
//! An expression moves before a loop if it gives the same value in every
//! iteration (it reads only variables that the loop does not write, and `read`
//! buffers), if it is worth a name (it loads, divides or calls a function; a
//! C compiler moves sums and products as well without one), and if evaluating
//! it there is safe:
//!
//! * it cannot fail, and
//! * each of its loads is one that the kernel does anyway: it is in a `while`
//!   condition, which is evaluated before the first iteration, or the kernel
//!   did the same load on every path to the loop.
//!
//! A load in the body of a loop stays there otherwise: the loop may run no
//! iteration, and the entry may not exist.
//!
//! ```text
//! while p < A.pos[i + 1] {       let A_pos: i64 = A.pos[i + 1]
//!   y[i] += x[p] / n        ──►  while p < A_pos {
//!   p += 1                         y[i] += x[p] / n
//! }                                p += 1
//!                                }
//! ```

use std::collections::HashSet;

use crate::ir::{Access, BinaryOp, Block, Expr, Function, Stmt, Var};
use crate::walk::for_each_stmt;

/// Moves invariant loads, divisions and calls before loops, where it is safe;
/// see the module's text in the source for when it is.
pub fn hoist(function: &mut Function) {
    let mut body = std::mem::take(&mut function.body);
    Hoister { function }.block(&mut body, &mut Vec::new());
    function.body = body;
}

struct Hoister<'f> {
    /// Without its body, which is being changed.
    function: &'f mut Function,
}

impl Hoister<'_> {
    /// Hoists in a block. `done` are loads that every path to here did, of
    /// `read` buffers at indices that never change.
    fn block(&mut self, block: &mut Block, done: &mut Vec<Expr>) {
        let n_done = done.len();
        let mut at = 0;
        while at < block.len() {
            let mut hoisted = Block::new();
            if let Stmt::For { .. } | Stmt::While { .. } = block[at] {
                hoisted = self.before_loop(&mut block[at], done);
            }
            let n_hoisted = hoisted.len();
            block.splice(at..at, hoisted);
            at += n_hoisted;
            // `and=` and `or=` may skip their value.
            if !matches!(
                block[at],
                Stmt::Store {
                    reduce: Some(_),
                    ..
                }
            ) {
                block[at].for_each_expr(&mut |expr| self.note_loads(expr, done));
            }
            for inner in block[at].blocks_mut() {
                self.block(inner, done);
            }
            at += 1;
        }
        done.truncate(n_done);
    }

    /// Declarations to put before a loop.
    fn before_loop(&mut self, stmt: &mut Stmt, done: &[Expr]) -> Block {
        let mut written = HashSet::new();
        stmt.for_each(&mut |inner| written.extend(inner.written_var()));
        let mut found = Vec::new();
        if let Stmt::While { condition, .. } = stmt {
            let mut evaluated = done.to_vec();
            for_each_evaluated(condition, &mut |part| {
                if let Expr::Load { .. } = part {
                    evaluated.push(part.clone());
                }
            });
            self.find(condition, &written, &evaluated, &mut found);
        }
        for block in stmt.blocks() {
            for_each_stmt(block, &mut |inner| {
                inner.for_each_expr(&mut |expr| self.find(expr, &written, done, &mut found));
            });
        }
        let mut declarations = Block::new();
        for value in found {
            let var = self.new_var(&value);
            substitute(stmt, &value, var);
            declarations.push(Stmt::Declare { var, value });
        }
        declarations
    }

    /// Collects the largest parts of `expr` that can and should move.
    fn find(&self, expr: &Expr, written: &HashSet<Var>, safe: &[Expr], found: &mut Vec<Expr>) {
        if found.contains(expr) {
            return;
        }
        if self.is_worth_a_name(expr) && self.can_move(expr, written, safe) {
            found.push(expr.clone());
            return;
        }
        expr.for_each_operand(&mut |operand| self.find(operand, written, safe, found));
    }

    fn is_worth_a_name(&self, expr: &Expr) -> bool {
        expr.any(&mut |part| {
            matches!(
                part,
                Expr::Load { .. }
                    | Expr::Call(..)
                    | Expr::Binary(BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Mod, ..)
            )
        })
    }

    fn can_move(&self, expr: &Expr, written: &HashSet<Var>, safe: &[Expr]) -> bool {
        !self.function.can_fail(expr)
            && !expr.any(&mut |part| match part {
                Expr::Var(var) => written.contains(var),
                Expr::Load { buffer, .. } => {
                    self.function.buffers[*buffer].access != Access::Read || !safe.contains(part)
                }
                _ => false,
            })
    }

    /// Adds the loads that evaluating `expr` certainly does and that give the
    /// same entry from now on.
    fn note_loads(&self, expr: &Expr, done: &mut Vec<Expr>) {
        for_each_evaluated(expr, &mut |part| {
            let Expr::Load { buffer, .. } = part else {
                return;
            };
            let changes = part.any(&mut |inner| match inner {
                Expr::Var(var) => self.function.vars[*var].mutable,
                Expr::Load { buffer, .. } => self.function.buffers[*buffer].access != Access::Read,
                _ => false,
            });
            if self.function.buffers[*buffer].access == Access::Read && !changes {
                done.push(part.clone());
            }
        });
    }

    /// A fixed variable for `value`, named after the first buffer it loads.
    fn new_var(&mut self, value: &Expr) -> Var {
        let mut name = None;
        value.any(&mut |part| {
            if let Expr::Load { buffer, .. } = part {
                name = Some(self.function.buffers[*buffer].name.replace('.', "_"));
            }
            name.is_some()
        });
        let element = self.function.type_of(value);
        let name = name.as_deref().unwrap_or("fixed");
        self.function.fresh_var(name, element, false)
    }
}

/// Calls `visit` with each part of `expr` that is evaluated whenever `expr` is.
fn for_each_evaluated(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    visit(expr);
    match expr {
        Expr::Binary(BinaryOp::And | BinaryOp::Or, left, _) => for_each_evaluated(left, visit),
        Expr::Select { condition, .. } => for_each_evaluated(condition, visit),
        _ => expr.for_each_operand(&mut |operand| for_each_evaluated(operand, visit)),
    }
}

/// Puts `var` in the place of `value` wherever the loop evaluates it anew.
fn substitute(stmt: &mut Stmt, value: &Expr, var: Var) {
    let replace = &mut |part: &mut Expr| {
        if part == value {
            *part = Expr::Var(var);
        }
    };
    if let Stmt::While { condition, .. } = stmt {
        condition.rewrite(replace);
    }
    for block in stmt.blocks_mut() {
        crate::walk::rewrite_exprs(block, replace);
    }
}
