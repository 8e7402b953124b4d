//! Operators of index notation as expressions of the loop IR.

use sparsec_base::arena::Id;
use sparsec_base::{ElementType, Kind, Scalar};
use sparsec_index::function::Body;
use sparsec_index::{Expr as Value, Operator};
use sparsec_loop::{BinaryOp, Buffer, Builder, Expr, Intrinsic, UnaryOp};

/// `op` applied to arguments of type `element` (that of the last argument).
pub(crate) fn apply(op: &Operator, element: ElementType, args: Vec<Expr>) -> Expr {
    let mut args = args.into_iter();
    let mut next = || {
        args.next()
            .expect("as many arguments as the operator takes")
    };
    if let Some(binary) = binary(op, element) {
        let left = next();
        return left.binary(binary, next());
    }
    if let Some(function) = intrinsic(op) {
        let args = (0..function.arity()).map(|_| next()).collect();
        return Expr::Call(function, args);
    }
    match op {
        Operator::Neg => Expr::Unary(UnaryOp::Neg, Box::new(next())),
        Operator::Abs => absolute(next()),
        Operator::Not => Expr::Unary(UnaryOp::Not, Box::new(next())),
        Operator::Conj if element.is_complex() => Expr::Unary(UnaryOp::Conj, Box::new(next())),
        Operator::Real if element.is_complex() => Expr::Unary(UnaryOp::Real, Box::new(next())),
        Operator::Imag if element.is_complex() => Expr::Unary(UnaryOp::Imag, Box::new(next())),
        Operator::Conj | Operator::Real => next(),
        Operator::Imag => element.zero().into(),
        // What a function of the user is given is there.
        Operator::IsStored => Scalar::Bool(true).into(),
        Operator::PopCount => Expr::Unary(UnaryOp::PopCount, Box::new(next())),
        Operator::LeadingZeros => Expr::Unary(UnaryOp::LeadingZeros, Box::new(next())),
        Operator::TrailingZeros => Expr::Unary(UnaryOp::TrailingZeros, Box::new(next())),
        Operator::ShiftLeft => {
            let value = next();
            shifted(BinaryOp::ShiftLeft, element, value, next())
        }
        Operator::ShiftRight => {
            let value = next();
            shifted(BinaryOp::ShiftRight, element, value, next())
        }
        Operator::Relu => next().binary(BinaryOp::Max, element.zero()),
        Operator::Sign => sign(element, next()),
        Operator::IsNan => {
            let value = next();
            value.clone().binary(BinaryOp::Ne, value)
        }
        Operator::IsInf => absolute(next()).binary(BinaryOp::Eq, infinity(element)),
        Operator::IsFinite => absolute(next()).binary(BinaryOp::Lt, infinity(element)),
        Operator::Select => Expr::Select {
            condition: Box::new(next()),
            then: Box::new(next()),
            otherwise: Box::new(next()),
        },
        _ => unreachable!("every other operator is binary or a function of the C library"),
    }
}

/// The operation that combines two values of type `element`.
pub(crate) fn binary(op: &Operator, element: ElementType) -> Option<BinaryOp> {
    let of_bool = element == ElementType::Bool;
    Some(match op {
        Operator::Add if of_bool => BinaryOp::Or,
        Operator::Mul if of_bool => BinaryOp::And,
        Operator::Min if of_bool => BinaryOp::And,
        Operator::Max if of_bool => BinaryOp::Or,
        Operator::Add => BinaryOp::Add,
        Operator::Sub => BinaryOp::Sub,
        Operator::Mul => BinaryOp::Mul,
        Operator::Div => BinaryOp::Div,
        Operator::FloorDiv => BinaryOp::FloorDiv,
        Operator::Mod => BinaryOp::Mod,
        Operator::Min => BinaryOp::Min,
        Operator::Max => BinaryOp::Max,
        Operator::And => BinaryOp::And,
        Operator::Or => BinaryOp::Or,
        Operator::BitAnd => BinaryOp::BitAnd,
        Operator::BitOr => BinaryOp::BitOr,
        Operator::BitXor => BinaryOp::BitXor,
        Operator::Eq => BinaryOp::Eq,
        Operator::Ne => BinaryOp::Ne,
        Operator::Lt => BinaryOp::Lt,
        Operator::Le => BinaryOp::Le,
        Operator::Gt => BinaryOp::Gt,
        Operator::Ge => BinaryOp::Ge,
        _ => return None,
    })
}

