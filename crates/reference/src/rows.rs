//! Sorted lists of coordinates with values.
//!
//! Coordinates lie one row after the other in one list: a million entries are
//! three allocations, and a row with a given beginning is found by bisection.

use std::cell::Cell;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use crate::point::{Entry, Value};

/// Entries at distinct coordinates, in lexicographic order of these.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    /// How many coordinates an entry has.
    pub(crate) width: usize,
    pub(crate) coords: Vec<u64>,
    pub(crate) values: Vec<Value>,
    pub(crate) slacks: Vec<f64>,
}

impl Rows {
    pub(crate) fn new(width: usize) -> Self {
        Self {
            width,
            ..Self::default()
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn row(&self, n: usize) -> &[u64] {
        &self.coords[n * self.width..(n + 1) * self.width]
    }

    pub(crate) fn entry(&self, n: usize) -> Entry {
        Entry {
            value: self.values[n],
            stored: true,
            slack: self.slacks[n],
        }
    }

    /// Whether all values are there and finite.
    pub(crate) fn is_finite(&self) -> bool {
        let mut values = self.values.iter();
        values.all(|value| value.is_ok_and(|value| value.to_c128().norm().is_finite()))
    }

    /// Adds an entry; the caller keeps the order, or sorts afterwards.
    pub(crate) fn push(&mut self, row: &[u64], entry: Entry) {
        debug_assert_eq!(row.len(), self.width);
        self.coords.extend_from_slice(row);
        self.values.push(entry.value);
        self.slacks.push(entry.slack);
    }

    /// The row with these coordinates.
    pub(crate) fn find(&self, coords: &[u64]) -> Option<usize> {
        let at = bisect(&self.coords, self.width, 0..self.len(), |row| row < coords);
        (at < self.len() && self.row(at) == coords).then_some(at)
    }

    /// Sorts rows that came in any order; of rows at the same coordinates the
    /// first is kept and `combine` given the others, in the order they came.
    pub(crate) fn sort(&mut self, mut combine: impl FnMut(&mut Entry, Entry)) {
        if (1..self.len()).all(|n| self.row(n - 1) < self.row(n)) {
            return;
        }
        let mut sorted = Self::new(self.width);
        let mut last: Option<(usize, Entry)> = None;
        for n in ascending(&self.coords, self.width, self.len()) {
            match &mut last {
                Some((first, entry)) if self.row(*first) == self.row(n) => {
                    combine(entry, self.entry(n));
                }
                _ => {
                    if let Some((first, entry)) = last {
                        sorted.push(self.row(first), entry);
                    }
                    last = Some((n, self.entry(n)));
                }
            }
        }
        if let Some((first, entry)) = last {
            sorted.push(self.row(first), entry);
        }
        *self = sorted;
    }
}

/// The numbers of rows in the order of their coordinates; equal rows keep
/// theirs. Linear where they are in order already.
pub(crate) fn ascending(coords: &[u64], width: usize, n: usize) -> Vec<usize> {
    let row = |n: usize| &coords[n * width..(n + 1) * width];
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| row(a).cmp(row(b)));
    order
}

/// The first row of `within` for which `is_before` does not hold.
fn bisect(
    coords: &[u64],
    width: usize,
    within: Range<usize>,
    is_before: impl Fn(&[u64]) -> bool,
) -> usize {
    let (mut low, mut high) = (within.start, within.end);
    while low < high {
        let middle = low + (high - low) / 2;
        match is_before(&coords[middle * width..(middle + 1) * width]) {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}

/// Rows with their columns in an order of choice, and sorted by it.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    rows: Arc<Rows>,
    /// Coordinates and row numbers, where the order is not that of the rows.
    sorted: Option<(Vec<u64>, Vec<usize>)>,
    /// A row that was found before: the next is often a little after it.
    near: Cell<usize>,
}

impl Table {
    /// The rows with column `columns[0]` first, and so on.
    pub(crate) fn new(rows: &Arc<Rows>, columns: &[usize]) -> Self {
        let rows = Arc::clone(rows);
        if columns.iter().copied().eq(0..rows.width) {
            let near = Cell::new(0);
            return Self {
                rows,
                sorted: None,
                near,
            };
        }
        let width = rows.width;
        let permuted = |n: usize| columns.iter().map(move |column| n * width + column);
        let coords: Vec<u64> = (0..rows.len())
            .flat_map(permuted)
            .map(|at| rows.coords[at])
            .collect();
        let order = ascending(&coords, width, rows.len());
        let coords = order
            .iter()
            .flat_map(|n| &coords[n * width..(n + 1) * width])
            .copied()
            .collect();
        Self {
            rows,
            sorted: Some((coords, order)),
            near: Cell::new(0),
        }
    }

    fn coords(&self) -> &[u64] {
        match &self.sorted {
            Some((coords, _)) => coords,
            None => &self.rows.coords,
        }
    }

    pub(crate) fn row(&self, n: usize) -> &[u64] {
        let width = self.rows.width;
        &self.coords()[n * width..(n + 1) * width]
    }

    pub(crate) fn entry(&self, n: usize) -> Entry {
        match &self.sorted {
            Some((_, order)) => self.rows.entry(order[n]),
            None => self.rows.entry(n),
        }
    }

    /// The rows that begin with `prefix`. Fast where they follow those that were
    /// asked for before.
    pub(crate) fn beginning_with(&self, prefix: &[u64]) -> Range<usize> {
        let (coords, width, n) = (self.coords(), self.rows.width, self.rows.len());
        let begins = |row: &[u64]| row[..prefix.len()].cmp(prefix);
        let before = |row: &[u64]| begins(row) == Ordering::Less;
        let start = gallop(coords, width, self.near.get()..n, before);
        self.near.set(start);
        let not_after = |row: &[u64]| begins(row) != Ordering::Greater;
        start..gallop(coords, width, start..n, not_after)
    }
}

/// As [`bisect`], in time logarithmic in how far from the start of `within` the
/// row is; looks before the start too if it has to.
fn gallop(
    coords: &[u64],
    width: usize,
    within: Range<usize>,
    is_before: impl Fn(&[u64]) -> bool,
) -> usize {
    let row = |n: usize| &coords[n * width..(n + 1) * width];
    if within.start > 0 && !is_before(row(within.start - 1)) {
        return bisect(coords, width, 0..within.start, is_before);
    }
    let (mut low, mut step) = (within.start, 1);
    while low + step <= within.end && is_before(row(low + step - 1)) {
        low += step;
        step *= 2;
    }
    bisect(coords, width, low..within.end.min(low + step), is_before)
}
