//! Folding constants, exact algebra, and dropping what never runs.
//!
//! Every rule gives the same bits: integers may be regrouped since they wrap,
//! floats may not. `x + 0.0` stays, because `-0.0 + 0.0` is `0.0`. An operand
//! that may leave the function with an error is never dropped.

mod algebra;

use std::collections::HashSet;

use sparsec_base::Scalar;

use crate::ir::{BinaryOp, Block, Expr, Function, Stmt, UnaryOp, Var};
use crate::mark::Mark;
use crate::text::REDUCTIONS;
use crate::verify::combined_by;
use crate::walk::for_each_stmt;

/// Simplifies expressions and statements until nothing changes.
///
/// ```text
/// for p in i..i + 1 { y[p + 0] = y[p + 0] + x[p] * 1.0 }
///   ──►  let p: i64 = i
///        y[p] += x[p]
/// ```
pub fn simplify(function: &mut Function) {
    let mut body = std::mem::take(&mut function.body);
    loop {
        let mut loop_vars = HashSet::new();
        for_each_stmt(&body, &mut |stmt| {
            if let Stmt::For { var, .. } = stmt {
                loop_vars.insert(*var);
            }
        });
        let simplifier = Simplifier {
            function,
            loop_vars,
        };
        let simpler = simplifier.block(body.clone(), false);
        if simpler == body {
            break;
        }
        body = simpler;
    }
    function.body = body;
}

/// An expression simplified.
pub(super) fn simplified(function: &Function, expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    expr.rewrite(&mut |part| algebra::simplify_node(function, part));
    expr
}

struct Simplifier<'f> {
    /// Without its body, which is being changed.
    function: &'f Function,
    /// Variables that are less than a bound, so that adding 1 does not wrap.
    loop_vars: HashSet<Var>,
}

impl Simplifier<'_> {
    /// `block` simplified, which iterations of a parallel loop may run at once if it
    /// is `shared`.
    fn block(&self, block: Block, shared: bool) -> Block {
        let mut simpler = Block::new();
        for mut stmt in block {
            match &mut stmt {
                Stmt::Assign { var, value } if shared => self.combination(*var, value),
                stmt => stmt.for_each_expr_mut(&mut |expr| self.expr(expr)),
            }
            let is_parallel =
                matches!(&stmt, Stmt::For { mark, .. } if mark.parallel.is_some() || mark.chunks);
            for inner in stmt.blocks_mut() {
                *inner = self.block(std::mem::take(inner), shared || is_parallel);
            }
            let leaves = matches!(stmt, Stmt::Fail(_));
            self.stmt(stmt, &mut simpler);
            if leaves {
                break;
            }
        }
        simpler
    }

    fn expr(&self, expr: &mut Expr) {
        expr.rewrite(&mut |part| algebra::simplify_node(self.function, part));
    }

    /// Simplifies what `var` becomes where others may combine it at the same time: what
    /// combines it goes on to, as `all and false` does, which as `false` would not.
    fn combination(&self, var: Var, value: &mut Expr) {
        let mut simple = value.clone();
        self.expr(&mut simple);
        let combines = |value: &Expr| combined_by(var, value).is_some();
        if !combines(value) || combines(&simple) || simple == Expr::Var(var) {
            *value = simple;
        } else if let Expr::Binary(_, left, right) = value {
            self.combination(var, left);
            self.combination(var, right);
        }
    }

    /// Adds the statements that `stmt` comes to.
    fn stmt(&self, stmt: Stmt, block: &mut Block) {
        match stmt {
            Stmt::If {
                condition,
                then,
                otherwise,
            } => self.branch(condition, then, otherwise, block),
            Stmt::While {
                condition: Expr::Const(Scalar::Bool(false)),
                ..
            } => {}
            Stmt::For {
                var,
                lo,
                hi,
                mark,
                body,
            } => self.for_loop(var, lo, hi, mark, body, block),
            Stmt::Fill {
                ref lo,
                ref hi,
                ref value,
                ..
            } if self.is_empty_range(lo, hi) && !self.function.can_fail(value) => {}
            Stmt::Assign { var, value } => {
                let value = old_value_first(value, &Expr::Var(var));
                if value != Expr::Var(var) {
                    block.push(Stmt::Assign { var, value });
                }
            }
            Stmt::Store {
                buffer,
                index,
                value,
                reduce: None,
            } => {
                let old = Expr::load(buffer, index.clone());
                let (value, reduce) = match old_value_first(value, &old) {
                    Expr::Binary(op, left, right) if *left == old && REDUCTIONS.contains(&op) => {
                        (*right, Some(op))
                    }
                    value => (value, None),
                };
                block.push(Stmt::Store {
                    buffer,
                    index,
                    value,
                    reduce,
                });
            }
            stmt => block.push(stmt),
        }
    }

    fn branch(&self, condition: Expr, mut then: Block, mut otherwise: Block, block: &mut Block) {
        match condition {
            Expr::Const(Scalar::Bool(true)) => return block.append(&mut then),
            Expr::Const(Scalar::Bool(false)) => return block.append(&mut otherwise),
            _ => {}
        }
        match (does_nothing(&then), does_nothing(&otherwise)) {
            (true, true) if !self.function.can_fail(&condition) => {}
            (true, false) => block.push(Stmt::If {
                condition: Expr::Unary(UnaryOp::Not, Box::new(condition)),
                then: otherwise,
                otherwise: Block::new(),
            }),
            (_, nothing) => {
                if nothing {
                    otherwise.clear();
                }
                block.push(Stmt::If {
                    condition,
                    then,
                    otherwise,
                });
            }
        }
    }

    fn for_loop(
        &self,
        var: Var,
        lo: Expr,
        hi: Expr,
        mark: Mark,
        mut body: Block,
        block: &mut Block,
    ) {
        let bounds_fail = self.function.can_fail(&lo) || self.function.can_fail(&hi);
        if self.is_empty_range(&lo, &hi) || (does_nothing(&body) && !bounds_fail) {
            return;
        }
        if self.is_single(&lo, &hi) && !mark.chunks {
            block.push(Stmt::Declare { var, value: lo });
            return block.append(&mut body);
        }
        block.push(Stmt::For {
            var,
            lo,
            hi,
            mark,
            body,
        });
    }

    fn is_empty_range(&self, lo: &Expr, hi: &Expr) -> bool {
        match (lo, hi) {
            (Expr::Const(Scalar::I64(lo)), Expr::Const(Scalar::I64(hi))) => lo >= hi,
            _ => lo == hi && !self.function.can_fail(lo),
        }
    }

    /// Whether a loop from `lo` to `hi` has exactly one iteration.
    fn is_single(&self, lo: &Expr, hi: &Expr) -> bool {
        match (lo, hi) {
            (Expr::Const(Scalar::I64(lo)), Expr::Const(Scalar::I64(hi))) => {
                lo.checked_add(1) == Some(*hi)
            }
            (Expr::Var(var), Expr::Binary(BinaryOp::Add, base, one)) => {
                self.loop_vars.contains(var) && **base == *lo && **one == Expr::int(1)
            }
            _ => false,
        }
    }
}

fn does_nothing(block: &Block) -> bool {
    block.iter().all(|stmt| matches!(stmt, Stmt::Comment(_)))
}

/// `e + old` as `old + e`, which reads as `+=`; `*` too.
fn old_value_first(value: Expr, old: &Expr) -> Expr {
    match value {
        Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Mul), left, right)
            if *right == *old && *left != *old =>
        {
            Expr::Binary(op, right, left)
        }
        value => value,
    }
}
