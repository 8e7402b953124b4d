//! Tensors whose arrays are slices of the caller, used where they lie.
//!
//! ```text
//! caller:     row_ptr: &[i32]    columns: &[i32]    values: &[f64]
//!                 |                  |                  |           no copy
//! TensorRef:    1.pos              1.crd               vals
//! ```
//!
//! The arrays are checked as any others, and the borrow freezes them: for as
//! long as the [`TensorRef`] lives nobody can write them, so what was checked
//! stays true. It is read as the [`Tensor`] that it derefs to; a clone of that
//! tensor has arrays of its own.
//!
//! An owner that can be kept alive instead, such as an `Arc<Vec<T>>`, makes an
//! [`Array::shared`], and a tensor of those needs no lifetime.
//!
//! Invariant, on which the unsafe code rests: a borrowed array is reached only
//! through `&Array` and `&Tensor`, from which nothing can be moved out; both
//! fields that hold one are private to this file.

#![allow(unsafe_code)]

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use sparsec_base::{Result, Scalar};
use sparsec_format::Format;
use sparsec_parallel::Memory;

use crate::array::{Array, Element};
use crate::index::IndexInteger;
use crate::tensor::Tensor;
use crate::with_element;

/// An array that may be a slice of the caller; reads as the [`Array`] that it
/// derefs to.
///
/// ```
/// use sparsec_tensor::ArrayRef;
/// let values = [1.5, 2.5];
/// let array = ArrayRef::from(&values[..]);
/// assert_eq!(array.as_slice::<f64>().map(<[f64]>::as_ptr), Some(values.as_ptr()));
/// ```
pub struct ArrayRef<'a> {
    array: Array,
    life: PhantomData<&'a [u8]>,
}

impl<'a> ArrayRef<'a> {
    /// Positions or coordinates. Integers without sign are read as those of the
    /// same width with one, so that what does not fit shows as negative in the
    /// checks of a tensor.
    ///
    /// ```
    /// use sparsec_tensor::ArrayRef;
    /// let columns = [0usize, 3];
    /// assert_eq!(ArrayRef::index(&columns).as_index(), [0, 3]);
    /// ```
    pub fn index<T: IndexInteger>(entries: &'a [T]) -> Self {
        Self::lent(Array::new(T::WIDTH.element(), memory(entries)))
    }

    fn lent(array: Array) -> Self {
        Self {
            array,
            life: PhantomData,
        }
    }
}

/// The bytes of a slice. What is made of them lives in an [`ArrayRef`] or a
/// [`TensorRef`] with the lifetime of the slice, and nowhere else.
fn memory<T: sparsec_parallel::Plain>(slice: &[T]) -> Memory {
    // SAFETY: callers put the memory behind a private field of a value that has
    // the lifetime of the slice and gives out shared references only; the slice
    // is borrowed meanwhile, so nobody writes it. Clones are copies.
    unsafe { Memory::borrowed(slice) }
}

impl<'a, T: Element> From<&'a [T]> for ArrayRef<'a> {
    fn from(slice: &'a [T]) -> Self {
        Self::lent(Array::new(T::TYPE, memory(slice)))
    }
}

/// The numbers of an array, used where they lie.
impl<'a> From<&'a Array> for ArrayRef<'a> {
    fn from(array: &'a Array) -> Self {
        with_element!(array.element(), T => array.slice::<T>().into())
    }
}

/// An array of its own beside borrowed ones.
impl From<Array> for ArrayRef<'_> {
    fn from(array: Array) -> Self {
        Self::lent(array)
    }
}

impl Deref for ArrayRef<'_> {
    type Target = Array;

    fn deref(&self) -> &Array {
        &self.array
    }
}

impl fmt::Debug for ArrayRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.array.fmt(f)
    }
}

/// A tensor of borrowed arrays; reads as the [`Tensor`] that it derefs to.
pub struct TensorRef<'a> {
    tensor: Tensor,
    life: PhantomData<&'a [u8]>,
}

impl<'a> TensorRef<'a> {
    /// A tensor of these arrays, given in the order of [`Format::arrays`], with
    /// values of the type of `fill`. Nothing is copied.
    ///
    /// Time as [`Tensor::new`].
    ///
    /// # Errors
    /// As [`Tensor::new`].
    ///
    /// ```
    /// use sparsec_base::Scalar;
    /// use sparsec_format::Format;
    /// use sparsec_tensor::{ArrayRef, TensorRef};
    /// let (row_ptr, columns, values) = ([0i32, 2, 3], [0i32, 2, 1], [1.0, 2.0, 3.0]);
    /// let arrays = vec![
    ///     ArrayRef::index(&row_ptr),
    ///     ArrayRef::index(&columns),
    ///     ArrayRef::from(&values[..]),
    /// ];
    /// let a = TensorRef::new(Format::csr(), vec![2, 3], Scalar::F64(0.0), arrays)?;
    /// assert_eq!(a.get(&[0, 2]), Scalar::F64(2.0));
    /// assert_eq!(a.values::<f64>().map(<[f64]>::as_ptr), Some(values.as_ptr()));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn new(
        format: Format,
        extents: Vec<u64>,
        fill: Scalar,
        arrays: Vec<ArrayRef<'a>>,
    ) -> Result<Self> {
        let arrays = arrays.into_iter().map(|array| array.array).collect();
        let tensor = Tensor::new(format, extents, fill.element(), fill, arrays)?;
        Ok(Self {
            tensor,
            life: PhantomData,
        })
    }

    /// A tensor of arrays in which a walk stays within bounds.
    pub(crate) fn unchecked(
        format: &Format,
        extents: &[u64],
        fill: Scalar,
        arrays: &'a [Array],
        positions: &[usize],
    ) -> Self {
        let arrays = arrays.iter().map(|array| ArrayRef::from(array).array);
        let (format, extents, positions) = (format.clone(), extents.to_vec(), positions.to_vec());
        Self {
            tensor: Tensor::unchecked(format, extents, fill, arrays.collect(), positions),
            life: PhantomData,
        }
    }

    /// A tensor with arrays of its own.
    ///
    /// # Errors
    /// `E0407` when memory is out.
    pub fn to_tensor(&self) -> Result<Tensor> {
        self.tensor.try_clone()
    }
}

/// The arrays of a tensor, used where they lie.
impl<'a> From<&'a Tensor> for TensorRef<'a> {
    fn from(tensor: &'a Tensor) -> Self {
        let arrays = tensor
            .arrays()
            .iter()
            .map(|array| ArrayRef::from(array).array);
        Self {
            tensor: tensor.with_same_arrays(arrays.collect()),
            life: PhantomData,
        }
    }
}

/// A tensor of its own where one that borrows is asked for.
impl From<Tensor> for TensorRef<'_> {
    fn from(tensor: Tensor) -> Self {
        Self {
            tensor,
            life: PhantomData,
        }
    }
}

impl Deref for TensorRef<'_> {
    type Target = Tensor;

    fn deref(&self) -> &Tensor {
        &self.tensor
    }
}

impl fmt::Debug for TensorRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tensor.fmt(f)
    }
}
