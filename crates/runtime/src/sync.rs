//! The locks and counters of `line` and `second`.
//!
//! These two files take them from here only. So `tests/loom.rs` can compile the files with
//! the locks of `loom` instead, and run every order of the threads' steps.

pub(crate) use std::hint::spin_loop;
pub(crate) use std::sync::atomic::{AtomicUsize, Ordering};
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
pub(crate) use std::time::Instant;

/// How often a thread looks for its turn before it sleeps: turns are short, and waking
/// up is not.
pub(crate) const LOOKS: usize = 4096;

// These tests run on threads of the system, so they stand outside of the files that
// `tests/loom.rs` compiles.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::Line;

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
    fn only_chunks_behind_one_that_failed_give_up() {
        let line = Line::default();
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| line.wait(4));
            line.end(3, false, false);
            assert!(!waits.join().unwrap());
        });
        assert!(line.wait(0), "chunks before it run on");
        line.pass(0);
        assert!(line.wait(1));
        line.end(0, true, true);
        assert!(line.wait_for_ends(1));
        line.end(1, false, false);
        assert!(!line.wait(2) && !line.wait_for_ends(2));
    }
}
