//! What each operation computes, on values.
//!
//! The interpreter runs these functions and `simplify` folds constants with
//! them, so the two cannot disagree. Corners that the operations' names leave
//! open:
//!
//! | operation                     | gives                                     |
//! |-------------------------------|-------------------------------------------|
//! | integer `+ - *`, `-x`, `abs`  | the low bits of the exact result          |
//! | integer `a // b`, `a % b`     | floors; `b == 0` fails                    |
//! | float `a // b`                | the floor of the exact quotient, rounded; `a / b` if `b == 0` |
//! | float `a % b`                 | its exact remainder plus, where the signs differ, `b`; zero as `b` is signed |
//! | float `min(a, b)`             | `a` if `a` is `NaN` or `a < b`, else `b`  |
//! | float `max(a, b)`             | `a` if `a` is `NaN` or `a > b`, else `b`  |
//! | comparison of `bool`          | `false` is less than `true`               |
//!
//! Operands of types that the verifier rejects are a broken invariant and panic.

use sparsec_base::{ElementType, Scalar};

use crate::ir::{BinaryOp, Failure, Intrinsic, UnaryOp};

/// The floored quotient of two floats and its remainder.
///
/// `a % b` of Rust, which truncates, is exact; `floor(a / b)` is not, since
/// `a / b` may round up to an integer that it does not reach.
macro_rules! floored {
    ($ty:ty, $a:expr, $b:expr) => {{
        let (a, b): ($ty, $ty) = ($a, $b);
        let rest = a % b;
        let below = rest != 0.0 && (rest < 0.0) != (b < 0.0);
        let whole = (a - rest) / b - if below { 1.0 } else { 0.0 };
        let quotient = if b == 0.0 {
            a / b
        } else if whole == 0.0 {
            <$ty>::copysign(0.0, a / b)
        } else if whole - whole.floor() > 0.5 {
            whole.floor() + 1.0
        } else {
            whole.floor()
        };
        let remainder = if rest == 0.0 {
            <$ty>::copysign(0.0, b)
        } else if below {
            rest + b
        } else {
            rest
        };
        (quotient, remainder)
    }};
}

/// `op value`
pub fn unary(op: UnaryOp, value: Scalar) -> Scalar {
    match (op, value) {
        (UnaryOp::Neg, Scalar::I32(v)) => Scalar::I32(v.wrapping_neg()),
        (UnaryOp::Neg, Scalar::I64(v)) => Scalar::I64(v.wrapping_neg()),
        (UnaryOp::Neg, Scalar::F32(v)) => Scalar::F32(-v),
        (UnaryOp::Neg, Scalar::F64(v)) => Scalar::F64(-v),
        (UnaryOp::Abs, Scalar::I32(v)) => Scalar::I32(v.wrapping_abs()),
        (UnaryOp::Abs, Scalar::I64(v)) => Scalar::I64(v.wrapping_abs()),
        (UnaryOp::Abs, Scalar::F32(v)) => Scalar::F32(v.abs()),
        (UnaryOp::Abs, Scalar::F64(v)) => Scalar::F64(v.abs()),
        (UnaryOp::Not, Scalar::Bool(v)) => Scalar::Bool(!v),
        _ => panic!("no {op:?} of {}", value.element()),
    }
}

