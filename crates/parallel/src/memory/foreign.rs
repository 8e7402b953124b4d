//! Memory that reads the bytes of somebody else.
//!
//! ```text
//! shared(owner)      an `Arc` keeps the owner alive      clone: another `Arc`
//! borrowed(slice)    the caller keeps the slice alive    clone: a copy
//! ```
//!
//! Nobody writes these bytes. A [`Memory`] that is to be written or to grow makes a copy first
//! ([`Memory::make_own`]), so each method that hands out bytes for writing begins with `owned`.

use std::ptr::NonNull;
use std::sync::Arc;

use super::{Home, Memory, Plain};
use crate::error::AllocError;

impl Memory {
    /// The numbers of `owner`, which lives as long as this memory and its clones
    /// of them: nothing is copied.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use sparsec_parallel::Memory;
    /// let owner = Arc::new(vec![1.5, 2.5]);
    /// let mut memory = Memory::shared::<f64, _>(Arc::clone(&owner));
    /// assert_eq!(memory.as_ptr().cast(), owner.as_ptr());
    /// memory.make_own()?.as_mut_slice::<f64>()[0] = 9.0;
    /// assert_eq!((memory.as_slice::<f64>(), &owner[..]), (&[9.0, 2.5][..], &[1.5, 2.5][..]));
    /// # Ok::<(), sparsec_parallel::AllocError>(())
    /// ```
    pub fn shared<T: Plain, O>(owner: Arc<O>) -> Self
    where
        O: AsRef<[T]> + Send + Sync + 'static,
    {
        let slice: &[T] = (*owner).as_ref();
        let (base, bytes) = (NonNull::from(slice).cast(), size_of_val(slice));
        // The slice is borrowed from the owner, which the `Arc` keeps in place,
        // whole and unborrowed for writing, so it is good while the `Arc` is held.
        Self::foreign(base, bytes, Home::Shared(owner))
    }

    /// The numbers of `slice`: nothing is copied, and nothing keeps them alive.
    ///
    /// # Safety
    /// The slice must outlive this memory and whatever it is moved into, and not
    /// be written meanwhile. A clone is a copy and outlives it.
    pub unsafe fn borrowed<T: Plain>(slice: &[T]) -> Self {
        let base = NonNull::from(slice).cast();
        Self::foreign(base, size_of_val(slice), Home::Borrowed)
    }

    fn foreign(base: NonNull<u8>, bytes: usize, home: Home) -> Self {
        Self {
            base,
            len: bytes,
            capacity: bytes,
            home,
        }
    }

    /// Whether the bytes belong to somebody else, so that writing copies them.
    pub fn is_foreign(&self) -> bool {
        matches!(self.home, Home::Shared(_) | Home::Borrowed)
    }

    /// This memory, with bytes of its own: shared and borrowed ones are copied.
    ///
    /// # Errors
    /// When memory is out.
    pub fn make_own(&mut self) -> Result<&mut Self, AllocError> {
        if self.is_foreign() {
            *self = self.copy()?;
        }
        Ok(self)
    }

    /// As [`Memory::make_own`], where there is no way to refuse.
    pub(super) fn owned(&mut self) -> &mut Self {
        if let Err(error) = self.make_own() {
            panic!("{error}");
        }
        self
    }

    /// The same bytes: a copy, unless they are shared, when there is another
    /// reference to their owner.
    ///
    /// # Errors
    /// When memory is out.
    pub fn try_clone(&self) -> Result<Self, AllocError> {
        match &self.home {
            home @ Home::Shared(_) => Ok(Self::foreign(self.base, self.len, home.clone())),
            _ => self.copy(),
        }
    }

    fn copy(&self) -> Result<Self, AllocError> {
        let mut copy = Self::zeroed(self.len)?;
        copy.as_mut_slice::<u8>()
            .copy_from_slice(self.as_slice::<u8>());
        Ok(copy)
    }
}
