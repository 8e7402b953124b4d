//! Expressions.

use cranelift_codegen::ir::immediates::{Ieee32, Ieee64};
use cranelift_codegen::ir::{InstBuilder, Value};
use sparsec_base::{ElementType, Scalar};
use sparsec_loop::complex::Operation;
use sparsec_loop::{BinaryOp, Expr, Intrinsic, UnaryOp};

use crate::emitter::Emitter;
use crate::helper;
use crate::number::{Number, register};

impl Emitter<'_, '_> {
    /// The value of an expression.
    pub(crate) fn expr(&mut self, expr: &Expr) -> Number {
        match expr {
            Expr::Const(value) => self.constant(*value),
            Expr::Var(var) => self.variable(*var),
            Expr::Load { buffer, index } => {
                if let Some(held) = self.held_entry(*buffer) {
                    return Number::Real(self.b.use_var(held));
                }
                let place = self.place(*buffer, index);
                self.load(place)
            }
            Expr::Unary(op, value) => {
                let element = self.function.type_of(value);
                let value = self.expr(value);
                self.unary(*op, value, element)
            }
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                self.lazy(*op, left, right)
            }
            Expr::Binary(op, left, right) => self.binary(*op, left, right),
            Expr::Call(function, arguments) => self.library(*function, arguments),
            Expr::Select {
                condition,
                then,
                otherwise,
            } => self.select(condition, then, otherwise),
            Expr::Cast(to, value) => {
                let from = self.function.type_of(value);
                let value = self.expr(value);
                self.converted(value, from, *to)
            }
        }
    }

    pub(crate) fn constant(&mut self, value: Scalar) -> Number {
        let float = |emitter: &mut Self, value: f32| -> Value {
            emitter.b.ins().f32const(Ieee32::with_bits(value.to_bits()))
        };
        let double = |emitter: &mut Self, value: f64| -> Value {
            emitter.b.ins().f64const(Ieee64::with_bits(value.to_bits()))
        };
        match value {
            Scalar::F32(value) => Number::Real(float(self, value)),
            Scalar::F64(value) => Number::Real(double(self, value)),
            Scalar::C64(value) => Number::Complex(float(self, value.re), float(self, value.im)),
            Scalar::C128(value) => Number::Complex(double(self, value.re), double(self, value.im)),
            Scalar::F16(value) => self.bits(value.to_bits().into(), ElementType::F16),
            Scalar::Bf16(value) => self.bits(value.to_bits().into(), ElementType::Bf16),
            integer => {
                let bits = integer.to_integer().expect("all others are integers") as u64;
                self.bits(bits, value.element())
            }
        }
    }

    /// A constant of a type that registers hold as an integer: its low bits.
    fn bits(&mut self, bits: u64, element: ElementType) -> Number {
        let ty = register(element);
        let mask = u64::MAX >> (64 - ty.bits());
        Number::Real(self.b.ins().iconst(ty, (bits & mask) as i64))
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Number {
        let element = self.function.type_of(left);
        if matches!(op, BinaryOp::FloorDiv | BinaryOp::Mod)
            && let Expr::Const(divisor) = right
            && let Some(divisor) = divisor.to_integer()
            && let Ok(divisor @ 1..) = i64::try_from(divisor)
        {
            let a = self.expr(left).real();
            return Number::Real(self.divide_by(op, a, divisor, element));
        }
        let (a, b) = (self.expr(left), self.expr(right));
        self.combine(op, a, b, element)
    }

    fn unary(&mut self, op: UnaryOp, value: Number, element: ElementType) -> Number {
        if element.is_complex() {
            return self.complex(Operation::Unary(op), &[value], element);
        }
        let value = value.real();
        Number::Real(match op {
            UnaryOp::Not => self.b.ins().bxor_imm_u(value, 1),
            UnaryOp::Neg if element.is_float() => self.b.ins().fneg(value),
            UnaryOp::Neg => self.b.ins().ineg(value),
            UnaryOp::Abs => self.absolute(value, element),
            UnaryOp::PopCount => self.b.ins().popcnt(value),
            UnaryOp::LeadingZeros => self.b.ins().clz(value),
            UnaryOp::TrailingZeros => self.b.ins().ctz(value),
            UnaryOp::Conj | UnaryOp::Real | UnaryOp::Imag => {
                unreachable!("only complex numbers have parts")
            }
        })
    }

    fn library(&mut self, function: Intrinsic, arguments: &[Expr]) -> Number {
        let element = self.function.type_of(&arguments[0]);
        let values: Vec<Number> = arguments.iter().map(|value| self.expr(value)).collect();
        if element.is_complex() {
            return self.complex(Operation::Call(function), &values, element);
        }
        let values: Vec<Value> = values.into_iter().map(Number::real).collect();
        if element.is_integer() {
            return Number::Real(self.power(values[0], values[1], element));
        }
        Number::Real(match function {
            Intrinsic::Sqrt => self.b.ins().sqrt(values[0]),
            Intrinsic::Floor => self.b.ins().floor(values[0]),
            Intrinsic::Ceil => self.b.ins().ceil(values[0]),
            Intrinsic::Trunc => self.b.ins().trunc(values[0]),
            Intrinsic::Round => self.b.ins().nearest(values[0]),
            Intrinsic::CopySign => self.b.ins().fcopysign(values[0], values[1]),
            _ => self.call(helper::intrinsic(function, element), &values),
        })
    }
}
