//! Chooses the format that suits a tensor, from its statistics.
//!
//! The rule: **of the formats whose estimated time for a product with a vector is within a
//! tenth of the shortest, the one with the fewest bytes.** [`Choice::smallest`] names the
//! format with the fewest bytes of all.
//!
//! ```text
//! 1000 x 1000, estimated                dense     csr       dcsr      scoo
//! 3 entries a row                       301 µs    3.5 µs *  3.5 µs    4.3 µs
//! 3 entries a row, 9 rows of 10 empty   301 µs    2.2 µs    1.3 µs *  1.3 µs
//! 700 entries a row                     301 µs *  352 µs    352 µs    527 µs
//! ```
//!
//! How times are estimated stands in `time`; an [`Estimate`] says which number decided.
//!
//! Counts alone give the bytes of most presets. For the others the caller has to pack the
//! tensor ([`Statistics::uncounted`], [`Statistics::choose_among`]). A tree of order 3 to 6
//! is tried in every order of its modes.

use sparsec_base::ElementType;

use crate::coordinate::Coordinate;
use crate::format::{Format, Level};
use crate::level::LevelKind;
use crate::preset::{Preset, presets, with_arguments};
use crate::spec::FormatSpec;
use crate::statistics::{BlockFill, MatrixStatistics, Statistics};

mod time;

pub use time::Estimate;

/// The most modes whose orders are all tried.
const MOST_MODES: usize = 6;

/// The extent of blocks that is tried for lists of entries by blocks (`csb`, `hicoo`).
const LIST_BLOCK: u64 = 128;

/// A format with what a tensor would take in it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Candidate {
    /// The name of the preset, or words where there is no name.
    pub name: String,
    /// The format.
    pub format: Format,
    /// The bytes of all arrays.
    pub bytes: u64,
    /// The time of a product with a vector along the last mode.
    pub estimate: Estimate,
}

impl Candidate {
    /// The seconds of the product, estimated.
    pub fn seconds(&self) -> f64 {
        self.estimate.seconds()
    }
}

/// The format that suits a tensor, and why.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Choice {
    /// The format.
    pub chosen: Candidate,
    /// The one that takes the fewest bytes.
    pub smallest: Candidate,
    /// All that were tried, those with the fewest bytes first.
    pub tried: Vec<Candidate>,
    /// The names of those that were not tried.
    pub left_out: Vec<String>,
    /// Why it is this one, in words.
    pub reason: String,
}

impl Statistics {
    /// The format that suits a tensor with values of `element`, of those that are
    /// counted without packing it; see the [module](crate::choice) for the rule.
    ///
    /// Takes time `O(n!)` in the number of modes up to 6.
    ///
    /// ```
    /// use sparsec_base::ElementType;
    /// use sparsec_format::{Distribution, Statistics};
    /// let mut matrix = Statistics::empty(&[1000, 1000]);
    /// // Three entries in each row and column.
    /// for mode in &mut matrix.modes {
    ///     *mode = Distribution::default();
    ///     mode.add(3, 1000);
    /// }
    /// matrix.n_entries = 3000;
    /// let choice = matrix.choose(ElementType::F64);
    /// assert_eq!((choice.chosen.name.as_str(), choice.chosen.bytes), ("csr", 40_004));
    /// assert!(choice.reason.starts_with("100 % of the rows have entries, 3.0 each on average"));
    /// assert!(choice.left_out.contains(&"dia".to_owned()));
    /// ```
    pub fn choose(&self, element: ElementType) -> Choice {
        let left_out = self.uncounted().into_iter().map(|(name, _)| name);
        let left_out = left_out.collect();
        self.choose_among(element, Vec::new(), left_out)
    }

    /// As [`choose`](Self::choose), among the counted formats and the `packed` ones.
    /// `left_out` names the formats that were not tried.
    pub fn choose_among(
        &self,
        element: ElementType,
        packed: Vec<Candidate>,
        left_out: Vec<String>,
    ) -> Choice {
        let mut tried = self.candidates(element);
        for candidate in packed {
            if tried.iter().all(|other| other.format != candidate.format) {
                tried.push(candidate);
            }
        }
        // Stable: of equals the simplest stays first.
        tried.sort_by_key(|it| it.bytes);
        // For extents so large that no format's bytes can be counted: the list of coordinates.
        let list = || Candidate {
            name: "scoo".to_owned(),
            format: coordinate_list(self.extents.len()),
            bytes: u64::MAX,
            estimate: Estimate {
                converted: f64::INFINITY,
                ..Estimate::default()
            },
        };
        let smallest = tried.first().cloned().unwrap_or_else(list);
        let least = tried
            .iter()
            .map(Candidate::seconds)
            .fold(f64::INFINITY, f64::min);
        let near = tried.iter().find(|it| it.seconds() <= least * 1.1);
        let chosen = near.cloned().unwrap_or_else(list);
        let n_smaller = tried.iter().filter(|it| it.bytes < chosen.bytes).count();
        let mut reason = self.why(&chosen.format);
        reason.push_str(&match n_smaller {
            0 => "; nothing tried takes less".to_owned(),
            1 => "; one format takes less memory and more time".to_owned(),
            n => format!("; {n} formats take less memory and more time"),
        });
        Choice {
            chosen,
            smallest,
            tried,
            left_out,
            reason,
        }
    }

