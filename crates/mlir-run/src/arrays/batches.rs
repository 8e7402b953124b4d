//! The arrays of a tensor, apart for each place of its `batch` levels.
//!
//! ```text
//! (b, i, j) -> (b : batch, i : dense, j : compressed)     two batches of two rows
//! stored      positions 0 1 2 2 5       coordinates 1 2 0 1 2
//! as memref   positions 0 1 2 | 0 0 3   coordinates 1 2 0 | 0 1 2
//! ```
//!
//! The positions of a batch begin at 0, and short rows end in zeros. A tensor without `batch`
//! levels is one batch.

use std::ops::Range;

use sparsec_format::LevelKind;
use sparsec_mlir::Encoding;
use sparsec_tensor::{Index, Tensor};

use super::level_sizes;

/// An array as one row for each batch.
pub(crate) type Rows = Vec<Vec<i64>>;

/// Where the batches of a tensor lie in its arrays.
pub(crate) struct Batches<'t> {
    tensor: &'t Tensor,
    encoding: &'t Encoding,
    /// The extents of the `batch` levels.
    pub(crate) sizes: Vec<u64>,
    /// The positions of each batch: above the levels, then in each level. Empty for a tensor
    /// without `batch` levels.
    ranges: Vec<Vec<Range<usize>>>,
}

impl<'t> Batches<'t> {
    pub(crate) fn of(tensor: &'t Tensor, encoding: &'t Encoding) -> Self {
        let extents = level_sizes(tensor);
        let is_known = |kind: LevelKind| {
            matches!(
                kind,
                LevelKind::Batch
                    | LevelKind::Dense
                    | LevelKind::Compressed
                    | LevelKind::LooseCompressed
                    | LevelKind::Singleton
                    | LevelKind::Structured { .. }
            )
        };
        // Arrays of kinds that MLIR lacks are seen as they are stored.
        let n_batch = match encoding.levels.iter().all(|level| is_known(level.kind)) {
            true => encoding.n_batch_levels(),
            false => 0,
        };
        let sizes = extents[..n_batch].to_vec();
        let mut ranges = Vec::new();
        if !sizes.is_empty() {
            let n = sizes.iter().product::<u64>() as usize;
            ranges.push((0..n).map(|batch| batch..batch + 1).collect());
        }
        let mut found = Self {
            tensor,
            encoding,
            sizes,
            ranges,
        };
        for (l, extent) in extents.iter().enumerate() {
            if let Some(above) = found.ranges.last() {
                let below = above.iter().map(|at| found.below(l, *extent as usize, at));
                let below = below.collect();
                found.ranges.push(below);
            }
        }
        found
    }

    /// The positions of a level below a range of positions of the level above.
    fn below(&self, level: usize, extent: usize, above: &Range<usize>) -> Range<usize> {
        let view = self.tensor.level(level);
        let each = match self.encoding.levels[level].kind {
            // The batches themselves are the positions above.
            LevelKind::Batch | LevelKind::Singleton => 1,
            LevelKind::Compressed => {
                let pos = view.pos();
                return pos.get(above.start) as usize..pos.get(above.end) as usize;
            }
            LevelKind::LooseCompressed => {
                let (pos, end) = (view.pos(), view.end());
                let from = above.clone().map(|n| pos.get(n) as usize).min();
                let to = above.clone().map(|n| end.get(n) as usize).max();
                return from.unwrap_or(0)..to.unwrap_or(0);
            }
            LevelKind::Structured { n, m } => extent.div_ceil(m as usize) * n as usize,
            _ => extent,
        };
        above.start * each..above.end * each
    }

    /// The positions of a level, if it has an array of them.
    pub(crate) fn positions(&self, level: usize) -> Option<Rows> {
        let view = self.tensor.level(level);
        let (pos, is_loose) = match self.encoding.levels[level].kind {
            LevelKind::Compressed | LevelKind::Range => (view.pos(), false),
            LevelKind::LooseCompressed => (view.pos(), true),
            _ => return None,
        };
        let pairs = |n: usize| match is_loose {
            true => vec![pos.get(n), view.end().get(n)],
            false => vec![pos.get(n)],
        };
        if self.ranges.is_empty() {
            let n = if is_loose {
                view.end().len()
            } else {
                pos.len()
            };
            return Some(vec![(0..n).flat_map(pairs).collect()]);
        }
        let rows = self.ranges[level].iter().zip(&self.ranges[level + 1]);
        let rows = rows.map(|(above, own)| {
            let last = above.end + usize::from(!is_loose);
            let numbers = (above.start..last).flat_map(pairs);
            numbers.map(|at| at - own.start as i64).collect()
        });
        Some(rows.collect())
    }

    /// The coordinates of a level.
    pub(crate) fn coords(&self, level: usize) -> Rows {
        self.rows(level, &[self.tensor.level(level).crd()])
    }

    /// The coordinates from a level on, tuple by tuple.
    pub(crate) fn tuples(&self, from: usize) -> Rows {
        let columns = from..self.encoding.n_levels();
        let columns: Vec<Index<'_>> = columns.map(|l| self.tensor.level(l).crd()).collect();
        self.rows(from, &columns)
    }

    fn rows(&self, level: usize, columns: &[Index<'_>]) -> Rows {
        let whole = 0..columns[0].len();
        let ranges = self.ranges.get(level + 1);
        let rows = ranges.map_or(std::slice::from_ref(&whole), |ranges| ranges);
        let row = |at: &Range<usize>| {
            let tuples = at.clone().map(|n| columns.iter().map(move |it| it.get(n)));
            tuples.flatten().collect()
        };
        rows.iter().map(row).collect()
    }

    /// The places of the values of each batch.
    pub(crate) fn values(&self) -> Vec<Range<usize>> {
        match self.ranges.last() {
            Some(ranges) => ranges.clone(),
            None => std::iter::once(0..self.tensor.vals().len()).collect(),
        }
    }

    /// How many entries the reference counts: those of the first batch.
    pub(crate) fn n_counted(&self) -> usize {
        self.values().first().map_or(0, Range::len)
    }

    /// The sizes of an array with these rows: the extents of `batch` levels, and the length of the
    /// longest row.
    pub(crate) fn sizes_of(&self, longest: usize) -> Vec<u64> {
        let mut sizes = self.sizes.clone();
        sizes.push(longest as u64);
        sizes
    }
}
