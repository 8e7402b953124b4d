//! Degrees: how many entries have each coordinate of a mode, or each prefix of coordinates.
//!
//! ```text
//! . 2 . 1     mode 0: degrees 2 1     2 coordinates, 2 entries at most, 4 + 1 squares
//! . . . .     mode 1: degrees 2 1     2 coordinates, 2 entries at most, 4 + 1 squares
//! . 3 . .
//! ```
//!
//! A whole pass counts exactly. A sample takes one entry at random of each of `m` equal
//! ranges of positions, and estimates from the counts `c` in the sample, with `p = m / n`:
//!
//! | figure   | estimate                                                  |
//! |----------|-----------------------------------------------------------|
//! | tuples   | counts of 2 and more, and `sqrt(1 / p)` for each count of 1 |
//! | squares  | `n + Σ c (c - 1) / p²`                                      |
//! | largest  | `(c + 3 sqrt(c) + 3) / p` of the largest count, at most `n`   |
//!
//! The squares are unbiased if entries are taken independently. The largest is a bound that
//! plans rely on, so it errs upwards. Where the levels of the format list distinct prefixes,
//! their numbers are exact without a pass.
//!
//! Source of the estimate of tuples: Charikar et al., "Towards estimation error guarantees
//! for distinct values", PODS 2000, §5, <https://doi.org/10.1145/335168.335230>.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use sparsec_format::{Format, LevelKind};

use crate::tensor::Tensor;
use crate::walk::Cursor;

/// Coordinates are counted in an array if their mode has at most so many times as many as
/// entries are looked at; else in a table, since clearing the array would take longer.
const SPARSE_MODE: u64 = 4;

/// How the entries of a tensor spread over the tuples of coordinates in some modes.
#[derive(Clone, Debug, PartialEq)]
pub struct Degree {
    /// The modes, ascending.
    pub modes: Vec<usize>,
    /// How many distinct tuples there are.
    pub tuples: u64,
    /// The largest number of entries with one tuple.
    pub largest: u64,
    /// The sum over all tuples of the squared number of entries.
    pub squares: f64,
}

/// Degrees in every mode and in every prefix of the storage order of two modes and more.
#[derive(Clone, Debug, PartialEq)]
pub struct Degrees {
    /// Those of single modes, then those of prefixes.
    pub degrees: Vec<Degree>,
    /// How many entries were looked at.
    pub looked: usize,
    /// Whether these were all.
    pub is_exact: bool,
}

impl Tensor {
    /// The degrees of the tensor, from at most `most` of its entries; exact if it stores no
    /// more than these. Kept with the tensor and its clones: values do not change them.
    ///
    /// `None` for tensors without sparse levels, whose degrees are their extents, and for
    /// formats whose positions are not their entries.
    ///
    /// Time `O(min(M, most) N)` for `M` entries of order `N`; memory for a number for each
    /// coordinate of a mode, or for each entry that is looked at.
    ///
    /// ```
    /// use sparsec_tensor::Tensor;
    /// let a = Tensor::builder("csr", &[3, 4])?
    ///     .push([0, 1], 2.0).push([0, 3], 1.0).push([2, 1], 3.0).build()?;
    /// let degrees = a.degrees(usize::MAX).expect("it has a sparse level");
    /// let rows = &degrees.degrees[0];
    /// assert_eq!((rows.tuples, rows.largest, rows.squares), (2, 2, 5.0));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn degrees(&self, most: usize) -> Option<Arc<Degrees>> {
        let format = self.format();
        let is_sparse = |format: &Format| {
            let mut levels = format.levels().iter();
            levels.any(|level| level.kind != LevelKind::Dense)
        };
        if !format.is_regular() || !is_sparse(format) {
            return None;
        }
        let looked = most.min(self.n_stored());
        let kept = self.kept().degrees();
        if let Some(kept) = kept.filter(|kept| kept.is_exact || kept.looked >= looked) {
            return Some(kept);
        }
        let counted = Arc::new(count(self, looked));
        self.kept().keep_degrees(counted.clone());
        Some(counted)
    }
}