    /// Every preset whose bytes can be counted, and the best tree, the simplest first.
    fn candidates(&self, element: ElementType) -> Vec<Candidate> {
        let order = self.extents.len();
        let mut formats: Vec<(String, Format)> = Vec::new();
        let fitting = || presets().iter().filter(|preset| preset.fits(order));
        let named = |preset: &Preset| {
            let format = preset.build(order, &preset.examples(order));
            (preset.name.to_owned(), format)
        };
        // Lists come last; in order first, so that kernels can merge them.
        let regular = |preset: &&Preset| named(preset).1.is_regular();
        let (lists, others): (Vec<&Preset>, Vec<&Preset>) = fitting()
            .filter(regular)
            .partition(|preset| is_list(preset, order));
        formats.extend(others.into_iter().map(named));
        formats.extend(self.best_tree(element));
        let mut lists: Vec<(String, Format)> = lists.into_iter().map(named).collect();
        let is_unsorted = |format: &Format| format.levels().iter().any(|level| !level.ordered);
        lists.sort_by_key(|(_, format)| (format.order.is_some(), is_unsorted(format)));
        formats.extend(lists);
        let mut tried: Vec<Candidate> = Vec::new();
        for (name, format) in formats {
            let positions = self.positions_in(&format);
            let bytes = self.bytes_in(&format, element);
            if let (Some(positions), Some(bytes)) = (positions, bytes)
                && tried.iter().all(|other| other.format != format)
            {
                let values = positions.last().copied().unwrap_or(1);
                let runs = positions.iter().rev().nth(1).copied().unwrap_or(1);
                tried.push(self.candidate(name, format, bytes.total(), values, runs));
            }
        }
        tried
    }

    /// The formats whose bytes do not follow from counts: presets, with sizes that suit the
    /// tensor, and presets that store one triangle of a symmetric matrix.
    ///
    /// Their bytes are known once the tensor is packed: see [`candidate`](Self::candidate).
    pub fn uncounted(&self) -> Vec<(String, Format)> {
        let order = self.extents.len();
        let mut formats = Vec::new();
        for preset in presets().iter().filter(|preset| preset.fits(order)) {
            if preset.build(order, &preset.examples(order)).is_regular() {
                continue;
            }
            let arguments = self.arguments(preset);
            let name = with_arguments(preset.name, &arguments);
            formats.push((name, preset.build(order, &arguments)));
        }
        if let Some(matrix) = &self.matrix {
            let text = |preset: &str, mirror: &str| format!("{preset}, {mirror}(i, j)");
            let symmetry = matrix.symmetry;
            let mirrors = [
                (symmetry.symmetric, "symmetric"),
                (symmetry.skew && !symmetry.symmetric, "skew"),
                (symmetry.hermitian && !symmetry.symmetric, "hermitian"),
            ];
            let mirror = mirrors.into_iter().find(|(holds, _)| *holds);
            for preset in ["csr", "dia", "sky"] {
                let text = mirror.map(|(_, mirror)| text(preset, mirror));
                let format = text
                    .as_ref()
                    .and_then(|text| text.parse::<FormatSpec>().ok()?.resolve(2).ok());
                formats.extend(text.zip(format));
            }
        }
        formats
    }

    /// The sizes with which a preset suits the tensor.
    fn arguments(&self, preset: &Preset) -> Vec<u64> {
        let order = self.extents.len();
        let mean = self.modes.first().map_or(0.0, |mode| mode.mean());
        match preset.name {
            // As many slots as a row has entries on average; the list takes the rest.
            "hyb" => vec![(mean.ceil() as u64).max(1)],
            "bsr" => match &self.matrix {
                Some(matrix) => vec![best_block(matrix, self.n_entries); 2],
                None => vec![2; order],
            },
            "csb" | "hicoo" => vec![LIST_BLOCK],
            _ => preset.examples(order),
        }
    }

