//! Arrays of numbers whose type is data.
//!
//! An [`Array`] is a [`Memory`] with an [`ElementType`]. Code that is the same
//! for every type works on slices inside [`with_element!`](crate::with_element), which runs its body
//! once for the type at hand:
//!
//! ```
//! use sparsec_tensor::{Array, Element, with_element};
//! let array = Array::from_vec(vec![1.5, 2.5]);
//! let sum = with_element!(array.element(), T => {
//!     array.slice::<T>().iter().fold(T::ZERO, |sum, &v| sum.plus(v)).scalar()
//! });
//! assert_eq!(sum.to_string(), "4.0");
//! ```

use std::fmt;
use std::sync::Arc;

use sparsec_base::{Bool8, Complex, ElementType, Result, Scalar, bf16, f16};
use sparsec_parallel::{Memory, MemoryLimit, Plain};

use crate::alloc::ask;
use crate::index::{Index, IndexInteger};

/// A Rust type that stores one [`ElementType`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no type of a tensor's entries",
    note = "truth values are stored as `Bool8`, whose bytes can be checked: `Bool8::from(true)`"
)]
pub trait Element: Plain + Default + PartialEq + fmt::Debug {
    /// The element type that this type stores.
    const TYPE: ElementType;
    /// Zero, or false.
    const ZERO: Self;
    /// The value as a scalar.
    fn scalar(self) -> Scalar;
    /// The value of a scalar of this type; `None` for one of another type.
    fn from_scalar(scalar: Scalar) -> Option<Self>;
    /// The sum: integers wrap, truth values are or'ed.
    #[must_use]
    fn plus(self, other: Self) -> Self;
    /// The conjugate, which a real number is itself.
    #[must_use]
    fn conj(self) -> Self {
        self
    }
}

macro_rules! element {
    ($($ty:ty, $kind:ident, $zero:expr, $plus:expr $(, $conj:expr)?;)*) => {$(
        impl Element for $ty {
            const TYPE: ElementType = ElementType::$kind;
            const ZERO: Self = $zero;
            fn scalar(self) -> Scalar {
                Scalar::$kind(self)
            }
            fn from_scalar(scalar: Scalar) -> Option<Self> {
                match scalar {
                    Scalar::$kind(value) => Some(value),
                    _ => None,
                }
            }
            fn plus(self, other: Self) -> Self {
                let plus: fn(Self, Self) -> Self = $plus;
                plus(self, other)
            }
            $(fn conj(self) -> Self {
                let conj: fn(&Self) -> Self = $conj;
                conj(&self)
            })?
        }
    )*};
}

element! {
    i8, I8, 0, i8::wrapping_add;
    i16, I16, 0, i16::wrapping_add;
    i32, I32, 0, i32::wrapping_add;
    i64, I64, 0, i64::wrapping_add;
    u8, U8, 0, u8::wrapping_add;
    u16, U16, 0, u16::wrapping_add;
    u32, U32, 0, u32::wrapping_add;
    u64, U64, 0, u64::wrapping_add;
    f16, F16, f16::ZERO, |a, b| f16::from_f32(a.to_f32() + b.to_f32());
    bf16, Bf16, bf16::ZERO, |a, b| bf16::from_f32(a.to_f32() + b.to_f32());
    f32, F32, 0.0, |a, b| a + b;
    f64, F64, 0.0, |a, b| a + b;
    Complex<f32>, C64, Complex::new(0.0, 0.0), |a, b| a + b, Complex::conj;
    Complex<f64>, C128, Complex::new(0.0, 0.0), |a, b| a + b, Complex::conj;
}

impl Element for Bool8 {
    const TYPE: ElementType = ElementType::Bool;
    const ZERO: Self = Self::FALSE;
    fn scalar(self) -> Scalar {
        Scalar::Bool(self.get())
    }
    fn from_scalar(scalar: Scalar) -> Option<Self> {
        match scalar {
            Scalar::Bool(value) => Some(value.into()),
            _ => None,
        }
    }
    fn plus(self, other: Self) -> Self {
        (self.get() || other.get()).into()
    }
}

