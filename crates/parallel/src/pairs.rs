//! Sorting keys together with values, in pieces that fit the cache.
//!
//! One pass over all pairs throws each into one of up to 2048 buckets, by the
//! highest bits of its key. A bucket is then a few thousand pairs, which are
//! sorted by the other bits where they lie, in cache, and those at equal keys
//! combined there at once. So pairs come from memory twice, however many bits
//! a key has:
//!
//! ```text
//! keys, values ──► counted by high digit ──► scattered ──► each bucket sorted by
//!                                                          low digits, combined
//!     |.......|          3 0 2 4             |aaa|cc|dddd|      |aa |cc|ddd |
//!                                             gaps closed  ──►  |aacc ddd|
//! ```
//!
//! A bucket that is too large for the cache, because many keys begin alike, is
//! sorted in the same way by its own high bits.
//!
//! The sort is stable: pairs with equal keys are combined in the order in which
//! they were given. Neither depends on the number of threads.

#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::ops::Range;

use crate::error::AllocError;
use crate::memory::{Memory, Plain};
use crate::pool::{map, ranges, split_mut};
use crate::sort::Key;

/// A bucket of at most this many pairs is sorted by its low digits.
const LEAF: usize = 1 << 14;
/// The size that buckets are meant to have.
const BUCKET: usize = 1 << 12;
/// Bits of the digit that pairs are scattered by, at most: more open places
/// than that are slower to write to.
const SCATTER_BITS: u32 = 11;
/// Bits of a digit within a leaf, at most.
const LEAF_BITS: u32 = 11;
/// Leaves of at most this many pairs are sorted by insertion.
const FEW: usize = 32;
/// Pairs that one thread scatters at a time.
const GRAIN: usize = 1 << 16;

/// A list of keys, which may be computed when they are asked for.
///
/// Sorting asks for each key twice and wants the same both times.
pub trait KeyList<K>: Sync {
    /// How many keys there are.
    fn n_keys(&self) -> usize;
    /// Key number `e`.
    fn key(&self, e: usize) -> K;
}

impl<K: Key> KeyList<K> for [K] {
    fn n_keys(&self) -> usize {
        self.len()
    }

    #[inline]
    fn key(&self, e: usize) -> K {
        self[e]
    }
}

/// How two values at equal keys become one.
pub type Combine<'a, V> = &'a (dyn Fn(V, V) -> V + Sync);

/// Keys in ascending order, and the value of each.
pub struct Pairs<K, V> {
    keys: Memory,
    values: Memory,
    types: PhantomData<(K, V)>,
}

impl<K: Plain, V: Plain> Pairs<K, V> {
    fn zeroed(len: usize) -> Result<Self, AllocError> {
        Ok(Self {
            keys: Memory::zeroed(len.saturating_mul(size_of::<K>()))?,
            values: Memory::zeroed(len.saturating_mul(size_of::<V>()))?,
            types: PhantomData,
        })
    }

    /// The keys and the values, as memory.
    pub fn into_parts(self) -> (Memory, Memory) {
        (self.keys, self.values)
    }

    /// The keys, ascending.
    pub fn keys(&self) -> &[K] {
        self.keys.as_slice()
    }

    /// The values, one a key.
    pub fn values(&self) -> &[V] {
        self.values.as_slice()
    }

    fn as_mut(&mut self) -> (&mut [K], &mut [V]) {
        (self.keys.as_mut_slice(), self.values.as_mut_slice())
    }

    fn truncate(&mut self, len: usize) {
        self.keys.set_len(len * size_of::<K>());
        self.values.set_len(len * size_of::<V>());
        self.keys.trim();
        self.values.trim();
    }
}

