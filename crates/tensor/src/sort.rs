//! Entries in storage order, each coordinate tuple once.
//!
//! Packing wants the entries sorted by the coordinate of the first level, then
//! of the second, and so on. Each entry becomes one number: the coordinates,
//! first level highest, each in the bits that the largest one needs, and below
//! them the number of the entry, which keeps the sort stable and says where
//! the value is:
//!
//! ```text
//! (i, j, k) of entry e, stored k first:   | k | i | j | e |   64 or 128 bits
//! ```
//!
//! The numbers are radix sorted; the coordinates are read back from them, so
//! only values are fetched out of order. Entries that are already in order are
//! not sorted; tuples of more than 128 bits are compared where they lie.
//!
//! Entries at equal coordinates are then combined in the order in which they
//! were given, so the result does not depend on the number of threads.

use std::cmp::Ordering;
use std::ops::Range;

use sparsec_base::{Diagnostic, Result, code};
use sparsec_parallel::{Key, map, parts_to_offsets, radix_sort, ranges, split_mut};

use crate::array::{Array, Element};
use crate::duplicates::{Combine, Duplicates};
use crate::entries::Entries;
use crate::with_element;

/// Entries that one thread works on at a time.
pub(crate) const GRAIN: usize = 1 << 14;

/// Entries in storage order, all tuples distinct.
pub(crate) struct Sorted {
    /// How many coordinates an entry has.
    pub(crate) order: usize,
    /// The coordinates, entry by entry, those of the first level first.
    pub(crate) coords: Vec<u64>,
    /// The values, one an entry.
    pub(crate) values: Array,
}

impl Sorted {
    /// How many entries there are.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// The coordinates of entry `e`, first level first.
    pub(crate) fn row(&self, e: usize) -> &[u64] {
        &self.coords[e * self.order..(e + 1) * self.order]
    }
}

/// Sorts entries by the modes given, first one first, and combines duplicates.
///
/// # Errors
/// `E0402` where the lists do not fit together, `E0401` for the first entry
/// outside the extents, `E0408` for a duplicate that is refused.
pub(crate) fn sort(entries: Entries, modes: &[usize], duplicates: Duplicates) -> Result<Sorted> {
    entries.check_lengths()?;
    let largest = largest_coords(&entries)?;
    let kept = match arrangement(&entries, modes) {
        Arrangement::Ascending => in_place(entries, modes),
        Arrangement::Sorted => combine(in_place(entries, modes), duplicates, None)?,
        Arrangement::Unsorted => {
            let (sorted, numbers) = sort_unsorted(entries, modes, &largest);
            combine(sorted, duplicates, Some(&numbers))?
        }
    };
    Ok(kept)
}

/// The largest coordinate of each mode; an error for the first one outside.
fn largest_coords(entries: &Entries) -> Result<Vec<u64>> {
    let order = entries.order();
    let parts = map(ranges(entries.len(), GRAIN), |range| {
        let mut largest = vec![0; order];
        for e in range {
            for (mode, &c) in entries.coords(e).iter().enumerate() {
                if c >= entries.extents[mode] {
                    return Err((e, mode));
                }
                largest[mode] = c.max(largest[mode]);
            }
        }
        Ok(largest)
    });
    let mut all = vec![0; order];
    for part in parts {
        let part = part.map_err(|(e, mode)| {
            Diagnostic::new(
                code::OUT_OF_BOUNDS,
                format!(
                    "entry {e} has coordinate {} in mode {mode}, whose extent is {}",
                    entries.coords(e)[mode],
                    entries.extents[mode]
                ),
            )
            .note("entries, modes and coordinates are counted from 0")
        })?;
        for (all, part) in all.iter_mut().zip(part) {
            *all = part.max(*all);
        }
    }
    Ok(all)
}

/// How entries stand before they are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Arrangement {
    /// In order, and all distinct.
    Ascending,
    /// In order.
    Sorted,
    /// In any order.
    Unsorted,
}

fn arrangement(entries: &Entries, modes: &[usize]) -> Arrangement {
    let compare = |a: usize, b: usize| {
        let (a, b) = (entries.coords(a), entries.coords(b));
        let decided = modes.iter().map(|&mode| a[mode].cmp(&b[mode]));
        decided.fold(Ordering::Equal, Ordering::then)
    };
    let parts = map(ranges(entries.len(), GRAIN), |range| {
        let mut found = Arrangement::Ascending;
        for e in range.start.max(1)..range.end {
            match compare(e - 1, e) {
                Ordering::Less => {}
                Ordering::Equal => found = Arrangement::Sorted,
                Ordering::Greater => return Arrangement::Unsorted,
            }
        }
        found
    });
    parts.into_iter().max().unwrap_or(Arrangement::Ascending)
}

