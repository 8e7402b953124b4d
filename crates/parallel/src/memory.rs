//! Bytes that grow in place and whose exhaustion is an error, not an abort.
//!
//! A kernel that appends to a result does not know how long it will be. Doubling
//! a vector copies everything and touches fresh pages twice. A [`Memory`] instead
//! reserves a range of addresses, which costs nothing; the system commits a page
//! when it is first touched; and [`Memory::trim`] gives back the addresses that
//! were not needed:
//!
//! ```text
//! reserve(max)     |............................................|  addresses only
//! write, set_len   |#########...................................|  # committed
//! trim             |#########.|                                    tail given back
//! ```
//!
//! | made by                       | held in                                      |
//! |-------------------------------|----------------------------------------------|
//! | `zeroed(n)` below 64 KiB      | the heap, aligned to a cache line            |
//! | `zeroed(n)` above, `reserve`  | a private anonymous mapping, aligned to pages |
//! | `for_writing(n)`              | as `zeroed(n)`, and pages that were given back as they are |
//! | `from(Vec<T>)`                | the vector's own allocation                  |
//! | `shared(owner)`, `borrowed`   | an owner that it keeps alive, or a slice: to read only |
//!
//! Invariants: `len <= capacity`; all bytes below `capacity` are initialised
//! (fresh ones are zero, except after [`Memory::reach`] and [`Memory::for_writing`]) and belong to this value
//! alone, unless they are shared or borrowed (`foreign`). Its own bytes move only in
//! [`Memory::ensure`] beyond the capacity. Because every byte is initialised, reading
//! and writing through the typed views is safe.
//!
//! ```
//! use sparsec_parallel::Memory;
//! let mut memory = Memory::reserve(1 << 40)?;
//! memory.ensure(3 * 8)?;
//! memory.set_len(3 * 8);
//! memory.as_mut_slice::<f64>()[2] = 2.5;
//! memory.trim();
//! assert_eq!(memory.as_slice::<f64>(), [0.0, 0.0, 2.5]);
//! # Ok::<(), sparsec_parallel::AllocError>(())
//! ```

#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::any::Any;
use std::fmt;
use std::mem::{ManuallyDrop, align_of, size_of};
use std::ptr::NonNull;
use std::sync::Arc;

use crate::error::AllocError;
use crate::fault::{self, Fault};
use crate::mapping::{HUGE_FROM, Mapping, round_to_pages};
use crate::recycle::{self, Need};

mod foreign;
mod plain;

pub use crate::mapping::{physical_bytes, prefer_huge_pages};
pub use plain::Plain;

/// Buffers of this many bytes and more are mapped.
const MAPPED_FROM: usize = 64 << 10;
/// The alignment of small buffers: one cache line.
const ALIGN: usize = 64;

/// A growable run of bytes; see the [module](self).
pub struct Memory {
    base: NonNull<u8>,
    len: usize,
    capacity: usize,
    home: Home,
}

/// Where the bytes live, and so how they are given back.
#[derive(Clone)]
enum Home {
    /// Nowhere: the capacity is 0.
    Nowhere,
    /// The global allocator, with this layout.
    Heap(Layout),
    /// A mapping of exactly `capacity` bytes.
    Mapped,
    /// An owner that is kept alive; the bytes are only read.
    Shared(#[allow(dead_code, reason = "kept to be dropped")] Arc<dyn Any + Send + Sync>),
    /// A slice that the caller of `borrowed` keeps alive; the bytes are only read.
    Borrowed,
}

// SAFETY: a `Memory` owns its bytes as a `Vec<u8>` does, or shares bytes that
// nobody writes, of an owner that is `Send` and `Sync`; `&Memory` only reads.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// No bytes. Allocates nothing.
    pub fn new() -> Self {
        Self {
            // Dangling but aligned for every `Plain` type, so that empty views are sound.
            base: NonNull::<u128>::dangling().cast(),
            len: 0,
            capacity: 0,
            home: Home::Nowhere,
        }
    }

