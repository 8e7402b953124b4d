//! Every operator with its declared properties.
//!
//! Loops are derived from these properties, so that a new operator gets right
//! and minimal loops without another line of the compiler: an **annihilator**
//! at one argument makes the result that value whatever the others are, so the
//! entries of the others need no visit; an **identity** makes a reduction skip
//! what is not stored.
//!
//! | operator    | commutes, associates | idempotent | identity     | annihilator  |
//! |-------------|----------------------|------------|--------------|--------------|
//! | `+`         | yes                  | of `bool`  | 0, `false`   | `true`       |
//! | `*`         | yes                  | of `bool`  | 1, `true`    | 0, `false`   |
//! | `min`       | yes                  | yes        | the greatest | the least    |
//! | `max`       | yes                  | yes        | the least    | the greatest |
//! | `or`        | yes                  | yes        | `false`      | `true`       |
//! | `and`       | yes                  | yes        | `true`       | `false`      |
//! | `bitand`    | yes                  | yes        | all ones     | 0            |
//! | `bitor`     | yes                  | yes        | 0            | all ones     |
//! | `bitxor`    | yes                  |            | 0            |              |
//! | `== !=`     | commute              |            |              |              |
//!
//! An annihilator acts where it is not stored. `0 * NaN` of two stored entries
//! is `NaN` as IEEE 754 has it, but 0 where the zero is a fill or a literal.
//! Sums of floats associate by decision: their order is part of the program
//! only where the caller asks for that.
//!
//! Complex numbers have no order: `min`, `max`, `<`, `sign` and the like do not
//! take them. `f16` and `bf16` are for storage: expressions convert them to `f32`
//! before any operator.
//!
//! What operators compute on values ([`Operator::evaluate`]) is what the loop
//! IR computes.

use crate::function::UserFunction;

mod evaluate;
mod print;
mod properties;
#[cfg(test)]
mod tests;
mod types;

pub use properties::Decision;

/// An operator or function of index notation. Arguments have one type, except
/// that the first of [`Select`](Self::Select) is `bool`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operator {
    /// `a + b`; `or` of `bool`.
    Add,
    /// `a - b`; not of `bool`.
    Sub,
    /// `a * b`; `and` of `bool`.
    Mul,
    /// `a / b`: true division, of floats and complex numbers.
    Div,
    /// `a // b`: the floor of the quotient; not of `bool`.
    FloorDiv,
    /// `a % b`: the remainder with the sign of `b`; not of `bool`.
    Mod,
    /// `-a`; not of `bool`.
    Neg,
    /// The absolute value, of a complex number a float; not of `bool`.
    Abs,
    /// The complex conjugate; of other numbers, itself.
    Conj,
    /// The real part; of other numbers, itself.
    Real,
    /// The imaginary part; of other numbers, 0.
    Imag,
    /// The square root, of floats and complex numbers.
    Sqrt,
    /// e to the power a, of floats and complex numbers.
    Exp,
    /// The natural logarithm, of floats and complex numbers.
    Log,
    /// a to the power b; of integers an integer, and b not negative; not of `bool`.
    Pow,
    /// The sine, of floats.
    Sin,
    /// The cosine, of floats.
    Cos,
    /// The tangent, of floats.
    Tan,
    /// The angle whose sine is a, of floats.
    Asin,
    /// The angle whose cosine is a, of floats.
    Acos,
    /// The angle whose tangent is a, of floats.
    Atan,
    /// The hyperbolic sine, of floats.
    Sinh,
    /// The hyperbolic cosine, of floats.
    Cosh,
    /// 2 to the power a, of floats.
    Exp2,
    /// `exp(a) - 1`, precise near 0, of floats.
    Expm1,
    /// The logarithm to base 2, of floats.
    Log2,
    /// The logarithm to base 10, of floats.
    Log10,
    /// `log(1 + a)`, precise near 0, of floats.
    Log1p,
    /// The cube root, of floats.
    Cbrt,
    /// The hyperbolic tangent, of floats.
    Tanh,
    /// The number whose hyperbolic sine is a, of floats.
    Asinh,
    /// The number from 0 on whose hyperbolic cosine is a, of floats.
    Acosh,
    /// The number whose hyperbolic tangent is a, of floats.
    Atanh,
    /// The error function, of floats.
    Erf,
    /// The largest integral value not above a, of floats.
    Floor,
    /// The smallest integral value not below a, of floats.
    Ceil,
    /// The nearest integral value, the even one of two, of floats.
    Round,
    /// The integral value next to a towards 0, of floats.
    Trunc,
    /// The length of the vector (a, b), of floats.
    Hypot,
    /// The angle of the vector (b, a), of floats.
    Atan2,
    /// a with the sign of b, of floats; the sign of a zero that is not stored is plus.
    CopySign,
    /// `a * b + c`, rounded once, of floats.
    Fma,
    /// The bits that both integers have.
    BitAnd,
    /// The bits that either integer has.
    BitOr,
    /// The bits that one of the integers has and the other has not.
    BitXor,
    /// The bits of an integer moved up by b; 0 if b, without a sign, is its width or more.
    ShiftLeft,
    /// The bits of an integer moved down by b, with copies of its sign; if b, without a sign, is
    /// its width or more: 0, or -1 of a negative number.
    ShiftRight,
    /// The number of ones in the bits of an integer.
    PopCount,
    /// The number of zeros above the highest one of an integer; its width, of 0.
    LeadingZeros,
    /// The number of zeros below the lowest one of an integer; its width, of 0.
    TrailingZeros,
    /// Whether a is `NaN`, of floats.
    IsNan,
    /// Whether a is infinite, of floats.
    IsInf,
    /// Whether a is neither `NaN` nor infinite, of floats.
    IsFinite,
    /// Whether a is stored, whatever its value.
    IsStored,
    /// The smaller; `NaN` if either is.
    Min,
    /// The larger; `NaN` if either is.
    Max,
    /// `max(a, 0)`; not of `bool`.
    Relu,
    /// -1, 0 or 1; `NaN` of `NaN`; not of `bool`.
    Sign,
    /// `select(c, a, b)`: `a` where `c` holds, else `b`.
    Select,
    /// `not a`, of `bool`.
    Not,
    /// `a and b`, of `bool`.
    And,
    /// `a or b`, of `bool`.
    Or,
    /// `a == b`
    Eq,
    /// `a != b`
    Ne,
    /// `a < b`
    Lt,
    /// `a <= b`
    Le,
    /// `a > b`
    Gt,
    /// `a >= b`
    Ge,
    /// A function of the user.
    Defined(UserFunction),
}