/// Sorts pairs by key, stably. Where `combine` is given, values at equal keys
/// become one: first with second, then with the third, and so on.
///
/// Only the lowest `bits` bits of a key may be set.
///
/// Time about two passes over memory for 2^24 pairs of any number of bits;
/// takes memory for a second list of pairs, which is the result.
///
/// # Errors
/// When memory is out.
///
/// # Panics
/// If there is not one value a key, or a key is another when asked for again.
///
/// ```
/// let pairs = sparsec_parallel::sort_pairs(&[7u64, 3, 7][..], &[1.0, 2.0, 0.5], 3, Some(&|a, b| a + b))?;
/// assert_eq!((pairs.keys(), pairs.values()), (&[3, 7][..], &[2.0, 1.5][..]));
/// # Ok::<(), sparsec_parallel::AllocError>(())
/// ```
pub fn sort_pairs<K: Key + Plain, V: Plain>(
    keys: &(impl KeyList<K> + ?Sized),
    values: &[V],
    bits: u32,
    combine: Option<Combine<'_, V>>,
) -> Result<Pairs<K, V>, AllocError> {
    assert_eq!(keys.n_keys(), values.len(), "one value a key");
    let mut sorted = Pairs::zeroed(values.len())?;
    let (to_keys, to_values) = sorted.as_mut();
    let kept = sort_into(keys, values, bits, combine, to_keys, to_values)?;
    sorted.truncate(kept);
    Ok(sorted)
}

/// Sorts into slices of the same length; returns how many pairs were kept,
/// which stand first.
fn sort_into<K: Key + Plain, V: Plain>(
    keys: &(impl KeyList<K> + ?Sized),
    values: &[V],
    bits: u32,
    combine: Option<Combine<'_, V>>,
    to_keys: &mut [K],
    to_values: &mut [V],
) -> Result<usize, AllocError> {
    let n = values.len();
    let mut above = bits;
    let buckets = loop {
        if n <= LEAF || above == 0 {
            for (e, key) in to_keys.iter_mut().enumerate() {
                *key = keys.key(e);
            }
            to_values.copy_from_slice(values);
            break vec![n];
        }
        let width = (n / BUCKET).ilog2().clamp(1, SCATTER_BITS).min(above);
        above -= width;
        if let Some(buckets) = scatter(keys, values, above, width, to_keys, to_values) {
            break buckets;
        }
    };
    let kept = sort_buckets(&buckets, above, combine, to_keys, to_values)?;
    Ok(close_gaps(&buckets, &kept, to_keys, to_values))
}

/// Moves each pair to the bucket of its digit, the `width` bits from `shift` up.
/// Returns how many pairs each bucket has, or `None` where nothing was moved
/// because one bucket would have them all.
fn scatter<K: Key + Plain, V: Plain>(
    keys: &(impl KeyList<K> + ?Sized),
    values: &[V],
    shift: u32,
    width: u32,
    to_keys: &mut [K],
    to_values: &mut [V],
) -> Option<Vec<usize>> {
    let mask = (1usize << width) - 1;
    let cuts = ranges(values.len(), GRAIN);
    let mut places = map(cuts.clone(), |cut| {
        let mut counts = vec![0..0; mask + 1];
        for e in cut {
            counts[keys.key(e).part(shift, mask)].end += 1;
        }
        counts
    });
    // Counts become places: by digit, then by cut.
    let mut at = 0;
    let mut buckets = vec![0; mask + 1];
    for (digit, bucket) in buckets.iter_mut().enumerate() {
        let start = at;
        for places in &mut places {
            let count = places[digit].end;
            places[digit] = at..at + count;
            at += count;
        }
        *bucket = at - start;
    }
    if buckets.contains(&values.len()) {
        return None;
    }
    assert_eq!((to_keys.len(), to_values.len()), (at, at), "room for each");
    let to = Target {
        keys: to_keys.as_mut_ptr(),
        values: to_values.as_mut_ptr(),
    };
    let work = cuts.into_iter().zip(places).collect();
    map(
        work,
        |(cut, mut places): (Range<usize>, Vec<Range<usize>>)| {
            let to = &to;
            for (e, &value) in cut.clone().zip(&values[cut]) {
                let key = keys.key(e);
                let free = &mut places[key.part(shift, mask)];
                assert!(free.start < free.end, "a key is what it was");
                // SAFETY: the places of a digit in a cut begin where those before it
                // end, and all are below the length; each is written once, since a
                // cut does not go beyond the end of its own.
                unsafe {
                    to.keys.add(free.start).write(key);
                    to.values.add(free.start).write(value);
                }
                free.start += 1;
            }
        },
    );
    Some(buckets)
}

/// Where threads write pairs, each at places of its own.
struct Target<K, V> {
    keys: *mut K,
    values: *mut V,
}

// SAFETY: whoever writes through the pointers shows that places are distinct.
unsafe impl<K: Send, V: Send> Sync for Target<K, V> {}

