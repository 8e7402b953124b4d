//! C expressions as text that knows how tightly it binds and what C makes of it.

use sparsec_base::ElementType;

/// How tightly an expression binds; see the C11 grammar, §6.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Precedence {
    /// `c ? a : b`
    Conditional,
    /// `a || b`
    Or,
    /// `a && b`
    And,
    /// `a & b`
    Bits,
    /// `a == b`
    Equality,
    /// `a < b`
    Relation,
    /// `a >> b`
    Shift,
    /// `a + b`
    Sum,
    /// `a * b`
    Product,
    /// `-a`, `(int64_t)a`
    Unary,
    /// Names, constants, calls, `a[i]`.
    Primary,
}

/// A piece of C that has a value.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// The text.
    pub(crate) text: String,
    /// How tightly it binds.
    pub(crate) precedence: Precedence,
    /// The type in which C holds the value. The value is that of the IR's
    /// expression, but the type may be narrower than the IR's. Halves are held
    /// as their bits.
    pub(crate) held: ElementType,
    /// Whether the text is a name or constant: cheap and clear to repeat.
    pub(crate) simple: bool,
}

impl Piece {
    /// A name, constant, call or subscript.
    pub(crate) fn primary(text: String, held: ElementType) -> Self {
        Self {
            text,
            precedence: Precedence::Primary,
            held,
            simple: false,
        }
    }

    /// A name or constant.
    pub(crate) fn simple(text: String, held: ElementType) -> Self {
        Self {
            simple: true,
            ..Self::primary(text, held)
        }
    }

    /// Anything else.
    pub(crate) fn operation(text: String, precedence: Precedence, held: ElementType) -> Self {
        Self {
            text,
            precedence,
            held,
            simple: false,
        }
    }

    /// The text where something that binds at least as tightly as `least` is
    /// wanted.
    pub(crate) fn at(&self, least: Precedence) -> String {
        if self.precedence >= least {
            self.text.clone()
        } else {
            format!("({})", self.text)
        }
    }

    /// The value converted to `ty` by a cast.
    pub(crate) fn cast(&self, ty: ElementType) -> Self {
        let text = format!("({}){}", c_type(ty), self.at(Precedence::Unary));
        Self::operation(text, Precedence::Unary, ty)
    }
}

/// The types that C computes in, in the order in which it converts one operand
/// to the type of the other; see the C11 standard, §6.3.1.8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// `int`, and all that is narrower.
    Int,
    /// `unsigned`
    Unsigned,
    /// `int64_t`
    Long,
    /// `uint64_t`
    UnsignedLong,
    /// `float`
    Float,
    /// `double`
    Double,
    /// What C has no operators for: complex numbers, and halves as bits.
    None,
}

impl Rank {
    /// The type in which C computes with a value of this type.
    pub(crate) fn of(ty: ElementType) -> Self {
        match ty {
            ElementType::Bool
            | ElementType::I8
            | ElementType::I16
            | ElementType::I32
            | ElementType::U8
            | ElementType::U16 => Self::Int,
            ElementType::U32 => Self::Unsigned,
            ElementType::I64 => Self::Long,
            ElementType::U64 => Self::UnsignedLong,
            ElementType::F32 => Self::Float,
            ElementType::F64 => Self::Double,
            ElementType::F16 | ElementType::Bf16 | ElementType::C64 | ElementType::C128 => {
                Self::None
            }
        }
    }
}

/// The type in which C holds the result of `c ? a : b`.
pub(crate) fn joined(a: ElementType, b: ElementType) -> ElementType {
    match (Rank::of(a), Rank::of(b)) {
        _ if a == b => a,
        (Rank::Int, Rank::Int) => ElementType::I32,
        (rank, other) if rank < other => b,
        _ => a,
    }
}

/// The C name of a type.
pub(crate) fn c_type(ty: ElementType) -> &'static str {
    match ty {
        ElementType::Bool => "bool",
        ElementType::I8 => "int8_t",
        ElementType::I16 => "int16_t",
        ElementType::I32 => "int32_t",
        ElementType::I64 => "int64_t",
        ElementType::U8 => "uint8_t",
        ElementType::U16 | ElementType::F16 | ElementType::Bf16 => "uint16_t",
        ElementType::U32 => "uint32_t",
        ElementType::U64 => "uint64_t",
        ElementType::F32 => "float",
        ElementType::F64 => "double",
        ElementType::C64 => "sparsec_c64",
        ElementType::C128 => "sparsec_c128",
    }
}
