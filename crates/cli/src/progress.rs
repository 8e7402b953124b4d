//! A bar on stderr while work goes on, where that is a terminal.
//!
//! Work is steps; a long read fills its step as it goes:
//!
//! ```text
//! ⠙ [=====>              ] read web.mtx 2s
//! ```

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use sparsec::io::{self, ReadOptions};

/// Time between two pictures of the bar.
const TICK: Duration = Duration::from_millis(120);
/// The length of a step on the bar.
const STEP: u64 = 1000;

/// Steps of a call, of which one is being done. Gone when dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar of `n_steps` steps; none if `hidden`, and where stderr is no terminal.
    pub(crate) fn new(n_steps: usize, hidden: bool) -> Self {
        if hidden {
            return Self {
                bar: ProgressBar::hidden(),
            };
        }
        let bar = ProgressBar::new(n_steps as u64 * STEP);
        if let Ok(style) = ProgressStyle::with_template("{spinner} [{bar:20}] {msg} {elapsed}") {
            bar.set_style(style.progress_chars("=> "));
        }
        if !bar.is_hidden() {
            bar.enable_steady_tick(TICK);
        }
        Self { bar }
    }

    /// Says what is done from here on; what was done before is finished.
    pub(crate) fn step(&self, what: String) {
        if !self.bar.message().is_empty() {
            self.bar.set_position(next(self.bar.position()));
        }
        self.bar.set_message(what);
    }

    /// Options for a read that fills the step at hand.
    pub(crate) fn reading(&self) -> ReadOptions {
        let start = self.bar.position();
        let bar = self.bar.clone();
        let report = move |done, total| bar.set_position(start + filled(done, total));
        ReadOptions {
            mapping: io::Mapping::ending_with(SHRUNK),
            progress: (!self.bar.is_hidden()).then(|| io::Progress::new(report)),
            ..ReadOptions::default()
        }
    }
}

/// Said where the system cannot read a page of a mapped file.
const SHRUNK: &str = "\
error: a file became shorter while it was read, or its disk failed
help: wait until nothing writes to the files of this call, and run it again
";

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Where the step after the one at `position` begins. A read may have filled
/// a step up to its end, which is not the next one yet.
fn next(position: u64) -> u64 {
    (position / STEP + 1) * STEP
}

/// How much of a step is filled; never all, since work is left after the last byte.
fn filled(done: u64, total: u64) -> u64 {
    let part = u128::from(done) * u128::from(STEP) / u128::from(total.max(1));
    u64::try_from(part).unwrap_or(STEP).min(STEP - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_follow_each_other_however_far_one_was_filled() {
        assert_eq!(filled(0, 0), 0);
        assert_eq!(filled(50, 100), STEP / 2);
        assert_eq!(filled(u64::MAX, u64::MAX), STEP - 1);
        for done in [0, 30, 100] {
            assert_eq!(next(STEP + filled(done, 100)), 2 * STEP);
        }
    }
}
