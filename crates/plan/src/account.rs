//! Why the planner chose a plan: the other candidates, and the figure that rejected each.
//!
//! ```text
//! C(i,j) = A(i,k) * B(k,j)
//! The planner chose the cheapest of 9 candidates: reorder(i, k, j), precompute(…).
//! It estimates that the kernel computes 240000 points and stores 96000 entries.
//! It estimates 1.2 ms on one thread: 1.1 ms for steps of loops and 100 µs for arrays that caches do not hold.
//! Rejected:
//!   reorder(i, j, k), convert(B, csc)
//!     takes 3.4 ms against 1.2 ms: 2.2 ms more for conversions
//! ```
//!
//! A candidate is rejected by its estimated [`cost`](crate::cost). Where a loop merges operands that are known, a sentence
//! says how many of its steps a processor would guess wrong (`mergeby`). Where extents or
//! entries are not known, a sentence says which ones are assumed.

use std::fmt;

use sparsec_index::concrete::for_each_nested;
use sparsec_index::{Concrete, TensorRole};
use sparsec_schedule::{Command, Schedule};

use crate::cost::Cost;
use crate::estimate::work::points;
use crate::estimate::{Estimate, UNKNOWN_EXTENT, UNKNOWN_FIBER, is_known};
use crate::search::{Facts, Plan};

/// The most candidates that are kept of a search.
const MOST: usize = 24;

/// What a search came across, and what it thinks of the plan that it chose.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// Candidates that can be lowered, the cheapest first: the plan, as far as
    /// planning chose it, and the next best. Each can be given back as a schedule.
    pub considered: Vec<Considered>,
    /// How many candidates the search looked at, those included that cannot be lowered.
    pub n_looked: usize,
    /// Whether the search ended at its limit, so that there are candidates that it did not
    /// look at.
    pub ran_out: bool,
    /// At how many points the statement is thought to compute.
    pub points: f64,
    /// How many entries it is thought to store in its result, at most.
    pub entries: f64,
    /// Whether what its operands store is known.
    pub is_counted: bool,
    /// The loops that merge operands, by the names of their variables, with the share of
    /// their steps that a processor would guess wrong.
    pub guessed: Vec<(String, f64)>,
    /// What estimates assume, since nothing says it.
    pub assumed: Assumed,
    /// The results of the program that it computes on the way, since nothing else reads them.
    pub joined: Vec<String>,
    /// The results that its loops compute as well.
    pub together: Vec<String>,
}

/// What estimates assume where nothing is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assumed {
    /// The index variables whose extent is assumed.
    pub extents: Vec<String>,
    /// The operands whose number of entries is assumed.
    pub counts: Vec<String>,
}

impl Assumed {
    /// The extent that is assumed of each of the variables.
    pub const EXTENT: u64 = UNKNOWN_EXTENT as u64;
    /// How many entries are assumed for each coordinate of the first mode of an operand.
    pub const FIBER: u64 = UNKNOWN_FIBER as u64;

    /// The assumptions in a sentence; `None` if everything is known.
    pub fn sentence(&self) -> Option<String> {
        let parts = [
            (&self.extents, format!("extent {}", Self::EXTENT)),
            (
                &self.counts,
                format!("{} entries for each first coordinate", Self::FIBER),
            ),
        ];
        let parts = parts.into_iter().filter(|(names, _)| !names.is_empty());
        let parts: Vec<String> = parts
            .map(|(names, assumed)| format!("{assumed} of {}", listed(names)))
            .collect();
        let is_any = !parts.is_empty();
        is_any.then(|| {
            format!(
                "It assumes {}, since nothing says it.",
                parts.join(", and ")
            )
        })
    }
}

/// A way to compute a statement.
#[derive(Clone, Debug)]
pub struct Considered {
    /// The commands.
    pub schedule: Schedule,
    /// What they were thought to cost.
    pub cost: Cost,
}

impl Considered {
    /// The commands on one line.
    pub fn commands(&self) -> String {
        let commands: Vec<String> = self.schedule.0.iter().map(short).collect();
        match commands.is_empty() {
            true => "the loops as they are written".to_owned(),
            false => commands.join(", "),
        }
    }