/// How an operator is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Between its two arguments, as `a + b`; the number says how tightly it
    /// binds.
    Infix(u8),
    /// Before its argument, as `-a`.
    Prefix(u8),
    /// As a function, `sqrt(a)`.
    Call,
}

impl Operator {
    /// Every operator of the language.
    pub const ALL: [Self; 68] = [
        Self::Add,
        Self::Sub,
        Self::Mul,
        Self::Div,
        Self::FloorDiv,
        Self::Mod,
        Self::Neg,
        Self::Abs,
        Self::Conj,
        Self::Real,
        Self::Imag,
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
        Self::Asinh,
        Self::Acosh,
        Self::Atanh,
        Self::Erf,
        Self::Floor,
        Self::Ceil,
        Self::Round,
        Self::Trunc,
        Self::Hypot,
        Self::Atan2,
        Self::CopySign,
        Self::Fma,
        Self::BitAnd,
        Self::BitOr,
        Self::BitXor,
        Self::ShiftLeft,
        Self::ShiftRight,
        Self::PopCount,
        Self::LeadingZeros,
        Self::TrailingZeros,
        Self::IsNan,
        Self::IsInf,
        Self::IsFinite,
        Self::IsStored,
        Self::Min,
        Self::Max,
        Self::Relu,
        Self::Sign,
        Self::Select,
        Self::Not,
        Self::And,
        Self::Or,
        Self::Eq,
        Self::Ne,
        Self::Lt,
        Self::Le,
        Self::Gt,
        Self::Ge,
    ];

    /// How tightly a comparison binds; comparisons do not chain.
    pub const COMPARISON: u8 = 3;

