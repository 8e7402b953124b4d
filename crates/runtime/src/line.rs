//! Chunks that wait for their turn: what they do then is done in their order.
//!
//! ```text
//! chunk 0  |── computes ──|─ turn ─|
//! chunk 1  |── computes ───────|..waits..|─ turn ─|
//! chunk 2                 |── computes ──|..waits.|─ turn ─|
//! ```
//!
//! Threads take chunks in ascending order, so the first one that has not ended is
//! always being run, and waits for nobody.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Where one thread has to wait it looks so many times before it sleeps: turns are
/// short, and waking up is not.
const LOOKS: usize = 4096;

/// No chunk behind one that failed has a turn.
const FAILED: usize = usize::MAX;

/// The chunks of one loop.
#[derive(Debug, Default)]
pub(crate) struct Line {
    /// How many chunks have ended, in their order.
    ended: AtomicUsize,
    sleeping: Mutex<()>,
    moved: Condvar,
}

impl Line {
    /// Waits until all chunks before this one have ended; whether none of them failed.
    pub(crate) fn wait(&self, chunk: usize) -> bool {
        for _ in 0..LOOKS {
            match self.ended.load(Ordering::Acquire) {
                FAILED => return false,
                ended if ended == chunk => return true,
                _ => spin_loop(),
            }
        }
        let sleeping = self.sleeping.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = |(): &mut ()| {
            let ended = self.ended.load(Ordering::Acquire);
            ended != chunk && ended != FAILED
        };
        let awake = self.moved.wait_while(sleeping, waits);
        drop(awake.unwrap_or_else(PoisonError::into_inner));
        self.ended.load(Ordering::Acquire) == chunk
    }

    /// Says that a chunk has ended, and whether well. Chunks that had no turn end in any
    /// order, and nobody waits for them.
    pub(crate) fn end(&self, chunk: usize, well: bool) {
        let ended = if well { chunk + 1 } else { FAILED };
        let sleeping = self.sleeping.lock().unwrap_or_else(PoisonError::into_inner);
        if self.ended.load(Ordering::Relaxed) != FAILED {
            self.ended.store(ended, Ordering::Release);
        }
        drop(sleeping);
        self.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_come_in_order_at_any_number_of_threads() {
        let (line, order, next) = (Line::default(), Mutex::new(Vec::new()), AtomicUsize::new(0));
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
                        line.end(chunk, true);
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
            line.end(0, true);
            line.end(1, false);
            assert!(!waits.join().unwrap());
        });
        line.end(3, true);
        assert!(!line.wait(4));
    }
}
