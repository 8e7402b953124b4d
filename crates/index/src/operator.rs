//! Every operator with its declared properties.
//!
//! Loops are derived from these properties, so that a new operator gets right
//! and minimal loops without another line of the compiler: an **annihilator**
//! at one argument makes the result that value whatever the others are, so the
//! entries of the others need no visit; an **identity** makes a reduction skip
//! what is not stored.

use sparsec_base::{ElementType, Scalar};

/// An operator or function of index notation. Arguments have one type, except
/// that the first of [`Select`](Self::Select) is `bool`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operator {
    /// `a + b`; `or` of `bool`.
    Add,
    /// `a - b`; not of `bool`.
    Sub,
    /// `a * b`; `and` of `bool`.
    Mul,
    /// `a / b`: true division, of floats.
    Div,
    /// `a // b`: the floor of the quotient; not of `bool`.
    FloorDiv,
    /// `a % b`: the remainder with the sign of `b`; not of `bool`.
    Mod,
    /// `-a`; not of `bool`.
    Neg,
    /// The absolute value; not of `bool`.
    Abs,
    /// The square root, of floats.
    Sqrt,
    /// e to the power a, of floats.
    Exp,
    /// The natural logarithm, of floats.
    Log,
    /// a to the power b, of floats.
    Pow,
    /// The sine, of floats.
    Sin,
    /// The cosine, of floats.
    Cos,
    /// The hyperbolic tangent, of floats.
    Tanh,
    /// The largest integral value not above a, of floats.
    Floor,
    /// The smallest integral value not below a, of floats.
    Ceil,
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
}

impl Operator {
    /// Whether the result is a truth value whatever the arguments are.
    pub fn is_comparison(self) -> bool {
        matches!(
            self,
            Self::Eq | Self::Ne | Self::Lt | Self::Le | Self::Gt | Self::Ge
        )
    }

    /// The type of the result, given the type of the last argument.
    pub fn result_type(self, last: ElementType) -> ElementType {
        if self.is_comparison() {
            ElementType::Bool
        } else {
            last
        }
    }

    /// The value that makes the result that value when it stands at argument
    /// `at` as an entry that is not stored, whatever the other arguments are.
    pub fn annihilator(self, at: usize, element: ElementType) -> Option<Scalar> {
        let _ = at;
        match self {
            Self::Mul | Self::And => Some(element.zero()),
            Self::Or => Some(element.one()),
            _ => None,
        }
    }

    /// The value that a reduction with this operator begins with; `None` for
    /// operators that do not reduce.
    pub fn identity(self, element: ElementType) -> Option<Scalar> {
        match self {
            Self::Add => Some(element.zero()),
            Self::Mul => Some(element.one()),
            Self::Or => Some(Scalar::Bool(false)),
            Self::And => Some(Scalar::Bool(true)),
            Self::Min => Some(greatest(element)),
            Self::Max => Some(least(element)),
            _ => None,
        }
    }
}

fn greatest(element: ElementType) -> Scalar {
    match element {
        ElementType::Bool => Scalar::Bool(true),
        ElementType::I32 => Scalar::I32(i32::MAX),
        ElementType::I64 => Scalar::I64(i64::MAX),
        ElementType::F32 => Scalar::F32(f32::INFINITY),
        ElementType::F64 => Scalar::F64(f64::INFINITY),
    }
}

fn least(element: ElementType) -> Scalar {
    match element {
        ElementType::Bool => Scalar::Bool(false),
        ElementType::I32 => Scalar::I32(i32::MIN),
        ElementType::I64 => Scalar::I64(i64::MIN),
        ElementType::F32 => Scalar::F32(f32::NEG_INFINITY),
        ElementType::F64 => Scalar::F64(f64::NEG_INFINITY),
    }
}
