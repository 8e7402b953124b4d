//! One network beside its forms by hand, as text and as JSON.

use std::time::Duration;

use serde_json::{Value, json};

use crate::bandwidth::Gain;

/// How large peaks of memory may be, as a multiple of what plans state.
const PEAK: f64 = 1.1;
/// Bytes of peaks that are not worth a bar: those of the allocator and of planning.
const SMALL_PEAK: u64 = 16 << 20;
/// How many times the fastest of all priced plans the chosen one may take.
const OVER_FASTEST: f64 = 1.2;
/// How long planning may take to ten tensors.
const PLANNING: Duration = Duration::from_millis(10);

/// A form by hand beside ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// Its name.
    pub name: &'static str,
    /// Its time, scaled if it computed a part.
    pub time: Duration,
    /// Its time over ours: above 1, ours is faster.
    pub ratio: f64,
    /// The least ratio that is good enough, if there is one.
    pub bar: Option<f64>,
}

/// Ours on several threads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnThreads {
    /// How many.
    pub number: usize,
    /// The time of computing.
    pub time: Duration,
    /// The time on one thread over that.
    pub gain: f64,
    /// The gain of reading and of copying an array meanwhile.
    pub memory: Gain,
    /// The least gain that is good enough; `None` where there is too little work.
    pub bar: Option<f64>,
}

/// The plans that planning priced, timed.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// How many there were beside the chosen one.
    pub number: usize,
    /// How many of them were stopped.
    pub stopped: usize,
    /// The time of the chosen plan over that of the fastest one; 1 if it is the fastest.
    pub over_fastest: f64,
    /// The commands of the fastest plan, if it is not the chosen one.
    pub fastest: Option<String>,
    /// Whether kernels are too short for a bar.
    pub is_short: bool,
}

impl Default for Tried {
    fn default() -> Self {
        Self {
            number: 0,
            stopped: 0,
            over_fastest: 1.0,
            fastest: None,
            is_short: false,
        }
    }
}

/// One network.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkRow {
    /// Its name: `integrals/small`.
    pub name: String,
    /// The tree of the plan, with estimates.
    pub tree: String,
    /// The commands of the plan.
    pub schedule: String,
    /// The estimated time of the plan, copies of operands included.
    pub estimated: Duration,
    /// The time of computing.
    pub ours: Duration,
    /// The time of copying operands to other formats.
    pub convert: Duration,
    /// The time from the expression to loops.
    pub planning: Duration,
    /// Bytes of the result and of copies of operands, as the plan states them.
    pub stated: u64,
    /// Bytes that the run took at most, beyond those before it.
    pub peak: u64,
    /// The forms by hand.
    pub beside: Vec<Beside>,
    /// The least ratio to the fastest of these that is good enough.
    pub bar: f64,
    /// How many blocks the result has, and the time of computing all of them, where ours and
    /// forms by hand are timed on one.
    pub blocks: Option<(u64, Duration)>,
    /// Ours on several threads, if that was measured.
    pub threads: Option<OnThreads>,
    /// The other plans, if they were tried.
    pub plans: Option<Tried>,
}

impl NetworkRow {
    /// How to read the rows.
    pub(crate) fn heading() -> &'static str {
        "\nnetworks: forms by hand, their times, and these over ours: above 1, ours is faster\n"
    }

    /// The ratio of the fastest form by hand to ours.
    pub fn best(&self) -> f64 {
        let ratios = self.beside.iter().map(|it| it.ratio);
        ratios.fold(f64::INFINITY, f64::min)
    }

    /// Whether every ratio, planning and memory keep their bars.
    pub fn keeps_bar(&self) -> bool {
        let mut ratios = self.beside.iter();
        let is_small = self.peak <= SMALL_PEAK;
        ratios.all(|it| it.bar.is_none_or(|bar| it.ratio >= bar))
            && self.best() >= self.bar
            && self.planning <= PLANNING
            && self
                .threads
                .is_none_or(|it| it.bar.is_none_or(|bar| it.gain >= bar))
            && self
                .plans
                .as_ref()
                .is_none_or(|it| it.is_short || it.over_fastest <= OVER_FASTEST)
            && (is_small || self.peak as f64 <= PEAK * self.stated as f64)
    }

    /// The row as text.
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "{}: ours {:.1?}, copies {:.1?}, estimated {:.1?}, planned in {:.1?}, stated {:.1} MB, \
             peak {:.1} MB\n",
            self.name,
            self.ours,
            self.convert,
            self.estimated,
            self.planning,
            self.stated as f64 / 1e6,
            self.peak as f64 / 1e6,
        );
        for line in self.tree.lines().chain(self.schedule.lines()) {
            text.push_str(&format!("    {line}\n"));
        }
        let bar = |bar: Option<f64>| bar.map_or(String::new(), |bar| format!("   bar {bar:.2}"));
        for it in &self.beside {
            let time = format!("{:.1?}", it.time);
            text.push_str(&format!(
                "  {:<14}{time:>12}{:>10.2}{}\n",
                it.name,
                it.ratio,
                bar(it.bar)
            ));
        }
        let best = format!("{:.2}", self.best());
        text.push_str(&format!(
            "  {:<26}{best:>10}{}\n",
            "the best of all",
            bar(Some(self.bar))
        ));
        if let Some((number, time)) = self.blocks.filter(|(number, _)| *number > 1) {
            text.push_str(&format!(
                "  all {number} blocks, each checked by its sum: {time:.1?}\n"
            ));
        }
        if let Some(it) = &self.threads {
            let (name, time) = (format!("{} threads", it.number), format!("{:.1?}", it.time));
            let (gain, memory, bar) = (it.gain, it.memory, bar(it.bar));
            text.push_str(&format!(
                "  {name:<14}{time:>12}{gain:>10.2}{bar}   (memory: {memory})\n"
            ));
        }
        if let Some(it) = &self.plans {
            text.push_str(&format!(
                "  {} priced plans, {} stopped; the chosen one takes {:.2} of the fastest   bar \
                 {OVER_FASTEST}\n",
                it.number, it.stopped, it.over_fastest
            ));
            if let Some(fastest) = &it.fastest {
                text.push_str(&format!("    {fastest}\n"));
            }
        }
        text
    }

    /// The row as JSON; times in seconds.
    pub(crate) fn json(&self) -> Value {
        let beside = self.beside.iter().map(|it| {
            json!({
                "name": it.name,
                "seconds": it.time.as_secs_f64(),
                "ratio": it.ratio,
                "bar": it.bar,
            })
        });
        json!({
            "name": self.name,
            "tree": self.tree,
            "schedule": self.schedule,
            "estimated_seconds": self.estimated.as_secs_f64(),
            "ours_seconds": self.ours.as_secs_f64(),
            "convert_seconds": self.convert.as_secs_f64(),
            "planning_seconds": self.planning.as_secs_f64(),
            "stated_bytes": self.stated,
            "peak_bytes": self.peak,
            "beside": beside.collect::<Vec<_>>(),
            "best": self.best(),
            "bar": self.bar,
            "blocks": self.blocks.map(|(number, time)| json!({
                "number": number,
                "seconds": time.as_secs_f64(),
            })),
            "threads": self.threads.map(|it| json!({
                "number": it.number,
                "seconds": it.time.as_secs_f64(),
                "gain": it.gain,
                "copy_gain": it.memory.copy,
                "bar": it.bar,
            })),
            "plans": self.plans.as_ref().map(|it| json!({
                "number": it.number,
                "stopped": it.stopped,
                "over_fastest": it.over_fastest,
                "fastest": it.fastest,
            })),
        })
    }
}
