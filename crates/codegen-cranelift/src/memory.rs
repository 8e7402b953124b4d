//! Executable memory.
//!
//! Each kernel has pages of its own, which are first written and then made
//! executable; never both at once. All cores fetch them anew before they run. They
//! are given back when the last owner of the [`Code`] drops it.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;

use wasmtime_internal_jit_icache_coherence::{clear_cache, pipeline_flush_mt};

/// The type of a kernel's entry: a context, and a list of tensors. What it returns
/// is 0 or the status of a failure.
pub type Entry = unsafe extern "C" fn(context: *mut c_void, tensors: *mut c_void) -> i32;

/// Machine code of one kernel.
#[derive(Debug)]
pub struct Code {
    pages: NonNull<c_void>,
    mapped: usize,
    size: usize,
    /// Code that this calls.
    parts: Vec<Code>,
}

// SAFETY: nobody writes to the pages once they are made, and code may run in any
// number of threads.
unsafe impl Send for Code {}
// SAFETY: as above.
unsafe impl Sync for Code {}

impl Code {
    /// Puts the bytes of a function into memory.
    ///
    /// # Errors
    /// What the system says where it gives no memory, or none that may run.
    pub(crate) fn map(bytes: &[u8]) -> io::Result<Self> {
        let mapped = bytes.len().max(1);
        // SAFETY: a new mapping at an address that the system chooses.
        let pages = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                mapped,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        let pages = match NonNull::new(pages) {
            Some(pages) if pages.as_ptr() != libc::MAP_FAILED => pages,
            _ => return Err(io::Error::last_os_error()),
        };
        let code = Self {
            pages,
            mapped,
            size: bytes.len(),
            parts: Vec::new(),
        };
        // SAFETY: the pages are new, writable and as large as the bytes.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), pages.as_ptr().cast(), bytes.len());
        }
        // SAFETY: the pages are ours alone.
        let status =
            unsafe { libc::mprotect(pages.as_ptr(), mapped, libc::PROT_READ | libc::PROT_EXEC) };
        if status != 0 {
            return Err(io::Error::last_os_error());
        }
        fetch_anew(pages.as_ptr(), mapped)?;
        Ok(code)
    }

    /// The entry. It must not be called when `self` is gone.
    ///
    /// Calling it is sound with a context and tensors as the binary interface of
    /// the C back end describes them, which fit the function that was compiled.
    pub fn entry(&self) -> Entry {
        // SAFETY: the pages begin with a function of this type.
        unsafe { std::mem::transmute::<*mut c_void, Entry>(self.pages.as_ptr()) }
    }

    /// Code that calls these parts, and keeps them.
    pub(crate) fn with(mut self, parts: Vec<Self>) -> Self {
        self.parts = parts;
        self
    }

    /// Where the code begins.
    pub(crate) fn address(&self) -> i64 {
        self.pages.as_ptr() as i64
    }

    /// How many bytes of code there are.
    pub fn size(&self) -> usize {
        self.size + self.parts.iter().map(Self::size).sum::<usize>()
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and whoever could call it held this.
        unsafe {
            libc::munmap(self.pages.as_ptr(), self.mapped);
        }
    }
}

/// Makes every core fetch the instructions in this range again. Some processors (AArch64)
/// do not watch memory for changes, and a core may have fetched other code from these
/// addresses before. `mprotect` writes the data cache back when it makes pages executable.
fn fetch_anew(pages: *const c_void, len: usize) -> io::Result<()> {
    // SAFETY: the range is a mapping of ours that may be read.
    unsafe { clear_cache(pages, len) }
        .and_then(|()| pipeline_flush_mt())
        .map_err(|error| io::Error::other(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_given_back() {
        // More than a process may have at a time.
        for size in 0..70_000 {
            let code = Code::map(&[0; 16]).unwrap_or_else(|error| panic!("{size}: {error}"));
            assert_eq!(code.size(), 16);
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn bytes_are_run() {
        // mov eax, 7; ret
        let code = Code::map(&[0xb8, 7, 0, 0, 0, 0xc3]).unwrap();
        // SAFETY: these bytes are a function that takes nothing and gives 7.
        let given = unsafe { code.entry()(std::ptr::null_mut(), std::ptr::null_mut()) };
        assert_eq!(given, 7);
    }
}
