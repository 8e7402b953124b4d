//! A stable radix sort of packed keys.
//!
//! Entries are sorted by packing what orders them into one unsigned number and
//! sorting the numbers. What the order must not depend on (the number of the
//! entry, say) may stand in the bits below those that are sorted: the sort is
//! stable in them.
//!
//! ```text
//!   127          high             low            0
//!    | 0 0 0 0 0 | coordinates    | entry number |
//!                  sorted by this   goes along
//! ```
//!
//! One pass sorts by eight bits, lowest first. Each range of the input counts
//! its digits; the counts say where in the output each range writes each digit,
//! so ranges are scattered in parallel, each into slices of its own. A pass in
//! which all keys have the same digit is skipped.

use std::ops::Range;
use std::slice::IterMut;

use crate::error::AllocError;
use crate::fault::{self, Fault};
use crate::pool::{map, ranges, split_mut};

const DIGIT_BITS: u32 = 8;
const DIGITS: usize = 1 << DIGIT_BITS;
/// Ranges shorter than this are not worth a thread.
const GRAIN: usize = 1 << 16;

/// An unsigned number that can be sorted by its digits.
pub trait Key: Copy + Default + Ord + Send + Sync {
    /// The bits from `shift` up that are in `mask`.
    fn part(self, shift: u32, mask: usize) -> usize;
    /// The bits from `low` up, with those from `high` up cleared.
    fn bits(self, bits: &Range<u32>) -> Self;
}

macro_rules! keys {
    ($($ty:ty)*) => {$(
        impl Key for $ty {
            #[inline]
            fn part(self, shift: u32, mask: usize) -> usize {
                (self >> shift) as usize & mask
            }
            fn bits(self, bits: &Range<u32>) -> Self {
                let kept = self.checked_shr(bits.start).unwrap_or(0);
                kept & !Self::MAX.checked_shl(bits.end - bits.start).unwrap_or(0)
            }
        }
    )*};
}
keys!(u32 u64 u128);

/// Sorts `keys` by the bits in `bits`; keys that agree there keep their order.
/// Bits above the range must be 0.
///
/// Time `O(n * bits / 8)`; a second buffer of `n` keys is used.
///
/// # Errors
/// [`AllocError`] if there is no memory for that; the keys are as they were.
pub fn radix_sort<K: Key>(keys: &mut Vec<K>, bits: Range<u32>) -> Result<(), AllocError> {
    if bits.is_empty() || keys.len() < 2 {
        return Ok(());
    }
    if keys.len() < DIGITS {
        keys.sort_by_key(|key| key.bits(&bits));
        return Ok(());
    }
    let mut other = Vec::new();
    let bytes = size_of_val(keys.as_slice()) as u64;
    let reserved = other.try_reserve_exact(keys.len());
    if reserved.is_err() || fault::strikes(Fault::Memory) {
        return Err(AllocError { bytes });
    }
    other.resize(keys.len(), K::default());
    let mut shift = bits.start;
    while shift < bits.end {
        if scatter(keys, &mut other, shift) {
            std::mem::swap(keys, &mut other);
        }
        shift += DIGIT_BITS;
    }
    Ok(())
}

/// One pass from `from` into `to`; false where all digits are equal and nothing
/// was written.
fn scatter<K: Key>(from: &[K], to: &mut [K], shift: u32) -> bool {
    let cuts = ranges(from.len(), GRAIN);
    let counts = map(cuts.clone(), |range| {
        let mut counts = [0usize; DIGITS];
        for key in &from[range] {
            counts[key.part(shift, DIGITS - 1)] += 1;
        }
        counts
    });
    let total = |digit: usize| counts.iter().map(|counts| counts[digit]).sum::<usize>();
    if total(from[0].part(shift, DIGITS - 1)) == from.len() {
        return false;
    }

    // The output is ordered by digit, then by range: hand each range its slices.
    let lengths = (0..DIGITS).flat_map(|digit| counts.iter().map(move |counts| counts[digit]));
    let mut slots: Vec<Vec<IterMut<'_, K>>> =
        cuts.iter().map(|_| Vec::with_capacity(DIGITS)).collect();
    for (n, piece) in split_mut(to, lengths).into_iter().enumerate() {
        slots[n % cuts.len()].push(piece.iter_mut());
    }
    map(
        cuts.into_iter().zip(slots).collect(),
        |(range, mut slots)| {
            for &key in &from[range] {
                if let Some(slot) = slots[key.part(shift, DIGITS - 1)].next() {
                    *slot = key;
                }
            }
        },
    );
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::with_threads;

    /// Numbers that look random: a multiplicative hash of the place.
    fn scrambled(n: u64) -> u64 {
        (n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    fn check(n: u64, bits: Range<u32>) {
        let keep = bits.end;
        let keys: Vec<u64> = (0..n)
            .map(|i| scrambled(i).checked_shr(64 - keep).unwrap_or(0))
            .collect();
        let mut expected = keys.clone();
        expected.sort_by_key(|key| key.bits(&bits));
        for threads in [1, 3] {
            let mut sorted = keys.clone();
            with_threads(threads, || radix_sort(&mut sorted, bits.clone())).unwrap();
            assert_eq!(sorted, expected, "{n} keys, bits {bits:?}");
            let mut wide: Vec<u128> = keys.iter().map(|&key| u128::from(key)).collect();
            with_threads(threads, || radix_sort(&mut wide, bits.clone())).unwrap();
            assert!(
                wide.iter()
                    .zip(&expected)
                    .all(|(&w, &e)| w == u128::from(e))
            );
        }
    }

    #[test]
    fn sorts_by_the_bits_and_is_stable_below() {
        for n in [0, 1, 2, 100, 300, 200_000] {
            for bits in [0..64, 5..64, 10..27, 3..4, 0..9, 40..64, 0..0] {
                check(n, bits);
            }
        }
    }
}
