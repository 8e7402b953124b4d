//! Conversions between types.
//!
//! Integers are cut and extended, halves go through single precision, complex
//! numbers by their parts. A float becomes an integer only after a look at whether
//! there is one near it.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::immediates::Ieee64;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use sparsec_base::{ElementType, Kind};
use sparsec_loop::Failure;

use crate::emitter::Emitter;
use crate::helper;
use crate::number::{Number, register};

impl Emitter<'_, '_> {
    /// A value of type `from` as one of type `to`.
    pub(crate) fn converted(
        &mut self,
        value: Number,
        from: ElementType,
        to: ElementType,
    ) -> Number {
        if from == to {
            return value;
        }
        match (from.is_complex(), to.is_complex()) {
            (false, false) => Number::Real(self.real(value.real(), from, to)),
            (false, true) => {
                let re = self.real(value.real(), from, to.part());
                let zero = self.constant(to.part().zero()).real();
                Number::Complex(re, zero)
            }
            (true, true) => {
                let (re, im) = value.parts();
                let re = self.real(re, from.part(), to.part());
                let im = self.real(im, from.part(), to.part());
                Number::Complex(re, im)
            }
            // Of real types, only truth values.
            (true, false) => {
                let (re, im) = value.parts();
                let re = self.real(re, from.part(), to);
                let im = self.real(im, from.part(), to);
                Number::Real(self.b.ins().bor(re, im))
            }
        }
    }

    fn real(&mut self, value: Value, from: ElementType, to: ElementType) -> Value {
        if from == to {
            return value;
        }
        if from.computed() != from {
            let bits = self.b.ins().uextend(types::I32, value);
            let single = self.call(helper::of_half(from), &[bits]);
            return self.real(single, ElementType::F32, to);
        }
        if to.computed() != to {
            // Integers are rounded to single precision first, everywhere.
            let value = if from.is_float() {
                self.real(value, from, ElementType::F64)
            } else {
                let single = self.real(value, from, ElementType::F32);
                self.b.ins().fpromote(types::F64, single)
            };
            let bits = self.call(helper::to_half(to), &[value]);
            return self.b.ins().ireduce(types::I16, bits);
        }
        match (from.kind(), to.kind()) {
            (Kind::Float, Kind::Float) if to == ElementType::F64 => {
                self.b.ins().fpromote(types::F64, value)
            }
            (Kind::Float, Kind::Float) => self.b.ins().fdemote(types::F32, value),
            (Kind::Float, Kind::Bool) => {
                let zero = self.constant(from.zero()).real();
                self.b.ins().fcmp(FloatCC::NotEqual, value, zero)
            }
            (_, Kind::Bool) => self.b.ins().icmp_imm_s(IntCC::NotEqual, value, 0),
            (Kind::Float, _) => self.truncated(value, from, to),
            (_, Kind::Float) => self.float_of(value, from, to),
            _ => self.integer(value, from, to),
        }
    }

    /// An integer or truth value as an integer of another width.
    fn integer(&mut self, value: Value, from: ElementType, to: ElementType) -> Value {
        let (have, want) = (register(from), register(to));
        if have.bits() == want.bits() {
            value
        } else if have.bits() > want.bits() {
            self.b.ins().ireduce(want, value)
        } else if from.kind() == Kind::Signed {
            self.b.ins().sextend(want, value)
        } else {
            self.b.ins().uextend(want, value)
        }
    }

    fn float_of(&mut self, value: Value, from: ElementType, to: ElementType) -> Value {
        let to = register(to);
        // What has fewer than 64 bits is a signed number of 64.
        if from == ElementType::U64 {
            return self.b.ins().fcvt_from_uint(to, value);
        }
        let wide = self.integer(value, from, ElementType::I64);
        self.b.ins().fcvt_from_sint(to, wide)
    }

    /// A float cut to an integer, which it has to be near.
    fn truncated(&mut self, value: Value, from: ElementType, to: ElementType) -> Value {
        let wide = self.real(value, from, ElementType::F64);
        let bits = 8 * to.size() as i32;
        let power = |bits: i32| 2f64.powi(bits);
        // The number below the least of 64 bits has no double of its own.
        let (above, least, below) = match (to.kind(), bits) {
            (Kind::Unsigned, _) => (FloatCC::GreaterThan, -1.0, power(bits)),
            (_, 64) => (FloatCC::GreaterThanOrEqual, -power(63), power(63)),
            _ => (
                FloatCC::GreaterThan,
                -power(bits - 1) - 1.0,
                power(bits - 1),
            ),
        };
        let mut is = |how, bound: f64| {
            let bound = self.b.ins().f64const(Ieee64::with_bits(bound.to_bits()));
            self.b.ins().fcmp(how, wide, bound)
        };
        let (above, below) = (is(above, least), is(FloatCC::LessThan, below));
        let fits = self.b.ins().band(above, below);
        let outside = self.b.ins().bxor_imm_u(fits, 1);
        self.leave_if(outside, Failure::CastOutOfRange);
        if to == ElementType::U64 {
            return self.b.ins().fcvt_to_uint_sat(types::I64, wide);
        }
        let whole = self.b.ins().fcvt_to_sint_sat(types::I64, wide);
        self.integer(whole, ElementType::I64, to)
    }
}
