//! Arrays of NumPy that tensors use where they lie, frozen meanwhile.
//!
//! ```text
//! matrix.indices ──► Frozen: writeable = False ──► Array ──► tensor ──► kernels
//!                        └── the last tensor ends: writeable = True again
//! ```
//!
//! A kernel follows positions and coordinates without checks, so nobody may write them once
//! they were checked. NumPy marks an array as read-only by a flag of its own, which views
//! made before do not see. An **index array** is therefore lent only if no such view can
//! exist: the array and the arrays that it is a view of have no references but those that we
//! know ([`is_sole`]). Other index arrays are copied. Who sets the flag back by hand breaks the
//! promise, as who writes through `ctypes` does.
//!
//! Values are no addresses: an array of values is lent in any case, and frozen so that a plain
//! assignment is refused. A write through an older view shows in the tensor.
//!
//! Invariants: an array is frozen while an [`Array`] of it lives; it becomes writeable again
//! only if it was writeable when the first froze it.

#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use numpy::npyffi::NPY_ARRAY_OWNDATA;
use numpy::{PyArrayDescrMethods, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sparsec::internals::parallel::Memory;
use sparsec::{Array, Diagnostic};

use crate::element;
use crate::error::OrRaise;

/// How an array of NumPy becomes an array of a tensor.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lending {
    /// A copy.
    Copied,
    /// Values: where they lie.
    Values,
    /// Positions or coordinates: where they lie if nobody but so many owners, known to the
    /// caller, has a reference to them; else a copy.
    Index {
        /// References that the caller can account for.
        known: isize,
    },
}

/// The arrays that are frozen, by address.
static FROZEN: Mutex<BTreeMap<usize, Freeze>> = Mutex::new(BTreeMap::new());

/// How often an array is frozen.
#[derive(Clone, Copy, Debug)]
struct Freeze {
    times: usize,
    /// Whether no view made before can write to it.
    is_sole: bool,
}

/// Arrays of NumPy that are not written while this lives.
struct Frozen {
    /// Those that are frozen: an array, and those that it is a view of, the owner first.
    frozen: Vec<Py<PyAny>>,
    /// Whose memory it is, frozen or read-only before.
    _array: Py<PyAny>,
}

/// The bytes of an array of NumPy.
struct Lent {
    data: *const u8,
    len: usize,
    _frozen: Frozen,
}

// SAFETY: the bytes are only read, and live as long as the array, of which `Frozen` has a
// reference. References to Python objects may be dropped on any thread.
unsafe impl Send for Lent {}
// SAFETY: as above.
unsafe impl Sync for Lent {}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: `array` found so many bytes there, contiguous, in an array that lives as long
        // as `self`: NumPy moves the data of no array that has another reference.
        unsafe { std::slice::from_raw_parts(self.data, self.len) }
    }
}

/// An array of NumPy as an array of a tensor. One that is not contiguous, not aligned or of
/// the other byte order is copied.
///
/// # Errors
/// `E0451` for a dtype that no tensor stores; `E0407` when memory is out.
pub(crate) fn array(from: &Bound<'_, PyUntypedArray>, how: Lending) -> PyResult<Array> {
    let py = from.py();
    let descr = from.dtype();
    let element = element::of_numpy(&descr).or_raise(py)?;
    let is_native = descr.is_native_byteorder() != Some(false);
    if !(from.is_c_contiguous() && from.is_aligned() && is_native) {
        return array(&required(from)?, Lending::Copied);
    }
    let len = from.len() * element.size();
    let data = data(from);
    let is_lent = match how {
        Lending::Copied => false,
        Lending::Values => true,
        Lending::Index { known } => is_sole(from.as_any(), known)?,
    };
    if !is_lent || len == 0 {
        // SAFETY: a contiguous array has so many bytes at its data; nothing runs in between.
        let bytes = unsafe { std::slice::from_raw_parts(data, len) };
        let mut memory = Memory::zeroed(len).map_err(Diagnostic::from).or_raise(py)?;
        memory.as_mut_slice::<u8>().copy_from_slice(bytes);
        return Ok(Array::new(element, memory));
    }
    let is_sole = matches!(how, Lending::Index { .. });
    let lent = Lent {
        data,
        len,
        _frozen: Frozen::new(from.as_any(), is_sole)?,
    };
    Ok(Array::new(element, Memory::shared::<u8, _>(Arc::new(lent))))
}

