//! Sorting lists of coordinates inside a kernel.
//!
//! A workspace collects the coordinates of one fiber in the order in which the
//! operands gave them; the list is often short and often sorted already. So:
//!
//! | list                       | sorted by                                       |
//! |----------------------------|-------------------------------------------------|
//! | ascending already          | one look                                        |
//! | shorter than [`RADIX_FROM`] | the standard library's quicksort (insertion below 20) |
//! | longer                     | digits of 11 bits, lowest first, as many as the largest coordinate has |
//! | as long, with entries that move along | parts of the same highest bits ([`parts`]) |
//! | any, where memory is out   | nothing more is asked for: the rows above that need scratch are left out |

mod parts;

use std::iter::zip;

use parts::Pair;
use sparsec_parallel::Memory;
use sparsec_parallel::fault::{self, Fault};

/// Lists of this many entries and more are sorted by digits.
const RADIX_FROM: usize = 512;
/// Bits of one digit.
const DIGIT: u32 = 11;
/// Values of one digit.
const VALUES: usize = 1 << DIGIT;

/// Memory to sort long lists in, kept from one list to the next.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) narrow: Vec<i32>,
    pub(crate) wide: Vec<i64>,
    /// Of twice as many pairs as a list has. It comes from pages that were given back, and returns there:
    /// to touch new ones takes longer than to sort.
    pairs: Memory,
}

impl Scratch {
    /// Room for `n` pairs, and for as many again, with anything in it.
    fn pairs(&mut self, n: usize) -> Option<(&mut [Pair], &mut [Pair])> {
        let bytes = n.checked_mul(2 * size_of::<Pair>())?;
        if self.pairs.as_slice::<u8>().len() < bytes {
            self.pairs = Memory::new();
            self.pairs = Memory::for_writing(bytes).ok()?;
        }
        let (pairs, _) = self.pairs.as_mut_slice::<i64>().as_chunks_mut();
        let (pairs, moved) = pairs.split_at_mut(n);
        Some((pairs, &mut moved[..n]))
    }
}

/// An integer that coordinates are stored in.
pub(crate) trait Coordinate: Copy + Ord + Default {
    /// The bits, for numbers that are not negative.
    fn bits(self) -> u64;
}

impl Coordinate for i32 {
    fn bits(self) -> u64 {
        self as u32 as u64
    }
}

impl Coordinate for i64 {
    fn bits(self) -> u64 {
        self as u64
    }
}

/// Sorts `keys`, ascending, and moves the entries of `along` as those of `keys`.
/// Equal keys stay in their order.
pub(crate) fn sort_pairs(keys: &mut [i64], along: &mut [i64], scratch: &mut Scratch) {
    if keys.is_sorted() {
        return;
    }
    let n = keys.len();
    may_panic();
    let Some((pairs, moved)) = scratch.pairs(n) else {
        return sort_in_place(keys, along);
    };
    let is_negative = keys.iter().fold(0, |any, key| any | key) < 0;
    if n >= RADIX_FROM && !is_negative {
        return parts::sort(keys, along, pairs, moved);
    }
    // With the places, equal keys differ, and no sort has to be stable.
    for (pair, (key, place)) in zip(&mut *pairs, zip(&*keys, 0..)) {
        *pair = [*key, place];
    }
    pairs.sort_unstable();
    for [_, from] in &mut *pairs {
        *from = along[*from as usize];
    }
    for (pair, (key, entry)) in zip(pairs, zip(keys, along)) {
        [*key, *entry] = *pair;
    }
}

/// As [`sort_pairs`], without memory: merges halves by rotations.
fn sort_in_place(keys: &mut [i64], along: &mut [i64]) {
    let middle = keys.len() / 2;
    if middle == 0 {
        return;
    }
    let (low, high) = keys.split_at_mut(middle);
    let (low_along, high_along) = along.split_at_mut(middle);
    sort_in_place(low, low_along);
    sort_in_place(high, high_along);
    merge_in_place(keys, along, middle);
}

/// Merges `..middle` and `middle..`, each of which ascends: exchanges the end of
/// one with the beginning of the other, and merges what is then left and right.
fn merge_in_place(keys: &mut [i64], along: &mut [i64], middle: usize) {
    let n = keys.len();
    if middle == 0 || middle == n || keys[middle - 1] <= keys[middle] {
        return;
    }
    let (low, high) = keys.split_at(middle);
    let (from, to) = if low.len() >= high.len() {
        let from = low.len() / 2;
        (from, middle + high.partition_point(|key| *key < low[from]))
    } else {
        let to = (high.len() - 1) / 2;
        (low.partition_point(|key| *key <= high[to]), middle + to + 1)
    };
    keys[from..to].rotate_left(middle - from);
    along[from..to].rotate_left(middle - from);
    let split = from + (to - middle);
    let (low, high) = keys.split_at_mut(split);
    let (low_along, high_along) = along.split_at_mut(split);
    merge_in_place(low, low_along, from);
    merge_in_place(high, high_along, middle - from);
}

