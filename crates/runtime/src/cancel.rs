//! Saying that nobody waits any longer.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

/// Says that nobody waits any longer: for kernels that are given it, which look now and
/// then, or for compilers. A clone is the same one.
///
/// ```
/// use sparsec_runtime::Cancel;
/// let cancel = Cancel::default();
/// let elsewhere = cancel.clone();
/// std::thread::spawn(move || elsewhere.set()).join().unwrap();
/// assert!(cancel.is_set());
/// cancel.clear();
/// assert!(!cancel.is_set());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicI32>);

impl Cancel {
    /// Has what is under way end as soon as it looks. May be called from a handler of
    /// signals.
    pub fn set(&self) {
        self.0.store(1, Ordering::Release);
    }

    /// Lets what begins from now on run.
    pub fn clear(&self) {
        self.0.store(0, Ordering::Release);
    }

    /// Whether it was set.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire) != 0
    }

    /// Where kernels look; valid as long as `self` or a clone is there.
    pub(crate) fn as_ptr(&self) -> *const i32 {
        self.0.as_ptr()
    }
}
