//! What is known of a file, as text: a line a fact, then tables.

use std::time::Duration;

use sparsec::Storage;
use sparsec::internals::choice::{nouns, percent};
use sparsec::internals::parallel::Bytes;
use sparsec::internals::statistics::{Distribution, MatrixStatistics};
use sparsec::io::Structure;

use super::Info;
use crate::table::{counted_entries, duration, table};

/// How long the longest bar of a histogram is, where there are one or two.
const BAR: u64 = 12;
/// How long it is where there are more.
const SHORT_BAR: u64 = 6;
/// The most modes whose histograms stand side by side.
const MOST_HISTOGRAMS: usize = 4;

impl Info<'_> {
    /// The answer; `picture` is what a terminal shows of the entries.
    pub(super) fn text(&self, picture: Option<&str>) -> String {
        let mut out = table(&self.facts());
        if self.statistics.n_entries > 0 && self.statistics.extents.len() <= MOST_HISTOGRAMS {
            out.push('\n');
            out.push_str(&self.histograms());
        }
        out.push('\n');
        out.push_str(&self.memory());
        if let Some(picture) = picture {
            out.push('\n');
            out.push_str(picture);
        }
        out
    }

    fn facts(&self) -> Vec<[String; 2]> {
        let mut facts = vec![("file", self.file()), ("tensor", self.shape())];
        if let Some(stored) = &self.stored {
            let taken = match stored {
                Storage::Levels(_) => format!(", {}", Bytes(self.tensor.bytes() as u128)),
                // The tensor at hand is a list of its entries.
                Storage::Relation(_) => ", a relation".to_owned(),
            };
            facts.push(("stored", format!("{}{taken}", stored.short_name())));
        }
        let matrix = self.statistics.matrix.as_ref();
        if let Some(structure) = self.structure(matrix) {
            facts.push(("structure", structure));
        }
        let order = self.statistics.modes.len();
        let mut facts: Vec<[String; 2]> = facts
            .into_iter()
            .map(|(name, text)| [name.to_owned(), text])
            .collect();
        for (n, mode) in self.statistics.modes.iter().enumerate() {
            facts.push([mode_name(order, n), spread(mode)]);
        }
        let matrix = matrix.filter(|_| self.statistics.n_entries > 0);
        let lines = matrix.map_or(Vec::new(), |matrix| self.diagonals(matrix));
        facts.extend(
            lines
                .into_iter()
                .map(|(name, text)| [name.to_owned(), text]),
        );
        let chosen = &self.choice.chosen;
        facts.push([
            "suits".to_owned(),
            format!("{}: {}", chosen.name, self.choice.reason),
        ]);
        if chosen.name.starts_with("csf of ") {
            facts.push(["as a map".to_owned(), chosen.format.to_string()]);
        }
        let smallest = &self.choice.smallest;
        if smallest.bytes < chosen.bytes {
            let saved = percent(1.0 - smallest.bytes as f64 / chosen.bytes as f64);
            let text = format!(
                "{}: {saved} less memory than {}",
                smallest.name, chosen.name
            );
            facts.push(["smallest".to_owned(), text]);
        }
        facts
    }

    fn file(&self) -> String {
        let size = self
            .bytes
            .map_or(String::new(), |n| format!(", {}", Bytes(n.into())));
        format!("{}{size}, {}", self.path, self.summary)
    }

    fn shape(&self) -> String {
        let statistics = self.statistics;
        let extents: Vec<String> = statistics.extents.iter().map(u64::to_string).collect();
        let mut text = format!(
            "{}[{}], {}",
            self.tensor.element(),
            extents.join(", "),
            counted_entries(statistics.n_entries),
        );
        if !extents.is_empty() && statistics.n_entries > 0 {
            text.push_str(&format!(", {} of all", percent(statistics.density())));
        }
        if !self.states_extents {
            text.push_str("; extents are the largest coordinates, the file states none");
        }
        let repeated = self.n_stated > statistics.n_entries && self.stored.is_none();
        if repeated && self.structure == Structure::General {
            let n = self.n_stated - statistics.n_entries;
            text.push_str(&format!("; {n} more in the file at equal places, added up"));
        }
        text
    }

    /// What mirrors what, for matrices.
    fn structure(&self, matrix: Option<&MatrixStatistics>) -> Option<String> {
        let matrix = matrix?;
        let extents = &self.statistics.extents;
        if extents[0] != extents[1] {
            return Some("not square".to_owned());
        }
        let symmetry = matrix.symmetry;
        let off = self.statistics.n_entries - matrix.n_on_diagonal;
        let mut text = match symmetry {
            _ if off == 0 => "diagonal".to_owned(),
            it if it.symmetric => "symmetric".to_owned(),
            it if it.skew => "skew-symmetric".to_owned(),
            it if it.hermitian => "hermitian".to_owned(),
            it if it.pattern => "symmetric in pattern, not in values".to_owned(),
            it if it.n_mirrored == 0 => "no entry has one at the mirrored place".to_owned(),
            it => {
                let part = percent(it.n_mirrored as f64 / off as f64);
                format!("{part} of the entries off the diagonal have one at the mirrored place")
            }
        };
        if self.structure != Structure::General {
            let stated = counted_entries(self.n_stated);
            text.push_str(&format!("; the file states {stated} and says so"));
        }
        Some(text)
    }

    fn diagonals(&self, matrix: &MatrixStatistics) -> Vec<(&'static str, String)> {
        let extents = &self.statistics.extents;
        let n_diagonals = extents[0].saturating_add(extents[1]).saturating_sub(1);
        let main = extents[0].min(extents[1]);
        let blocks: Vec<String> = matrix
            .blocks
            .iter()
            .map(|block| {
                let fill = percent(block.fill(self.statistics.n_entries));
                format!("{}x{} to {fill}", block.rows, block.columns)
            })
            .collect();
        let mut lines = vec![
            (
                "diagonals",
                format!(
                    "{} of {n_diagonals} have entries, the main one {} of {main}",
                    matrix.n_diagonals, matrix.n_on_diagonal
                ),
            ),
            (
                "bandwidth",
                format!(
                    "{} below the diagonal, {} above",
                    matrix.lower_bandwidth, matrix.upper_bandwidth
                ),
            ),
            (
                "profile",
                format!(
                    "{} below the diagonal, {} above",
                    matrix.lower_profile, matrix.upper_profile
                ),
            ),
        ];
        if !blocks.is_empty() {
            lines.push(("blocks", format!("full are {}", blocks.join(", "))));
        }
        lines
    }

    /// How many rows, columns and so on have how many entries, side by side.
    fn histograms(&self) -> String {
        let modes = &self.statistics.modes;
        let order = modes.len();
        let longest = if order > 2 { SHORT_BAR } else { BAR };
        let n_buckets = modes.iter().map(|mode| mode.histogram.len()).max();
        let mut rows = vec![vec!["entries".to_owned()]];
        for mode in 0..order {
            rows[0].push(mode_name(order, mode));
            rows[0].push(String::new());
        }
        for bucket in 0..n_buckets.unwrap_or(0) {
            let mut row = vec![String::new()];
            for mode in modes {
                let largest = mode.histogram.iter().copied().max().unwrap_or(0);
                match mode.buckets().nth(bucket) {
                    Some((least, most, n)) => {
                        row[0] = range(least, most);
                        row.push(if n > 0 { n.to_string() } else { String::new() });
                        row.push(bar(n, largest, longest));
                    }
                    None => row.extend([String::new(), String::new()]),
                }
            }
            // Nothing has so few entries, or so many.
            if row[1..].iter().any(|cell| !cell.is_empty()) {
                rows.push(row);
            }
        }
        aligned(&rows)
    }

    /// Formats with their memory, the estimated time of a product with a vector, and the
    /// numbers that the time follows from.
    fn memory(&self) -> String {
        let chosen = &self.choice.chosen;
        let head = ["format", "   memory", "      time", "estimated of"];
        let mut rows = vec![head.map(str::to_owned)];
        for tried in &self.choice.tried {
            let mark = if tried == chosen { " <" } else { "" };
            let time = duration(Duration::from_secs_f64(tried.seconds()));
            rows.push([
                tried.name.clone(),
                format!("{:>9}", Bytes(tried.bytes.into()).to_string()),
                format!("{time:>10}{mark}"),
                tried.estimate.to_string(),
            ]);
        }
        let tried = format!(
            "{} formats tried, the smallest first; times are estimates of a product with a vector on \
             one thread",
            self.choice.tried.len()
        );
        let left_out = match &self.choice.left_out[..] {
            [] => String::new(),
            names => format!(
                "; left out, as too large or not for these entries: {}",
                names.join(", ")
            ),
        };
        format!("{}{tried}{left_out}\n", table(&rows))
    }
}

