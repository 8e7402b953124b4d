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

mod gaps;
mod leaf;
#[cfg(test)]
mod tests;

use std::marker::PhantomData;
use std::ops::Range;

use sparsec_base::cancel::checkpoint;

use crate::error::AllocError;
use crate::memory::{Memory, Plain};
use crate::pool::{map, ranges, split_mut};
use crate::sort::Key;
use gaps::close_gaps;
use leaf::{Scratch, merge};

/// A bucket of at most this many pairs is sorted by its low digits.
const LEAF: usize = 1 << 14;
/// The size that buckets are meant to have.
const BUCKET: usize = 1 << 12;
/// Bits of the digit that pairs are scattered by, at most: more open places
/// than that are slower to write to.
const SCATTER_BITS: u32 = 11;
/// Pairs that one thread scatters at a time.
const GRAIN: usize = 1 << 16;

/// A list of keys, which may be computed when they are asked for.
///
/// Sorting asks for each key twice and wants the same both times.
pub trait KeyList<K>: Sync {
    /// How many keys there are.
    fn n_keys(&self) -> usize;
    /// Writes the keys in a range to a slice of its length.
    fn write_keys(&self, range: Range<usize>, to: &mut [K]);
}

impl<K: Key> KeyList<K> for [K] {
    fn n_keys(&self) -> usize {
        self.len()
    }

    fn write_keys(&self, range: Range<usize>, to: &mut [K]) {
        to.copy_from_slice(&self[range]);
    }
}

/// Keys that are asked for at a time.
const BLOCK: usize = 256;

/// Calls `visit` with the keys in a range, block by block, and where each block
/// begins.
fn each_block<K: Key>(
    keys: &(impl KeyList<K> + ?Sized),
    range: Range<usize>,
    mut visit: impl FnMut(usize, &[K]),
) {
    let mut block = [K::default(); BLOCK];
    for start in range.clone().step_by(BLOCK) {
        checkpoint();
        let end = range.end.min(start + BLOCK);
        let block = &mut block[..end - start];
        keys.write_keys(start..end, block);
        visit(start, block);
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
            keys.write_keys(0..n, to_keys);
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
        each_block(keys, cut, |_, block| {
            for key in block {
                counts[key.part(shift, mask)].end += 1;
            }
        });
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
            each_block(keys, cut, |start, block| {
                for (&key, &value) in block.iter().zip(&values[start..]) {
                    let free = &mut places[key.part(shift, mask)];
                    assert!(free.start < free.end, "a key is what it was");
                    // SAFETY: the places of a digit in a cut begin where those
                    // before it end, and all are below the length; each is written
                    // once, since a cut does not go beyond the end of its own.
                    unsafe {
                        to.keys.add(free.start).write(key);
                        to.values.add(free.start).write(value);
                    }
                    free.start += 1;
                }
            });
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
            checkpoint();
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