    /// `bytes` bytes of zero. Large ones cost nothing until they are touched; for fewer, pages that
    /// were given back are filled with zeros, which takes less time than to touch new ones.
    ///
    /// # Errors
    /// When the machine has not that much memory in all, or none is left.
    pub fn zeroed(bytes: usize) -> Result<Self, AllocError> {
        let error = AllocError {
            bytes: bytes as u64,
        };
        let mut memory = if bytes == 0 {
            Self::new()
        } else if bytes < MAPPED_FROM {
            Self::on_heap(bytes)?
        } else if bytes as u64 > physical_bytes() {
            return Err(error);
        } else if bytes < HUGE_FROM
            && let Some(mapping) = Self::kept_for(bytes)
        {
            if fault::strikes(Fault::Memory) {
                recycle::keep(mapping);
                return Err(error);
            }
            // Those beyond are zero as well, for who grows.
            let mut memory = Self::from(mapping);
            memory.len = memory.capacity;
            memory.as_mut_slice::<u8>().fill(0);
            memory
        } else {
            Self::mapped(bytes, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS)?
        };
        memory.len = bytes;
        Ok(memory)
    }

    /// `bytes` bytes for a caller that writes every byte before it reads any: zeros, or bytes that
    /// this process once stored. Pages that were given back are neither cleared nor touched.
    ///
    /// # Errors
    /// As [`zeroed`](Self::zeroed).
    pub fn for_writing(bytes: usize) -> Result<Self, AllocError> {
        let kept = (bytes >= MAPPED_FROM).then(|| Self::kept_for(bytes));
        let Some(mapping) = kept.flatten() else {
            return Self::zeroed(bytes);
        };
        if fault::strikes(Fault::Memory) {
            recycle::keep(mapping);
            return Err(AllocError {
                bytes: bytes as u64,
            });
        }
        let mut memory = Self::from(mapping);
        memory.len = bytes;
        Ok(memory)
    }

    /// No bytes yet, but room for `max_bytes` at addresses that stay.
    ///
    /// Only addresses are taken, so `max_bytes` may be far more than is needed.
    ///
    /// # Errors
    /// When the system has not that many addresses.
    pub fn reserve(max_bytes: usize) -> Result<Self, AllocError> {
        if max_bytes == 0 {
            return Ok(Self::new());
        }
        Self::mapped(
            max_bytes,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
        )
    }

    /// Pages that were given back, for as many bytes and not for twice as many.
    fn kept_for(bytes: usize) -> Option<Mapping> {
        let most = bytes.saturating_mul(2);
        recycle::take(bytes, Need::Whole { most })
    }

    fn on_heap(bytes: usize) -> Result<Self, AllocError> {
        let error = AllocError {
            bytes: bytes as u64,
        };
        let layout = Layout::from_size_align(bytes, ALIGN).map_err(|_| error)?;
        if fault::strikes(Fault::Memory) {
            return Err(error);
        }
        // SAFETY: the layout is not empty; callers pass `bytes > 0`.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(error)?;
        Ok(Self {
            base,
            len: 0,
            capacity: bytes,
            home: Home::Heap(layout),
        })
    }

    fn mapped(bytes: usize, flags: libc::c_int) -> Result<Self, AllocError> {
        Mapping::with(bytes, flags).map(Self::from)
    }

    /// How many bytes are in use.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no byte is in use.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many bytes can be in use without moving.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The first byte, for code that only reads.
    pub fn as_ptr(&self) -> *const u8 {
        self.base.as_ptr()
    }

