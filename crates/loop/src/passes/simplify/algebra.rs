//! The rules for one expression whose operands are simple already.

use sparsec_base::{Complex, ElementType, Kind, Scalar, bf16, f16};

use crate::ir::{BinaryOp, Expr, Function, UnaryOp};
use crate::ops;

/// Applies the first rule that fits, until none does.
pub(super) fn simplify_node(function: &Function, expr: &mut Expr) {
    while let Some(simpler) = rule(function, expr) {
        *expr = simpler;
    }
}

/// What the expression comes to, or `None` if no rule fits.
fn rule(function: &Function, expr: &Expr) -> Option<Expr> {
    match expr {
        Expr::Unary(op, value) => unary(function, *op, value),
        Expr::Binary(op, left, right) => match (&**left, &**right) {
            (Expr::Const(a), Expr::Const(b)) => ops::binary(*op, *a, *b).ok().map(constant),
            _ if op.is_comparison() => comparison(function, *op, left, right),
            _ => match (op, function.type_of(left)) {
                (BinaryOp::And | BinaryOp::Or, _) => logic(function, *op, left, right),
                (BinaryOp::Min | BinaryOp::Max, _) => (left == right).then(|| (**left).clone()),
                (_, ElementType::I64) => offset(function, *op, left, right)
                    .or_else(|| integer(function, *op, left, right)),
                (_, element) if element.is_integer() => integer(function, *op, left, right),
                _ => float(*op, left, right),
            },
        },
        Expr::Select {
            condition,
            then,
            otherwise,
        } => select(function, condition, then, otherwise),
        Expr::Cast(element, value) => match **value {
            _ if function.type_of(value) == *element => Some((**value).clone()),
            Expr::Const(value) => value.cast(*element).map(constant),
            _ => None,
        },
        // Others are left to run: they differ from library to library.
        Expr::Call(called, arguments) if called.is_exact() => match arguments[..] {
            [Expr::Const(value)] if value.element().is_float() => {
                ops::call(*called, &[value]).ok().map(constant)
            }
            _ => None,
        },
        _ => None,
    }
}

/// A constant with the one `NaN` that text has.
fn constant(value: Scalar) -> Expr {
    let single = |v: f32| if v.is_nan() { f32::NAN } else { v };
    let double = |v: f64| if v.is_nan() { f64::NAN } else { v };
    Expr::Const(match value {
        Scalar::F16(v) if v.is_nan() => Scalar::F16(f16::NAN),
        Scalar::Bf16(v) if v.is_nan() => Scalar::Bf16(bf16::NAN),
        Scalar::F32(v) => Scalar::F32(single(v)),
        Scalar::F64(v) => Scalar::F64(double(v)),
        Scalar::C64(v) => Scalar::C64(Complex::new(single(v.re), single(v.im))),
        Scalar::C128(v) => Scalar::C128(Complex::new(double(v.re), double(v.im))),
        value => value,
    })
}

fn boolean(value: bool) -> Expr {
    Expr::Const(Scalar::Bool(value))
}

fn unary(function: &Function, op: UnaryOp, value: &Expr) -> Option<Expr> {
    match (op, value) {
        // Its length takes a function that differs from library to library.
        (UnaryOp::Abs, Expr::Const(value)) if value.element().is_complex() => None,
        (_, Expr::Const(value)) => Some(constant(ops::unary(op, *value))),
        (UnaryOp::Neg, Expr::Unary(UnaryOp::Neg, inner))
        | (UnaryOp::Not, Expr::Unary(UnaryOp::Not, inner)) => Some((**inner).clone()),
        (UnaryOp::Abs, Expr::Unary(UnaryOp::Abs, _)) => Some(value.clone()),
        (UnaryOp::Abs, Expr::Unary(UnaryOp::Neg, inner))
            if function.type_of(inner).kind() != Kind::Unsigned =>
        {
            Some(Expr::Unary(UnaryOp::Abs, inner.clone()))
        }
        (UnaryOp::Not, Expr::Binary(comparison, left, right)) => {
            // `not a < b` is not `a >= b` where one may be NaN.
            let ordered = !function.type_of(left).is_float();
            let negated = match comparison {
                BinaryOp::Eq => BinaryOp::Ne,
                BinaryOp::Ne => BinaryOp::Eq,
                BinaryOp::Lt if ordered => BinaryOp::Ge,
                BinaryOp::Le if ordered => BinaryOp::Gt,
                BinaryOp::Gt if ordered => BinaryOp::Le,
                BinaryOp::Ge if ordered => BinaryOp::Lt,
                _ => return None,
            };
            Some(Expr::Binary(negated, left.clone(), right.clone()))
        }
        _ => None,
    }
}

