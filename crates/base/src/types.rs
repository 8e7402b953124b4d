//! Element types, index widths and scalars: types as data.
//!
//! A program over `f32` and one over `i64` run through the same code of ours;
//! only the kernels differ. So a type is a value ([`ElementType`]) that plans,
//! prints and compares, not a generic parameter.

use std::fmt;

/// The type of a tensor's entries, and of every value in a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ElementType {
    /// A truth value, stored as one byte, 0 or 1.
    Bool,
    /// A signed integer of 32 bits; arithmetic wraps.
    I32,
    /// A signed integer of 64 bits; arithmetic wraps.
    I64,
    /// IEEE 754 single precision.
    F32,
    /// IEEE 754 double precision.
    F64,
}

impl ElementType {
    /// All element types, narrow before wide.
    pub const ALL: [Self; 5] = [Self::Bool, Self::I32, Self::I64, Self::F32, Self::F64];

    /// Bytes that one entry takes.
    pub fn size(self) -> usize {
        match self {
            Self::Bool => 1,
            Self::I32 | Self::F32 => 4,
            Self::I64 | Self::F64 => 8,
        }
    }

    /// The name in every text form: `bool i32 i64 f32 f64`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// The type with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ty| ty.name() == name)
    }

    /// Whether this is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// Whether this is an integer type (`bool` is none).
    pub fn is_integer(self) -> bool {
        matches!(self, Self::I32 | Self::I64)
    }

    /// The zero of this type; `false` for `bool`.
    pub fn zero(self) -> Scalar {
        Scalar::from_i64(self, 0)
    }

    /// The one of this type; `true` for `bool`.
    pub fn one(self) -> Scalar {
        Scalar::from_i64(self, 1)
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How wide the entries of a `pos` or `crd` array are. All are signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IndexWidth {
    /// 32 bits: values below 2^31.
    W32,
    /// 64 bits: values below 2^63.
    W64,
}

impl IndexWidth {
    /// The narrower width that holds every value up to `max`.
    pub fn holding(max: u64) -> Self {
        if max <= i32::MAX as u64 {
            Self::W32
        } else {
            Self::W64
        }
    }

    /// The width in bits.
    pub fn bits(self) -> u32 {
        match self {
            Self::W32 => 32,
            Self::W64 => 64,
        }
    }

    /// The largest value that this width holds.
    pub fn max(self) -> u64 {
        match self {
            Self::W32 => i32::MAX as u64,
            Self::W64 => i64::MAX as u64,
        }
    }

    /// The type of an array of this width.
    pub fn element(self) -> ElementType {
        match self {
            Self::W32 => ElementType::I32,
            Self::W64 => ElementType::I64,
        }
    }
}

/// One value of an [`ElementType`].
///
/// `==` is the equality of the bits for floats, so that `NaN` equals itself
/// and `-0.0` differs from `0.0`: scalars are keys and constants of programs.
#[derive(Clone, Copy, Debug)]
pub enum Scalar {
    /// A truth value.
    Bool(bool),
    /// A 32-bit integer.
    I32(i32),
    /// A 64-bit integer.
    I64(i64),
    /// A single-precision number.
    F32(f32),
    /// A double-precision number.
    F64(f64),
}

impl Scalar {
    /// The type of this value.
    pub fn element(self) -> ElementType {
        match self {
            Self::Bool(_) => ElementType::Bool,
            Self::I32(_) => ElementType::I32,
            Self::I64(_) => ElementType::I64,
            Self::F32(_) => ElementType::F32,
            Self::F64(_) => ElementType::F64,
        }
    }

    /// `value` as type `ty`: wrapped for integers, rounded for floats, and
    /// whether it is not zero for `bool`.
    pub fn from_i64(ty: ElementType, value: i64) -> Self {
        match ty {
            ElementType::Bool => Self::Bool(value != 0),
            ElementType::I32 => Self::I32(value as i32),
            ElementType::I64 => Self::I64(value),
            ElementType::F32 => Self::F32(value as f32),
            ElementType::F64 => Self::F64(value as f64),
        }
    }

    /// This value as a double; exact except for large 64-bit integers.
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Bool(v) => f64::from(u8::from(v)),
            Self::I32(v) => f64::from(v),
            Self::I64(v) => v as f64,
            Self::F32(v) => f64::from(v),
            Self::F64(v) => v,
        }
    }

    /// This value converted to `ty`, or `None` where a float has no integer
    /// of that type near it (out of range or `NaN`). Float to integer
    /// truncates toward zero; integer to integer wraps.
    pub fn cast(self, ty: ElementType) -> Option<Self> {
        let integer = match self {
            Self::Bool(v) => i64::from(v),
            Self::I32(v) => i64::from(v),
            Self::I64(v) => v,
            Self::F32(_) | Self::F64(_) => return cast_float(self, ty),
        };
        Some(Self::from_i64(ty, integer))
    }

    /// Whether this value is zero, of either sign, or `false`.
    pub fn is_zero(self) -> bool {
        self.to_f64() == 0.0
    }

    fn bits(self) -> u64 {
        match self {
            Self::Bool(v) => u64::from(v),
            Self::I32(v) => v as u32 as u64,
            Self::I64(v) => v as u64,
            Self::F32(v) => u64::from(v.to_bits()),
            Self::F64(v) => v.to_bits(),
        }
    }
}

fn cast_float(value: Scalar, ty: ElementType) -> Option<Scalar> {
    let v = value.to_f64();
    // 2^31 and 2^63 are exact doubles, so these comparisons are exact too.
    let fits = |limit: f64| v.trunc() >= -limit && v.trunc() < limit;
    match ty {
        ElementType::Bool => Some(Scalar::Bool(v != 0.0)),
        ElementType::I32 => fits(2_147_483_648.0).then_some(Scalar::I32(v as i32)),
        ElementType::I64 => fits(9_223_372_036_854_775_808.0).then_some(Scalar::I64(v as i64)),
        ElementType::F32 => Some(Scalar::F32(match value {
            Scalar::F32(v) => v,
            _ => v as f32,
        })),
        ElementType::F64 => Some(Scalar::F64(v)),
    }
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
/// point, an exponent, `inf` or `nan`.
impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(v) => write!(f, "{v}"),
            Self::I32(v) => write!(f, "{v}"),
            Self::I64(v) => write!(f, "{v}"),
            Self::F32(v) if v.is_nan() => f.write_str("nan"),
            Self::F64(v) if v.is_nan() => f.write_str("nan"),
            Self::F32(v) => write!(f, "{v:?}"),
            Self::F64(v) => write!(f, "{v:?}"),
        }
    }
}
