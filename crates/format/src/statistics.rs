//! What is known of a tensor's entries, as plain data.
//!
//! Choosing a format or a plan needs numbers, not the tensor: how many entries
//! there are, how they spread over the coordinates of each mode, and for
//! matrices how close they stand to the diagonal and to each other. A
//! [`Statistics`] holds these. `sparsec-tensor` counts them; here they are kept,
//! compared, and turned into what a format would take ([`Statistics::bytes_in`]).
//!
//! ```text
//!     4 . . 1        modes[0], entries of each row      2 1 0 2
//!     . 5 . .        modes[1], entries of each column   2 1 1 1
//!     . . . .        matrix: bandwidth 3 below and above the diagonal,
//!     2 . 6 .                4 diagonals, two 2x2 blocks of entries in 4
//! ```
//!
//! An entry is what is stored and no padding; where coordinates repeat, the
//! tuple counts once.

mod footprint;

pub use footprint::Footprint;

/// The numbers that describe a tensor; see the [module](self).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Statistics {
    /// One extent a mode.
    pub extents: Vec<u64>,
    /// How many entries there are.
    pub n_entries: u64,
    /// For each mode, how many entries its coordinates have: rows first, then
    /// columns.
    pub modes: Vec<Distribution>,
    /// For each level of the tensor's own format, how many positions there are
    /// below each position of the level above it. The sum is the level's number
    /// of positions.
    pub levels: Vec<Distribution>,
    /// How many distinct tuples some modes have together, where that is no sum
    /// of [`modes`](Self::modes): for orders from 3 to 6, all sets of modes that
    /// have at least two of them and lack at least one. Within a few percent.
    pub groups: Vec<Group>,
    /// What only matrices have.
    pub matrix: Option<MatrixStatistics>,
}

/// How many items each of a number of bins has: entries of rows, say.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Distribution {
    /// How many bins there are.
    pub n: u64,
    /// How many of them have nothing.
    pub n_empty: u64,
    /// How many items there are in all.
    pub total: u64,
    /// The fewest items of a bin; 0 where there is no bin.
    pub min: u64,
    /// The most items of a bin; 0 where there is no bin.
    pub max: u64,
    /// The sum of the squares of all numbers of items.
    pub sum_of_squares: f64,
    /// How many bins have no item, 1, 2 to 3, 4 to 7, and so on; see
    /// [`Distribution::buckets`]. No zeros at the end.
    pub histogram: Vec<u64>,
}

/// How many distinct tuples the entries have in some modes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Group {
    /// The modes, ascending.
    pub modes: Vec<usize>,
    /// How many distinct tuples of their coordinates have an entry, about.
    pub n_distinct: u64,
}

/// How the entries of a matrix lie.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MatrixStatistics {
    /// The largest `i - j` of an entry below the diagonal, 0 if there is none.
    pub lower_bandwidth: u64,
    /// The largest `j - i` of an entry above the diagonal, 0 if there is none.
    pub upper_bandwidth: u64,
    /// The sum over the rows of how far the first entry is left of the diagonal.
    pub lower_profile: u64,
    /// The sum over the columns of how far the first entry is above the diagonal.
    pub upper_profile: u64,
    /// How many entries have `i = j`.
    pub n_on_diagonal: u64,
    /// How many diagonals `j - i` have an entry.
    pub n_diagonals: u64,
    /// How the matrix compares with its transpose.
    pub symmetry: Symmetry,
    /// How entries fill blocks of several sizes.
    pub blocks: Vec<BlockFill>,
}

/// How a matrix compares with its transpose. A matrix that is not square has
/// none of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Symmetry {
    /// How many entries off the diagonal have one stored at the mirrored place.
    pub n_mirrored: u64,
    /// Every entry off the diagonal has one at the mirrored place.
    pub pattern: bool,
    /// `a(j,i) = a(i,j)`, with entries stored at the same places.
    pub symmetric: bool,
    /// `a(j,i) = -a(i,j)`, with entries stored at the same places.
    pub skew: bool,
    /// `a(j,i) = conj(a(i,j))`, with entries stored at the same places; for
    /// real numbers the same as `symmetric`.
    pub hermitian: bool,
}

