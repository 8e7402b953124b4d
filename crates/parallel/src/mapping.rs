//! Private anonymous mappings: whole pages of zeros from the system.
//!
//! A [`Mapping`] owns its pages and gives them back when it is dropped. A
//! [`Memory`](crate::Memory) takes one over to grow it, and hands it on to
//! [`recycle`](crate::recycle) when it is done.
//!
//! Large ones ask for huge pages: the first touch of a page costs, and a huge page is
//! one instead of 512.

#![allow(unsafe_code)]

use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use crate::error::AllocError;
use crate::fault::{self, Fault};

/// Mappings of this many bytes and more ask for huge pages.
pub(crate) const HUGE_FROM: usize = 4 << 20;

/// A mapping of our own, which no [`Memory`](crate::Memory) has; it is given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    base: NonNull<u8>,
    capacity: usize,
}

// SAFETY: it owns its bytes, and nothing reads them.
unsafe impl Send for Mapping {}

impl Mapping {
    /// At least `bytes` zeros, of whole pages.
    ///
    /// # Errors
    /// When the system has not that much, or not that many addresses.
    pub(crate) fn with(bytes: usize, flags: libc::c_int) -> Result<Self, AllocError> {
        let error = AllocError {
            bytes: bytes as u64,
        };
        let capacity = round_to_pages(bytes).ok_or(error)?;
        if fault::strikes(Fault::Memory) {
            return Err(error);
        }
        // SAFETY: a new anonymous mapping at an address that the system chooses
        // touches no memory of ours; a refusal is checked below.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                capacity,
                libc::PROT_READ | libc::PROT_WRITE,
                flags,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(error);
        }
        if capacity >= HUGE_FROM {
            // SAFETY: the range is the mapping made above. This is advice: a
            // system without huge pages refuses and nothing else changes.
            unsafe { libc::madvise(base, capacity, libc::MADV_HUGEPAGE) };
        }
        Ok(Self {
            base: NonNull::new(base.cast()).ok_or(error)?,
            capacity,
        })
    }

    /// A mapping of zeros.
    #[cfg(test)]
    pub(crate) fn new(bytes: usize) -> Result<Self, AllocError> {
        Self::with(bytes, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS)
    }

    /// Takes over a mapping.
    ///
    /// # Safety
    /// `base..capacity` is one whole mapping, and nothing else uses it.
    pub(crate) unsafe fn owned(base: NonNull<u8>, capacity: usize) -> Self {
        Self { base, capacity }
    }

    /// Where it begins, for who takes it over.
    pub(crate) fn into_base(self) -> NonNull<u8> {
        ManuallyDrop::new(self).base
    }

    /// How many bytes it has.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `base..capacity` is a mapping that we own, and no view is
        // alive. `munmap` of a whole mapping of ours does not fail.
        unsafe {
            libc::munmap(self.base.as_ptr().cast(), self.capacity);
        }
    }
}

/// The bytes of a page.
pub(crate) fn page_size() -> usize {
    // SAFETY: asks for a constant of the system.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096)
}

/// So many bytes in whole pages; `None` beyond all addresses.
pub(crate) fn round_to_pages(bytes: usize) -> Option<usize> {
    bytes.checked_next_multiple_of(page_size())
}

/// Asks for huge pages under a large slice, before it is first touched: each
/// touch of a fresh page costs, and a huge page is one instead of 512. Advice
/// only: a system without huge pages changes nothing.
pub fn prefer_huge_pages<T>(slice: &mut [T]) {
    let bytes = size_of_val(slice);
    let start = slice.as_mut_ptr().addr();
    // The pages that the slice shares with nobody.
    let first = start.next_multiple_of(page_size());
    let end = (start + bytes) / page_size() * page_size();
    if bytes < HUGE_FROM || first >= end {
        return;
    }
    let base = slice.as_mut_ptr().cast::<u8>().wrapping_add(first - start);
    // SAFETY: the range is whole pages inside the slice, which is borrowed
    // exclusively; the advice changes neither their content nor their access.
    unsafe { libc::madvise(base.cast(), end - first, libc::MADV_HUGEPAGE) };
}

/// The memory of this machine; no limit where the system does not tell.
pub fn physical_bytes() -> u64 {
    // SAFETY: asks for a constant of the system.
    let pages = unsafe { libc::sysconf(libc::_SC_PHYS_PAGES) };
    match u64::try_from(pages) {
        Ok(pages) if pages > 0 => pages.saturating_mul(page_size() as u64),
        _ => u64::MAX,
    }
}
