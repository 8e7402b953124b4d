use super::*;
use crate::pool::with_threads;

/// Keys of `bits` bits that look random, or crowd together.
fn scrambled(n: usize, bits: u32, crowded: bool) -> Vec<u64> {
    let key = |e: usize| {
        let hash = (e as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let hash = if crowded && !hash.is_multiple_of(8) {
            hash % 1000
        } else {
            hash
        };
        hash.checked_shr(64 - bits).unwrap_or(0) | (hash & (u64::from(bits > 10) * 1023))
    };
    (0..n).map(key).collect()
}

fn check(n: usize, bits: u32, crowded: bool) {
    let keys = scrambled(n, bits, crowded);
    let values: Vec<u64> = (0..n as u64).collect();
    let mut expected: Vec<(u64, u64)> = keys.iter().copied().zip(values.iter().copied()).collect();
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