/// Sorts each bucket by the lowest `bits` bits and combines its duplicates;
/// returns how many pairs each keeps.
fn sort_buckets<K: Key + Plain, V: Plain>(
    buckets: &[usize],
    bits: u32,
    combine: Option<Combine<'_, V>>,
    keys: &mut [K],
    values: &mut [V],
) -> Result<Vec<usize>, AllocError> {
    let groups = ranges(buckets.len(), 1);
    let lengths = || {
        let length = |group: &Range<usize>| buckets[group.clone()].iter().sum();
        groups.iter().map(length).collect::<Vec<usize>>()
    };
    let keys = split_mut(keys, lengths());
    let values = split_mut(values, lengths());
    let work: Vec<_> = groups.iter().cloned().zip(keys).zip(values).collect();
    let kept = map(work, |((group, keys), values)| {
        let mut scratch = Scratch::default();
        let group = &buckets[group];
        let keys = split_mut(keys, group.iter().copied());
        let values = split_mut(values, group.iter().copied());
        let sorted = keys.into_iter().zip(values).map(|(keys, values)| {
            if keys.len() > LEAF && bits > 0 {
                return sort_large(keys, values, bits, combine);
            }
            scratch.sort(keys, values, bits);
            Ok(combine.map_or(keys.len(), |combine| merge(keys, values, combine)))
        });
        sorted.collect::<Result<Vec<_>, _>>()
    });
    let kept: Result<Vec<_>, _> = kept.into_iter().collect();
    Ok(kept?.concat())
}

/// Sorts a bucket that is no leaf, through a second list.
fn sort_large<K: Key + Plain, V: Plain>(
    keys: &mut [K],
    values: &mut [V],
    bits: u32,
    combine: Option<Combine<'_, V>>,
) -> Result<usize, AllocError> {
    let sorted = sort_pairs(&*keys, values, bits, combine)?;
    let kept = sorted.keys().len();
    keys[..kept].copy_from_slice(sorted.keys());
    values[..kept].copy_from_slice(sorted.values());
    Ok(kept)
}

/// Combines neighbours with equal keys; returns how many pairs are left.
fn merge<K: Key, V: Copy>(keys: &mut [K], values: &mut [V], combine: Combine<'_, V>) -> usize {
    let n = keys.len();
    let Some(first) = (1..n).find(|&e| keys[e - 1] == keys[e]) else {
        return n;
    };
    let mut last = first - 1;
    for e in first..n {
        if keys[e] == keys[last] {
            values[last] = combine(values[last], values[e]);
        } else {
            last += 1;
            keys[last] = keys[e];
            values[last] = values[e];
        }
    }
    last + 1
}

/// Moves what the buckets kept to the front; returns how much that is.
fn close_gaps<K: Plain, V: Plain>(
    buckets: &[usize],
    kept: &[usize],
    keys: &mut [K],
    values: &mut [V],
) -> usize {
    let (mut from, mut to) = (0, 0);
    let mut moves = Vec::new();
    for (bucket, &kept) in buckets.iter().zip(kept) {
        moves.push(Move {
            from,
            to,
            len: kept,
        });
        from += bucket;
        to += kept;
    }
    if from != to {
        // A few pairs are saved, so that every stretch can be moved by itself;
        // where that is many, there is less to move.
        let groups = ranges(moves.len(), 1);
        let gap = |group: &Range<usize>| moves[group.end - 1].from - moves[group.end - 1].to;
        if groups.iter().map(gap).sum::<usize>() < keys.len() / 8 {
            move_in_parallel(&moves, &groups, keys);
            move_in_parallel(&moves, &groups, values);
        } else {
            move_down(&moves, 0, keys);
            move_down(&moves, 0, values);
        }
    }
    to
}

/// Entries that move to a lower place, or stay.
struct Move {
    from: usize,
    to: usize,
    len: usize,
}

/// Moves in order; `items` begins at place `start`.
fn move_down<T: Copy>(moves: &[Move], start: usize, items: &mut [T]) {
    for Move { from, to, len } in moves {
        if from != to {
            let from = from - start;
            items.copy_within(from..from + len, to - start);
        }
    }
}