    /// A format with its bytes and estimated time. `values` is the number of its values,
    /// padding included, and `runs` the number of segments of its innermost level.
    pub fn candidate(
        &self,
        name: String,
        format: Format,
        bytes: u64,
        values: u64,
        runs: u64,
    ) -> Candidate {
        let estimate = self.estimate(&format, bytes, values as f64, runs as f64);
        Candidate {
            name,
            format,
            bytes,
            estimate,
        }
    }

    /// The tree whose order of modes takes the fewest bytes, where there are
    /// several and few enough.
    fn best_tree(&self, element: ElementType) -> Option<(String, Format)> {
        let order = self.extents.len();
        if !(3..=MOST_MODES).contains(&order) {
            return None;
        }
        let trees = permutations(order).into_iter().filter_map(|modes| {
            let levels = modes
                .iter()
                .map(|&mode| Level::new(mode, LevelKind::Compressed));
            let names = Format::csf(order).modes().to_vec();
            let format = Format::new(names, levels.collect()).ok()?;
            let bytes = self.bytes_in(&format, element)?.total();
            Some((bytes, format))
        });
        // The first of several that are as small.
        let (_, best) = trees.min_by_key(|(bytes, _)| *bytes)?;
        let modes: Vec<&str> = best
            .levels()
            .iter()
            .map(|level| best.modes()[level.mode()].as_str())
            .collect();
        Some((format!("csf of {}", modes.join(", ")), best))
    }

    /// What of the statistics speaks for a format.
    fn why(&self, format: &Format) -> String {
        let order = self.extents.len();
        let levels = format.levels();
        let Some(first) = levels.first() else {
            return "it is one value".to_owned();
        };
        if format.is_all_dense() {
            let part = percent(self.density());
            return format!("{part} of all entries are stored, so that coordinates save nothing");
        }
        if let Some(why) = self.why_computed(format) {
            return why;
        }
        let mode = &self.modes[first.coordinate.mode().unwrap_or(0)];
        let (many, one) = nouns(order, first.mode());
        let occupied = (mode.n - mode.n_empty) as f64;
        let part = percent(occupied / mode.n as f64);
        let each = self.n_entries as f64 / occupied.max(1.0);
        match (first.kind, levels.get(1).map(|level| level.kind)) {
            (LevelKind::Dense, _) => {
                let mean = mode.mean();
                format!("{part} of the {many} have entries, {mean:.1} each on average")
            }
            (_, Some(LevelKind::Singleton)) => {
                format!(
                    "a {one} that has entries has {each:.1} on average, so that a tree shares little"
                )
            }
            _ if order == 1 => format!("{part} of the coordinates have an entry"),
            _ => format!("{part} of the {many} have entries, and these {each:.1} on average"),
        }
    }
}

impl Statistics {
    /// The reason for a format whose levels store expressions over the modes.
    fn why_computed(&self, format: &Format) -> Option<String> {
        let matrix = self.matrix.as_ref()?;
        let kinds: Vec<LevelKind> = format.levels().iter().map(|level| level.kind).collect();
        let coordinates = || format.levels().iter().map(|level| &level.coordinate);
        let rows = &self.modes[0];
        Some(match () {
            () if format.mirror.is_some() => {
                "the matrix is its own mirror image, of which one half is stored".to_owned()
            }
            () if format.is_plain() => return None,
            () if kinds[..] == [LevelKind::Compressed, LevelKind::Range] => {
                let all = self.extents[0]
                    .saturating_add(self.extents[1])
                    .saturating_sub(1);
                format!("{} of {all} diagonals have entries", matrix.n_diagonals)
            }
            () if coordinates().any(Coordinate::is_rank) => {
                format!("rows have {} to {} entries", rows.min, rows.max)
            }
            () => {
                let block = coordinates().find_map(|it| match it {
                    Coordinate::FloorDivide(_, by) => Some(*by),
                    _ => None,
                })?;
                let sized = |it: &&BlockFill| it.rows == block && it.columns == block;
                let fill = matrix.blocks.iter().find(sized)?.fill(self.n_entries);
                format!("blocks of {block}x{block} are {} full", percent(fill))
            }
        })
    }
}