/// Entries that are in order already: at most the modes change places.
fn in_place(entries: Entries, modes: &[usize]) -> Sorted {
    let order = entries.order();
    let identity = modes.iter().copied().eq(0..order);
    let coords = if identity {
        entries.coords
    } else {
        gather_rows(&entries, modes, |e| e)
    };
    Sorted {
        order,
        coords,
        values: entries.values,
    }
}

/// The coordinates of entries `number(0)`, `number(1)`, … with the modes in
/// the order given.
fn gather_rows(
    entries: &Entries,
    modes: &[usize],
    number: impl Fn(usize) -> usize + Sync,
) -> Vec<u64> {
    let order = entries.order();
    let mut coords = vec![0; entries.coords.len()];
    let cuts = ranges(entries.len(), GRAIN);
    let pieces = split_mut(&mut coords, cuts.iter().map(|cut| cut.len() * order));
    map(cuts.into_iter().zip(pieces).collect(), |(cut, piece)| {
        for (e, row) in cut.zip(piece.chunks_exact_mut(order.max(1))) {
            let from = entries.coords(number(e));
            for (to, &mode) in row.iter_mut().zip(modes) {
                *to = from[mode];
            }
        }
    });
    coords
}

/// Sorts, stably; also gives the number that each sorted entry had.
fn sort_unsorted(entries: Entries, modes: &[usize], largest: &[u64]) -> (Sorted, Vec<usize>) {
    let width = |largest: u64| u64::BITS - largest.leading_zeros();
    let layout = Layout {
        modes: modes.to_vec(),
        widths: modes.iter().map(|&mode| width(largest[mode])).collect(),
        number: width(entries.len() as u64 - 1),
    };
    let (coords, numbers) = match layout.bits() {
        0..=64 => layout.sort::<u64>(&entries),
        65..=128 => layout.sort::<u128>(&entries),
        _ => {
            let numbers = compared(&entries, modes);
            (gather_rows(&entries, modes, |e| numbers[e]), numbers)
        }
    };
    let values = gather_values(&entries.values, &numbers);
    let sorted = Sorted {
        order: entries.order(),
        coords,
        values,
    };
    (sorted, numbers)
}

/// The order of entries whose tuples have too many bits to pack.
fn compared(entries: &Entries, modes: &[usize]) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..entries.len()).collect();
    numbers.sort_by(|&a, &b| {
        let (a, b) = (entries.coords(a), entries.coords(b));
        let key = |row: &[u64], mode: usize| row[mode];
        modes
            .iter()
            .map(|&mode| key(a, mode).cmp(&key(b, mode)))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    });
    numbers
}

fn gather_values(values: &Array, numbers: &[usize]) -> Array {
    with_element!(values.element(), T => {
        let from = values.slice::<T>();
        let mut to = vec![T::ZERO; from.len()];
        let cuts = ranges(numbers.len(), GRAIN);
        let pieces = split_mut(&mut to, cuts.iter().map(Range::len));
        map(cuts.into_iter().zip(pieces).collect(), |(cut, piece)| {
            for (to, &number) in piece.iter_mut().zip(&numbers[cut]) {
                *to = from[number];
            }
        });
        Array::from_vec(to)
    })
}

/// How a tuple and the number of its entry are packed into one key.
struct Layout {
    /// The mode of each field, highest first.
    modes: Vec<usize>,
    /// The bits of each field.
    widths: Vec<u32>,
    /// The bits of the number, below the fields.
    number: u32,
}

/// A key that tuples can be packed into.
trait Packed: Key {
    fn push(self, field: u64, width: u32) -> Self;
    fn field(self, shift: u32, width: u32) -> u64;
}

macro_rules! packed {
    ($($ty:ty)*) => {$(
        impl Packed for $ty {
            #[inline]
            fn push(self, field: u64, width: u32) -> Self {
                // A field as wide as the key is the only one.
                self.checked_shl(width).unwrap_or(0) | Self::from(field)
            }
            #[inline]
            fn field(self, shift: u32, width: u32) -> u64 {
                let mask = u64::MAX.checked_shr(u64::BITS - width).unwrap_or(0);
                self.checked_shr(shift).unwrap_or(0) as u64 & mask
            }
        }
    )*};
}
packed!(u64 u128);

impl Layout {
    fn bits(&self) -> u32 {
        self.widths.iter().sum::<u32>() + self.number
    }

