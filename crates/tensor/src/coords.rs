//! Lists of coordinates, in words no wider than they need be.
//!
//! A file of ten million entries of a matrix has twenty million coordinates.
//! Nearly always 32 bits hold each, and half the memory is half of what is
//! touched, sorted and copied. Who makes a list chooses the words; who reads it
//! sees numbers of 64 bits. Loops over many entries are written once for both
//! with [`with_words!`].

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::TryReserveError;
use std::fmt;

use sparsec_base::Result;

use crate::alloc::with_room;

/// Coordinates one after another, each of 32 or of 64 bits.
///
/// Lists are equal whose coordinates are, in words of whatever width.
///
/// ```
/// use sparsec_tensor::Coords;
/// let narrow = Coords::narrow(vec![0, 3, 1]);
/// assert_eq!(narrow.get(1), 3);
/// assert_eq!(narrow, Coords::from(vec![0, 3, 1]));
/// assert_eq!(narrow, [0, 3, 1]);
/// ```
#[derive(Clone)]
pub struct Coords(pub(crate) Words);

/// The words of a list of coordinates.
#[derive(Clone)]
pub(crate) enum Words {
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

/// A word that holds a coordinate.
pub trait CoordWord: Copy + Ord + Default + Send + Sync + Into<u64> + fmt::Debug {
    /// The coordinate in such a word: its lowest bits, which are all it has.
    fn of(coord: u64) -> Self;
    /// A list of such words as coordinates.
    fn list(words: Vec<Self>) -> Coords;
}

impl CoordWord for u32 {
    #[inline]
    fn of(coord: u64) -> Self {
        coord as Self
    }

    fn list(words: Vec<Self>) -> Coords {
        Coords::narrow(words)
    }
}

impl CoordWord for u64 {
    #[inline]
    fn of(coord: u64) -> Self {
        coord
    }

    fn list(words: Vec<Self>) -> Coords {
        words.into()
    }
}

/// Runs an expression with the words of a list, a `Vec` of either width.
macro_rules! with_words {
    (&$coords:expr, $words:ident => $body:expr) => {
        match &$coords.0 {
            $crate::coords::Words::Narrow($words) => $body,
            $crate::coords::Words::Wide($words) => $body,
        }
    };
}
pub(crate) use with_words;

impl Coords {
    /// A list in words of 32 bits.
    pub fn narrow(words: Vec<u32>) -> Self {
        Self(Words::Narrow(words))
    }

