//! Arrays of tensors as arrays of NumPy.
//!
//! A view has a reference to the Python object that owns the memory, as its `base`, so it
//! lives as long as it has to. Views of stored tensors are read-only: a kernel relies on what
//! was checked.

#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};

use numpy::npyffi::{
    NPY_ARRAY_CARRAY_RO, NPY_ARRAY_WRITEABLE, NpyTypes, PY_ARRAY_API, get_type_object, npy_intp,
};
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::prelude::*;
use sparsec::{Array, ElementType};

use crate::element;

/// An array that Python owns, and may write to.
#[pyclass(frozen, module = "sparsec._sparsec")]
pub(crate) struct Buffer {
    array: Array,
}

/// A read-only view of an array of `owner`.
pub(crate) fn of<'py>(
    owner: &Bound<'py, PyAny>,
    array: &Array,
    shape: &[u64],
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: callers pass an array of the frozen object `owner`, whose memory stays where it
    // is as long as the object lives.
    unsafe { view(owner, array, shape, NPY_ARRAY_CARRAY_RO) }
}

/// An array as one of NumPy that may be written. What is shared with others is copied first.
///
/// # Errors
/// `MemoryError` when memory is out.
pub(crate) fn owned<'py>(
    py: Python<'py>,
    mut array: Array,
    shape: &[u64],
) -> PyResult<Bound<'py, PyAny>> {
    use crate::error::OrRaise;
    array.make_own().or_raise(py)?;
    let owner = Bound::new(py, Buffer { array })?;
    let flags = NPY_ARRAY_CARRAY_RO | NPY_ARRAY_WRITEABLE;
    // SAFETY: the buffer gives out its array to this view alone, and it is its own memory.
    unsafe { view(owner.as_any(), &owner.get().array, shape, flags) }
}

/// A view of the memory of an array.
///
/// # Safety
/// The memory stays where it is as long as `owner` lives; with `NPY_ARRAY_WRITEABLE`, nothing
/// else reads or writes it.
unsafe fn view<'py>(
    owner: &Bound<'py, PyAny>,
    array: &Array,
    shape: &[u64],
    flags: c_int,
) -> PyResult<Bound<'py, PyAny>> {
    let py = owner.py();
    let descr = PyArrayDescr::new(py, stored_as(array.element()))?;
    let mut shape: Vec<npy_intp> = shape.iter().map(|&extent| extent as npy_intp).collect();
    let n: usize = shape.iter().map(|&extent| extent as usize).product();
    assert_eq!(n, array.len(), "a view has as many entries as its array");
    // SAFETY: the descriptor is a new reference, which the call takes over; the shape has as
    // many entries as the array, which are contiguous; the base is set before anybody sees it.
    unsafe {
        let made = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            get_type_object(py, NpyTypes::PyArray_Type),
            descr.into_dtype_ptr(),
            shape.len() as c_int,
            shape.as_mut_ptr(),
            std::ptr::null_mut(),
            array.as_ptr().cast_mut().cast::<c_void>(),
            flags,
            std::ptr::null_mut(),
        );
        let made = Bound::from_owned_ptr_or_err(py, made)?;
        let base = owner.clone().into_ptr();
        if PY_ARRAY_API.PyArray_SetBaseObject(py, made.as_ptr().cast(), base) < 0 {
            return Err(PyErr::fetch(py));
        }
        Ok(made)
    }
}

/// The type of NumPy that has the bytes of an element type: the upper halves of `bf16` are
/// integers to NumPy.
fn stored_as(element: ElementType) -> &'static str {
    match element {
        ElementType::Bf16 => "uint16",
        other => element::numpy_name(other),
    }
}
