//! The operators of expressions: their text and the types that they take.
//!
//! | kind          | text                | operands                    | result              |
//! |---------------|---------------------|-----------------------------|---------------------|
//! | [`UnaryOp`]   | `-x`, `abs(x)`      | one                         | [`UnaryOp::result_type`] |
//! | [`BinaryOp`]  | `a + b`, `min(a, b)` | two of one type            | this type; `bool` for comparisons |
//! | [`Intrinsic`] | `sqrt(x)`           | [`arity`](Intrinsic::arity) of one type | this type |
//!
//! [`ops`](crate::ops) computes them, and says what they give at the limits of their types.

use sparsec_base::ElementType;

/// Operations on one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnaryOp {
    /// `-x`; not of `bool`.
    Neg,
    /// The absolute value; of the least integer, itself; of a complex number, a
    /// float.
    Abs,
    /// `not x`, of `bool`.
    Not,
    /// The complex conjugate.
    Conj,
    /// The real part of a complex number.
    Real,
    /// The imaginary part of a complex number.
    Imag,
    /// The number of ones in the bits of an integer.
    PopCount,
    /// The number of zeros above the highest one of an integer; its width, of 0.
    LeadingZeros,
    /// The number of zeros below the lowest one of an integer; its width, of 0.
    TrailingZeros,
}

/// Operations on two values of one type. The result has that type, except
/// that comparisons give `bool`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`, of floats and complex numbers.
    Div,
    /// `//`: the floor of the quotient.
    FloorDiv,
    /// `%`: `a - (a // b) * b`, with the sign of `b`.
    Mod,
    /// The smaller; `NaN` if either is.
    Min,
    /// The larger; `NaN` if either is.
    Max,
    /// `and`, of `bool`; evaluates its right side only where the left holds.
    And,
    /// `or`, of `bool`; evaluates its right side only where the left does not hold.
    Or,
    /// `&`: the bits that both integers have.
    BitAnd,
    /// `|`: the bits that either integer has.
    BitOr,
    /// `^`: the bits that one of the integers has.
    BitXor,
    /// `<<`: the product with a power of two, of integers; the power is taken modulo the width.
    ShiftLeft,
    /// `>>`: the floor of the quotient by a power of two, of integers, likewise.
    ShiftRight,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

/// Functions of the C library on floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Intrinsic {
    /// Square root.
    Sqrt,
    /// e to the power x.
    Exp,
    /// Natural logarithm.
    Log,
    /// x to the power y; of integers too, where y is not negative.
    Pow,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Tangent.
    Tan,
    /// The angle in [-π/2, π/2] whose sine is x.
    Asin,
    /// The angle in [0, π] whose cosine is x.
    Acos,
    /// The angle in [-π/2, π/2] whose tangent is x.
    Atan,
    /// Hyperbolic sine.
    Sinh,
    /// Hyperbolic cosine.
    Cosh,
    /// 2 to the power x.
    Exp2,
    /// e to the power x, less 1, precise near 0.
    Expm1,
    /// Logarithm to base 2.
    Log2,
    /// Logarithm to base 10.
    Log10,
    /// The natural logarithm of 1 + x, precise near 0.
    Log1p,
    /// Cube root.
    Cbrt,
    /// Hyperbolic tangent.
    Tanh,
    /// The largest integral value not above x.
    Floor,
    /// The smallest integral value not below x.
    Ceil,
    /// The nearest integral value, the even one of two.
    Round,
    /// The integral value next to x towards 0.
    Trunc,
    /// The length of the vector (x, y), as if no step overflowed.
    Hypot,
    /// The angle of the vector (y, x): its arguments come in this order.
    Atan2,
    /// The number whose hyperbolic sine is x.
    Asinh,
    /// The number from 0 on whose hyperbolic cosine is x.
    Acosh,
    /// The number whose hyperbolic tangent is x.
    Atanh,
    /// The error function.
    Erf,
    /// x with the sign of y.
    CopySign,
    /// x y + z, rounded once.
    Fma,
}

impl UnaryOp {
    /// All operations.
    pub const ALL: [Self; 9] = [
        Self::Neg,
        Self::Abs,
        Self::Not,
        Self::Conj,
        Self::Real,
        Self::Imag,
        Self::PopCount,
        Self::LeadingZeros,
        Self::TrailingZeros,
    ];

    /// Those of integers.
    pub const OF_INTEGERS: [Self; 5] = [
        Self::Neg,
        Self::Abs,
        Self::PopCount,
        Self::LeadingZeros,
        Self::TrailingZeros,
    ];

