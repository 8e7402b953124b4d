//! The arguments that operators take, and the types of their results.

use sparsec_base::{ElementType, Kind};

use super::{Operator, Style};

impl Operator {
    /// How many arguments the operator takes.
    pub fn arity(&self) -> usize {
        match (self, self.style()) {
            (Self::Defined(function), _) => function.arity(),
            (Self::Select | Self::Fma, _) => 3,
            (
                Self::Pow
                | Self::Hypot
                | Self::Atan2
                | Self::CopySign
                | Self::Min
                | Self::Max
                | Self::BitAnd
                | Self::BitOr
                | Self::BitXor
                | Self::ShiftLeft
                | Self::ShiftRight,
                _,
            )
            | (_, Style::Infix(_)) => 2,
            (_, Style::Prefix(_) | Style::Call) => 1,
        }
    }

    /// Whether the result is a truth value whatever the arguments are.
    pub fn is_predicate(&self) -> bool {
        let asks = matches!(
            self,
            Self::IsNan | Self::IsInf | Self::IsFinite | Self::IsStored
        );
        asks || self.is_comparison()
    }

    /// Whether it compares two values.
    pub fn is_comparison(&self) -> bool {
        matches!(
            self,
            Self::Eq | Self::Ne | Self::Lt | Self::Le | Self::Gt | Self::Ge
        )
    }

    /// Whether arguments are truth values only.
    pub fn is_logical(&self) -> bool {
        matches!(self, Self::Not | Self::And | Self::Or)
    }

    /// The type of the result, given those of the arguments.
    ///
    /// # Panics
    /// If a function of the user does not take such arguments.
    pub fn result_type(&self, args: &[ElementType]) -> ElementType {
        let last = *args.last().expect("every operator has an argument");
        match self {
            Self::Defined(function) => function.body(args).expect("calls are typed").element(),
            _ if self.is_predicate() => ElementType::Bool,
            Self::Abs | Self::Real | Self::Imag => last.part(),
            _ => last,
        }
    }

    /// Whether arguments of this kind have a meaning. The first argument of
    /// `select` is `bool` always; a function of the user says by its body.
    pub fn takes_kind(&self, kind: Kind) -> bool {
        match self {
            Self::Defined(_) => true,
            Self::Div | Self::Sqrt | Self::Exp | Self::Log => {
                matches!(kind, Kind::Float | Kind::Complex)
            }
            Self::Sub
            | Self::Neg
            | Self::Abs
            | Self::Conj
            | Self::Real
            | Self::Imag
            | Self::Pow => kind != Kind::Bool,
            Self::FloorDiv | Self::Mod | Self::Relu | Self::Sign => {
                !matches!(kind, Kind::Bool | Kind::Complex)
            }
            Self::Not | Self::And | Self::Or => kind == Kind::Bool,
            Self::BitAnd
            | Self::BitOr
            | Self::BitXor
            | Self::ShiftLeft
            | Self::ShiftRight
            | Self::PopCount
            | Self::LeadingZeros
            | Self::TrailingZeros => matches!(kind, Kind::Signed | Kind::Unsigned),
            Self::Min | Self::Max | Self::Lt | Self::Le | Self::Gt | Self::Ge => {
                kind != Kind::Complex
            }
            Self::Add | Self::Mul | Self::Select | Self::Eq | Self::Ne | Self::IsStored => true,
            // The other functions.
            _ => kind == Kind::Float,
        }
    }

    /// Whether the operator computes on values of this type, as it does on those
    /// of a [kind that it takes](Self::takes_kind), but for types that are
    /// [computed with](ElementType::computed) as others.
    pub fn takes(&self, element: ElementType) -> bool {
        element == element.computed() && self.takes_kind(element.kind())
    }
}