/// How many digits the largest key has.
fn n_digits<T: Coordinate>(most: T) -> u32 {
    most.bits().checked_ilog2().map_or(1, |top| top / DIGIT + 1)
}

/// Whether sorting by digits is: each costs a pass over the list and one over
/// its counters.
fn is_worth(n: usize, digits: u32) -> bool {
    n >= RADIX_FROM && digits <= n.ilog2() / 3
}

/// Sorts, ascending. `scratch` may hold anything.
pub(crate) fn sort<T: Coordinate>(entries: &mut [T], scratch: &mut Vec<T>) {
    if entries.is_sorted() {
        return;
    }
    may_panic();
    let n = entries.len();
    let (mut least, mut most) = (entries[0], entries[0]);
    for &entry in entries.iter() {
        least = least.min(entry);
        most = most.max(entry);
    }
    let digits = n_digits(most);
    let room = is_worth(n, digits) && least >= T::default() && reserve(scratch, n);
    if !room {
        entries.sort_unstable();
        return;
    }
    let scratch = &mut scratch[..n];
    sort_by_digits(entries, scratch, digits);
}

/// Sorts by digits, the lowest first; `scratch` is as long, and may hold anything.
fn sort_by_digits<T: Coordinate>(entries: &mut [T], scratch: &mut [T], digits: u32) {
    for digit in 0..digits {
        if digit % 2 == 0 {
            pass(entries, scratch, digit * DIGIT);
        } else {
            pass(scratch, entries, digit * DIGIT);
        }
    }
    if digits % 2 == 1 {
        entries.copy_from_slice(scratch);
    }
}

/// Moves the entries of `from` to `to`, by one digit.
fn pass<T: Coordinate>(from: &[T], to: &mut [T], shift: u32) {
    let digit = |entry: T| (entry.bits() >> shift) as usize % VALUES;
    let mut next = [0usize; VALUES];
    for &entry in from {
        next[digit(entry)] += 1;
    }
    let mut sum = 0;
    for slot in &mut next {
        sum += std::mem::replace(slot, sum);
    }
    for &entry in from {
        let slot = &mut next[digit(entry)];
        to[*slot] = entry;
        *slot += 1;
    }
}

/// Makes `scratch` at least `n` long, if there is memory for it.
fn reserve<T: Coordinate>(scratch: &mut Vec<T>, n: usize) -> bool {
    if scratch.len() < n {
        let more = n - scratch.len();
        if !has_room(scratch, more) {
            return false;
        }
        scratch.resize(n, T::default());
    }
    true
}

/// Whether `more` entries fit, now or with more memory.
fn has_room<T>(list: &mut Vec<T>, more: usize) -> bool {
    !fault::strikes(Fault::Memory) && list.try_reserve(more).is_ok()
}

/// Where tests have a sort panic.
fn may_panic() {
    assert!(!fault::strikes(Fault::Panic), "a sort panics");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Coordinate + std::fmt::Debug>(make: impl Fn(u64) -> T) {
        let mut scratch = Vec::new();
        let mut seed = 7u64;
        for n in [0usize, 1, 2, 19, 511, 512, 5000, 60_000] {
            let mut list: Vec<T> = (0..n)
                .map(|_| {
                    seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1);
                    make(seed >> 20)
                })
                .collect();
            let mut expect = list.clone();
            expect.sort();
            sort(&mut list, &mut scratch);
            assert_eq!(list, expect);
        }
    }

    #[test]
    fn what_moves_along_stays_with_its_key() {
        let mut scratch = Scratch::default();
        let mut seed = 7u64;
        for (n, modulus) in [
            (0, 1),
            (1, 1),
            (20, 5),
            (511, 90),
            (5000, 70),
            (60_000, 1 << 40),
            (60_000, 1 << 61),
            (600_000, 1 << 40),
        ] {
            let keys: Vec<i64> = (0..n)
                .map(|_| {
                    seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1);
                    (seed >> 20) as i64 % modulus
                })
                .collect();
            let mut expect: Vec<(i64, i64)> = keys.iter().copied().zip(0..).collect();
            expect.sort();
            let unsorted = keys.clone();
            let (mut sorted, mut along) = (keys, (0..n as i64).collect::<Vec<_>>());
            sort_pairs(&mut sorted, &mut along, &mut scratch);
            assert!(sorted.into_iter().zip(along).eq(expect.iter().copied()));
            let (mut sorted, mut along) = (unsorted, (0..n as i64).collect::<Vec<_>>());
            sort_in_place(&mut sorted, &mut along);
            assert!(sorted.into_iter().zip(along).eq(expect));
        }
    }

    #[test]
    fn sorts_lists_of_any_length_and_range() {
        check(|r| (r % 1000) as i32);
        check(|r| (r % (1 << 31)) as i32);
        check(|r| r as i32);
        check(|r| (r % 100_000) as i64);
        check(|r| (r << 20) as i64);
        check(|_| 5i32);
    }
}
