//! What was measured, as a table and as JSON.

use std::time::Duration;

use serde_json::{Value, json};
use sparsec::internals::runtime::Compiler;

use crate::bandwidth::{Bandwidth, Gain};
use crate::conversions::ConversionRow;
use crate::io::IoReport;
use crate::latency::Latency;
use crate::mlir::MlirRow;
use crate::networks::NetworkRow;
use crate::peers::PeerTime;
use crate::relations::RelationRow;
use crate::variants::{Bar, Variant};
use crate::{Options, Size};

/// Everything that one run measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// What the compiler says of itself.
    pub compiler: String,
    /// The flags that both sides were compiled with.
    pub flags: Vec<String>,
    /// How large operands were.
    pub size: Size,
    /// How many rounds were asked for.
    pub rounds: usize,
    /// What memory gives, if kernels were measured.
    pub bandwidth: Option<Bandwidth>,
    /// How many threads kernels were measured on beside one, and how much faster
    /// these read.
    pub threads: Option<(usize, Gain)>,
    /// Which libraries there are to compare with, and why others are not.
    pub libraries: String,
    /// The kernels.
    pub rows: Vec<Row>,
    /// First results.
    pub latencies: Vec<Latency>,
    /// Products by descriptors, and relations.
    pub relations: Vec<RelationRow>,
    /// Conversions between formats.
    pub conversions: Vec<ConversionRow>,
    /// Products of three tensors and more.
    pub networks: Vec<NetworkRow>,
    /// Kernels beside MLIR.
    pub mlir: Vec<MlirRow>,
    /// Files and packing, if they were measured.
    pub io: Option<IoReport>,
}

/// The share of the speed of other libraries that kernels keep at least.
const PEER_BAR: f64 = 0.95;

/// How to read the columns of kernels.
const LEGEND: &str = "\
ratio: by hand / ours, above 1 ours is faster; bar: the least ratio that is good enough
moves: bytes of all arrays; of read: our speed beside reading these bytes, 100% is as fast as memory gives them
below: libraries and plain C, time and time / ours; cranelift, time / ours (below 1 is faster); threads, their gain
";

/// One kernel beside its counterpart.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Kernel and pattern: `spmv/band`.
    pub name: String,
    /// What it computes.
    pub expression: &'static str,
    /// The median time of our kernel.
    pub ours: Duration,
    /// The median time of the C by hand.
    pub by_hand: Duration,
    /// The median over rounds of `by_hand / ours`: above 1, ours is faster.
    pub ratio: f64,
    /// The least ratio that is good enough, if there is one.
    pub bar: Option<f64>,
    /// How many rounds.
    pub rounds: usize,
    /// Bytes that have to move at least, each array once.
    pub bytes: usize,
    /// The time of reading what it reads, in its order.
    pub read: Duration,
    /// Libraries that have the kernel too.
    pub peers: Vec<PeerTime>,
    /// Our kernel made in other ways.
    pub variants: Vec<Variant>,
}

impl Report {
    pub(crate) fn of(compiler: &Compiler, options: &Options) -> Self {
        Self {
            compiler: compiler.version().to_owned(),
            flags: compiler.flags().to_vec(),
            size: options.size,
            rounds: options.repeat.max(1),
            bandwidth: None,
            threads: None,
            libraries: String::new(),
            rows: Vec::new(),
            latencies: Vec::new(),
            relations: Vec::new(),
            conversions: Vec::new(),
            networks: Vec::new(),
            mlir: Vec::new(),
            io: None,
        }
    }

    /// What misses its bar, by name.
    pub fn missed(&self) -> Vec<String> {
        let kernels = self.rows.iter().filter(|row| !row.keeps_bar());
        let latencies = self.latencies.iter().filter(|it| !it.keeps_bar());
        let relations = self.relations.iter().filter(|it| !it.keeps_bar());
        let tasks = self.io.iter().flat_map(|io| &io.rows);
        let tasks = tasks.filter(|row| !row.keeps_bar());
        let networks = self.networks.iter().filter(|row| !row.keeps_bar());
        let mlir = self.mlir.iter().filter(|row| !row.keeps_bar());
        let conversions = self.conversions.iter();
        let conversions = conversions.filter(|row| row.reaches() == Some(false));
        kernels
            .map(|row| row.name.clone())
            .chain(latencies.map(|latency| format!("{} cache", latency.cache)))
            .chain(relations.map(|row| row.name.to_owned()))
            .chain(tasks.map(|row| row.name.to_owned()))
            .chain(conversions.map(|row| row.name.clone()))
            .chain(networks.map(|row| row.name.clone()))
            .chain(mlir.map(|row| format!("mlir/{}", row.name)))
            .collect()
    }

