//! How the entries of a matrix lie: bandwidth, profile, diagonals, blocks, and
//! what the matrix has in common with its transpose.
//!
//! Two lists of the entries are enough: row by row, and column by column. The
//! first entry of each row gives the lower profile, the first of each column the
//! upper one. If the pattern is symmetric, the k-th entry of one list mirrors
//! the k-th of the other:
//!
//! ```text
//!    . 2 .       by rows      (0,1) (1,0) (1,2) (2,1)
//!    5 . 7       by columns   (1,0) (0,1) (2,1) (1,2)
//!    . 8 .
//! ```

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use sparsec_base::Result;
use sparsec_format::{BlockFill, MatrixStatistics, Symmetry};
use sparsec_parallel::{map, radix_sort, ranges};

use crate::alloc::{filled, with_room};
use crate::array::Element;
use crate::entries::Entries;
use crate::tuples::GRAIN;
use crate::with_element;

/// The sizes of blocks whose fill is counted.
const BLOCKS: [(u64, u64); 5] = [(2, 2), (3, 3), (4, 4), (6, 6), (8, 8)];

/// Counts a matrix, given twice: its entries row by row and column by column.
pub(super) fn count(by_rows: &Entries, by_columns: &Entries) -> Result<MatrixStatistics> {
    let square = by_rows.extents[0] == by_rows.extents[1];
    let mut all = MatrixStatistics::empty(square);
    for part in map(ranges(by_rows.len(), GRAIN), |range| {
        bands(by_rows, by_columns, range)
    }) {
        all.lower_bandwidth = all.lower_bandwidth.max(part.lower_bandwidth);
        all.upper_bandwidth = all.upper_bandwidth.max(part.upper_bandwidth);
        all.lower_profile = all.lower_profile.saturating_add(part.lower_profile);
        all.upper_profile = all.upper_profile.saturating_add(part.upper_profile);
        all.n_on_diagonal += part.n_on_diagonal;
    }
    all.n_diagonals = diagonals(by_rows)?;
    if square {
        all.symmetry = symmetry(by_rows, by_columns, all.n_on_diagonal);
    }
    let fill = |(rows, columns)| {
        Ok(BlockFill::new(
            rows,
            columns,
            blocks(by_rows, rows, columns)?,
        ))
    };
    all.blocks = BLOCKS.into_iter().map(fill).collect::<Result<_>>()?;
    Ok(all)
}

fn place(entries: &Entries, e: usize) -> (u64, u64) {
    let coords = entries.coords(e);
    (coords.at(0), coords.at(1))
}

fn bands(by_rows: &Entries, by_columns: &Entries, range: Range<usize>) -> MatrixStatistics {
    let mut part = MatrixStatistics::empty(false);
    for e in range {
        let (i, j) = place(by_rows, e);
        part.lower_bandwidth = part.lower_bandwidth.max(i.saturating_sub(j));
        part.upper_bandwidth = part.upper_bandwidth.max(j.saturating_sub(i));
        part.n_on_diagonal += u64::from(i == j);
        if e == 0 || place(by_rows, e - 1).0 != i {
            part.lower_profile = part.lower_profile.saturating_add(i.saturating_sub(j));
        }
        let (i, j) = place(by_columns, e);
        if e == 0 || place(by_columns, e - 1).1 != j {
            part.upper_profile = part.upper_profile.saturating_add(j.saturating_sub(i));
        }
    }
    part
}

