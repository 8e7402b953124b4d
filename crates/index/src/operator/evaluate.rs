//! What operators compute on values.
//!
//! | corner                        | gives                                     |
//! |-------------------------------|-------------------------------------------|
//! | integer `+ - *`, `-a`, `abs`  | the low bits of the exact result          |
//! | integer `a // b`, `a % b`     | floors; nothing where `b` is 0            |
//! | float `a // b`, `a % b`       | those of NumPy: floors, the rest is exact |
//! | float `min max relu sign`     | `NaN` if an argument is `NaN`             |
//! | float `sign` of a zero        | that zero                                 |

use sparsec_base::Scalar;

use super::Operator;

impl Operator {
    /// The result of the operator on these values; `None` where a kernel
    /// leaves with an error, as for integer division by zero.
    ///
    /// # Panics
    /// If the number or the types of the arguments are not what the operator
    /// takes.
    pub fn evaluate(self, args: &[Scalar]) -> Option<Scalar> {
        match *args {
            [value] => Some(self.unary(value)),
            [left, right] => self.binary(left, right),
            [Scalar::Bool(condition), left, right] if self == Self::Select => {
                Some(if condition { left } else { right })
            }
            _ => panic!("`{}` of {args:?}", self.symbol()),
        }
    }

    /// The result on values that are not stored, such as fills and literals:
    /// that of [`evaluate`](Self::evaluate), but an unstored zero has no sign
    /// and an unstored `NaN` no payload, so that `-A(i)` has fill 0.
    pub fn evaluate_unstored(self, args: &[Scalar]) -> Option<Scalar> {
        let annihilated = (0..args.len()).find_map(|at| {
            let annihilator = self.annihilator(at, args[at].element())?;
            (args[at] == annihilator).then_some(annihilator)
        });
        match annihilated {
            Some(value) => Some(value),
            None => self.evaluate(args).map(plain),
        }
    }

    /// `value` reduced with itself, `n` times in all; `None` if the operator
    /// does not reduce. A float sum is rounded once.
    pub fn repeat(self, value: Scalar, n: u64) -> Option<Scalar> {
        let identity = self.identity(value.element())?;
        if n == 0 || value == identity {
            return Some(identity);
        }
        if n == 1 || self.is_idempotent(value.element()) {
            return Some(value);
        }
        // Integers wrap, so the low 64 bits of `n` are enough for a product.
        Some(match (self, value) {
            (Self::Add, Scalar::I32(v)) => Scalar::I32(v.wrapping_mul(n as i32)),
            (Self::Add, Scalar::I64(v)) => Scalar::I64(v.wrapping_mul(n as i64)),
            (Self::Add, Scalar::F32(v)) => Scalar::F32((f64::from(v) * n as f64) as f32),
            (Self::Add, Scalar::F64(v)) => Scalar::F64(v * n as f64),
            (_, Scalar::F32(v)) => Scalar::F32(f64::from(v).powf(n as f64) as f32),
            (_, Scalar::F64(v)) => Scalar::F64(v.powf(n as f64)),
            _ => power(self, value, n),
        })
    }

    fn unary(self, value: Scalar) -> Scalar {
        match value {
            Scalar::Bool(v) if self == Self::Not => Scalar::Bool(!v),
            Scalar::I32(v) => Scalar::I32(match self {
                Self::Neg => v.wrapping_neg(),
                Self::Abs => v.wrapping_abs(),
                Self::Relu => v.max(0),
                Self::Sign => v.signum(),
                _ => self.refuse(&[value]),
            }),
            Scalar::I64(v) => Scalar::I64(match self {
                Self::Neg => v.wrapping_neg(),
                Self::Abs => v.wrapping_abs(),
                Self::Relu => v.max(0),
                Self::Sign => v.signum(),
                _ => self.refuse(&[value]),
            }),
            Scalar::F32(v) => Scalar::F32(match self {
                Self::Neg => -v,
                Self::Abs => v.abs(),
                Self::Sqrt => v.sqrt(),
                Self::Exp => v.exp(),
                Self::Log => v.ln(),
                Self::Sin => v.sin(),
                Self::Cos => v.cos(),
                Self::Tanh => v.tanh(),
                Self::Floor => v.floor(),
                Self::Ceil => v.ceil(),
                Self::Relu if v.is_nan() || v > 0.0 => v,
                Self::Relu => 0.0,
                Self::Sign if v > 0.0 => 1.0,
                Self::Sign if v < 0.0 => -1.0,
                Self::Sign => v,
                _ => self.refuse(&[value]),
            }),
            Scalar::F64(v) => Scalar::F64(match self {
                Self::Neg => -v,
                Self::Abs => v.abs(),
                Self::Sqrt => v.sqrt(),
                Self::Exp => v.exp(),
                Self::Log => v.ln(),
                Self::Sin => v.sin(),
                Self::Cos => v.cos(),
                Self::Tanh => v.tanh(),
                Self::Floor => v.floor(),
                Self::Ceil => v.ceil(),
                Self::Relu if v.is_nan() || v > 0.0 => v,
                Self::Relu => 0.0,
                Self::Sign if v > 0.0 => 1.0,
                Self::Sign if v < 0.0 => -1.0,
                Self::Sign => v,
                _ => self.refuse(&[value]),
            }),
            _ => self.refuse(&[value]),
        }
    }