    /// How many coordinates there are.
    pub fn len(&self) -> usize {
        match &self.0 {
            Words::Narrow(words) => words.len(),
            Words::Wide(words) => words.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Coordinate number `at`.
    ///
    /// # Panics
    /// If there are not so many.
    #[inline]
    pub fn get(&self, at: usize) -> u64 {
        match &self.0 {
            Words::Narrow(words) => words[at].into(),
            Words::Wide(words) => words[at],
        }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        (0..self.len()).map(|at| self.get(at))
    }

    /// The coordinates from `at` on, as many as a tuple of `order` has.
    ///
    /// # Panics
    /// If there are not so many.
    #[inline]
    pub fn tuple(&self, at: usize, order: usize) -> Tuple<'_> {
        match &self.0 {
            Words::Narrow(words) => Tuple::Narrow(&words[at..at + order]),
            Words::Wide(words) => Tuple::Wide(&words[at..at + order]),
        }
    }

    /// Takes room for more coordinates.
    ///
    /// # Errors
    /// Where memory is out; then the list is as it was.
    pub fn try_reserve_exact(&mut self, more: usize) -> std::result::Result<(), TryReserveError> {
        match &mut self.0 {
            Words::Narrow(words) => words.try_reserve_exact(more),
            Words::Wide(words) => words.try_reserve_exact(more),
        }
    }

    /// Appends a coordinate. A list of words of 32 bits becomes one of 64 with
    /// the first that needs them.
    pub fn push(&mut self, coord: u64) {
        match (&mut self.0, u32::try_from(coord)) {
            (Words::Narrow(words), Ok(word)) => words.push(word),
            (Words::Wide(words), _) => words.push(coord),
            (Words::Narrow(_), Err(_)) => {
                let mut words = self.wide().into_owned();
                words.push(coord);
                *self = words.into();
            }
        }
    }

    /// The tuples with these numbers, each of as many coordinates as `order` says.
    ///
    /// # Errors
    /// `E0407` when memory is out.
    pub(crate) fn numbered(&self, order: usize, numbers: &[usize]) -> Result<Self> {
        with_words!(&*self, words => numbered(words, order, numbers))
    }

    /// The list in words of 64 bits; a copy where it is not.
    pub fn wide(&self) -> Cow<'_, [u64]> {
        match &self.0 {
            Words::Narrow(words) => words.iter().map(|&word| word.into()).collect(),
            Words::Wide(words) => Cow::Borrowed(words),
        }
    }
}

fn numbered<C: CoordWord>(words: &[C], order: usize, numbers: &[usize]) -> Result<Coords> {
    let mut chosen = with_room(numbers.len().saturating_mul(order))?;
    for &number in numbers {
        chosen.extend_from_slice(&words[number * order..(number + 1) * order]);
    }
    Ok(C::list(chosen))
}

impl From<Vec<u64>> for Coords {
    fn from(words: Vec<u64>) -> Self {
        Self(Words::Wide(words))
    }
}

impl<const N: usize> From<[u64; N]> for Coords {
    fn from(coords: [u64; N]) -> Self {
        coords.to_vec().into()
    }
}

impl FromIterator<u64> for Coords {
    fn from_iter<I: IntoIterator<Item = u64>>(coords: I) -> Self {
        coords.into_iter().collect::<Vec<u64>>().into()
    }
}

impl Default for Coords {
    fn default() -> Self {
        Vec::<u64>::new().into()
    }
}

impl PartialEq for Coords {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Coords {}

impl PartialEq<[u64]> for Coords {
    fn eq(&self, other: &[u64]) -> bool {
        self.iter().eq(other.iter().copied())
    }
}

impl<const N: usize> PartialEq<[u64; N]> for Coords {
    fn eq(&self, other: &[u64; N]) -> bool {
        *self == other[..]
    }
}

impl PartialEq<Vec<u64>> for Coords {
    fn eq(&self, other: &Vec<u64>) -> bool {
        *self == other[..]
    }
}

impl fmt::Debug for Coords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The coordinates of one entry, one a mode.
///
/// Tuples are compared coordinate by coordinate, the first that differs tells.
#[derive(Clone, Copy)]
pub enum Tuple<'a> {
    /// In words of 32 bits.
    Narrow(&'a [u32]),
    /// In words of 64 bits.
    Wide(&'a [u64]),
}

impl Tuple<'_> {
    /// The coordinate of a mode.
    ///
    /// # Panics
    /// If there is no such mode.
    #[inline]
    pub fn at(self, mode: usize) -> u64 {
        match self {
            Self::Narrow(words) => words[mode].into(),
            Self::Wide(words) => words[mode],
        }
    }

    /// How many coordinates there are.
    pub fn order(self) -> usize {
        match self {
            Self::Narrow(words) => words.len(),
            Self::Wide(words) => words.len(),
        }
    }

    /// The coordinates.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        (0..self.order()).map(|mode| self.at(mode))
    }

    /// The coordinates as a list.
    pub fn to_vec(self) -> Vec<u64> {
        self.iter().collect()
    }
}

impl PartialEq for Tuple<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Tuple<'_> {}

impl PartialOrd for Tuple<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Tuple<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.iter().cmp(other.iter())
    }
}

impl PartialEq<[u64]> for Tuple<'_> {
    fn eq(&self, other: &[u64]) -> bool {
        self.iter().eq(other.iter().copied())
    }
}

impl<const N: usize> PartialEq<[u64; N]> for Tuple<'_> {
    fn eq(&self, other: &[u64; N]) -> bool {
        *self == other[..]
    }
}

impl fmt::Debug for Tuple<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_widen_with_the_first_word_that_needs_it() {
        let mut coords = Coords::narrow(vec![7]);
        coords.push(u64::from(u32::MAX));
        assert!(matches!(coords.0, Words::Narrow(_)));
        coords.push(1 << 32);
        assert!(matches!(coords.0, Words::Wide(_)));
        assert_eq!(coords, [7, u64::from(u32::MAX), 1 << 32]);
        assert_eq!(coords.tuple(1, 2), [u64::from(u32::MAX), 1 << 32]);
    }

    #[test]
    fn tuples_are_compared_whatever_their_words() {
        let (narrow, wide) = (Coords::narrow(vec![1, 2, 1]), Coords::from([1, 2, 3]));
        assert!(narrow.tuple(0, 3) < wide.tuple(0, 3));
        assert_eq!(narrow.tuple(0, 2), wide.tuple(0, 2));
        assert_ne!(narrow, wide);
        assert_eq!(format!("{narrow:?}"), format!("{:?}", [1, 2, 1]));
    }
}
