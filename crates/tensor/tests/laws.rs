//! Laws of stored tensors, on random entries in random formats of order 0 to 5.
//!
//! A map from coordinates to sums is the meaning of a list of entries; values
//! are small integers, so sums are exact.

use std::collections::BTreeMap;

use proptest::prelude::*;
use sparsec_base::{ElementType, IndexWidth, Scalar};
use sparsec_format::{Format, Level, LevelKind, Widths};
use sparsec_parallel::with_threads;
use sparsec_tensor::{Array, Duplicates, Entries, PackOptions, Tensor};

type Meaning = BTreeMap<Vec<u64>, i64>;

/// Levels that are chains: dense, compressed, or compressed with singletons.
fn levels(modes: Vec<usize>) -> impl Strategy<Value = Vec<Level>> {
    let n = modes.len();
    let choices = prop::collection::vec((0..4u8, any::<bool>(), any::<bool>()), n);
    choices.prop_map(move |choices| {
        let mut levels: Vec<Level> = Vec::new();
        for (&mode, (kind, unordered, repeats)) in modes.iter().zip(choices) {
            let above = levels.last().copied();
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

fn formats(order: usize) -> impl Strategy<Value = Format> {
    let modes = Just((0..order).collect::<Vec<_>>()).prop_shuffle();
    let width = prop::option::of(prop_oneof![Just(IndexWidth::W32), Just(IndexWidth::W64)]);
    (modes.prop_flat_map(levels), width.clone(), width).prop_map(move |(levels, pos, crd)| {
        let names = ["i", "j", "k", "l", "m"];
        Format::new(names[..order].iter().copied(), levels)
            .unwrap_or_else(|fault| panic!("{fault}"))
            .with_widths(Widths { pos, crd })
    })
}

fn entries(order: usize) -> impl Strategy<Value = Entries> {
    prop::collection::vec(1..6u64, order).prop_flat_map(|extents| {
        let tuple: Vec<_> = extents.iter().map(|&extent| 0..extent).collect();
        prop::collection::vec((tuple, -3..4i64), 0..40).prop_map(move |list| Entries {
            extents: extents.clone(),
            coords: list.iter().flat_map(|(tuple, _)| tuple.clone()).collect(),
            values: Array::from_vec(list.iter().map(|&(_, value)| value).collect()),
        })
    })
}

fn cases() -> impl Strategy<Value = (Entries, Format, Format)> {
    (0..6usize).prop_flat_map(|order| (entries(order), formats(order), formats(order)))
}

/// What a list of entries means; sums of zero are in it.
fn meaning(entries: &Entries) -> Meaning {
    let mut map = Meaning::new();
    for (coords, value) in entries.iter() {
        let Scalar::I64(value) = value else {
            panic!("an i64 list")
        };
        *map.entry(coords.to_vec()).or_default() += value;
    }
    map
}

fn without_zeros(mut map: Meaning) -> Meaning {
    map.retain(|_, value| *value != 0);
    map
}

/// Packs, and checks the arrays as if they came from outside.
fn packed(format: &Format, entries: &Entries) -> Tensor {
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn unpacking_undoes_packing((entries, format, _) in cases()) {
        let tensor = packed(&format, &entries);
        let expected = meaning(&entries);
        prop_assert_eq!(without_zeros(meaning(&tensor.nonfill())), without_zeros(expected.clone()));
        // Sums of zero stay stored wherever a level says which entries are.
        let stored = meaning(&tensor.entries());
        prop_assert!(expected.keys().all(|coords| stored.contains_key(coords)));
        if !tensor.has_padding() {
            prop_assert_eq!(stored, expected);
        }
    }

    #[test]
    fn every_format_holds_the_same((entries, from, to) in cases()) {
        let tensor = packed(&from, &entries);
        let converted = tensor.convert(&to).unwrap();
        prop_assert_eq!(tensor.equal_within(&converted, 0.0), None);
        let direct = packed(&to, &entries);
        prop_assert_eq!(direct.equal_within(&converted, 0.0), None);
        if !tensor.has_padding() {
            prop_assert_eq!(&direct, &converted);
        }
        prop_assert_eq!(converted.convert(&from).unwrap().equal_within(&tensor, 0.0), None);
    }

    #[test]
    fn looking_up_agrees_with_the_list((entries, format, _) in cases()) {
        let tensor = packed(&format, &entries);
        let expected = meaning(&entries);
        for (coords, &value) in &expected {
            prop_assert_eq!(tensor.get(coords), Scalar::I64(value));
        }
    }

    #[test]
    fn one_changed_value_is_found((entries, from, to) in cases(), which: prop::sample::Index) {
        let left = packed(&from, &entries);
        let mut right = packed(&to, &entries);
        prop_assume!(right.n_stored() > 0);
        let at = which.index(right.n_stored());
        if let Some(values) = right.values_mut::<i64>() {
            values[at] += 1;
        }
        prop_assert!(left.equal_within(&right, 0.0).is_some());
    }

    #[test]
    fn printing_never_fails((entries, format, _) in cases()) {
        let tensor = packed(&format, &entries);
        prop_assert!(tensor.to_string().lines().count() > 1);
    }
}

/// Entries enough for several threads, with duplicates and in no order.
fn many(extents: &[u64], n: u64) -> Entries {
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

#[test]
fn threads_make_no_difference() {
    let huge = 1 << 62;
    for (extents, order) in [
        (vec![300, 200], 2),
        (vec![50, 60, 70], 3),
        (vec![1 << 40, 1 << 40, 1 << 20], 3),
        (vec![huge, huge, huge, huge], 4),
    ] {
        let entries = many(&extents, 200_000);
        let formats = [
            Format::csf(order),
            Format::scoo(order),
            Format::csf(order)
                .with_mode_order(&(0..order).rev().collect::<Vec<_>>())
                .unwrap(),
        ];
        for format in formats {
            let pack = |threads| {
                with_threads(threads, || {
                    Tensor::pack_entries(&format, entries.clone(), PackOptions::default())
                })
            };
            let one = pack(1).unwrap();
            assert_eq!(Ok(&one), pack(4).as_ref(), "{format}");
            assert_eq!(one.arrays().len(), format.arrays().len());
        }
    }
}

#[test]
fn dense_levels_between_compressed_ones_are_padded_in_parallel() {
    let entries = many(&[400, 30, 500], 100_000);
    let format: Format = "(i, j, k) -> (i : compressed, j : dense, k : compressed)"
        .parse()
        .unwrap();
    let blocks: Format = "(i, j, k) -> (i : dense, k : compressed, j : dense)"
        .parse()
        .unwrap();
    let list = Tensor::pack_entries(&Format::scoo(3), entries.clone(), PackOptions::default());
    let list = list.unwrap();
    for format in [format, blocks, Format::dense(3)] {
        let tensor =
            Tensor::pack_entries(&format, entries.clone(), PackOptions::default()).unwrap();
        assert_eq!(tensor.equal_within(&list, 0.0), None, "{format}");
    }
}

#[test]
fn order_eight_packs() {
    let entries = many(&[7, 6, 5, 4, 3, 2, 9, 8], 5000);
    for format in [
        Format::csf(8),
        Format::scoo(8),
        Format::coo(8),
        Format::dense(8),
    ] {
        let tensor =
            Tensor::pack_entries(&format, entries.clone(), PackOptions::default()).unwrap();
        assert_eq!(tensor.order(), 8);
        let back = Tensor::pack_entries(&format, tensor.nonfill(), PackOptions::default());
        assert_eq!(back.as_ref(), Ok(&tensor));
    }
}

#[test]
fn every_element_type_packs() {
    for element in ElementType::ALL {
        let values = Array::filled(element.one(), 3).unwrap();
        let entries = Entries {
            extents: vec![2, 2],
            coords: vec![1, 1, 0, 1, 1, 1],
            values,
        };
        let tensor = Tensor::pack_entries(&Format::csr(), entries, PackOptions::default()).unwrap();
        let twice = match element {
            ElementType::Bool => Scalar::Bool(true),
            other => Scalar::from_i64(other, 2),
        };
        assert_eq!(tensor.get(&[1, 1]), twice);
        assert_eq!(tensor.get(&[0, 1]), element.one());
        assert_eq!(tensor.get(&[0, 0]), element.zero());
    }
}

#[test]
fn a_fill_pads_and_drops() {
    let entries = Entries {
        extents: vec![2, 2],
        coords: vec![0, 1, 1, 0],
        values: Array::from_vec(vec![7.0, f64::INFINITY]),
    };
    let options = PackOptions {
        fill: Some(Scalar::F64(f64::INFINITY)),
        duplicates: Duplicates::Refuse,
    };
    let dense = Tensor::pack_entries(&Format::dense(2), entries.clone(), options).unwrap();
    let inf = f64::INFINITY;
    assert_eq!(dense.values::<f64>(), Some(&[inf, 7.0, inf, inf][..]));
    assert_eq!(dense.convert(&Format::csr()).unwrap().n_stored(), 1);
    let csr = Tensor::pack_entries(&Format::csr(), entries, options).unwrap();
    assert_eq!(csr.n_stored(), 2);
    assert_eq!(csr.equal_within(&dense, 0.0), None);
    assert_eq!(csr.convert(&Format::coo(2)).unwrap().n_stored(), 2);
}

#[test]
fn large_tensors_print_their_beginning() {
    let entries = many(&[1000, 1000], 50_000);
    let tensor = Tensor::pack_entries(&Format::csr(), entries, PackOptions::default()).unwrap();
    let text = tensor.to_string();
    assert!(text.lines().count() < 100, "{text}");
    assert!(text.contains("more") && text.contains('…'));
    let scalar = Tensor::scalar(Scalar::I32(7)).to_string();
    assert_eq!(scalar, "i32[], () -> (), 1 stored\nvals i32[1]  7\n");
}