    fn binary(self, left: Scalar, right: Scalar) -> Option<Scalar> {
        match (left, right) {
            (Scalar::Bool(a), Scalar::Bool(b)) => Some(Scalar::Bool(match self {
                Self::Add | Self::Or | Self::Max => a || b,
                Self::Mul | Self::And | Self::Min => a && b,
                _ => self.compare(a, b),
            })),
            (Scalar::I32(a), Scalar::I32(b)) => Some(Scalar::I32(match self {
                Self::Add => a.wrapping_add(b),
                Self::Sub => a.wrapping_sub(b),
                Self::Mul => a.wrapping_mul(b),
                // Only the least number divided by -1 does not fit, and wraps.
                Self::FloorDiv => floor_div(a.into(), b.into())? as i32,
                Self::Mod => floor_mod(a.into(), b.into())? as i32,
                Self::Min => a.min(b),
                Self::Max => a.max(b),
                _ => return Some(Scalar::Bool(self.compare(a, b))),
            })),
            (Scalar::I64(a), Scalar::I64(b)) => Some(Scalar::I64(match self {
                Self::Add => a.wrapping_add(b),
                Self::Sub => a.wrapping_sub(b),
                Self::Mul => a.wrapping_mul(b),
                Self::FloorDiv => floor_div(a, b)?,
                Self::Mod => floor_mod(a, b)?,
                Self::Min => a.min(b),
                Self::Max => a.max(b),
                _ => return Some(Scalar::Bool(self.compare(a, b))),
            })),
            (Scalar::F32(a), Scalar::F32(b)) => Some(Scalar::F32(match self {
                Self::Add => a + b,
                Self::Sub => a - b,
                Self::Mul => a * b,
                Self::Div => a / b,
                Self::FloorDiv => divmod_f32(a, b).0,
                Self::Mod => divmod_f32(a, b).1,
                Self::Pow => a.powf(b),
                Self::Min if a.is_nan() || a < b => a,
                Self::Max if a.is_nan() || a > b => a,
                Self::Min | Self::Max => b,
                _ => return Some(Scalar::Bool(self.compare(a, b))),
            })),
            (Scalar::F64(a), Scalar::F64(b)) => Some(Scalar::F64(match self {
                Self::Add => a + b,
                Self::Sub => a - b,
                Self::Mul => a * b,
                Self::Div => a / b,
                Self::FloorDiv => divmod_f64(a, b).0,
                Self::Mod => divmod_f64(a, b).1,
                Self::Pow => a.powf(b),
                Self::Min if a.is_nan() || a < b => a,
                Self::Max if a.is_nan() || a > b => a,
                Self::Min | Self::Max => b,
                _ => return Some(Scalar::Bool(self.compare(a, b))),
            })),
            _ => self.refuse(&[left, right]),
        }
    }

    fn compare<T: PartialOrd + std::fmt::Debug>(self, a: T, b: T) -> bool {
        match self {
            Self::Eq => a == b,
            Self::Ne => a != b,
            Self::Lt => a < b,
            Self::Le => a <= b,
            Self::Gt => a > b,
            Self::Ge => a >= b,
            _ => panic!("`{}` of {a:?} and {b:?}", self.symbol()),
        }
    }

    fn refuse(self, args: &[Scalar]) -> ! {
        panic!("`{}` of {args:?}", self.symbol())
    }
}

fn floor_div(a: i64, b: i64) -> Option<i64> {
    if b == 0 {
        return None;
    }
    let inexact = a.wrapping_rem(b) != 0;
    Some(a.wrapping_div(b) - i64::from(inexact && (a < 0) != (b < 0)))
}

fn floor_mod(a: i64, b: i64) -> Option<i64> {
    if b == 0 {
        return None;
    }
    let rest = a.wrapping_rem(b);
    let wrong_sign = rest != 0 && (rest < 0) != (b < 0);
    Some(if wrong_sign { rest + b } else { rest })
}

macro_rules! divmod {
    ($name:ident, $ty:ty) => {
        /// The floored quotient and its remainder, as NumPy's `divmod`.
        fn $name(a: $ty, b: $ty) -> ($ty, $ty) {
            let truncated = a % b;
            if b == 0.0 {
                return (a / b, truncated);
            }
            let mut quotient = (a - truncated) / b;
            let mut rest = truncated;
            if rest == 0.0 {
                rest = rest.abs().copysign(b);
            } else if rest.is_sign_negative() != b.is_sign_negative() {
                rest += b;
                quotient -= 1.0;
            }
            if quotient == 0.0 {
                return (quotient.copysign(a / b), rest);
            }
            let near = quotient.floor() + f64::from(quotient - quotient.floor() > 0.5) as $ty;
            (near, rest)
        }
    };
}

divmod!(divmod_f32, f32);
divmod!(divmod_f64, f64);

/// Repeated squaring, for integer products.
fn power(op: Operator, value: Scalar, mut n: u64) -> Scalar {
    let combine = |a, b| op.evaluate(&[a, b]).expect("reductions do not fail");
    let mut result = value.element().one();
    let mut square = value;
    while n > 0 {
        if n % 2 == 1 {
            result = combine(result, square);
        }
        square = combine(square, square);
        n /= 2;
    }
    result
}

/// Zero without a sign, `NaN` without a payload.
fn plain(value: Scalar) -> Scalar {
    match value {
        Scalar::F32(v) if v.is_nan() => Scalar::F32(f32::NAN),
        Scalar::F64(v) if v.is_nan() => Scalar::F64(f64::NAN),
        // Adding zero changes only -0.
        Scalar::F32(v) => Scalar::F32(v + 0.0),
        Scalar::F64(v) => Scalar::F64(v + 0.0),
        _ => value,
    }
}
