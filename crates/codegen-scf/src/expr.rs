//! Expressions, each operation on a line of its own.
//!
//! An `i64` is wanted as an `index` or as 64 bits; constants and sums are computed as what is
//! wanted, and values of the other type are converted. `and`, `or` and `select` evaluate an operand
//! that loads or may fail in a branch.

use sparsec_base::{ElementType, Scalar};
use sparsec_loop::{BinaryOp, Buffer, Expr, Intrinsic, UnaryOp};

use crate::helper::Helper;
use crate::state::Slot;
use crate::types::{Type, is_unsigned, word};
use crate::writer::{Value, Writer};

impl Writer<'_> {
    /// An expression as an `index`.
    pub(crate) fn index(&mut self, expr: &Expr) -> Value {
        self.expr(expr, true)
    }

    /// An expression; if it is an `i64`, as an `index` or not.
    pub(crate) fn expr(&mut self, expr: &Expr, is_index: bool) -> Value {
        match expr {
            Expr::Const(Scalar::I64(value)) => self.integer(*value, is_index),
            Expr::Const(value) => self.constant(*value),
            Expr::Var(var) => {
                let value = self.state.get(Slot::Var(*var)).clone();
                self.as_wanted(value, is_index)
            }
            Expr::Load { buffer, index } => self.load(*buffer, index, is_index),
            Expr::Unary(op, value) => self.unary(*op, value, is_index),
            Expr::Binary(op, left, right) => self.binary(*op, left, right, is_index),
            Expr::Call(function, arguments) => self.call(*function, arguments, is_index),
            Expr::Select {
                condition,
                then,
                otherwise,
            } => self.select(condition, then, otherwise, is_index),
            Expr::Cast(ty, value) => {
                let value = self.cast(*ty, value);
                self.as_wanted(value, is_index)
            }
        }
    }

    /// An `index` as an `i64` or the other way round; any other value as it is.
    pub(crate) fn as_wanted(&mut self, value: Value, is_index: bool) -> Value {
        let wanted = Type::integer(is_index);
        let is_integer = matches!(value.ty, Type::Index | Type::Number(ElementType::I64));
        if !is_integer || value.ty == wanted {
            return value;
        }
        let text = format!("arith.index_cast {} : {} to {wanted}", value.name, value.ty);
        self.op(wanted, &text)
    }

    fn load(&mut self, buffer: Buffer, index: &Expr, is_index: bool) -> Value {
        let index = self.index(index);
        let data = &self.function.buffers[buffer];
        let (storage, compute) = (data.storage, data.compute);
        let array = self.array(buffer);
        let text = format!("memref.load {}[{}] : {}", array.name, index.name, array.ty);
        let value = self.op(Type::Number(storage), &text);
        if storage == compute {
            return self.as_wanted(value, is_index);
        }
        if compute == ElementType::I64 && is_index {
            let cast = match is_unsigned(storage) {
                true => "index_castui",
                false => "index_cast",
            };
            let text = format!("arith.{cast} {} : {} to index", value.name, value.ty);
            return self.op(Type::Index, &text);
        }
        self.converted(value, storage, compute)
    }

    /// An expression as what a buffer stores.
    pub(crate) fn stored(&mut self, buffer: Buffer, value: &Expr) -> Value {
        let data = &self.function.buffers[buffer];
        let (storage, compute) = (data.storage, data.compute);
        let narrows = compute == ElementType::I64 && storage != compute;
        let value = self.expr(value, narrows && self.prefers_index(value));
        match value.ty {
            Type::Index => {
                let text = format!(
                    "arith.index_cast {} : index to {}",
                    value.name,
                    word(storage)
                );
                self.op(Type::Number(storage), &text)
            }
            _ => self.converted(value, compute, storage),
        }
    }

    /// Whether some variable in an integer expression is an `index`.
    fn prefers_index(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Var(var) => self.is_index(*var),
            Expr::Unary(_, value) => self.prefers_index(value),
            Expr::Binary(op, left, right) if !op.is_comparison() => {
                self.prefers_index(left) || self.prefers_index(right)
            }
            Expr::Select {
                then, otherwise, ..
            } => self.prefers_index(then) || self.prefers_index(otherwise),
            _ => false,
        }
    }

    fn unary(&mut self, op: UnaryOp, value: &Expr, is_index: bool) -> Value {
        let ty = self.function.type_of(value);
        if ty.is_complex() {
            let value = self.expr(value, false);
            return self.complex_unary(op, &value, ty);
        }
        let has_none = matches!(
            op,
            UnaryOp::Abs | UnaryOp::LeadingZeros | UnaryOp::TrailingZeros
        );
        if has_none && is_index {
            // The operation has no lowering for `index`.
            let value = self.unary(op, value, false);
            return self.as_wanted(value, true);
        }
        let value = self.expr(value, is_index);
        let Value { name, ty: held } = &value;
        let text = match op {
            UnaryOp::Neg if ty.is_float() => format!("arith.negf {name} : {held}"),
            UnaryOp::Neg => {
                let zero = match ty {
                    ElementType::I64 => self.integer(0, is_index),
                    _ => self.constant(ty.zero()),
                };
                format!("arith.subi {}, {name} : {held}", zero.name)
            }
            UnaryOp::Abs if ty.is_float() => format!("math.absf {name} : {held}"),
            UnaryOp::Abs if is_unsigned(ty) => return value,
            UnaryOp::Abs => format!("math.absi {name} : {held}"),
            UnaryOp::Not => {
                let all = self.constant(Scalar::Bool(true));
                format!("arith.xori {name}, {} : {held}", all.name)
            }
            UnaryOp::PopCount => format!("math.ctpop {name} : {held}"),
            UnaryOp::LeadingZeros => format!("math.ctlz {name} : {held}"),
            UnaryOp::TrailingZeros => format!("math.cttz {name} : {held}"),
            UnaryOp::Conj | UnaryOp::Real | UnaryOp::Imag => {
                unreachable!("only complex numbers have parts")
            }
        };
        let held = value.ty;
        self.op(held, &text)
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr, is_index: bool) -> Value {
        let ty = self.function.type_of(left);
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            return self.lazy(op, left, right);
        }
        let is_index = match op.is_comparison() {
            true => self.prefers_index(left) || self.prefers_index(right),
            false => is_index,
        };
        let left = self.expr(left, is_index);
        if matches!(op, BinaryOp::FloorDiv | BinaryOp::Mod) && ty.is_integer() {
            return self.floored(op, &left, right, ty);
        }
        let right = self.expr(right, is_index);
        match ty.is_complex() {
            true => self.complex_binary(op, &left, &right, ty),
            false => self.arithmetic(op, &left, &right, ty),
        }
    }

    /// Whether evaluating an expression where the IR does not might do harm.
    fn is_guarded(&self, expr: &Expr) -> bool {
        expr.loads() || self.function.can_fail(expr)
    }

    fn lazy(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Value {
        let truth = Type::Number(ElementType::Bool);
        let left = self.expr(left, false);
        if !self.is_guarded(right) {
            let right = self.expr(right, false);
            let word = if op == BinaryOp::And { "andi" } else { "ori" };
            let text = format!("arith.{word} {}, {} : i1", left.name, right.name);
            return self.op(truth, &text);
        }
        let decided = self.constant(Scalar::Bool(op == BinaryOp::Or));
        let right = |w: &mut Self| w.expr(right, false);
        match op {
            BinaryOp::And => self.either(&left, truth, right, |_| decided),
            _ => self.either(&left, truth, |_| decided, right),
        }
    }

    fn select(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr, is_index: bool) -> Value {
        let ty = match self.function.type_of(then) {
            ElementType::I64 => Type::integer(is_index),
            other => Type::Number(other),
        };
        let condition = self.expr(condition, false);
        if self.is_guarded(then) || self.is_guarded(otherwise) {
            return self.either(
                &condition,
                ty,
                |w| w.expr(then, is_index),
                |w| w.expr(otherwise, is_index),
            );
        }
        let (then, otherwise) = (self.expr(then, is_index), self.expr(otherwise, is_index));
        let text = format!(
            "arith.select {}, {}, {} : {ty}",
            condition.name, then.name, otherwise.name
        );
        self.op(ty, &text)
    }

    /// One of two values, of which only that one is computed.
    fn either(
        &mut self,
        condition: &Value,
        ty: Type,
        then: impl FnOnce(&mut Self) -> Value,
        otherwise: impl FnOnce(&mut Self) -> Value,
    ) -> Value {
        let result = self.op(ty, &format!("scf.if {} -> ({ty}) {{", condition.name));
        self.indented(|w| {
            let value = then(w);
            w.line(&format!("scf.yield {} : {ty}", value.name));
        });
        self.line("} else {");
        self.indented(|w| {
            let value = otherwise(w);
            w.line(&format!("scf.yield {} : {ty}", value.name));
        });
        self.line("}");
        result
    }

    fn call(&mut self, function: Intrinsic, arguments: &[Expr], is_index: bool) -> Value {
        let ty = self.function.type_of(&arguments[0]);
        let values: Vec<Value> = arguments.iter().map(|it| self.expr(it, false)).collect();
        if ty.is_complex() {
            return self.complex_call(function, &values, ty);
        }
        if ty.is_integer() {
            self.check_power(&arguments[1], &values[1], ty);
            let name = self.helpers.helper(Helper::Pow, ty);
            let value = self.called(&name, &values, Type::Number(ty));
            return self.as_wanted(value, is_index);
        }
        if let Some(name) = word_of(function) {
            let names = crate::function::names(&values);
            return self.op(
                Type::Number(ty),
                &format!("math.{name} {names} : {}", word(ty)),
            );
        }
        let name = self.helpers.library(function, ty);
        self.called(&name, &values, Type::Number(ty))
    }

    /// A call of a function of the module.
    pub(crate) fn called(&mut self, name: &str, values: &[Value], ty: Type) -> Value {
        let types: Vec<String> = values.iter().map(|value| value.ty.to_string()).collect();
        let text = format!(
            "func.call @{name}({}) : ({}) -> {ty}",
            crate::function::names(values),
            types.join(", ")
        );
        self.op(ty, &text)
    }
}

/// The operation of the dialect `math`; `None` if it has none, or one that loses precision:
/// `expm1` and `log1p` are lowered to differences.
fn word_of(function: Intrinsic) -> Option<&'static str> {
    Some(match function {
        Intrinsic::Expm1 | Intrinsic::Log1p | Intrinsic::Hypot => return None,
        Intrinsic::Pow => "powf",
        Intrinsic::Round => "roundeven",
        other => other.name(),
    })
}
