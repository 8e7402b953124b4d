//! The tensors that conversions are measured on.
//!
//! The generated ones have the extents, the number of entries and the shape of matrices
//! that publications convert:
//!
//! | name       | stands for                 | entries                                      |
//! |------------|----------------------------|----------------------------------------------|
//! | ecology1   | a grid of 1000 × 1000      | 5 a row, on 5 diagonals                      |
//! | majorbasis | a grid of 400 × 400        | 11 a row, on 11 diagonals                    |
//! | atmosmodd  | a grid of 148 × 148 × 58   | 7 a row, on 7 diagonals                      |
//! | scircuit   | a circuit                  | 5.6 a row, at most 353; half near the diagonal |
//! | webbase    | a graph of pages           | 3.1 a row, at most 4700; columns of hubs     |
//! | pwtk       | a mesh of finite elements  | blocks of 6 × 6, 9 a row of blocks           |
//! | scattered  | the worst case             | 10 a row, anywhere                           |
//! | fibers     | a tensor of order 3        | 22 000 × 22 000 × 24 000 000, anywhere       |
//!
//! Small ones have a tenth of the entries. All are the same on every machine, and sorted
//! by coordinates.

use sparsec::{Array, Diagnostic, FormatSpec, Result, Scalar, Tensor, code};

use crate::data::Given;

/// The names of those that are generated.
pub(crate) const GENERATED: [&str; 8] = [
    "ecology1",
    "majorbasis",
    "atmosmodd",
    "scircuit",
    "webbase",
    "pwtk",
    "scattered",
    "fibers",
];

/// How large they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// A few entries, for tests.
    Tiny,
    /// A tenth of the published number of entries.
    Small,
    /// The published extents and numbers of entries.
    Full,
}

/// A tensor as a sorted list of its entries, and as an unsorted one.
#[derive(Debug)]
pub(crate) struct Matrix {
    pub(crate) name: String,
    pub(crate) sorted: Tensor,
    pub(crate) shuffled: Tensor,
    /// How many diagonals have entries.
    pub(crate) n_diagonals: usize,
    /// The most entries of a row.
    pub(crate) longest: usize,
    /// The side of the blocks that it is converted to.
    pub(crate) block: usize,
}

impl Matrix {
    /// The generated one of a name.
    ///
    /// # Errors
    /// Those of memory that there is not.
    pub(crate) fn generated(name: &str, scale: Scale) -> Result<Self> {
        let at = |full: u64, small: u64| match scale {
            Scale::Full => full,
            Scale::Small => small,
            Scale::Tiny => small.min(12),
        };
        let (extents, entries) = match name {
            "ecology1" => grid(&[at(1000, 316), at(1000, 316)], &star(2)),
            "majorbasis" => {
                let near = [
                    [0, 0],
                    [0, -1],
                    [0, 1],
                    [0, -2],
                    [0, 2],
                    [-1, 0],
                    [1, 0],
                    [-1, -1],
                    [-1, 1],
                    [1, -1],
                    [1, 1],
                ];
                let near: Vec<Vec<i64>> = near.iter().map(|it| it.to_vec()).collect();
                grid(&[at(400, 126), at(400, 126)], &near)
            }
            "atmosmodd" => grid(&[at(148, 68), at(148, 68), at(58, 27)], &star(3)),
            "scircuit" => skewed(at(170_998, 17_100), 5.6, 353, Columns::Near),
            "webbase" => skewed(at(1_000_005, 100_000), 3.1, 4700, Columns::Hubs),
            "pwtk" => blocks(at(36_320, 3632), 6, 9),
            "scattered" => skewed(at(1_000_000, 100_000), 10.0, 0, Columns::Anywhere),
            _ => fibers(
                [
                    at(22_000, 4000),
                    at(22_000, 4000),
                    at(24_000_000, 2_000_000),
                ],
                at(10_000_000, 1_000_000),
            ),
        };
        let sorted = list("scoo", &extents, &entries)?;
        Self::of(
            name.to_owned(),
            sorted,
            &entries,
            if name == "pwtk" { 6 } else { 4 },
        )
    }

    /// The one of a file.
    ///
    /// # Errors
    /// Those of memory that there is not.
    pub(crate) fn given(given: &Given) -> Result<Self> {
        let order = given.tensor().order();
        let format = "scoo".parse::<FormatSpec>()?.resolve(order)?;
        let sorted = given.tensor().convert(&format)?;
        let mut entries = Entries::of(order);
        sorted.for_each_stored(|entry, _| {
            let list = entries.coordinates.iter_mut().zip(entry);
            list.for_each(|(list, at)| list.push(*at as i32));
        });
        Self::of(given.name().to_owned(), sorted, &entries, 4)
    }