fn count(tensor: &Tensor, looked: usize) -> Degrees {
    let (order, n_stored) = (tensor.order(), tensor.n_stored());
    let is_exact = looked == n_stored;
    let modes: Vec<usize> = tensor
        .format()
        .levels()
        .iter()
        .map(|it| it.mode())
        .collect();
    // Entries without order have no runs of one prefix.
    let is_ordered = tensor.format().levels().iter().all(|level| level.ordered);
    let prefixes = 2..if is_ordered { order.max(2) } else { 2 };
    let mut counters: Vec<Counter> = (0..order)
        .map(|mode| Counter::of_mode(tensor.extents()[mode], looked))
        .collect();
    let mut runs = vec![Runs::default(); prefixes.len()];
    let mut last: Vec<u64> = Vec::new();
    let mut visit = |coords: &[u64]| {
        for (counter, coord) in counters.iter_mut().zip(coords) {
            counter.add(*coord);
        }
        // Entries come in storage order: those of one prefix follow one another.
        let same = modes.iter().zip(&last);
        let n_same = same
            .take_while(|(mode, before)| coords[**mode] == **before)
            .count();
        for (run, length) in runs.iter_mut().zip(prefixes.clone()) {
            run.add(n_same >= length && !last.is_empty());
        }
        last.clear();
        last.extend(modes.iter().map(|mode| coords[*mode]));
    };
    let mut cursor = Cursor::new(tensor, 0..n_stored);
    match is_exact {
        true => {
            while let Some((coords, _)) = cursor.next() {
                visit(coords);
            }
        }
        false => (0..looked).for_each(|n| visit(cursor.at(sampled(n, looked, n_stored)))),
    }
    let share = match is_exact {
        true => 1.0,
        false => looked as f64 / n_stored as f64,
    };
    let mut degrees: Vec<Degree> = (0..order)
        .zip(counters)
        .map(|(mode, counter)| {
            let extent = tensor.extents()[mode];
            let counts = counter.counts();
            degree(
                vec![mode],
                &counts,
                share,
                n_stored,
                listed(tensor, &[mode]),
            )
            .at_most(extent)
        })
        .collect();
    for (run, length) in runs.into_iter().zip(prefixes) {
        let exact = listed(tensor, &modes[..length]);
        let mut prefix = modes[..length].to_vec();
        prefix.sort_unstable();
        degrees.push(degree(prefix, &run.counts(), share, n_stored, exact));
    }
    Degrees {
        degrees,
        looked,
        is_exact,
    }
}

/// The position taken from range `n` of `ranges` equal ones.
fn sampled(n: usize, ranges: usize, n_stored: usize) -> usize {
    let begin = |n: usize| (n as u128 * n_stored as u128 / ranges as u128) as usize;
    let (from, to) = (begin(n), begin(n + 1));
    let mut hasher = DefaultHasher::new();
    n.hash(&mut hasher);
    from + (hasher.finish() % (to - from).max(1) as u64) as usize
}

/// How many distinct tuples there are in leading modes of the storage order, if the levels
/// list each of them once.
fn listed(tensor: &Tensor, leading: &[usize]) -> Option<u64> {
    let levels = tensor.format().levels();
    let listing = levels.get(..leading.len())?;
    let is_listed = listing.iter().zip(leading).all(|(level, mode)| {
        level.mode() == *mode && level.kind == LevelKind::Compressed && level.unique
    });
    is_listed.then(|| tensor.n_positions(leading.len() - 1) as u64)
}

impl Degree {
    fn at_most(mut self, extent: u64) -> Self {
        self.tuples = self.tuples.min(extent);
        self
    }
}

/// The degrees that a sample shows, of `share` of all entries.
fn degree(
    modes: Vec<usize>,
    counts: &[u64],
    share: f64,
    n_stored: usize,
    listed: Option<u64>,
) -> Degree {
    let n = n_stored as f64;
    let most = counts.iter().copied().max().unwrap_or(0);
    if share >= 1.0 {
        return Degree {
            modes,
            tuples: counts.len() as u64,
            largest: most,
            squares: counts.iter().map(|&count| (count as f64).powi(2)).sum(),
        };
    }
    let single = counts.iter().filter(|&&count| count == 1).count() as f64;
    let tuples = counts.len() as f64 - single + single * (1.0 / share).sqrt();
    let pairs: f64 = counts
        .iter()
        .map(|&count| count as f64 * (count as f64 - 1.0))
        .sum();
    let bound = (most as f64 + 3.0 * (most as f64).sqrt() + 3.0) / share;
    Degree {
        modes,
        tuples: listed.unwrap_or(tuples.min(n) as u64),
        largest: bound.min(n) as u64,
        squares: n + pairs / (share * share),
    }
}

/// How many entries have each coordinate of a mode.
enum Counter {
    Array(Vec<u64>),
    Table(HashMap<u64, u64>),
}

