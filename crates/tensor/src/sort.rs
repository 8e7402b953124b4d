//! Entries in storage order, each coordinate tuple once.
//!
//! Packing wants the entries sorted by the coordinate of the first level, then
//! of the second, and so on. Each tuple becomes one number, whose fields are as
//! wide as the largest coordinate of the mode needs, and the numbers are radix
//! sorted together with the values:
//!
//! ```text
//! (i, j, k), stored k first:   | k | i | j |   32, 64 or 128 bits,  value
//! ```
//!
//! From then on tuples are read from the numbers; the list of coordinates is
//! given back. Entries that are in order already stay where they are; tuples of
//! more than 128 bits are compared where they lie.
//!
//! Entries at equal coordinates are combined in the order in which they were
//! given, so the result does not depend on the number of threads.

use std::cmp::Ordering;

use sparsec_base::cancel::{Steps, polled};
use sparsec_base::{Diagnostic, Result, code};
use sparsec_format::Curve;
use sparsec_parallel::{Memory, map, ranges, sort_pairs};

use crate::alloc::with_room;
use crate::array::Array;
use crate::coords::{Coords, Words};
use crate::duplicates::{Combine, Duplicates};
use crate::entries::Entries;
use crate::tuples::{GRAIN, Keys, Layout, Packed, Packing, RowList, Rows, Tuples, with_rows};
use crate::with_element;

/// Entries in storage order, all tuples distinct.
pub(crate) struct Sorted {
    pub(crate) list: List,
    /// The values, one an entry.
    pub(crate) values: Array,
}

/// The tuples of sorted entries.
pub(crate) enum List {
    /// Numbers of 32 bits.
    Keys32(Memory, Layout),
    /// Numbers of 64 bits.
    Keys64(Memory, Layout),
    /// Numbers of 128 bits.
    Keys128(Memory, Layout),
    /// Coordinates of 32 bits as they were given.
    Rows32(Rows<u32>),
    /// Coordinates of 64 bits as they were given.
    Rows64(Rows<u64>),
}

/// Runs an expression with the tuples of a list, as what implements [`Tuples`].
macro_rules! with_tuples {
    ($list:expr, $tuples:ident => $body:expr) => {
        match &$list {
            $crate::sort::List::Keys32(keys, layout) => {
                let keys = keys.as_slice::<u32>();
                let $tuples = $crate::tuples::Keys { keys, layout };
                $body
            }
            $crate::sort::List::Keys64(keys, layout) => {
                let keys = keys.as_slice::<u64>();
                let $tuples = $crate::tuples::Keys { keys, layout };
                $body
            }
            $crate::sort::List::Keys128(keys, layout) => {
                let keys = keys.as_slice::<u128>();
                let $tuples = $crate::tuples::Keys { keys, layout };
                $body
            }
            $crate::sort::List::Rows32(rows) => {
                let $tuples = rows;
                $body
            }
            $crate::sort::List::Rows64(rows) => {
                let $tuples = rows;
                $body
            }
        }
    };
}
pub(crate) use with_tuples;

impl List {
    /// Coordinates that are in order when read by these modes.
    fn rows(coords: Coords, len: usize, modes: &[usize]) -> Self {
        let modes = modes.to_vec();
        match coords.0 {
            Words::Narrow(words) => Self::Rows32(Rows { len, words, modes }),
            Words::Wide(words) => Self::Rows64(Rows { len, words, modes }),
        }
    }
}

impl Sorted {
    /// The same as entries, whose tuples are in the order of the modes given.
    ///
    /// # Errors
    /// `E0407` when memory is out.
    pub(crate) fn into_entries(self, extents: &[u64], modes: &[usize]) -> Result<Entries> {
        let coords = match self.list {
            List::Rows32(rows) => Coords::narrow(rows.words),
            List::Rows64(rows) => rows.words.into(),
            list => with_tuples!(list, tuples => rows_of(&tuples, modes)?.into()),
        };
        Ok(Entries {
            extents: extents.to_vec(),
            coords,
            values: self.values,
        })
    }
}

fn rows_of(tuples: &impl Tuples, modes: &[usize]) -> Result<Vec<u64>> {
    let (n, order) = (tuples.len(), modes.len());
    let mut coords = crate::alloc::filled(n * order, || 0)?;
    for (level, &mode) in modes.iter().enumerate() {
        let coord = tuples.coord(level);
        let column = coords[mode..].iter_mut().step_by(order);
        for (e, to) in polled(column.enumerate()) {
            *to = coord(e);
        }
    }
    Ok(coords)
}

