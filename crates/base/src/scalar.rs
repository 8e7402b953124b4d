//! [`Scalar`]: one value of an [`ElementType`], and conversion between types.

use std::fmt;

use half::{bf16, f16};
use num_complex::Complex;

use crate::types::{ElementType, Kind};

macro_rules! scalars {
    ($($kind:ident($ty:ty), $doc:literal;)*) => {
        /// One value of an [`ElementType`].
        ///
        /// `==` is the equality of the bits for floats, so that `NaN` equals itself
        /// and `-0.0` differs from `0.0`: scalars are keys and constants of programs.
        #[derive(Clone, Copy, Debug)]
        pub enum Scalar {
            $(#[doc = $doc] $kind($ty),)*
        }

        impl Scalar {
            /// The type of this value.
            pub fn element(self) -> ElementType {
                match self {
                    $(Self::$kind(_) => ElementType::$kind,)*
                }
            }
        }
    };
}

scalars! {
    Bool(bool), "A truth value.";
    I8(i8), "An 8-bit integer.";
    I16(i16), "A 16-bit integer.";
    I32(i32), "A 32-bit integer.";
    I64(i64), "A 64-bit integer.";
    U8(u8), "An 8-bit integer without sign.";
    U16(u16), "A 16-bit integer without sign.";
    U32(u32), "A 32-bit integer without sign.";
    U64(u64), "A 64-bit integer without sign.";
    F16(f16), "A half-precision number.";
    Bf16(bf16), "A brain floating-point number.";
    F32(f32), "A single-precision number.";
    F64(f64), "A double-precision number.";
    C64(Complex<f32>), "A complex number of single precision.";
    C128(Complex<f64>), "A complex number of double precision.";
}

impl Scalar {
    /// `value` as type `ty`: wrapped for integers, rounded for floats, and
    /// whether it is not zero for `bool`.
    pub fn from_i64(ty: ElementType, value: i64) -> Self {
        Self::from_integer(ty, value.into())
    }

    /// As [`Scalar::from_i64`], for all that 64 bits hold with or without sign.
    fn from_integer(ty: ElementType, value: i128) -> Self {
        match ty {
            ElementType::Bool => Self::Bool(value != 0),
            ElementType::I8 => Self::I8(value as i8),
            ElementType::I16 => Self::I16(value as i16),
            ElementType::I32 => Self::I32(value as i32),
            ElementType::I64 => Self::I64(value as i64),
            ElementType::U8 => Self::U8(value as u8),
            ElementType::U16 => Self::U16(value as u16),
            ElementType::U32 => Self::U32(value as u32),
            ElementType::U64 => Self::U64(value as u64),
            // Half-width floats are computed with in f32, here as in kernels.
            ElementType::F16 => Self::F16(f16::from_f32(value as f32)),
            ElementType::Bf16 => Self::Bf16(bf16::from_f32(value as f32)),
            ElementType::F32 => Self::F32(value as f32),
            ElementType::F64 => Self::F64(value as f64),
            ElementType::C64 => Self::C64(Complex::from(value as f32)),
            ElementType::C128 => Self::C128(Complex::from(value as f64)),
        }
    }

    /// This value, if it is a truth value or an integer.
    pub fn to_integer(self) -> Option<i128> {
        match self {
            Self::Bool(v) => Some(v.into()),
            Self::I8(v) => Some(v.into()),
            Self::I16(v) => Some(v.into()),
            Self::I32(v) => Some(v.into()),
            Self::I64(v) => Some(v.into()),
            Self::U8(v) => Some(v.into()),
            Self::U16(v) => Some(v.into()),
            Self::U32(v) => Some(v.into()),
            Self::U64(v) => Some(v.into()),
            _ => None,
        }
    }

    /// This value as a double; exact except for large 64-bit integers and for
    /// complex numbers, of which it is the real part.
    pub fn to_f64(self) -> f64 {
        self.to_c128().re
    }

    /// As [`Scalar::cast`], but `None` too where the type would hold another number:
    /// an integer has no fraction and no infinity, and no finite number becomes an
    /// infinity. Floats are rounded otherwise.
    ///
    /// ```
    /// use sparsec_base::{ElementType, Scalar};
    /// assert_eq!(Scalar::F64(2.0).as_type(ElementType::I8), Some(Scalar::I8(2)));
    /// assert_eq!(Scalar::F64(1.5).as_type(ElementType::I8), None);
    /// assert_eq!(Scalar::I64(300).as_type(ElementType::U8), None);
    /// assert_eq!(Scalar::F64(1e300).as_type(ElementType::F32), None);
    /// ```
    pub fn as_type(self, ty: ElementType) -> Option<Self> {
        let cast = self.cast(ty)?;
        let is_finite = |value: Self| {
            let value = value.to_c128();
            value.re.is_finite() && value.im.is_finite()
        };
        if is_finite(self) && !is_finite(cast) {
            return None;
        }
        let is_same = || match (self.to_integer(), cast.to_integer()) {
            (Some(before), Some(after)) => before == after,
            _ => self.to_c128() == cast.to_c128(),
        };
        (ty.is_float() || ty.is_complex() || is_same()).then_some(cast)
    }

    /// This value as a complex number of double precision; exact except for
    /// large 64-bit integers.
    pub fn to_c128(self) -> Complex<f64> {
        let real = match self {
            Self::F16(v) => v.to_f64(),
            Self::Bf16(v) => v.to_f64(),
            Self::F32(v) => v.into(),
            Self::F64(v) => v,
            Self::C64(v) => return Complex::new(v.re.into(), v.im.into()),
            Self::C128(v) => return v,
            integer => integer.to_integer().unwrap_or_default() as f64,
        };
        real.into()
    }

    /// This value converted to `ty`, or `None` where the type has no value near
    /// it: a float out of an integer's range or `NaN`, and every complex number
    /// for a real type. Float to integer truncates toward zero, integer to
    /// integer wraps, and anything but zero is `true`.
    ///
    /// ```
    /// use sparsec_base::{ElementType, Scalar};
    /// assert_eq!(Scalar::F64(-1.9).cast(ElementType::I8), Some(Scalar::I8(-1)));
    /// assert_eq!(Scalar::I32(-1).cast(ElementType::U64), Some(Scalar::U64(u64::MAX)));
    /// assert_eq!(Scalar::F64(256.0).cast(ElementType::U8), None);
    /// ```
    pub fn cast(self, ty: ElementType) -> Option<Self> {
        if self.element() == ty {
            return Some(self);
        }
        if ty == ElementType::Bool {
            return Some(Self::Bool(!self.is_zero()));
        }
        if let Some(integer) = self.to_integer() {
            return Some(Self::from_integer(ty, integer));
        }
        let value = self.to_c128();
        if self.element().is_complex() && !ty.is_complex() {
            return None;
        }
        match ty.kind() {
            // 2^n is an exact double, so these comparisons are exact too.
            Kind::Signed => {
                let limit = 2f64.powi(8 * ty.size() as i32 - 1);
                let whole = value.re.trunc();
                (whole >= -limit && whole < limit).then(|| Self::from_integer(ty, whole as i128))
            }
            Kind::Unsigned => {
                let limit = 2f64.powi(8 * ty.size() as i32);
                let whole = value.re.trunc();
                (whole >= 0.0 && whole < limit).then(|| Self::from_integer(ty, whole as i128))
            }
            _ => Some(match ty {
                ElementType::F16 => Self::F16(f16::from_f32(rounded_to_odd(value.re))),
                ElementType::Bf16 => Self::Bf16(bf16::from_f32(rounded_to_odd(value.re))),
                ElementType::F32 => Self::F32(value.re as f32),
                ElementType::C64 => Self::C64(Complex::new(value.re as f32, value.im as f32)),
                ElementType::C128 => Self::C128(value),
                _ => Self::F64(value.re),
            }),
        }
    }

    /// Whether this value is zero, of either sign, or `false`.
    pub fn is_zero(self) -> bool {
        match self.to_integer() {
            Some(integer) => integer == 0,
            None => {
                let value = self.to_c128();
                value.re == 0.0 && value.im == 0.0
            }
        }
    }

    fn bits(self) -> u128 {
        let pair = |re: u64, im: u64| u128::from(im) << 64 | u128::from(re);
        match self {
            Self::F16(v) => v.to_bits().into(),
            Self::Bf16(v) => v.to_bits().into(),
            Self::F32(v) => v.to_bits().into(),
            Self::F64(v) => v.to_bits().into(),
            Self::C64(v) => pair(v.re.to_bits().into(), v.im.to_bits().into()),
            Self::C128(v) => pair(v.re.to_bits(), v.im.to_bits()),
            integer => integer.to_integer().unwrap_or_default() as u128,
        }
    }
}

/// `value` in single precision, rounded such that rounding it once more, to a
/// half, gives what rounding `value` at once would: where it lies between two
/// singles, the one whose last bit is 1, which no half ends with.
fn rounded_to_odd(value: f64) -> f32 {
    let near = value as f32;
    let bits = near.to_bits();
    if f64::from(near) == value || value.is_nan() || bits & 1 == 1 {
        return near;
    }
    let below = f64::from(near).abs() < value.abs();
    f32::from_bits(if below { bits + 1 } else { bits - 1 })
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        self.element() == other.element() && self.bits() == other.bits()
    }
}