    /// The first byte, for code that writes: `capacity` bytes may be written.
    /// Bytes of somebody else are copied first.
    ///
    /// # Panics
    /// If memory for that copy is out; [`Memory::make_own`] tells before.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.owned().base.as_ptr()
    }

    /// Says how many bytes are in use. Those that were not written are zero, except in memory
    /// [`for_writing`](Self::for_writing), where they may be anything.
    ///
    /// # Panics
    /// If `len` is beyond the capacity.
    pub fn set_len(&mut self, len: usize) {
        assert!(
            len <= self.capacity,
            "{len} bytes of {} in use",
            self.capacity
        );
        self.len = len;
    }

    /// Makes the capacity at least `bytes`, with addresses for `most` where there are
    /// so many. New bytes hold anything that this process once stored: whoever asks
    /// writes before reading.
    ///
    /// # Errors
    /// As [`ensure`](Self::ensure).
    pub fn reach(&mut self, bytes: usize, most: usize) -> Result<(), AllocError> {
        if bytes <= self.capacity {
            return Ok(());
        }
        if !matches!(self.home, Home::Mapped) {
            // Little is not worth a page of its own, which the system would clear.
            if bytes < MAPPED_FROM {
                self.move_to(Self::on_heap(bytes)?);
                return Ok(());
            }
            // What grows step by step grows to twice as much.
            let need = match self.capacity.saturating_mul(2) < bytes {
                true => Need::Whole { most: usize::MAX },
                false => Need::Beginning,
            };
            if let Some(mapping) = recycle::take(bytes, need) {
                self.move_to(Self::from(mapping));
                return Ok(());
            }
        }
        self.ensure(most.max(bytes)).or_else(|_| self.ensure(bytes))
    }

    /// Makes the capacity at least `bytes`. Within the capacity nothing moves;
    /// beyond it the bytes move to a reservation of at least twice the size
    /// (pages of a mapping are moved without being copied).
    ///
    /// # Errors
    /// When memory or addresses are out; then nothing has changed.
    pub fn ensure(&mut self, bytes: usize) -> Result<(), AllocError> {
        if bytes <= self.capacity {
            return Ok(());
        }
        let wanted = bytes.max(self.capacity.saturating_mul(2));
        let roomy = self.grow_to(wanted);
        if roomy.is_err() && wanted > bytes {
            return self.grow_to(bytes);
        }
        roomy
    }

    fn grow_to(&mut self, bytes: usize) -> Result<(), AllocError> {
        if let Home::Mapped = self.home {
            return self.remap(bytes);
        }
        self.move_to(Self::reserve(bytes)?);
        Ok(())
    }

    fn move_to(&mut self, mut larger: Self) {
        larger.set_len(self.len);
        larger
            .as_mut_slice::<u8>()
            .copy_from_slice(self.as_slice::<u8>());
        *self = larger;
    }

    fn remap(&mut self, bytes: usize) -> Result<(), AllocError> {
        let error = AllocError {
            bytes: bytes as u64,
        };
        let capacity = round_to_pages(bytes).ok_or(error)?;
        if fault::strikes(Fault::Memory) {
            return Err(error);
        }
        // SAFETY: `base` is a mapping of `self.capacity` bytes that we own; no
        // view of it is alive, because views borrow `self`.
        let base = unsafe {
            libc::mremap(
                self.base.as_ptr().cast(),
                self.capacity,
                capacity,
                libc::MREMAP_MAYMOVE,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(error);
        }
        if self.capacity < HUGE_FROM && capacity >= HUGE_FROM {
            // SAFETY: the range is the mapping that was moved, and this is advice.
            unsafe { libc::madvise(base, capacity, libc::MADV_HUGEPAGE) };
        }
        self.base = NonNull::new(base.cast()).ok_or(error)?;
        self.capacity = capacity;
        Ok(())
    }

    /// Gives back the pages beyond those in use and an eighth more: the next result of this length
    /// may reserve slightly more before its final length is known. Nothing moves, except for short
    /// arrays, which go to the heap, so that others get their pages.
    pub fn trim(&mut self) {
        let Home::Mapped = self.home else { return };
        if (1..MAPPED_FROM).contains(&self.len)
            && let Ok(small) = Self::on_heap(self.len)
        {
            self.move_to(small);
            return;
        }
        let spare = self.len / 8;
        let keep = round_to_pages(self.len + spare).unwrap_or(self.capacity);
        if keep == 0 {
            *self = Self::new();
            return;
        }
        if keep < self.capacity {
            // SAFETY: the tail `keep..capacity` lies in our mapping, begins at a
            // page and holds no byte in use. On failure the tail stays ours.
            let done = unsafe {
                let tail = self.base.as_ptr().add(keep);
                libc::munmap(tail.cast(), self.capacity - keep)
            };
            if done == 0 {
                self.capacity = keep;
            }
        }
    }

    /// The bytes in use as numbers; bytes at the end that make no whole number
    /// are left out.
    ///
    /// # Panics
    /// If the bytes are not aligned for `T`, which happens only to memory made
    /// from a vector of narrower numbers.
    pub fn as_slice<T: Plain>(&self) -> &[T] {
        let n = self.typed_len::<T>();
        // SAFETY: aligned and long enough by `typed_len`; initialised by the
        // module's invariant; any bytes are a `T`; `self` is borrowed.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr().cast(), n) }
    }

    /// As [`Memory::as_slice`], to write to. Bytes of somebody else are copied
    /// first.
    ///
    /// # Panics
    /// As [`Memory::as_slice`], and if memory for that copy is out;
    /// [`Memory::make_own`] tells before.
    pub fn as_mut_slice<T: Plain>(&mut self) -> &mut [T] {
        self.owned();
        let n = self.typed_len::<T>();
        // SAFETY: as in `as_slice`; `self` is borrowed for writing, and the bytes
        // are its own.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr().cast(), n) }
    }

    fn typed_len<T: Plain>(&self) -> usize {
        assert!(
            self.base.cast::<T>().is_aligned(),
            "bytes are not aligned to {}",
            align_of::<T>()
        );
        self.len / size_of::<T>()
    }
}