/// Moves each group of moves by a thread of its own. What the last move of a
/// group takes from the places of the next group is saved before.
fn move_in_parallel<T: Plain>(moves: &[Move], groups: &[Range<usize>], items: &mut [T]) {
    let ends: Vec<usize> = groups
        .iter()
        .map(|group| moves[group.end - 1].to + moves[group.end - 1].len)
        .collect();
    let starts: Vec<usize> = groups.iter().map(|group| moves[group.start].to).collect();
    let saved: Vec<Vec<Vec<T>>> = groups
        .iter()
        .zip(&ends)
        .map(|(group, &end)| {
            let tail = |step: &Move| {
                let start = step.from.max(end);
                items[start..start.max(step.from + step.len)].to_vec()
            };
            moves[group.clone()].iter().map(tail).collect()
        })
        .collect();
    let lengths = ends.iter().zip(&starts).map(|(end, start)| end - start);
    let pieces = split_mut(items, lengths);
    let work: Vec<_> = groups.iter().zip(pieces).zip(saved).zip(starts).collect();
    map(work, |(((group, piece), saved), start)| {
        for (step, tail) in moves[group.clone()].iter().zip(saved) {
            let to = step.to - start;
            let here = step.len - tail.len();
            if here > 0 {
                let from = step.from - start;
                piece.copy_within(from..from + here, to);
            }
            piece[to + here..to + step.len].copy_from_slice(&tail);
        }
    });
}

/// Room for the pairs of one leaf, and counts of their digits.
struct Scratch<K, V> {
    keys: Vec<K>,
    values: Vec<V>,
    places: Vec<u32>,
}

impl<K, V> Default for Scratch<K, V> {
    fn default() -> Self {
        Self {
            keys: Vec::new(),
            values: Vec::new(),
            places: Vec::new(),
        }
    }
}

impl<K: Key, V: Plain> Scratch<K, V> {
    /// Sorts by the lowest `bits` bits, stably.
    fn sort(&mut self, keys: &mut [K], values: &mut [V], bits: u32) {
        let n = keys.len();
        if bits == 0 {
            return;
        }
        if n <= FEW {
            return insertion(keys, values);
        }
        if self.keys.len() < n {
            self.keys.resize(n, keys[0]);
            self.values.resize(n, values[0]);
        }
        // Digits of about as many values as there are pairs, and all of a width.
        let most = n.ilog2().clamp(8, LEAF_BITS);
        let passes = bits.div_ceil(most);
        let width = bits.div_ceil(passes);
        let mut here = true;
        for pass in 0..passes {
            let (shift, mask) = (pass * width, (1usize << width) - 1);
            let scratch = (&mut self.keys[..n], &mut self.values[..n]);
            let moved = match here {
                true => digit_pass((keys, values), scratch, &mut self.places, shift, mask),
                false => digit_pass(scratch, (keys, values), &mut self.places, shift, mask),
            };
            here ^= moved;
        }
        if !here {
            keys.copy_from_slice(&self.keys[..n]);
            values.copy_from_slice(&self.values[..n]);
        }
    }
}

/// One pass of a sort by digits, lowest first; false where all keys have the
/// same digit and nothing was moved.
fn digit_pass<K: Key, V: Copy>(
    from: (&mut [K], &mut [V]),
    to: (&mut [K], &mut [V]),
    places: &mut Vec<u32>,
    shift: u32,
    mask: usize,
) -> bool {
    let n = from.0.len();
    places.clear();
    places.resize(mask + 1, 0);
    for key in from.0.iter() {
        places[key.part(shift, mask)] += 1;
    }
    if places[from.0[0].part(shift, mask)] as usize == n {
        return false;
    }
    let mut at = 0;
    for place in places.iter_mut() {
        at += std::mem::replace(place, at);
    }
    for (&key, &value) in from.0.iter().zip(from.1.iter()) {
        let place = &mut places[key.part(shift, mask)];
        to.0[*place as usize] = key;
        to.1[*place as usize] = value;
        *place += 1;
    }
    true
}

