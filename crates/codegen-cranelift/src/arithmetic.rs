//! Arithmetic and comparisons of real numbers.
//!
//! The division of processors truncates, and stops the program where there is no
//! quotient. The IR's floors, leaves the function where the divisor is zero, and
//! wraps where the least number is divided by -1:
//!
//! ```text
//! q = a / b                                       of b, or of 1 where b is -1
//! q - 1 where a is no multiple and the signs differ
//! -a    where b is -1
//! ```

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use sparsec_base::{ElementType, Kind};
use sparsec_loop::complex::Operation;
use sparsec_loop::{BinaryOp, Failure};

use crate::emitter::Emitter;
use crate::helper;
use crate::number::Number;

impl Emitter<'_, '_> {
    /// An operation on two values of type `element`, both evaluated.
    pub(crate) fn combine(
        &mut self,
        op: BinaryOp,
        a: Number,
        b: Number,
        element: ElementType,
    ) -> Number {
        if element.is_complex() {
            return self.combine_complex(op, a, b, element);
        }
        let (a, b) = (a.real(), b.real());
        Number::Real(if op.is_comparison() {
            self.compare(op, a, b, element)
        } else if element.is_float() {
            self.combine_floats(op, a, b, element)
        } else {
            self.combine_integers(op, a, b, element)
        })
    }

    fn combine_complex(
        &mut self,
        op: BinaryOp,
        a: Number,
        b: Number,
        element: ElementType,
    ) -> Number {
        if op == BinaryOp::Ne {
            let equal = Operation::Binary(BinaryOp::Eq);
            let equal = self.complex(equal, &[a, b], element).real();
            return Number::Real(self.b.ins().bxor_imm_u(equal, 1));
        }
        self.complex(Operation::Binary(op), &[a, b], element)
    }

    fn combine_floats(&mut self, op: BinaryOp, a: Value, b: Value, element: ElementType) -> Value {
        match op {
            BinaryOp::Add => self.b.ins().fadd(a, b),
            BinaryOp::Sub => self.b.ins().fsub(a, b),
            BinaryOp::Mul => self.b.ins().fmul(a, b),
            BinaryOp::Div => self.b.ins().fdiv(a, b),
            BinaryOp::Min => self.first_if(FloatCC::LessThan, a, b),
            BinaryOp::Max => self.first_if(FloatCC::GreaterThan, a, b),
            BinaryOp::FloorDiv | BinaryOp::Mod => self.call(helper::floored(op, element), &[a, b]),
            _ => unreachable!("floats have no {op:?}"),
        }
    }

    /// `a` where it compares so with `b` or is `NaN`, else `b`.
    fn first_if(&mut self, how: FloatCC, a: Value, b: Value) -> Value {
        let wins = self.b.ins().fcmp(how, a, b);
        let nan = self.b.ins().fcmp(FloatCC::Unordered, a, a);
        let other = self.b.ins().select(nan, a, b);
        self.b.ins().select(wins, a, other)
    }

    fn combine_integers(
        &mut self,
        op: BinaryOp,
        a: Value,
        b: Value,
        element: ElementType,
    ) -> Value {
        let signed = element.kind() == Kind::Signed;
        match op {
            BinaryOp::Add => self.b.ins().iadd(a, b),
            BinaryOp::Sub => self.b.ins().isub(a, b),
            BinaryOp::Mul => self.b.ins().imul(a, b),
            BinaryOp::FloorDiv | BinaryOp::Mod => self.divide(op, a, b, element),
            BinaryOp::And | BinaryOp::BitAnd => self.b.ins().band(a, b),
            BinaryOp::Or | BinaryOp::BitOr => self.b.ins().bor(a, b),
            BinaryOp::BitXor => self.b.ins().bxor(a, b),
            BinaryOp::ShiftLeft => self.b.ins().ishl(a, b),
            BinaryOp::ShiftRight if signed => self.b.ins().sshr(a, b),
            BinaryOp::ShiftRight => self.b.ins().ushr(a, b),
            BinaryOp::Min if signed => self.b.ins().smin(a, b),
            BinaryOp::Max if signed => self.b.ins().smax(a, b),
            BinaryOp::Min => self.b.ins().umin(a, b),
            BinaryOp::Max => self.b.ins().umax(a, b),
            _ => unreachable!("integers have no {op:?}"),
        }
    }

