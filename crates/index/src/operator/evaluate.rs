//! What operators compute on values.
//!
//! | corner                        | gives                                     |
//! |-------------------------------|-------------------------------------------|
//! | integer `+ - *`, `-a`, `abs`  | the low bits of the exact result          |
//! | integer `a // b`, `a % b`     | floors; nothing where `b` is 0            |
//! | integer `pow(a, b)`           | the low bits; nothing where `b` is negative |
//! | integer `shl(a, b)`, `shr(a, b)` | `b` is a natural number of as many bits as `a` |
//! | float `a // b`, `a % b`       | those of NumPy: floors, the rest is exact |
//! | float `min max relu sign`     | `NaN` if an argument is `NaN`             |
//! | float `sign` of a zero        | that zero                                 |
//! | `conj real imag` of a real    | itself, itself, 0                         |
//!
//! Complex numbers are computed with here by the formulas of a library, and in
//! kernels by our own: rounding of quotients and functions may differ, and the
//! one checks the other.

use sparsec_base::{Complex, Elementary, Scalar};

use super::Operator;

impl Operator {
    /// The result of the operator on these values; `None` where a kernel
    /// leaves with an error, as for integer division by zero.
    ///
    /// # Panics
    /// If the number or the types of the arguments are not what the operator
    /// takes.
    pub fn evaluate(&self, args: &[Scalar]) -> Option<Scalar> {
        if let Self::Defined(function) = self {
            return function.evaluate(args, true);
        }
        match *args {
            [_] if *self == Self::IsStored => Some(Scalar::Bool(true)),
            [value] => Some(self.unary(value)),
            [left, right] => self.binary(left, right),
            [Scalar::Bool(condition), left, right] if *self == Self::Select => {
                Some(if condition { left } else { right })
            }
            [Scalar::F32(a), Scalar::F32(b), Scalar::F32(c)] if *self == Self::Fma => {
                Some(Scalar::F32(a.mul_add(b, c)))
            }
            [Scalar::F64(a), Scalar::F64(b), Scalar::F64(c)] if *self == Self::Fma => {
                Some(Scalar::F64(a.mul_add(b, c)))
            }
            _ => self.refuse(args),
        }
    }

    /// The result on values that are not stored, such as fills and literals:
    /// that of [`evaluate`](Self::evaluate), but an unstored zero has no sign
    /// and an unstored `NaN` no payload, so that `-A(i)` has fill 0.
    pub fn evaluate_unstored(&self, args: &[Scalar]) -> Option<Scalar> {
        let fills: Vec<Option<Scalar>> = args.iter().copied().map(Some).collect();
        self.decisions(&fills)
            .first()
            .map(|decision| decision.value)
    }

    /// As [`evaluate_unstored`](Self::evaluate_unstored), where no argument alone
    /// decides.
    pub(super) fn evaluate_undecided(&self, args: &[Scalar]) -> Option<Scalar> {
        match (self, args) {
            (Self::Defined(function), _) => function.evaluate(args, false),
            // Computing with complex infinities would not leave them alone.
            (_, [kept, one]) if self.right_identity(one.element()) == Some(*one) => {
                Some(plain(*kept))
            }
            (_, [one, kept]) if self.left_identity(one.element()) == Some(*one) => {
                Some(plain(*kept))
            }
            _ => self.evaluate(args).map(plain),
        }
    }

