//! Checks the runtime's own synchronisation in every order in which threads may run.
//!
//! This compiles `line` (chunks that wait for their turn) and `second` (a kernel that is
//! swapped while it runs) with the locks and counters of `loom`. `loom` runs each test once
//! for every order of steps, and for every value that the memory model lets a load see. The
//! cells stand for memory of a kernel: `loom` panics if two threads may use a cell at once,
//! or if a thread may miss the store of another.
//!
//! | differs from the system | reason                                                 |
//! |-------------------------|--------------------------------------------------------|
//! | time                    | `loom` has no clock: time runs out at once or never    |
//! | [`sync::LOOKS`]         | more looks add steps to each order, but no new outcome |
//! | [`sync::OnceLock`]      | `loom` has none; this one behaves like the standard one |
//!
//! `cargo test -p sparsec-runtime --test loom` takes seconds. Threads are interrupted at
//! most three times in each order, unless `LOOM_MAX_PREEMPTIONS` says otherwise.

#![allow(unsafe_code)]

use std::sync::Arc as Plain;
use std::time::Duration;

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;

use line::Line;
use second::Second;

#[path = "../src/line.rs"]
mod line;
#[path = "../src/second.rs"]
mod second;

/// What `crate::sync` holds, of `loom`.
mod sync {
    use std::time::Duration;

    use loom::cell::UnsafeCell;
    pub(crate) use loom::hint::spin_loop;
    pub(crate) use loom::sync::atomic::{AtomicUsize, Ordering};
    pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
    pub(crate) use std::sync::PoisonError;

    pub(crate) const LOOKS: usize = 1;

    /// A cell that is written once: the write happens before every read that sees it.
    #[derive(Debug)]
    pub(crate) struct OnceLock<T> {
        is_set: AtomicUsize,
        value: UnsafeCell<Option<T>>,
    }

    // SAFETY: as the standard one; `loom` looks after every access.
    unsafe impl<T: Send + Sync> Sync for OnceLock<T> {}

    impl<T> OnceLock<T> {
        pub(crate) fn new() -> Self {
            Self {
                is_set: AtomicUsize::new(0),
                value: UnsafeCell::new(None),
            }
        }

        pub(crate) fn get(&self) -> Option<&T> {
            match self.is_set.load(Ordering::Acquire) {
                0 => None,
                // SAFETY: it is written once, before it is said to be set.
                _ => self.value.with(|value| unsafe { (*value).as_ref() }),
            }
        }

        pub(crate) fn set(&self, value: T) -> Result<(), T> {
            if self.is_set.load(Ordering::Relaxed) != 0 {
                return Err(value);
            }
            // SAFETY: one thread sets it, and none reads it before.
            self.value.with_mut(|place| unsafe { *place = Some(value) });
            self.is_set.store(1, Ordering::Release);
            Ok(())
        }
    }

    /// A clock that stands still.
    #[derive(Debug)]
    pub(crate) struct Instant;

    impl Instant {
        pub(crate) fn now() -> Self {
            Self
        }

        pub(crate) fn elapsed(&self) -> Duration {
            Duration::ZERO
        }
    }
}

fn model(test: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(3);
    builder.check(test);
}

/// The behaviour of a chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// Ends in its turn.
    InTurn,
    /// Passes its turn on, and ends later.
    Passes,
    /// Moves memory in its turn, once those before have ended.
    Moves,
    /// Fails before its turn.
    FailsBefore,
    /// Fails in its turn.
    FailsIn,
    /// Passes its turn on, and then fails.
    FailsBehind,
}

use Way::{FailsBefore, FailsBehind, FailsIn, InTurn, Moves, Passes};

/// What chunks share.
struct Loop {
    line: Line,
    next: AtomicUsize,
    /// How long the result is: read and written in turn.
    length: UnsafeCell<usize>,
    /// The memory of the result: each chunk has a part of it to itself, but who moves it
    /// needs all.
    parts: [UnsafeCell<usize>; 3],
    failed: Mutex<Option<usize>>,
}

// SAFETY: `loom` looks after every access to the cells.
unsafe impl Sync for Loop {}
// SAFETY: as above.
unsafe impl Send for Loop {}

