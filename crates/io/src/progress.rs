//! Telling how far a long read has come.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sparsec_base::cancel::checkpoint;

/// The least time between two reports.
const PAUSE: Duration = Duration::from_millis(200);

/// A function that is told bytes done and bytes in all, a few times a second
/// at most, from any thread. The bytes are those of the work: a compressed file
/// is expanded and then read, so it counts twice.
#[derive(Clone)]
pub struct Progress(Arc<dyn Fn(u64, u64) + Send + Sync>);

impl Progress {
    /// Tells `report`.
    pub fn new(report: impl Fn(u64, u64) + Send + Sync + 'static) -> Self {
        Self(Arc::new(report))
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Progress")
    }
}

/// Adds up what threads have done, and passes on what is due.
pub(crate) struct Meter<'a> {
    progress: Option<&'a Progress>,
    /// What was done before, and what there is in all.
    before: u64,
    total: u64,
    /// Reported bytes for each byte counted, as a fraction.
    scale: f64,
    done: AtomicU64,
    start: Instant,
    /// Milliseconds after the start at which the last report was made.
    last: AtomicU64,
}

impl<'a> Meter<'a> {
    /// A meter of `bytes` bytes of work, shown as those from `before` to `total`.
    pub(crate) fn new(progress: Option<&'a Progress>, bytes: u64, before: u64, total: u64) -> Self {
        Self {
            progress,
            before,
            total,
            scale: (total - before) as f64 / bytes.max(1) as f64,
            done: AtomicU64::new(0),
            start: Instant::now(),
            last: AtomicU64::new(0),
        }
    }

    /// Counts `bytes` more bytes, unless the read was cancelled.
    pub(crate) fn add(&self, bytes: u64) {
        checkpoint();
        let Some(progress) = self.progress else {
            return;
        };
        let done = self.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let now = self.start.elapsed().as_millis() as u64;
        let last = self.last.load(Ordering::Relaxed);
        let due = now >= last + PAUSE.as_millis() as u64;
        let claim = || {
            let order = Ordering::Relaxed;
            self.last.compare_exchange(last, now, order, order).is_ok()
        };
        // Of threads that are due at once, one reports.
        if due && claim() {
            let shown = self.before + (done as f64 * self.scale) as u64;
            (progress.0)(shown.min(self.total), self.total);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn reports_are_few_and_scaled() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let list = Arc::clone(&heard);
        let progress = Progress::new(move |done, total| list.lock().unwrap().push((done, total)));
        let meter = Meter::new(Some(&progress), 100, 50, 150);
        for _ in 0..50 {
            meter.add(1);
        }
        assert!(heard.lock().unwrap().is_empty(), "too soon");
        std::thread::sleep(PAUSE + Duration::from_millis(20));
        meter.add(10);
        meter.add(10);
        assert_eq!(*heard.lock().unwrap(), [(110, 150)]);
    }
}