impl Counter {
    fn of_mode(extent: u64, looked: usize) -> Self {
        match extent <= SPARSE_MODE.saturating_mul(looked as u64) {
            true => Self::Array(vec![0; extent as usize]),
            false => Self::Table(HashMap::new()),
        }
    }

    fn add(&mut self, coord: u64) {
        match self {
            Self::Array(counts) => counts[coord as usize] += 1,
            Self::Table(counts) => *counts.entry(coord).or_default() += 1,
        }
    }

    fn counts(self) -> Vec<u64> {
        let mut counts: Vec<u64> = match self {
            Self::Array(counts) => counts,
            Self::Table(counts) => counts.into_values().collect(),
        };
        counts.retain(|count| *count > 0);
        counts
    }
}

/// The lengths of runs of entries with one prefix.
#[derive(Clone, Default)]
struct Runs(Vec<u64>);

impl Runs {
    fn add(&mut self, is_same: bool) {
        match self.0.last_mut().filter(|_| is_same) {
            Some(last) => *last += 1,
            None => self.0.push(1),
        }
    }

    fn counts(self) -> Vec<u64> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::generate;
    use sparsec_base::{ElementType, Source};
    use sparsec_format::FormatSpec;

    fn random(format: &str, text: &str, extents: &[u64]) -> Tensor {
        let spec: FormatSpec = format.parse().expect("a format");
        let format = spec.resolve(extents.len()).expect("it fits");
        let source = Source::new("generator", text);
        generate(&source, extents, Some(&format), ElementType::F64).expect("a tensor")
    }

    fn by_hand(tensor: &Tensor, modes: &[usize]) -> Degree {
        let mut counts: BTreeMap<Vec<u64>, u64> = BTreeMap::new();
        tensor.for_each_stored(|coords, _| {
            let tuple = modes.iter().map(|mode| coords[*mode]).collect();
            *counts.entry(tuple).or_default() += 1;
        });
        Degree {
            modes: modes.to_vec(),
            tuples: counts.len() as u64,
            largest: counts.values().copied().max().unwrap_or(0),
            squares: counts.values().map(|&n| (n as f64).powi(2)).sum(),
        }
    }

    #[test]
    fn whole_passes_count_exactly() {
        let turned = "(i,j,k) -> (k : compressed, i : compressed, j : compressed)";
        for format in ["csf", "scoo", turned] {
            let a = random(format, "random(nnz=900, seed=3)", &[30, 20, 40]);
            let counted = a.degrees(usize::MAX).expect("sparse");
            assert!(counted.is_exact);
            assert_eq!(counted.degrees.len(), 4, "{format}");
            for degree in &counted.degrees {
                assert_eq!(*degree, by_hand(&a, &degree.modes), "{format}");
            }
        }
    }

    #[test]
    fn samples_come_near_and_bound_the_largest() {
        let a = random("csf", "random(nnz=60000, seed=5)", &[300, 200, 400]);
        let exact = a.degrees(usize::MAX).expect("sparse");
        let b = random("csf", "random(nnz=60000, seed=5)", &[300, 200, 400]);
        let sampled = b.degrees(6000).expect("sparse");
        assert!(!sampled.is_exact && sampled.looked == 6000);
        for (near, exact) in sampled.degrees.iter().zip(&exact.degrees) {
            let ratio = near.tuples as f64 / exact.tuples as f64;
            assert!((0.4..2.5).contains(&ratio), "{near:?} {exact:?}");
            let ratio = near.squares / exact.squares;
            assert!((0.5..2.0).contains(&ratio), "{near:?} {exact:?}");
            assert!(near.largest >= exact.largest, "{near:?} {exact:?}");
        }
        // A better answer takes the place of the sample.
        assert_eq!(b.degrees(usize::MAX), Some(exact));
    }

    #[test]
    fn other_tensors() {
        let unordered = random("coo", "random(nnz=900)", &[30, 20, 40]);
        let degrees = unordered.degrees(usize::MAX).expect("sparse");
        assert_eq!(degrees.degrees.len(), 3);
        let dense = Tensor::dense(&[2, 2], [1.0; 4]).expect("fits");
        assert_eq!(dense.degrees(9), None);
        let empty = random("csr", "random(nnz=0)", &[4, 4]);
        let degrees = empty.degrees(9).expect("sparse");
        assert!(
            degrees
                .degrees
                .iter()
                .all(|it| it.tuples == 0 && it.squares == 0.0)
        );
    }
}
