//! Chunks that wait for their turn: what they do then is done in their order.
//!
//! ```text
//! chunk 0  |── computes ──|─ turn ─|─ passed ─|
//! chunk 1  |── computes ───────|.waits|─ turn ─|─ passed ─|
//! chunk 2                             |── computes ──|─ turn ─|─ passed ─|
//! ```
//!
//! A turn lasts until the chunk passes it on, or ends. What it does from there on runs
//! beside the turns of others, so that whoever moves memory waits for the chunks before to
//! end ([`Line::wait_for_ends`]).
//!
//! Threads take chunks in ascending order, so the first one that has not ended is
//! always being run, and waits for nobody.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Where one thread has to wait it looks so many times before it sleeps: turns are
/// short, and waking up is not.
const LOOKS: usize = 4096;

/// No chunk behind one that failed has a turn.
const FAILED: usize = usize::MAX;

/// The chunks of one loop.
#[derive(Debug, Default)]
pub(crate) struct Line {
    /// How many chunks have passed their turn on, in their order.
    passed: AtomicUsize,
    /// How many have ended. Those in front of one that has its turn have, if they are so
    /// many: none behind it could.
    ended: AtomicUsize,
    sleeping: Mutex<()>,
    moved: Condvar,
}

impl Line {
    /// Waits until all chunks before this one have passed their turn on; whether none of
    /// them failed.
    pub(crate) fn wait(&self, chunk: usize) -> bool {
        self.reaches(&self.passed, chunk)
    }

    /// In a chunk's turn: waits until all chunks before this one have ended; whether none
    /// of them failed.
    pub(crate) fn wait_for_ends(&self, chunk: usize) -> bool {
        self.reaches(&self.ended, chunk)
    }

    fn reaches(&self, counter: &AtomicUsize, wanted: usize) -> bool {
        for _ in 0..LOOKS {
            match counter.load(Ordering::Acquire) {
                FAILED => return false,
                reached if reached == wanted => return true,
                _ => spin_loop(),
            }
        }
        let waits = |(): &mut ()| {
            let reached = counter.load(Ordering::Acquire);
            reached != wanted && reached != FAILED
        };
        let awake = self.moved.wait_while(self.sleeping(), waits);
        drop(awake.unwrap_or_else(PoisonError::into_inner));
        counter.load(Ordering::Acquire) == wanted
    }

    /// Lets the next chunk have its turn.
    pub(crate) fn pass(&self, chunk: usize) {
        let sleeping = self.sleeping();
        advance(&self.passed, |_| chunk + 1);
        drop(sleeping);
        self.moved.notify_all();
    }

    /// Says that a chunk has ended, and whether well; `has_passed` if it passed its turn on.
    /// Chunks that had no turn end in any order, and nobody waits for them.
    pub(crate) fn end(&self, chunk: usize, well: bool, has_passed: bool) {
        let sleeping = self.sleeping();
        if !well {
            self.passed.store(FAILED, Ordering::Release);
            self.ended.store(FAILED, Ordering::Release);
        }
        if !has_passed {
            advance(&self.passed, |_| chunk + 1);
        }
        advance(&self.ended, |ended| ended + 1);
        drop(sleeping);
        self.moved.notify_all();
    }

    fn sleeping(&self) -> MutexGuard<'_, ()> {
        self.sleeping.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Changes a counter, unless a chunk failed. Only who holds the lock does.
fn advance(counter: &AtomicUsize, next: impl FnOnce(usize) -> usize) {
    let before = counter.load(Ordering::Relaxed);
    if before != FAILED {
        counter.store(next(before), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_come_in_order_at_any_number_of_threads() {
        let (line, order, next) = (Line::default(), Mutex::new(Vec::new()), AtomicUsize::new(0));
        let n_passed = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..5 {
                scope.spawn(|| {
                    loop {
                        let chunk = next.fetch_add(1, Ordering::Relaxed);
                        if chunk >= 50 {
                            break;
                        }
                        assert!(line.wait(chunk));
                        order.lock().unwrap().push(chunk);
                        if chunk % 3 == 0 {
                            line.end(chunk, true, false);
                            continue;
                        }
                        if chunk % 3 == 1 {
                            assert!(line.wait_for_ends(chunk));
                            assert_eq!(n_passed.load(Ordering::Relaxed), 0);
                        }
                        n_passed.fetch_add(1, Ordering::Relaxed);
                        line.pass(chunk);
                        std::thread::yield_now();
                        n_passed.fetch_sub(1, Ordering::Relaxed);
                        line.end(chunk, true, true);
                    }
                });
            }
        });
        assert_eq!(order.into_inner().unwrap(), (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn nobody_waits_for_one_that_failed() {
        let line = Line::default();
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| line.wait(2));
            line.pass(0);
            line.end(1, false, false);
            assert!(!waits.join().unwrap());
        });
        line.end(0, true, true);
        line.end(3, true, false);
        assert!(!line.wait(4) && !line.wait_for_ends(4));
    }
}
