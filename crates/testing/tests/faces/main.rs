//! The two faces of every format agree: the entries of a tensor, as its levels
//! are walked, are those of the relation composed from the fragments of its
//! levels.
//!
//! | module      | formats                                                          |
//! |-------------|------------------------------------------------------------------|
//! | here        | those of levels: the walk of a packed tensor is the first face   |
//! | `described` | relations of their own, which have no levels                     |
//! | `packed`    | how tensors are packed into those                                |

mod described;
mod packed;

use std::collections::BTreeSet;

use sparsec::{Format, FormatSpec, Tensor, presets};
use sparsec_relation::{Data, Environment};

/// Formats of one part that presets are not, with their order.
const OTHERS: [(usize, &str); 12] = [
    (1, "(i) -> (i : run_length)"),
    (1, "(i) -> (i : loose_compressed)"),
    (1, "(i) -> (i floordiv 2 : hashed, i mod 2 : bitmap)"),
    (2, "(i, j) -> (i : batch, j : range)"),
    (2, "(i, j) -> (i : hashed, j : run_length)"),
    (
        2,
        "(i, j) -> (j : loose_compressed(nonunique), i : singleton)",
    ),
    (2, "(i, j) -> (i + j : dense, j : compressed)"),
    (2, "(i, j) -> (i : dense, #i < 4 : dense, j : singleton)"),
    (
        2,
        "(i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[4, 4])",
    ),
    (2, "(i, j) -> (i : dense), diagonal(i, j)"),
    (2, "csr, symmetric(i, j)"),
    (
        3,
        "(i, j, k) -> (morton(i, k) : compressed, j : run_length)",
    ),
];

/// A tensor of entries that every format here holds: on the diagonal.
fn tensor(format: &Format, extents: &[u64], seed: u64) -> Tensor {
    let least = extents.iter().min().copied().unwrap_or(0);
    let chosen = (0..least).filter(|i| (seed >> i) & 1 == 1);
    let only_diagonal = format.region().is_some();
    let mut coords: Vec<u64> = Vec::new();
    for i in chosen {
        coords.extend(extents.iter().map(|_| i));
        if !only_diagonal && extents.len() > 1 {
            // One more in the row, where there is room.
            let last = (i + 1 + seed % 2) % extents[extents.len() - 1];
            if last != i {
                coords.extend(extents[1..].iter().map(|_| i));
                coords.push(last);
            }
        }
    }
    let order = extents.len().max(1);
    let values: Vec<f64> = (0..coords.len() / order).map(|e| e as f64 + 1.0).collect();
    let tensor = Tensor::pack(format, extents, &coords, &values);
    tensor.unwrap_or_else(|error| panic!("{error}"))
}

fn check(format: &Format, extents: &[u64], seed: u64) {
    let tensor = tensor(format, extents, seed);
    let mut known = Environment::new();
    let mut data = Data::new();
    let mut constants: Vec<(String, u64)> = Vec::new();
    for (mode, extent) in extents.iter().enumerate() {
        constants.push((format!("N{mode}"), *extent));
    }
    let map = format.level_map(extents).expect("small extents");
    for (level, extent) in map.extents().iter().enumerate() {
        constants.push((format!("L{level}"), extent.unwrap_or(0)));
        let arrays = tensor.level(level);
        let named = [
            ("pos", arrays.pos()),
            ("crd", arrays.crd()),
            ("end", arrays.end()),
            ("first", arrays.first()),
            ("bits", arrays.bits()),
            ("bounds", arrays.bounds()),
            ("size", arrays.size()),
        ];
        for (name, index) in named {
            let values: Vec<i64> = index.to_vec();
            known = known.table(format!("{name}{level}"), values.clone());
            let length = vec![values.len() as i64];
            data.array(format!("{name}{level}"), length, move |at| values[at]);
        }
    }
    for (name, value) in constants {
        known = known.constant(name.as_str(), value as i64);
        data.constant(name, value as i64);
    }
    let relation = format.relation();
    let pairs = relation.enumerate(&known, -1..200);
    let pairs = pairs.unwrap_or_else(|error| panic!("{format}: {relation}\n{error}"));
    let related: BTreeSet<Vec<i64>> = pairs.into_iter().map(|(_, coords)| coords).collect();
    for descriptor in format.descriptors("tensor") {
        let checked = descriptor.declarations().check(&data);
        assert_eq!(checked, Ok(()), "{descriptor}\n{tensor}");
    }
    let mut walked = BTreeSet::new();
    tensor.for_each_stored(|coords, _| {
        // Mirror images are no entries of the relation.
        if format.region().is_none_or(|region| region.holds(coords)) {
            walked.insert(coords.iter().map(|&c| c as i64).collect::<Vec<i64>>());
        }
    });
    assert_eq!(related, walked, "{format}\n{relation}\n{tensor}");
}

#[test]
fn both_faces_hold_the_same_entries() {
    let mut n_formats = 0;
    for order in 0..4 {
        let others = OTHERS.iter().filter(|(fits, _)| *fits == order);
        let texts = others.map(|(_, text)| (*text).to_owned());
        let named = presets().iter().filter(|preset| preset.fits(order));
        let extents = [4, 4, 3];
        for text in named.map(|preset| preset.text(order)).chain(texts) {
            let spec: FormatSpec = text.parse().unwrap_or_else(|error| panic!("{error}"));
            let format = spec
                .resolve(order)
                .unwrap_or_else(|error| panic!("{error}"));
            if format.n_parts() > 1 {
                continue;
            }
            n_formats += 1;
            for seed in [0, 5, 14] {
                check(&format, &extents[..order], seed);
            }
        }
    }
    assert!(n_formats > 50, "{n_formats}");
}