impl Loop {
    fn new() -> Self {
        Self {
            line: Line::default(),
            next: AtomicUsize::new(0),
            length: UnsafeCell::new(0),
            parts: std::array::from_fn(|_| UnsafeCell::new(0)),
            failed: Mutex::new(None),
        }
    }

    /// Takes chunks in ascending order, as threads do.
    fn run(&self, ways: &[Way]) {
        loop {
            let chunk = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(&way) = ways.get(chunk) else { return };
            let (well, gave_up, has_passed) = self.chunk(chunk, way);
            self.line.end(chunk, well, has_passed);
            if !well && !gave_up {
                let mut failed = self.failed.lock().unwrap();
                *failed = Some(failed.map_or(chunk, |first| first.min(chunk)));
            }
        }
    }

    /// Whether the chunk ended well, gave up for another, and passed its turn on.
    fn chunk(&self, chunk: usize, way: Way) -> (bool, bool, bool) {
        if way == FailsBefore {
            return (false, false, false);
        }
        if !self.line.wait(chunk) {
            return (false, true, false);
        }
        // SAFETY: it is this chunk's turn.
        self.length.with_mut(|length| unsafe {
            assert_eq!(*length, chunk, "turns come in order");
            *length += 1;
        });
        if way == Moves {
            if !self.line.wait_for_ends(chunk) {
                return (false, true, false);
            }
            for part in &self.parts {
                // SAFETY: those before have ended, those behind have no turn yet.
                part.with_mut(|part| unsafe { *part += 1 });
            }
        }
        if way == FailsIn {
            return (false, false, false);
        }
        let has_passed = matches!(way, Passes | FailsBehind);
        if has_passed {
            self.line.pass(chunk);
        }
        // SAFETY: the part is this chunk's own.
        self.parts[chunk].with_mut(|part| unsafe { *part += 1 });
        (way != FailsBehind, false, has_passed)
    }
}

/// Runs chunks that behave in these ways on two threads. In every order of steps, the
/// first chunk that fails is reported, and all chunks before it run to their ends.
fn check(ways: &'static [Way]) {
    let fails = |way: &Way| matches!(way, FailsBefore | FailsIn | FailsBehind);
    let first = ways.iter().position(fails);
    model(move || {
        let shared = Arc::new(Loop::new());
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || other.run(ways));
        shared.run(ways);
        thread.join().unwrap();
        assert_eq!(*shared.failed.lock().unwrap(), first);
        // SAFETY: the other thread has ended.
        let length = shared.length.with(|length| unsafe { *length });
        assert!(length >= first.unwrap_or(ways.len()), "{length}");
    });
}

#[test]
fn turns_come_in_order() {
    check(&[InTurn, InTurn, InTurn]);
    check(&[Passes, Passes, InTurn]);
}

#[test]
fn who_moves_memory_has_it_alone() {
    check(&[Passes, Moves, Passes]);
    check(&[Passes, Passes, Moves]);
    check(&[InTurn, Moves, Moves]);
}

#[test]
fn the_first_failure_counts_whatever_the_order() {
    check(&[InTurn, FailsIn, FailsBefore]);
    check(&[Passes, FailsBefore, FailsBefore]);
    check(&[FailsIn, FailsBefore, InTurn]);
    check(&[FailsBehind, FailsIn, FailsBefore]);
    check(&[Passes, FailsBehind, Moves]);
}

#[test]
fn whoever_sees_that_the_compiler_is_done_sees_its_kernel() {
    for (made, most) in [
        (Some(7), Duration::MAX),
        (Some(7), Duration::ZERO),
        (None, Duration::MAX),
        (None, Duration::ZERO),
    ] {
        model(move || {
            let second = Plain::new(Second::<usize>::default());
            let readers = [(); 2].map(|()| {
                let second = Plain::clone(&second);
                thread::spawn(move || {
                    let early = second.get().copied();
                    assert!(early.is_none() || early == made);
                    let done = second.is_done() || second.wait(most);
                    assert!(done || most.is_zero());
                    let late = second.get().copied();
                    assert!(late == made || (!done && late.is_none()));
                    assert!(early.is_none() || late.is_some(), "a swap is final");
                })
            });
            second.finish(made);
            for reader in readers {
                reader.join().unwrap();
            }
            assert_eq!(second.get().copied(), made);
        });
    }
}
