//! Tensors for the crate `serde`.
//!
//! ```json
//! {
//!   "format": "(i, j) -> (i : dense, j : compressed)",
//!   "extents": [2, 3],
//!   "fill": { "f64": 0.0 },
//!   "arrays": {
//!     "1.pos": { "i32": [0, 1, 2] },
//!     "1.crd": { "i32": [2, 0] },
//!     "vals": { "f64": [1.5, "inf"] }
//!   }
//! }
//! ```
//!
//! Each array says its type, so that one pass reads it. Complex numbers are
//! pairs. Formats of text have no infinities and NaNs, which are strings there,
//! and half-precision numbers are the decimal numbers that they are; in binary
//! formats every number keeps its bits. What is read is checked as any tensor.

use std::collections::BTreeMap;
use std::fmt;

use ::serde::de::{self, Deserialize, Deserializer, Visitor};
use ::serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};
use ::serde::{Deserialize as FromSerde, Serialize as IntoSerde};
use sparsec_base::{Bool8, Complex, Scalar, bf16, f16};
use sparsec_format::{ArraySpec, Format};

use crate::array::{Array, Element};
use crate::tensor::Tensor;

/// One number as it is written.
struct Wire<T>(T);

/// A slice of numbers as it is written.
struct Numbers<'a, T>(&'a [T]);

impl<T: Copy> Serialize for Numbers<'_, T>
where
    Wire<T>: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|&number| Wire(number)))
    }
}

/// Numbers that serde has itself.
macro_rules! plain {
    ($($ty:ty)*) => {$(
        impl Serialize for Wire<$ty> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.0.serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for Wire<$ty> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <$ty>::deserialize(deserializer).map(Self)
            }
        }
    )*};
}
plain!(i8 i16 i32 i64 u8 u16 u32 u64);

impl Serialize for Wire<Bool8> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(self.0.get())
    }
}

impl<'de> Deserialize<'de> for Wire<Bool8> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        bool::deserialize(deserializer).map(|value| Self(value.into()))
    }
}

/// Floating-point numbers: as they are in binary formats; in text as numbers, or
/// as strings where they are none.
macro_rules! float {
    ($($ty:ty: $narrow:expr, $bits:ty, $to_bits:expr, $from_bits:expr;)*) => {$(
        impl Serialize for Wire<$ty> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let to_bits: fn($ty) -> $bits = $to_bits;
                if !serializer.is_human_readable() {
                    return to_bits(self.0).serialize(serializer);
                }
                let value = f64::from(self.0);
                if value.is_finite() {
                    // The shortest text of the narrow type, not of its double.
                    match size_of::<$ty>() {
                        8 => serializer.serialize_f64(value),
                        _ => serializer.serialize_f32(value as f32),
                    }
                } else {
                    serializer.serialize_str(match value {
                        value if value.is_nan() => "nan",
                        value if value > 0.0 => "inf",
                        _ => "-inf",
                    })
                }
            }
        }

        impl<'de> Deserialize<'de> for Wire<$ty> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let (narrow, from_bits): (fn(f64) -> $ty, fn($bits) -> $ty) = ($narrow, $from_bits);
                if deserializer.is_human_readable() {
                    deserializer.deserialize_any(Float).map(|value| Self(narrow(value)))
                } else {
                    <$bits>::deserialize(deserializer).map(|bits| Self(from_bits(bits)))
                }
            }
        }
    )*};
}
float! {
    f16: f16::from_f64, u16, f16::to_bits, f16::from_bits;
    bf16: bf16::from_f64, u16, bf16::to_bits, bf16::from_bits;
    f32: |value| value as f32, u32, f32::to_bits, f32::from_bits;
    f64: |value| value, u64, f64::to_bits, f64::from_bits;
}

/// Reads a number, or the name of one that text has no digits for.
struct Float;

impl Visitor<'_> for Float {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, \"inf\", \"-inf\" or \"nan\"")
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<f64, E> {
        Ok(value)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<f64, E> {
        Ok(value as f64)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<f64, E> {
        Ok(value as f64)
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<f64, E> {
        match value {
            "inf" => Ok(f64::INFINITY),
            "-inf" => Ok(f64::NEG_INFINITY),
            "nan" => Ok(f64::NAN),
            _ => Err(E::invalid_value(de::Unexpected::Str(value), &self)),
        }
    }
}

macro_rules! complex {
    ($($ty:ty)*) => {$(
        impl Serialize for Wire<Complex<$ty>> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                (Wire(self.0.re), Wire(self.0.im)).serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for Wire<Complex<$ty>> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let (re, im) = <(Wire<$ty>, Wire<$ty>)>::deserialize(deserializer)?;
                Ok(Self(Complex::new(re.0, im.0)))
            }
        }
    )*};
}
complex!(f32 f64);

