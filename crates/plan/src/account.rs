//! Why a plan is what it is: which others there were, and what each was thought to
//! cost.
//!
//! ```text
//! C(i,j) = A(i,k) * B(k,j)
//! estimated   2.4e5 points computed, 9.6e4 entries of C
//! moves      around walks  workspace modes  strided  commands
//! 0 B        0             1                1        chosen: reorder(i, k, j), precompute(…)
//! 7.7 MB     0             0                1        reorder(i, j, k), convert(B, csc)
//! ```
//!
//! Where a loop merges operands that are known, a line says how many of its steps a processor
//! would guess wrong (`mergeby`). Columns are the figures that [`cost`](crate::cost) compares, from left to right.

use std::fmt;

use sparsec_graph::operand::for_each_nested;
use sparsec_index::{Concrete, Schedule};

use crate::cost::Cost;
use crate::estimate::Estimate;
use crate::search::{Facts, Plan};
use crate::waste::is_known;

/// The most candidates that are kept of a search.
const MOST: usize = 6;

/// What a search came across, and what it thinks of the plan that it chose.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// Candidates that can be lowered, the cheapest first: the plan, as far as
    /// planning chose it, and the next best.
    pub considered: Vec<Considered>,
    /// At how many points the statement is thought to compute.
    pub points: f64,
    /// How many entries it is thought to store in its result, at most.
    pub entries: f64,
    /// Whether what its operands store is known.
    pub is_counted: bool,
    /// The loops that merge operands, by the names of their variables, with the share of
    /// their steps that a processor would guess wrong.
    pub guessed: Vec<(String, f64)>,
}

/// A way to compute a statement.
#[derive(Clone, Debug)]
pub struct Considered {
    /// The commands.
    pub schedule: Schedule,
    /// What they were thought to cost.
    pub cost: Cost,
}

impl Account {
    /// Adds a candidate; of those with equal commands there is one.
    pub(crate) fn add(&mut self, candidate: Considered) {
        let text = candidate.schedule.to_string();
        if self
            .considered
            .iter()
            .any(|it| it.schedule.to_string() == text)
        {
            return;
        }
        // Behind all that are as cheap: among equals the first wins.
        let place = self
            .considered
            .partition_point(|it| it.cost <= candidate.cost);
        if place < MOST {
            self.considered.insert(place, candidate);
            self.considered.truncate(MOST);
        }
    }

    /// Adds the candidates of another search for the same statement.
    pub(crate) fn merge(&mut self, other: Self) {
        other.considered.into_iter().for_each(|it| self.add(it));
    }
}

impl Plan {
    /// Estimates what the plan of a statement computes and stores; `naive` is the
    /// statement without any choices, in which no workspace hides what is reduced.
    pub(crate) fn with_estimates(mut self, naive: &Concrete, facts: Facts<'_>) -> Self {
        let estimate = Estimate::of(&self, facts);
        let mut points = 0.0;
        for_each_nested(&self.concrete.stmt, &mut |nested| {
            points += estimate.computed(nested.rhs, nested.loops);
        });
        let estimate = Estimate {
            concrete: naive,
            ..estimate
        };
        let mut entries = 0.0;
        for_each_nested(&naive.stmt, &mut |nested| {
            let computed = estimate.computed(nested.rhs, nested.loops);
            entries += computed.min(estimate.points(&nested.lhs.vars()));
        });
        self.account.points = points;
        self.account.entries = entries;
        self.account.is_counted = is_known(&self, &self.formats, facts);
        self
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "estimated   {} points computed, about {} entries of the result",
            count(self.points),
            count(self.entries)
        )?;
        for (var, wrong) in &self.guessed {
            let percent = wrong * 100.0;
            writeln!(
                f,
                "merges      {percent:.0} % of the steps of {var} guessed wrong"
            )?;
        }
        writeln!(
            f,
            "moves      around walks  workspace modes  strided  commands"
        )?;
        for (number, candidate) in self.considered.iter().enumerate() {
            let cost = candidate.cost;
            let commands = candidate.schedule.to_string();
            let commands: Vec<&str> = commands.lines().filter(|line| !line.is_empty()).collect();
            let commands = match commands.is_empty() {
                true => "none".to_owned(),
                false => commands.join(", "),
            };
            writeln!(
                f,
                "{:10} {:<13} {:<16} {:<8} {}{commands}",
                bytes(cost.traffic),
                cost.repeated_walks,
                cost.workspace_modes,
                cost.strided,
                if number == 0 { "chosen: " } else { "" },
            )?;
        }
        Ok(())
    }
}

/// A number of points or entries, to two digits where it is large.
fn count(n: f64) -> String {
    match n < 1e4 {
        true => format!("{n:.0}"),
        false => format!("{n:.1e}"),
    }
}

fn bytes(n: u64) -> String {
    const UNITS: [&str; 4] = ["B", "kB", "MB", "GB"];
    let mut value = n as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    match unit {
        0 => format!("{n} B"),
        _ => format!("{value:.1} {}", UNITS[unit]),
    }
}
