//! The little that decompositions need of dense matrices.

/// A matrix by rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Matrix {
    /// How many rows.
    pub(crate) rows: usize,
    /// How many columns.
    pub(crate) columns: usize,
    /// The entries.
    pub(crate) values: Vec<f64>,
}

impl Matrix {
    /// A matrix whose entries are those of `entry`.
    pub(crate) fn from_fn(
        rows: usize,
        columns: usize,
        entry: impl Fn(usize, usize) -> f64,
    ) -> Self {
        let values = (0..rows * columns).map(|at| entry(at / columns, at % columns));
        Self {
            rows,
            columns,
            values: values.collect(),
        }
    }

    /// Numbers from 0 to 1, the same for the same seed.
    pub(crate) fn random(rows: usize, columns: usize, seed: u64) -> Self {
        Self::from_fn(rows, columns, |i, j| {
            let mut n = seed
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .wrapping_add((i * columns + j) as u64 + 1);
            n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((n ^ (n >> 31)) >> 11) as f64 / (1u64 << 53) as f64
        })
    }

    /// One entry.
    pub(crate) fn at(&self, i: usize, j: usize) -> f64 {
        self.values[i * self.columns + j]
    }

    /// The product of its transpose with itself. Time `O(rows * columns²)`.
    pub(crate) fn gram(&self) -> Self {
        let mut gram = Self::from_fn(self.columns, self.columns, |_, _| 0.0);
        for row in self.values.chunks_exact(self.columns) {
            for (i, a) in row.iter().enumerate() {
                let sums = &mut gram.values[i * self.columns..][..self.columns];
                for (sum, b) in sums.iter_mut().zip(row) {
                    *sum += a * b;
                }
            }
        }
        gram
    }

    /// The product with `other`.
    pub(crate) fn times(&self, other: &Self) -> Self {
        let mut product = Self::from_fn(self.rows, other.columns, |_, _| 0.0);
        for i in 0..self.rows {
            let sums = &mut product.values[i * other.columns..][..other.columns];
            for k in 0..self.columns {
                let row = &other.values[k * other.columns..][..other.columns];
                for (sum, b) in sums.iter_mut().zip(row) {
                    *sum += self.at(i, k) * b;
                }
            }
        }
        product
    }

    /// `self * gram⁻¹` for a symmetric positive semidefinite `gram`, by its eigenvectors:
    /// directions in which it is singular are left out.
    pub(crate) fn over(&self, gram: &Self) -> Self {
        let (values, vectors) = gram.eigen();
        let least = values.first().copied().unwrap_or(0.0) * 1e-12;
        let n = gram.rows;
        let inverse = Self::from_fn(n, n, |i, j| {
            let terms = (0..n).filter(|&k| values[k] > least);
            terms
                .map(|k| vectors.at(i, k) * vectors.at(j, k) / values[k])
                .sum()
        });
        self.times(&inverse)
    }

    /// Eigenvalues of a symmetric matrix, the largest first, and its eigenvectors as columns.
    /// Jacobi's rotations: time `O(n³)` a sweep, a dozen sweeps.
    pub(crate) fn eigen(&self) -> (Vec<f64>, Self) {
        let n = self.rows;
        let mut a = self.clone();
        let mut v = Self::from_fn(n, n, |i, j| if i == j { 1.0 } else { 0.0 });
        let size: f64 = a.values.iter().map(|value| value * value).sum();
        for _ in 0..60 {
            let above = |i: usize| (i + 1..n).map(move |j| (i, j));
            let off: f64 = (0..n)
                .flat_map(above)
                .map(|(i, j)| a.at(i, j).powi(2))
                .sum();
            if off <= size * 1e-28 {
                break;
            }
            for (p, q) in (0..n).flat_map(above) {
                let apq = a.at(p, q);
                if apq == 0.0 {
                    continue;
                }
                let theta = (a.at(q, q) - a.at(p, p)) / (2.0 * apq);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for k in 0..n {
                    a.rotate([k, k], [p, q], [c, s]);
                }
                for k in 0..n {
                    let (kp, kq) = (a.at(p, k), a.at(q, k));
                    a.values[p * n + k] = c * kp - s * kq;
                    a.values[q * n + k] = s * kp + c * kq;
                    v.rotate([k, k], [p, q], [c, s]);
                }
            }
        }
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&i, &j| a.at(j, j).total_cmp(&a.at(i, i)));
        let values = order.iter().map(|&i| a.at(i, i)).collect();
        (values, Self::from_fn(n, n, |i, j| v.at(i, order[j])))
    }

    /// Rotates two entries of two rows.
    fn rotate(&mut self, rows: [usize; 2], columns: [usize; 2], [c, s]: [f64; 2]) {
        let (a, b) = (self.at(rows[0], columns[0]), self.at(rows[1], columns[1]));
        self.values[rows[0] * self.columns + columns[0]] = c * a - s * b;
        self.values[rows[1] * self.columns + columns[1]] = s * a + c * b;
    }
}
