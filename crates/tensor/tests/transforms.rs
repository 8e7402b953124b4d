//! Laws of pruning, slicing, permuting and iterating, and of how duplicates are
//! combined, on random entries in random formats.

mod support;

use std::collections::BTreeMap;

use proptest::prelude::*;
use sparsec_base::{ElementType, Scalar};
use sparsec_format::{Format, FormatSpec};
use sparsec_parallel::with_threads;
use sparsec_tensor::{Array, Complex, Duplicates, Entries, PackOptions, Tensor, Window, bf16, f16};
use support::{Meaning, cases, many, meaning, packed, without_zeros};

/// A window for each mode, drawn from numbers, and the coordinates in it.
fn windows(extents: &[u64], numbers: &[(u64, u64, u64)]) -> Vec<Window> {
    let window = |(&extent, &(a, b, stride)): (&u64, &(u64, u64, u64))| {
        let (a, b) = (a % (extent + 1), b % (extent + 1));
        Window::from(a.min(b)..a.max(b)).every(stride)
    };
    extents.iter().zip(numbers).map(window).collect()
}

/// Slices keep each entry with its bits, also where padding is stored beside them.
#[test]
fn slices_keep_the_sign_of_zeros() {
    let coords = [0, 0, 1, 1, 1, 3, 3, 1, 3, 3];
    let values = [-0.0, 2.0, -0.0, 3.0, -0.0];
    for name in [
        "dense",
        "csr",
        "bsr(2, 2)",
        "bsr(1, 3)",
        "dia",
        "ell",
        "hash",
        "msr",
    ] {
        let Ok(format) = name.parse::<FormatSpec>().and_then(|spec| spec.resolve(2)) else {
            panic!("{name}");
        };
        let a = Tensor::pack(&format, &[4, 4], &coords, &values).unwrap();
        let odd = Window::from(1..).every(2);
        let sliced = a.slice(&[odd, odd]).unwrap();
        let bits = |at: [u64; 2]| sliced.get_as::<f64>(&at).map(f64::to_bits);
        assert_eq!(bits([0, 1]), Some((-0.0f64).to_bits()), "{name}");
        assert_eq!(bits([1, 1]), Some((-0.0f64).to_bits()), "{name}");
        assert_eq!(sliced.get_as(&[0, 0]), Some(2.0), "{name}");
        assert_eq!(sliced.get_as(&[1, 0]), Some(3.0), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn slicing_keeps_what_lies_in_the_windows(
        (entries, format, _) in cases(),
        numbers in prop::collection::vec((0..9u64, 0..9u64, 1..4u64), 5),
    ) {
        let tensor = packed(&format, &entries);
        let windows = windows(tensor.extents(), &numbers);
        let places: Vec<Vec<u64>> = windows
            .iter()
            .zip(tensor.extents())
            .map(|(window, &extent)| window.coords(extent).collect())
            .collect();
        let moved = |coords: &Vec<u64>| -> Option<Vec<u64>> {
            let modes = coords.iter().zip(&places);
            let place = modes.map(|(c, window)| window.iter().position(|inside| inside == c));
            place.map(|place| place.map(|place| place as u64)).collect()
        };
        let expected: Meaning = meaning(&entries)
            .iter()
            .filter_map(|(coords, &value)| Some((moved(coords)?, value)))
            .collect();
        let sliced = tensor.slice(&windows).unwrap();
        let sizes: Vec<u64> = places.iter().map(|window| window.len() as u64).collect();
        prop_assert_eq!(sliced.extents(), &sizes[..]);
        prop_assert_eq!(without_zeros(meaning(&sliced.nonfill())), without_zeros(expected));
    }

    #[test]
    fn slices_join_again((entries, format, _) in cases(), mode: usize, at: u64) {
        let tensor = packed(&format, &entries);
        let extents = tensor.extents().to_vec();
        let cut = extents.get(mode % extents.len().max(1)).map_or(0, |extent| at % (extent + 1));
        let part = |from: u64, to: u64| {
            let mut windows = vec![Window::from(..); extents.len()];
            let mut offset = vec![0; extents.len()];
            if let Some(window) = windows.get_mut(mode % extents.len().max(1)) {
                *window = Window::from(from..to);
                offset[mode % extents.len()] = from;
            }
            (offset, tensor.slice(&windows).unwrap())
        };
        let end = extents.get(mode % extents.len().max(1)).copied().unwrap_or(0);
        let mut parts = vec![part(0, cut)];
        if !extents.is_empty() {
            parts.push(part(cut, end));
        }
        // In any order: each part has an offset.
        for _ in 0..2 {
            let listed: Vec<(&[u64], &Tensor)> =
                parts.iter().map(|(at, it)| (&at[..], it)).collect();
            let joined = Tensor::join(&format, &extents, &listed).unwrap();
            prop_assert_eq!(joined.extents(), &extents[..]);
            prop_assert_eq!(
                without_zeros(meaning(&joined.nonfill())),
                without_zeros(meaning(&tensor.nonfill()))
            );
            parts.reverse();
        }
    }

    #[test]
    fn permuting_moves_coordinates_and_back((entries, format, _) in cases(), seed: u64) {
        let tensor = packed(&format, &entries);
        let order = tensor.order();
        let mut modes: Vec<usize> = (0..order).collect();
        modes.sort_by_key(|&mode| (seed >> (mode * 8)) & 0xFF);
        let permuted = tensor.permute(&modes).unwrap();
        let mut inverse = vec![0; order];
        for (to, &from) in modes.iter().enumerate() {
            inverse[from] = to;
        }
        prop_assert_eq!(&permuted.permute(&inverse).unwrap(), &tensor);
        for (coords, &value) in &meaning(&entries) {
            let moved: Vec<u64> = modes.iter().map(|&mode| coords[mode]).collect();
            prop_assert_eq!(permuted.get(&moved), Scalar::I64(value));
        }
    }

    #[test]
    fn pruning_drops_zeros_and_nothing_else((entries, format, _) in cases()) {
        let tensor = packed(&format, &entries);
        let pruned = tensor.prune(0.0).unwrap();
        prop_assert_eq!(pruned.equal_within(&tensor, 0.0), None);
        if !tensor.has_padding() {
            prop_assert_eq!(meaning(&pruned.entries()), without_zeros(meaning(&entries)));
        }
        let mut large = meaning(&entries);
        large.retain(|_, value| value.abs() > 2);
        let pruned = tensor.prune(2.0).unwrap();
        prop_assert_eq!(without_zeros(meaning(&pruned.nonfill())), large);
    }

    #[test]
    fn iterating_gives_the_entries((entries, format, _) in cases()) {
        let tensor = packed(&format, &entries);
        let listed = tensor.entries();
        let expected: Vec<_> = listed.iter().map(|(row, value)| (row.to_vec(), value)).collect();
        let iterator = tensor.iter();
        prop_assert_eq!(iterator.len(), expected.len());
        prop_assert_eq!(iterator.collect::<Vec<_>>(), expected);
        prop_assert_eq!(tensor.iter_as::<3, i64>().is_some(), tensor.order() == 3);
        prop_assert!(tensor.iter_as::<3, f64>().is_none());
    }

    #[test]
    fn duplicates_are_combined_in_the_order_given((entries, format, _) in cases()) {
        let mut lists: BTreeMap<Vec<u64>, Vec<i64>> = BTreeMap::new();
        for (coords, value) in entries.iter() {
            let Scalar::I64(value) = value else { panic!("an i64 list") };
            lists.entry(coords.to_vec()).or_default().push(value);
        }
        type Rule = fn(i64, i64) -> i64;
        let rules: [(&str, Rule); 6] = [
            ("+", |a, b| a + b),
            ("*", |a, b| a * b),
            ("min", i64::min),
            ("max", i64::max),
            ("first", |a, _| a),
            ("last", |_, b| b),
        ];
        for (name, rule) in rules {
            let options = PackOptions {
                duplicates: name.parse().unwrap(),
                ..PackOptions::default()
            };
            let tensor = Tensor::pack_entries(&format, entries.clone(), options).unwrap();
            for (coords, list) in &lists {
                let combined = list.iter().copied().reduce(rule).unwrap_or_default();
                prop_assert_eq!(tensor.get(coords), Scalar::I64(combined), "{}", name);
            }
        }
    }
}

#[test]
fn many_duplicates_are_combined_the_same_by_any_number_of_threads() {
    let entries = many(&[90, 80], 150_000);
    for duplicates in Duplicates::ALL {
        let options = PackOptions {
            duplicates,
            ..PackOptions::default()
        };
        let pack = |threads| {
            let entries = entries.clone();
            with_threads(threads, || {
                Tensor::pack_entries(&Format::csr(), entries, options).map_err(|f| f.to_string())
            })
        };
        assert_eq!(pack(1), pack(3), "{duplicates}");
        let has_order = !matches!(
            duplicates,
            Duplicates::Or | Duplicates::And | Duplicates::Refuse
        );
        assert_eq!(pack(1).is_ok(), has_order, "{duplicates}");
    }
}

#[test]
fn every_type_has_the_rules_it_says() {
    let value = |element: ElementType, number: i64| Scalar::from_i64(element, number);
    for element in ElementType::ALL {
        for duplicates in Duplicates::ALL {
            let mut values = Array::filled(value(element, 3), 3).unwrap();
            values.set(1, value(element, 0));
            let entries = Entries {
                extents: vec![4],
                coords: vec![2, 2, 2].into(),
                values,
            };
            let options = PackOptions {
                duplicates,
                ..PackOptions::default()
            };
            let packed = Tensor::pack_entries(&Format::csf(1), entries, options);
            assert_eq!(
                packed.is_ok(),
                duplicates.check(element).is_ok() && duplicates != Duplicates::Refuse
            );
            let Ok(packed) = packed else { continue };
            let expected = match duplicates {
                Duplicates::Add | Duplicates::Or => 6,
                Duplicates::Multiply | Duplicates::Min | Duplicates::And => 0,
                _ => 3,
            };
            assert_eq!(
                packed.get(&[2]),
                value(element, expected),
                "{element} {duplicates}"
            );
        }
    }
}

#[test]
fn halves_and_nan_keep_their_bits_or_are_rounded_once_a_step() {
    let pack = |values: Array, duplicates| {
        let entries = Entries {
            extents: vec![1],
            coords: vec![0; values.len()].into(),
            values,
        };
        let options = PackOptions {
            duplicates,
            ..PackOptions::default()
        };
        let packed = Tensor::pack_entries(&Format::csf(1), entries, options).unwrap();
        packed.vals().get(0)
    };
    let nan = f64::from_bits(0x7FF8_0000_0000_1234);
    let kept = |duplicates| pack(Array::from_vec(vec![1.0, nan, 2.0]), duplicates);
    for duplicates in [Duplicates::Min, Duplicates::Max] {
        assert!(kept(duplicates).to_f64().is_nan());
    }
    assert_eq!(
        pack(Array::from_vec(vec![nan, 1.0]), Duplicates::First),
        Scalar::F64(nan)
    );
    let halves = vec![f16::from_f32(2048.0), f16::ONE, f16::ONE];
    assert_eq!(
        pack(Array::from_vec(halves), Duplicates::Add).to_f64(),
        2048.0
    );
    let third = bf16::from_f32(1.0 / 3.0);
    assert_eq!(
        pack(Array::from_vec(vec![third]), Duplicates::Add),
        Scalar::Bf16(third)
    );
}

#[test]
fn integers_of_64_bits_are_told_apart_when_fills_go() {
    let near = u64::MAX - 2;
    let entries = Entries {
        extents: vec![3],
        coords: vec![0, 1, 2].into(),
        values: Array::from_vec(vec![near, u64::MAX, 5]),
    };
    let options = PackOptions {
        fill: Some(Scalar::U64(u64::MAX)),
        ..PackOptions::default()
    };
    let packed = Tensor::pack_entries(&Format::csf(1), entries, options).unwrap();
    assert_eq!(
        packed.prune(0.0).unwrap().values::<u64>(),
        Some(&[near, 5][..])
    );
    assert_eq!(packed.prune(2.0).unwrap().values::<u64>(), Some(&[5][..]));
}

#[test]
fn complex_numbers_are_compared_as_wholes_and_by_parts_that_are_not_finite() {
    let one = |re: f64, im: f64| {
        let entries = Entries {
            extents: vec![1],
            coords: vec![0].into(),
            values: Array::from_vec(vec![Complex::new(re, im)]),
        };
        Tensor::pack_entries(&Format::dense(1), entries, PackOptions::default()).unwrap()
    };
    let nan = f64::NAN;
    let same = |a: &Tensor, b: &Tensor, tolerance| a.equal_within(b, tolerance).is_none();
    assert!(same(&one(nan, 1.0), &one(-nan, 1.0), 0.0));
    assert!(!same(&one(nan, 1.0), &one(nan, 2.0), 0.0));
    assert!(!same(&one(nan, 1.0), &one(1.0, nan), 1.0));
    assert!(same(&one(3.0, 4.0), &one(3.0, 4.5), 0.1));
    assert!(!same(&one(3.0, 4.0), &one(3.0, 4.5), 0.0));
}

#[test]
fn parts_that_do_not_join_are_refused() {
    let csr = Format::csr();
    let one = Tensor::pack(&csr, &[1, 2], &[0, 1], &[5.0]).unwrap();
    let join = |parts: &[(&[u64], &Tensor)]| {
        let error = Tensor::join(&csr, &[2, 2], parts).unwrap_err();
        (error.code().to_string(), error.message().to_owned())
    };
    let (code, message) = join(&[(&[0, 0], &one), (&[2, 0], &one)]);
    assert_eq!(code, "E0413");
    assert_eq!(
        message,
        "part 1 of extents 1 x 2 at offset 2 x 0 is not inside of extents 2 x 2"
    );
    assert_eq!(join(&[(&[u64::MAX, 0], &one)]).0, "E0413");
    assert_eq!(join(&[(&[0], &one)]).0, "E0402");
    assert_eq!(join(&[(&[0, 0, 0], &one)]).0, "E0402");
    assert_eq!(join(&[]).0, "E0413");
    assert_eq!(join(&[(&[0, 0], &one), (&[0, 0], &one)]).0, "E0408");
    // Extents of another order than the format.
    let vector = Tensor::pack(&Format::dense(1), &[2], &[1], &[5.0]).unwrap();
    let error = Tensor::join(&Format::csc(), &[2], &[(&[0], &vector)]).unwrap_err();
    assert_eq!(error.code().to_string(), "E0402");
    assert_eq!(join(&[(&[0, 0], &vector)]).0, "E0402");
    let entries = Entries {
        extents: vec![1, 2],
        coords: [0, 1].into(),
        values: Array::from_vec(vec![5.0f32]),
    };
    let other = Tensor::pack_entries(&csr, entries, PackOptions::default()).unwrap();
    let (code, message) = join(&[(&[0, 0], &one), (&[1, 0], &other)]);
    assert_eq!(code, "E0403");
    assert_eq!(
        message,
        "part 1 stores f32 with fill 0.0, and part 0 f64 with fill 0.0"
    );
}
