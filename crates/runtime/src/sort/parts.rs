//! Long lists of keys with entries, by their highest bits first.
//!
//! Sorting by the lowest digit first goes over the whole list once for each digit, which is slow
//! where the list lies outside of the caches. Parts whose keys begin with the same bits are sorted
//! apart from one another, so the passes over a part find it in a cache:
//!
//! ```text
//! list                               20 bits differ
//!   ├─► part of 0x00…  ──► …         12 bits at most differ
//!   ├─► part of 0x01…                more than CACHED entries: parted again
//!   │     ├─► part of 0x010…         at most CACHED: lowest digit first
//!   │     └─► …
//!   └─► …
//! ```
//!
//! Bits in which all keys of a part agree are left out. Measured on random keys of 55 bits on one
//! thread: 1 M entries take 15 ns each in place of 30, 4 M entries 15 in place of 34.

use std::iter::zip;

use sparsec_parallel::{map, split_mut};

/// A key, which is not negative, and the number that moves with it.
pub(super) type Pair = [i64; 2];

const DIGIT: u32 = 8;
const VALUES: usize = 1 << DIGIT;
/// The digits of a key.
const DIGITS: usize = (u64::BITS / DIGIT) as usize;
/// So many entries and their copy lie in a cache of 1 MiB.
const CACHED: usize = 1 << 15;
/// Fewer entries are sorted by insertion.
const INSERTED: usize = 48;

/// Sorts the pairs of `list` by their keys; equal keys stay in their order. `other` is as long, and
/// may hold anything. Threads sort parts at once.
pub(super) fn sort(list: &mut [Pair], other: &mut [Pair]) {
    let Some(ends) = part(list, other) else {
        return;
    };
    let lengths =
        || (0..VALUES).map(|digit| ends[digit] - digit.checked_sub(1).map_or(0, |d| ends[d]));
    let parts = zip(split_mut(other, lengths()), split_mut(list, lengths()));
    map(parts.collect(), |(from, to)| sort_into(from, to, false));
}

/// As [`sort`]; the result is in `list` if it stays there, and in `other` if not.
fn sort_into(list: &mut [Pair], other: &mut [Pair], stays: bool) {
    if list.len() < INSERTED {
        insert(list);
    } else if list.len() <= CACHED {
        return sort_by_digits(list, other, stays);
    } else if let Some(ends) = part(list, other) {
        let mut begin = 0;
        for end in ends {
            sort_into(&mut other[begin..end], &mut list[begin..end], !stays);
            begin = end;
        }
        return;
    }
    if !stays {
        other.copy_from_slice(list);
    }
}

/// Moves pairs to `to` by the highest bits in which keys differ, and returns where the pairs of each
/// digit end; `None` if all keys are the same.
fn part(from: &[Pair], to: &mut [Pair]) -> Option<[usize; VALUES]> {
    let shift = differing(from).checked_ilog2()?.saturating_sub(DIGIT - 1);
    let mut next = [0; VALUES];
    for &pair in from {
        next[digit(pair, shift)] += 1;
    }
    scatter(from, to, shift, &mut next);
    Some(next)
}

/// Sorts by the lowest digits first; as [`sort_into`].
fn sort_by_digits(list: &mut [Pair], other: &mut [Pair], stays: bool) {
    let mut shifts = [0; DIGITS];
    let mut n_digits = 0;
    let mut left = differing(list);
    while left != 0 {
        let shift = left.trailing_zeros();
        shifts[n_digits] = shift;
        n_digits += 1;
        left &= u64::MAX.checked_shl(shift + DIGIT).unwrap_or(0);
    }
    let mut counts = [[0; VALUES]; DIGITS];
    for &pair in &*list {
        for (counts, shift) in zip(&mut counts, &shifts[..n_digits]) {
            counts[digit(pair, *shift)] += 1;
        }
    }
    let (mut from, mut to) = (list, other);
    for (counts, shift) in zip(&mut counts, &shifts[..n_digits]) {
        scatter(from, to, *shift, counts);
        std::mem::swap(&mut from, &mut to);
    }
    let is_there = (n_digits % 2 == 0) == stays;
    if !is_there {
        to.copy_from_slice(from);
    }
}

/// Moves pairs to `to` by a digit, of whose values `next` has counts, and then the ends.
fn scatter(from: &[Pair], to: &mut [Pair], shift: u32, next: &mut [usize; VALUES]) {
    let mut sum = 0;
    for slot in &mut *next {
        sum += std::mem::replace(slot, sum);
    }
    for &pair in from {
        let slot = &mut next[digit(pair, shift)];
        to[*slot] = pair;
        *slot += 1;
    }
}

/// The bits in which not all keys agree.
fn differing(list: &[Pair]) -> u64 {
    let mut found = (u64::MAX, 0);
    for &[key, _] in list {
        found.0 &= key as u64;
        found.1 |= key as u64;
    }
    found.1 & !found.0
}

fn digit([key, _]: Pair, shift: u32) -> usize {
    (key as u64 >> shift) as usize % VALUES
}

fn insert(list: &mut [Pair]) {
    for at in 1..list.len() {
        let pair = list[at];
        let mut place = at;
        while place > 0 && list[place - 1][0] > pair[0] {
            list[place] = list[place - 1];
            place -= 1;
        }
        list[place] = pair;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random.
    fn numbers(n: usize) -> impl Iterator<Item = i64> {
        let mut seed = 7u64;
        (0..n).map(move |_| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1);
            (seed >> 20) as i64
        })
    }

    fn check(keys: impl Iterator<Item = i64>) {
        let list: Vec<Pair> = keys.zip(0..).map(|(key, n)| [key, n]).collect();
        let mut expect = list.clone();
        expect.sort();
        for stays in [true, false] {
            let (mut list, mut other) = (list.clone(), vec![[-1; 2]; list.len()]);
            sort_into(&mut list, &mut other, stays);
            let found = if stays { list } else { other };
            assert!(found == expect);
        }
        let (mut list, mut other) = (list.clone(), vec![[-1; 2]; list.len()]);
        sort(&mut list, &mut other);
        assert!(list == expect);
    }

    #[test]
    fn sorts_keys_of_any_bits() {
        for n in [1, 2, INSERTED, 1000, CACHED + 1, 3 * CACHED] {
            check(numbers(n));
            check(numbers(n).map(|r| r % 5));
            check(numbers(n).map(|r| (r % 300) << 40 | 1 << 20));
            check(numbers(n).map(|r| r & 0x7000_0000_00ff));
            check((0..n as i64).rev());
            check(numbers(n).map(|_| 9));
            check(numbers(n).map(|r| r << 19 & i64::MAX));
        }
    }
}