    /// What both sides are compiled with.
    pub(crate) fn heading(&self) -> String {
        format!(
            "{}\n{}\nmedians of {} rounds or more, in turns\n\n",
            self.compiler,
            self.flags.join(" "),
            self.rounds
        )
    }

    /// The last line.
    pub(crate) fn verdict(&self) -> String {
        match self.missed().as_slice() {
            [] => "\nevery bar is kept\n".to_owned(),
            missed => format!("\nbelow the bar: {}\n", missed.join(", ")),
        }
    }

    /// The report as JSON. Times are in seconds, bandwidths in bytes a second.
    pub fn to_json(&self) -> Value {
        let name = Size::NAMES.iter().find(|(_, size)| *size == self.size);
        let rows: Vec<Value> = self.rows.iter().map(Row::json).collect();
        let latencies: Vec<Value> = self.latencies.iter().map(|it| it.json()).collect();
        json!({
            "machine": machine(),
            "compiler": self.compiler,
            "flags": self.flags,
            "size": name.map(|(name, _)| name),
            "rounds": self.rounds,
            "bandwidth": self.bandwidth.map(|it| json!({
                "read": it.read,
                "copy": it.copy,
                "bytes": it.bytes,
            })),
            "threads": self.threads.map(|(number, gain)| json!({
                "number": number,
                "read_gain": gain.read,
                "copy_gain": gain.copy,
            })),
            "libraries": self.libraries.trim_end(),
            "kernels": rows,
            "latencies": latencies,
            "networks": self.networks.iter().map(NetworkRow::json).collect::<Vec<_>>(),
            "mlir": self.mlir.iter().map(MlirRow::json).collect::<Vec<_>>(),
            "relations": self.relations.iter().map(RelationRow::json).collect::<Vec<_>>(),
            "conversions": self.conversions.iter().map(ConversionRow::json).collect::<Vec<_>>(),
            "io": self.io.as_ref().map(IoReport::json),
            "missed": self.missed(),
        })
    }
}

impl Row {
    /// How to read the columns, and the line above the rows.
    pub(crate) fn heading() -> String {
        format!(
            "\n{LEGEND}{:18} {:>10} {:>10} {:>7} {:>6} {:>10} {:>8}\n",
            "kernel", "ours", "by hand", "ratio", "bar", "moves", "of read"
        )
    }

    pub(crate) fn line(&self) -> String {
        let bar = self.bar.map_or("-".to_owned(), |bar| format!("{bar:.2}"));
        format!(
            "{:18} {:>10} {:>10} {:>7.3} {:>6} {:>10} {:>8}{}\n",
            self.name,
            milliseconds(self.ours),
            milliseconds(self.by_hand),
            self.ratio,
            bar,
            format!("{:.1} MB", self.bytes as f64 / 1e6),
            format!("{:.0}%", 100.0 * self.share_of_read()),
            mark(self.keeps_bar()),
        ) + &self.peers_line()
            + &self.variants_line()
    }

    /// Whether the ratios reach their bars, where there are any.
    pub fn keeps_bar(&self) -> bool {
        self.bar.is_none_or(|bar| self.ratio >= bar)
            && self.peers.iter().all(|peer| peer.ratio >= PEER_BAR)
            && self.variants.iter().all(Variant::keeps_bar)
    }