    fn sort<K: Packed>(&self, entries: &Entries) -> (Vec<u64>, Vec<usize>) {
        let mut keys = vec![K::default(); entries.len()];
        let cuts = ranges(entries.len(), GRAIN);
        let pieces = split_mut(&mut keys, cuts.iter().map(Range::len));
        map(cuts.into_iter().zip(pieces).collect(), |(cut, piece)| {
            for (e, key) in cut.zip(piece) {
                let row = entries.coords(e);
                let tuple = self
                    .modes
                    .iter()
                    .zip(&self.widths)
                    .fold(K::default(), |key, (&mode, &width)| {
                        key.push(row[mode], width)
                    });
                *key = tuple.push(e as u64, self.number);
            }
        });
        radix_sort(&mut keys, self.number..self.bits());
        self.unpack(&keys, entries.order())
    }

    fn unpack<K: Packed>(&self, keys: &[K], order: usize) -> (Vec<u64>, Vec<usize>) {
        let mut shift = self.bits();
        let fields: Vec<(u32, u32)> = self
            .widths
            .iter()
            .map(|&width| {
                shift -= width;
                (shift, width)
            })
            .collect();
        let mut coords = vec![0; keys.len() * order];
        let mut numbers = vec![0; keys.len()];
        let cuts = ranges(keys.len(), GRAIN);
        let rows = split_mut(&mut coords, cuts.iter().map(|cut| cut.len() * order));
        let pieces = split_mut(&mut numbers, cuts.iter().map(Range::len));
        let work = cuts.into_iter().zip(rows).zip(pieces).collect();
        map(work, |((cut, rows), numbers)| {
            let rows = rows.chunks_exact_mut(order.max(1));
            for ((&key, row), number) in keys[cut].iter().zip(rows).zip(numbers) {
                for (coord, &(shift, width)) in row.iter_mut().zip(&fields) {
                    *coord = key.field(shift, width);
                }
                *number = key.field(0, self.number) as usize;
            }
        });
        (coords, numbers)
    }
}

/// Combines neighbours with equal coordinates, first to last.
fn combine(sorted: Sorted, duplicates: Duplicates, numbers: Option<&[usize]>) -> Result<Sorted> {
    let n = sorted.len();
    let is_first = |e: usize| e == 0 || sorted.row(e) != sorted.row(e - 1);
    let cuts = ranges(n, GRAIN);
    let counts = map(cuts.clone(), |cut| cut.filter(|&e| is_first(e)).count());
    let (_, kept) = parts_to_offsets(&counts);
    if kept == n {
        return Ok(sorted);
    }
    if duplicates == Duplicates::Refuse {
        return Err(refused(&sorted, (1..n).filter(|&e| !is_first(e)), numbers));
    }
    let order = sorted.order;
    let mut coords = vec![0; kept * order];
    let rows = split_mut(&mut coords, counts.iter().map(|count| count * order));
    let values = with_element!(sorted.values.element(), T => {
        let from = sorted.values.slice::<T>();
        let rule = T::combine(duplicates).unwrap_or(T::plus);
        let mut values = vec![T::ZERO; kept];
        let pieces = split_mut(&mut values, counts.iter().copied());
        let work = cuts.into_iter().zip(rows).zip(pieces).collect();
        map(work, |((cut, rows), values)| {
            let mut firsts = cut.filter(|&e| is_first(e));
            for (k, value) in values.iter_mut().enumerate() {
                let Some(e) = firsts.next() else { break };
                rows[k * order..(k + 1) * order].copy_from_slice(sorted.row(e));
                // The last run of a cut may go on in the next one.
                let run = (e + 1..n).take_while(|&next| !is_first(next));
                *value = run.fold(from[e], |kept, next| rule(kept, from[next]));
            }
        });
        Array::from_vec(values)
    });
    Ok(Sorted {
        order,
        coords,
        values,
    })
}

/// The duplicate that came first among the entries as they were given.
fn refused(
    sorted: &Sorted,
    repeated: impl Iterator<Item = usize>,
    numbers: Option<&[usize]>,
) -> Diagnostic {
    let given = |e: usize| numbers.map_or(e, |numbers| numbers[e]);
    let e = repeated.min_by_key(|&e| given(e)).unwrap_or(0);
    let first = (0..e)
        .rev()
        .take_while(|&before| sorted.row(before) == sorted.row(e))
        .last()
        .unwrap_or(e);
    Diagnostic::new(
        code::DUPLICATE_ENTRY,
        format!(
            "entry {} has the same coordinates as entry {}",
            given(e),
            given(first)
        ),
    )
    .note("entries are counted from 0")
}
