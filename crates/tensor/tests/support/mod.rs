//! Random entries in random formats, and what they mean, for several tests.

#![allow(dead_code, reason = "each test uses a part")]

use std::collections::BTreeMap;

use proptest::prelude::*;
use sparsec_base::{IndexWidth, Scalar};
use sparsec_format::{Format, Level, LevelKind, Widths};
use sparsec_tensor::{Array, Entries, PackOptions, Tensor};

/// A sum for each coordinate tuple.
pub(crate) type Meaning = BTreeMap<Vec<u64>, i64>;

/// Levels that are chains: dense, compressed, or compressed with singletons.
fn levels(modes: Vec<usize>) -> impl Strategy<Value = Vec<Level>> {
    let n = modes.len();
    let choices = prop::collection::vec((0..4u8, any::<bool>(), any::<bool>()), n);
    choices.prop_map(move |choices| {
        let mut levels: Vec<Level> = Vec::new();
        for (&mode, (kind, unordered, repeats)) in modes.iter().zip(choices) {
            let above = levels.last().cloned();
            let mut level = match (kind, above) {
                // A chain goes on, or begins where the level above may repeat.
                (3, Some(above)) if above.kind != LevelKind::Dense => {
                    let last = levels.len() - 1;
                    levels[last] = above.nonunique();
                    Level::new(mode, LevelKind::Singleton)
                }
                (0, _) => Level::new(mode, LevelKind::Dense),
                _ => Level::new(mode, LevelKind::Compressed),
            };
            let below_unordered = level.kind == LevelKind::Singleton
                && levels.last().is_some_and(|above| !above.ordered);
            if level.kind != LevelKind::Dense && (unordered || below_unordered) {
                level = level.nonordered();
            }
            // Only the last level may be left without a singleton below it.
            if repeats && levels.len() + 1 == modes.len() && level.kind != LevelKind::Dense {
                level = level.nonunique();
            }
            levels.push(level);
        }
        levels
    })
}

/// Formats of an order.
pub(crate) fn formats(order: usize) -> impl Strategy<Value = Format> {
    let modes = Just((0..order).collect::<Vec<_>>()).prop_shuffle();
    let width = prop::option::of(prop::sample::select(&IndexWidth::ALL[..]));
    (modes.prop_flat_map(levels), width.clone(), width).prop_map(move |(levels, pos, crd)| {
        let names = ["i", "j", "k", "l", "m"];
        Format::new(names[..order].iter().copied(), levels)
            .unwrap_or_else(|fault| panic!("{fault}"))
            .with_widths(Widths { pos, crd })
    })
}

/// A few entries, with duplicates.
pub(crate) fn entries(order: usize) -> impl Strategy<Value = Entries> {
    prop::collection::vec(1..6u64, order).prop_flat_map(|extents| {
        let tuple: Vec<_> = extents.iter().map(|&extent| 0..extent).collect();
        prop::collection::vec((tuple, -3..4i64), 0..40).prop_map(move |list| Entries {
            extents: extents.clone(),
            coords: list.iter().flat_map(|(tuple, _)| tuple.clone()).collect(),
            values: Array::from_vec(list.iter().map(|&(_, value)| value).collect()),
        })
    })
}

/// Entries and two formats of their order.
pub(crate) fn cases() -> impl Strategy<Value = (Entries, Format, Format)> {
    (0..6usize).prop_flat_map(|order| (entries(order), formats(order), formats(order)))
}

/// What a list of entries means; sums of zero are in it.
pub(crate) fn meaning(entries: &Entries) -> Meaning {
    let mut map = Meaning::new();
    for (coords, value) in entries.iter() {
        let Scalar::I64(value) = value else {
            panic!("an i64 list")
        };
        *map.entry(coords.to_vec()).or_default() += value;
    }
    map
}

/// The same but for sums of zero.
pub(crate) fn without_zeros(mut map: Meaning) -> Meaning {
    map.retain(|_, value| *value != 0);
    map
}

/// Packs, and checks the arrays as if they came from outside.
pub(crate) fn packed(format: &Format, entries: &Entries) -> Tensor {
    let tensor = Tensor::pack_entries(format, entries.clone(), PackOptions::default())
        .unwrap_or_else(|fault| panic!("{fault}"));
    Tensor::new(
        format.clone(),
        tensor.extents().to_vec(),
        tensor.element(),
        tensor.fill(),
        tensor.arrays().to_vec(),
    )
    .unwrap_or_else(|fault| panic!("{fault}"))
}

/// Entries enough for several threads, with duplicates and in no order.
pub(crate) fn many(extents: &[u64], n: u64) -> Entries {
    let scrambled = |n: u64| (n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
    let order = extents.len() as u64;
    Entries {
        extents: extents.to_vec(),
        coords: (0..n * order)
            .map(|at| scrambled(at) % extents[(at % order) as usize])
            .collect(),
        values: Array::from_vec((0..n).map(|e| 0.1 * (e + 1) as f64).collect::<Vec<_>>()),
    }
}
