//! What time it is, for those who wait or ask how old something is.
//!
//! Tests have the clock jump (`sparsec_parallel::fault`).

use std::time::{Duration, Instant, SystemTime};

use sparsec_parallel::fault::{self, Fault};

/// How far the clock jumps in tests: beyond every limit that anybody sets.
const JUMP: Duration = Duration::from_secs(100 * 24 * 3600);

/// Now, to measure how long something takes.
pub(crate) fn now() -> Instant {
    let now = Instant::now();
    match fault::strikes(Fault::Clock) {
        true => now + JUMP,
        false => now,
    }
}

/// The date, by which files of several processes are compared.
pub(crate) fn date() -> SystemTime {
    let now = SystemTime::now();
    match fault::strikes(Fault::Clock) {
        true => now + JUMP,
        false => now,
    }
}
