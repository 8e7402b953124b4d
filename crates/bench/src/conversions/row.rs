//! What was measured of a conversion, what it has to reach, and its line.

use std::time::Duration;

use serde_json::{Value, json};

use crate::report::milliseconds;

/// Those that are no libraries, by the names that they give themselves.
const BY_HAND: &str = "C by hand";
const SYNTHESIZED: &str = "SPF inspectors in C";

/// No conversion may be slower than the paper's method. Where the loops of both are the same,
/// medians of seven runs differ by this much.
const LEAST_OF_SYNTHESIZED: f64 = 0.95;

/// The speed that a conversion must reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConversionBar {
    /// At most this multiple of the bound, in given arrays.
    OfBound(f64),
    /// At least this multiple of the speed of the best library.
    OfBest(f64),
    /// At least this multiple of the speed of the C by hand.
    OfHand(f64),
}

/// One side's time.
#[derive(Clone, Debug, PartialEq)]
pub struct SideTime {
    /// The side.
    pub name: String,
    /// The median time.
    pub time: Duration,
    /// The median over rounds of its time by ours: above 1, ours is faster.
    pub ratio: f64,
}

/// One conversion.
#[derive(Clone, Debug, PartialEq)]
pub struct ConversionRow {
    /// Source, destination and matrix: `scoo:csr/ecology1`.
    pub name: String,
    /// The median time of ours, allocating.
    pub allocating: Duration,
    /// The median time of ours in given arrays.
    pub given: Duration,
    /// The bytes of both sides by the copy bandwidth.
    pub bound: Duration,
    /// The first touch of the result by its bandwidth.
    pub touch: Duration,
    /// Unpacking, sorting and packing.
    pub packing: SideTime,
    /// Other sides that convert this, compared.
    pub peers: Vec<SideTime>,
    /// On several threads: how much faster ours is in given arrays.
    pub threads: Option<f64>,
    /// How long it took to derive the optimised chain from the formats.
    pub synthesized_in: Option<Duration>,
    /// How long it took to derive the conversion for a tensor and to make its loops.
    pub derived_in: Duration,
    /// How long the first run took, which compiles the loops.
    pub first_in: Duration,
    /// What it has to reach.
    pub bar: Option<ConversionBar>,
}

/// How to read the columns, and the line above the rows.
pub(super) fn heading() -> String {
    format!(
        "ms; given: into arrays that are there; bound: bytes of both sides at the copy bandwidth;\n\
         packing, SciPy, …: their time / ours, above 1 ours is faster; bar: of the best, or of the bound\n\
         chain: from formats to an optimised chain; derived: to its loops\n\
         {:26} {:>8} {:>8} {:>8} {:>7} {:>7} {:>7} {:>8} {:>8} {:>8} {:>8}  others\n",
        "conversions",
        "alloc",
        "given",
        "bound",
        "/bound",
        "/touch",
        "threads",
        "packing",
        "chain",
        "derived",
        "first"
    )
}

impl ConversionRow {
    /// Ours in given arrays by the bound.
    pub fn of_bound(&self) -> f64 {
        self.given.as_secs_f64() / self.bound.as_secs_f64()
    }

    /// Ours allocating by the bound and the first touch of the result.
    pub fn of_touch(&self) -> f64 {
        self.allocating.as_secs_f64() / (self.bound + self.touch).as_secs_f64()
    }

    /// The ratio to the fastest library.
    pub fn of_best(&self) -> Option<f64> {
        let is_library = |peer: &&SideTime| ![BY_HAND, SYNTHESIZED].contains(&peer.name.as_str());
        let libraries = self.peers.iter().filter(is_library);
        libraries.map(|peer| peer.ratio).min_by(f64::total_cmp)
    }

    /// The ratio to the C by hand.
    pub fn of_hand(&self) -> Option<f64> {
        self.of(BY_HAND)
    }

    /// The ratio to the method of the paper.
    pub fn of_synthesized(&self) -> Option<f64> {
        self.of(SYNTHESIZED)
    }

    fn of(&self, name: &str) -> Option<f64> {
        let side = self.peers.iter().find(|peer| peer.name == name);
        side.map(|peer| peer.ratio)
    }

    /// Whether it reaches its bar, and the speed of the paper's method where this is a side;
    /// `None` without a bar, or without anything to compare with.
    pub fn reaches(&self) -> Option<bool> {
        let is_no_slower = self
            .of_synthesized()
            .is_none_or(|ratio| ratio >= LEAST_OF_SYNTHESIZED);
        Some(self.reaches_bar()? && is_no_slower)
    }

    fn reaches_bar(&self) -> Option<bool> {
        match self.bar? {
            ConversionBar::OfBound(most) => Some(self.of_bound() <= most),
            ConversionBar::OfBest(least) => Some(self.of_best()? >= least),
            ConversionBar::OfHand(least) => Some(self.of_hand()? >= least),
        }
    }

    pub(super) fn line(&self) -> String {
        let bar = match (self.bar, self.reaches()) {
            (Some(ConversionBar::OfBound(bar)), Some(reaches)) => {
                format!(" [bound {bar} {}]", mark(reaches))
            }
            (Some(ConversionBar::OfBest(bar)), Some(reaches)) => {
                format!(" [best {bar} {}]", mark(reaches))
            }
            (Some(ConversionBar::OfHand(bar)), Some(reaches)) => {
                format!(" [C {bar} {}]", mark(reaches))
            }
            _ => String::new(),
        };
        let threads = self
            .threads
            .map_or("-".to_owned(), |gain| format!("{gain:.2}"));
        let peers = self.peers.iter().map(|peer| {
            let name = peer.name.split(' ').next().unwrap_or_default();
            format!(
                "  {name} {:.2} ({})",
                peer.ratio,
                milliseconds(peer.time).trim()
            )
        });
        format!(
            "{:26} {:>8} {:>8} {:>8} {:>7.2} {:>7.2} {:>7} {:>8.2} {:>8} {:>8} {:>8}{}{bar}\n",
            self.name,
            milliseconds(self.allocating),
            milliseconds(self.given),
            milliseconds(self.bound),
            self.of_bound(),
            self.of_touch(),
            threads,
            self.packing.ratio,
            self.synthesized_in.map_or("-".to_owned(), milliseconds),
            milliseconds(self.derived_in),
            milliseconds(self.first_in),
            peers.collect::<String>(),
        )
    }

    /// As JSON. Times are in seconds.
    pub(crate) fn json(&self) -> Value {
        let side = |side: &SideTime| json!({ "name": side.name, "time": side.time.as_secs_f64(), "ratio": side.ratio });
        json!({
            "name": self.name,
            "allocating": self.allocating.as_secs_f64(),
            "given": self.given.as_secs_f64(),
            "bound": self.bound.as_secs_f64(),
            "touch": self.touch.as_secs_f64(),
            "packing": side(&self.packing),
            "peers": self.peers.iter().map(side).collect::<Vec<_>>(),
            "threads": self.threads,
            "synthesized_in": self.synthesized_in.map(|time| time.as_secs_f64()),
            "derived_in": self.derived_in.as_secs_f64(),
            "first_in": self.first_in.as_secs_f64(),
            "reaches": self.reaches(),
        })
    }
}

fn mark(reaches: bool) -> &'static str {
    if reaches { "ok" } else { "BELOW" }
}