    /// An integer to the power of another, which must not be negative. The low bits
    /// of the power follow from those of the base, so both are widened.
    pub(crate) fn power(&mut self, a: Value, b: Value, element: ElementType) -> Value {
        if element.kind() == Kind::Signed {
            let negative = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, b, 0);
            self.leave_if(negative, Failure::NegativePower);
        }
        let ty = self.b.func.dfg.value_type(a);
        let wide = |emitter: &mut Self, value| match ty {
            types::I64 => value,
            _ => emitter.b.ins().uextend(types::I64, value),
        };
        let (a, b) = (wide(self, a), wide(self, b));
        let power = self.call(helper::power(), &[a, b]);
        match ty {
            types::I64 => power,
            _ => self.b.ins().ireduce(ty, power),
        }
    }

    fn divide(&mut self, op: BinaryOp, a: Value, b: Value, element: ElementType) -> Value {
        let zero = self.b.ins().icmp_imm_s(IntCC::Equal, b, 0);
        self.leave_if(zero, Failure::DivisionByZero);
        if element.kind() == Kind::Unsigned {
            return match op {
                BinaryOp::FloorDiv => self.b.ins().udiv(a, b),
                _ => self.b.ins().urem(a, b),
            };
        }
        let negates = self.b.ins().icmp_imm_s(IntCC::Equal, b, -1);
        let ty = self.b.func.dfg.value_type(b);
        let one = self.b.ins().iconst(ty, 1);
        let divisor = self.b.ins().select(negates, one, b);
        let divided = self.floored(op, a, divisor);
        match op {
            BinaryOp::FloorDiv => {
                let negated = self.b.ins().ineg(a);
                self.b.ins().select(negates, negated, divided)
            }
            // Of 1 and of -1 there is no remainder.
            _ => divided,
        }
    }

    /// The floored quotient of signed integers, or its remainder; the divisor is
    /// neither 0 nor -1.
    fn floored(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let rest = self.b.ins().srem(a, b);
        let signs = self.b.ins().bxor(rest, b);
        let differ = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, signs, 0);
        let inexact = self.b.ins().icmp_imm_s(IntCC::NotEqual, rest, 0);
        let below = self.b.ins().band(differ, inexact);
        match op {
            BinaryOp::FloorDiv => {
                let quotient = self.b.ins().sdiv(a, b);
                let less = self.b.ins().iadd_imm_s(quotient, -1);
                self.b.ins().select(below, less, quotient)
            }
            _ => {
                let above = self.b.ins().iadd(rest, b);
                self.b.ins().select(below, above, rest)
            }
        }
    }

    /// `//` or `%` by a positive constant of the type.
    pub(crate) fn divide_by(
        &mut self,
        op: BinaryOp,
        a: Value,
        divisor: i64,
        element: ElementType,
    ) -> Value {
        let signed = element.kind() == Kind::Signed;
        if divisor.count_ones() == 1 {
            // Shifting floors, and so does cutting off bits.
            let amount = i64::from(divisor.trailing_zeros());
            return match op {
                BinaryOp::FloorDiv if signed => self.b.ins().sshr_imm_u(a, amount),
                BinaryOp::FloorDiv => self.b.ins().ushr_imm_u(a, amount),
                _ => self.b.ins().band_imm_u(a, divisor - 1),
            };
        }
        let ty = self.b.func.dfg.value_type(a);
        let b = self.b.ins().iconst(ty, divisor);
        match (op, signed) {
            (_, true) => self.floored(op, a, b),
            (BinaryOp::FloorDiv, false) => self.b.ins().udiv(a, b),
            _ => self.b.ins().urem(a, b),
        }
    }

    fn compare(&mut self, op: BinaryOp, a: Value, b: Value, element: ElementType) -> Value {
        if element.is_float() {
            let how = match op {
                BinaryOp::Eq => FloatCC::Equal,
                BinaryOp::Ne => FloatCC::NotEqual,
                BinaryOp::Lt => FloatCC::LessThan,
                BinaryOp::Le => FloatCC::LessThanOrEqual,
                BinaryOp::Gt => FloatCC::GreaterThan,
                _ => FloatCC::GreaterThanOrEqual,
            };
            return self.b.ins().fcmp(how, a, b);
        }
        let signed = match op {
            BinaryOp::Eq => IntCC::Equal,
            BinaryOp::Ne => IntCC::NotEqual,
            BinaryOp::Lt => IntCC::SignedLessThan,
            BinaryOp::Le => IntCC::SignedLessThanOrEqual,
            BinaryOp::Gt => IntCC::SignedGreaterThan,
            _ => IntCC::SignedGreaterThanOrEqual,
        };
        let how = match element.kind() {
            Kind::Signed => signed,
            _ => signed.unsigned(),
        };
        self.b.ins().icmp(how, a, b)
    }

    /// The absolute value; of the least integer, itself.
    pub(crate) fn absolute(&mut self, value: Value, element: ElementType) -> Value {
        match element.kind() {
            Kind::Float => self.b.ins().fabs(value),
            Kind::Signed => {
                let negated = self.b.ins().ineg(value);
                let negative = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, value, 0);
                self.b.ins().select(negative, negated, value)
            }
            _ => value,
        }
    }
}