fn intrinsic(op: &Operator) -> Option<Intrinsic> {
    Some(match op {
        Operator::Sqrt => Intrinsic::Sqrt,
        Operator::Exp => Intrinsic::Exp,
        Operator::Log => Intrinsic::Log,
        Operator::Pow => Intrinsic::Pow,
        Operator::Sin => Intrinsic::Sin,
        Operator::Cos => Intrinsic::Cos,
        Operator::Tanh => Intrinsic::Tanh,
        Operator::Tan => Intrinsic::Tan,
        Operator::Asin => Intrinsic::Asin,
        Operator::Acos => Intrinsic::Acos,
        Operator::Atan => Intrinsic::Atan,
        Operator::Sinh => Intrinsic::Sinh,
        Operator::Cosh => Intrinsic::Cosh,
        Operator::Exp2 => Intrinsic::Exp2,
        Operator::Expm1 => Intrinsic::Expm1,
        Operator::Log2 => Intrinsic::Log2,
        Operator::Log10 => Intrinsic::Log10,
        Operator::Log1p => Intrinsic::Log1p,
        Operator::Cbrt => Intrinsic::Cbrt,
        Operator::Round => Intrinsic::Round,
        Operator::Trunc => Intrinsic::Trunc,
        Operator::Hypot => Intrinsic::Hypot,
        Operator::Atan2 => Intrinsic::Atan2,
        Operator::Asinh => Intrinsic::Asinh,
        Operator::Acosh => Intrinsic::Acosh,
        Operator::Atanh => Intrinsic::Atanh,
        Operator::Erf => Intrinsic::Erf,
        Operator::CopySign => Intrinsic::CopySign,
        Operator::Fma => Intrinsic::Fma,
        Operator::Floor => Intrinsic::Floor,
        Operator::Ceil => Intrinsic::Ceil,
        _ => return None,
    })
}

/// A shift by any amount. The loop IR takes amounts modulo the width of the type.
fn shifted(op: BinaryOp, element: ElementType, value: Expr, amount: Expr) -> Expr {
    let width = 8 * element.size() as i64;
    if let Expr::Const(by) = amount
        && by
            .to_integer()
            .is_some_and(|by| (0..width.into()).contains(&by))
    {
        return value.binary(op, amount);
    }
    let natural = match element {
        ElementType::I8 => ElementType::U8,
        ElementType::I16 => ElementType::U16,
        ElementType::I32 => ElementType::U32,
        ElementType::I64 => ElementType::U64,
        natural => natural,
    };
    let cast = |to, value| Expr::Cast(to, Box::new(value));
    let by = cast(natural, amount.clone());
    let number = |n| Expr::Const(Scalar::from_i64(natural, n));
    if op == BinaryOp::ShiftRight && element.kind() == Kind::Signed {
        let by = by.binary(BinaryOp::Min, number(width - 1));
        return value.binary(op, cast(element, by));
    }
    Expr::Select {
        condition: Box::new(by.binary(BinaryOp::Lt, number(width))),
        then: Box::new(value.binary(op, amount)),
        otherwise: Box::new(element.zero().into()),
    }
}

fn absolute(value: Expr) -> Expr {
    Expr::Unary(UnaryOp::Abs, Box::new(value))
}

/// The infinity of a type of floats.
fn infinity(element: ElementType) -> Scalar {
    let infinity = Scalar::F64(f64::INFINITY).cast(element);
    infinity.expect("every type of floats has one")
}

/// -1, 0 or 1; of `NaN`, which is neither above nor below zero, itself.
fn sign(element: ElementType, value: Expr) -> Expr {
    let constant = |v: i64| Box::new(Expr::Const(Scalar::from_i64(element, v)));
    let compare = |op| Box::new(value.clone().binary(op, element.zero()));
    Expr::Select {
        condition: compare(BinaryOp::Gt),
        then: constant(1),
        otherwise: Box::new(Expr::Select {
            condition: compare(BinaryOp::Lt),
            then: constant(-1),
            otherwise: Box::new(value),
        }),
    }
}

