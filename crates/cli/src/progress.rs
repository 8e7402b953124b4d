//! A bar on stderr while work goes on, where that is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Time between two pictures of the bar.
const TICK: Duration = Duration::from_millis(120);

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
        let bar = ProgressBar::new(n_steps as u64);
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
            self.bar.inc(1);
        }
        self.bar.set_message(what);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