    /// Why this candidate was rejected, in words that follow its commands.
    pub fn against(&self, chosen: Cost) -> String {
        let cost = self.cost;
        if !chosen.is_less_than(&cost) {
            return "costs the same, and its loops are further from the written order".to_owned();
        }
        let parts = [
            (cost.steps - chosen.steps, "steps of loops"),
            (
                cost.traffic - chosen.traffic,
                "arrays that caches do not hold",
            ),
            (cost.conversions - chosen.conversions, "conversions"),
            (cost.launches - chosen.launches, "launching kernels"),
        ];
        let most = parts.into_iter().max_by(|(a, _), (b, _)| a.total_cmp(b));
        let (more, part) = most.expect("there are four");
        format!(
            "takes {} against {}: {} more for {part}",
            time(cost.nanoseconds()),
            time(chosen.nanoseconds()),
            time(more),
        )
    }
}

impl Account {
    /// How many candidates are shown.
    pub const SHOWN: usize = 6;

    /// Adds a candidate; of those with equal commands there is one.
    pub(crate) fn add(&mut self, candidate: Considered) {
        // Behind all that are as cheap: among equals the first wins.
        let place = self
            .considered
            .partition_point(|it| !candidate.cost.is_less_than(&it.cost));
        if place >= MOST {
            return;
        }
        let text = candidate.schedule.to_string();
        if self
            .considered
            .iter()
            .any(|it| it.cost == candidate.cost && it.schedule.to_string() == text)
        {
            return;
        }
        self.considered.insert(place, candidate);
        self.considered.truncate(MOST);
    }

    /// Adds the candidates of another search for the same statement.
    pub(crate) fn merge(&mut self, other: Self) {
        self.add_search(&other);
        other.considered.into_iter().for_each(|it| self.add(it));
    }

    /// Adds how far another search went.
    pub(crate) fn add_search(&mut self, other: &Self) {
        self.n_looked += other.n_looked;
        self.ran_out |= other.ran_out;
    }
}

impl Plan {
    /// Estimates what the plan of a statement computes and stores; `naive` is the
    /// statement without any choices, in which no workspace hides what is reduced.
    pub(crate) fn with_estimates(mut self, naive: &Concrete, facts: Facts<'_>) -> Self {
        let estimate = Estimate::of(&self, facts);
        let points = points(estimate);
        let estimate = estimate.of_naive(naive);
        let mut entries = 0.0;
        for_each_nested(&naive.stmt, &mut |nested| {
            entries += estimate.written(nested);
        });
        let assumed = assumed(&estimate, facts);
        self.account.points = points;
        self.account.entries = entries;
        self.account.is_counted = is_known(&self, &self.formats, facts);
        self.account.assumed = assumed;
        self
    }
}

/// What an estimate assumes of the variables and operands of a naive statement.
fn assumed(estimate: &Estimate<'_>, facts: Facts<'_>) -> Assumed {
    let Concrete { vars, tensors, .. } = estimate.concrete;
    let loops = estimate.concrete.stmt.loops().into_iter();
    let unknown = loops.filter(|var| estimate.extent(*var).is_none());
    let mut counts = Vec::new();
    estimate.concrete.stmt.for_each_assign(&mut |_, _, rhs| {
        rhs.for_each_access(&mut |access| {
            let data = &tensors[access.tensor];
            let format = estimate.formats.get(access.tensor);
            let is_sparse = format.is_some_and(|format| format.has_sparse());
            let is_unknown =
                data.role == TensorRole::Input && is_sparse && (facts.counts)(data).is_none();
            if is_unknown && !counts.contains(&data.name) {
                counts.push(data.name.clone());
            }
        });
    });
    Assumed {
        extents: unknown.map(|var| vars[var].name.clone()).collect(),
        counts,
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((chosen, rejected)) = self.considered.split_first() else {
            return Ok(());
        };
        let commands = chosen.commands();
        match (self.n_looked, rejected) {
            (0, []) => writeln!(f, "The plan follows the schedule: {commands}.")?,
            (1, []) => writeln!(f, "The planner found one candidate: {commands}.")?,
            (n, _) => {
                let n = n.max(self.considered.len());
                writeln!(
                    f,
                    "The planner chose the cheapest of {n} candidates: {commands}."
                )?;
            }
        }
        writeln!(
            f,
            "It estimates that the kernel computes {} points and stores {} of the result.",
            count(self.points),
            entries(self.entries)
        )?;
        writeln!(f, "{}", chosen.cost_of_parts())?;
        if !self.together.is_empty() {
            let together = listed(&self.together);
            writeln!(f, "The same loops compute {together}.")?;
        }
        if !self.joined.is_empty() {
            let joined = listed(&self.joined);
            writeln!(
                f,
                "It computes {joined} on the way, which nothing else reads."
            )?;
        }
        if let Some(sentence) = self.assumed.sentence() {
            writeln!(f, "{sentence}")?;
        }
        if self.ran_out {
            writeln!(f, "{}", self.limit())?;
        }
        for (var, wrong) in &self.guessed {
            let percent = wrong * 100.0;
            writeln!(
                f,
                "A processor would guess {percent:.0} % of the steps of the merge over {var} wrong."
            )?;
        }
        if !rejected.is_empty() {
            writeln!(f, "Rejected:")?;
        }
        for candidate in rejected.iter().take(Self::SHOWN - 1) {
            writeln!(f, "  {}", candidate.commands())?;
            writeln!(f, "    {}", candidate.against(chosen.cost))?;
        }
        Ok(())
    }
}

