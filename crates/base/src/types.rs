//! Element types and index widths: types as data.
//!
//! A program over `f32` and one over `i64` run through the same code of ours;
//! only the kernels differ. So a type is a value ([`ElementType`]) that plans,
//! prints and compares, not a generic parameter.

use std::fmt;

use crate::scalar::Scalar;
use crate::suggest::closest;

macro_rules! element_types {
    ($n:literal: $($ty:ident $kind:ident $name:literal $size:literal, $doc:literal;)*) => {
        /// The type of a tensor's entries, and of every value in a kernel.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ElementType {
            $(#[doc = $doc] $ty,)*
        }

        impl ElementType {
            /// All element types: kind by kind, narrow before wide.
            pub const ALL: [Self; $n] = [$(Self::$ty),*];

            /// Bytes that one entry takes.
            pub fn size(self) -> usize {
                match self {
                    $(Self::$ty => $size,)*
                }
            }

            /// The name in every text form; the number is that of all bits.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$ty => $name,)*
                }
            }

            /// What kind of number this is.
            pub fn kind(self) -> Kind {
                match self {
                    $(Self::$ty => Kind::$kind,)*
                }
            }
        }
    };
}

element_types! { 15:
    Bool Bool "bool" 1, "A truth value, stored as one byte, 0 or 1.";
    I8 Signed "i8" 1, "A signed integer of 8 bits; arithmetic wraps.";
    I16 Signed "i16" 2, "A signed integer of 16 bits; arithmetic wraps.";
    I32 Signed "i32" 4, "A signed integer of 32 bits; arithmetic wraps.";
    I64 Signed "i64" 8, "A signed integer of 64 bits; arithmetic wraps.";
    U8 Unsigned "u8" 1, "An integer of 8 bits without sign; arithmetic wraps.";
    U16 Unsigned "u16" 2, "An integer of 16 bits without sign; arithmetic wraps.";
    U32 Unsigned "u32" 4, "An integer of 32 bits without sign; arithmetic wraps.";
    U64 Unsigned "u64" 8, "An integer of 64 bits without sign; arithmetic wraps.";
    F16 Float "f16" 2, "IEEE 754 half precision; computed with as `f32`.";
    Bf16 Float "bf16" 2, "The upper half of an `f32`; computed with as `f32`.";
    F32 Float "f32" 4, "IEEE 754 single precision.";
    F64 Float "f64" 8, "IEEE 754 double precision.";
    C64 Complex "c64" 8, "A complex number: two `f32`, the real part first.";
    C128 Complex "c128" 16, "A complex number: two `f64`, the real part first.";
}

/// Names of types elsewhere: the kind, our letter for it where bits follow, and our types
/// where none do.
const ELSEWHERE: [(&str, &str, &[ElementType]); 16] = {
    use ElementType::{Bool, C64, C128, F16, F32, F64, I8, I16, I32, I64, U8, U32, U64};
    [
        ("float", "f", &[F32, F64]),
        ("bfloat", "bf", &[ElementType::Bf16]),
        ("half", "f", &[F16]),
        ("single", "f", &[F32]),
        ("double", "f", &[F64]),
        ("real", "f", &[F32, F64]),
        ("int", "i", &[I32, I64]),
        ("integer", "i", &[I32, I64]),
        ("uint", "u", &[U32, U64]),
        ("unsigned", "u", &[U32, U64]),
        ("byte", "u", &[U8, I8]),
        ("short", "i", &[I16]),
        ("long", "i", &[I64]),
        ("complex", "c", &[C64, C128]),
        ("boolean", "bool", &[Bool]),
        ("logical", "bool", &[Bool]),
    ]
};

/// The kinds of element types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Truth values.
    Bool,
    /// Integers with a sign.
    Signed,
    /// Integers without one.
    Unsigned,
    /// Floating-point numbers.
    Float,
    /// Complex numbers of two floating-point parts.
    Complex,
}

