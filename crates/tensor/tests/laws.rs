//! Laws of stored tensors, on random entries in random formats of order 0 to 5.
//!
//! A map from coordinates to sums is the meaning of a list of entries; values
//! are small integers, so sums are exact.

mod support;

use proptest::prelude::*;
use sparsec_base::{ElementType, Scalar};
use sparsec_format::Format;
use sparsec_parallel::with_threads;
use sparsec_tensor::{Array, Coords, Duplicates, Entries, PackOptions, Tensor};
use support::{cases, many, meaning, packed, without_zeros};

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
    fn words_of_coordinates_make_no_difference((wide, format, _) in cases()) {
        let words = wide.coords.iter().map(|c| u32::try_from(c).expect("extents are small"));
        let narrow = Entries {
            coords: Coords::narrow(words.collect()),
            ..wide.clone()
        };
        prop_assert_eq!(&narrow, &wide);
        prop_assert_eq!(packed(&format, &narrow), packed(&format, &wide));
    }

    #[test]
    fn printing_never_fails((entries, format, _) in cases()) {
        let tensor = packed(&format, &entries);
        let tree = format!("{tensor:#}");
        prop_assert!(tree.lines().count() > 1);
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
            coords: vec![1, 1, 0, 1, 1, 1].into(),
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
        coords: vec![0, 1, 1, 0].into(),
        values: Array::from_vec(vec![7.0, f64::INFINITY]),
    };
    let options = PackOptions {
        fill: Some(Scalar::F64(f64::INFINITY)),
        duplicates: Duplicates::Refuse,
        ..PackOptions::default()
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
fn large_trees_are_cut() {
    let entries = many(&[1000, 1000], 50_000);
    let tensor = Tensor::pack_entries(&Format::csr(), entries, PackOptions::default()).unwrap();
    let text = format!("{tensor:#}");
    assert!(text.lines().count() < 100, "{text}");
    assert!(text.contains("more") && text.contains('…'));
    let scalar = format!("{:#}", Tensor::scalar(Scalar::I32(7)));
    assert_eq!(scalar, "i32[], () -> (), 1 stored\nvals i32[1]  7\n");
}
