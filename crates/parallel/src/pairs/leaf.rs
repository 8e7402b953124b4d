//! Sorting the pairs of one bucket, which fit the cache.
//!
//! A few pairs are sorted by insertion; more by their digits, lowest first, each
//! pass from one list into another and back. A pass in which all keys have the
//! same digit is skipped.

use super::Combine;
use crate::memory::Plain;
use crate::sort::Key;

/// Bits of a digit within a leaf, at most.
const LEAF_BITS: u32 = 11;
/// Leaves of at most this many pairs are sorted by insertion.
const FEW: usize = 32;

/// Combines neighbours with equal keys; returns how many pairs are left.
pub(super) fn merge<K: Key, V: Copy>(
    keys: &mut [K],
    values: &mut [V],
    combine: Combine<'_, V>,
) -> usize {
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

/// Room for the pairs of one leaf, and counts of their digits.
pub(super) struct Scratch<K, V> {
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
    pub(super) fn sort(&mut self, keys: &mut [K], values: &mut [V], bits: u32) {
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
