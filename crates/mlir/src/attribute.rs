//! Attributes: the constant properties of an operation.

use std::sync::Arc;

use sparsec_base::{bf16, f16};

use crate::affine::AffineMap;
use crate::encoding::Encoding;
use crate::types::{Float, Type};

/// One attribute.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Attribute {
    /// An attribute without a value: `hasInserts`.
    Unit,
    /// `true`
    Bool(bool),
    /// `3 : i32`. The default type is `i64`.
    Integer(i128, Type),
    /// `0.5 : f32`. The default type is `f64`.
    Float(Real, Type),
    /// `"text"`
    Text(String),
    /// `@main`, or a nested symbol `@outer::@main`.
    Symbol(Vec<String>),
    /// `f64`
    Type(Type),
    /// `affine_map<(d0) -> (d0)>`
    Map(AffineMap),
    /// `[…]`
    Array(Vec<Attribute>),
    /// `{…}`
    Dictionary(Dictionary),
    /// `dense<…> : tensor<…>`
    Dense(Arc<Dense>),
    /// `sparse<…, …> : tensor<…>`
    Sparse(Arc<Sparse>),
    /// `array<i64: 1, 2>`
    Numbers(Type, Vec<Number>),
    /// `#sparse_tensor.encoding<…>`
    Encoding(Arc<Encoding>),
    /// `strided<[1], offset: ?>` outside of a type.
    Strided(Vec<Option<i64>>, Option<i64>),
    /// `#arith.fastmath<fast>`: the name of a dialect's attribute, and the text between its
    /// brackets.
    Dialect(String, String),
    /// `#complex.number<:f64 1.0, 0.0>`: the complex type and the parts.
    Complex(Type, Real, Real),
    /// One of the words that the operation's definition lists.
    Word(&'static str),
}

/// Attributes by name, in the order of the text.
pub type Dictionary = Vec<(String, Attribute)>;

/// A floating-point number with all its bits.
#[derive(Clone, Copy, Debug)]
pub struct Real(pub f64);

impl PartialEq for Real {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Real {}

impl std::hash::Hash for Real {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

/// One number of a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Number {
    /// `true`
    Bool(bool),
    /// `3`
    Integer(i128),
    /// `0.5`
    Float(Real),
    /// `(0.5, 1.0)`
    Complex(Real, Real),
    /// `(1, 2)`, of a complex type of integers.
    IntegerPair(i128, i128),
}

/// The entries of a dense constant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dense {
    /// The type of the constant.
    pub ty: Type,
    /// All entries, the last mode fastest. A [splat](Self::is_splat) has one entry only.
    pub entries: Vec<Number>,
    /// Whether one entry stands for all entries of the shape.
    pub is_splat: bool,
}

/// A sparse constant. Entries that it does not list are zero.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sparse {
    /// The type of the constant.
    pub ty: Type,
    /// The coordinates of all entries, entry by entry.
    pub coords: Vec<u64>,
    /// The entries.
    pub entries: Vec<Number>,
}

/// `value` rounded to a type.
pub fn rounded(value: f64, ty: Float) -> Real {
    Real(match ty {
        Float::F64 => value,
        Float::F32 => f64::from(value as f32),
        Float::F16 => f16::from_f64(value).to_f64(),
        Float::Bf16 => bf16::from_f64(value).to_f64(),
    })
}

/// The number whose bits in this type are `bits`.
pub fn from_bits(bits: u64, ty: Float) -> Real {
    Real(match ty {
        Float::F64 => f64::from_bits(bits),
        Float::F32 => f64::from(f32::from_bits(bits as u32)),
        Float::F16 => f16::from_bits(bits as u16).to_f64(),
        Float::Bf16 => bf16::from_bits(bits as u16).to_f64(),
    })
}

impl Real {
    /// The shortest text that reads back as this number of a type, with a decimal point. Infinities
    /// and NaN are written as bits.
    pub fn text(self, ty: Float) -> String {
        let value = self.0;
        if !value.is_finite() {
            return match ty {
                Float::F64 => format!("0x{:016X}", value.to_bits()),
                Float::F32 => format!("0x{:08X}", (value as f32).to_bits()),
                Float::F16 => format!("0x{:04X}", f16::from_f64(value).to_bits()),
                Float::Bf16 => format!("0x{:04X}", bf16::from_f64(value).to_bits()),
            };
        }
        let shortest = match ty {
            Float::F64 => format!("{value:?}"),
            _ => format!("{:?}", value as f32),
        };
        match shortest.split_once('e') {
            Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
            _ => shortest,
        }
    }
}

impl Attribute {
    /// An integer of type `index`.
    pub fn index(value: u64) -> Self {
        Self::Integer(i128::from(value), Type::Index)
    }

    /// The integer, if this is one and it is not negative.
    pub fn natural(&self) -> Option<u64> {
        match self {
            Self::Integer(value, _) => u64::try_from(*value).ok(),
            _ => None,
        }
    }

    /// The integers of a list of any kind: `[1, 2]`, `array<i64: 1, 2>`, `dense<[1, 2]>`.
    pub fn integers(&self) -> Option<Vec<i128>> {
        let number = |number: &Number| match number {
            Number::Integer(value) => Some(*value),
            _ => None,
        };
        match self {
            Self::Array(list) => {
                let value = |entry: &Self| match entry {
                    Self::Integer(value, _) => Some(*value),
                    _ => None,
                };
                list.iter().map(value).collect()
            }
            Self::Numbers(_, numbers) => numbers.iter().map(number).collect(),
            Self::Dense(dense) if dense.is_splat => {
                let n = dense.ty.shape()?.first().copied().flatten()?;
                let value = number(dense.entries.first()?)?;
                // No list of extents or segments is longer.
                (n <= 1 << 10).then(|| vec![value; n as usize])
            }
            Self::Dense(dense) => dense.entries.iter().map(number).collect(),
            _ => None,
        }
    }
}