    fn of(name: String, sorted: Tensor, entries: &Entries, block: usize) -> Result<Self> {
        let shuffled = shuffled(&sorted, entries)?;
        let n: u64 = sorted.extents().iter().take(2).sum();
        let mut diagonals = vec![false; if sorted.order() == 2 { n as usize } else { 0 }];
        let (mut longest, mut length, mut row) = (0, 0, -1);
        if let [rows, columns] = &entries.coordinates[..] {
            for (i, j) in rows.iter().zip(columns) {
                let at = i64::from(*j) - i64::from(*i) + sorted.extents()[0] as i64;
                diagonals[at as usize] = true;
                length = if row == *i { length + 1 } else { 1 };
                row = *i;
                longest = longest.max(length);
            }
        }
        Ok(Self {
            name,
            sorted,
            shuffled,
            n_diagonals: diagonals.into_iter().filter(|has| *has).count(),
            longest,
            block,
        })
    }

    /// In a format.
    ///
    /// # Errors
    /// Those of packing.
    pub(crate) fn stored(&self, format: &str) -> Result<Tensor> {
        match format {
            "scoo" => self.sorted.try_clone(),
            "coo" => self.shuffled.try_clone(),
            other => {
                let format = other.parse::<FormatSpec>()?;
                self.sorted.convert(&format.resolve(self.sorted.order())?)
            }
        }
    }
}

/// The coordinates of entries, mode by mode.
#[derive(Debug)]
struct Entries {
    coordinates: Vec<Vec<i32>>,
}

impl Entries {
    fn of(order: usize) -> Self {
        Self {
            coordinates: vec![Vec::new(); order],
        }
    }

    fn push(&mut self, i: u64, j: u64) {
        self.coordinates[0].push(i as i32);
        self.coordinates[1].push(j as i32);
    }

    /// A row, in order and each column once.
    fn push_row(&mut self, i: u64, row: &mut Vec<u64>) {
        row.sort_unstable();
        row.dedup();
        row.drain(..).for_each(|j| self.push(i, j));
    }
}

fn list(format: &str, extents: &[u64], entries: &Entries) -> Result<Tensor> {
    let n = entries.coordinates[0].len();
    let values: Vec<f64> = (0..n).map(|at| at as f64 + 0.5).collect();
    listed(format, extents, entries.coordinates.clone(), values)
}

fn listed(
    format: &str,
    extents: &[u64],
    coordinates: Vec<Vec<i32>>,
    values: Vec<f64>,
) -> Result<Tensor> {
    let format = format.parse::<FormatSpec>()?.resolve(extents.len())?;
    let Ok(n) = i32::try_from(values.len()) else {
        let message = format!("{} entries have no positions of 32 bits", values.len());
        return Err(Diagnostic::new(code::BAD_OPTION_VALUE, message)
            .help("measure conversions of a smaller tensor"));
    };
    let pos = Array::from_vec(vec![0, n]);
    let arrays = [pos]
        .into_iter()
        .chain(coordinates.into_iter().map(Array::from_vec))
        .chain([Array::from_vec(values)]);
    Tensor::new(
        format,
        extents.to_vec(),
        sparsec::ElementType::F64,
        Scalar::F64(0.0),
        arrays.collect(),
    )
}

/// The same entries in an order that is none.
fn shuffled(sorted: &Tensor, entries: &Entries) -> Result<Tensor> {
    let mut random = Random(7);
    let mut order: Vec<u32> = (0..entries.coordinates[0].len() as u32).collect();
    for at in (1..order.len()).rev() {
        order.swap(at, random.below(at as u64 + 1) as usize);
    }
    let mixed = entries.coordinates.iter();
    let mixed = mixed.map(|mode| order.iter().map(|at| mode[*at as usize]).collect());
    let values = sorted.values::<f64>().unwrap_or_default();
    let values = order.iter().map(|at| values[*at as usize]).collect();
    listed("coo", sorted.extents(), mixed.collect(), values)
}

/// A point of a grid and its neighbours along each axis.
fn star(order: usize) -> Vec<Vec<i64>> {
    let mut near = vec![vec![0; order]];
    for axis in 0..order {
        for step in [-1, 1] {
            let mut point = vec![0; order];
            point[axis] = step;
            near.push(point);
        }
    }
    near
}