    /// `value` reduced with itself, `n` times in all; `None` if the operator
    /// does not reduce. A float sum is rounded once.
    pub fn repeat(&self, value: Scalar, n: u128) -> Option<Scalar> {
        let element = value.element();
        let identity = self.identity(element)?;
        if n == 0 || value == identity {
            return Some(identity);
        }
        if let Self::Defined(_) = self {
            // Its identity need not be one beside values that it does not give.
            let once = self.evaluate(&[identity, value])?;
            return match self.is_idempotent(element) {
                true => Some(once),
                false => power(self, once, n),
            };
        }
        if *self == Self::Mul && element.is_complex() {
            // Of infinities, a product with 1 is not the same.
            return power(self, self.evaluate(&[identity, value])?, n);
        }
        if n == 1 || self.is_idempotent(element) {
            return Some(value);
        }
        Some(match (self, value) {
            (Self::Add, Scalar::F32(v)) => Scalar::F32((f64::from(v) * n as f64) as f32),
            (Self::Add, Scalar::F64(v)) => Scalar::F64(v * n as f64),
            (Self::Add, Scalar::C64(v)) => {
                let times = |part: f32| (f64::from(part) * n as f64) as f32;
                Scalar::C64(Complex::new(times(v.re), times(v.im)))
            }
            (Self::Add, Scalar::C128(v)) => Scalar::C128(v * n as f64),
            (Self::Mul, Scalar::F32(v)) => Scalar::F32(f64::from(v).powf(n as f64) as f32),
            (Self::Mul, Scalar::F64(v)) => Scalar::F64(v.powf(n as f64)),
            (Self::Add, _) => {
                // Integers wrap, so the low bits of `n` are enough for a product.
                let count = Scalar::from_i64(element, n as i64);
                Self::Mul.evaluate(&[value, count])?
            }
            _ => power(self, value, n)?,
        })
    }

    fn unary(&self, value: Scalar) -> Scalar {
        macro_rules! integer {
            ($kind:ident, $v:expr, $neg:expr, $abs:expr, $relu:expr, $sign:expr) => {
                Scalar::$kind(match self {
                    Self::Neg => $neg,
                    Self::Abs => $abs,
                    Self::Relu => $relu,
                    Self::Sign => $sign,
                    Self::Conj | Self::Real => $v,
                    Self::Imag => 0,
                    Self::PopCount => $v.count_ones() as _,
                    Self::LeadingZeros => $v.leading_zeros() as _,
                    Self::TrailingZeros => $v.trailing_zeros() as _,
                    _ => self.refuse(&[value]),
                })
            };
        }
        macro_rules! signed {
            ($kind:ident, $v:expr) => {
                integer!(
                    $kind,
                    $v,
                    $v.wrapping_neg(),
                    $v.wrapping_abs(),
                    $v.max(0),
                    $v.signum()
                )
            };
        }
        macro_rules! unsigned {
            ($kind:ident, $v:expr) => {
                integer!($kind, $v, $v.wrapping_neg(), $v, $v, $v.min(1))
            };
        }
        macro_rules! float {
            ($kind:ident, $v:expr) => {
                Scalar::$kind(match self {
                    Self::Neg => -$v,
                    Self::Abs => $v.abs(),
                    Self::Sqrt => $v.sqrt(),
                    Self::Exp => $v.exp(),
                    Self::Log => $v.ln(),
                    Self::Sin => $v.sin(),
                    Self::Cos => $v.cos(),
                    Self::Tanh => $v.tanh(),
                    Self::Tan => $v.tan(),
                    Self::Asin => $v.asin(),
                    Self::Acos => $v.acos(),
                    Self::Atan => $v.atan(),
                    Self::Sinh => $v.sinh(),
                    Self::Cosh => $v.cosh(),
                    Self::Exp2 => $v.exp2(),
                    Self::Expm1 => $v.exp_m1(),
                    Self::Log2 => $v.log2(),
                    Self::Log10 => $v.log10(),
                    Self::Log1p => $v.ln_1p(),
                    Self::Cbrt => $v.cbrt(),
                    Self::Asinh => $v.c_asinh(),
                    Self::Acosh => $v.c_acosh(),
                    Self::Atanh => $v.c_atanh(),
                    Self::Erf => $v.c_erf(),
                    Self::Round => $v.round_ties_even(),
                    Self::Trunc => $v.trunc(),
                    Self::Floor => $v.floor(),
                    Self::Ceil => $v.ceil(),
                    Self::Relu if $v.is_nan() || $v > 0.0 => $v,
                    Self::Relu => 0.0,
                    Self::Sign if $v > 0.0 => 1.0,
                    Self::Sign if $v < 0.0 => -1.0,
                    Self::Sign | Self::Conj | Self::Real => $v,
                    Self::Imag => 0.0,
                    Self::IsNan => return Scalar::Bool($v.is_nan()),
                    Self::IsInf => return Scalar::Bool($v.is_infinite()),
                    Self::IsFinite => return Scalar::Bool($v.is_finite()),
                    _ => self.refuse(&[value]),
                })
            };
        }
        macro_rules! complex {
            ($kind:ident, $part:ident, $v:expr) => {
                match self {
                    Self::Abs => Scalar::$part($v.norm()),
                    Self::Real => Scalar::$part($v.re),
                    Self::Imag => Scalar::$part($v.im),
                    Self::Neg => Scalar::$kind(-$v),
                    Self::Conj => Scalar::$kind($v.conj()),
                    Self::Sqrt => Scalar::$kind($v.sqrt()),
                    Self::Exp => Scalar::$kind($v.exp()),
                    Self::Log => Scalar::$kind($v.ln()),
                    _ => self.refuse(&[value]),
                }
            };
        }
        match value {
            Scalar::Bool(v) if *self == Self::Not => Scalar::Bool(!v),
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
            Scalar::C64(v) => complex!(C64, F32, v),
            Scalar::C128(v) => complex!(C128, F64, v),
            Scalar::Bool(_) | Scalar::F16(_) | Scalar::Bf16(_) => self.refuse(&[value]),
        }
    }