/// The types that say what an array or a fill is of.
macro_rules! typed {
    ($($kind:ident: $ty:ty,)*) => {
        #[derive(IntoSerde)]
        #[serde(rename_all = "lowercase")]
        enum TypedNumbers<'a> {
            $($kind(Numbers<'a, $ty>),)*
        }

        #[derive(FromSerde)]
        #[serde(rename_all = "lowercase")]
        enum TypedVec {
            $($kind(Vec<Wire<$ty>>),)*
        }

        #[derive(IntoSerde, FromSerde)]
        #[serde(rename_all = "lowercase")]
        enum TypedNumber {
            $($kind(Wire<$ty>),)*
        }

        impl<'a> From<&'a Array> for TypedNumbers<'a> {
            fn from(array: &'a Array) -> Self {
                use sparsec_base::ElementType;
                match array.element() {
                    $(ElementType::$kind => Self::$kind(Numbers(array.slice())),)*
                }
            }
        }

        impl From<TypedVec> for Array {
            fn from(numbers: TypedVec) -> Self {
                match numbers {
                    $(TypedVec::$kind(numbers) => {
                        let numbers = numbers.into_iter().map(|number| number.0);
                        Self::from_vec(numbers.collect::<Vec<$ty>>())
                    })*
                }
            }
        }

        impl From<Scalar> for TypedNumber {
            fn from(value: Scalar) -> Self {
                match value {
                    $(Scalar::$kind(value) => Self::$kind(Wire(value.into())),)*
                }
            }
        }

        impl From<TypedNumber> for Scalar {
            fn from(number: TypedNumber) -> Self {
                match number {
                    $(TypedNumber::$kind(number) => number.0.scalar(),)*
                }
            }
        }
    };
}
typed! {
    Bool: Bool8,
    I8: i8, I16: i16, I32: i32, I64: i64,
    U8: u8, U16: u16, U32: u32, U64: u64,
    F16: f16, Bf16: bf16, F32: f32, F64: f64,
    C64: Complex<f32>, C128: Complex<f64>,
}

/// `1.pos`, `1.crd` or `vals`.
fn name(spec: &ArraySpec) -> String {
    spec.name("").trim_start_matches('.').to_owned()
}

/// The arrays of a tensor under their names.
struct NamedArrays<'a>(&'a Tensor);

impl Serialize for NamedArrays<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let arrays = self.0.arrays();
        let mut map = serializer.serialize_map(Some(arrays.len()))?;
        for (spec, array) in self.0.format().arrays().iter().zip(arrays) {
            map.serialize_entry(&name(spec), &TypedNumbers::from(array))?;
        }
        map.end()
    }
}

/// Format, extents, fill, and arrays by name, each with its type:
/// `"arrays": {"1.pos": {"i32": [0, 1, 2]}, …, "vals": {"f64": [1.5, "inf"]}}`.
impl Serialize for Tensor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut state = serializer.serialize_struct("Tensor", 4)?;
        state.serialize_field("format", self.format())?;
        state.serialize_field("extents", self.extents())?;
        state.serialize_field("fill", &TypedNumber::from(self.fill()))?;
        state.serialize_field("arrays", &NamedArrays(self))?;
        state.end()
    }
}

#[derive(FromSerde)]
#[serde(rename = "Tensor", deny_unknown_fields)]
struct Parts {
    format: Format,
    extents: Vec<u64>,
    fill: TypedNumber,
    arrays: BTreeMap<String, TypedVec>,
}

/// Checked as [`Tensor::new`] checks.
impl<'de> Deserialize<'de> for Tensor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut parts = Parts::deserialize(deserializer)?;
        let mut arrays = Vec::new();
        for spec in parts.format.arrays() {
            let name = name(&spec);
            let numbers = parts.arrays.remove(&name);
            let numbers = numbers
                .ok_or_else(|| de::Error::custom(format!("the array `{name}` is missing")))?;
            arrays.push(Array::from(numbers));
        }
        if let Some(name) = parts.arrays.into_keys().next() {
            return Err(de::Error::custom(format!(
                "`{}` has no array `{name}`",
                parts.format
            )));
        }
        let fill = Scalar::from(parts.fill);
        Self::new(parts.format, parts.extents, fill.element(), fill, arrays)
            .map_err(de::Error::custom)
    }
}
