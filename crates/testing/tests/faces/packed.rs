//! Small tensors in formats that are given as relations, packed by hand.
//!
//! There is no packing into such a format but what its author writes; these are
//! written from the words that formats are known by, not from their relations.

use std::collections::{BTreeMap, BTreeSet};

/// Entries by their coordinates.
pub(crate) type Entries = BTreeMap<Vec<i64>, f64>;

/// What stands where nothing of the tensor is stored.
const PADDING: f64 = -99.0;

/// A tensor in a format: the constants and arrays that its relation speaks of.
#[derive(Default)]
pub(crate) struct Packed {
    pub(crate) constants: Vec<(&'static str, i64)>,
    pub(crate) arrays: Vec<(&'static str, Vec<i64>)>,
    pub(crate) values: Vec<f64>,
    /// What it stores: zeros as well, where the format cannot leave them out.
    pub(crate) stored: Entries,
}

/// The formats of the samples, their orders, and how tensors of these extents are
/// packed into them.
pub(crate) const FORMATS: [(&str, usize, Pack); 6] = [
    ("dia", 2, diagonals),
    ("ellr", 2, padded_rows),
    ("fcoo", 3, flagged),
    ("hilbert", 2, along_curve),
    ("jds", 2, jagged),
    ("sell", 2, chunks),
];

type Pack = fn(&[i64], &Entries) -> Packed;

/// The columns and values of each row.
fn rows(extents: &[i64], entries: &Entries) -> Vec<Vec<(i64, f64)>> {
    let row = |i| {
        let within = entries.iter().filter(move |(at, _)| at[0] == i);
        within.map(|(at, value)| (at[1], *value)).collect()
    };
    (0..extents[0]).map(row).collect()
}

/// The numbers of rows, those with more entries first.
fn by_length(rows: &[Vec<(i64, f64)>]) -> Vec<usize> {
    let mut perm: Vec<usize> = (0..rows.len()).collect();
    perm.sort_by_key(|r| std::cmp::Reverse(rows[*r].len()));
    perm
}

fn number(n: usize) -> i64 {
    i64::try_from(n).expect("small tensors")
}

fn diagonals(extents: &[i64], entries: &Entries) -> Packed {
    let off: BTreeSet<i64> = entries.keys().map(|at| at[1] - at[0]).collect();
    let mut packed = Packed::default();
    for k in &off {
        for i in 0..extents[0] {
            let at = vec![i, i + k];
            let inside = (0..extents[1]).contains(&at[1]);
            let value = entries.get(&at).copied().unwrap_or(0.0);
            packed.values.push(if inside { value } else { PADDING });
            if inside {
                packed.stored.insert(at, value);
            }
        }
    }
    packed.constants = vec![("ND", number(off.len()))];
    packed.arrays = vec![("off", off.into_iter().collect())];
    packed
}

fn padded_rows(extents: &[i64], entries: &Entries) -> Packed {
    let rows = rows(extents, entries);
    let longest = rows.iter().map(Vec::len).max().unwrap_or(0);
    let (mut col, mut values) = (Vec::new(), Vec::new());
    for s in 0..longest {
        for row in &rows {
            let (j, value) = row.get(s).copied().unwrap_or((0, PADDING));
            col.push(j);
            values.push(value);
        }
    }
    let len = rows.iter().map(|row| number(row.len())).collect();
    Packed {
        constants: vec![("W", number(longest))],
        arrays: vec![("len", len), ("col", col)],
        values,
        stored: entries.clone(),
    }
}

fn flagged(_: &[i64], entries: &Entries) -> Packed {
    let mut slice: Vec<i64> = Vec::new();
    let (mut bf, mut ps) = (Vec::new(), Vec::new());
    for at in entries.keys() {
        let begins = slice.last() != Some(&at[0]);
        if begins {
            slice.push(at[0]);
        }
        bf.push(i64::from(begins));
        ps.push(number(slice.len()) - 1);
    }
    let mode = |mode: usize| entries.keys().map(|at| at[mode]).collect();
    Packed {
        constants: vec![("NNZ", number(entries.len())), ("NS", number(slice.len()))],
        arrays: vec![
            ("bf", bf),
            ("ps", ps),
            ("slice", slice),
            ("crd1", mode(1)),
            ("crd2", mode(2)),
        ],
        values: entries.values().copied().collect(),
        stored: entries.clone(),
    }
}

fn jagged(extents: &[i64], entries: &Entries) -> Packed {
    let rows = rows(extents, entries);
    let perm = by_length(&rows);
    let (mut ptr, mut col, mut values) = (vec![0], Vec::new(), Vec::new());
    for s in 0..rows.iter().map(Vec::len).max().unwrap_or(0) {
        for (j, value) in perm.iter().filter_map(|r| rows[*r].get(s)) {
            col.push(*j);
            values.push(*value);
        }
        ptr.push(number(values.len()));
    }
    Packed {
        constants: vec![("ND", number(ptr.len()) - 1), ("NNZ", number(values.len()))],
        arrays: vec![
            ("perm", perm.into_iter().map(number).collect()),
            ("ptr", ptr),
            ("col", col),
        ],
        values,
        stored: entries.clone(),
    }
}

/// Chunks of two rows.
fn chunks(extents: &[i64], entries: &Entries) -> Packed {
    let rows = rows(extents, entries);
    let (mut perm, mut ptr, mut col) = (Vec::new(), vec![0], Vec::new());
    let mut values = Vec::new();
    for chunk in by_length(&rows).chunks(2) {
        let row = |r: usize| chunk.get(r).map(|row| &rows[*row]);
        perm.extend((0..2).map(|r| chunk.get(r).map_or(-1, |row| number(*row))));
        for s in 0..row(0).map_or(0, Vec::len) {
            for r in 0..2 {
                let entry = row(r).and_then(|row| row.get(s)).copied();
                let (j, value) = entry.unwrap_or((-1, PADDING));
                col.push(j);
                values.push(value);
            }
        }
        ptr.push(number(values.len()));
    }
    Packed {
        constants: vec![
            ("C", 2),
            ("NCH", number(ptr.len()) - 1),
            ("NNZ", number(values.len())),
        ],
        arrays: vec![("perm", perm), ("ptr", ptr), ("col", col)],
        values,
        stored: entries.clone(),
    }
}

/// The number of a place along a Hilbert curve through a square of 2^31 rows: that of its quarter,
/// and then of the place in the quarter, which is turned.
fn along_hilbert(place: (i64, i64), side: i64) -> i64 {
    let half = side / 2;
    if half == 0 {
        return 0;
    }
    let (i, j) = place;
    let (quarter, within) = match (i < half, j < half) {
        (true, true) => (0, (j, i)),
        (true, false) => (1, (i, j - half)),
        (false, false) => (2, (i - half, j - half)),
        (false, true) => (3, (half - 1 - j, side - 1 - i)),
    };
    quarter * half * half + along_hilbert(within, half)
}

fn along_curve(_: &[i64], entries: &Entries) -> Packed {
    let mut list: Vec<(&Vec<i64>, &f64)> = entries.iter().collect();
    list.sort_by_key(|(at, _)| along_hilbert((at[0], at[1]), 1 << 31));
    let mode = |mode: usize| list.iter().map(|(at, _)| at[mode]).collect();
    Packed {
        constants: vec![("NZ", number(entries.len()))],
        arrays: vec![("row", mode(0)), ("col", mode(1))],
        values: list.iter().map(|(_, value)| **value).collect(),
        stored: entries.clone(),
    }
}