/// `rows`, `columns`, or `mode 0` where modes have no names.
fn mode_name(order: usize, mode: usize) -> String {
    match order {
        2 => nouns(order, mode).0,
        _ => format!("mode {mode}"),
    }
}

/// Fewest, mean and most entries.
fn spread(mode: &Distribution) -> String {
    let empty = match mode.n_empty {
        0 => "none empty".to_owned(),
        n if n == mode.n => "all empty".to_owned(),
        n => format!("{n} empty"),
    };
    format!(
        "{} to {} entries, {:.1} on average, {empty}",
        mode.min,
        mode.max,
        mode.mean()
    )
}

/// `none`, `1`, `2-3` and so on.
fn range(least: u64, most: u64) -> String {
    match (least, most) {
        (0, 0) => "none".to_owned(),
        (least, most) if least == most => least.to_string(),
        (least, most) => format!("{least}-{most}"),
    }
}

/// A bar for `n` where `longest` letters stand for `largest`, in eighths of one.
fn bar(n: u64, largest: u64, longest: u64) -> String {
    if n == 0 {
        return String::new();
    }
    let eighths = (u128::from(n) * u128::from(8 * longest) / u128::from(largest)).max(1) as usize;
    let part = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
    format!("{}{part}", "█".repeat(eighths / 8))
}

/// Columns as wide as their widest cell; every second one, a number, to the right.
fn aligned(rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let width = width(column);
            match column % 2 == 1 {
                true => line.push_str(&format!("  {cell:>width$} ")),
                false => line.push_str(&format!("{cell:width$}")),
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_numbers_are_large() {
        let check = |n, expect: &str| assert_eq!(bar(n, 96, 12), expect);
        check(0, "");
        check(96, "████████████");
        check(48, "██████");
        check(12, "█▌");
        check(1, "▏");
        assert_eq!(bar(1, 1_000_000, 6), "▏");
    }

    #[test]
    fn ranges_read_as_numbers() {
        let check = |least, most, expect: &str| assert_eq!(range(least, most), expect);
        check(0, 0, "none");
        check(1, 1, "1");
        check(4, 7, "4-7");
    }
}
