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
//! Kernels read a union, and a matrix that stores one half, as several pieces, each in a loop
//! nest of its own. A format that kernels do not walk is converted first. For a tensor of
//! order three or more, the product is along the last mode.
//!
//! The constants are fitted to compiled kernels on one thread, on matrices of 5,000 to 300,000
//! entries that stay in the cache. They rank formats whose times differ by half or more. If
//! entries of `x` miss the cache, every format takes longer.

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

impl Statistics {
    /// The seconds of a product with a vector along the last mode, in a format with so many
    /// bytes, values and runs.
    pub(super) fn seconds(&self, format: &Format, bytes: u64, values: f64, runs: f64) -> f64 {
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
        let steps = values * value + runs * run * (1.0 + pieces) / 2.0;
        let views = if is_plain { 0.0 } else { pieces };
        let converted = match format.read_by() {
            Way::Conversion => self.n_entries as f64 * CONVERTED,
            _ => 0.0,
        };
        steps.max(bytes as f64 / BANDWIDTH) + LAUNCH + views * VIEW + converted
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