impl Eq for Scalar {}

impl std::hash::Hash for Scalar {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.element().hash(state);
        self.bits().hash(state);
    }
}

/// The shortest text that reads back as the same value; floats always show a
/// point, an exponent, `inf` or `nan`, and complex numbers both parts: `(1.0-2.5j)`.
impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(v) => write!(f, "{v}"),
            Self::F16(v) => half(f, v.to_f64(), |near| f16::from_f64(near) == *v),
            Self::Bf16(v) => half(f, v.to_f64(), |near| bf16::from_f64(near) == *v),
            Self::F32(v) => float(f, v.is_nan(), v),
            Self::F64(v) => float(f, v.is_nan(), v),
            Self::C64(v) => complex(f, Self::F32(v.re), Self::F32(v.im)),
            Self::C128(v) => complex(f, Self::F64(v.re), Self::F64(v.im)),
            integer => write!(f, "{}", integer.to_integer().unwrap_or_default()),
        }
    }
}

fn float(f: &mut fmt::Formatter<'_>, is_nan: bool, value: &dyn fmt::Debug) -> fmt::Result {
    if is_nan {
        f.write_str("nan")
    } else {
        write!(f, "{value:?}")
    }
}

/// The fewest digits that read back; five tell all half-precision numbers apart.
fn half(f: &mut fmt::Formatter<'_>, value: f64, same: impl Fn(f64) -> bool) -> fmt::Result {
    let near = (0..4)
        .filter_map(|digits| format!("{value:.digits$e}").parse().ok())
        .find(|&near| same(near))
        .unwrap_or(value);
    float(f, near.is_nan(), &near)
}