/// Runs an expression with the name given bound to the Rust type that stores
/// the element type.
#[macro_export]
macro_rules! with_element {
    ($element:expr, $T:ident => $body:expr) => {
        $crate::with_element!(@ $element, $T, $body,
            Bool: $crate::Bool8,
            I8: i8, I16: i16, I32: i32, I64: i64,
            U8: u8, U16: u16, U32: u32, U64: u64,
            F16: $crate::f16, Bf16: $crate::bf16, F32: f32, F64: f64,
            C64: $crate::Complex<f32>, C128: $crate::Complex<f64>
        )
    };
    (@ $element:expr, $T:ident, $body:expr, $($kind:ident: $ty:ty),*) => {
        match $element {
            $(::sparsec_base::ElementType::$kind => {
                type $T = $ty;
                $body
            })*
        }
    };
}

/// A run of numbers of one element type.
#[derive(Clone, PartialEq)]
pub struct Array {
    element: ElementType,
    memory: Memory,
}

impl Array {
    /// The bytes of `memory` as numbers of type `element`.
    ///
    /// # Panics
    /// If they are no whole number of entries or not aligned for the type.
    pub fn new(element: ElementType, memory: Memory) -> Self {
        let alignment = with_element!(element, T => align_of::<T>());
        assert!(
            memory.len().is_multiple_of(element.size())
                && memory.as_ptr().addr().is_multiple_of(alignment),
            "{} bytes are no array of {element}",
            memory.len()
        );
        Self { element, memory }
    }

    /// The numbers of an owner that lives as long as the array and its clones
    /// do. Nothing is copied; whoever writes to the array gets a copy first.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use sparsec_tensor::Array;
    /// let owner = Arc::new(vec![1.5, 2.5]);
    /// let array = Array::shared::<f64, _>(Arc::clone(&owner));
    /// assert_eq!(array.as_slice::<f64>().map(<[f64]>::as_ptr), Some(owner.as_ptr()));
    /// ```
    pub fn shared<T: Element, O>(owner: Arc<O>) -> Self
    where
        O: AsRef<[T]> + Send + Sync + 'static,
    {
        Self::new(T::TYPE, Memory::shared::<T, O>(owner))
    }

    /// As [`Array::shared`], for positions or coordinates.
    pub fn shared_index<T: IndexInteger, O>(owner: Arc<O>) -> Self
    where
        O: AsRef<[T]> + Send + Sync + 'static,
    {
        Self::new(T::WIDTH.element(), Memory::shared::<T, O>(owner))
    }

    /// The positions or coordinates of a vector, whose allocation is taken over.
    pub fn from_index_vec<T: IndexInteger>(entries: Vec<T>) -> Self {
        Self::new(T::WIDTH.element(), Memory::from(entries))
    }

    /// The same numbers: a copy, unless they are shared with an owner, when
    /// there is one more reference to it.
    ///
    /// # Errors
    /// `E0407` when memory is out.
    pub fn try_clone(&self) -> Result<Self> {
        Ok(Self {
            element: self.element,
            memory: self.memory.try_clone()?,
        })
    }

    /// Whether the numbers belong to somebody else, so that writing copies them.
    pub fn is_foreign(&self) -> bool {
        self.memory.is_foreign()
    }

    /// Makes the numbers the array's own, so that writing copies nothing.
    ///
    /// # Errors
    /// `E0407` when memory is out.
    pub fn make_own(&mut self) -> Result<()> {
        self.memory.make_own()?;
        Ok(())
    }

    /// The numbers of a vector, whose allocation is taken over.
    pub fn from_vec<T: Element>(values: Vec<T>) -> Self {
        Self {
            element: T::TYPE,
            memory: Memory::from(values),
        }
    }

