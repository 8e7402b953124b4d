//! What values of the IR are in registers.
//!
//! | type               | held as                                   |
//! |--------------------|-------------------------------------------|
//! | `bool`             | 8 bits, 0 or 1                            |
//! | integers           | as many bits as they have                 |
//! | `f16`, `bf16`      | their 16 bits, as an integer              |
//! | `f32`, `f64`       | floats                                    |
//! | `c64`, `c128`      | two floats                                |

use cranelift_codegen::ir::{Type, Value, types};
use sparsec_base::ElementType;

/// A value of the IR.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    /// A real number, an integer or a truth value.
    Real(Value),
    /// The parts of a complex number.
    Complex(Value, Value),
}

impl Number {
    /// The one value that this is.
    ///
    /// # Panics
    /// If it is a complex number, which the verifier lets nobody use as a real one.
    pub(crate) fn real(self) -> Value {
        match self {
            Self::Real(value) => value,
            Self::Complex(..) => panic!("a complex number where a real one belongs"),
        }
    }

    /// The parts of a complex number.
    ///
    /// # Panics
    /// If it is a real one.
    pub(crate) fn parts(self) -> (Value, Value) {
        match self {
            Self::Complex(re, im) => (re, im),
            Self::Real(_) => panic!("a real number where a complex one belongs"),
        }
    }
}

/// The type of the registers that hold `element`, or each of its parts.
pub(crate) fn register(element: ElementType) -> Type {
    match element {
        ElementType::Bool | ElementType::I8 | ElementType::U8 => types::I8,
        ElementType::I16 | ElementType::U16 | ElementType::F16 | ElementType::Bf16 => types::I16,
        ElementType::I32 | ElementType::U32 => types::I32,
        ElementType::I64 | ElementType::U64 => types::I64,
        ElementType::F32 | ElementType::C64 => types::F32,
        ElementType::F64 | ElementType::C128 => types::F64,
    }
}
