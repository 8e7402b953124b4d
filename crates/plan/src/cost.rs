//! What a plan costs: one sum of the steps that it takes and of the bytes that it moves.
//!
//! Every choice is weighed by it: orders of loops, workspaces, conversions. Costs of parts
//! add up. Of plans that cost the same the first one wins, which is nearest the naive order.

use std::ops::{Add, AddAssign};

use sparsec_machine::Machine;

/// The estimated cost of a plan, in nanoseconds of one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Steps of loops, searches and sorts.
    pub steps: f64,
    /// What loops wait for: arrays that caches do not hold.
    pub traffic: f64,
    /// The traffic of long rows, which processors fetch while loops compute.
    pub(crate) ahead: f64,
    /// What conversions take.
    pub conversions: f64,
    /// Launching kernels, those of conversions included.
    pub launches: f64,
}

/// Costs that differ by less than this share are the same: estimates are no better.
const SAME: f64 = 0.01;

impl Cost {
    /// The cost of steps alone.
    pub(crate) fn of_steps(steps: f64) -> Self {
        Self {
            steps,
            ..Self::default()
        }
    }

    /// The cost of a nest of loops. Rows are fetched while the loops compute, so they cost only
    /// the time by which fetching takes longer than computing.
    pub(crate) fn of_nest(self) -> Self {
        Self {
            traffic: self.traffic + (self.ahead - self.steps).max(0.0),
            ahead: 0.0,
            ..self
        }
    }

    /// That of the conversions of a plan, without its own kernel.
    pub(crate) fn of_conversions(&self) -> Self {
        Self {
            conversions: self.conversions,
            launches: self.launches - Machine::MIDDLING.launch,
            ..Self::default()
        }
    }

    /// The share of each run in a cost that is paid once for so many.
    pub(crate) fn shared_by(self, runs: u32) -> Self {
        let part = 1.0 / f64::from(runs.max(1));
        Self {
            steps: self.steps * part,
            traffic: self.traffic * part,
            ahead: self.ahead * part,
            conversions: self.conversions * part,
            launches: self.launches * part,
        }
    }

    /// All of it.
    pub fn nanoseconds(&self) -> f64 {
        self.of_loops() + self.launches
    }

    fn of_loops(&self) -> f64 {
        self.steps + self.traffic + self.conversions
    }

    /// Whether this costs less, by more than estimates may be wrong in any case.
    pub fn is_less_than(&self, other: &Self) -> bool {
        self.nanoseconds() < other.nanoseconds() - SAME * other.of_loops()
    }
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            steps: self.steps + other.steps,
            traffic: self.traffic + other.traffic,
            ahead: self.ahead + other.ahead,
            conversions: self.conversions + other.conversions,
            launches: self.launches + other.launches,
        }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
