//! The types of values.

use sparsec_base::ElementType;

/// The type of a value.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Type {
    /// A number without a fraction, of whichever type is asked for.
    Integral,
    /// A number with a fraction, of whichever floating-point type is asked for.
    Fractional,
    /// An integer; narrower ones are read as 64 bits.
    Integer,
    /// Anything else.
    Of(ElementType),
}

impl Type {
    pub(super) fn of(element: ElementType) -> Self {
        match element.is_integer() && element != ElementType::U64 {
            true => Self::Integer,
            false => Self::Of(element),
        }
    }

    /// Whether it can be computed with, or is only copied.
    pub(super) fn is_computed(self) -> bool {
        match self {
            Self::Of(element) => matches!(element, ElementType::F32 | ElementType::F64),
            _ => true,
        }
    }

    /// Whether it can be compared.
    pub(super) fn is_compared(self) -> bool {
        match self {
            Self::Of(element) => element == element.computed(),
            _ => true,
        }
    }

    /// The one type that both are, or become.
    pub(super) fn with(self, other: Self) -> Option<Self> {
        match (self, other) {
            (a, b) if a == b => Some(a),
            (Self::Integral, b) if b.is_computed() => Some(b),
            (a, Self::Integral) if a.is_computed() => Some(a),
            (Self::Fractional, b @ Self::Of(_)) if b.is_computed() => Some(b),
            (a @ Self::Of(_), Self::Fractional) if a.is_computed() => Some(a),
            _ => None,
        }
    }

    pub(super) fn name(self) -> String {
        match self {
            Self::Integral => "a number".to_owned(),
            Self::Fractional => "a number with a fraction".to_owned(),
            Self::Integer => "an integer".to_owned(),
            Self::Of(element) => format!("`{element}`"),
        }
    }
}

/// What to write in place of a value of another type.
pub(super) fn way_out(wanted: Type, found: Type) -> String {
    match (wanted, found) {
        (Type::Of(ty @ (ElementType::F32 | ElementType::F64)), found) if found.is_computed() => {
            format!("convert it: `{ty}(…)`")
        }
        (Type::Integer, Type::Of(_) | Type::Fractional) => {
            "integers are not made from other numbers".to_owned()
        }
        _ => "give both the same type".to_owned(),
    }
}