impl Considered {
    /// What it was thought to cost, and for what, in a sentence.
    fn cost_of_parts(&self) -> String {
        let Cost {
            steps,
            traffic,
            conversions,
            launches,
            // Costs of whole plans have nothing left to overlap.
            ahead: _,
        } = self.cost;
        let parts = [
            (steps, "steps of loops"),
            (traffic, "arrays that caches do not hold"),
            (conversions, "conversions"),
            (launches, "launches"),
        ];
        let parts = parts.into_iter().filter(|(part, _)| *part > 0.0);
        let parts: Vec<String> = parts
            .map(|(part, of)| format!("{} for {of}", time(part)))
            .collect();
        let all = time(self.cost.nanoseconds());
        format!("It estimates {all} on one thread: {}.", listed(&parts))
    }
}

impl Account {
    /// That the search ended at its limit, in a sentence.
    pub fn limit(&self) -> String {
        format!(
            "The search ended at its limit after {} candidates, and there are more: \
             a schedule (`-s`) may give a cheaper plan.",
            self.n_looked
        )
    }
}

/// A command with formats by name, without the widths that replaying it takes.
fn short(command: &Command) -> String {
    if let Command::Convert {
        tensor,
        indices: Some(indices),
        format,
    } = command
        && let Ok(format) = format.resolve(indices.len())
    {
        let indices: Vec<String> = indices.iter().map(ToString::to_string).collect();
        let format = format.arrangement();
        return format!("convert({tensor}({}), {format})", indices.join(","));
    }
    command.to_string()
}

/// Names in a sentence: `i`, `i and j`, `i, j and k`.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A number of entries with its noun.
fn entries(n: f64) -> String {
    match count(n).as_str() {
        "1" => "1 entry".to_owned(),
        several => format!("{several} entries"),
    }
}

/// A number of points or entries, to two digits where it is large.
pub fn count(n: f64) -> String {
    if !(1e4..1e15).contains(&n) {
        return match n < 1e4 {
            true => format!("{n:.0}"),
            false => format!("{n:.1e}"),
        };
    }
    let unit = 10_f64.powf(n.log10().floor() - 1.0);
    format!("about {:.0}", (n / unit).round() * unit)
}

/// A number of bytes with its unit.
pub fn bytes(n: u64) -> String {
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

/// A time with its unit, to two digits.
fn time(nanoseconds: f64) -> String {
    const UNITS: [(&str, f64); 4] = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
    let fits = |(_, of): &&(&str, f64)| nanoseconds < 1e3 * of;
    let (unit, of) = UNITS.iter().find(fits).unwrap_or(&UNITS[3]);
    let value = nanoseconds / of;
    match value {
        0.0 => "no time".to_owned(),
        _ if value >= 1e4 => format!("{value:.1e} {unit}"),
        _ if value >= 10.0 => format!("{value:.0} {unit}"),
        _ => format!("{value:.1} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_name_the_part_that_costs_most_more() {
        let chosen = Cost::of_steps(1.2e6);
        let check = |cost: Cost, expect: &str| {
            let schedule = Schedule::default();
            assert_eq!(Considered { schedule, cost }.against(chosen), expect);
        };
        let conversions = 2.2e6;
        check(
            Cost {
                conversions,
                ..chosen
            },
            "takes 3.4 ms against 1.2 ms: 2.2 ms more for conversions",
        );
        check(
            chosen + Cost::of_steps(5e4),
            "takes 1.2 ms against 1.2 ms: 50 µs more for steps of loops",
        );
        check(
            chosen,
            "costs the same, and its loops are further from the written order",
        );
    }

    #[test]
    fn numbers_have_two_digits_where_they_are_large() {
        assert_eq!(count(9_999.0), "9999");
        assert_eq!(count(95_512.0), "about 96000");
        assert_eq!(count(1.26e18), "1.3e18");
        let names = ["i", "j", "k"].map(str::to_owned);
        assert_eq!(listed(&names), "i, j and k");
    }
}
