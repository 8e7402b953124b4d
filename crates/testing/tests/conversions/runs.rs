//! Conversions from and to runs of equal values, and to `structured` levels.

use sparsec::internals::conversion::Converter;
use sparsec::{Format, PackOptions, Scalar, Tensor};

use super::{
    DESTINATIONS, MATRICES, SOURCES, Tally, check, compare, entries, format_of, machine, tensor,
};

#[test]
fn conversions_of_runs_are_those_of_unpacking_and_packing() {
    let runs = [
        "(i, j) -> (i : dense, j : run_length)",
        "(i, j) -> (j : compressed, i : run_length)",
        "(i, j) -> (j : dense, i : run_length)",
    ];
    check(&runs, DESTINATIONS, &MATRICES);
    let parts = "(i, j) -> (i : dense, j : run_length), lower(i, j) | (i, j) -> (i : compressed, j : compressed)";
    check(&[SOURCES[0], "csr"], &[parts], &MATRICES);
    check(&SOURCES[..5], &runs, &MATRICES);
    check(
        &["dia", "hyb(1)", "(i, j) -> (i : dense, j : hashed)"],
        &runs,
        &MATRICES,
    );
}

/// Neighbours of one value share a run, and nothing else does: zeros have signs.
#[test]
fn runs_are_those_of_packing() {
    let session = machine();
    let formats = [
        "(i, j) -> (i : dense, j : run_length)",
        "(i, j) -> (j : compressed, i : run_length)",
    ];
    let (mut n_equal, mut failed) = (0, Vec::new());
    for source in ["csr", SOURCES[0], "csc", "dia", formats[0], formats[1]] {
        let source = format_of(source);
        for destination in formats {
            let destination = format_of(destination);
            for fill in [0.0, 2.0, -0.0] {
                for seed in 0..6 {
                    let (at, values) = entries(&[4, 9], seed, 30);
                    let of = [2.0, 0.0, -0.0, 2.0, 3.0, f64::INFINITY];
                    let values = values
                        .iter()
                        .map(|n| of[(n * 7.0) as usize % (3 + seed as usize % 4).min(6)]);
                    let values: Vec<f64> = values.collect();
                    let listed = Tensor::pack(&Format::scoo(2), &[4, 9], &at, &values);
                    let listed = listed.expect("a tensor").entries();
                    let options = PackOptions {
                        fill: Some(Scalar::F64(fill)),
                        ..PackOptions::default()
                    };
                    let given = Tensor::pack_entries(&source, listed, options).expect("a tensor");
                    let expected = given.convert(&destination).expect("it converts");
                    let converter = Converter::new(&given, &destination);
                    let found = converter.and_then(|it| it.run(&session, &given));
                    let found = found.unwrap_or_else(|e| panic!("{source} -> {destination}: {e}"));
                    let [found, expected] =
                        [found, expected].map(|it| format!("{:?}", it.arrays()));
                    match found == expected {
                        true => n_equal += 1,
                        false => failed.push(format!(
                            "{source} -> {destination} {fill}: {found} not {expected}"
                        )),
                    }
                }
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{} fail\n{}",
        failed.len(),
        failed[..failed.len().min(8)].join("\n")
    );
    assert_eq!(n_equal, 216);
}

#[test]
fn conversions_into_structured_blocks_are_those_of_unpacking_and_packing() {
    let blocks = [
        "(i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])",
        "(i, j) -> (i floordiv 2 : compressed, j : compressed, i mod 2 : structured[1, 2])",
        "(i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[4, 4])",
    ];
    let matrices: [(&[u64], usize); 6] = [
        (&[5, 7], 6),
        (&[6, 8], 8),
        (&[4, 4], 1),
        (&[3, 3], 0),
        (&[0, 3], 0),
        (&[6, 8], 60),
    ];
    let session = machine();
    let mut tally = Tally::default();
    for source in SOURCES.iter().chain(DESTINATIONS) {
        let source = format_of(source);
        for destination in blocks.map(format_of) {
            let converter = Converter::new(&tensor(&source, &[5, 7], 1, 3), &destination);
            for (extents, n) in matrices {
                for seed in 1..4 {
                    let given = tensor(&source, extents, seed, n);
                    tally.count(compare(&session, &converter, &given, &destination));
                }
            }
        }
    }
    tally.finish(200, 50);
}