/// Sorts entries by the modes given, first one first, and combines duplicates.
///
/// # Errors
/// `E0402` where the lists do not fit together, `E0401` for the first entry
/// outside the extents, `E0408` for a duplicate that is refused, `E0407` where
/// memory is out.
pub(crate) fn sort(entries: Entries, modes: &[usize], duplicates: Duplicates) -> Result<Sorted> {
    entries.check_lengths()?;
    let survey = survey(&entries, modes)?;
    if survey.ascending {
        return Ok(Sorted {
            list: List::rows(entries.coords, entries.values.len(), modes),
            values: entries.values,
        });
    }
    let layout = Layout::new(modes, &survey.largest);
    let (list, values) = match layout.bits() {
        0..=32 => {
            let (keys, values) = by_keys::<u32>(entries, &layout, duplicates)?;
            (List::Keys32(keys, layout), values)
        }
        33..=64 => {
            let (keys, values) = by_keys::<u64>(entries, &layout, duplicates)?;
            (List::Keys64(keys, layout), values)
        }
        65..=128 => {
            let (keys, values) = by_keys::<u128>(entries, &layout, duplicates)?;
            (List::Keys128(keys, layout), values)
        }
        _ => by_comparing(&entries, modes, duplicates)?,
    };
    Ok(Sorted { list, values })
}

/// Sorts entries along a curve, and combines duplicates.
///
/// # Errors
/// As [`sort`].
pub(crate) fn sort_along(
    curve: &Curve,
    entries: Entries,
    duplicates: Duplicates,
) -> Result<Sorted> {
    let extents = entries.extents.clone();
    let modes: Vec<usize> = (0..extents.len()).collect();
    let entries = sort(entries, &modes, duplicates)?.into_entries(&extents, &modes)?;
    let (coords, n_modes) = (entries.coords.wide(), modes.len());
    let tuple = |e: usize| &coords[e * n_modes..][..n_modes];
    let mut keys = with_room(entries.len())?;
    keys.extend(polled(0..entries.len()).map(|e| curve.key(tuple(e))));
    let mut numbers = with_room(entries.len())?;
    numbers.extend(0..entries.len() as i64);
    let keyed = Entries {
        extents: vec![u64::MAX],
        coords: keys.into(),
        values: Array::from_vec(numbers),
    };
    let order = sort(keyed, &[0], Duplicates::First)?;
    let order = order.values.slice::<i64>();
    let entries = entries.in_order(|place| order[place] as usize)?;
    Ok(Sorted {
        list: List::rows(entries.coords, entries.values.len(), &modes),
        values: entries.values,
    })
}

/// What there is to know of entries before they are sorted.
struct Survey {
    /// The largest coordinate of each mode.
    largest: Vec<u64>,
    /// Whether all are in order already, and distinct.
    ascending: bool,
}

/// Looks at every entry once; an error for the first one outside the extents.
fn survey(entries: &Entries, modes: &[usize]) -> Result<Survey> {
    let parts = with_rows!(entries, rows => map(ranges(entries.len(), GRAIN), |range| {
        survey_part(rows, range, &entries.extents, modes)
    }));
    let mut all = Survey {
        largest: vec![0; entries.order()],
        ascending: true,
    };
    for part in parts {
        let part = part.map_err(|(e, mode)| outside(entries, e, mode))?;
        all.ascending &= part.ascending;
        for (all, part) in all.largest.iter_mut().zip(part.largest) {
            *all = part.max(*all);
        }
    }
    Ok(all)
}

fn survey_part(
    rows: impl RowList,
    range: std::ops::Range<usize>,
    extents: &[u64],
    modes: &[usize],
) -> std::result::Result<Survey, (usize, usize)> {
    let mut largest = vec![0; extents.len()];
    for e in range.clone() {
        for (all, &coord) in largest.iter_mut().zip(rows.row(e)) {
            *all = (*all).max(coord.into());
        }
    }
    if largest.iter().zip(extents).any(|(c, extent)| c >= extent) {
        for e in range.clone() {
            let mut coords = rows.row(e).iter().zip(extents);
            if let Some(mode) = coords.position(|(&c, &extent)| c.into() >= extent) {
                return Err((e, mode));
            }
        }
    }
    let mut pairs = range.start.max(1)..range.end;
    let ascending = pairs.all(|e| {
        let (before, row) = (rows.row(e - 1), rows.row(e));
        let unequal = modes.iter().find(|&&mode| before[mode] != row[mode]);
        unequal.is_some_and(|&mode| before[mode] < row[mode])
    });
    Ok(Survey { largest, ascending })
}

fn outside(entries: &Entries, e: usize, mode: usize) -> Diagnostic {
    Diagnostic::new(
        code::OUT_OF_BOUNDS,
        format!(
            "entry {e} has coordinate {} in mode {mode}, whose extent is {}",
            entries.coords(e).at(mode),
            entries.extents[mode]
        ),
    )
    .note("entries, modes and coordinates are counted from 0")
    .help("correct the coordinate, or state a larger extent")
}