    fn binary(&self, left: Scalar, right: Scalar) -> Option<Scalar> {
        macro_rules! integer {
            ($kind:ident, $ty:ty, $a:expr, $b:expr) => {
                Scalar::$kind(match self {
                    Self::Add => $a.wrapping_add($b),
                    Self::Sub => $a.wrapping_sub($b),
                    Self::Mul => $a.wrapping_mul($b),
                    // Only the least number divided by -1 does not fit, and wraps.
                    Self::FloorDiv => floor_div($a.into(), $b.into())? as $ty,
                    Self::Mod => floor_mod($a.into(), $b.into())? as $ty,
                    Self::Pow => integer_power($a.into(), $b.into())? as $ty,
                    Self::BitAnd => $a & $b,
                    Self::BitOr => $a | $b,
                    Self::BitXor => $a ^ $b,
                    Self::ShiftLeft => $a.checked_shl(amount($b.into(), <$ty>::BITS)).unwrap_or(0),
                    Self::ShiftRight => match $a.checked_shr(amount($b.into(), <$ty>::BITS)) {
                        Some(moved) => moved,
                        // Copies of the sign alone.
                        None => ($a >> (<$ty>::BITS - 1)) >> 1,
                    },
                    Self::Min => $a.min($b),
                    Self::Max => $a.max($b),
                    _ => return Some(Scalar::Bool(self.compare($a, $b))),
                })
            };
        }
        macro_rules! float {
            ($kind:ident, $divmod:ident, $a:expr, $b:expr) => {
                Scalar::$kind(match self {
                    Self::Add => $a + $b,
                    Self::Sub => $a - $b,
                    Self::Mul => $a * $b,
                    Self::Div => $a / $b,
                    Self::FloorDiv => $divmod($a, $b).0,
                    Self::Mod => $divmod($a, $b).1,
                    Self::Pow => $a.powf($b),
                    Self::Hypot => $a.hypot($b),
                    Self::Atan2 => $a.atan2($b),
                    Self::CopySign => $a.copysign($b),
                    Self::Min if $a.is_nan() || $a < $b => $a,
                    Self::Max if $a.is_nan() || $a > $b => $a,
                    Self::Min | Self::Max => $b,
                    _ => return Some(Scalar::Bool(self.compare($a, $b))),
                })
            };
        }
        macro_rules! complex {
            ($kind:ident, $a:expr, $b:expr) => {
                Scalar::$kind(match self {
                    Self::Add => $a + $b,
                    Self::Sub => $a - $b,
                    Self::Mul => $a * $b,
                    // Smith's steps, as kernels take them.
                    Self::Div => {
                        let upright = $b.re.abs() < $b.im.abs();
                        let (large, small) = match upright {
                            true => ($b.im, $b.re),
                            false => ($b.re, $b.im),
                        };
                        let ratio = if small == 0.0 { 0.0 } else { small / large };
                        let over = large + small * ratio;
                        let (x, y) = match upright {
                            true => ($a.im, $a.re),
                            false => ($a.re, $a.im),
                        };
                        let (re, im) = (x + y * ratio, y - x * ratio);
                        Complex::new(re / over, if upright { -im } else { im } / over)
                    }
                    Self::Pow if $b.im == 0.0 && $b.re == 1.0 => $a,
                    Self::Pow => $a.powc($b),
                    Self::Eq => return Some(Scalar::Bool($a == $b)),
                    Self::Ne => return Some(Scalar::Bool($a != $b)),
                    _ => self.refuse(&[left, right]),
                })
            };
        }
        Some(match (left, right) {
            (Scalar::Bool(a), Scalar::Bool(b)) => Scalar::Bool(match self {
                Self::Add | Self::Or | Self::Max => a || b,
                Self::Mul | Self::And | Self::Min => a && b,
                _ => self.compare(a, b),
            }),
            (Scalar::I8(a), Scalar::I8(b)) => integer!(I8, i8, a, b),
            (Scalar::I16(a), Scalar::I16(b)) => integer!(I16, i16, a, b),
            (Scalar::I32(a), Scalar::I32(b)) => integer!(I32, i32, a, b),
            (Scalar::I64(a), Scalar::I64(b)) => integer!(I64, i64, a, b),
            (Scalar::U8(a), Scalar::U8(b)) => integer!(U8, u8, a, b),
            (Scalar::U16(a), Scalar::U16(b)) => integer!(U16, u16, a, b),
            (Scalar::U32(a), Scalar::U32(b)) => integer!(U32, u32, a, b),
            (Scalar::U64(a), Scalar::U64(b)) => integer!(U64, u64, a, b),
            (Scalar::F32(a), Scalar::F32(b)) => float!(F32, divmod_f32, a, b),
            (Scalar::F64(a), Scalar::F64(b)) => float!(F64, divmod_f64, a, b),
            (Scalar::C64(a), Scalar::C64(b)) => complex!(C64, a, b),
            (Scalar::C128(a), Scalar::C128(b)) => complex!(C128, a, b),
            _ => self.refuse(&[left, right]),
        })
    }

