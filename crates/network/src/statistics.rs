//! Counts of the operands: projections of their entries.
//!
//! The *projection* of a tensor onto some of its modes is the set of tuples of
//! coordinates that its entries have in these modes. For the entries
//! `(0,0) (0,2) (0,3) (2,3)` of a matrix:
//!
//! | modes | tuples        | largest | squares | so                                  |
//! |-------|---------------|---------|---------|-------------------------------------|
//! | `[0]` | 2: `0 2`      | 3       | 10      | two rows, the fullest of 3 entries   |
//! | `[1]` | 3: `0 2 3`    | 2       | 6       | three columns                        |
//!
//! `tuples` of one mode bounds how many coordinates a join can meet; of several modes it
//! counts fibers. `squares` is the sum of the squared degrees, the number of pairs of
//! entries that a product of the tensor with itself multiplies. Independence alone misses
//! it by the skew of the degrees, which is a factor of tens for graphs.

use std::collections::HashMap;

/// Counts of a tensor's entries by their coordinates in some modes.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// The modes, ascending.
    pub modes: Vec<usize>,
    /// How many distinct tuples of coordinates there are.
    pub tuples: u64,
    /// The largest number of entries with one tuple.
    pub largest: u64,
    /// The sum over all tuples of the squared number of entries.
    pub squares: f64,
}

/// The projections that are known of a tensor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    projections: Vec<Projection>,
}

impl Statistics {
    /// These projections; of two onto the same modes the later one counts.
    pub fn new(projections: impl IntoIterator<Item = Projection>) -> Self {
        let mut statistics = Self::default();
        for projection in projections {
            statistics.insert(projection);
        }
        statistics
    }

    /// Adds a projection, in place of one onto the same modes.
    pub fn insert(&mut self, mut projection: Projection) {
        projection.modes.sort_unstable();
        self.projections
            .retain(|other| other.modes != projection.modes);
        self.projections.push(projection);
        self.projections
            .sort_by(|a, b| (a.modes.len(), &a.modes).cmp(&(b.modes.len(), &b.modes)));
    }

    /// The known projections, those onto fewer modes first.
    pub fn projections(&self) -> &[Projection] {
        &self.projections
    }

    /// Counts the projections onto single modes and, from order 3 on, onto all modes but
    /// one and onto leading modes.
    ///
    /// * `order`: the number of modes `N`.
    /// * `coordinates`: `M * N` coordinates; entry `e` begins at `e * N`. Entries are distinct.
    ///
    /// Time `O(M N)` for each projection, at most `3 N` of them; memory `O(M)`.
    ///
    /// ```
    /// use sparsec_network::Statistics;
    /// let statistics = Statistics::count(2, &[0, 0, 0, 2, 0, 3, 2, 3]);
    /// let rows = &statistics.projections()[0];
    /// assert_eq!((rows.tuples, rows.largest, rows.squares), (2, 3, 10.0));
    /// ```
    pub fn count(order: usize, coordinates: &[u64]) -> Self {
        let mut wanted: Vec<Vec<usize>> = (0..order).map(|mode| vec![mode]).collect();
        if order > 2 {
            wanted.extend((0..order).map(|left_out| {
                let others = (0..order).filter(|&mode| mode != left_out);
                others.collect()
            }));
            wanted.extend((2..order - 1).map(|n| (0..n).collect()));
        }
        Self::new(
            wanted
                .into_iter()
                .filter(|modes| modes.len() < order)
                .map(|modes| project(order, coordinates, modes)),
        )
    }
}

fn project(order: usize, coordinates: &[u64], modes: Vec<usize>) -> Projection {
    let mut counts: HashMap<Vec<u64>, u64> = HashMap::new();
    for entry in coordinates.chunks_exact(order) {
        let tuple = modes.iter().map(|&mode| entry[mode]).collect();
        *counts.entry(tuple).or_default() += 1;
    }
    Projection {
        modes,
        tuples: counts.len() as u64,
        largest: counts.values().copied().max().unwrap_or(0),
        squares: counts.values().map(|&n| (n as f64).powi(2)).sum(),
    }
}

/// How many pairs of entries agree in a coordinate, from the numbers of entries of two
/// tensors by that coordinate.
///
/// ```
/// assert_eq!(sparsec_network::statistics::pairs(&[3, 0, 1], &[1, 5, 2]), 5.0);
/// ```
pub fn pairs(left: &[u64], right: &[u64]) -> f64 {
    let products = left.iter().zip(right).map(|(&l, &r)| l as f64 * r as f64);
    products.sum()
}