/// `left op right`, both evaluated.
///
/// # Errors
/// [`Failure::DivisionByZero`] for integer `//` and `%` by zero.
pub fn binary(op: BinaryOp, left: Scalar, right: Scalar) -> Result<Scalar, Failure> {
    match (left, right) {
        (Scalar::I64(a), Scalar::I64(b)) => match op {
            BinaryOp::Add => Ok(Scalar::I64(a.wrapping_add(b))),
            BinaryOp::Sub => Ok(Scalar::I64(a.wrapping_sub(b))),
            BinaryOp::Mul => Ok(Scalar::I64(a.wrapping_mul(b))),
            BinaryOp::FloorDiv => floor_div(a, b).map(Scalar::I64),
            BinaryOp::Mod => floor_mod(a, b).map(Scalar::I64),
            BinaryOp::Min => Ok(Scalar::I64(a.min(b))),
            BinaryOp::Max => Ok(Scalar::I64(a.max(b))),
            _ => Ok(compare(op, a, b)),
        },
        (Scalar::I32(a), Scalar::I32(b)) => match op {
            BinaryOp::Add => Ok(Scalar::I32(a.wrapping_add(b))),
            BinaryOp::Sub => Ok(Scalar::I32(a.wrapping_sub(b))),
            BinaryOp::Mul => Ok(Scalar::I32(a.wrapping_mul(b))),
            // Only the least number divided by -1 does not fit, and wraps.
            BinaryOp::FloorDiv => floor_div(a.into(), b.into()).map(|v| Scalar::I32(v as i32)),
            BinaryOp::Mod => floor_mod(a.into(), b.into()).map(|v| Scalar::I32(v as i32)),
            BinaryOp::Min => Ok(Scalar::I32(a.min(b))),
            BinaryOp::Max => Ok(Scalar::I32(a.max(b))),
            _ => Ok(compare(op, a, b)),
        },
        (Scalar::F64(a), Scalar::F64(b)) => Ok(match op {
            BinaryOp::Add => Scalar::F64(a + b),
            BinaryOp::Sub => Scalar::F64(a - b),
            BinaryOp::Mul => Scalar::F64(a * b),
            BinaryOp::Div => Scalar::F64(a / b),
            BinaryOp::FloorDiv => Scalar::F64(floored!(f64, a, b).0),
            BinaryOp::Mod => Scalar::F64(floored!(f64, a, b).1),
            BinaryOp::Min => Scalar::F64(if a.is_nan() || a < b { a } else { b }),
            BinaryOp::Max => Scalar::F64(if a.is_nan() || a > b { a } else { b }),
            _ => compare(op, a, b),
        }),
        (Scalar::F32(a), Scalar::F32(b)) => Ok(match op {
            BinaryOp::Add => Scalar::F32(a + b),
            BinaryOp::Sub => Scalar::F32(a - b),
            BinaryOp::Mul => Scalar::F32(a * b),
            BinaryOp::Div => Scalar::F32(a / b),
            BinaryOp::FloorDiv => Scalar::F32(floored!(f32, a, b).0),
            BinaryOp::Mod => Scalar::F32(floored!(f32, a, b).1),
            BinaryOp::Min => Scalar::F32(if a.is_nan() || a < b { a } else { b }),
            BinaryOp::Max => Scalar::F32(if a.is_nan() || a > b { a } else { b }),
            _ => compare(op, a, b),
        }),
        (Scalar::Bool(a), Scalar::Bool(b)) => Ok(match op {
            BinaryOp::And | BinaryOp::Min => Scalar::Bool(a && b),
            BinaryOp::Or | BinaryOp::Max => Scalar::Bool(a || b),
            _ => compare(op, a, b),
        }),
        _ => panic!("{} {op:?} {}", left.element(), right.element()),
    }
}

fn compare<T: PartialOrd>(op: BinaryOp, a: T, b: T) -> Scalar {
    Scalar::Bool(match op {
        BinaryOp::Eq => a == b,
        BinaryOp::Ne => a != b,
        BinaryOp::Lt => a < b,
        BinaryOp::Le => a <= b,
        BinaryOp::Gt => a > b,
        BinaryOp::Ge => a >= b,
        _ => panic!("{op:?} is not for this type"),
    })
}

fn floor_div(a: i64, b: i64) -> Result<i64, Failure> {
    if b == 0 {
        return Err(Failure::DivisionByZero);
    }
    let quotient = a.wrapping_div(b);
    let inexact = a.wrapping_rem(b) != 0;
    Ok(quotient - i64::from(inexact && (a < 0) != (b < 0)))
}

fn floor_mod(a: i64, b: i64) -> Result<i64, Failure> {
    if b == 0 {
        return Err(Failure::DivisionByZero);
    }
    let rest = a.wrapping_rem(b);
    Ok(if rest != 0 && (rest < 0) != (b < 0) {
        rest + b
    } else {
        rest
    })
}

/// `value` as `element`.
///
/// # Errors
/// [`Failure::CastOutOfRange`] where a float has no integer of the type near it.
pub fn cast(element: ElementType, value: Scalar) -> Result<Scalar, Failure> {
    value.cast(element).ok_or(Failure::CastOutOfRange)
}

