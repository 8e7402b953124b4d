//! The values of an array, whose type is looked at once rather than for each.

use sparsec_base::{Bool8, Complex, ElementType, Scalar, bf16, f16};
use sparsec_tensor::Array;

macro_rules! values {
    ($($kind:ident($ty:ty))*) => {
        /// The values of an array, its type looked at once.
        #[derive(Clone, Copy)]
        pub(crate) enum Values<'a> {
            $($kind(&'a [$ty]),)*
        }

        impl<'a> Values<'a> {
            pub(crate) fn of(array: &'a Array) -> Self {
                match array.element() {
                    $(ElementType::$kind => Self::$kind(array.slice()),)*
                }
            }

            pub(crate) fn get(self, at: usize) -> Scalar {
                match self {
                    $(Self::$kind(values) => Scalar::$kind(values[at].into()),)*
                }
            }
        }

        /// An array of these values, which all have this type.
        pub(crate) fn array_of(
            element: ElementType,
            values: impl Iterator<Item = Scalar>,
        ) -> Array {
            match element {
                $(ElementType::$kind => {
                    let value = |value| match value {
                        Scalar::$kind(value) => value.into(),
                        other => unreachable!("{other} is not of the type {element}"),
                    };
                    Array::from_vec::<$ty>(values.map(value).collect())
                })*
            }
        }
    };
}

values! {
    Bool(Bool8) I8(i8) I16(i16) I32(i32) I64(i64) U8(u8) U16(u16) U32(u32) U64(u64) F16(f16) Bf16(bf16) F32(f32) F64(f64) C64(Complex<f32>) C128(Complex<f64>)
}
