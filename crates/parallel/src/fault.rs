//! Faults of the system, injected by tests.
//!
//! Memory that is out, a full disk, a signal in the middle of a call: each is rare, and
//! the code behind it runs nowhere else. Every place where the system may refuse asks
//! here first whether it is to act as if it had:
//!
//! ```text
//! if fault::strikes(Fault::Disk) { return Err(full) }     at every place
//!
//! inject(Fault::Disk, 3, Strikes::Once)                   0  1  2  ✗  4  5
//! inject(Fault::Disk, 3, Strikes::FromThenOn)             0  1  2  ✗  ✗  ✗
//! ```
//!
//! A test walks the number from 0 up until the operation passes fewer places than that
//! ([`Injected::struck`]), so that every place fails once.
//!
//! Only the feature `fault`, which the tests of `runtime` turn on, compiles any of this;
//! without it [`strikes`] is `false`, and the places cost nothing.

/// A fault, by the way in which places meet it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// There is no memory.
    Memory,
    /// There is no room on the disk (`ENOSPC`).
    Disk,
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
    pub const ALL: [Self; 7] = [
        Self::Memory,
        Self::Disk,
        Self::ShortWrite,
        Self::Signal,
        Self::Killed,
        Self::Clock,
        Self::Panic,
    ];
}

#[cfg(not(feature = "fault"))]
/// Whether to act as if the fault had come here.
#[inline(always)]
pub fn strikes(_: Fault) -> bool {
    false
}

#[cfg(feature = "fault")]
pub use injected::{Injected, Strikes, inject, strikes};

#[cfg(feature = "fault")]
mod injected {
    use std::sync::{Mutex, MutexGuard, PoisonError};

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
        /// How many places were passed.
        n_passed: usize,
    }

    static PLAN: Mutex<Option<Plan>> = Mutex::new(None);
    /// Held by the one test of the process that injects.
    static TURN: Mutex<()> = Mutex::new(());

    fn plan() -> MutexGuard<'static, Option<Plan>> {
        PLAN.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether to act as if the fault had come here.
    pub fn strikes(fault: Fault) -> bool {
        let mut plan = plan();
        let Some(plan) = plan.as_mut().filter(|plan| plan.fault == fault) else {
            return false;
        };
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
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        *plan() = Some(Plan {
            fault,
            at,
            how,
            n_passed: 0,
        });
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
