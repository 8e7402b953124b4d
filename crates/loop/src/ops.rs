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
//! | `a & b`, `a | b`, `a ^ b`     | bits of two's complement                  |
//! | `a << n`, `a >> n` of `i64`   | the low bits of `a * 2^m`, `a // 2^m`, where `m` is `n % 64` |
//! | integer `pow(a, b)`           | the low bits of the exact power; `b < 0` fails |
//! | float `a // b`                | the floor of the exact quotient, rounded; `a / b` if `b == 0` |
//! | float `a % b`                 | its exact remainder plus, where the signs differ, `b`; zero as `b` is signed |
//! | float `min(a, b)`             | `a` if `a` is `NaN` or `a < b`, else `b`  |
//! | float `max(a, b)`             | `a` if `a` is `NaN` or `a > b`, else `b`  |
//! | comparison of `bool`          | `false` is less than `true`               |
//! | complex numbers               | the formulas of [`complex`](crate::complex) |
//!
//! Operands of types that the verifier rejects are a broken invariant and panic.

use sparsec_base::{ElementType, Elementary, Scalar};

use crate::complex::{Operation, Outcome, evaluate_f32, evaluate_f64};
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
    macro_rules! signed {
        ($kind:ident, $v:expr) => {
            match op {
                UnaryOp::Neg => Scalar::$kind($v.wrapping_neg()),
                UnaryOp::Abs => Scalar::$kind($v.wrapping_abs()),
                UnaryOp::PopCount => Scalar::$kind($v.count_ones() as _),
                UnaryOp::LeadingZeros => Scalar::$kind($v.leading_zeros() as _),
                UnaryOp::TrailingZeros => Scalar::$kind($v.trailing_zeros() as _),
                _ => panic!("no {op:?} of {}", value.element()),
            }
        };
    }
    macro_rules! unsigned {
        ($kind:ident, $v:expr) => {
            match op {
                UnaryOp::Neg => Scalar::$kind($v.wrapping_neg()),
                UnaryOp::Abs => value,
                UnaryOp::PopCount => Scalar::$kind($v.count_ones() as _),
                UnaryOp::LeadingZeros => Scalar::$kind($v.leading_zeros() as _),
                UnaryOp::TrailingZeros => Scalar::$kind($v.trailing_zeros() as _),
                _ => panic!("no {op:?} of {}", value.element()),
            }
        };
    }
    macro_rules! float {
        ($kind:ident, $v:expr) => {
            match op {
                UnaryOp::Neg => Scalar::$kind(-$v),
                UnaryOp::Abs => Scalar::$kind($v.abs()),
                _ => panic!("no {op:?} of {}", value.element()),
            }
        };
    }
    match value {
        Scalar::Bool(v) if op == UnaryOp::Not => Scalar::Bool(!v),
        Scalar::I8(v) => signed!(I8, v),
        Scalar::I16(v) => signed!(I16, v),
        Scalar::I32(v) => signed!(I32, v),
        Scalar::I64(v) => signed!(I64, v),
        Scalar::U8(v) => unsigned!(U8, v),
        Scalar::U16(v) => unsigned!(U16, v),
        Scalar::U32(v) => unsigned!(U32, v),
        Scalar::U64(v) => unsigned!(U64, v),
        Scalar::F32(v) => float!(F32, v),
        Scalar::F64(v) => float!(F64, v),
        Scalar::C64(_) | Scalar::C128(_) => complex(Operation::Unary(op), &[value]),
        Scalar::Bool(_) | Scalar::F16(_) | Scalar::Bf16(_) => {
            panic!("no {op:?} of {}", value.element())
        }
    }
}

