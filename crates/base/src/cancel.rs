//! Ending work whose result nobody waits for any longer.
//!
//! ```text
//! cancel.watch(|| …)          work on this thread, and on threads that it shares its loops with
//!    │        └─ checkpoint() once a block of entries, a candidate plan, a pass
//!    └──◄── E0521 ──◄── unwinds, once `cancel` is set
//! ```
//!
//! Kernels read the flag of their launch. Other code that takes long (packing, checking, planning)
//! calls [`checkpoint`] in its loops. A checkpoint of cancelled work unwinds the stack to the
//! [`Cancel::watch`] that began it, so functions in between neither take a handle nor return one
//! more error. Guards are dropped on the way. A cache keeps no half-made value, since values are
//! made before they are put in.
//!
//! A program that is compiled to abort at panics cannot unwind: its checkpoints do nothing, and
//! cancelled work of this kind ends by itself.
//!
//! Source: the cancellation of queries in salsa, as rust-analyzer uses it,
//! <https://rust-analyzer.github.io/book/contributing/architecture.html#cancellation>.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::code;
use crate::diagnostic::{Diagnostic, Result};

/// Says that nobody waits any longer: for kernels that are given it, which look now and
/// then, for compilers, or for work that is [watched](Self::watch). A clone is the same one.
///
/// ```
/// use sparsec_base::Cancel;
/// let cancel = Cancel::default();
/// let elsewhere = cancel.clone();
/// std::thread::spawn(move || elsewhere.set()).join().unwrap();
/// assert!(cancel.is_set());
/// cancel.clear();
/// assert!(!cancel.is_set());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicI32>);

/// Steps from one checkpoint of a long loop to the next.
const POLLED: usize = 1 << 12;

thread_local! {
    /// The handles that the work on this thread is watched by, the innermost one last.
    static WATCHED: RefCell<Vec<Cancel>> = const { RefCell::new(Vec::new()) };
}

/// The payload with which cancelled work unwinds.
struct Ended(Cancel);

impl Cancel {
    /// Ends current work as soon as it looks. May be called from a handler of
    /// signals.
    pub fn set(&self) {
        self.0.store(1, Ordering::Release);
    }

    /// Lets work run that begins from now on.
    pub fn clear(&self) {
        self.0.store(0, Ordering::Release);
    }

    /// Whether it was set.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire) != 0
    }

    /// The flag that kernels read; valid as long as `self` or a clone is there.
    pub fn as_ptr(&self) -> *const i32 {
        self.0.as_ptr()
    }

    /// Runs `work` on this thread until it is done or this handle is set, from another thread.
    ///
    /// Packing, checking, converting, reading and planning look at the handle every few
    /// milliseconds. A kernel looks at the handle of its session or its binding alone.
    ///
    /// # Errors
    /// `E0521` if the work ended early.
    ///
    /// ```
    /// use sparsec_base::{Cancel, cancel::checkpoint, code};
    /// let cancel = Cancel::default();
    /// let mut rounds = 0;
    /// let ended = cancel.watch(|| loop {
    ///     rounds += 1;
    ///     if rounds == 10 {
    ///         cancel.set();
    ///     }
    ///     checkpoint();
    /// });
    /// assert_eq!(ended.map_err(|error: sparsec_base::Diagnostic| error.code()), Err::<(), _>(code::CANCELLED));
    /// assert_eq!(rounds, 10);
    /// ```
    pub fn watch<R>(&self, work: impl FnOnce() -> R) -> Result<R> {
        if self.is_set() {
            return Err(cancelled());
        }
        let mut all = Watched::here();
        all.0.push(self.clone());
        let ended = catch_unwind(AssertUnwindSafe(|| all.enter(work)));
        ended.or_else(|payload| match payload.downcast_ref::<Ended>() {
            Some(Ended(by)) if Arc::ptr_eq(&by.0, &self.0) => Err(cancelled()),
            _ => resume_unwind(payload),
        })
    }
}

/// The handles that some work is watched by, for threads that take a share of it.
#[derive(Clone, Debug)]
pub struct Watched(Vec<Cancel>);

