//! Faults of the system, injected by tests.
//!
//! A machine seldom runs out of memory, fills its disk or interrupts a call by a signal,
//! so the code that answers such a fault seldom runs. Every place where the system may
//! refuse therefore asks here first whether to act as if it had refused:
//!
//! ```text
//! if fault::strikes(Fault::Disk) { return Err(full) }     at every place
//!
//! inject(Fault::Disk, 3, Strikes::Once)                   0  1  2  ✗  4  5
//! inject(Fault::Disk, 3, Strikes::FromThenOn)             0  1  2  ✗  ✗  ✗
//! ```
//!
//! A test counts the number up from 0 until the operation has no place with this number
//! (`Injected::struck` is then false), so every place fails once.
//!
//! Only the feature `fault`, which the tests of `runtime` and of `io` turn on, compiles any
//! of this; without it [`strikes`] is `false`, and the places cost nothing.

/// A fault of the system, by the way in which code meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// There is no memory.
    Memory,
    /// There is no room on the disk (`ENOSPC`).
    Disk,
    /// The system refuses to link a file under a name.
    Link,
    /// The system refuses to rename a file.
    Rename,
    /// Less is written than was asked for.
    ShortWrite,
    /// A signal comes before a call has done anything (`EINTR`).
    Signal,
    /// Somebody kills the process that was started.
    Killed,
    /// The clock jumps.
    Clock,
    /// Code that a kernel calls panics.
    Panic,
}

impl Fault {
    /// Each of them.
    pub const ALL: [Self; 9] = [
        Self::Memory,
        Self::Disk,
        Self::Link,
        Self::Rename,
        Self::ShortWrite,
        Self::Signal,
        Self::Killed,
        Self::Clock,
        Self::Panic,
    ];
}

/// Whether to act as if the fault happened here.
#[cfg(not(feature = "fault"))]
#[inline(always)]
pub fn strikes(_: Fault) -> bool {
    false
}

#[cfg(feature = "fault")]
pub use injected::{Injected, Strikes, inject, inject_here, strikes};

#[cfg(feature = "fault")]
mod injected {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Mutex, MutexGuard, PoisonError};
    use std::thread::ThreadId;

    use super::Fault;

    /// How often an injected fault strikes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Strikes {
        /// At one place.
        Once,
        /// At that place and all behind it.
        FromThenOn,
    }

    struct Plan {
        fault: Fault,
        at: usize,
        how: Strikes,
        /// The thread that it strikes, if not every one.
        thread: Option<ThreadId>,
        /// How many places were passed.
        n_passed: usize,
    }

    static PLAN: Mutex<Option<Plan>> = Mutex::new(None);
    /// Whether there is one: tests that inject nothing are not slowed down.
    static IS_PLANNED: AtomicBool = AtomicBool::new(false);
    /// Held by the one test of the process that injects.
    static TURN: Mutex<()> = Mutex::new(());

    fn plan() -> MutexGuard<'static, Option<Plan>> {
        PLAN.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether to act as if the fault had come here.
    pub fn strikes(fault: Fault) -> bool {
        if !IS_PLANNED.load(Ordering::Acquire) {
            return false;
        }
        let mut plan = plan();
        let Some(plan) = plan.as_mut().filter(|plan| plan.fault == fault) else {
            return false;
        };
        let here = std::thread::current().id();
        if plan.thread.is_some_and(|thread| thread != here) {
            return false;
        }
        let place = plan.n_passed;
        plan.n_passed += 1;
        match plan.how {
            Strikes::Once => place == plan.at,
            Strikes::FromThenOn => place >= plan.at,
        }
    }

    /// A fault that is injected in this process, in whichever thread, until it is dropped.
    /// Tests that inject wait for each other.
    #[derive(Debug)]
    pub struct Injected {
        _turn: MutexGuard<'static, ()>,
    }

    /// Injects a fault at place number `at` of those that meet it.
    pub fn inject(fault: Fault, at: usize, how: Strikes) -> Injected {
        begin(fault, at, how, None)
    }

    /// As [`inject`], for this thread alone: other tests run meanwhile.
    pub fn inject_here(fault: Fault, at: usize, how: Strikes) -> Injected {
        begin(fault, at, how, Some(std::thread::current().id()))
    }

    fn begin(fault: Fault, at: usize, how: Strikes, thread: Option<ThreadId>) -> Injected {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        *plan() = Some(Plan {
            fault,
            at,
            how,
            thread,
            n_passed: 0,
        });
        IS_PLANNED.store(true, Ordering::Release);
        Injected { _turn: turn }
    }

    impl Injected {
        /// Whether it has struck.
        pub fn struck(&self) -> bool {
            plan().as_ref().is_some_and(|plan| plan.n_passed > plan.at)
        }
    }

    impl Drop for Injected {
        fn drop(&mut self) {
            IS_PLANNED.store(false, Ordering::Release);
            *plan() = None;
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn faults_strike_where_they_are_told() {
            let struck = |how| {
                let injected = inject(Fault::Clock, 1, how);
                assert!(!injected.struck());
                let places = [(); 3].map(|()| strikes(Fault::Clock));
                assert!(!strikes(Fault::Killed) && injected.struck());
                places
            };
            assert_eq!(struck(Strikes::Once), [false, true, false]);
            assert_eq!(struck(Strikes::FromThenOn), [false, true, true]);
            assert!(!strikes(Fault::Clock));
        }
    }
}