/// `left op right`, both evaluated.
///
/// # Errors
/// [`Failure::DivisionByZero`] for integer `//` and `%` by zero.
pub fn binary(op: BinaryOp, left: Scalar, right: Scalar) -> Result<Scalar, Failure> {
    macro_rules! integer {
        ($kind:ident, $ty:ty, $a:expr, $b:expr) => {
            match op {
                BinaryOp::Add => Ok(Scalar::$kind($a.wrapping_add($b))),
                BinaryOp::Sub => Ok(Scalar::$kind($a.wrapping_sub($b))),
                BinaryOp::Mul => Ok(Scalar::$kind($a.wrapping_mul($b))),
                // Only the least number divided by -1 does not fit, and wraps.
                BinaryOp::FloorDiv => {
                    floor_div($a.into(), $b.into()).map(|v| Scalar::$kind(v as $ty))
                }
                BinaryOp::Mod => floor_mod($a.into(), $b.into()).map(|v| Scalar::$kind(v as $ty)),
                BinaryOp::Min => Ok(Scalar::$kind($a.min($b))),
                BinaryOp::Max => Ok(Scalar::$kind($a.max($b))),
                BinaryOp::BitAnd => Ok(Scalar::$kind($a & $b)),
                BinaryOp::BitOr => Ok(Scalar::$kind($a | $b)),
                BinaryOp::BitXor => Ok(Scalar::$kind($a ^ $b)),
                BinaryOp::ShiftLeft => Ok(Scalar::$kind($a.wrapping_shl($b as u32))),
                BinaryOp::ShiftRight => Ok(Scalar::$kind($a.wrapping_shr($b as u32))),
                _ => Ok(compare(op, $a, $b)),
            }
        };
    }
    macro_rules! float {
        ($kind:ident, $ty:ty, $a:expr, $b:expr) => {
            Ok(match op {
                BinaryOp::Add => Scalar::$kind($a + $b),
                BinaryOp::Sub => Scalar::$kind($a - $b),
                BinaryOp::Mul => Scalar::$kind($a * $b),
                BinaryOp::Div => Scalar::$kind($a / $b),
                BinaryOp::FloorDiv => Scalar::$kind(floored!($ty, $a, $b).0),
                BinaryOp::Mod => Scalar::$kind(floored!($ty, $a, $b).1),
                BinaryOp::Min => Scalar::$kind(if $a.is_nan() || $a < $b { $a } else { $b }),
                BinaryOp::Max => Scalar::$kind(if $a.is_nan() || $a > $b { $a } else { $b }),
                _ => compare(op, $a, $b),
            })
        };
    }
    match (left, right) {
        (Scalar::I8(a), Scalar::I8(b)) => integer!(I8, i8, a, b),
        (Scalar::I16(a), Scalar::I16(b)) => integer!(I16, i16, a, b),
        (Scalar::I32(a), Scalar::I32(b)) => integer!(I32, i32, a, b),
        (Scalar::I64(a), Scalar::I64(b)) => integer!(I64, i64, a, b),
        (Scalar::U8(a), Scalar::U8(b)) => integer!(U8, u8, a, b),
        (Scalar::U16(a), Scalar::U16(b)) => integer!(U16, u16, a, b),
        (Scalar::U32(a), Scalar::U32(b)) => integer!(U32, u32, a, b),
        (Scalar::U64(a), Scalar::U64(b)) => integer!(U64, u64, a, b),
        (Scalar::F32(a), Scalar::F32(b)) => float!(F32, f32, a, b),
        (Scalar::F64(a), Scalar::F64(b)) => float!(F64, f64, a, b),
        (Scalar::Bool(a), Scalar::Bool(b)) => Ok(match op {
            BinaryOp::And | BinaryOp::Min => Scalar::Bool(a && b),
            BinaryOp::Or | BinaryOp::Max => Scalar::Bool(a || b),
            _ => compare(op, a, b),
        }),
        (Scalar::C64(_), Scalar::C64(_)) | (Scalar::C128(_), Scalar::C128(_)) => Ok(match op {
            BinaryOp::Ne => {
                let equal = complex(Operation::Binary(BinaryOp::Eq), &[left, right]);
                unary(UnaryOp::Not, equal)
            }
            _ => complex(Operation::Binary(op), &[left, right]),
        }),
        _ => panic!("{} {op:?} {}", left.element(), right.element()),
    }
}

