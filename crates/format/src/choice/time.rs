//! The time of a product with a vector, estimated from what a format stores.
//!
//! Of `y(i) = A(i,j) * x(j)`, with both vectors dense, three numbers are counted:
//!
//! | number                                | costs                                            |
//! |---------------------------------------|--------------------------------------------------|
//! | values, padding included              | by the kind of the innermost level, see below    |
//! | runs: segments of the innermost level | [`RUN`], or [`SHORT_RUN`] in blocks              |
//! | bytes                                 | [`BANDWIDTH`]; this or the steps, whichever is more |
//!
//! A union and a matrix that stores one half are read as several pieces, each with a nest of
//! loops; what kernels do not walk is converted first. Of a tensor of order three and more,
//! the product is along the last mode.
//!
//! The constants are fitted to compiled kernels on one thread, on matrices of 5 thousand to
//! 300 thousand entries that stay in the cache. They tell formats apart that differ by
//! a half; where entries of `x` miss the cache, all of them take longer.

use crate::coordinate::Coordinate;
use crate::format::{Format, Level};
use crate::level::LevelKind;
use crate::level_space::Way;
use crate::statistics::Statistics;

/// Bytes that memory gives in a second, to one thread.
const BANDWIDTH: f64 = 30e9;
/// Seconds for each value in a row or a block, whose neighbours are read together.
const VALUE: f64 = 0.3e-9;
/// The same along a diagonal.
const IN_RANGE: f64 = 0.4e-9;
/// The same where coordinates of `x` are read.
const GATHERED: f64 = 0.5e-9;
/// The same where coordinates of `y` are.
const SCATTERED: f64 = 0.6e-9;
/// The same in a list of coordinates.
const LISTED: f64 = 0.75e-9;
/// The same in lists of entries of blocks.
const IN_BLOCKS: f64 = 1.25e-9;
/// The same in a slot of a hash table, which may be empty.
const PROBED: f64 = 1.5e-9;
/// The same where coordinates are taken out of one number.
const ON_CURVE: f64 = 2.5e-9;
/// Seconds for each run: the end of a loop that a processor does not see coming.
const RUN: f64 = 1.0e-9;
/// Seconds for each run of a block, of which kernels know how long it is.
const SHORT_RUN: f64 = 0.35e-9;
/// Seconds to convert an entry.
const CONVERTED: f64 = 12e-9;
/// Seconds to launch a kernel.
const LAUNCH: f64 = 1e-6;
/// Seconds for each view of arrays as those of another tensor.
const VIEW: f64 = 2e-6;

impl Statistics {
    /// The seconds of a product with a vector along the last mode, of a tensor with so many
    /// values and runs in `format`.
    pub(super) fn seconds(&self, format: &Format, bytes: u64, values: f64, runs: f64) -> f64 {
        let levels = format.levels();
        let is_plain = format.is_plain() && format.region.is_none() && format.rest.is_empty();
        // Of a union the part that takes longest counts: it has most of the values.
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