    /// `len` zeros. A large array costs nothing until it is touched.
    ///
    /// # Errors
    /// `E0407` when memory is out.
    pub fn zeroed(element: ElementType, len: usize) -> Result<Self> {
        let bytes = len.saturating_mul(element.size());
        let memory = Memory::zeroed(bytes)?;
        Ok(Self { element, memory })
    }

    /// `len` numbers for a caller that writes all of them before it reads any; see
    /// [`Memory::for_writing`].
    ///
    /// # Errors
    /// `E0407` when memory is out.
    pub fn for_writing(element: ElementType, len: usize) -> Result<Self> {
        let bytes = len.saturating_mul(element.size());
        let memory = Memory::for_writing(bytes)?;
        Ok(Self { element, memory })
    }

    /// `len` times the same value.
    ///
    /// # Errors
    /// `E0407` when memory is out.
    pub fn filled(value: Scalar, len: usize) -> Result<Self> {
        let mut array = Self::zeroed(value.element(), len)?;
        // Fresh memory is zero, which is +0.0 too; -0.0 has a bit set.
        if value != value.element().zero() {
            with_element!(array.element, T => {
                if let Some(value) = T::from_scalar(value) {
                    array.slice_mut::<T>().fill(value);
                }
            });
        }
        Ok(array)
    }

    /// As [`Array::filled`], of so many bytes at most.
    ///
    /// # Errors
    /// `E0407` for more.
    pub(crate) fn filled_within(limit: MemoryLimit, value: Scalar, len: usize) -> Result<Self> {
        ask(
            limit,
            (len as u64).saturating_mul(value.element().size() as u64),
        )?;
        Self::filled(value, len)
    }

    /// The type of the numbers.
    pub fn element(&self) -> ElementType {
        self.element
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.memory.len() / self.element.size()
    }

    /// Whether there is no number.
    pub fn is_empty(&self) -> bool {
        self.memory.is_empty()
    }

    /// How many bytes the numbers take.
    pub fn bytes(&self) -> usize {
        self.memory.len()
    }

