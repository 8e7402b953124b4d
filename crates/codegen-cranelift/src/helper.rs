//! Functions of this program that kernels call.
//!
//! Each takes and gives what registers hold, so that none needs a pointer. They
//! run the very operations that the interpreter runs, so the two cannot disagree.

use cranelift_codegen::ir::{Type, types};
use half::{bf16, f16};
use sparsec_base::{ElementType, Elementary, Scalar};
use sparsec_loop::{BinaryOp, Intrinsic, ops};

/// A function to call: its address, what it takes and what it gives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Helper {
    pub(crate) address: usize,
    pub(crate) takes: &'static [Type],
    pub(crate) gives: Type,
}

/// A function of this shape.
macro_rules! helper {
    (|$($x:ident: $taken:ident $takes:ident),+| -> $given:ident $gives:ident { $body:expr }) => {{
        extern "C" fn of($($x: $taken),+) -> $given {
            $body
        }
        Helper {
            address: of as *const () as usize,
            takes: &[$(types::$takes),+],
            gives: types::$gives,
        }
    }};
}

/// What floats of one width have.
macro_rules! floats {
    ($library:ident, $floored:ident, $ty:ident, $register:ident) => {
        fn $library(function: Intrinsic) -> Helper {
            macro_rules! one {
                ($method:ident) => {
                    helper!(|x: $ty $register| -> $ty $register { x.$method() })
                };
            }
            macro_rules! two {
                ($method:ident) => {
                    helper!(|x: $ty $register, y: $ty $register| -> $ty $register { x.$method(y) })
                };
            }
            macro_rules! three {
                ($method:ident) => {
                    helper!(|x: $ty $register, y: $ty $register, z: $ty $register| -> $ty $register {
                        x.$method(y, z)
                    })
                };
            }
            match function {
                Intrinsic::Sqrt => one!(sqrt),
                Intrinsic::Exp => one!(exp),
                Intrinsic::Log => one!(ln),
                Intrinsic::Sin => one!(sin),
                Intrinsic::Cos => one!(cos),
                Intrinsic::Tan => one!(tan),
                Intrinsic::Asin => one!(asin),
                Intrinsic::Acos => one!(acos),
                Intrinsic::Atan => one!(atan),
                Intrinsic::Sinh => one!(sinh),
                Intrinsic::Cosh => one!(cosh),
                Intrinsic::Tanh => one!(tanh),
                Intrinsic::Exp2 => one!(exp2),
                Intrinsic::Expm1 => one!(exp_m1),
                Intrinsic::Log2 => one!(log2),
                Intrinsic::Log10 => one!(log10),
                Intrinsic::Log1p => one!(ln_1p),
                Intrinsic::Cbrt => one!(cbrt),
                Intrinsic::Floor => one!(floor),
                Intrinsic::Ceil => one!(ceil),
                Intrinsic::Round => one!(round_ties_even),
                Intrinsic::Trunc => one!(trunc),
                Intrinsic::Pow => two!(powf),
                Intrinsic::Hypot => two!(hypot),
                Intrinsic::Atan2 => two!(atan2),
                Intrinsic::Asinh => one!(c_asinh),
                Intrinsic::Acosh => one!(c_acosh),
                Intrinsic::Atanh => one!(c_atanh),
                Intrinsic::Erf => one!(c_erf),
                Intrinsic::CopySign => two!(copysign),
                Intrinsic::Fma => three!(mul_add),
            }
        }

        fn $floored(op: BinaryOp) -> Helper {
            macro_rules! floored {
                ($op:ident) => {
                    helper!(|a: $ty $register, b: $ty $register| -> $ty $register {
                        match ops::binary(BinaryOp::$op, Scalar::$register(a), Scalar::$register(b)) {
                            Ok(Scalar::$register(value)) => value,
                            other => unreachable!("floats divide to {other:?}"),
                        }
                    })
                };
            }
            match op {
                BinaryOp::FloorDiv => floored!(FloorDiv),
                _ => floored!(Mod),
            }
        }
    };
}

floats! { library_f32, floored_f32, f32, F32 }
floats! { library_f64, floored_f64, f64, F64 }

/// A function of the C library on floats of type `element`.
pub(crate) fn intrinsic(function: Intrinsic, element: ElementType) -> Helper {
    match element {
        ElementType::F32 => library_f32(function),
        _ => library_f64(function),
    }
}

/// An integer to the power of another, that is not negative.
pub(crate) fn power() -> Helper {
    helper!(|a: u64 I64, b: u64 I64| -> u64 I64 {
        match ops::call(Intrinsic::Pow, &[Scalar::U64(a), Scalar::U64(b)]) {
            Ok(Scalar::U64(power)) => power,
            other => unreachable!("{a} to the power {b} is {other:?}"),
        }
    })
}

/// `//` or `%` of floats of type `element`.
pub(crate) fn floored(op: BinaryOp, element: ElementType) -> Helper {
    match element {
        ElementType::F32 => floored_f32(op),
        _ => floored_f64(op),
    }
}

/// From a half, given as its bits, to single precision.
pub(crate) fn of_half(half: ElementType) -> Helper {
    match half {
        ElementType::F16 => {
            helper!(|bits: u32 I32| -> f32 F32 { f16::from_bits(bits as u16).to_f32() })
        }
        _ => helper!(|bits: u32 I32| -> f32 F32 { bf16::from_bits(bits as u16).to_f32() }),
    }
}

/// From double precision to the bits of the nearest half.
pub(crate) fn to_half(half: ElementType) -> Helper {
    match half {
        ElementType::F16 => {
            helper!(|value: f64 F64| -> u32 I32 {
                match Scalar::F64(value).cast(ElementType::F16) {
                    Some(Scalar::F16(half)) => half.to_bits().into(),
                    other => unreachable!("a double is {other:?} as a half"),
                }
            })
        }
        _ => helper!(|value: f64 F64| -> u32 I32 {
            match Scalar::F64(value).cast(ElementType::Bf16) {
                Some(Scalar::Bf16(half)) => half.to_bits().into(),
                other => unreachable!("a double is {other:?} as a half"),
            }
        }),
    }
}
