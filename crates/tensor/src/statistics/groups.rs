//! How many distinct tuples the entries have in some of their modes.
//!
//! A list of few entries is sorted for each set of modes. For many, each set
//! has a sketch: every tuple is hashed, the first bits of the hash choose one of
//! 2^14 registers, and the register keeps the most zeros that the rest of any
//! hash began with. From the registers follows how many different hashes there
//! were, with a standard error of 0.8 percent. Registers are maxima, so sketches
//! of parts of the list can be made by different threads.
//!
//! Source: Flajolet et al., "HyperLogLog: the analysis of a near-optimal
//! cardinality estimation algorithm", AofA 2007.

use sparsec_base::Result;
use sparsec_format::Group;
use sparsec_parallel::{map, ranges};

use crate::alloc::filled;
use crate::entries::Entries;

/// Orders that have groups: below there are none but single modes and all
/// modes, and beyond too many.
const ORDERS: std::ops::RangeInclusive<usize> = 3..=6;
/// Lists of at most this many entries are counted exactly.
const EXACT: usize = 1 << 12;
/// Bits of a hash that choose a register.
const REGISTER_BITS: u32 = 14;
const REGISTERS: usize = 1 << REGISTER_BITS;
/// Entries that one thread hashes at a time.
const GRAIN: usize = 1 << 18;

/// The number of distinct tuples in every set of at least two modes and not all.
pub(super) fn count(entries: &Entries) -> Result<Vec<Group>> {
    let order = entries.order();
    if !ORDERS.contains(&order) {
        return Ok(Vec::new());
    }
    let sets = || (1u32..1 << order).filter(|set| (2..order as u32).contains(&set.count_ones()));
    let sets: Vec<Vec<usize>> = sets()
        .map(|set| (0..order).filter(|&mode| set >> mode & 1 == 1).collect())
        .collect();
    let counts = if entries.len() <= EXACT {
        sets.iter().map(|modes| exact(entries, modes)).collect()
    } else {
        sketched(entries, &sets)?
    };
    let groups = sets.into_iter().zip(counts);
    Ok(groups
        .map(|(modes, n)| Group::new(modes, n.min(entries.len() as u64)))
        .collect())
}

fn exact(entries: &Entries, modes: &[usize]) -> u64 {
    let tuple = |e: usize| -> Vec<u64> {
        let row = entries.coords(e);
        modes.iter().map(|&mode| row.at(mode)).collect()
    };
    let mut tuples: Vec<Vec<u64>> = (0..entries.len()).map(tuple).collect();
    tuples.sort_unstable();
    tuples.dedup();
    tuples.len() as u64
}

fn sketched(entries: &Entries, sets: &[Vec<usize>]) -> Result<Vec<u64>> {
    let parts: Vec<Result<Vec<u8>>> = map(ranges(entries.len(), GRAIN), |range| {
        let mut registers = filled(sets.len() * REGISTERS, || 0u8)?;
        let mut hashes = vec![0u64; entries.order()];
        for e in range {
            for (mode, hash) in hashes.iter_mut().enumerate() {
                // Modes are told apart, so that (1, 2) is not (2, 1).
                *hash = mixed(entries.coords(e).at(mode) ^ mixed(mode as u64 + 1));
            }
            for (modes, registers) in sets.iter().zip(registers.chunks_exact_mut(REGISTERS)) {
                let sum = modes
                    .iter()
                    .fold(0u64, |sum, &mode| sum.wrapping_add(hashes[mode]));
                let hash = mixed(sum);
                let register = &mut registers[(hash >> (u64::BITS - REGISTER_BITS)) as usize];
                let zeros = (hash << REGISTER_BITS).leading_zeros() as u8 + 1;
                *register = zeros.max(*register);
            }
        }
        Ok(registers)
    });
    let mut all: Option<Vec<u8>> = None;
    for part in parts {
        let part = part?;
        match &mut all {
            None => all = Some(part),
            Some(all) => all.iter_mut().zip(part).for_each(|(a, b)| *a = b.max(*a)),
        }
    }
    let all = all.unwrap_or_default();
    Ok(all.chunks_exact(REGISTERS).map(estimate).collect())
}

fn estimate(registers: &[u8]) -> u64 {
    let m = REGISTERS as f64;
    let harmonic: f64 = registers.iter().map(|&r| (-f64::from(r)).exp2()).sum();
    let raw = 0.7213 / (1.0 + 1.079 / m) * m * m / harmonic;
    let n_empty = registers.iter().filter(|&&r| r == 0).count();
    // Few tuples leave registers empty, and how many they leave says more.
    if raw <= 2.5 * m && n_empty > 0 {
        return (m * (m / n_empty as f64).ln()).round() as u64;
    }
    raw.round() as u64
}

/// A bijection of 64 bits whose every input bit changes half of the output bits.
pub(super) fn mixed(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}