    /// The numbers, if `T` stores their type.
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        (T::TYPE == self.element).then(|| self.memory.as_slice())
    }

    /// The numbers to write to, if `T` stores their type.
    pub fn as_mut_slice<T: Element>(&mut self) -> Option<&mut [T]> {
        (T::TYPE == self.element).then(|| self.memory.as_mut_slice())
    }

    /// The numbers, where the type is known: inside [`with_element!`](crate::with_element).
    ///
    /// # Panics
    /// If `T` stores another type.
    pub fn slice<T: Element>(&self) -> &[T] {
        match self.as_slice() {
            Some(slice) => slice,
            None => panic!("an array of {} read as {}", self.element, T::TYPE),
        }
    }

    /// The bytes of the numbers as other numbers of the same size.
    pub(crate) fn as_plain<T: Plain>(&self) -> &[T] {
        self.memory.as_slice()
    }

    /// As [`Array::slice`], to write to.
    ///
    /// # Panics
    /// If `T` stores another type.
    pub fn slice_mut<T: Element>(&mut self) -> &mut [T] {
        let element = self.element;
        match self.as_mut_slice() {
            Some(slice) => slice,
            None => panic!("an array of {element} written as {}", T::TYPE),
        }
    }

    /// The first byte, for a kernel that reads.
    pub fn as_ptr(&self) -> *const u8 {
        self.memory.as_ptr()
    }

    /// The first byte, for a kernel that writes.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.memory.as_mut_ptr()
    }

    /// The bytes of the numbers, in this machine's order.
    pub fn as_bytes(&self) -> &[u8] {
        self.memory.as_slice()
    }

    /// The bytes alone.
    pub fn into_memory(self) -> Memory {
        self.memory
    }

    /// The number at `i`.
    ///
    /// # Panics
    /// If `i` is out of range.
    pub fn get(&self, i: usize) -> Scalar {
        with_element!(self.element, T => self.slice::<T>()[i].scalar())
    }

    /// Replaces the number at `i`.
    ///
    /// # Panics
    /// If `i` is out of range or the value has another type.
    pub fn set(&mut self, i: usize, value: Scalar) {
        with_element!(self.element, T => match T::from_scalar(value) {
            Some(value) => self.slice_mut::<T>()[i] = value,
            None => panic!("{} set in an array of {}", value.element(), self.element),
        });
    }

    /// The integer at `i`.
    ///
    /// # Panics
    /// If `i` is out of range or this is no integer array.
    pub fn index(&self, i: usize) -> i64 {
        self.as_index().get(i)
    }

    /// The numbers as positions or coordinates.
    ///
    /// # Panics
    /// If this is no integer array.
    pub fn as_index(&self) -> Index<'_> {
        match self.element {
            ElementType::U8 => Index::W8(self.memory.as_slice()),
            ElementType::U16 => Index::W16(self.memory.as_slice()),
            ElementType::I32 => Index::W32(self.memory.as_slice()),
            ElementType::I64 => Index::W64(self.memory.as_slice()),
            other => panic!("an array of {other} used as an index array"),
        }
    }

    /// The numbers as positions or coordinates of the type `I`, if that is as
    /// wide as they are and this is an index array. Those of a checked tensor
    /// are not negative, so it does not matter whether `I` has a sign.
    pub fn as_index_slice<I: IndexInteger>(&self) -> Option<&[I]> {
        (I::WIDTH.element() == self.element).then(|| self.memory.as_slice())
    }

    /// The numbers converted to another type; `None` where a float has no
    /// integer near it.
    ///
    /// # Errors
    /// `E0407` when memory is out.
    pub fn cast(&self, element: ElementType) -> Result<Option<Self>> {
        let mut out = Self::zeroed(element, self.len())?;
        for i in 0..self.len() {
            match self.get(i).cast(element) {
                Some(value) => out.set(i, value),
                None => return Ok(None),
            }
        }
        Ok(Some(out))
    }
}

/// Entries that the debug form of an array shows.
const SHOWN: usize = 32;

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: Vec<String> = (0..self.len().min(SHOWN))
            .map(|i| self.get(i).to_string())
            .collect();
        let more = if self.len() > SHOWN { ", …" } else { "" };
        write!(f, "{}[{}{more}]", self.element, shown.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_goes_in_and_out() {
        for element in ElementType::ALL {
            let mut array = Array::filled(element.one(), 3).unwrap();
            array.set(1, element.zero());
            assert_eq!(array.get(0), element.one());
            assert_eq!(array.get(1), element.zero());
            assert_eq!((array.len(), array.bytes()), (3, 3 * element.size()));
            assert_eq!(Array::new(element, array.clone().into_memory()), array);
        }
    }

    #[test]
    fn negative_zero_is_a_value_of_its_own() {
        let array = Array::filled(Scalar::F64(-0.0), 2).unwrap();
        assert_eq!(array.get(1), Scalar::F64(-0.0));
    }

    #[test]
    fn views_are_typed() {
        let array = Array::from_vec(vec![3i32, 4]);
        assert_eq!(array.as_slice::<i32>(), Some(&[3, 4][..]));
        assert_eq!(array.as_slice::<f64>(), None);
        assert_eq!(array.as_index(), [3, 4]);
        assert_eq!(format!("{array:?}"), "i32[3, 4]");
    }

    #[test]
    fn casts_refuse_what_has_no_integer() {
        let array = Array::from_vec(vec![1.9, -2.0]);
        assert_eq!(
            array.cast(ElementType::I32),
            Ok(Some(Array::from_vec(vec![1, -2])))
        );
        let array = Array::from_vec(vec![f64::NAN]);
        assert_eq!(array.cast(ElementType::I64), Ok(None));
    }
}