fn logic(function: &Function, op: BinaryOp, left: &Expr, right: &Expr) -> Option<Expr> {
    // `true` changes nothing in `and`, and decides `or`.
    let neutral = boolean(op == BinaryOp::And);
    let deciding = boolean(op == BinaryOp::Or);
    if *left == neutral {
        return Some(right.clone());
    }
    if *right == neutral || left == right || *left == deciding {
        return Some(left.clone());
    }
    (*right == deciding && !function.can_fail(left)).then_some(deciding)
}

fn comparison(function: &Function, op: BinaryOp, left: &Expr, right: &Expr) -> Option<Expr> {
    if let Expr::Const(_) = left {
        let mirrored = match op {
            BinaryOp::Lt => BinaryOp::Gt,
            BinaryOp::Le => BinaryOp::Ge,
            BinaryOp::Gt => BinaryOp::Lt,
            BinaryOp::Ge => BinaryOp::Le,
            op => op,
        };
        return Some(right.clone().binary(mirrored, left.clone()));
    }
    let has_nan = matches!(function.type_of(left).kind(), Kind::Float | Kind::Complex);
    if left == right && !has_nan && !function.can_fail(left) {
        return Some(boolean(matches!(
            op,
            BinaryOp::Eq | BinaryOp::Le | BinaryOp::Ge
        )));
    }
    match (op, right) {
        (BinaryOp::Eq, Expr::Const(Scalar::Bool(true)))
        | (BinaryOp::Ne, Expr::Const(Scalar::Bool(false))) => Some(left.clone()),
        (BinaryOp::Eq, Expr::Const(Scalar::Bool(false)))
        | (BinaryOp::Ne, Expr::Const(Scalar::Bool(true))) => {
            Some(Expr::Unary(UnaryOp::Not, Box::new(left.clone())))
        }
        _ => None,
    }
}

fn select(function: &Function, condition: &Expr, then: &Expr, otherwise: &Expr) -> Option<Expr> {
    match (condition, then, otherwise) {
        (Expr::Const(Scalar::Bool(true)), _, _) => Some(then.clone()),
        (Expr::Const(Scalar::Bool(false)), _, _) => Some(otherwise.clone()),
        _ if then == otherwise && !function.can_fail(condition) => Some(then.clone()),
        (_, Expr::Const(Scalar::Bool(true)), Expr::Const(Scalar::Bool(false))) => {
            Some(condition.clone())
        }
        (_, Expr::Const(Scalar::Bool(false)), Expr::Const(Scalar::Bool(true))) => {
            Some(Expr::Unary(UnaryOp::Not, Box::new(condition.clone())))
        }
        (Expr::Unary(UnaryOp::Not, inner), _, _) => Some(Expr::Select {
            condition: inner.clone(),
            then: Box::new(otherwise.clone()),
            otherwise: Box::new(then.clone()),
        }),
        _ => None,
    }
}

/// `x + k` and `x - k` of `i64` as `x` and what is added.
fn split_offset(expr: &Expr) -> (&Expr, i64) {
    if let Expr::Binary(op, base, added) = expr
        && let Expr::Const(Scalar::I64(k)) = **added
    {
        match op {
            BinaryOp::Add => return (base, k),
            BinaryOp::Sub => return (base, k.wrapping_neg()),
            _ => {}
        }
    }
    (expr, 0)
}

/// `base + k`, without a negative constant where that can be.
fn with_offset(base: &Expr, k: i64) -> Expr {
    match k {
        0 => base.clone(),
        i64::MIN => base.clone().add(k),
        _ if k < 0 => base.clone().binary(BinaryOp::Sub, -k),
        _ => base.clone().add(k),
    }
}

/// Sums of `i64` with constants: `(x + 2) - 3` is `x - 1`.
fn offset(function: &Function, op: BinaryOp, left: &Expr, right: &Expr) -> Option<Expr> {
    let (base, k) = split_offset(left);
    let simpler = match (op, right) {
        (BinaryOp::Add, Expr::Const(Scalar::I64(more))) => with_offset(base, k.wrapping_add(*more)),
        (BinaryOp::Sub, Expr::Const(Scalar::I64(less))) => with_offset(base, k.wrapping_sub(*less)),
        (BinaryOp::Sub, _) => {
            let (other, less) = split_offset(right);
            if base != other || function.can_fail(base) {
                return None;
            }
            Expr::int(k.wrapping_sub(less))
        }
        _ => return None,
    };
    (simpler != left.clone().binary(op, right.clone())).then_some(simpler)
}

