//! Conversions between types.

use sparsec_base::{ElementType, Kind, Scalar};
use sparsec_loop::{Expr, Failure};

use crate::helper::Helper;
use crate::types::{Type, is_unsigned, word};
use crate::writer::{Value, Writer};

const TRUTH: Type = Type::Number(ElementType::Bool);

impl Writer<'_> {
    /// An expression as another type.
    pub(crate) fn cast(&mut self, ty: ElementType, value: &Expr) -> Value {
        let from = self.function.type_of(value);
        let value = self.expr(value, false);
        match (from.kind(), ty.kind()) {
            _ if from == ty => value,
            (Kind::Complex, Kind::Complex) => {
                let parts = ["re", "im"].map(|part| {
                    let part = self.part(&value, part, from);
                    self.converted(part, from.part(), ty.part())
                });
                self.pair(&parts[0], &parts[1], ty)
            }
            (Kind::Complex, _) => {
                let [re, im] = ["re", "im"].map(|part| {
                    let part = self.part(&value, part, from);
                    self.converted(part, from.part(), ElementType::Bool)
                });
                self.op(TRUTH, &format!("arith.ori {}, {} : i1", re.name, im.name))
            }
            (_, Kind::Complex) => {
                let part = self.converted(value, from, ty.part());
                let zero = self.constant(ty.part().zero());
                self.pair(&part, &zero, ty)
            }
            _ => self.converted(value, from, ty),
        }
    }

    /// A real number of one type as another.
    pub(crate) fn converted(&mut self, value: Value, from: ElementType, ty: ElementType) -> Value {
        if from == ty {
            return value;
        }
        if from == ElementType::Bf16 || from == ElementType::F16 {
            let single = self.conversion("extf", &value, ElementType::F32);
            return self.converted(single, ElementType::F32, ty);
        }
        if ty == ElementType::Bf16 || ty == ElementType::F16 {
            return self.half(value, from, ty);
        }
        match (from.kind(), ty.kind()) {
            (_, Kind::Bool) => {
                let zero = self.constant(from.zero());
                let word = if from.is_float() {
                    "cmpf une"
                } else {
                    "cmpi ne"
                };
                let (name, held) = (&value.name, value.ty);
                self.op(
                    TRUTH,
                    &format!("arith.{word}, {name}, {} : {held}", zero.name),
                )
            }
            (Kind::Float, Kind::Float) => {
                let word = if from.size() < ty.size() {
                    "extf"
                } else {
                    "truncf"
                };
                self.conversion(word, &value, ty)
            }
            (Kind::Float, _) => {
                self.check_range(&value, from, ty);
                let word = if is_unsigned(ty) { "fptoui" } else { "fptosi" };
                self.conversion(word, &value, ty)
            }
            (_, Kind::Float) => {
                let word = if is_unsigned(from) {
                    "uitofp"
                } else {
                    "sitofp"
                };
                self.conversion(word, &value, ty)
            }
            _ if word(from) == word(ty) => Value::new(value.name, Type::Number(ty)),
            _ => {
                let size = |ty: ElementType| match ty {
                    ElementType::Bool => 0,
                    other => other.size(),
                };
                let word = match (size(from) > size(ty), is_unsigned(from)) {
                    (true, _) => "trunci",
                    (false, true) => "extui",
                    (false, false) => "extsi",
                };
                self.conversion(word, &value, ty)
            }
        }
    }

    fn conversion(&mut self, operation: &str, value: &Value, ty: ElementType) -> Value {
        let (name, held, to) = (&value.name, value.ty, word(ty));
        self.op(
            Type::Number(ty),
            &format!("arith.{operation} {name} : {held} to {to}"),
        )
    }

    /// A number as a half: by way of single precision, from double precision such that it is
    /// rounded once.
    fn half(&mut self, value: Value, from: ElementType, ty: ElementType) -> Value {
        let single = match from {
            ElementType::F64 => {
                let name = self.helpers.helper(Helper::Odd, from);
                self.called(&name, &[value], Type::Number(ElementType::F32))
            }
            _ => self.converted(value, from, ElementType::F32),
        };
        match ty {
            ElementType::Bf16 => {
                let name = self.helpers.helper(Helper::Half, ty);
                self.called(&name, &[single], Type::Number(ty))
            }
            _ => self.conversion("truncf", &single, ty),
        }
    }

    /// Writes the check that a float, truncated, is an integer of the type.
    fn check_range(&mut self, value: &Value, from: ElementType, ty: ElementType) {
        let double = self.converted(value.clone(), from, ElementType::F64);
        let bits = 8 * ty.size() as i32;
        let power = |bits: i32| 2f64.powi(bits);
        let (low, low_word, high) = match (is_unsigned(ty), bits) {
            (true, _) => (-1.0, "ogt", power(bits)),
            // The number below the least has no double of its own.
            (false, 64) => (-power(63), "oge", power(63)),
            (false, _) => (-power(bits - 1) - 1.0, "ogt", power(bits - 1)),
        };
        let (low, high) = (
            self.constant(Scalar::F64(low)),
            self.constant(Scalar::F64(high)),
        );
        let above = format!("arith.cmpf {low_word}, {}, {} : f64", double.name, low.name);
        let above = self.op(TRUTH, &above);
        let below = format!("arith.cmpf olt, {}, {} : f64", double.name, high.name);
        let below = self.op(TRUTH, &below);
        let fits = format!("arith.andi {}, {} : i1", above.name, below.name);
        let fits = self.op(TRUTH, &fits);
        self.assert(&fits, Failure::CastOutOfRange);
    }
}
