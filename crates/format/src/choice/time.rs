//! Estimates the time of a product with a vector in a format.
//!
//! The product is `y(i) = A(i,j) * x(j)`, with dense vectors. Three numbers count:
//!
//! | number                                | time                                             |
//! |---------------------------------------|--------------------------------------------------|
//! | values, padding included              | each by the kind of the innermost level, see below |
//! | runs: segments of the innermost level | each [`RUN`], or [`SHORT_RUN`] in blocks         |
//! | bytes                                 | by [`BANDWIDTH`], if that is more than the other two together |
//!
//! An [`Estimate`] keeps the numbers, so that a reader sees which of them decides:
//!
//! ```text
//! csr                   4.52 µs   4992 values x 0.50 ns, 1024 runs
//! dia, symmetric(i, j)  5.43 µs   3008 values x 0.80 ns, 1 view        smaller, and slower
//! ```
//!
//! A union and a matrix that stores one half are read as several pieces, each with a nest of
//! loops; what kernels do not walk is converted first. Of a tensor of order three and more,
//! the product is along the last mode.
//!
//! The constants are fitted to compiled kernels on one thread, on matrices of 5,000 to 300,000
//! entries that stay in the cache. They rank formats whose times differ by half or more. If
//! entries of `x` miss the cache, every format takes longer.

use std::fmt;

use crate::coordinate::Coordinate;
use crate::format::{Format, Level};
use crate::level::LevelKind;
use crate::level_space::Way;
use crate::statistics::Statistics;

/// Bytes that one thread reads from memory in a second.
const BANDWIDTH: f64 = 30e9;
/// Seconds for each value in a row or a block, whose neighbours are read together.
const VALUE: f64 = 0.3e-9;
/// The same along a diagonal.
const IN_RANGE: f64 = 0.4e-9;
/// The same if the entries of `x` are gathered.
const GATHERED: f64 = 0.5e-9;
/// The same if the entries of `y` are scattered.
const SCATTERED: f64 = 0.6e-9;
/// The same in a list of coordinates.
const LISTED: f64 = 0.75e-9;
/// The same in lists of entries of blocks.
const IN_BLOCKS: f64 = 1.25e-9;
/// The same in a slot of a hash table, which may be empty.
const PROBED: f64 = 1.5e-9;
/// The same if the coordinates are decoded from one number.
const ON_CURVE: f64 = 2.5e-9;
/// Seconds for each run: the mispredicted branch at its end.
const RUN: f64 = 1.0e-9;
/// Seconds for each run of a block, whose length kernels know.
const SHORT_RUN: f64 = 0.35e-9;
/// Seconds to convert an entry.
const CONVERTED: f64 = 12e-9;
/// Seconds to launch a kernel.
const LAUNCH: f64 = 1e-6;
/// Seconds to read arrays under another format, once for each piece.
const VIEW: f64 = 2e-6;

/// What takes less than this part of the time is not worth a word.
const WORTH_SAYING: f64 = 0.1;

/// The time of a product with a vector along the last mode, and the numbers it follows from.
///
/// Printed, it names those that take a tenth of the time or more.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Estimate {
    /// How many values kernels read, padding included.
    pub values: f64,
    /// The seconds of each.
    pub seconds_for_value: f64,
    /// How often the innermost loop begins.
    pub runs: f64,
    /// The seconds of each beginning.
    pub seconds_for_run: f64,
    /// The bytes that come from memory.
    pub bytes: u64,
    /// How many views of the arrays kernels take.
    pub views: f64,
    /// How many entries are converted before.
    pub converted: f64,
}

impl Estimate {
    /// The seconds of one product.
    pub fn seconds(&self) -> f64 {
        // Steps and reads overlap.
        let [values, runs, memory, views, converted] = self.parts();
        (values + runs).max(memory) + LAUNCH + views + converted
    }