/// How many values `j - i` has. A bit for each that is possible, where they are
/// not many more than the entries; otherwise they are sorted.
fn diagonals(entries: &Entries) -> Result<u64> {
    // i64 holds every extent, so the sum fits.
    let possible = entries.extents[0] + entries.extents[1];
    let number = |e: usize| {
        let (i, j) = place(entries, e);
        entries.extents[0] - 1 - i + j
    };
    if possible / 64 <= (1 << 16).max(entries.len() as u64) {
        let bits = filled((possible / 64 + 1) as usize, || AtomicU64::new(0))?;
        map(ranges(entries.len(), GRAIN), |range| {
            for diagonal in range.map(number) {
                let (word, bit) = (&bits[(diagonal / 64) as usize], 1 << (diagonal % 64));
                if word.load(Ordering::Relaxed) & bit == 0 {
                    word.fetch_or(bit, Ordering::Relaxed);
                }
            }
        });
        let words = bits.into_iter().map(AtomicU64::into_inner);
        return Ok(words.map(|word| u64::from(word.count_ones())).sum());
    }
    let mut numbers = with_room(entries.len())?;
    numbers.extend((0..entries.len()).map(number));
    radix_sort(&mut numbers, 0..u64::BITS - possible.leading_zeros())?;
    numbers.dedup();
    Ok(numbers.len() as u64)
}

/// How many blocks of this size have an entry. Row by row, the entries of a row
/// of blocks stand together.
fn blocks(by_rows: &Entries, rows: u64, columns: u64) -> Result<u64> {
    let n = by_rows.len();
    let block_row = |e: usize| place(by_rows, e).0 / rows;
    // Cuts are moved on to the next row of blocks.
    let cut = |e: usize| match e {
        0 => 0,
        _ => {
            let above = block_row(e - 1);
            e + partition_point(n - e, |k| block_row(e + k) == above)
        }
    };
    let counts = map(ranges(n, GRAIN), |range| {
        let (mut e, end) = (cut(range.start), cut(range.end));
        let mut n_blocks = 0;
        let mut found: Vec<u64> = Vec::new();
        while e < end {
            let row = block_row(e);
            found.clear();
            while e < end && block_row(e) == row {
                found.push(place(by_rows, e).1 / columns);
                e += 1;
            }
            found.sort_unstable();
            found.dedup();
            n_blocks += found.len() as u64;
        }
        n_blocks
    });
    Ok(counts.into_iter().sum())
}

/// How many of `0..n` come before the first for which `holds` is false.
fn partition_point(n: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

fn symmetry(by_rows: &Entries, by_columns: &Entries, n_on_diagonal: u64) -> Symmetry {
    let parts = with_element!(by_rows.element(), T => {
        let values = (by_rows.values.slice::<T>(), by_columns.values.slice::<T>());
        map(ranges(by_rows.len(), GRAIN), |range| {
            compare(by_rows, by_columns, range, values)
        })
    });
    let mut all = Symmetry::all(true);
    for part in parts {
        all.n_mirrored += part.n_mirrored;
        all.pattern &= part.pattern;
        all.symmetric &= part.symmetric;
        all.skew &= part.skew;
        all.hermitian &= part.hermitian;
    }
    // Counted with the diagonal, whose entries mirror themselves.
    all.n_mirrored -= n_on_diagonal;
    // Only where the pattern is symmetric do the lists run side by side.
    all.symmetric &= all.pattern;
    all.skew &= all.pattern;
    all.hermitian &= all.pattern;
    all
}

fn compare<T: Element>(
    by_rows: &Entries,
    by_columns: &Entries,
    range: Range<usize>,
    values: (&[T], &[T]),
) -> Symmetry {
    let mut part = Symmetry::all(true);
    for e in range.clone() {
        let (i, j) = place(by_columns, e);
        part.pattern &= place(by_rows, e) == (j, i);
        let (a, mirror) = (values.0[e], values.1[e]);
        part.symmetric &= a == mirror;
        part.skew &= a.plus(mirror) == T::ZERO;
        part.hermitian &= a == mirror.conj();
    }
    // Entries of the range that the transpose has too.
    let transposed = |k: usize| {
        let (i, j) = place(by_columns, k);
        (j, i)
    };
    let n = by_columns.len();
    let mut k = match range.clone().next() {
        Some(e) => partition_point(n, |k| transposed(k) < place(by_rows, e)),
        None => n,
    };
    for e in range {
        while k < n && transposed(k) < place(by_rows, e) {
            k += 1;
        }
        part.n_mirrored += u64::from(k < n && transposed(k) == place(by_rows, e));
    }
    part
}