/// How entries fill blocks of one size, the first at the origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockFill {
    /// Rows of a block.
    pub rows: u64,
    /// Columns of a block.
    pub columns: u64,
    /// How many blocks have an entry.
    pub n_blocks: u64,
}

impl Statistics {
    /// Statistics of a tensor without entries, to be filled in.
    pub fn empty(extents: &[u64]) -> Self {
        Self {
            extents: extents.to_vec(),
            n_entries: 0,
            modes: extents.iter().map(|&n| Distribution::of_empty(n)).collect(),
            levels: Vec::new(),
            groups: Vec::new(),
            matrix: None,
        }
    }

    /// Statistics of `n_entries` entries that are spread evenly, for a tensor of which no
    /// more is known.
    ///
    /// ```
    /// use sparsec_format::Statistics;
    /// let rows = &Statistics::spread(&[10, 1000], 25).modes[0];
    /// assert_eq!((rows.n_empty, rows.min, rows.max, rows.total), (0, 2, 3, 25));
    /// assert_eq!(Statistics::spread(&[10, 1000], 4).modes[0].n_empty, 6);
    /// ```
    pub fn spread(extents: &[u64], n_entries: u64) -> Self {
        let mut statistics = Self::empty(extents);
        let all = extents.iter().try_fold(1_u64, |all, n| all.checked_mul(*n));
        statistics.n_entries = all.map_or(n_entries, |all| n_entries.min(all));
        for mode in &mut statistics.modes {
            let (n, total) = (mode.n, statistics.n_entries);
            if let (Some(each), Some(rest)) = (total.checked_div(n), total.checked_rem(n)) {
                *mode = Distribution::default();
                mode.add(each + 1, rest);
                mode.add(each, n - rest);
            }
        }
        statistics
    }

    /// Entries over coordinates, from 0 to 1; `NaN` where a mode has extent 0.
    pub fn density(&self) -> f64 {
        let all: f64 = self.extents.iter().map(|&extent| extent as f64).product();
        self.n_entries as f64 / all
    }

    /// How many distinct tuples the entries have in these modes, in any order:
    /// exact for no mode, one mode and all modes, about for what is in
    /// [`groups`](Self::groups), and for others as many as entries thrown at
    /// random would hit.
    pub fn n_distinct(&self, modes: &[usize]) -> u64 {
        let mut modes = modes.to_vec();
        modes.sort_unstable();
        modes.dedup();
        if let Some(group) = self.groups.iter().find(|group| group.modes == modes) {
            return group.n_distinct;
        }
        let occupied = |mode: usize| self.modes[mode].n - self.modes[mode].n_empty;
        match modes[..] {
            [] => self.n_entries.min(1),
            [mode] => occupied(mode),
            _ if modes.len() == self.extents.len() => self.n_entries,
            _ => {
                let cells: f64 = modes.iter().map(|&mode| occupied(mode) as f64).product();
                let entries = self.n_entries as f64;
                // cells * (1 - (1 - 1/cells)^entries), exact for many cells too.
                let hit = -cells * (entries * (-1.0 / cells).ln_1p()).exp_m1();
                let least = modes.iter().map(|&mode| occupied(mode)).max();
                (hit.round() as u64)
                    .min(self.n_entries)
                    .max(least.unwrap_or(0))
            }
        }
    }
}

impl Distribution {
    /// `n` bins without items.
    pub fn of_empty(n: u64) -> Self {
        let mut all = Self::default();
        all.add(0, n);
        all
    }

    /// Counts `bins` more bins that have `items` each.
    pub fn add(&mut self, items: u64, bins: u64) {
        if bins == 0 {
            return;
        }
        self.min = if self.n == 0 {
            items
        } else {
            self.min.min(items)
        };
        self.max = self.max.max(items);
        self.n += bins;
        self.total = self.total.saturating_add(items.saturating_mul(bins));
        self.sum_of_squares += (items as f64).powi(2) * bins as f64;
        if items == 0 {
            self.n_empty += bins;
        }
        let bucket = (u64::BITS - items.leading_zeros()) as usize;
        if self.histogram.len() <= bucket {
            self.histogram.resize(bucket + 1, 0);
        }
        self.histogram[bucket] += bins;
    }

