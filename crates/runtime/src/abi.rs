//! The structures that a compiled kernel and the runtime share.
//!
//! They mirror the C declarations that head every generated file; the page
//! `abi` of `sparsec-codegen-c` defines what each field means, and
//! `tests/abi.rs` compares the layouts. Code that is made in memory relies on
//! [`Layout::RELIED_ON`], which is compared here.

use std::ffi::c_void;
use std::mem::{offset_of, size_of};

use sparsec_codegen_cranelift::Layout;

/// Part of every cache key; raised whenever a structure here changes.
pub(crate) const VERSION: u32 = 6;

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
    pub(crate) sort_i32: unsafe extern "C" fn(*mut RawContext, *mut i32, i64) -> i32,
    pub(crate) sort_i64: unsafe extern "C" fn(*mut RawContext, *mut i64, i64) -> i32,
    pub(crate) sort_pairs: unsafe extern "C" fn(*mut RawContext, *mut i64, *mut i64, i64) -> i32,
    pub(crate) chunks: unsafe extern "C" fn(*mut RawContext, Body, *const c_void, i64, i64) -> i32,
    pub(crate) turn: unsafe extern "C" fn(*mut RawContext) -> i32,
    pub(crate) pass: unsafe extern "C" fn(*mut RawContext),
    pub(crate) cancelled: *const i32,
}

/// The body of a chunk: a context, what it captured, what is the unit's own, and
/// which chunk.
pub(crate) type Body =
    unsafe extern "C" fn(*mut RawContext, *const c_void, *mut c_void, i64) -> i32;

/// `NAME_launch`
pub(crate) type Launch = unsafe extern "C" fn(*mut RawContext, *mut *mut RawTensor) -> i32;

const LAYOUT: Layout = Layout {
    grow: offset_of!(RawContext, grow) as i32,
    workspace: offset_of!(RawContext, workspace) as i32,
    sort_i32: offset_of!(RawContext, sort_i32) as i32,
    sort_i64: offset_of!(RawContext, sort_i64) as i32,
    sort_pairs: offset_of!(RawContext, sort_pairs) as i32,
    chunks: offset_of!(RawContext, chunks) as i32,
    turn: offset_of!(RawContext, turn) as i32,
    pass: offset_of!(RawContext, pass) as i32,
    cancelled: offset_of!(RawContext, cancelled) as i32,
    extents: offset_of!(RawTensor, extents) as i32,
    arrays: offset_of!(RawTensor, arrays) as i32,
    array: size_of::<RawArray>() as i32,
    data: offset_of!(RawArray, data) as i32,
    len: offset_of!(RawArray, len) as i32,
    capacity: offset_of!(RawArray, capacity) as i32,
};

/// The layouts agree on machines that code is made for in memory.
const _: () = assert!(size_of::<usize>() != 8 || LAYOUT.agrees(&Layout::RELIED_ON));