impl Watched {
    /// Those of the work on this thread.
    pub fn here() -> Self {
        Self(WATCHED.with_borrow(Clone::clone))
    }

    /// Runs a share of the work, on any thread.
    pub fn enter<R>(&self, work: impl FnOnce() -> R) -> R {
        /// Gives this thread its earlier handles back when it is dropped, also by a panic.
        struct Before(Vec<Cancel>);
        impl Drop for Before {
            fn drop(&mut self) {
                WATCHED.set(std::mem::take(&mut self.0));
            }
        }
        let _before = Before(WATCHED.replace(self.0.clone()));
        work()
    }
}

/// Unwinds to the [`Cancel::watch`] of the work on this thread, if its handle is set.
///
/// Takes some nanoseconds: once for a few hundred entries is often enough.
#[inline]
pub fn checkpoint() {
    if cfg!(panic = "unwind")
        && let Some(set) = WATCHED.with_borrow(|all| all.iter().find(|it| it.is_set()).cloned())
        && !std::thread::panicking()
    {
        resume_unwind(Box::new(Ended(set)));
    }
}

/// The items of a long loop, with a [`checkpoint`] now and then.
///
/// ```
/// use sparsec_base::cancel::polled;
/// assert_eq!(polled(0..10_000).sum::<u64>(), 49_995_000);
/// ```
pub fn polled<I: IntoIterator>(items: I) -> impl Iterator<Item = I::Item> {
    let mut steps = Steps::default();
    items.into_iter().inspect(move |_| steps.step())
}

/// Counts the steps of a long loop, for a [`checkpoint`] now and then.
#[derive(Clone, Copy, Debug, Default)]
pub struct Steps(usize);

impl Steps {
    /// Begins a step.
    #[inline]
    pub fn step(&mut self) {
        if self.0.is_multiple_of(POLLED) {
            checkpoint();
        }
        self.0 += 1;
    }
}

/// Whether a caught panic is cancelled work, which whoever caught it lets unwind further.
pub fn is_end(payload: &(dyn Any + Send)) -> bool {
    payload.is::<Ended>()
}

/// The diagnostic of work that ended because its [`Cancel`] was set.
pub fn cancelled() -> Diagnostic {
    Diagnostic::new(code::CANCELLED, "the computation was cancelled")
        .help("compute it again, with a `Cancel` that is not set")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_of(ended: Result<()>) -> Option<crate::Code> {
        ended.err().map(|error| error.code())
    }

    #[test]
    fn work_ends_at_the_handle_that_was_set() {
        let (outer, inner) = (Cancel::default(), Cancel::default());
        let ended = outer.watch(|| {
            let own = inner.watch(|| {
                inner.set();
                checkpoint();
            });
            assert_eq!(code_of(own), Some(code::CANCELLED));
            checkpoint();
            inner.clear();
            let own = inner.watch(|| {
                outer.set();
                checkpoint();
            });
            unreachable!("{own:?}");
        });
        assert_eq!(code_of(ended), Some(code::CANCELLED));
        // Nothing is watched any longer.
        checkpoint();
    }

    #[test]
    fn shares_of_work_are_watched_on_other_threads() {
        let cancel = Cancel::default();
        let ended = cancel.watch(|| {
            let watched = Watched::here();
            let share = std::thread::spawn(move || {
                watched.enter(|| {
                    loop {
                        checkpoint();
                        std::thread::yield_now();
                    }
                })
            });
            cancel.set();
            let payload: Box<dyn Any + Send> = share.join().unwrap_err();
            assert!(is_end(&*payload));
            resume_unwind(payload);
        });
        assert_eq!(code_of(ended), Some(code::CANCELLED));
    }

    #[test]
    fn other_panics_go_on() {
        let cancel = Cancel::default();
        let caught = catch_unwind(|| cancel.watch(|| resume_unwind(Box::new(7))));
        let payload = caught.map(|_: Result<()>| ()).unwrap_err();
        assert_eq!(payload.downcast_ref(), Some(&7));
        checkpoint();
    }
}