    /// The symbol or name in every text form, and how it is written.
    fn spelling(&self) -> (&str, Style) {
        match self {
            Self::Defined(function) => (function.name(), Style::Call),
            Self::Or => ("or", Style::Infix(0)),
            Self::And => ("and", Style::Infix(1)),
            Self::Not => ("not", Style::Prefix(2)),
            Self::Eq => ("==", Style::Infix(Self::COMPARISON)),
            Self::Ne => ("!=", Style::Infix(Self::COMPARISON)),
            Self::Lt => ("<", Style::Infix(Self::COMPARISON)),
            Self::Le => ("<=", Style::Infix(Self::COMPARISON)),
            Self::Gt => (">", Style::Infix(Self::COMPARISON)),
            Self::Ge => (">=", Style::Infix(Self::COMPARISON)),
            Self::Add => ("+", Style::Infix(4)),
            Self::Sub => ("-", Style::Infix(4)),
            Self::Mul => ("*", Style::Infix(5)),
            Self::Div => ("/", Style::Infix(5)),
            Self::FloorDiv => ("//", Style::Infix(5)),
            Self::Mod => ("%", Style::Infix(5)),
            Self::Neg => ("-", Style::Prefix(6)),
            Self::Abs => ("abs", Style::Call),
            Self::Conj => ("conj", Style::Call),
            Self::Real => ("real", Style::Call),
            Self::Imag => ("imag", Style::Call),
            Self::Sqrt => ("sqrt", Style::Call),
            Self::Exp => ("exp", Style::Call),
            Self::Log => ("log", Style::Call),
            Self::Pow => ("pow", Style::Call),
            Self::Sin => ("sin", Style::Call),
            Self::Cos => ("cos", Style::Call),
            Self::Tan => ("tan", Style::Call),
            Self::Asin => ("asin", Style::Call),
            Self::Acos => ("acos", Style::Call),
            Self::Atan => ("atan", Style::Call),
            Self::Sinh => ("sinh", Style::Call),
            Self::Cosh => ("cosh", Style::Call),
            Self::Exp2 => ("exp2", Style::Call),
            Self::Expm1 => ("expm1", Style::Call),
            Self::Log2 => ("log2", Style::Call),
            Self::Log10 => ("log10", Style::Call),
            Self::Log1p => ("log1p", Style::Call),
            Self::Cbrt => ("cbrt", Style::Call),
            Self::Round => ("round", Style::Call),
            Self::Trunc => ("trunc", Style::Call),
            Self::Tanh => ("tanh", Style::Call),
            Self::Floor => ("floor", Style::Call),
            Self::Ceil => ("ceil", Style::Call),
            Self::Hypot => ("hypot", Style::Call),
            Self::Atan2 => ("atan2", Style::Call),
            Self::Asinh => ("asinh", Style::Call),
            Self::Acosh => ("acosh", Style::Call),
            Self::Atanh => ("atanh", Style::Call),
            Self::Erf => ("erf", Style::Call),
            Self::CopySign => ("copysign", Style::Call),
            Self::Fma => ("fma", Style::Call),
            Self::BitAnd => ("bitand", Style::Call),
            Self::BitOr => ("bitor", Style::Call),
            Self::BitXor => ("bitxor", Style::Call),
            Self::ShiftLeft => ("shl", Style::Call),
            Self::ShiftRight => ("shr", Style::Call),
            Self::PopCount => ("popcount", Style::Call),
            Self::LeadingZeros => ("clz", Style::Call),
            Self::TrailingZeros => ("ctz", Style::Call),
            Self::IsNan => ("isnan", Style::Call),
            Self::IsInf => ("isinf", Style::Call),
            Self::IsFinite => ("isfinite", Style::Call),
            Self::IsStored => ("isstored", Style::Call),
            Self::Min => ("min", Style::Call),
            Self::Max => ("max", Style::Call),
            Self::Relu => ("relu", Style::Call),
            Self::Sign => ("sign", Style::Call),
            Self::Select => ("select", Style::Call),
        }
    }

    /// The symbol or name in every text form, such as `+` or `sqrt`.
    pub fn symbol(&self) -> &str {
        self.spelling().0
    }

    /// How the operator is written.
    pub fn style(&self) -> Style {
        self.spelling().1
    }

    /// The function with this name.
    pub fn function(name: &str) -> Option<Self> {
        let called = |op: &Self| op.style() == Style::Call && op.symbol() == name;
        Self::ALL.into_iter().find(called)
    }

    /// The names of all operators of the language that are written as functions.
    pub fn functions<'a>() -> impl Iterator<Item = &'a str> {
        const { &Self::ALL }
            .iter()
            .filter(|op| op.style() == Style::Call)
            .map(Self::symbol)
    }

    /// The operator written between its arguments with this symbol.
    pub fn infix(symbol: &str) -> Option<Self> {
        let infix = |op: &Self| matches!(op.style(), Style::Infix(_)) && op.symbol() == symbol;
        Self::ALL.into_iter().find(infix)
    }

    /// Every operator that reduces.
    pub const REDUCTIONS: [Self; 9] = [
        Self::Add,
        Self::Mul,
        Self::Min,
        Self::Max,
        Self::Or,
        Self::And,
        Self::BitAnd,
        Self::BitOr,
        Self::BitXor,
    ];

    /// The name of a reduction with this operator, as `sum` in `sum{k}(…)`;
    /// `None` for operators that do not reduce.
    pub fn reduction_name(&self) -> Option<&str> {
        match self {
            Self::Add => Some("sum"),
            Self::Mul => Some("prod"),
            Self::Min
            | Self::Max
            | Self::Or
            | Self::And
            | Self::BitAnd
            | Self::BitOr
            | Self::BitXor => Some(self.symbol()),
            Self::Defined(function) if function.reduces() => Some(function.name()),
            _ => None,
        }
    }

    /// Before the name of a reduction: of stored entries alone.
    pub const STORED: &str = "stored_";

    /// The names of all reductions of the language.
    pub fn reduction_names<'a>() -> impl Iterator<Item = &'a str> {
        const { &Self::REDUCTIONS }
            .iter()
            .filter_map(Self::reduction_name)
    }

    /// The operator of the language that the reduction with this name reduces
    /// with.
    pub fn reduction(name: &str) -> Option<Self> {
        let named = |op: &Self| op.reduction_name() == Some(name);
        Self::REDUCTIONS.into_iter().find(named)
    }
}

/// The operator that reduces, as it is assigned with: `+=`, `min=`.
pub fn assignment_symbol(op: &Operator) -> String {
    format!("{}=", op.symbol())
}
