//! The time, for waits and for the ages of files.
//!
//! Tests make the clock jump (`sparsec_parallel::fault`).

use std::time::{Duration, Instant, SystemTime};

use sparsec_parallel::fault::{self, Fault};

/// How far the clock jumps in tests: beyond every time limit of this crate.
const JUMP: Duration = Duration::from_secs(100 * 24 * 3600);

/// Now, to measure how long something takes.
pub(crate) fn now() -> Instant {
    let now = Instant::now();
    match fault::strikes(Fault::Clock) {
        true => now + JUMP,
        false => now,
    }
}

/// The date, to compare with the dates of files.
pub(crate) fn date() -> SystemTime {
    let now = SystemTime::now();
    match fault::strikes(Fault::Clock) {
        true => now + JUMP,
        false => now,
    }
}
