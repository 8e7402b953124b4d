//! The words of types and constants.

use sparsec_base::{ElementType, Kind, Scalar};

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Type {
    /// An `i64` as an `index`.
    Index,
    /// A number.
    Number(ElementType),
    /// An array of any length.
    Array(ElementType),
    /// An array of a constant length.
    Fixed(ElementType, i64),
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Index => f.write_str("index"),
            Self::Number(ty) => f.write_str(word(*ty)),
            Self::Array(ty) => write!(f, "memref<?x{}>", word(*ty)),
            Self::Fixed(ty, len) => write!(f, "memref<{len}x{}>", word(*ty)),
        }
    }
}

impl Type {
    /// The type of an `i64`: an `index`, or 64 bits.
    pub(crate) fn integer(is_index: bool) -> Self {
        match is_index {
            true => Self::Index,
            false => Self::Number(ElementType::I64),
        }
    }
}

/// A type of numbers. Integers of MLIR have no sign; operations do.
pub(crate) fn word(ty: ElementType) -> &'static str {
    match ty {
        ElementType::Bool => "i1",
        ElementType::I8 | ElementType::U8 => "i8",
        ElementType::I16 | ElementType::U16 => "i16",
        ElementType::I32 | ElementType::U32 => "i32",
        ElementType::I64 | ElementType::U64 => "i64",
        ElementType::F16 => "f16",
        ElementType::Bf16 => "bf16",
        ElementType::F32 => "f32",
        ElementType::F64 => "f64",
        ElementType::C64 => "complex<f32>",
        ElementType::C128 => "complex<f64>",
    }
}

/// Whether operations on integers of this type are those without a sign.
pub(crate) fn is_unsigned(ty: ElementType) -> bool {
    matches!(ty.kind(), Kind::Unsigned | Kind::Bool)
}

/// The attribute of a constant.
pub(crate) fn constant(value: Scalar) -> String {
    match value {
        Scalar::Bool(value) => value.to_string(),
        Scalar::F16(_) | Scalar::Bf16(_) | Scalar::F32(_) | Scalar::F64(_) => float(value),
        Scalar::C64(v) => pair(Scalar::F32(v.re), Scalar::F32(v.im)),
        Scalar::C128(v) => pair(Scalar::F64(v.re), Scalar::F64(v.im)),
        integer => integer.to_string(),
    }
}

fn pair(re: Scalar, im: Scalar) -> String {
    format!(
        "[{} : {}, {} : {}]",
        float(re),
        word(re.element()),
        float(im),
        word(im.element())
    )
}

/// A float such that MLIR reads this value: the digits of the double that it is, or, since there
/// are no words for infinities and NaN, its bits.
fn float(value: Scalar) -> String {
    let double = value.to_f64();
    if !double.is_finite() {
        return match value {
            Scalar::F32(v) => format!("0x{:08X}", v.to_bits()),
            Scalar::F64(v) => format!("0x{:016X}", v.to_bits()),
            half => format!("0x{:04X}", half_bits(half.element(), double)),
        };
    }
    let digits = format!("{double:?}");
    match digits.split_once('e') {
        Some((mantissa, exponent)) if !mantissa.contains('.') => format!("{mantissa}.0e{exponent}"),
        _ => digits,
    }
}

/// The bits of an infinity or a quiet NaN of a half.
fn half_bits(ty: ElementType, value: f64) -> u16 {
    let (infinity, quiet) = match ty {
        ElementType::Bf16 => (0x7f80, 0x40),
        _ => (0x7c00, 0x200),
    };
    let sign = u16::from(value.is_sign_negative()) << 15;
    sign | infinity | if value.is_nan() { quiet } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_have_a_point_or_are_bits() {
        assert_eq!(constant(Scalar::F64(1e300)), "1.0e300");
        assert_eq!(constant(Scalar::F64(1.5e-300)), "1.5e-300");
        assert_eq!(constant(Scalar::F64(-0.0)), "-0.0");
        assert_eq!(constant(Scalar::F32(0.1)), "0.10000000149011612");
        assert_eq!(constant(Scalar::F32(f32::INFINITY)), "0x7F800000");
        assert_eq!(
            constant(Scalar::F64(f64::NEG_INFINITY)),
            "0xFFF0000000000000"
        );
    }
}