fn integer(function: &Function, op: BinaryOp, left: &Expr, right: &Expr) -> Option<Expr> {
    let is = |expr: &Expr, value: i64| match expr {
        Expr::Const(c) => *c == Scalar::from_i64(c.element(), value),
        _ => false,
    };
    match op {
        BinaryOp::Add if is(right, 0) => Some(left.clone()),
        BinaryOp::Add if matches!(left, Expr::Const(_)) => Some(right.clone().add(left.clone())),
        BinaryOp::Sub if is(right, 0) => Some(left.clone()),
        BinaryOp::Sub if left == right && !function.can_fail(left) => {
            Some(Expr::Const(function.type_of(left).zero()))
        }
        BinaryOp::Add | BinaryOp::Sub => negated_operand(op, left, right),
        BinaryOp::Mul if is(right, 1) => Some(left.clone()),
        BinaryOp::Mul if is(left, 1) => Some(right.clone()),
        BinaryOp::Mul if is(right, 0) && !function.can_fail(left) => Some(right.clone()),
        BinaryOp::Mul if is(left, 0) && !function.can_fail(right) => Some(left.clone()),
        BinaryOp::Mul => match (left, right) {
            (Expr::Binary(BinaryOp::Mul, base, factor), Expr::Const(more)) => match **factor {
                Expr::Const(factor) => {
                    let product = ops::binary(BinaryOp::Mul, factor, *more).ok()?;
                    Some((**base).clone().mul(product))
                }
                _ => None,
            },
            _ => None,
        },
        BinaryOp::BitAnd => match (left, right) {
            (Expr::Binary(BinaryOp::BitAnd, base, mask), Expr::Const(more)) => match **mask {
                Expr::Const(mask) => {
                    let both = ops::binary(BinaryOp::BitAnd, mask, *more).ok()?;
                    Some((**base).clone().binary(BinaryOp::BitAnd, both))
                }
                _ => None,
            },
            _ => None,
        },
        BinaryOp::FloorDiv if is(right, 1) => Some(left.clone()),
        BinaryOp::Mod if is(right, 1) && !function.can_fail(left) => {
            Some(Expr::Const(function.type_of(left).zero()))
        }
        _ => None,
    }
}

fn float(op: BinaryOp, left: &Expr, right: &Expr) -> Option<Expr> {
    let is = |expr: &Expr, value: f64| match expr {
        Expr::Const(Scalar::F64(c)) => c.to_bits() == value.to_bits(),
        Expr::Const(Scalar::F32(c)) => c.to_bits() == (value as f32).to_bits(),
        _ => false,
    };
    match op {
        BinaryOp::Mul | BinaryOp::Div if is(right, 1.0) => Some(left.clone()),
        BinaryOp::Mul if is(left, 1.0) => Some(right.clone()),
        BinaryOp::Add if is(right, -0.0) => Some(left.clone()),
        BinaryOp::Add if is(left, -0.0) => Some(right.clone()),
        BinaryOp::Sub if is(right, 0.0) => Some(left.clone()),
        BinaryOp::Add | BinaryOp::Sub => negated_operand(op, left, right).or_else(|| {
            let other = other_sign(op);
            match right {
                Expr::Const(Scalar::F64(c)) if c.is_sign_negative() && !c.is_nan() => {
                    Some(left.clone().binary(other, Scalar::F64(-c)))
                }
                Expr::Const(Scalar::F32(c)) if c.is_sign_negative() && !c.is_nan() => {
                    Some(left.clone().binary(other, Scalar::F32(-c)))
                }
                _ => None,
            }
        }),
        _ => None,
    }
}

/// `x + -y` is `x - y`, and `x - -y` is `x + y`, of integers and of floats.
fn negated_operand(op: BinaryOp, left: &Expr, right: &Expr) -> Option<Expr> {
    match right {
        Expr::Unary(UnaryOp::Neg, inner) => {
            Some(left.clone().binary(other_sign(op), (**inner).clone()))
        }
        _ => None,
    }
}

fn other_sign(op: BinaryOp) -> BinaryOp {
    if op == BinaryOp::Add {
        BinaryOp::Sub
    } else {
        BinaryOp::Add
    }
}