impl ElementType {
    /// The type with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ty| ty.name() == name)
    }

    /// The types that `name` means in C, Fortran, Rust or NumPy, which is none of ours.
    ///
    /// ```
    /// use sparsec_base::ElementType;
    /// assert_eq!(ElementType::elsewhere("double"), [ElementType::F64]);
    /// assert_eq!(ElementType::elsewhere("int8"), [ElementType::I8]);
    /// assert_eq!(ElementType::elsewhere("f64"), []);
    /// ```
    pub fn elsewhere(name: &str) -> Vec<Self> {
        let name = name.to_lowercase();
        // NumPy names the kind, then the bits: `uint8`, `complex64`.
        let end = name.find(|c: char| c.is_ascii_digit());
        let (kind, bits) = name.split_at(end.unwrap_or(name.len()));
        let sized = ELSEWHERE.iter().find(|(known, _, _)| *known == kind);
        match (sized, bits) {
            (Some((_, _, plain)), "") => plain.to_vec(),
            (Some((_, letters, _)), bits) => {
                let ours = Self::parse(&format!("{letters}{bits}"));
                ours.into_iter().collect()
            }
            (None, _) => Vec::new(),
        }
    }

    /// The way out of a `name` that is no type: the types that it may mean, or all types.
    pub fn advice(name: &str) -> String {
        let names = Self::ALL.map(Self::name);
        let mut meant: Vec<&str> = Self::elsewhere(name).into_iter().map(Self::name).collect();
        if meant.is_empty() {
            meant.extend(closest(name, names));
        }
        match meant.is_empty() {
            true => format!("the types are {}", names.join(", ")),
            false => format!("did you mean `{}`?", meant.join("` or `")),
        }
    }

    /// Whether this is a real floating-point type.
    pub fn is_float(self) -> bool {
        self.kind() == Kind::Float
    }

    /// Whether this is a complex type.
    pub fn is_complex(self) -> bool {
        self.kind() == Kind::Complex
    }

    /// Whether this is an integer type (`bool` is none).
    pub fn is_integer(self) -> bool {
        matches!(self.kind(), Kind::Signed | Kind::Unsigned)
    }

    /// The type of the real and imaginary parts: of a real type, itself.
    pub fn part(self) -> Self {
        match self {
            Self::C64 => Self::F32,
            Self::C128 => Self::F64,
            real => real,
        }
    }

    /// The type that values of this one are computed with: `f32` for the two
    /// halves, which are for storage alone, else itself.
    pub fn computed(self) -> Self {
        match self {
            Self::F16 | Self::Bf16 => Self::F32,
            other => other,
        }
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

/// One truth value as arrays store it: a byte, 0 or 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Bool8(u8);

impl Bool8 {
    /// 0.
    pub const FALSE: Self = Self(0);
    /// 1.
    pub const TRUE: Self = Self(1);

    /// The byte as it is stored.
    pub fn byte(self) -> u8 {
        self.0
    }

    /// Whether the byte is not 0.
    pub fn get(self) -> bool {
        self.0 != 0
    }
}

impl From<Bool8> for bool {
    fn from(value: Bool8) -> Self {
        value.get()
    }
}

impl From<bool> for Bool8 {
    fn from(value: bool) -> Self {
        Self(value.into())
    }
}

/// How wide the entries of a `pos` or `crd` array are.
///
/// The narrow widths have no sign, so that 8 bits hold 256 coordinates; the
/// wide ones are signed, as index arrays are elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IndexWidth {
    /// 8 bits: values below 2^8.
    W8,
    /// 16 bits: values below 2^16.
    W16,
    /// 32 bits: values below 2^31.
    W32,
    /// 64 bits: values below 2^63.
    W64,
}

impl IndexWidth {
    /// All widths, narrow before wide.
    pub const ALL: [Self; 4] = [Self::W8, Self::W16, Self::W32, Self::W64];

    /// The narrower of 32 and 64 bits that holds every value up to `max`: what
    /// an array gets whose format does not say.
    pub fn holding(max: u64) -> Self {
        if max <= Self::W32.max() {
            Self::W32
        } else {
            Self::W64
        }
    }

    /// The width of so many bits.
    pub fn parse(bits: u64) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|width| u64::from(width.bits()) == bits)
    }

    /// The width in bits.
    pub fn bits(self) -> u32 {
        match self {
            Self::W8 => 8,
            Self::W16 => 16,
            Self::W32 => 32,
            Self::W64 => 64,
        }
    }

    /// The largest value that this width holds.
    pub fn max(self) -> u64 {
        match self {
            Self::W8 => u8::MAX.into(),
            Self::W16 => u16::MAX.into(),
            Self::W32 => i32::MAX as u64,
            Self::W64 => i64::MAX as u64,
        }
    }

    /// The type of an array of this width.
    pub fn element(self) -> ElementType {
        match self {
            Self::W8 => ElementType::U8,
            Self::W16 => ElementType::U16,
            Self::W32 => ElementType::I32,
            Self::W64 => ElementType::I64,
        }
    }

    /// The width of an index array of this type.
    pub fn of(element: ElementType) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|width| width.element() == element)
    }
}
