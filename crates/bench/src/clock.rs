//! Time in which this thread ran.
//!
//! Benchmarks share their machine. Wall time counts the slices in which others
//! ran; processor time as POSIX has it takes a system call that safe Rust lacks.
//! Linux says how long a thread has been ready to run and was not, to the
//! nanosecond, so wall time less that is what remains:
//!
//! ```text
//! wall     |-------- 10 ms --------|
//! running  |####|    |#####|  |####|
//! waiting       |....|     |..|        /proc/thread-self/schedstat
//! ```
//!
//! Elsewhere nothing is subtracted. What others do to caches and to memory
//! stays in the time; measuring in turns spreads it evenly.

use std::time::{Duration, Instant};

/// What measures a launch.
pub(crate) type Clock<T> = fn(&mut dyn FnMut() -> T) -> (Duration, T);

/// The time that `work` takes in this thread, and what it gives.
pub fn time<T>(work: &mut dyn FnMut() -> T) -> (Duration, T) {
    let before = waited();
    let started = Instant::now();
    let done = work();
    let wall = started.elapsed();
    let waited = waited().saturating_sub(before);
    (less_waiting(wall, waited), done)
}

/// Wall time less the time spent waiting. A wait that is as long as the work, or longer, came
/// between a reading of the kernel's count and a reading of the clock: `wall` has none of it.
fn less_waiting(wall: Duration, waited: Duration) -> Duration {
    match wall.checked_sub(waited) {
        Some(running) if !running.is_zero() => running,
        _ => wall,
    }
}

/// The time that passes while `work` runs, on however many threads, and what it gives.
pub fn wall<T>(work: &mut dyn FnMut() -> T) -> (Duration, T) {
    let started = Instant::now();
    let done = work();
    (started.elapsed(), done)
}

/// How long this thread has been ready to run without running, so far.
fn waited() -> Duration {
    // "RUNNING WAITING SLICES", nanoseconds.
    let read = std::fs::read_to_string("/proc/thread-self/schedstat");
    let waiting = read.ok().and_then(|text| {
        let mut numbers = text.split_whitespace();
        numbers.nth(1)?.parse().ok()
    });
    Duration::from_nanos(waiting.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_beside_the_work_are_not_of_its_time() {
        let [short, long] = [20, 4_000].map(Duration::from_micros);
        assert_eq!(less_waiting(long, short), long - short);
        assert_eq!(less_waiting(short, long), short);
        assert_eq!(less_waiting(short, short), short);
    }

    #[test]
    fn sleeping_counts() {
        let (taken, done) = time(&mut || {
            std::thread::sleep(Duration::from_millis(5));
            7
        });
        assert_eq!(done, 7);
        assert!(taken >= Duration::from_millis(2), "{taken:?}");
    }
}
