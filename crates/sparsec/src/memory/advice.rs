//! Formats to propose for a tensor that does not fit in memory: only smaller ones that fit.
//!
//! ```text
//! C(i,j) = x(i) * y(j)      dense vectors, 10^7 rows and columns
//!
//!   dense     800 TB
//!   csr       1.2 PB        every entry is stored, with its coordinate
//!   scoo      1.6 PB        none is proposed
//! ```
//!
//! Each preset is counted with the entries that the tensor is thought to store, spread
//! evenly. Where their number is not known, the memory of the format without entries is a
//! lower bound, and the message says "at least".
//!
//! The refused format is counted in the same way. A format that is no smaller would be
//! refused as well, whatever memory seems free: the system may give less than it reports.

use sparsec_base::ElementType;
use sparsec_format::{Format, Statistics, presets};

use super::least_bytes;

/// The preset that stores every entry.
const DENSE: &str = "dense";

/// The smaller formats that were tried for a tensor.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Smaller {
    /// How many formats were counted.
    pub n_tried: usize,
    /// The name of the simplest that fits, with its bytes.
    pub fits: Option<(&'static str, u128)>,
    /// The name of the smallest one, with its bytes, if it is smaller than the format that
    /// was refused.
    pub smallest: Option<(&'static str, u128)>,
    /// Whether these bytes hold entries too; else they are lower bounds.
    pub has_entries: bool,
}

/// The presets beside `format` for a tensor with about `n_entries` entries, where that is
/// known, that has `room` bytes.
///
/// Those that store modes in their order come first: kernels seldom have to convert them.
///
/// ```
/// use sparsec::internals::smaller_format;
/// use sparsec::{ElementType, Format};
/// let smaller = |n_entries| {
///     let extents = [10_000_000, 10_000_000];
///     smaller_format(&Format::dense(2), &extents, ElementType::F64, Some(n_entries), 1 << 30)
/// };
/// assert_eq!(smaller(1_000_000).fits.map(|(name, _)| name), Some("csr"));
/// // As many entries as a dense result has.
/// assert_eq!(smaller(100_000_000_000_000).fits, None);
/// // Nothing is smaller than what stores these entries best, whatever the room.
/// let csr = Format::csr();
/// let smaller = smaller_format(&csr, &[9, 9], ElementType::F64, Some(40), u128::MAX);
/// assert_eq!((smaller.fits, smaller.n_tried), (None, 7));
/// ```
pub fn smaller_format(
    format: &Format,
    extents: &[u64],
    element: ElementType,
    n_entries: Option<u64>,
    room: u128,
) -> Smaller {
    let order = extents.len();
    let statistics = n_entries.map(|n| Statistics::spread(extents, n));
    let mut counted: Vec<(bool, &'static str, u128)> = Vec::new();
    for preset in presets() {
        let Some(other) = preset.format(order) else {
            continue;
        };
        // What follows from counts alone, and is another format than the given one.
        if !other.is_assembled() || !other.is_regular() || other.arranges_like(format) {
            continue;
        }
        let bytes = match &statistics {
            None => Some(least_bytes(&other, extents, element)),
            Some(statistics) => statistics
                .bytes_in(&other, element)
                .map(|bytes| bytes.total().into()),
        };
        let is_turned = !other.level_order().is_sorted();
        counted.push((is_turned, preset.name, bytes.unwrap_or(u128::MAX)));
    }
    let n_tried = counted.len();
    // Of a format whose size follows from more than counts, less is known: anything may be
    // smaller.
    let refused = match &statistics {
        None => least_bytes(format, extents, element),
        Some(statistics) => statistics
            .bytes_in(format, element)
            .map_or(u128::MAX, |bytes| bytes.total().into()),
    };
    counted.retain(|(_, _, bytes)| *bytes < refused);
    counted.sort_by_key(|(is_turned, _, _)| *is_turned);
    let smallest = counted.iter().min_by_key(|it| it.2);
    let named = |(_, name, bytes): &(bool, &'static str, u128)| (*name, *bytes);
    Smaller {
        n_tried,
        // Nobody who stores a tensor sparse is told to store zeros too.
        fits: counted
            .iter()
            .find(|it| {
                it.2 <= room && (it.1 != DENSE || smallest.is_some_and(|least| it == &least))
            })
            .map(named),
        smallest: smallest.map(named),
        has_entries: statistics.is_some(),
    }
}

impl Smaller {
    /// The beginning of a help; other ways out follow it.
    pub fn advice(&self, name: &str) -> String {
        let bound = if self.has_entries {
            "about"
        } else {
            "at least"
        };
        match (self.fits, self.smallest) {
            (Some((format, bytes)), _) => {
                format!(
                    "store it as `{format}`, which takes {bound} {bytes} bytes: `.format(\"{name}\", \"{format}\")`; "
                )
            }
            (None, Some((format, bytes))) => format!(
                "none of {} other formats fits, `{format}` takes {bound} {bytes} bytes: ",
                self.n_tried
            ),
            (None, None) => format!("none of {} other formats is smaller: ", self.n_tried),
        }
    }
}