/// An operation on complex numbers of one type.
fn complex(operation: Operation, arguments: &[Scalar]) -> Scalar {
    macro_rules! evaluate {
        ($complex:ident, $part:ident, $evaluate:ident) => {{
            let pairs = arguments.iter().map(|argument| match argument {
                Scalar::$complex(value) => *value,
                other => panic!("{operation:?} of {}", other.element()),
            });
            match $evaluate(operation, &pairs.collect::<Vec<_>>()) {
                Outcome::Complex(value) => Scalar::$complex(value),
                Outcome::Real(value) => Scalar::$part(value),
                Outcome::Truth(value) => Scalar::Bool(value),
            }
        }};
    }
    match arguments[0] {
        Scalar::C64(_) => evaluate!(C64, F32, evaluate_f32),
        _ => evaluate!(C128, F64, evaluate_f64),
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

/// In 128 bits, which hold every integer type with its sign.
fn floor_div(a: i128, b: i128) -> Result<i128, Failure> {
    if b == 0 {
        return Err(Failure::DivisionByZero);
    }
    let inexact = a % b != 0;
    Ok(a / b - i128::from(inexact && (a < 0) != (b < 0)))
}

fn floor_mod(a: i128, b: i128) -> Result<i128, Failure> {
    Ok(a - floor_div(a, b)? * b)
}

/// `value` as `element`.
///
/// # Errors
/// [`Failure::CastOutOfRange`] where a float has no integer of the type near it.
pub fn cast(element: ElementType, value: Scalar) -> Result<Scalar, Failure> {
    value.cast(element).ok_or(Failure::CastOutOfRange)
}

/// `function(arguments…)`
///
/// # Errors
/// [`Failure::NegativePower`] for `pow` of integers.
pub fn call(function: Intrinsic, arguments: &[Scalar]) -> Result<Scalar, Failure> {
    macro_rules! float {
        ($kind:ident, $x:expr, $y:expr, $z:expr) => {
            Scalar::$kind(match function {
                Intrinsic::Sqrt => $x.sqrt(),
                Intrinsic::Exp => $x.exp(),
                Intrinsic::Log => $x.ln(),
                Intrinsic::Sin => $x.sin(),
                Intrinsic::Cos => $x.cos(),
                Intrinsic::Tanh => $x.tanh(),
                Intrinsic::Tan => $x.tan(),
                Intrinsic::Asin => $x.asin(),
                Intrinsic::Acos => $x.acos(),
                Intrinsic::Atan => $x.atan(),
                Intrinsic::Sinh => $x.sinh(),
                Intrinsic::Cosh => $x.cosh(),
                Intrinsic::Exp2 => $x.exp2(),
                Intrinsic::Expm1 => $x.exp_m1(),
                Intrinsic::Log2 => $x.log2(),
                Intrinsic::Log10 => $x.log10(),
                Intrinsic::Log1p => $x.ln_1p(),
                Intrinsic::Cbrt => $x.cbrt(),
                Intrinsic::Round => $x.round_ties_even(),
                Intrinsic::Trunc => $x.trunc(),
                Intrinsic::Floor => $x.floor(),
                Intrinsic::Ceil => $x.ceil(),
                Intrinsic::Pow => $x.powf($y),
                Intrinsic::Hypot => $x.hypot($y),
                Intrinsic::Atan2 => $x.atan2($y),
                Intrinsic::Asinh => $x.c_asinh(),
                Intrinsic::Acosh => $x.c_acosh(),
                Intrinsic::Atanh => $x.c_atanh(),
                Intrinsic::Erf => $x.c_erf(),
                Intrinsic::CopySign => $x.copysign($y),
                Intrinsic::Fma => $x.mul_add($y, $z),
            })
        };
    }
    assert_eq!(arguments.len(), function.arity(), "`{}`", function.name());
    if let [base, exponent] = arguments
        && function.takes_integers()
        && let (Some(base), Some(exponent)) = (base.to_integer(), exponent.to_integer())
    {
        return power(arguments[0].element(), base, exponent);
    }
    let at = |n: usize| arguments[n.min(arguments.len() - 1)];
    Ok(match (at(0), at(1), at(2)) {
        (Scalar::F32(x), Scalar::F32(y), Scalar::F32(z)) => float!(F32, x, y, z),
        (Scalar::F64(x), Scalar::F64(y), Scalar::F64(z)) => float!(F64, x, y, z),
        (Scalar::C64(_) | Scalar::C128(_), ..) => complex(Operation::Call(function), arguments),
        _ => panic!("`{}` of {arguments:?}", function.name()),
    })
}

/// `base` to the power `exponent`, by squaring: wrapped, as multiplying one by one is.
fn power(element: ElementType, base: i128, exponent: i128) -> Result<Scalar, Failure> {
    let mut left = u64::try_from(exponent).map_err(|_| Failure::NegativePower)?;
    let (mut result, mut square) = (1i64, base as i64);
    while left > 0 {
        if left % 2 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        left /= 2;
    }
    Ok(Scalar::from_i64(element, result))
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
        let large = binary(BinaryOp::FloorDiv, Scalar::U64(u64::MAX), Scalar::U64(2));
        assert_eq!(large, Ok(Scalar::U64(u64::MAX / 2)));
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