/// The size of blocks in which a matrix takes the fewest bytes, about.
fn best_block(matrix: &MatrixStatistics, n_entries: u64) -> u64 {
    let square = matrix.blocks.iter().filter(|it| it.rows == it.columns);
    let bytes = |rows: u64, fill: f64| {
        let values = n_entries as f64 / fill.max(f64::MIN_POSITIVE);
        values * (8.0 + 4.0 / (rows * rows) as f64)
    };
    let sized = square.map(|block| (block.rows, bytes(block.rows, block.fill(n_entries))));
    let best = sized.min_by(|(_, a), (_, b)| a.total_cmp(b));
    best.map_or(2, |(rows, _)| rows)
}

/// Whether a preset is a list of coordinates: without a tree below the first.
fn is_list(preset: &Preset, order: usize) -> bool {
    let format = preset.build(order, &preset.examples(order));
    let mut levels = format.levels().iter();
    levels.any(|level| !level.unique || !level.ordered)
}

fn coordinate_list(order: usize) -> Format {
    let find = |name| Preset::find(name).and_then(|preset| preset.format(order));
    find("scoo").unwrap_or_else(|| Format::csf(order))
}

/// What the coordinates of a mode are called, several and one of them.
pub fn nouns(order: usize, mode: usize) -> (String, String) {
    match (order, mode) {
        (2, 0) => ("rows".to_owned(), "row".to_owned()),
        (2, 1) => ("columns".to_owned(), "column".to_owned()),
        (1, _) => ("coordinates".to_owned(), "coordinate".to_owned()),
        _ => (
            format!("coordinates of mode {mode}"),
            format!("coordinate of mode {mode}"),
        ),
    }
}

/// A part of one as a percentage with as many digits as mean something.
pub fn percent(part: f64) -> String {
    let hundredths = part * 100.0;
    match hundredths {
        h if h.is_nan() => "none".to_owned(),
        h if h >= 99.95 && part < 1.0 => "over 99.9 %".to_owned(),
        h if h >= 10.0 || h == 0.0 => format!("{h:.0} %"),
        h if h >= 1.0 => format!("{h:.1} %"),
        h if h >= 0.1 => format!("{h:.2} %"),
        h if h >= 0.001 => format!("{h:.3} %"),
        h => format!("{h:.1e} %"),
    }
}

/// All orders of `n` things, the one in order first.
fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    let rest = permutations(n - 1);
    for first in 0..n {
        for tail in &rest {
            let tail = tail.iter().map(|&k| k + usize::from(k >= first));
            all.push([first].into_iter().chain(tail).collect());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Distribution;

    /// A matrix of `n` rows and columns of which `occupied` have `each` entries.
    fn matrix(n: u64, occupied: u64, each: u64) -> Statistics {
        let mut statistics = Statistics::empty(&[n, n]);
        for mode in &mut statistics.modes {
            *mode = Distribution::default();
            mode.add(0, n - occupied);
            mode.add(each, occupied);
        }
        statistics.n_entries = occupied * each;
        statistics
    }

    #[test]
    fn the_least_is_chosen_and_the_simpler_of_equals() {
        let check = |statistics: &Statistics, name: &str, why: &str| {
            let choice = statistics.choose(ElementType::F64);
            assert_eq!(choice.chosen.name, name, "{}", choice.reason);
            assert!(choice.reason.contains(why), "{}", choice.reason);
        };
        check(&matrix(1000, 1000, 3), "csr", "100 % of the rows");
        check(&matrix(1000, 100, 3), "dcsr", "10 % of the rows");
        check(&matrix(1000, 100, 1), "scoo", "has 1.0 on average");
        check(&matrix(1000, 1000, 700), "dense", "70 % of all entries");
        check(&Statistics::empty(&[]), "dense", "one value");
    }

    #[test]
    fn trees_are_tried_in_every_order_of_modes() {
        let mut cube = Statistics::empty(&[1000, 1000, 2]);
        for (mode, (bins, items)) in [(1000, 10), (1000, 10), (2, 5000)].into_iter().enumerate() {
            cube.modes[mode] = Distribution::default();
            cube.modes[mode].add(items, bins);
        }
        cube.n_entries = 10_000;
        let choice = cube.choose(ElementType::F64);
        assert_eq!(choice.chosen.format.levels()[0].mode(), 2, "{choice:?}");
        assert_eq!(permutations(3).len(), 6);
        assert_eq!(permutations(3)[0], [0, 1, 2]);
    }

    #[test]
    fn percentages_say_what_they_mean() {
        let check = |part, expect: &str| assert_eq!(percent(part), expect);
        check(1.0, "100 %");
        check(0.99999, "over 99.9 %");
        check(0.5, "50 %");
        check(0.0123, "1.2 %");
        check(0.00476, "0.48 %");
        check(0.0000456, "0.005 %");
        check(0.0, "0 %");
    }
}