    /// The bytes a second that our kernel moves, as a part of those that reading the same
    /// in the same order moves.
    pub fn share_of_read(&self) -> f64 {
        self.read.as_secs_f64() / self.ours.as_secs_f64()
    }

    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "expression": self.expression,
            "ours": self.ours.as_secs_f64(),
            "by_hand": self.by_hand.as_secs_f64(),
            "ratio": self.ratio,
            "bar": self.bar,
            "rounds": self.rounds,
            "bytes": self.bytes,
            "share_of_read": self.share_of_read(),
            "peers": self.peers.iter().map(|peer| json!({
                "name": peer.name,
                "time": peer.time.as_secs_f64(),
                "ratio": peer.ratio,
            })).collect::<Vec<_>>(),
            "variants": self.variants.iter().map(|variant| json!({
                "name": variant.name,
                "time": variant.time.as_secs_f64(),
                "ratio": variant.ratio,
                "read_gain": variant.memory.map(|gain| gain.read),
                "copy_gain": variant.memory.map(|gain| gain.copy),
                "keeps_bar": variant.keeps_bar(),
            })).collect::<Vec<_>>(),
        })
    }

    /// Our kernel in other ways, on a line below: how many times the time of C on one
    /// thread, and how much threads gain.
    fn variants_line(&self) -> String {
        let of = |variant: &Variant| {
            let bar = match variant.bar {
                Bar::AtMost(bar) => format!(" of {bar:.2} at most"),
                Bar::AtLeast(bar) => format!(" of {bar:.2} at least"),
                Bar::OrOfRead { least, share, .. } => {
                    format!(" of {least:.2} at least or {:.0}% of read", 100.0 * share)
                }
                Bar::Free => String::new(),
            };
            let mark = mark(variant.keeps_bar()).trim_start();
            let time = milliseconds(variant.time);
            let memory = variant.memory.map(|gain| format!("(memory: {gain})"));
            let memory = memory.unwrap_or_default();
            let (name, ratio) = (&variant.name, variant.ratio);
            let text = format!("{name} {time} {ratio:.3}{bar} {mark} {memory}");
            text.trim_end().to_owned()
        };
        let variants: Vec<String> = self.variants.iter().map(of).collect();
        match variants.is_empty() {
            true => String::new(),
            false => format!("{:18} {}\n", "", variants.join("   ")),
        }
    }

    /// The libraries' times, on a line below.
    fn peers_line(&self) -> String {
        let of = |peer: &PeerTime| {
            let bar = if peer.ratio < PEER_BAR {
                " below the bar"
            } else {
                ""
            };
            format!(
                "{} {} {:.3}{bar}",
                peer.name,
                milliseconds(peer.time),
                peer.ratio
            )
        };
        let peers: Vec<String> = self.peers.iter().map(of).collect();
        match peers.is_empty() {
            true => String::new(),
            false => format!("{:18} {}\n", "", peers.join("   ")),
        }
    }
}

impl Latency {
    /// How to read the columns, and the line above the rows.
    pub(crate) fn heading() -> String {
        format!(
            "\nplan: from the expression to loops; kernel: from loops to a loaded kernel\n\
             all: to the checked result, less is better; bar: all stays below it\n{:18} {:>10} {:>10} {:>10} {:>10}\n",
            "first result", "plan", "kernel", "all", "bar"
        )
    }

    pub(crate) fn line(&self) -> String {
        format!(
            "{:18} {:>10} {:>10} {:>10} {:>10}{}\n",
            format!("{} cache", self.cache),
            milliseconds(self.plan),
            milliseconds(self.kernel),
            milliseconds(self.all),
            milliseconds(self.bar),
            mark(self.keeps_bar()),
        )
    }

    /// Whether all stays below the bar.
    pub fn keeps_bar(&self) -> bool {
        self.all < self.bar
    }

    fn json(self) -> Value {
        json!({
            "cache": self.cache,
            "plan": self.plan.as_secs_f64(),
            "kernel": self.kernel.as_secs_f64(),
            "all": self.all.as_secs_f64(),
            "bar": self.bar.as_secs_f64(),
        })
    }
}

/// The processor as the system names it, and the number of threads.
fn machine() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let mut models = text.lines().filter(|line| line.starts_with("model name"));
    let model = models.next().and_then(|line| line.split(": ").nth(1));
    let n = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    format!("{}, {n} threads", model.unwrap_or(std::env::consts::ARCH))
}

pub(crate) fn mark(keeps_bar: bool) -> &'static str {
    if keeps_bar { "" } else { "  below the bar" }
}

pub(crate) fn milliseconds(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match time.as_micros() {
        1..100 => format!("{:.1} µs", 1e6 * seconds),
        _ => format!("{:.2} ms", 1e3 * seconds),
    }
}
