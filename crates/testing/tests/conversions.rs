//! Synthesized conversions between all pairs of formats of one part, beside the conversion
//! by unpacking and packing.

use sparsec::conversion::Converter;
use sparsec::{Backend, Format, FormatSpec, Options, Session, Tensor, code};

/// Entries of a small tensor: coordinates and values.
fn entries(extents: &[u64], seed: u64, n: usize) -> (Vec<u64>, Vec<f64>) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut tuples = std::collections::BTreeSet::new();
    if extents.iter().all(|extent| *extent > 0) {
        for _ in 0..n {
            let tuple: Vec<u64> = extents.iter().map(|extent| random() % extent).collect();
            tuples.insert(tuple);
        }
    }
    let values = (1..=tuples.len()).map(|n| n as f64);
    (tuples.iter().flatten().copied().collect(), values.collect())
}

fn tensor(format: &Format, extents: &[u64], seed: u64, n: usize) -> Tensor {
    let (coordinates, values) = entries(extents, seed, n);
    let packed = Tensor::pack(format, extents, &coordinates, &values);
    packed.unwrap_or_else(|error| panic!("{format}: {error}"))
}

const SOURCES: &[&str] = &[
    "(i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonordered))",
    "(i, j) -> (i : compressed(nonunique), j : singleton)",
    "csr",
    "csc",
    "dcsr",
    "dcsc",
    "(i, j) -> (i floordiv 2 : dense, j floordiv 3 : dense, i mod 2 : compressed(nonunique), j mod 3 : singleton)",
    "(i, j) -> (j : compressed(nonunique), i : singleton)",
    "(i, j) -> (j : dense, i : compressed(nonordered))",
    "(i, j) -> (j - i : compressed, i : compressed)",
];

const DESTINATIONS: &[&str] = &[
    "(i, j) -> (i : dense, j : bitmap)",
    "(i, j) -> (i : batch, j : compressed)",
    "(i, j) -> (i : dense, j : dense)",
    "(i, j) -> (j : dense, i : dense)",
    "(i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense)",
    "(i, j) -> (j floordiv 2 : compressed, i floordiv 2 : compressed, i mod 2 : dense, j mod 2 : dense)",
    "dia",
    "ell",
    "(i, j) -> (i : dense, j : range)",
];

#[test]
fn conversions_of_lists_are_those_of_unpacking_and_packing() {
    check(&SOURCES[..5], DESTINATIONS, &MATRICES);
}

#[test]
fn conversions_of_other_orders_are_those_of_unpacking_and_packing() {
    check(&SOURCES[5..], DESTINATIONS, &MATRICES);
}

#[test]
fn conversions_of_places_without_entries_are_those_of_unpacking_and_packing() {
    let of = [
        "(i, j) -> (i : dense, j : dense)",
        "(i, j) -> (i : dense, j : bitmap)",
        "(i, j) -> (i : dense, j : hashed)",
        "(i, j) -> (i : dense, j : loose_compressed)",
        "(i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])",
        "(i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense)",
        "dia",
        "ell",
        "(i, j) -> (i : dense, j : range)",
    ];
    check(&of, DESTINATIONS, &MATRICES[..1]);
    check(&of, DESTINATIONS, &MATRICES[2..]);
}

#[test]
fn conversions_of_three_modes_are_those_of_unpacking_and_packing() {
    let (of, into) = (
        [
            "(i, j, k) -> (i : compressed(nonunique, nonordered), j : singleton(nonunique, nonordered), k : singleton(nonordered))",
            "(i, j, k) -> (i : compressed, j : compressed, k : compressed)",
            "(i, j, k) -> (k : dense, i : compressed, j : compressed)",
        ],
        [
            "(i, j, k) -> (k : dense, j : dense, i : dense)",
            "(i, j, k) -> (j : dense, i floordiv 2 : compressed, k : compressed, i mod 2 : dense)",
        ],
    );
    check(
        &of,
        &into,
        &[
            (&[3, 4, 5], 20),
            (&[2, 2, 2], 8),
            (&[3, 0, 2], 0),
            (&[4, 1, 3], 0),
        ],
    );
}

#[test]
fn formats_that_say_too_little_are_refused() {
    let csr = tensor(&Format::csr(), &[4, 4], 1, 3);
    let refused = |given: &Tensor, destination: &str| {
        let destination = destination.parse::<FormatSpec>().expect("a format");
        let destination = destination.resolve(destination.order().unwrap_or(2));
        let destination = destination.expect("a format of two modes");
        let error = Converter::new(given, &destination).expect_err("it is refused");
        assert_eq!(error.code(), code::NO_CONVERSION, "{error}");
        assert!(error.help_text().is_some(), "{error}");
    };
    refused(&csr, "csr, symmetric(i, j)");
    refused(&csr, "mcoo");
    for open in ["hashed", "loose_compressed", "run_length"] {
        refused(&csr, &format!("(i, j) -> (i : dense, j : {open})"));
    }
    let runs = "(i, j) -> (i : dense, j : run_length)";
    let runs = runs.parse().expect("a format");
    refused(&tensor(&runs, &[4, 4], 1, 3), "csr");
    refused(
        &csr,
        "(i, j, k) -> (i : dense, j : compressed, k : compressed)",
    );
}

const MATRICES: [(&[u64], usize); 6] = [
    (&[5, 7], 12),
    (&[6, 4], 40),
    (&[4, 4], 1),
    (&[3, 3], 0),
    (&[0, 3], 0),
    (&[1, 1], 1),
];

/// Converts tensors of these extents and numbers of entries from each source to each other
/// source and to each destination.
fn check(sources: &[&str], destinations: &[&str], tensors: &[(&[u64], usize)]) {
    let session = Session::new(Options {
        backend: Backend::Cranelift,
        ..Options::default()
    });
    let format = |text: &&str| -> Format { text.parse().unwrap_or_else(|e| panic!("{text}: {e}")) };
    let texts = sources.to_vec();
    let sources: Vec<Format> = sources.iter().map(format).collect();
    let all = match destinations == DESTINATIONS {
        true => SOURCES,
        false => &texts[..],
    };
    let destinations: Vec<Format> = all.iter().chain(destinations).map(format).collect();
    let mut failed = Vec::new();
    for source in &sources {
        for destination in &destinations {
            let (extents, n) = tensors[0];
            let like = tensor(source, extents, 1, n / 4);
            let converter = Converter::new(&like, destination);
            for (extents, n) in tensors {
                let given = tensor(source, extents, 7 + *n as u64, *n);
                let expected = given.convert(destination).expect("it converts");
                let found = converter
                    .clone()
                    .and_then(|converter| converter.run(&session, &given));
                let is_right = match &found {
                    Ok(found) => {
                        found.iter().eq(expected.iter()) || {
                            let sorted = |tensor: &Tensor| {
                                let mut all: Vec<_> = tensor
                                    .iter()
                                    .map(|(at, value)| (at, value.to_string()))
                                    .collect();
                                all.sort();
                                all
                            };
                            sorted(found) == sorted(&expected)
                        }
                    }
                    Err(_) => false,
                };
                if !is_right {
                    let why = match found {
                        Ok(found) => format!("{:?} not {:?}", found.arrays(), expected.arrays()),
                        Err(error) => error.to_string(),
                    };
                    failed.push(format!("{source} -> {destination} {extents:?}: {why}"));
                    break;
                }
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {} fail\n{}",
        failed.len(),
        sources.len() * destinations.len(),
        failed.join("\n")
    );
}