    /// The symbol or name in text.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Neg => "-",
            Self::Abs => "abs",
            Self::Not => "not",
            Self::Conj => "conj",
            Self::Real => "real",
            Self::Imag => "imag",
            Self::PopCount => "popcount",
            Self::LeadingZeros => "clz",
            Self::TrailingZeros => "ctz",
        }
    }

    /// Whether it is written as a call: all but `-` and `not`.
    pub fn is_call(self) -> bool {
        !matches!(self, Self::Neg | Self::Not)
    }

    /// The type of the result, given that of the operand.
    pub fn result_type(self, operand: ElementType) -> ElementType {
        match self {
            Self::Abs | Self::Real | Self::Imag => operand.part(),
            _ => operand,
        }
    }
}

impl BinaryOp {
    /// Operations that combine partial results in any order.
    pub const COMBINE: [Self; 9] = [
        Self::Add,
        Self::Mul,
        Self::Min,
        Self::Max,
        Self::And,
        Self::Or,
        Self::BitAnd,
        Self::BitOr,
        Self::BitXor,
    ];

    /// Whether the result is a truth value whatever the operands are.
    pub fn is_comparison(self) -> bool {
        matches!(
            self,
            Self::Eq | Self::Ne | Self::Lt | Self::Le | Self::Gt | Self::Ge
        )
    }

    /// The symbol or name in text.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::FloorDiv => "//",
            Self::Mod => "%",
            Self::Min => "min",
            Self::Max => "max",
            Self::And => "and",
            Self::Or => "or",
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::BitAnd => "&",
            Self::BitOr => "|",
            Self::BitXor => "^",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
        }
    }
}

impl Intrinsic {
    /// All functions.
    pub const ALL: [Self; 31] = [
        Self::Sqrt,
        Self::Exp,
        Self::Log,
        Self::Pow,
        Self::Sin,
        Self::Cos,
        Self::Tan,
        Self::Asin,
        Self::Acos,
        Self::Atan,
        Self::Sinh,
        Self::Cosh,
        Self::Exp2,
        Self::Expm1,
        Self::Log2,
        Self::Log10,
        Self::Log1p,
        Self::Cbrt,
        Self::Tanh,
        Self::Floor,
        Self::Ceil,
        Self::Round,
        Self::Trunc,
        Self::Hypot,
        Self::Atan2,
        Self::Asinh,
        Self::Acosh,
        Self::Atanh,
        Self::Erf,
        Self::CopySign,
        Self::Fma,
    ];

    /// The name in text and, for doubles, in the C library.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sqrt => "sqrt",
            Self::Exp => "exp",
            Self::Log => "log",
            Self::Pow => "pow",
            Self::Sin => "sin",
            Self::Cos => "cos",
            Self::Tan => "tan",
            Self::Asin => "asin",
            Self::Acos => "acos",
            Self::Atan => "atan",
            Self::Sinh => "sinh",
            Self::Cosh => "cosh",
            Self::Exp2 => "exp2",
            Self::Expm1 => "expm1",
            Self::Log2 => "log2",
            Self::Log10 => "log10",
            Self::Log1p => "log1p",
            Self::Cbrt => "cbrt",
            Self::Round => "rint",
            Self::Trunc => "trunc",
            Self::Tanh => "tanh",
            Self::Floor => "floor",
            Self::Ceil => "ceil",
            Self::Hypot => "hypot",
            Self::Atan2 => "atan2",
            Self::Asinh => "asinh",
            Self::Acosh => "acosh",
            Self::Atanh => "atanh",
            Self::Erf => "erf",
            Self::CopySign => "copysign",
            Self::Fma => "fma",
        }
    }

    /// How many arguments it takes.
    pub fn arity(self) -> usize {
        match self {
            Self::Fma => 3,
            Self::Pow | Self::Hypot | Self::Atan2 | Self::CopySign => 2,
            _ => 1,
        }
    }

    /// Whether the result is the real one rounded once, and so the same from
    /// every library; others may differ in the last bit.
    pub fn is_exact(self) -> bool {
        matches!(
            self,
            Self::Sqrt
                | Self::Floor
                | Self::Ceil
                | Self::Round
                | Self::Trunc
                | Self::CopySign
                | Self::Fma
        )
    }

    /// Whether it takes integers too, and may then fail.
    pub fn takes_integers(self) -> bool {
        self == Self::Pow
    }

    /// Whether it takes complex numbers too.
    pub fn takes_complex(self) -> bool {
        matches!(self, Self::Sqrt | Self::Exp | Self::Log | Self::Pow)
    }
}