/// Sorts tuples packed into keys.
fn by_keys<K: Packed>(
    entries: Entries,
    layout: &Layout,
    duplicates: Duplicates,
) -> Result<(Memory, Array)> {
    let packing = Packing {
        entries: &entries,
        shifts: layout.shifts_by_mode(),
    };
    let (keys, values) = with_element!(entries.element(), T => {
        sort_values::<K, T>(&packing, &entries.values, layout.bits(), duplicates)?
    });
    let tuples = Keys {
        keys: keys.as_slice::<K>(),
        layout,
    };
    if duplicates == Duplicates::Refuse && has_repeats(&tuples, layout.n_levels()) {
        let numbers: Vec<u64> = (0..entries.len() as u64).collect();
        let pairs = sort_pairs::<K, u64>(&packing, &numbers, layout.bits(), None)?;
        let repeats = |e: usize| pairs.keys()[e] == pairs.keys()[e - 1];
        return Err(refused(numbers.len(), repeats, |e| {
            pairs.values()[e] as usize
        }));
    }
    Ok((keys, values))
}

fn sort_values<K: Packed, T: Combine>(
    keys: &Packing<'_>,
    values: &Array,
    bits: u32,
    duplicates: Duplicates,
) -> Result<(Memory, Array)> {
    let rule = T::combine(duplicates);
    let rule = rule.map(|rule| move |a, b| rule(T::of_bits(a), T::of_bits(b)).bits());
    let combine = rule.as_ref().map(|rule| rule as _);
    let pairs = sort_pairs::<K, _>(keys, values.as_plain::<T::Bits>(), bits, combine)?;
    let (sorted, values) = pairs.into_parts();
    Ok((sorted, Array::new(T::TYPE, values)))
}

fn has_repeats(tuples: &impl Tuples, n_levels: usize) -> bool {
    let n = tuples.len();
    let Some(last) = n_levels.checked_sub(1) else {
        return n > 1;
    };
    let differs = tuples.differs(last);
    let parts = map(ranges(n, GRAIN), |range| {
        (range.start.max(1)..range.end).any(|e| !differs(e))
    });
    parts.contains(&true)
}

/// Sorts tuples that have too many bits to pack.
fn by_comparing(
    entries: &Entries,
    modes: &[usize],
    duplicates: Duplicates,
) -> Result<(List, Array)> {
    let compare = |a: usize, b: usize| {
        let (a, b) = (entries.coords(a), entries.coords(b));
        let compared = modes.iter().map(|&mode| a.at(mode).cmp(&b.at(mode)));
        compared.fold(Ordering::Equal, Ordering::then)
    };
    let mut numbers = with_room(entries.len())?;
    numbers.extend(0..entries.len());
    let mut steps = Steps::default();
    numbers.sort_by(|&a, &b| {
        steps.step();
        compare(a, b)
    });
    let repeats = |e: usize| compare(numbers[e - 1], numbers[e]).is_eq();
    if duplicates == Duplicates::Refuse && (1..numbers.len()).any(repeats) {
        return Err(refused(numbers.len(), repeats, |e| numbers[e]));
    }
    let mut kept = with_room(entries.len())?;
    let values = with_element!(entries.element(), T => {
        let from = entries.values.slice::<T>();
        let combine = T::combine(duplicates);
        let mut values: Vec<T> = with_room(from.len())?;
        for (e, &number) in polled(numbers.iter().enumerate()) {
            match (values.last_mut(), combine) {
                (Some(last), Some(combine)) if repeats(e) => *last = combine(*last, from[number]),
                _ => {
                    kept.push(number);
                    values.push(from[number]);
                }
            }
        }
        Array::from_vec(values)
    });
    let coords = entries.coords.numbered(entries.order(), &kept)?;
    Ok((List::rows(coords, kept.len(), modes), values))
}

/// The duplicate that came first among `n` entries as they were given. In
/// sorted order, `repeats` says that an entry is equal to the one before it, and
/// `number` which one it was.
fn refused(
    n: usize,
    repeats: impl Fn(usize) -> bool,
    number: impl Fn(usize) -> usize,
) -> Diagnostic {
    let repeated = (1..n).filter(|&e| repeats(e));
    let e = repeated.min_by_key(|&e| number(e)).unwrap_or(0);
    let first = (1..=e).rev().find(|&e| !repeats(e)).unwrap_or(0);
    Diagnostic::new(
        code::DUPLICATE_ENTRY,
        format!(
            "entry {} has the same coordinates as entry {}",
            number(e),
            number(first)
        ),
    )
    .note("entries are counted from 0")
    .help("leave one of them out, or say how they are combined, as by `Duplicates::Add`")
}
