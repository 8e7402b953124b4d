//! Coordinate tuples in storage order, as packing reads them.
//!
//! Levels are built from two questions about sorted tuples: which coordinate a
//! tuple has in a level, and whether it differs from the tuple before it in the
//! levels down to some depth. Two lists answer them:
//!
//! ```text
//! Keys     | i | j | k |    one number a tuple, first level highest: a field is
//!                           cut out, tuples differ if their upper bits do
//! Rows     [ k, i, j ]      one word a coordinate, in the order of the modes
//! ```
//!
//! Keys are what sorting makes; rows are what is given, where it is in order
//! already or a tuple has more than 128 bits.

use std::ops::Range;

use sparsec_parallel::{Key, KeyList, Plain};

use crate::coords::{CoordWord, with_words};
use crate::entries::Entries;

/// Runs an expression with a [`RowList`] of the entries.
macro_rules! with_rows {
    ($entries:expr, $rows:ident => $body:expr) => {
        $crate::coords::with_words!(&$entries.coords, words => match $entries.order() {
            2 => {
                let $rows = words.as_chunks::<2>().0;
                $body
            }
            3 => {
                let $rows = words.as_chunks::<3>().0;
                $body
            }
            order => {
                let $rows = $crate::tuples::WordRows { words: &words[..], order };
                $body
            }
        })
    };
}
pub(crate) use with_rows;

/// Entries that one thread works on at a time.
pub(crate) const GRAIN: usize = 1 << 14;

/// Coordinate tuples in storage order.
pub(crate) trait Tuples: Sync {
    /// How many tuples there are.
    fn len(&self) -> usize;
    /// The coordinate of a tuple in a level.
    fn coord(&self, level: usize) -> impl Fn(usize) -> u64 + Sync + '_;
    /// Whether a tuple differs from the one before it in a level down to
    /// `depth`; not for the first tuple.
    fn differs(&self, depth: usize) -> impl Fn(usize) -> bool + Sync + '_;
}

/// A number that tuples are packed into.
pub(crate) trait Packed: Key + Plain {
    /// This coordinate in the bits from `shift` up.
    fn field(coord: u64, shift: u32) -> Self;
    /// All bits of both.
    fn or(self, other: Self) -> Self;
    /// The bits from `shift` up.
    fn above(self, shift: u32) -> Self;
    /// The coordinate in the bits from `shift` up that are in `mask`.
    fn coord(self, shift: u32, mask: u64) -> u64;
}

macro_rules! packed {
    ($($ty:ty)*) => {$(
        impl Packed for $ty {
            #[inline]
            fn field(coord: u64, shift: u32) -> Self {
                // A field without bits may begin beyond the highest bit.
                (coord as Self).checked_shl(shift).unwrap_or(0)
            }
            #[inline]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline]
            fn above(self, shift: u32) -> Self {
                self.checked_shr(shift).unwrap_or(0)
            }
            #[inline]
            fn coord(self, shift: u32, mask: u64) -> u64 {
                self.above(shift) as u64 & mask
            }
        }
    )*};
}
packed!(u32 u64 u128);

/// Which bits of a key belong to which level.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// The mode of each level.
    modes: Vec<usize>,
    /// Where the field of each level begins.
    shifts: Vec<u32>,
    /// The bits of each field.
    widths: Vec<u32>,
}

impl Layout {
    /// Fields for levels of these modes, as wide as the largest coordinate of
    /// each mode needs.
    pub(crate) fn new(modes: &[usize], largest: &[u64]) -> Self {
        let width = |&mode: &usize| u64::BITS - largest[mode].leading_zeros();
        let widths: Vec<u32> = modes.iter().map(width).collect();
        let mut above: u32 = widths.iter().sum();
        let shift = |width: &u32| {
            above -= width;
            above
        };
        Self {
            modes: modes.to_vec(),
            shifts: widths.iter().map(shift).collect(),
            widths,
        }
    }

    /// How many fields there are.
    pub(crate) fn n_levels(&self) -> usize {
        self.modes.len()
    }

    /// The bits of a tuple.
    pub(crate) fn bits(&self) -> u32 {
        self.widths.iter().sum()
    }

    /// Where the field of each mode begins.
    pub(crate) fn shifts_by_mode(&self) -> Vec<u32> {
        let mut shifts = vec![0; self.modes.len()];
        for (&mode, &shift) in self.modes.iter().zip(&self.shifts) {
            shifts[mode] = shift;
        }
        shifts
    }
}