/// Where the data of an array begin.
fn data(array: &Bound<'_, PyUntypedArray>) -> *const u8 {
    // The element type does not matter for the address.
    // SAFETY: nothing is read through the type.
    let typed = unsafe { array.as_any().cast_unchecked::<numpy::PyArrayDyn<u8>>() };
    typed.data()
}

/// A copy in C order, aligned, and in the byte order of this machine.
fn required<'py>(array: &Bound<'py, PyUntypedArray>) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = array.py();
    let descr = array.dtype().call_method1("newbyteorder", ("=",))?;
    let options = PyDict::new(py);
    options.set_item("order", "C")?;
    options.set_item("copy", true)?;
    let copy = array.call_method("astype", (descr,), Some(&options))?;
    Ok(copy.cast_into::<PyUntypedArray>()?)
}

/// Whether nobody can write to an array once it is frozen: it has `known` references, the arrays
/// that it is a view of have one each, and the last of them owns its data.
fn is_sole(array: &Bound<'_, PyAny>, known: isize) -> PyResult<bool> {
    if frozen().get(&address(array)).is_some_and(|it| it.is_sole) {
        return Ok(true);
    }
    // SAFETY: the object lives, since we have a reference.
    if unsafe { ffi::Py_REFCNT(array.as_ptr()) } > known {
        return Ok(false);
    }
    let base = array.getattr("base")?;
    if base.is_none() {
        let flags: i32 = array.getattr("flags")?.getattr("num")?.extract()?;
        return Ok(flags & NPY_ARRAY_OWNDATA != 0);
    }
    // Its view has a reference, and `base` is one.
    Ok(base.is_exact_instance_of::<PyUntypedArray>() && is_sole(&base, 2)?)
}

fn address(array: &Bound<'_, PyAny>) -> usize {
    array.as_ptr().addr()
}

fn frozen() -> MutexGuard<'static, BTreeMap<usize, Freeze>> {
    FROZEN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn set_writeable(array: &Bound<'_, PyAny>, writeable: bool) -> PyResult<()> {
    array.call_method1("setflags", (writeable,)).map(|_| ())
}

impl Frozen {
    fn new(array: &Bound<'_, PyAny>, is_sole: bool) -> PyResult<Self> {
        let mut made = Self {
            frozen: Vec::new(),
            _array: array.clone().unbind(),
        };
        let mut next = array.clone();
        while next.is_instance_of::<PyUntypedArray>() {
            let is_ours = frozen().contains_key(&address(&next));
            if is_ours || next.getattr("flags")?.getattr("writeable")?.is_truthy()? {
                set_writeable(&next, false)?;
                let new = Freeze { times: 0, is_sole };
                frozen().entry(address(&next)).or_insert(new).times += 1;
                made.frozen.insert(0, next.clone().unbind());
            }
            next = next.getattr("base")?;
        }
        Ok(made)
    }
}

/// Arrays that no tensor uses any more are writeable again, the owner before its views.
impl Drop for Frozen {
    fn drop(&mut self) {
        // At the end of the interpreter nobody writes.
        Python::try_attach(|py| {
            for array in &self.frozen {
                let array = array.bind(py);
                let mut all = frozen();
                let Some(entry) = all.get_mut(&address(array)) else {
                    continue;
                };
                entry.times -= 1;
                if entry.times > 0 {
                    continue;
                }
                all.remove(&address(array));
                drop(all);
                // A view of memory that became read-only meanwhile stays so.
                let _ = set_writeable(array, true);
            }
        });
    }
}