/// Takes over the vector's allocation; nothing is copied. Spare capacity of the
/// vector is not part of the memory's.
impl<T: Plain> From<Vec<T>> for Memory {
    fn from(vector: Vec<T>) -> Self {
        let mut vector = ManuallyDrop::new(vector);
        let Ok(layout) = Layout::array::<T>(vector.capacity()) else {
            unreachable!("a vector exists only with a valid layout");
        };
        let bytes = vector.len() * size_of::<T>();
        let Some(base) = NonNull::new(vector.as_mut_ptr().cast()) else {
            unreachable!("a vector's pointer is never null");
        };
        Self {
            base,
            len: bytes,
            capacity: bytes,
            home: if layout.size() == 0 {
                Home::Nowhere
            } else {
                Home::Heap(layout)
            },
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        match self.home {
            Home::Nowhere | Home::Shared(_) | Home::Borrowed => {}
            // SAFETY: `base` came from the global allocator with this layout,
            // in `on_heap` or in the vector that was taken over.
            Home::Heap(layout) => unsafe { dealloc(self.base.as_ptr(), layout) },
            // SAFETY: `base..capacity` is a mapping that we own, and no view is alive.
            Home::Mapped => recycle::keep(unsafe { Mapping::owned(self.base, self.capacity) }),
        }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

/// Panics where memory is out; [`Memory::try_clone`] does not.
impl Clone for Memory {
    fn clone(&self) -> Self {
        match self.try_clone() {
            Ok(copy) => copy,
            Err(error) => panic!("{error}"),
        }
    }
}

impl PartialEq for Memory {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice::<u8>() == other.as_slice::<u8>()
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Memory({} of {} bytes)", self.len, self.capacity)
    }
}

impl From<Mapping> for Memory {
    /// No bytes in use, of which all that there is room for were written once.
    fn from(mapping: Mapping) -> Self {
        let capacity = mapping.capacity();
        Self {
            base: mapping.into_base(),
            len: 0,
            capacity,
            home: Home::Mapped,
        }
    }
}

#[cfg(test)]
mod tests;
