//! Quotients and remainders of numbers that are not negative.
//!
//! A floored quotient of a signed number takes a correction for negative ones, which costs more than the
//! division by a constant itself. Coordinates are not negative: they count from 0 in loops, or are
//! values of functions whose declared range begins there.

use sparsec_base::{ElementType, Scalar};
use sparsec_computation::Role;
use sparsec_loop::{BinaryOp, Expr};
use sparsec_relation::{Expression, Step};

use super::emit::Emitter;

impl Emitter<'_> {
    /// Notes whether the variable of a step is never negative.
    pub(super) fn note_natural(&mut self, step: &Step) {
        let (variable, is_natural) = match step {
            Step::Let { variable, value } => (variable, self.is_natural(value)),
            Step::For {
                variable, lower, ..
            } => {
                let mut bounds = lower.iter().flatten();
                (variable, bounds.all(|bound| self.is_natural(bound)))
            }
            _ => return,
        };
        match is_natural {
            true => self.naturals.insert(*variable),
            false => self.naturals.remove(variable),
        };
    }

    fn is_natural(&self, e: &Expression) -> bool {
        match e {
            Expression::Integer(n) => *n >= 0,
            Expression::Variable(variable) => self.naturals.contains(variable),
            Expression::Call(name, _) => {
                let function = self.known.function(name);
                let range = function.and_then(|function| function.range.as_box());
                // What is declared of given data has been checked.
                let space = self.computation.space(name);
                let is_given = space.is_some_and(|space| space.role == Role::Given);
                is_given
                    && matches!(range.as_deref(), Some([(Expression::Integer(least), _)]) if *least >= 0)
            }
            _ => false,
        }
    }

    /// `a // b` or `a % b`.
    pub(super) fn divided(&mut self, op: BinaryOp, a: &Expression, b: &Expression) -> Expr {
        let is_natural = self.is_natural(a);
        let dividend = self.expr(a);
        match b {
            // Powers of two are shifts and masks.
            Expression::Integer(n) if is_natural && *n > 0 && n.count_ones() > 1 => {
                let dividend = Expr::Cast(ElementType::U64, Box::new(dividend));
                let divisor = Scalar::U64(n.unsigned_abs());
                let quotient = dividend.binary(op, divisor);
                Expr::Cast(ElementType::I64, Box::new(quotient))
            }
            _ => dividend.binary(op, self.expr(b)),
        }
    }
}
