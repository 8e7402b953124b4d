//! The text form: what prints and parses.
//!
//! ```text
//! function  = "fn" NAME "(" [ argument { "," argument } ] ")" block
//! argument  = ( "in" | "out" ) NAME "\"" doc "\"" "{" [ part { "," part } ] "}"
//! part      = "extent" NAME
//!           | ( "read" | "write" | "grow" ) NAME ":" TYPE [ "as" TYPE ]
//! block     = "{" { statement } "}"
//! statement = ";" text of the line
//!           | ( "let" | "var" ) NAME ":" TYPE "=" expr
//!           | NAME [ op ] "=" expr
//!           | NAME "[" expr "]" [ op ] "=" expr
//!           | "for" NAME "in" expr ".." expr mark block
//!           | "while" expr block
//!           | "if" expr block [ "else" ( block | statement with "if" ) ]
//!           | "fill" NAME "[" expr ".." expr "]" "," expr
//!           | ( "alloc" | "own" ) NAME ":" TYPE "[" expr "]" [ "as" TYPE ]
//!           | ( "grow" | "resize" ) NAME "," expr
//!           | "sort" NAME "[" expr ".." expr "]" [ "with" NAME ]
//!           | "fail" NAME
//! mark      = [ "unroll" NUMBER ] [ "parallel" "(" UNIT "," RACES ")" ] [ "chunks" ]
//! ```
//!
//! `: TYPE as TYPE` gives a buffer's compute type, then its storage type where
//! that is another. `op` is one of `+ - * / // % min max and or`.
//!
//! From loose to tight: `or`; `and`; `not`; the comparisons, which do not
//! chain; `+ -`; `* / // %`; unary `-`. All else is written as a call:
//! `min(a, b)`, `abs(x)`, `sqrt(x)`, `select(c, a, b)`, and `f64(x)` for a cast.
//!
//! A constant shows its type: `5` is i64, `5.0` is f64, and others name it, as
//! `5u8` and `5.0f32`; so do `inf`, `nan`, `inff32` and `nanf32`. A complex one is
//! its parts, `c128(1.0, -2.5)` or `c64(1.0f32, 0.0f32)`. A `-` that touches a
//! number belongs to it; a negation of a constant has parentheses, `-(5)`.
//!
//! Comments in a body are statements and survive; others are dropped. Printing
//! what was parsed and parsing it again gives an equal function.

mod parse;
mod print;

use sparsec_base::ElementType;

use crate::ir::{BinaryOp, Failure, Intrinsic};

/// Names that the language keeps for itself.
const KEYWORDS: &[&str] = &[
    "abs", "alloc", "and", "as", "clz", "conj", "ctz", "else", "extent", "fail", "false", "fill",
    "fn", "for", "grow", "if", "imag", "in", "let", "max", "min", "not", "or", "out", "own",
    "parallel", "pass", "popcount", "prefetch", "chunks", "read", "real", "resize", "select",
    "sort", "true", "turn", "unroll", "var", "while", "with", "write",
];

/// Operators that combine in place, as in `t += e`.
pub(crate) const REDUCTIONS: &[BinaryOp] = &[
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::FloorDiv,
    BinaryOp::Mod,
    BinaryOp::Min,
    BinaryOp::Max,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::BitAnd,
    BinaryOp::BitOr,
    BinaryOp::BitXor,
    BinaryOp::ShiftLeft,
    BinaryOp::ShiftRight,
];

/// The float type of which `name` is infinity or `NaN`: `inf`, `nanf32`.
pub(crate) fn special(name: &str) -> Option<ElementType> {
    match name.strip_prefix("inf").or(name.strip_prefix("nan"))? {
        "" => Some(ElementType::F64),
        suffix => ElementType::parse(suffix).filter(|element| element.is_float()),
    }
}

/// Whether `name` cannot name a variable or a buffer.
pub(crate) fn is_reserved(name: &str) -> bool {
    KEYWORDS.contains(&name)
        || special(name).is_some()
        || ElementType::parse(name).is_some()
        || Intrinsic::ALL
            .iter()
            .any(|function| function.name() == name)
}

/// Whether `name` reads back as one name: letters, digits and `_`, with `.`
/// between them, and no digit first.
pub(crate) fn is_name(name: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.starts_with(|c: char| c.is_ascii_digit())
        && name
            .split('.')
            .all(|part| !part.is_empty() && part.chars().all(word))
}

/// How tightly an operator binds; a larger number is tighter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Or,
    And,
    Not,
    Comparison,
    BitOr,
    BitXor,
    BitAnd,
    Shift,
    Sum,
    Product,
    Negation,
    Atom,
}

impl Binding {
    /// That of an infix operator; `None` for `min` and `max`.
    fn of(op: BinaryOp) -> Option<Self> {
        match op {
            BinaryOp::Or => Some(Self::Or),
            BinaryOp::And => Some(Self::And),
            BinaryOp::BitOr => Some(Self::BitOr),
            BinaryOp::BitXor => Some(Self::BitXor),
            BinaryOp::BitAnd => Some(Self::BitAnd),
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => Some(Self::Shift),
            BinaryOp::Add | BinaryOp::Sub => Some(Self::Sum),
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Mod => {
                Some(Self::Product)
            }
            BinaryOp::Min | BinaryOp::Max => None,
            _ => Some(Self::Comparison),
        }
    }

    fn tighter(self) -> Self {
        match self {
            Self::Or => Self::And,
            Self::And => Self::Not,
            Self::Not => Self::Comparison,
            Self::Comparison => Self::BitOr,
            Self::BitOr => Self::BitXor,
            Self::BitXor => Self::BitAnd,
            Self::BitAnd => Self::Shift,
            Self::Shift => Self::Sum,
            Self::Sum => Self::Product,
            Self::Product => Self::Negation,
            Self::Negation | Self::Atom => Self::Atom,
        }
    }
}

/// The failure with this name.
fn failure(name: &str) -> Option<Failure> {
    Failure::ALL
        .into_iter()
        .find(|failure| failure.name() == name)
}
