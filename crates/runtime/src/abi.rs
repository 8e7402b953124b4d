//! The structures that a compiled kernel and the runtime share.
//!
//! They mirror the C declarations that head every generated file; the page
//! `abi` of `sparsec-codegen-c` defines what each field means, and
//! `tests/abi.rs` compares the layouts.

use std::ffi::c_void;

/// Part of every cache key; raised whenever a structure here changes.
pub(crate) const VERSION: u32 = 2;

/// `sparsec_array`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawArray {
    pub(crate) data: *mut c_void,
    pub(crate) len: i64,
    pub(crate) capacity: i64,
}

/// `sparsec_tensor`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawTensor {
    pub(crate) extents: *const i64,
    pub(crate) arrays: *mut RawArray,
}

/// `sparsec_context`
#[repr(C)]
pub(crate) struct RawContext {
    pub(crate) state: *mut c_void,
    pub(crate) grow: unsafe extern "C" fn(*mut RawContext, *mut RawArray, i64, i64) -> *mut c_void,
    pub(crate) workspace: unsafe extern "C" fn(*mut RawContext, i64, i64) -> *mut c_void,
    pub(crate) sort_i32: unsafe extern "C" fn(*mut RawContext, *mut i32, i64),
    pub(crate) sort_i64: unsafe extern "C" fn(*mut RawContext, *mut i64, i64),
    pub(crate) sort_pairs: unsafe extern "C" fn(*mut RawContext, *mut i64, *mut i64, i64),
}

/// `NAME_launch`
pub(crate) type Launch = unsafe extern "C" fn(*mut RawContext, *mut *mut RawTensor) -> i32;
