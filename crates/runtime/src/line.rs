//! Chunks that wait for their turn, so that parts of them run in the order of the chunks.
//!
//! ```text
//! chunk 0  |── computes ──|─ turn ─|─ passed ─|
//! chunk 1  |── computes ───────|.waits|─ turn ─|─ passed ─|
//! chunk 2                             |── computes ──|─ turn ─|─ passed ─|
//! ```
//!
//! A turn lasts until the chunk passes it on, or ends. A chunk that passed its turn on
//! still runs beside the turns of others. So a chunk that moves memory first waits until
//! all chunks before it have ended ([`Line::wait_for_ends`]).
//!
//! Invariants:
//!
//! * Threads take chunks in ascending order, so some thread runs the first chunk that has
//!   not ended, and that chunk never waits.
//! * Either every chunk of a loop that ends well has a turn, or none has (the verifier of
//!   the loop IR sees to it).
//! * A chunk gives up for a chunk before it that failed, never for one behind it. So the
//!   first chunk that fails by itself is the same at every timing and every number of
//!   threads, and its error is the one that is reported.
//!
//! `tests/loom.rs` checks these invariants in every order of steps.

use crate::sync::{
    AtomicUsize, Condvar, LOOKS, Mutex, MutexGuard, Ordering, PoisonError, spin_loop,
};

/// No chunk failed.
const NONE: usize = usize::MAX;

/// The chunks of one loop.
#[derive(Debug)]
pub(crate) struct Line {
    /// How many chunks have passed their turn on, in their order.
    passed: AtomicUsize,
    /// How many have ended well. While a chunk has its turn, only chunks before it can
    /// have ended well.
    ended: AtomicUsize,
    /// The first chunk that failed, so far.
    failed: AtomicUsize,
    sleeping: Mutex<()>,
    moved: Condvar,
}

impl Default for Line {
    fn default() -> Self {
        Self {
            passed: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
            failed: AtomicUsize::new(NONE),
            sleeping: Mutex::new(()),
            moved: Condvar::new(),
        }
    }
}

impl Line {
    /// Waits until all chunks before this one have passed their turn on; false if one of
    /// them failed.
    pub(crate) fn wait(&self, chunk: usize) -> bool {
        self.reaches(&self.passed, chunk)
    }

    /// In a chunk's turn: waits until all chunks before this one have ended; false if one
    /// of them failed.
    pub(crate) fn wait_for_ends(&self, chunk: usize) -> bool {
        self.reaches(&self.ended, chunk)
    }

    fn reaches(&self, counter: &AtomicUsize, chunk: usize) -> bool {
        for _ in 0..LOOKS {
            if let Some(answer) = self.answer(counter, chunk) {
                return answer;
            }
            spin_loop();
        }
        let mut sleeping = self.sleeping();
        loop {
            if let Some(answer) = self.answer(counter, chunk) {
                return answer;
            }
            let awake = self.moved.wait(sleeping);
            sleeping = awake.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether the chunk may go on: true if the counter has reached it, false if a chunk
    /// before it failed, `None` if neither is known yet.
    fn answer(&self, counter: &AtomicUsize, chunk: usize) -> Option<bool> {
        if self.failed.load(Ordering::Acquire) < chunk {
            return Some(false);
        }
        (counter.load(Ordering::Acquire) == chunk).then_some(true)
    }

    /// Lets the next chunk have its turn.
    pub(crate) fn pass(&self, chunk: usize) {
        let sleeping = self.sleeping();
        self.passed.store(chunk + 1, Ordering::Release);
        drop(sleeping);
        self.moved.notify_all();
    }

    /// Says that a chunk has ended, and whether well; `has_passed` if it passed its turn on.
    pub(crate) fn end(&self, chunk: usize, well: bool, has_passed: bool) {
        let sleeping = self.sleeping();
        if well {
            if !has_passed {
                self.passed.store(chunk + 1, Ordering::Release);
            }
            self.ended.fetch_add(1, Ordering::Release);
        } else {
            self.failed.fetch_min(chunk, Ordering::Release);
        }
        drop(sleeping);
        self.moved.notify_all();
    }

    fn sleeping(&self) -> MutexGuard<'_, ()> {
        self.sleeping.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
