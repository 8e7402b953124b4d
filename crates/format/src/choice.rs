//! Which format suits a tensor, told from its statistics.
//!
//! The rule: **the format that takes the fewest bytes, and among those within a
//! tenth of it the one that is simplest to walk.** Kernels are bound by the
//! bytes they move, so the first half is about speed as well; the second keeps a
//! matrix in `csr` where another format would save next to nothing.
//!
//! ```text
//! 1000 x 1000, bytes in                 dense     csr      dcsr     scoo
//! 3 entries a row                       8.0 MB    40 kB *  44 kB    48 kB
//! 3 entries a row, 9 rows of 10 empty   8.0 MB    7.6 kB   4.4 kB * 4.8 kB
//! 1 entry a row, 9 rows of 10 empty     8.0 MB    5.2 kB   2.0 kB   1.6 kB *
//! 700 entries a row                     8.0 MB *  8.4 MB   8.4 MB   11 MB
//! ```
//!
//! Formats are tried from simple to involved: `dense`, rows by position, rows by
//! coordinate, trees, lists. A tree of order 3 to 6 is tried in every order of
//! its modes.

use sparsec_base::ElementType;

use crate::format::{Format, Level};
use crate::level::LevelKind;
use crate::preset::{Preset, presets};
use crate::statistics::Statistics;

/// The most modes whose orders are all tried.
const MOST_MODES: usize = 6;

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
}

/// The format that suits a tensor, and why.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Choice {
    /// The format.
    pub chosen: Candidate,
    /// All that were tried, the simplest first.
    pub tried: Vec<Candidate>,
    /// Why it is this one, in words.
    pub reason: String,
}

impl Statistics {
    /// The format that suits a tensor with values of `element`; see the
    /// [module](crate::choice) for the rule.
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
    /// ```
    pub fn choose(&self, element: ElementType) -> Choice {
        let tried = self.candidates(element);
        let least = tried.iter().map(|it| it.bytes).min().unwrap_or(0);
        let near = |it: &&Candidate| it.bytes <= least.saturating_add(least / 10);
        // A list of coordinates exists for every order, and so does what is near.
        let chosen = tried.iter().find(near).cloned().unwrap_or(Candidate {
            name: "scoo".to_owned(),
            format: coordinate_list(self.extents.len()),
            bytes: u64::MAX,
        });
        let mut reason = self.why(&chosen.format);
        reason.push_str(match chosen.bytes == least {
            true => "; nothing takes less",
            false => "; what takes less saves under a tenth",
        });
        Choice {
            chosen,
            tried,
            reason,
        }
    }

    /// Every format that fits and whose bytes can be counted, simplest first.
    fn candidates(&self, element: ElementType) -> Vec<Candidate> {
        let order = self.extents.len();
        let mut formats: Vec<(String, Format)> = Vec::new();
        // Lists come last; in order, so that kernels can merge them.
        let native = |preset: &Preset| {
            let format = preset.format(order);
            format.is_some_and(|format| format.is_assembled())
        };
        let fitting = || presets().iter().filter(|preset| native(preset));
        let named = |preset: &Preset| {
            let format = preset.build(order, &preset.examples(order));
            (preset.name.to_owned(), format)
        };
        let (lists, others): (Vec<&Preset>, Vec<&Preset>) =
            fitting().partition(|preset| is_list(preset, order));
        formats.extend(others.into_iter().map(named));
        formats.extend(self.best_tree(element));
        formats.extend(lists.into_iter().rev().map(named));
        let mut tried: Vec<Candidate> = Vec::new();
        for (name, format) in formats {
            let bytes = self.bytes_in(&format, element);
            if let Some(bytes) = bytes
                && tried.iter().all(|other| other.format != format)
            {
                let bytes = bytes.total();
                tried.push(Candidate {
                    name,
                    format,
                    bytes,
                });
            }
        }
        tried
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
        let mode = &self.modes[first.mode()];
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