fn insertion<K: Key, V: Copy>(keys: &mut [K], values: &mut [V]) {
    for e in 1..keys.len() {
        let (key, value) = (keys[e], values[e]);
        let mut at = e;
        while at > 0 && keys[at - 1] > key {
            keys[at] = keys[at - 1];
            values[at] = values[at - 1];
            at -= 1;
        }
        keys[at] = key;
        values[at] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::with_threads;

    /// Keys of `bits` bits that look random, or crowd together.
    fn scrambled(n: usize, bits: u32, crowded: bool) -> Vec<u64> {
        let key = |e: usize| {
            let hash = (e as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let hash = if crowded && hash % 8 > 0 {
                hash % 1000
            } else {
                hash
            };
            hash.checked_shr(64 - bits).unwrap_or(0) | (hash & u64::from(bits > 10) * 1023)
        };
        (0..n).map(key).collect()
    }

    fn check(n: usize, bits: u32, crowded: bool) {
        let keys = scrambled(n, bits, crowded);
        let values: Vec<u64> = (0..n as u64).collect();
        let mut expected: Vec<(u64, u64)> =
            keys.iter().copied().zip(values.iter().copied()).collect();
        expected.sort_by_key(|pair| pair.0);
        let list = |pairs: &Pairs<u64, u64>| -> Vec<(u64, u64)> {
            let keys = pairs.keys().iter().copied();
            keys.zip(pairs.values().iter().copied()).collect()
        };
        // Not commutative: shows the order in which values are combined.
        let combine = |a: u64, b: u64| a.wrapping_mul(31).wrapping_add(b);
        let mut combined: Vec<(u64, u64)> = Vec::new();
        for &(key, value) in &expected {
            match combined.last_mut() {
                Some(last) if last.0 == key => last.1 = combine(last.1, value),
                _ => combined.push((key, value)),
            }
        }
        for threads in [1, 3] {
            with_threads(threads, || {
                let sorted = sort_pairs(&keys[..], &values, bits, None).unwrap();
                assert_eq!(list(&sorted), expected, "{n} of {bits} bits");
                let sorted = sort_pairs(&keys[..], &values, bits, Some(&combine)).unwrap();
                assert_eq!(list(&sorted), combined, "{n} of {bits} bits");
                let wide: Vec<u128> = keys.iter().map(|&key| key.into()).collect();
                let sorted = sort_pairs(&wide[..], &values, bits, None).unwrap();
                assert!(sorted.values().iter().eq(expected.iter().map(|e| &e.1)));
                if bits <= 32 {
                    let narrow: Vec<u32> = keys.iter().map(|&key| key as u32).collect();
                    let sorted = sort_pairs(&narrow[..], &values, bits, None).unwrap();
                    assert!(sorted.values().iter().eq(expected.iter().map(|e| &e.1)));
                }
            });
        }
    }

    #[test]
    fn sorts_stably_and_combines_in_the_order_given() {
        for n in [0, 1, 2, 31, 33, 1000, 20_000, 300_000] {
            for bits in [1, 8, 17, 32, 40, 64] {
                check(n, bits, false);
            }
        }
    }

    #[test]
    fn a_few_duplicates_leave_no_gaps() {
        // Keys of 40 bits are distinct but for a few that are put in twice.
        let mut keys = scrambled(150_000, 40, false);
        for e in (0..keys.len() - 500).step_by(1499) {
            keys[e + 300] = keys[e];
        }
        let values: Vec<u64> = (0..keys.len() as u64).collect();
        let add = |a: u64, b: u64| a + b;
        let mut expected = std::collections::BTreeMap::new();
        for (key, value) in keys.iter().zip(&values) {
            *expected.entry(*key).or_insert(0) += value;
        }
        for threads in [1, 3] {
            let sorted = with_threads(threads, || sort_pairs(&keys[..], &values, 40, Some(&add)));
            let sorted = sorted.unwrap();
            assert!(sorted.keys().len() < keys.len() - 90);
            assert!(sorted.keys().iter().eq(expected.keys()));
            assert!(sorted.values().iter().eq(expected.values()));
        }
    }

    #[test]
    fn keys_that_begin_alike_are_sorted_by_their_other_bits() {
        for bits in [20, 40, 64] {
            check(200_000, bits, true);
        }
        let same = vec![5u64; 100_000];
        let sum = |a, b| a + b;
        let sorted = sort_pairs(&same[..], &same, 64, Some(&sum)).unwrap();
        assert_eq!((sorted.keys(), sorted.values()), (&[5][..], &[500_000][..]));
    }
}