/// The tuples of entries as keys, made when they are asked for.
pub(crate) struct Packing<'a> {
    pub(crate) entries: &'a Entries,
    /// Where the field of each mode begins.
    pub(crate) shifts: Vec<u32>,
}

impl<K: Packed> KeyList<K> for Packing<'_> {
    fn n_keys(&self) -> usize {
        self.entries.len()
    }

    fn write_keys(&self, range: Range<usize>, to: &mut [K]) {
        let shifts = &self.shifts[..];
        with_words!(&self.entries.coords, words => write_keys(words, shifts, range, to));
    }
}

fn write_keys<K: Packed, C: CoordWord>(
    words: &[C],
    shifts: &[u32],
    range: Range<usize>,
    to: &mut [K],
) {
    let order = shifts.len();
    let words = &words[range.start * order..range.end * order];
    // Without a loop over modes for the orders that are common.
    match *shifts {
        [to_i, to_j] => {
            for (key, &[i, j]) in to.iter_mut().zip(words.as_chunks().0) {
                *key = K::field(i.into(), to_i).or(K::field(j.into(), to_j));
            }
        }
        [to_i, to_j, to_k] => {
            for (key, &[i, j, k]) in to.iter_mut().zip(words.as_chunks().0) {
                let upper = K::field(i.into(), to_i).or(K::field(j.into(), to_j));
                *key = upper.or(K::field(k.into(), to_k));
            }
        }
        _ => {
            for (e, key) in to.iter_mut().enumerate() {
                let fields = words[e * order..(e + 1) * order].iter().zip(shifts);
                *key = fields.fold(K::default(), |key, (&coord, &shift)| {
                    key.or(K::field(coord.into(), shift))
                });
            }
        }
    }
}

/// Tuples packed into numbers, ascending.
pub(crate) struct Keys<'a, K> {
    pub(crate) keys: &'a [K],
    pub(crate) layout: &'a Layout,
}

impl<K: Packed> Tuples for Keys<'_, K> {
    fn len(&self) -> usize {
        self.keys.len()
    }

    fn coord(&self, level: usize) -> impl Fn(usize) -> u64 + Sync + '_ {
        let shift = self.layout.shifts[level];
        let width = self.layout.widths[level];
        let mask = !u64::MAX.checked_shl(width).unwrap_or(0);
        move |e| self.keys[e].coord(shift, mask)
    }

    fn differs(&self, depth: usize) -> impl Fn(usize) -> bool + Sync + '_ {
        let shift = self.layout.shifts[depth];
        move |e| self.keys[e].above(shift) != self.keys[e - 1].above(shift)
    }
}

/// Tuples as they were given, in order when read by these modes.
#[derive(Clone, Debug)]
pub(crate) struct Rows<C> {
    /// How many tuples there are.
    pub(crate) len: usize,
    /// The coordinates, in the order of the modes.
    pub(crate) words: Vec<C>,
    /// The mode of each level.
    pub(crate) modes: Vec<usize>,
}

impl<C: CoordWord> Tuples for &Rows<C> {
    fn len(&self) -> usize {
        self.len
    }

    fn coord(&self, level: usize) -> impl Fn(usize) -> u64 + Sync + '_ {
        let (mode, order) = (self.modes[level], self.modes.len());
        move |e| self.words[e * order + mode].into()
    }

    fn differs(&self, depth: usize) -> impl Fn(usize) -> bool + Sync + '_ {
        let (modes, order) = (&self.modes[..=depth], self.modes.len());
        move |e| {
            let (before, row) = self.words[(e - 1) * order..(e + 1) * order].split_at(order);
            modes.iter().any(|&mode| before[mode] != row[mode])
        }
    }
}

/// The coordinates of entries of one order, with the order known to the
/// compiler where it is small: loops over modes are unrolled then.
pub(crate) trait RowList: Sync {
    /// What holds a coordinate.
    type Word: CoordWord;
    /// The coordinates of entry `e`.
    fn row(&self, e: usize) -> &[Self::Word];
}

impl<C: CoordWord, const N: usize> RowList for &[[C; N]] {
    type Word = C;

    #[inline]
    fn row(&self, e: usize) -> &[C] {
        &self[e]
    }
}

/// Coordinates of entries of any order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WordRows<'a, C> {
    pub(crate) words: &'a [C],
    pub(crate) order: usize,
}

impl<C: CoordWord> RowList for WordRows<'_, C> {
    type Word = C;

    #[inline]
    fn row(&self, e: usize) -> &[C] {
        &self.words[e * self.order..(e + 1) * self.order]
    }
}
