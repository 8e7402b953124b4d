//! What becomes of entries at equal coordinates.
//!
//! | text    | value that is kept                    | types                    |
//! |---------|---------------------------------------|--------------------------|
//! | `+`     | the sum; `or` for `bool`              | all                      |
//! | `*`     | the product; `and` for `bool`         | all                      |
//! | `min`   | the least; `NaN` if one is `NaN`      | all but complex          |
//! | `max`   | the greatest; `NaN` if one is `NaN`   | all but complex          |
//! | `or`    | whether one is true                   | `bool`                   |
//! | `and`   | whether all are true                  | `bool`                   |
//! | `first` | the first given                       | all                      |
//! | `last`  | the last given                        | all                      |
//! | `error` | none: duplicates are refused          | all                      |
//!
//! Values are combined in the order in which they were given, first with
//! second, then with the third. Integers wrap; half-width floats are rounded
//! after every step.

use std::fmt;
use std::str::FromStr;

use sparsec_base::{Bool8, Complex, Diagnostic, ElementType, Result, bf16, code, f16};

use sparsec_parallel::Plain;

use crate::array::Element;
use crate::with_element;

/// What becomes of entries at equal coordinates; see the [module](self).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Duplicates {
    /// They are added (`or` for `bool`); a sum of zero stays stored.
    #[default]
    Add,
    /// They are multiplied (`and` for `bool`).
    Multiply,
    /// The least is kept.
    Min,
    /// The greatest is kept.
    Max,
    /// True if one is true.
    Or,
    /// True if all are true.
    And,
    /// The first is kept.
    First,
    /// The last is kept.
    Last,
    /// They are an error.
    Refuse,
}

impl Duplicates {
    /// All rules.
    pub const ALL: [Self; 9] = [
        Self::Add,
        Self::Multiply,
        Self::Min,
        Self::Max,
        Self::Or,
        Self::And,
        Self::First,
        Self::Last,
        Self::Refuse,
    ];

    /// The rule as text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Multiply => "*",
            Self::Min => "min",
            Self::Max => "max",
            Self::Or => "or",
            Self::And => "and",
            Self::First => "first",
            Self::Last => "last",
            Self::Refuse => "error",
        }
    }

    /// Checks that values of this type can be combined so.
    ///
    /// # Errors
    /// `E0411` for an order of complex numbers, or logic of numbers.
    pub fn check(self, element: ElementType) -> Result<()> {
        let has = with_element!(element, T => T::combine(self).is_some());
        if has || self == Self::Refuse {
            return Ok(());
        }
        let help = match self {
            Self::Min | Self::Max => {
                "complex numbers have no order; use `+`, `*`, `first` or `last`"
            }
            _ => "only `bool` has it; use `+`, `*`, `min`, `max`, `first` or `last`",
        };
        Err(Diagnostic::new(
            code::CANNOT_COMBINE,
            format!("duplicates of type {element} have no `{self}`"),
        )
        .help(help))
    }
}

impl fmt::Display for Duplicates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// # Errors
/// `E0412` for what is no rule.
impl FromStr for Duplicates {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|rule| rule.name() == text);
        found.ok_or_else(|| {
            let names: Vec<String> = Self::ALL.iter().map(|rule| format!("`{rule}`")).collect();
            Diagnostic::new(
                code::UNKNOWN_COMBINATION,
                format!("`{text}` does not say what becomes of duplicates"),
            )
            .help(format!("write one of {}", names.join(", ")))
        })
    }
}

/// An element type whose values can be combined.
pub(crate) trait Combine: Element {
    /// A number of the same size and alignment, that stands for a value where
    /// all types of a size are moved about by the same code.
    type Bits: Plain;
    /// The number that stands for a value.
    fn bits(self) -> Self::Bits;
    /// The value that a number stands for.
    fn of_bits(bits: Self::Bits) -> Self;
    /// How two values become one; `None` where the type has no such rule, and
    /// where there is nothing to combine.
    fn combine(rule: Duplicates) -> Option<fn(Self, Self) -> Self>;
}

/// Says which number stands for a value, inside an `impl Combine`.
macro_rules! bits {
    (itself) => {
        type Bits = Self;
        fn bits(self) -> Self {
            self
        }
        fn of_bits(bits: Self) -> Self {
            bits
        }
    };
    ($bits:ty) => {
        type Bits = $bits;
        fn bits(self) -> $bits {
            <$bits>::from_ne_bytes(self.to_ne_bytes())
        }
        fn of_bits(bits: $bits) -> Self {
            Self::from_ne_bytes(bits.to_ne_bytes())
        }
    };
}

macro_rules! numbers {
    ($($ty:ty as $bits:ident: $times:expr, $min:expr, $max:expr;)*) => {$(
        impl Combine for $ty {
            bits!($bits);
            fn combine(rule: Duplicates) -> Option<fn(Self, Self) -> Self> {
                match rule {
                    Duplicates::Add => Some(Element::plus),
                    Duplicates::Multiply => Some($times),
                    Duplicates::Min => $min,
                    Duplicates::Max => $max,
                    Duplicates::First => Some(|a, _| a),
                    Duplicates::Last => Some(|_, b| b),
                    Duplicates::Or | Duplicates::And | Duplicates::Refuse => None,
                }
            }
        }
    )*};
}

macro_rules! integers {
    ($($ty:ident as $bits:ident)*) => {
        numbers! { $($ty as $bits: $ty::wrapping_mul, Some(Ord::min), Some(Ord::max);)* }
    };
}

macro_rules! floats {
    ($($ty:ty as $bits:ident: $times:expr;)*) => {
        numbers! { $($ty as $bits:
            $times,
            Some(|a, b| if a.is_nan() || a < b { a } else { b }),
            Some(|a, b| if a.is_nan() || a > b { a } else { b });
        )* }
    };
}

integers! { i8 as u8 i16 as u16 i32 as u32 i64 as u64 u8 as u8 u16 as u16 u32 as u32 u64 as u64 }
floats! {
    f16 as u16: |a, b| f16::from_f32(a.to_f32() * b.to_f32());
    bf16 as u16: |a, b| bf16::from_f32(a.to_f32() * b.to_f32());
    f32 as u32: |a, b| a * b;
    f64 as u64: |a, b| a * b;
}
numbers! {
    Complex<f32> as itself: |a, b| a * b, None, None;
    Complex<f64> as itself: |a, b| a * b, None, None;
}

impl Combine for Bool8 {
    type Bits = u8;
    fn bits(self) -> u8 {
        self.byte()
    }
    fn of_bits(bits: u8) -> Self {
        (bits != 0).into()
    }
    fn combine(rule: Duplicates) -> Option<fn(Self, Self) -> Self> {
        match rule {
            Duplicates::Add | Duplicates::Or | Duplicates::Max => Some(Element::plus),
            Duplicates::Multiply | Duplicates::And | Duplicates::Min => {
                Some(|a, b| (a.get() && b.get()).into())
            }
            Duplicates::First => Some(|a, _| a),
            Duplicates::Last => Some(|_, b| b),
            Duplicates::Refuse => None,
        }
    }
}