/// `function(arguments…)`
pub fn call(function: Intrinsic, arguments: &[Scalar]) -> Scalar {
    match *arguments {
        [Scalar::F64(x)] => Scalar::F64(match function {
            Intrinsic::Sqrt => x.sqrt(),
            Intrinsic::Exp => x.exp(),
            Intrinsic::Log => x.ln(),
            Intrinsic::Sin => x.sin(),
            Intrinsic::Cos => x.cos(),
            Intrinsic::Tanh => x.tanh(),
            Intrinsic::Floor => x.floor(),
            Intrinsic::Ceil => x.ceil(),
            Intrinsic::Pow => panic!("`pow` takes two arguments"),
        }),
        [Scalar::F32(x)] => Scalar::F32(match function {
            Intrinsic::Sqrt => x.sqrt(),
            Intrinsic::Exp => x.exp(),
            Intrinsic::Log => x.ln(),
            Intrinsic::Sin => x.sin(),
            Intrinsic::Cos => x.cos(),
            Intrinsic::Tanh => x.tanh(),
            Intrinsic::Floor => x.floor(),
            Intrinsic::Ceil => x.ceil(),
            Intrinsic::Pow => panic!("`pow` takes two arguments"),
        }),
        [Scalar::F64(x), Scalar::F64(y)] if function == Intrinsic::Pow => Scalar::F64(x.powf(y)),
        [Scalar::F32(x), Scalar::F32(y)] if function == Intrinsic::Pow => Scalar::F32(x.powf(y)),
        _ => panic!("`{}` of {arguments:?}", function.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn i64_op(op: BinaryOp, a: i64, b: i64) -> Result<i64, Failure> {
        match binary(op, Scalar::I64(a), Scalar::I64(b))? {
            Scalar::I64(v) => Ok(v),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn integer_division_floors() {
        for a in -7..=7 {
            for b in (-4..=4).filter(|&b| b != 0) {
                let quotient = i64_op(BinaryOp::FloorDiv, a, b).expect("b is not 0");
                let rest = i64_op(BinaryOp::Mod, a, b).expect("b is not 0");
                assert_eq!(quotient, (a as f64 / b as f64).floor() as i64, "{a} // {b}");
                assert_eq!(quotient * b + rest, a);
                assert!(rest == 0 || (rest < 0) == (b < 0), "{a} % {b}");
            }
        }
        assert_eq!(i64_op(BinaryOp::Mod, 1, 0), Err(Failure::DivisionByZero));
        assert_eq!(i64_op(BinaryOp::FloorDiv, i64::MIN, -1), Ok(i64::MIN));
        let least = binary(BinaryOp::FloorDiv, Scalar::I32(i32::MIN), Scalar::I32(-1));
        assert_eq!(least, Ok(Scalar::I32(i32::MIN)));
    }

    #[test]
    fn division_of_floats_floors_exactly() {
        let inf = f64::INFINITY;
        // What Python says of `a // b` and `a % b`.
        for (a, b, quotient, rest) in [
            (1e308, 3.0, 3.333_333_333_333_333e307, 2.0),
            (1.0, 0.1, 9.0, 0.099_999_999_999_999_95),
            (6.0, 0.2, 29.0, 0.199_999_999_999_999_68),
            (-7.5, 2.0, -4.0, 0.5),
            (7.5, -2.0, -4.0, -0.5),
            (6.0, -3.0, -2.0, -0.0),
            (0.0, -3.0, -0.0, -0.0),
            (5.0, -inf, -1.0, -inf),
            (5.0, inf, 0.0, 5.0),
        ] {
            let of = |op| binary(op, Scalar::F64(a), Scalar::F64(b));
            assert_eq!(
                of(BinaryOp::FloorDiv),
                Ok(Scalar::F64(quotient)),
                "{a} // {b}"
            );
            assert_eq!(of(BinaryOp::Mod), Ok(Scalar::F64(rest)), "{a} % {b}");
        }
        let of = |op, a, b| binary(op, Scalar::F64(a), Scalar::F64(b)).map(Scalar::to_f64);
        assert_eq!(of(BinaryOp::FloorDiv, 1.0, 0.0), Ok(inf));
        for (op, a, b) in [(BinaryOp::Mod, 1.0, 0.0), (BinaryOp::FloorDiv, inf, 3.0)] {
            assert!(of(op, a, b).is_ok_and(f64::is_nan), "{a} {op:?} {b}");
        }
    }

    #[test]
    fn min_and_max_keep_nan() {
        for op in [BinaryOp::Min, BinaryOp::Max] {
            for (a, b) in [(f64::NAN, 1.0), (1.0, f64::NAN)] {
                let value = binary(op, Scalar::F64(a), Scalar::F64(b)).expect("cannot fail");
                assert!(value.to_f64().is_nan());
            }
        }
        let zero = binary(BinaryOp::Min, Scalar::F64(0.0), Scalar::F64(-0.0));
        assert_eq!(zero, Ok(Scalar::F64(-0.0)));
    }
}