    /// Counts the bins of `other` too.
    pub fn merge(&mut self, other: &Self) {
        if other.n == 0 {
            return;
        }
        self.min = if self.n == 0 {
            other.min
        } else {
            self.min.min(other.min)
        };
        self.max = self.max.max(other.max);
        self.n += other.n;
        self.n_empty += other.n_empty;
        self.total = self.total.saturating_add(other.total);
        self.sum_of_squares += other.sum_of_squares;
        if self.histogram.len() < other.histogram.len() {
            self.histogram.resize(other.histogram.len(), 0);
        }
        for (bucket, n) in self.histogram.iter_mut().zip(&other.histogram) {
            *bucket += n;
        }
    }

    /// Items a bin on average, empty ones included; 0 where there is no bin.
    pub fn mean(&self) -> f64 {
        if self.n == 0 {
            return 0.0;
        }
        self.total as f64 / self.n as f64
    }

    /// The standard deviation of the number of items.
    pub fn deviation(&self) -> f64 {
        if self.n == 0 {
            return 0.0;
        }
        let variance = self.sum_of_squares / self.n as f64 - self.mean().powi(2);
        variance.max(0.0).sqrt()
    }

    /// The histogram as fewest items, most items, and how many bins lie there.
    ///
    /// ```
    /// let mut rows = sparsec_format::Distribution::default();
    /// for entries in [2, 1, 0, 2, 5] {
    ///     rows.add(entries, 1);
    /// }
    /// let buckets: Vec<_> = rows.buckets().collect();
    /// assert_eq!(buckets, [(0, 0, 1), (1, 1, 1), (2, 3, 2), (4, 7, 1)]);
    /// assert_eq!((rows.min, rows.max, rows.mean()), (0, 5, 2.0));
    /// ```
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let bounds = |bucket: usize| match bucket {
            0 => (0, 0),
            _ => {
                let least = 1u64 << (bucket - 1);
                (least, least + (least - 1))
            }
        };
        self.histogram.iter().enumerate().map(move |(bucket, &n)| {
            let (least, most) = bounds(bucket);
            (least, most, n)
        })
    }
}

impl MatrixStatistics {
    /// Statistics of a matrix without entries, which is all of these symmetries
    /// if it is square.
    pub fn empty(square: bool) -> Self {
        Self {
            lower_bandwidth: 0,
            upper_bandwidth: 0,
            lower_profile: 0,
            upper_profile: 0,
            n_on_diagonal: 0,
            n_diagonals: 0,
            symmetry: Symmetry::all(square),
            blocks: Vec::new(),
        }
    }
}

impl Symmetry {
    /// Every symmetry, or none; no entry has a mirror image yet.
    pub fn all(holds: bool) -> Self {
        Self {
            n_mirrored: 0,
            pattern: holds,
            symmetric: holds,
            skew: holds,
            hermitian: holds,
        }
    }
}

impl BlockFill {
    /// `n_blocks` occupied blocks of this size.
    pub fn new(rows: u64, columns: u64, n_blocks: u64) -> Self {
        Self {
            rows,
            columns,
            n_blocks,
        }
    }

    /// Entries over places in occupied blocks, from 0 to 1; 1 where no block is
    /// occupied.
    pub fn fill(&self, n_entries: u64) -> f64 {
        if self.n_blocks == 0 {
            return 1.0;
        }
        n_entries as f64 / (self.n_blocks as f64 * (self.rows * self.columns) as f64)
    }
}

impl Group {
    /// About `n_distinct` tuples in these modes, ascending.
    pub fn new(modes: Vec<usize>, n_distinct: u64) -> Self {
        Self { modes, n_distinct }
    }
}
