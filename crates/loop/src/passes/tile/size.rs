//! How large tiles of several rows are.

use std::cmp::Reverse;

/// Eight rows of three registers leave eight registers for operands. Measured beside one row in
/// a tile of eight registers (products of 100 by 300 and 300 by 300 numbers, AVX-512): 8 by 3
/// takes 0.19 of its time, 6 by 3 0.20, 5 by 3 0.24, 10 by 2 0.26, 4 by 4 0.48.
const MOST_ROWS: i64 = 8;

/// Fewer load the operands that they share too often.
const LEAST_ROWS: i64 = 5;

/// Fewer entries of all rows together are no more work than their tiles.
const LEAST_ENTRIES: i64 = 8;

/// Rows that a tile of several rows leaves over have tiles of their own from this width on. There are
/// a few such rows; registers for their tiles are missing in the loops over whole tiles. Products of
/// 500 by 400 and 400 by 2 numbers take 0.34 ms in code made in memory, and 0.38 with them.
const LEAST_FURTHER: i64 = 4;

/// The bytes of the widest registers there are.
const REGISTER: usize = 64;

/// Numbers of fewer bytes are narrow.
const NARROW: usize = 4;

/// The registers of a row of a tile.
const REGISTERS: i64 = 3;

/// The bytes that a tile of several rows holds at most.
pub(super) const MOST_BYTES: usize = (MOST_ROWS * REGISTERS) as usize * REGISTER;

/// How large tiles of several rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Size {
    /// How many rows it holds.
    pub(super) rows: i64,
    /// The rows of the tile for those that are left; 0 without one.
    pub(super) last: i64,
    /// How much of each.
    pub(super) width: i64,
    /// The width of the tile for the columns that are left; 0 without one.
    pub(super) rest: i64,
}

impl Size {
    /// The best size for so many rows of such a length, if several rows are of use.
    pub(super) fn of(n_rows: u64, extent: u64, bytes: usize) -> Option<Self> {
        let (n_rows, extent) = (i64::try_from(n_rows).ok()?, i64::try_from(extent).ok()?);
        // What is loaded for each turn of the nest: a strip, and a factor of each row.
        let loads = |rows: &i64| {
            let (blocks, left) = (n_rows / rows, n_rows % rows);
            let blocks = i128::from(blocks) * i128::from(rows + REGISTERS);
            let left = if left > 0 { left + REGISTERS } else { 0 };
            (blocks + i128::from(left), Reverse(*rows))
        };
        let rows = match n_rows {
            ..=MOST_ROWS => n_rows,
            _ => (LEAST_ROWS..=MOST_ROWS).min_by_key(loads)?,
        };
        // Compilers make vectors of registers and of halves of registers. gcc takes seconds for a
        // few narrow numbers that fill no such part.
        let half = (REGISTER / bytes / 2).max(1) as i64;
        let whole = |width: i64| match bytes < NARROW {
            true => width / half * half,
            false => width,
        };
        let most = extent.min(REGISTERS * 2 * half);
        let width = match most < half {
            true => whole(most),
            false => most / half * half,
        };
        let rest = whole(extent % width.max(1));
        // One row by itself has a tile as wide as all of its registers.
        let last = Some(n_rows % rows.max(1)).filter(|left| *left > 1);
        let last = last.unwrap_or(0);
        let is_worth_it = rows > 1 && n_rows.saturating_mul(extent) >= LEAST_ENTRIES;
        let is_worth_it = is_worth_it && width > 0;
        is_worth_it.then_some(Self {
            rows,
            last,
            width,
            rest,
        })
    }

    /// Whether the rows that are left over have tiles of their own.
    pub(super) fn tiles_further_rows(self) -> bool {
        self.width >= LEAST_FURTHER
    }
}
