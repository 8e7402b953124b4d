//! Views of `pos` and `crd` arrays, whatever their width.
//!
//! ```
//! use sparsec_tensor::Array;
//! let pos = Array::from_index_vec(vec![0u16, 2, 5]);
//! assert_eq!((pos.as_index().get(2), pos.as_index().width().bits()), (5, 16));
//! ```

use std::fmt;

use sparsec_base::IndexWidth;
use sparsec_parallel::Plain;

/// A `pos` or `crd` array of any width.
#[derive(Clone, Copy)]
pub enum Index<'a> {
    /// Entries of 8 bits.
    W8(&'a [u8]),
    /// Entries of 16 bits.
    W16(&'a [u16]),
    /// Entries of 32 bits.
    W32(&'a [i32]),
    /// Entries of 64 bits.
    W64(&'a [i64]),
}

impl<'a> Index<'a> {
    /// An array without entries.
    pub const EMPTY: Index<'static> = Index::W32(&[]);

    /// The entry at `i`.
    ///
    /// # Panics
    /// If `i` is out of range.
    #[inline]
    pub fn get(self, i: usize) -> i64 {
        match self {
            Self::W8(entries) => entries[i].into(),
            Self::W16(entries) => entries[i].into(),
            Self::W32(entries) => entries[i].into(),
            Self::W64(entries) => entries[i],
        }
    }

    /// The entry at `i` as the number that its bits are without a sign.
    pub(crate) fn unsigned(self, i: usize) -> u64 {
        match self {
            Self::W32(entries) => entries[i].cast_unsigned().into(),
            _ => self.get(i).cast_unsigned(),
        }
    }

    /// The entry at `i` of a checked array, which is never negative.
    #[inline]
    pub(crate) fn at(self, i: usize) -> usize {
        self.get(i) as usize
    }

    /// The segment of a checked `pos` array in which a position lies: the last
    /// one that begins at it or before, since empty ones have none. Where segments have
    /// room behind them or stand in any order, some segment.
    pub(crate) fn segment_of(self, position: usize) -> usize {
        let begins = match self {
            Self::W8(pos) => pos.partition_point(|&p| usize::from(p) <= position),
            Self::W16(pos) => pos.partition_point(|&p| usize::from(p) <= position),
            Self::W32(pos) => pos.partition_point(|&p| p as usize <= position),
            Self::W64(pos) => pos.partition_point(|&p| p as usize <= position),
        };
        begins.saturating_sub(1)
    }

    /// How many entries there are.
    pub fn len(self) -> usize {
        match self {
            Self::W8(entries) => entries.len(),
            Self::W16(entries) => entries.len(),
            Self::W32(entries) => entries.len(),
            Self::W64(entries) => entries.len(),
        }
    }

    /// Whether there is no entry.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The width of the entries.
    pub fn width(self) -> IndexWidth {
        match self {
            Self::W8(_) => IndexWidth::W8,
            Self::W16(_) => IndexWidth::W16,
            Self::W32(_) => IndexWidth::W32,
            Self::W64(_) => IndexWidth::W64,
        }
    }

    /// The entries.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = i64> + ExactSizeIterator + use<'a> {
        (0..self.len()).map(move |i| self.get(i))
    }

    /// The entries as a vector.
    pub fn to_vec(self) -> Vec<i64> {
        self.iter().collect()
    }
}

impl fmt::Debug for Index<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl PartialEq for Index<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<const N: usize> PartialEq<[i64; N]> for Index<'_> {
    fn eq(&self, other: &[i64; N]) -> bool {
        self.iter().eq(other.iter().copied())
    }
}

impl PartialEq<Vec<i64>> for Index<'_> {
    fn eq(&self, other: &Vec<i64>) -> bool {
        self.iter().eq(other.iter().copied())
    }
}

/// A Rust integer that positions and coordinates are kept in.
///
/// Those without a sign that are as wide as an index type with one are read as
/// that: a number too large for it shows as negative, which checks refuse.
pub trait IndexInteger: Plain {
    /// The width of the index array that a slice of these is.
    const WIDTH: IndexWidth;
}

macro_rules! index_integer {
    ($($ty:ty: $width:expr,)*) => {$(
        impl IndexInteger for $ty {
            const WIDTH: IndexWidth = $width;
        }
    )*};
}

index_integer! {
    u8: IndexWidth::W8,
    u16: IndexWidth::W16,
    i32: IndexWidth::W32,
    u32: IndexWidth::W32,
    i64: IndexWidth::W64,
    u64: IndexWidth::W64,
    isize: POINTER_WIDTH,
    usize: POINTER_WIDTH,
}

const POINTER_WIDTH: IndexWidth = if size_of::<usize>() == 8 {
    IndexWidth::W64
} else {
    IndexWidth::W32
};
