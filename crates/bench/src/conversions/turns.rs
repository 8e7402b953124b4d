//! The times of another side and of ours, which are measured one after the other in each round.

use std::time::Duration;

use super::row::SideTime;
use crate::pair::median;

/// The times of one side, round by round, and those of ours beside it.
pub(super) struct Turns {
    name: String,
    theirs: Vec<Duration>,
    ratios: Vec<f64>,
}

impl Turns {
    pub(super) fn of(name: String) -> Self {
        Self {
            name,
            theirs: Vec::new(),
            ratios: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, theirs: Duration, ours: Duration) {
        self.theirs.push(theirs);
        self.ratios.push(theirs.as_secs_f64() / ours.as_secs_f64());
    }

    pub(super) fn finish(self) -> SideTime {
        SideTime {
            name: self.name,
            time: median(self.theirs, Duration::cmp),
            ratio: median(self.ratios, f64::total_cmp),
        }
    }
}
