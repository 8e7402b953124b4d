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
    /// `a == b`
    Equality,
    /// `a < b`
    Relation,
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
    /// expression, but the type may be narrower than the IR's.
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
        ElementType::C64 | ElementType::C128 => panic!("{ty} is a type of arrays, not of values"),
    }
}
