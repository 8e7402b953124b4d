//! The types of which any bytes are a value.
//!
//! A typed view of a [`Memory`](crate::Memory) reads bytes that nobody wrote as this type, so the
//! type may have no padding and no invalid values. [`Plain`] is sealed: this list is complete.

use sparsec_base::{Bool8, Complex, bf16, f16};

/// A type of which any bytes are a value. Typed views have entries of such types.
///
/// Sealed: implemented for the types that store elements, and for keys and places.
pub trait Plain: Copy + Send + Sync + sealed::Sealed + 'static {}

mod sealed {
    /// Restricts [`super::Plain`] to types without padding or invalid values.
    pub trait Sealed {}
}

macro_rules! plain {
    ($($ty:ty)*) => { $(impl sealed::Sealed for $ty {} impl Plain for $ty {})* };
}
plain!(Bool8 i8 i16 i32 i64 u8 u16 u32 u64 u128 isize usize f16 bf16 f32 f64 Complex<f32> Complex<f64>);