/// The matrix of a grid: a row for each point, a column for each point near it.
fn grid(sides: &[u64], near: &[Vec<i64>]) -> (Vec<u64>, Entries) {
    let n: u64 = sides.iter().product();
    let mut entries = Entries::of(2);
    let mut row = Vec::new();
    for i in 0..n {
        let mut point = vec![0; sides.len()];
        let mut rest = i;
        for (at, side) in point.iter_mut().zip(sides).rev() {
            *at = (rest % side) as i64;
            rest /= side;
        }
        for step in near {
            let mut j = Some(0);
            for ((at, step), side) in point.iter().zip(step).zip(sides) {
                let other = u64::try_from(at + step).ok().filter(|at| at < side);
                j = other.and_then(|other| Some(j? * side + other));
            }
            row.extend(j);
        }
        entries.push_row(i, &mut row);
    }
    (vec![n, n], entries)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Columns {
    Anywhere,
    /// Half of them near the diagonal.
    Near,
    /// Some columns have most entries.
    Hubs,
}

/// Rows of `mean` entries, or, with a `longest`, of lengths by a power law.
fn skewed(n: u64, mean: f64, longest: u64, columns: Columns) -> (Vec<u64>, Entries) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut entries = Entries::of(2);
    let mut row = Vec::new();
    for i in 0..n {
        let length = match longest {
            0 => mean as u64,
            // With the exponent 3, the mean of 1/u^(1/2) is 2.
            longest => {
                let u = (random.below(1 << 30) + 1) as f64 / (1u64 << 30) as f64;
                ((mean / 2.0 / u.sqrt()).round() as u64).clamp(1, longest)
            }
        };
        for _ in 0..length {
            row.push(match columns {
                Columns::Near if random.below(2) == 0 => (i + random.below(64)).min(n - 1),
                Columns::Hubs => {
                    let u = random.below(1 << 30) as f64 / (1u64 << 30) as f64;
                    let hub = (n as f64 * u * u * u) as u64;
                    // Numbers of pages say nothing of how many lead to them.
                    (hub * 2_654_435_761) % n
                }
                _ => random.below(n),
            });
        }
        entries.push_row(i, &mut row);
    }
    (vec![n, n], entries)
}

/// Square blocks near the diagonal, `mean` in a row of blocks.
fn blocks(n_blocks: u64, side: u64, mean: u64) -> (Vec<u64>, Entries) {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut entries = Entries::of(2);
    let mut row = Vec::new();
    for block in 0..n_blocks {
        let mut columns: Vec<u64> = (0..mean)
            .map(|at| (block + random.below(4 * mean)).saturating_sub(2 * mean + at % 2))
            .map(|column| column.min(n_blocks - 1))
            .collect();
        columns.push(block);
        columns.sort_unstable();
        columns.dedup();
        for i in 0..side {
            row.extend(
                columns
                    .iter()
                    .flat_map(|column| (0..side).map(move |j| column * side + j)),
            );
            entries.push_row(block * side + i, &mut row);
        }
    }
    (vec![n_blocks * side; 2], entries)
}

/// Entries anywhere, sorted.
fn fibers(extents: [u64; 3], n_entries: u64) -> (Vec<u64>, Entries) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut all: Vec<[u32; 3]> = (0..n_entries)
        .map(|_| extents.map(|extent| random.below(extent) as u32))
        .collect();
    all.sort_unstable();
    all.dedup();
    let mut entries = Entries::of(3);
    for (mode, list) in entries.coordinates.iter_mut().enumerate() {
        list.extend(all.iter().map(|entry| entry[mode] as i32));
    }
    (extents.to_vec(), entries)
}

/// Numbers that are the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((u128::from(self.0) * u128::from(n)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_matrix_has_its_shape() {
        for name in GENERATED {
            let matrix = Matrix::generated(name, Scale::Tiny).unwrap_or_else(|e| panic!("{e}"));
            let n = matrix.sorted.n_stored();
            assert!(n > 0, "{name}");
            assert_eq!(matrix.shuffled.n_stored(), n, "{name}");
            let diagonals = match name {
                "ecology1" => 5,
                "majorbasis" => 11,
                "atmosmodd" => 7,
                _ => continue,
            };
            assert_eq!(matrix.n_diagonals, diagonals, "{name}");
            assert_eq!(matrix.longest, diagonals, "{name}");
        }
    }
}
