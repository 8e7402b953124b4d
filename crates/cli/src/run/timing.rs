//! Where the time of a run went: `--time`, and `--time-passes`.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sparsec::internals::Timings;
use sparsec::internals::runtime::Origin;

use crate::table::{duration, table};

/// The parts of a run that the command itself times; the rest are the library's.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// Reading and packing files, and generating.
    pub(super) read: Lap,
    /// From the expression to loops.
    pub(super) plan: Lap,
    /// Comparing with the reference evaluator.
    pub(super) check: Lap,
    /// Writing files.
    pub(super) write: Lap,
}

/// The time of one part, if it was done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lap(Option<Duration>);

impl Lap {
    /// Does the work of this part.
    pub(super) fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let done = work();
        self.0 = Some(started.elapsed());
        done
    }
}

impl Clock {
    /// The parts in order, each with its time and a remark.
    fn rows(&self, timings: &Timings, repeat: usize) -> Vec<(&'static str, Duration, String)> {
        let remark = match repeat {
            1 => String::new(),
            n => format!("best of {n}"),
        };
        let mut rows = vec![
            ("read", self.read.0.unwrap_or_default(), String::new()),
            ("plan", self.plan.0.unwrap_or_default(), String::new()),
            ("convert", timings.convert, copies(timings.n_converted)),
            ("compile", timings.compile, origins(&timings.origins)),
            ("assemble", timings.assemble, String::new()),
            ("compute", best(&timings.compute, repeat), remark),
        ];
        let optional = [("check", self.check), ("write", self.write)];
        rows.extend(
            optional
                .into_iter()
                .filter_map(|(name, lap)| Some((name, lap.0?, String::new()))),
        );
        rows
    }

    /// A table of the parts.
    pub(super) fn text(&self, timings: &Timings, repeat: usize) -> String {
        let rows = self.rows(timings, repeat).into_iter();
        let rows: Vec<[String; 3]> = rows
            .map(|(name, time, remark)| [name.to_owned(), format!("{:>8}", duration(time)), remark])
            .collect();
        table(&rows)
    }

    /// The parts in seconds.
    pub(super) fn value(&self, timings: &Timings, repeat: usize) -> Value {
        let mut value = json!({
            "kernels": timings.origins.iter().map(|origin| origin_name(*origin)).collect::<Vec<_>>(),
            "compute_all": timings.compute.iter().map(Duration::as_secs_f64).collect::<Vec<_>>(),
        });
        for (name, time, _) in self.rows(timings, repeat) {
            value[name] = json!(time.as_secs_f64());
        }
        value
    }
}

/// The best time of each statement, added up. Each statement's values were
/// computed `repeat` times in a row.
fn best(compute: &[Duration], repeat: usize) -> Duration {
    let each = compute.chunks(repeat.max(1));
    each.filter_map(|times| times.iter().min()).sum()
}

/// Where the kernels came from, in words.
fn origins(origins: &[Origin]) -> String {
    let mut words: Vec<&str> = origins.iter().map(|origin| origin_name(*origin)).collect();
    words.dedup();
    words.join(", ")
}

fn origin_name(origin: Origin) -> &'static str {
    match origin {
        Origin::Compiled => "compiled",
        Origin::Cached => "cached",
        Origin::Generated => "generated",
        Origin::Interpreted => "interpreted",
    }
}

/// How long each pass took, as a table.
pub(crate) fn passes_text(times: &[(&'static str, Duration)]) -> String {
    let rows: Vec<[String; 2]> = times
        .iter()
        .map(|(name, time)| [(*name).to_owned(), format!("{:>8}", duration(*time))])
        .collect();
    table(&rows)
}

/// How long each pass took, in seconds.
pub(crate) fn passes_value(times: &[(&'static str, Duration)]) -> Value {
    let one = |(name, time): &(&str, Duration)| json!({ "pass": name, "time": time.as_secs_f64() });
    Value::Array(times.iter().map(one).collect())
}

/// How many copies of operands were made.
fn copies(n: usize) -> String {
    match n {
        0 => String::new(),
        1 => "1 copy".to_owned(),
        n => format!("{n} copies"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_each_statement_counts() {
        let times = [3, 2, 10, 30].map(Duration::from_millis);
        assert_eq!(best(&times, 2), Duration::from_millis(12));
        assert_eq!(best(&times[..1], 1), Duration::from_millis(3));
        assert_eq!(best(&[], 3), Duration::ZERO);
    }
}
