//! A kernel's second tier: a place that is empty until the compiler is done.
//!
//! ```text
//! empty ──finish(Some(kernel))──► made, done     launches use it from now on
//!   └─────finish(None)──────────► done           the first tier stays
//! ```
//!
//! Any number of threads may look while one thread finishes. A thread that sees that the
//! compiler is done also sees the kernel, if there is one. `tests/loom.rs` checks this in
//! every order of steps.

use std::time::Duration;

use crate::sync::{Condvar, Instant, Mutex, MutexGuard, OnceLock, PoisonError};

/// The kernel that the compiler makes, once it has.
#[derive(Debug)]
pub(crate) struct Second<T> {
    made: OnceLock<T>,
    /// Whether the compiler is done, successful or not.
    done: Mutex<bool>,
    changed: Condvar,
}

impl<T> Default for Second<T> {
    fn default() -> Self {
        Self {
            made: OnceLock::new(),
            done: Mutex::new(false),
            changed: Condvar::new(),
        }
    }
}

impl<T> Second<T> {
    /// The kernel, if it is made.
    pub(crate) fn get(&self) -> Option<&T> {
        self.made.get()
    }

    /// Ends the wait for the compiler, with the kernel if it made one. Called once.
    pub(crate) fn finish(&self, made: Option<T>) {
        if let Some(made) = made {
            // The place is empty: nobody else finishes.
            let _ = self.made.set(made);
        }
        *self.done() = true;
        self.changed.notify_all();
    }

    /// Whether the compiler is done.
    pub(crate) fn is_done(&self) -> bool {
        *self.done()
    }

    /// Waits until the compiler is done, but at most for this time; whether it is.
    pub(crate) fn wait(&self, most: Duration) -> bool {
        let begun = Instant::now();
        let mut done = self.done();
        while !*done {
            let left = most.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return false;
            }
            let waited = self.changed.wait_timeout(done, left);
            done = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    fn done(&self) -> MutexGuard<'_, bool> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