fn complex(f: &mut fmt::Formatter<'_>, re: Scalar, im: Scalar) -> fmt::Result {
    let im = im.to_string();
    let plus = if im.starts_with('-') { "" } else { "+" };
    write!(f, "({re}{plus}{im}j)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn casts_wrap_round_or_refuse() {
        let cast = |value: Scalar, ty| value.cast(ty);
        assert_eq!(
            cast(Scalar::I64(300), ElementType::U8),
            Some(Scalar::U8(44))
        );
        assert_eq!(
            cast(Scalar::U64(u64::MAX), ElementType::I64),
            Some(Scalar::I64(-1))
        );
        assert_eq!(
            cast(Scalar::U64(u64::MAX), ElementType::F64),
            Some(Scalar::F64(18_446_744_073_709_551_616.0))
        );
        assert_eq!(
            cast(Scalar::F64(-0.9), ElementType::U8),
            Some(Scalar::U8(0))
        );
        assert_eq!(cast(Scalar::F64(-1.0), ElementType::U8), None);
        assert_eq!(cast(Scalar::F64(2f64.powi(64)), ElementType::U64), None);
        assert_eq!(cast(Scalar::F32(f32::NAN), ElementType::I64), None);
        assert_eq!(
            cast(Scalar::F64(1.0 / 3.0), ElementType::F16),
            Some(Scalar::F16(f16::from_f64(1.0 / 3.0)))
        );
    }

    #[test]
    fn halves_are_rounded_once() {
        let half = |value: f64| Scalar::F64(value).cast(ElementType::F16);
        let bits = |bits: u16| Some(Scalar::F16(f16::from_bits(bits)));
        // A little beside the middle of 1 and the next half, 1 + 2^-10: in
        // single precision all three are the middle itself.
        let middle = 1.0 + 2f64.powi(-11);
        let little = 2f64.powi(-40);
        assert_eq!(half(middle - little), bits(0x3c00));
        assert_eq!(half(middle), bits(0x3c00));
        assert_eq!(half(middle + little), bits(0x3c01));
        assert_eq!(half(-middle - little), bits(0xbc01));
        assert_eq!(half(65520.0 - 2f64.powi(-30)), bits(0x7bff));
        assert_eq!(half(1e300), bits(0x7c00));
        assert_eq!(half(2f64.powi(-25) + 2f64.powi(-60)), bits(1));
        let brain = Scalar::F64(1.0 + 2f64.powi(-8) + little).cast(ElementType::Bf16);
        assert_eq!(brain, Some(Scalar::Bf16(bf16::from_bits(0x3f81))));
    }

    #[test]
    fn no_complex_number_becomes_a_real_one() {
        let i = Scalar::C128(Complex::new(0.0, 1.0));
        assert_eq!(i.cast(ElementType::F64), None);
        assert_eq!(i.cast(ElementType::Bool), Some(Scalar::Bool(true)));
        assert_eq!(
            i.cast(ElementType::C64),
            Some(Scalar::C64(Complex::new(0.0, 1.0)))
        );
        assert!(!i.is_zero());
    }

    #[test]
    fn every_type_keeps_zero_and_one() {
        for ty in ElementType::ALL {
            for other in ElementType::ALL {
                for value in [ty.zero(), ty.one()] {
                    let there = value.cast(other);
                    let real = !ty.is_complex() || other.is_complex() || other == ElementType::Bool;
                    assert_eq!(there.is_some(), real, "{ty} as {other}");
                    if let Some(there) = there {
                        assert_eq!(there.element(), other);
                        assert_eq!(there.to_f64(), value.to_f64());
                    }
                }
            }
        }
    }

    #[test]
    fn half_precision_texts_read_back() {
        for bits in 0..=u16::MAX {
            let text = |value: Scalar| value.to_string().parse::<f64>().expect("a number");
            let (half, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
            if !half.is_nan() {
                assert_eq!(f16::from_f64(text(Scalar::F16(half))).to_bits(), bits);
            }
            if !brain.is_nan() {
                assert_eq!(bf16::from_f64(text(Scalar::Bf16(brain))).to_bits(), bits);
            }
        }
    }

    #[test]
    fn texts_show_the_type_of_number() {
        assert_eq!(Scalar::F16(f16::from_f32(0.1)).to_string(), "0.1");
        assert_eq!(
            Scalar::C64(Complex::new(1.0, -2.5)).to_string(),
            "(1.0-2.5j)"
        );
        assert_eq!(
            Scalar::C128(Complex::new(0.0, f64::NAN)).to_string(),
            "(0.0+nanj)"
        );
        assert_eq!(Scalar::U64(u64::MAX).to_string(), "18446744073709551615");
        assert_eq!(Scalar::F32(f32::NAN).to_string(), "nan");
    }
}
