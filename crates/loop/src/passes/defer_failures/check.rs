//! Whether evaluating an expression fails, as statements.
//!
//! ```text
//! select(a > 0, i64(b), c // d)      if a > 0 { let cast: f64 = b
//!                                               if not (-2^63 <= cast and cast < 2^63) { failure = 2 } }
//!                                    else { if d == 0 { failure = 1 } }
//! ```
//!
//! Operations are looked at in the order in which they are evaluated, and none behind one
//! that fails.

use sparsec_base::{ElementType, Kind, Scalar};

use super::{Pass, constant};
use crate::ir::{Access, BinaryOp, Block, Expr, Stmt, UnaryOp, Var};

impl Pass<'_> {
    /// Writes to `out` the statements that set `failure`, which is 0 before, to the status
    /// of the first operation that fails where `expr` is evaluated; none if none can fail.
    pub(super) fn check(
        &mut self,
        expr: &Expr,
        failure: Var,
        combined: Option<&Expr>,
        out: &mut Block,
    ) {
        if combined == Some(expr) || !(self.shadows.holds(expr) || self.function.can_fail(expr)) {
            return;
        }
        if let Some(of_part) = self.shadows.of_part(expr) {
            let value = of_part;
            let var = failure;
            return guarded(failure, vec![Stmt::Assign { var, value }], out);
        }
        match expr {
            Expr::Select {
                condition,
                then,
                otherwise,
            } => {
                self.check(condition, failure, combined, out);
                if self.reads_target(condition) {
                    self.check(then, failure, combined, out);
                    self.check(otherwise, failure, combined, out);
                    return;
                }
                let branches = [then, otherwise].map(|branch| {
                    let mut block = Block::new();
                    self.check(branch, failure, combined, &mut block);
                    block
                });
                self.branch((**condition).clone(), branches, failure, out);
            }
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                self.check(left, failure, combined, out);
                if self.reads_target(left) {
                    return self.check(right, failure, combined, out);
                }
                let mut block = Block::new();
                self.check(right, failure, combined, &mut block);
                let branches = match op {
                    BinaryOp::And => [block, Block::new()],
                    _ => [Block::new(), block],
                };
                self.branch((**left).clone(), branches, failure, out);
            }
            _ => {
                expr.for_each_operand(&mut |operand| self.check(operand, failure, combined, out));
                let itself = self.fails_itself(expr, failure);
                guarded(failure, itself, out);
            }
        }
    }

    /// Whether an expression reads the temporary that it is reduced into. A reduction needs all of
    /// its values, whatever it is so far.
    fn reads_target(&self, expr: &Expr) -> bool {
        expr.any(&mut |part| self.target.as_ref() == Some(part))
    }

    /// Whether iterations that may run at once combine a temporary, so that none reads it.
    pub(super) fn is_shared(&self, temporary: &Expr) -> bool {
        self.outside
            .as_ref()
            .is_some_and(|outside| match temporary {
                Expr::Var(var) => outside.contains(var),
                Expr::Load { buffer, .. } => {
                    self.function.buffers[*buffer].access == Access::Workspace
                }
                _ => false,
            })
    }

    fn branch(
        &self,
        condition: Expr,
        [then, otherwise]: [Block; 2],
        failure: Var,
        out: &mut Block,
    ) {
        if then.is_empty() && otherwise.is_empty() {
            return;
        }
        let branch = Stmt::If {
            condition,
            then,
            otherwise,
        };
        guarded(failure, vec![branch], out);
    }

    /// The statements that find out whether an operation fails whose operands do not.
    fn fails_itself(&mut self, expr: &Expr, failure: Var) -> Block {
        let mut own = Block::new();
        let Some(kind) = self.function.own_failure(expr) else {
            return own;
        };
        let zero_of = |value: &Expr| Scalar::from_i64(self.function.type_of(value), 0);
        let fails = match expr {
            Expr::Binary(_, _, divisor) => (**divisor).clone().equals(zero_of(divisor)),
            Expr::Call(_, arguments) => arguments[1].clone().less(zero_of(&arguments[1])),
            Expr::Cast(to, value) => {
                let fits = self.fits(*to, value, &mut own);
                Expr::Unary(UnaryOp::Not, Box::new(fits))
            }
            _ => unreachable!("no other operation fails"),
        };
        own.push(Stmt::If {
            condition: fails,
            then: vec![Stmt::Assign {
                var: failure,
                value: constant(kind.status()),
            }],
            otherwise: Block::new(),
        });
        own
    }

    /// Whether a float, cut towards zero, is a number of an integer type.
    fn fits(&mut self, to: ElementType, value: &Expr, out: &mut Block) -> Expr {
        let wide = self.function.fresh_var("cast", ElementType::F64, false);
        let value = match self.function.type_of(value) {
            ElementType::F64 => value.clone(),
            _ => Expr::Cast(ElementType::F64, Box::new(value.clone())),
        };
        out.push(Stmt::Declare { var: wide, value });
        let bits = 8 * to.size() as i32;
        let float = |value: f64| Expr::Const(Scalar::F64(value));
        // The number below the least of 64 bits has no double of its own.
        let (is_above, least, below) = match (to.kind(), bits) {
            (Kind::Unsigned, _) => (BinaryOp::Lt, -1.0, 2f64.powi(bits)),
            (_, 64) => (BinaryOp::Le, -(2f64.powi(63)), 2f64.powi(63)),
            _ => (
                BinaryOp::Lt,
                -(2f64.powi(bits - 1)) - 1.0,
                2f64.powi(bits - 1),
            ),
        };
        let above = float(least).binary(is_above, wide);
        above.and(Expr::Var(wide).less(float(below)))
    }
}

/// Adds statements that run where nothing has failed so far. At the start of a block of
/// checks nothing has.
fn guarded(failure: Var, mut block: Block, out: &mut Block) {
    if block.is_empty() || out.is_empty() {
        return out.append(&mut block);
    }
    out.push(Stmt::If {
        condition: Expr::Var(failure).equals(constant(0)),
        then: block,
        otherwise: Block::new(),
    });
}
