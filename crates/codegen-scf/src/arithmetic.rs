//! Operations on two real numbers.

use sparsec_base::{ElementType, Scalar};
use sparsec_loop::{BinaryOp, Expr, Failure};

use crate::helper::Helper;
use crate::types::{Type, is_unsigned};
use crate::writer::{Value, Writer};

impl Writer<'_> {
    /// An operation that does not fail.
    pub(crate) fn arithmetic(
        &mut self,
        op: BinaryOp,
        left: &Value,
        right: &Value,
        ty: ElementType,
    ) -> Value {
        let held = left.ty;
        let text =
            |operation: &str| format!("arith.{operation} {}, {} : {held}", left.name, right.name);
        if op.is_comparison() {
            let text = text(&format!("{},", comparison(op, ty)));
            return self.op(Type::Number(ElementType::Bool), &text);
        }
        let helper = match op {
            BinaryOp::Min => Helper::Min,
            BinaryOp::Max => Helper::Max,
            BinaryOp::FloorDiv => Helper::FloorDiv,
            _ => Helper::Mod,
        };
        let is_float = ty.is_float();
        if is_float
            && matches!(
                op,
                BinaryOp::Min | BinaryOp::Max | BinaryOp::FloorDiv | BinaryOp::Mod
            )
        {
            let name = self.helpers.helper(helper, ty);
            return self.called(&name, &[left.clone(), right.clone()], held);
        }
        let word = match op {
            BinaryOp::Add => sort_of(is_float, "addf", "addi"),
            BinaryOp::Sub => sort_of(is_float, "subf", "subi"),
            BinaryOp::Mul => sort_of(is_float, "mulf", "muli"),
            BinaryOp::Div => "divf",
            BinaryOp::Min if is_unsigned(ty) => "minui",
            BinaryOp::Min => "minsi",
            BinaryOp::Max if is_unsigned(ty) => "maxui",
            BinaryOp::Max => "maxsi",
            BinaryOp::BitAnd => "andi",
            BinaryOp::BitOr => "ori",
            BinaryOp::BitXor => "xori",
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => {
                return self.shift(op, left, right, ty);
            }
            _ => unreachable!("{op:?} is computed elsewhere"),
        };
        self.op(held, &text(word))
    }

    /// A shift by the low bits of a number.
    fn shift(&mut self, op: BinaryOp, left: &Value, right: &Value, ty: ElementType) -> Value {
        let held = left.ty;
        let most = 8 * ty.size() as i64 - 1;
        let mask = match ty {
            ElementType::I64 => self.integer(most, held == Type::Index),
            _ => self.constant(Scalar::from_i64(ty, most)),
        };
        let by = format!("arith.andi {}, {} : {held}", right.name, mask.name);
        let by = self.op(held, &by);
        let word = match op {
            BinaryOp::ShiftLeft => "shli",
            _ if is_unsigned(ty) => "shrui",
            _ => "shrsi",
        };
        self.op(
            held,
            &format!("arith.{word} {}, {} : {held}", left.name, by.name),
        )
    }

    /// The floored quotient of two integers, or its remainder.
    pub(crate) fn floored(
        &mut self,
        op: BinaryOp,
        left: &Value,
        divisor: &Expr,
        ty: ElementType,
    ) -> Value {
        let held = left.ty;
        let known = match divisor {
            Expr::Const(value) => value.to_integer(),
            _ => None,
        };
        let power = known.and_then(|known| u64::try_from(known).ok());
        if let Some(power) = power.filter(|power| power.is_power_of_two())
            && ty == ElementType::I64
        {
            let is_quotient = op == BinaryOp::FloorDiv;
            let amount = match is_quotient {
                true => i64::from(power.trailing_zeros()),
                false => power.wrapping_sub(1) as i64,
            };
            let amount = self.integer(amount, held == Type::Index);
            let word = sort_of(is_quotient, "shrsi", "andi");
            let text = format!("arith.{word} {}, {} : {held}", left.name, amount.name);
            return self.op(held, &text);
        }
        let right = self.expr(divisor, held == Type::Index);
        if known.is_none_or(|known| known == 0) {
            let zero = match ty {
                ElementType::I64 => self.integer(0, held == Type::Index),
                _ => self.constant(ty.zero()),
            };
            let text = format!("arith.cmpi ne, {}, {} : {held}", right.name, zero.name);
            let is_fine = self.op(Type::Number(ElementType::Bool), &text);
            self.assert(&is_fine, Failure::DivisionByZero);
        }
        if is_unsigned(ty) {
            let word = sort_of(op == BinaryOp::FloorDiv, "divui", "remui");
            let text = format!("arith.{word} {}, {} : {held}", left.name, right.name);
            return self.op(held, &text);
        }
        let helper = match op {
            BinaryOp::FloorDiv => Helper::FloorDiv,
            _ => Helper::Mod,
        };
        let is_index = held == Type::Index;
        let name = self.helpers.helper(helper, ty);
        let operands = [left, &right].map(|value| self.as_wanted(value.clone(), false));
        let value = self.called(&name, &operands, Type::Number(ty));
        self.as_wanted(value, is_index)
    }

    /// Writes the check that an exponent is not negative.
    pub(crate) fn check_power(&mut self, power: &Expr, value: &Value, ty: ElementType) {
        let is_known = matches!(power, Expr::Const(known) if known.to_integer() >= Some(0));
        if is_known || is_unsigned(ty) {
            return;
        }
        let zero = match ty {
            ElementType::I64 => self.integer(0, false),
            _ => self.constant(Scalar::from_i64(ty, 0)),
        };
        let text = format!(
            "arith.cmpi sge, {}, {} : {}",
            value.name, zero.name, value.ty
        );
        let is_fine = self.op(Type::Number(ElementType::Bool), &text);
        self.assert(&is_fine, Failure::NegativePower);
    }
}

fn sort_of(is_first: bool, first: &'static str, second: &'static str) -> &'static str {
    if is_first { first } else { second }
}

/// The operation of a comparison with its predicate.
fn comparison(op: BinaryOp, ty: ElementType) -> String {
    let word = match op {
        BinaryOp::Eq => "eq",
        BinaryOp::Ne => "ne",
        BinaryOp::Lt => "lt",
        BinaryOp::Le => "le",
        BinaryOp::Gt => "gt",
        _ => "ge",
    };
    match (op, ty.is_float()) {
        // Only `!=` holds of NaN.
        (BinaryOp::Ne, true) => "cmpf une".to_owned(),
        (_, true) => format!("cmpf o{word}"),
        (BinaryOp::Eq | BinaryOp::Ne, false) => format!("cmpi {word}"),
        (_, false) if is_unsigned(ty) => format!("cmpi u{word}"),
        (_, false) => format!("cmpi s{word}"),
    }
}
