//! Comparisons that the types of arrays decide.
//!
//! An integer that was loaded from an array of 32 bits fits into another one, so that it
//! need not be tried before it is stored:
//!
//! ```text
//! let j: i64 = crd[p]                  read crd: i32       -2^31 <= j < 2^31
//! if j < -2147483648 or 2147483647 < j { fail … }     ──►  (nothing)
//! out[p] = j                           write out: i32
//! ```
//!
//! Each fixed variable has an interval of constants, which its value is found in. Sums that
//! may wrap have all integers.
//!
//! Invariant: an interval holds every value that the expression has at run time, so that a
//! comparison is decided only where it comes out the same for all pairs of values.

use std::collections::HashMap;

use sparsec_base::{ElementType, Scalar};

use crate::ir::{BinaryOp, Block, Expr, Function, Stmt, Var};

/// Decides comparisons of integers by the intervals that they lie in.
pub fn ranges(function: &mut Function) {
    let mut body = std::mem::take(&mut function.body);
    let mut known = HashMap::new();
    for argument in &function.arguments {
        let extents = argument.extents.iter();
        known.extend(extents.map(|extent| (*extent, (0, i64::MAX))));
    }
    Ranges { function, known }.block(&mut body);
    function.body = body;
}

/// The least and the largest value.
type Interval = (i64, i64);

const ALL: Interval = (i64::MIN, i64::MAX);

struct Ranges<'f> {
    /// Without its body, which is being changed.
    function: &'f Function,
    known: HashMap<Var, Interval>,
}

impl Ranges<'_> {
    fn block(&mut self, block: &mut Block) {
        for stmt in block {
            stmt.for_each_expr_mut(&mut |expr| {
                expr.rewrite(&mut |part| {
                    if let Some(decided) = self.decided(part) {
                        *part = Expr::Const(Scalar::Bool(decided));
                    }
                });
            });
            match stmt {
                Stmt::Declare { var, value } if self.is_fixed_integer(*var) => {
                    let interval = self.interval(value);
                    self.known.insert(*var, interval);
                }
                Stmt::For { var, lo, hi, .. } => {
                    let ((least, _), (_, above)) = (self.interval(lo), self.interval(hi));
                    self.known.insert(*var, (least, above.saturating_sub(1)));
                }
                _ => {}
            }
            for inner in stmt.blocks_mut() {
                self.block(inner);
            }
        }
    }

    fn is_fixed_integer(&self, var: Var) -> bool {
        let data = &self.function.vars[var];
        !data.mutable && data.element == ElementType::I64
    }

    /// What a comparison comes to at all values of its sides.
    fn decided(&self, expr: &Expr) -> Option<bool> {
        let Expr::Binary(op, left, right) = expr else {
            return None;
        };
        let is_integer = self.function.type_of(left) == ElementType::I64;
        let can_fail = || self.function.can_fail(expr);
        if !op.is_comparison() || !is_integer || can_fail() {
            return None;
        }
        let (a, b) = (self.interval(left), self.interval(right));
        let less = |a: Interval, b: Interval| match () {
            () if a.1 < b.0 => Some(true),
            () if a.0 >= b.1 => Some(false),
            () => None,
        };
        match op {
            BinaryOp::Lt => less(a, b),
            BinaryOp::Gt => less(b, a),
            BinaryOp::Le => less(b, a).map(|less| !less),
            BinaryOp::Ge => less(a, b).map(|less| !less),
            BinaryOp::Eq | BinaryOp::Ne if a.1 < b.0 || b.1 < a.0 => Some(*op == BinaryOp::Ne),
            _ => None,
        }
    }

    fn interval(&self, expr: &Expr) -> Interval {
        match expr {
            Expr::Const(Scalar::I64(value)) => (*value, *value),
            Expr::Var(var) => self.known.get(var).copied().unwrap_or(ALL),
            Expr::Load { buffer, .. } => {
                let data = &self.function.buffers[*buffer];
                match (data.compute, data.storage) {
                    (ElementType::I64, ElementType::U8) => (0, u8::MAX.into()),
                    (ElementType::I64, ElementType::U16) => (0, u16::MAX.into()),
                    (ElementType::I64, ElementType::I32) => (i32::MIN.into(), i32::MAX.into()),
                    _ => ALL,
                }
            }
            Expr::Binary(op, left, right) => {
                let (a, b) = (self.interval(left), self.interval(right));
                let [a0, a1, b0, b1] = [a.0, a.1, b.0, b.1].map(i128::from);
                let (least, most) = match op {
                    BinaryOp::Add => (a0 + b0, a1 + b1),
                    BinaryOp::Sub => (a0 - b1, a1 - b0),
                    BinaryOp::Min => (a0.min(b0), a1.min(b1)),
                    BinaryOp::Max => (a0.max(b0), a1.max(b1)),
                    // Between 0 and the divisor.
                    BinaryOp::Mod if b0 > 0 => (0, b1 - 1),
                    _ => return ALL,
                };
                match (i64::try_from(least), i64::try_from(most)) {
                    (Ok(least), Ok(most)) => (least, most),
                    _ => ALL,
                }
            }
            Expr::Select {
                then, otherwise, ..
            } => {
                let (a, b) = (self.interval(then), self.interval(otherwise));
                (a.0.min(b.0), a.1.max(b.1))
            }
            _ => ALL,
        }
    }
}