    fn compare<T: PartialOrd + std::fmt::Debug>(&self, a: T, b: T) -> bool {
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

    fn refuse(&self, args: &[Scalar]) -> ! {
        panic!("`{}` of {args:?}", self.symbol())
    }
}

/// In 128 bits, which hold every integer type with its sign.
fn floor_div(a: i128, b: i128) -> Option<i128> {
    (b != 0).then(|| a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0))
}

fn floor_mod(a: i128, b: i128) -> Option<i128> {
    floor_div(a, b).map(|quotient| a - quotient * b)
}

/// The amount of a shift, without a sign; `width` if it is that or more.
fn amount(b: i128, width: u32) -> u32 {
    match u32::try_from(b) {
        Ok(b) => b.min(width),
        Err(_) => width,
    }
}

/// The low bits of `a` to the power `b`, which is not negative.
fn integer_power(a: i128, b: i128) -> Option<i128> {
    let mut n = u64::try_from(b).ok()?;
    let (mut result, mut square) = (1i128, a);
    while n > 0 {
        if n % 2 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        n /= 2;
    }
    Some(result)
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

/// Repeated squaring; `n` is not 0.
fn power(op: &Operator, value: Scalar, mut n: u128) -> Option<Scalar> {
    let mut result: Option<Scalar> = None;
    let mut square = value;
    loop {
        if n % 2 == 1 {
            result = Some(match result {
                Some(result) => op.evaluate(&[result, square])?,
                None => square,
            });
        }
        n /= 2;
        if n == 0 {
            return result;
        }
        square = op.evaluate(&[square, square])?;
    }
}

/// Zero without a sign, `NaN` without a payload.
pub(super) fn plain(value: Scalar) -> Scalar {
    // Adding zero changes only -0.
    let single = |v: f32| if v.is_nan() { f32::NAN } else { v + 0.0 };
    let double = |v: f64| if v.is_nan() { f64::NAN } else { v + 0.0 };
    match value {
        Scalar::F32(v) => Scalar::F32(single(v)),
        Scalar::F64(v) => Scalar::F64(double(v)),
        Scalar::C64(v) => Scalar::C64(Complex::new(single(v.re), single(v.im))),
        Scalar::C128(v) => Scalar::C128(Complex::new(double(v.re), double(v.im))),
        _ => value,
    }
}