    /// The seconds of the values, the runs, the bytes, the views and the conversion.
    fn parts(&self) -> [f64; 5] {
        [
            self.values * self.seconds_for_value,
            self.runs * self.seconds_for_run,
            self.bytes as f64 / BANDWIDTH,
            self.views * VIEW,
            self.converted * CONVERTED,
        ]
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [values, runs, memory, views, converted] = self.parts();
        let least = self.seconds() * WORTH_SAYING;
        let is_memory = memory > values + runs;
        let plural = |n: f64, noun: &str| match n.round() as u64 {
            1 => format!("1 {noun}"),
            n => format!("{n} {noun}s"),
        };
        let nanoseconds = self.seconds_for_value * 1e9;
        let said = [
            (
                is_memory && memory >= least,
                "bytes read from memory".to_owned(),
            ),
            (
                !is_memory && values >= least,
                format!("{} x {nanoseconds:.2} ns", plural(self.values, "value")),
            ),
            (!is_memory && runs >= least, plural(self.runs, "run")),
            (views >= least, plural(self.views, "view")),
            (
                converted >= least,
                format!("{:.0} entries converted", self.converted),
            ),
        ];
        let said = said
            .into_iter()
            .filter_map(|(is_said, text)| is_said.then_some(text));
        f.write_str(&said.collect::<Vec<_>>().join(", "))
    }
}

impl Statistics {
    /// The time of a product with a vector along the last mode, of a tensor whose format has
    /// `bytes` bytes, `values` values and `runs` runs.
    pub(super) fn estimate(&self, format: &Format, bytes: u64, values: f64, runs: f64) -> Estimate {
        let levels = format.levels();
        let is_plain = format.is_plain() && format.region.is_none() && format.rest.is_empty();
        // For a union, the slowest part counts, as if it had all values.
        let parts = format.parts();
        let value = parts
            .iter()
            .map(|part| self.value(part))
            .fold(0.0, f64::max);
        // The mirror image of a value is scattered where the value is gathered.
        let value = match format.mirror.is_some() {
            true if value == GATHERED => GATHERED + SCATTERED,
            true => 2.0 * value,
            false => value,
        };
        // Lists have a run for each coordinate of their first level.
        let runs = match levels {
            [first, .., list] if list.kind == LevelKind::Singleton => {
                let mode = first.coordinate.mode().unwrap_or(0);
                self.n_distinct(&[mode]) as f64
            }
            _ => runs,
        };
        let is_short = |part: &Format| {
            let kind = part.levels().last().map(|level| level.kind);
            matches!(
                kind,
                Some(LevelKind::Dense | LevelKind::Batch | LevelKind::Structured { .. })
            )
        };
        let run = match parts.iter().all(is_short) {
            true => SHORT_RUN,
            false => RUN,
        };
        let pieces = format.pieces().map_or(1, |pieces| pieces.len()) as f64;
        Estimate {
            values,
            seconds_for_value: value,
            runs: runs * (1.0 + pieces) / 2.0,
            seconds_for_run: run,
            bytes,
            views: if is_plain { 0.0 } else { pieces },
            converted: match format.read_by() {
                Way::Conversion => self.n_entries as f64,
                _ => 0.0,
            },
        }
    }

    /// The seconds of one value.
    fn value(&self, format: &Format) -> f64 {
        let levels = format.levels();
        let is_curve = |level: &Level| {
            matches!(
                level.coordinate,
                Coordinate::Morton(_) | Coordinate::Alto(_)
            )
        };
        let is_block = |level: &Level| matches!(level.coordinate, Coordinate::FloorDivide(..));
        let Some(last) = levels.last() else {
            return VALUE;
        };
        match last.kind {
            LevelKind::Dense | LevelKind::Batch | LevelKind::Structured { .. } => VALUE,
            LevelKind::Range | LevelKind::RunLength => IN_RANGE,
            LevelKind::Hashed => PROBED,
            LevelKind::Bitmap => LISTED,
            LevelKind::Singleton => {
                match levels
                    .iter()
                    .any(|level| is_curve(level) || is_block(level))
                {
                    true => IN_BLOCKS,
                    false => LISTED,
                }
            }
            LevelKind::Compressed | LevelKind::LooseCompressed if is_curve(last) => ON_CURVE,
            LevelKind::Compressed | LevelKind::LooseCompressed => {
                let is_along = last.coordinate.mode() == self.extents.len().checked_sub(1);
                if is_along { GATHERED } else { SCATTERED }
            }
        }
    }
}