/// What `old` becomes when `new` is reduced into it with `op`; both are computed
/// with, and evaluated once.
pub(crate) fn combine(
    builder: &mut Builder,
    op: &Operator,
    element: ElementType,
    old: Expr,
    new: Expr,
) -> Expr {
    let Operator::Defined(function) = op else {
        let op = binary(op, element).expect("reductions of the language are binary");
        let new = evaluated(builder, op, new);
        return old.binary(op, new);
    };
    let body = function.body(&[element; 2]).expect("calls are typed");
    let values = [("so_far", old), ("added", new)];
    let values = values.map(|(name, value)| match value {
        Expr::Var(_) | Expr::Const(_) => value,
        value => Expr::Var(builder.let_(name, value)),
    });
    inline(&body, &body.expr, &values)
}

/// A value to combine with another. A reduction needs all of its values: one that may fail is
/// computed whatever the others decide.
fn evaluated(b: &mut Builder, op: BinaryOp, value: Expr) -> Expr {
    match op {
        BinaryOp::And | BinaryOp::Or if b.function().can_fail(&value) => {
            Expr::Var(b.let_("added", value))
        }
        _ => value,
    }
}

/// A part of a body whose parameters have these values.
fn inline(body: &Body, part: &Value, values: &[Expr]) -> Expr {
    let type_of = |part: &Value| part.element(&body.parameters);
    match part {
        Value::Literal(value) => (*value).into(),
        Value::Access(access) => values[access.tensor.index()].clone(),
        Value::Cast(to, inner) => cast(*to, inline(body, inner, values), type_of(inner)),
        Value::Apply { op, args } => {
            let last = args.last().expect("every operator has an argument");
            let inlined = args.iter().map(|arg| inline(body, arg, values));
            apply(op, type_of(last), inlined.collect())
        }
        Value::Index(_) | Value::Reduce { .. } => unreachable!("a body has no index variables"),
    }
}

/// A value to assign, and how it is combined with what is there.
#[derive(Clone, Debug)]
pub(crate) struct Update<'s> {
    pub(crate) value: Expr,
    pub(crate) reduce: Option<&'s Operator>,
}

impl Update<'_> {
    /// Stores it at an entry. Values that are stored as halves meet as what they are
    /// computed with.
    pub(crate) fn store(self, b: &mut Builder, buffer: Buffer, at: Expr) {
        let Self { value, reduce } = self;
        let element = b.function().buffers[buffer].compute;
        let computed = element.computed();
        match reduce {
            Some(op) if element != computed || matches!(op, Operator::Defined(_)) => {
                let old = cast(computed, Expr::load(buffer, at.clone()), element);
                let new = combine(b, op, computed, old, cast(computed, value, element));
                b.store(buffer, at, cast(element, new, computed));
            }
            _ => {
                let combine = reduce.map(|op| binary(op, computed).expect("reductions are binary"));
                let value = match combine {
                    Some(op) => evaluated(b, op, value),
                    None => value,
                };
                b.store_reduce(buffer, at, value, combine);
            }
        }
    }

    /// What an entry of `buffer` holds once this is the first to be reduced into it: the
    /// value itself, unless the operator gives no such value.
    pub(crate) fn first(self, b: &mut Builder, buffer: Buffer) -> Expr {
        let element = b.function().buffers[buffer].compute;
        let computed = element.computed();
        let Some(op @ Operator::Defined(_)) = self.reduce else {
            return self.value;
        };
        let identity = op.identity(computed).expect("it reduces this type");
        let value = cast(computed, self.value, element);
        let value = combine(b, op, computed, identity.into(), value);
        cast(element, value, computed)
    }
}

/// `value`, of type `from`, as type `to`.
pub(crate) fn cast(to: ElementType, value: Expr, from: ElementType) -> Expr {
    if to == from {
        return value;
    }
    Expr::Cast(to, Box::new(value))
}
