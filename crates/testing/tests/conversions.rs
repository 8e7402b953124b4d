//! Synthesized conversions between all pairs of formats of one part, beside the conversion
//! by unpacking and packing.

use sparsec::internals::conversion::Converter;
use sparsec::{
    Array, Backend, Diagnostic, ElementType, Format, FormatSpec, Options, PackOptions, Scalar,
    Session, Tensor, code,
};

#[path = "conversions/alone.rs"]
mod alone;
#[path = "conversions/compare.rs"]
mod compare;
#[path = "conversions/pairs.rs"]
mod pairs;
#[path = "conversions/relations.rs"]
mod relations;
#[path = "conversions/repeated.rs"]
mod repeated;
#[path = "conversions/runs.rs"]
mod runs;
#[path = "conversions/triangles.rs"]
mod triangles;

use compare::{Tally, compare, run_in_shares};

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
fn conversions_along_curves_and_into_loose_segments_are_those_of_unpacking_and_packing() {
    let of = [SOURCES[0], SOURCES[3], SOURCES[6]];
    let into = [
        "mcoo",
        "hicoo(2)",
        "alto",
        "(i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonordered)), order alto(i, j)",
        "(i, j) -> (i : dense, j : loose_compressed)",
        "(i, j) -> (j : compressed, i : loose_compressed(nonordered))",
    ];
    check(&of, &into, &MATRICES);
    check(&into, &["csr", "csc"], &MATRICES);
}

#[test]
fn conversions_of_several_parts_are_those_of_unpacking_and_packing() {
    let unions = [
        "hyb(1)",
        "hyb(2)",
        "msr",
        "(i, j) -> (j : dense), diagonal(i, j) | (i, j) -> (#i < 1 : dense, i : dense, j : singleton) | (i, j) -> (i : compressed, j : compressed)",
    ];
    check(&[SOURCES[0], "csr"], &unions, &MATRICES);
    check(&unions, &["csc", "hyb(1)"], &MATRICES);
    let mirrored = [
        "(i, j) -> (i : dense, j : compressed), symmetric(i, j)",
        "(i, j) -> (i : compressed, j : compressed), skew(i, j)",
        "(i, j) -> (i : dense, j : range), symmetric(i, j)",
    ];
    let lower = &[
        ("csr", &[5u64, 5][..], vec![1, 0, 2, 2, 4, 1, 4, 3]),
        ("csr", &[3, 3], vec![]),
    ];
    let session = Session::new(Options::from_env().backend(Backend::Cranelift).threads(1));
    for source in mirrored {
        for (_, extents, coordinates) in lower {
            let (is_skew, mut coordinates) = (source.contains("skew"), coordinates.clone());
            if is_skew && !coordinates.is_empty() {
                coordinates.drain(2..4);
            }
            let mut values: Vec<f64> = (1..=coordinates.len() / 2).map(|n| n as f64).collect();
            // Both images of each entry.
            let images: Vec<[u64; 2]> = coordinates.chunks(2).map(|at| [at[1], at[0]]).collect();
            for (at, image) in images.iter().enumerate() {
                if image[0] != image[1] {
                    coordinates.extend(image);
                    values.push(if is_skew { -values[at] } else { values[at] });
                }
            }
            let format: Format = source.parse().expect("a format");
            let given = Tensor::pack(&format, extents, &coordinates, &values).expect(source);
            for into in ["csr", "dcsc", "bsr(2, 2)", "hyb(1)"] {
                let into = into
                    .parse::<FormatSpec>()
                    .and_then(|it| it.resolve(2))
                    .expect("a format");
                let converter = Converter::new(&given, &into);
                let found = converter.and_then(|it| it.run(&session, &given));
                let found = found.unwrap_or_else(|error| panic!("{source} -> {into}: {error}"));
                let expected = given.convert(&into).expect("it converts");
                assert_eq!(sorted(&found), sorted(&expected), "{source} -> {into}");
            }
        }
    }
}

/// A level below one parent has numbers that no length of an array says: where its run begins,
/// where its segment ends.
#[test]
fn conversions_of_outermost_runs_and_segments_are_those_of_unpacking_and_packing() {
    let of = [
        "(i, j) -> (i : range, j : dense)",
        "(i, j) -> (j : range, i : compressed)",
        "(i, j) -> (j - i : range, j : dense)",
        "(i, j) -> (i : loose_compressed, j : dense)",
        "(i, j) -> (j floordiv 3 : loose_compressed, i : dense, j mod 3 : compressed)",
        "(i, j) -> (i : dense, j floordiv 4 : range, j mod 4 : dense)",
    ];
    check(&of, DESTINATIONS, &MATRICES);
}

/// A sweep numbers blocks, and rows of blocks, and entries.
#[test]
fn conversions_into_lists_within_blocks_are_those_of_unpacking_and_packing() {
    let lists = [
        "(i, j) -> (i floordiv 2 : compressed, j floordiv 3 : compressed, i mod 2 : compressed, j mod 3 : compressed)",
        "(i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : compressed, j mod 3 : dense)",
    ];
    check(&["csr", "scoo"], &lists, &MATRICES);
}

/// Blocks of few entries have no room for a table of all columns of blocks: entries are sorted.
#[test]
fn conversions_into_blocks_of_large_extents_are_those_of_unpacking_and_packing() {
    let blocks = "(i, j) -> (i floordiv 4 : compressed, j floordiv 4 : compressed, i mod 4 : dense, j mod 4 : dense)";
    let tensors: [(&[u64], usize); 2] = [(&[5, 7], 12), (&[30_000_000, 40_000_000], 40)];
    check(&["scoo", "dcsr", "coo", blocks], &["dcsc"], &tensors);
}

/// What says that a destination cannot hold a tensor.
const REFUSED: [code::Code; 2] = [code::NOT_AS_DECLARED, code::NOT_MIRRORED];

fn format_of(text: &str) -> Format {
    let spec = text.parse::<FormatSpec>();
    let format = spec.and_then(|spec| spec.resolve(spec.order().unwrap_or(2)));
    format.unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn machine() -> Session {
    Session::new(Options::from_env().backend(Backend::Cranelift).threads(1))
}

#[test]
fn conversions_into_tables_are_those_of_unpacking_and_packing() {
    let tables = ["hash", "(i, j) -> (j : compressed, i : hashed)"];
    check(&[SOURCES[0], "csr", "dia"], &tables, &MATRICES);
}

#[test]
fn fills_are_kept() {
    let session = Session::new(Options::from_env().backend(Backend::Cranelift).threads(1));
    for fill in [f64::INFINITY, -0.0] {
        for source in ["csr", "bsr(2, 2)", "scoo"] {
            for destination in ["csc", "dense", "dia", "bsr(2, 3)", "ell"] {
                let [source, destination] = [source, destination].map(|text| {
                    let spec = text.parse::<FormatSpec>();
                    spec.and_then(|it| it.resolve(2)).expect("a format")
                });
                let (coordinates, values) = entries(&[5, 7], 3, 9);
                let options = PackOptions {
                    fill: Some(Scalar::F64(fill)),
                    ..PackOptions::default()
                };
                let listed = Tensor::pack(&Format::scoo(2), &[5, 7], &coordinates, &values);
                let listed = listed.expect("a tensor").entries();
                let given = Tensor::pack_entries(&source, listed, options).expect("a tensor");
                let found =
                    Converter::new(&given, &destination).and_then(|it| it.run(&session, &given));
                let found =
                    found.unwrap_or_else(|error| panic!("{source} -> {destination}: {error}"));
                let expected = given.convert(&destination).expect("it converts");
                assert_eq!(found.fill(), given.fill());
                assert_eq!(
                    sorted(&found),
                    sorted(&expected),
                    "{source} -> {destination}"
                );
            }
        }
    }
}

#[test]
fn repeated_entries_are_added_up() {
    let of = [
        "(i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonunique, nonordered))",
        "(i, j) -> (i : dense, j : compressed(nonunique))",
    ];
    let formats = [
        SOURCES[1],
        "csr",
        "dcsc",
        "bsr(2, 2)",
        "dense",
        "dia",
        "mcoo",
    ];
    let session = Session::new(Options::from_env().backend(Backend::Cranelift).threads(1));
    for source in of {
        let source: Format = source.parse().expect("a format");
        let (pos, row) = (
            Array::from_vec(vec![0, 5]),
            Array::from_vec(vec![1, 0, 1, 3, 1]),
        );
        let col = Array::from_vec(vec![2, 0, 2, 3, 2]);
        let values = Array::from_vec(vec![1.0, 2.0, 4.0, 8.0, 16.0]);
        let arrays = match source.levels()[0].kind.text().as_str() {
            "dense" => {
                let pos = Array::from_vec(vec![0, 1, 4, 4, 5]);
                let col = Array::from_vec(vec![0, 2, 2, 2, 3]);
                let values = Array::from_vec(vec![2.0, 1.0, 4.0, 16.0, 8.0]);
                vec![pos, col, values]
            }
            _ => vec![pos, row, col, values],
        };
        let zero = ElementType::F64.zero();
        let given = Tensor::new(source, vec![4, 5], ElementType::F64, zero, arrays);
        let given = given.expect("a tensor with repeated entries");
        for format in formats {
            let format: Format = format
                .parse::<FormatSpec>()
                .and_then(|it| it.resolve(2))
                .expect("a format");
            let converter = Converter::new(&given, &format);
            let found = converter.and_then(|it| it.run(&session, &given));
            let found = found.unwrap_or_else(|error| panic!("{format}: {error}"));
            let expected = given.convert(&format).expect("it converts");
            assert_eq!(found.get(&[1, 2]).to_string(), "21.0", "{format}");
            assert_eq!(sorted(&found), sorted(&expected), "{format}");
        }
    }
}

#[test]
fn conversions_of_three_modes_are_those_of_unpacking_and_packing() {
    let (of, into) = (
        [
            "(i, j, k) -> (i : compressed(nonunique, nonordered), j : singleton(nonunique, nonordered), k : singleton(nonordered))",
            "(i, j, k) -> (i : compressed, j : compressed, k : compressed)",
            "(i, j, k) -> (k : dense, i : compressed, j : compressed)",
            "(i, j, k) -> (i : dense, j : dense, k : compressed)",
            "(i, j, k) -> (k : dense, i : dense, j : compressed)",
        ],
        [
            "(i, j, k) -> (k : dense, j : dense, i : dense)",
            "(i, j, k) -> (k : dense, i : dense, j : bitmap)",
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
fn conversions_into_tables_of_three_modes_are_those_of_unpacking_and_packing() {
    let of = [
        "(i, j, k) -> (i : compressed, j : compressed, k : compressed)",
        "(i, j, k) -> (i : compressed(nonunique, nonordered), j : singleton(nonunique, nonordered), k : singleton(nonordered))",
    ];
    let into = [
        "(i, j, k) -> (i : dense, j : dense, k : hashed)",
        "(i, j, k) -> (k : compressed, j : dense, i : hashed)",
    ];
    check(
        &of,
        &into,
        &[(&[3, 4, 5], 20), (&[2, 2, 2], 8), (&[3, 0, 2], 0)],
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
    refused(&csr, "(i, j) -> (i : hashed, j : compressed)");
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

/// The stored entries of a tensor in the order of their coordinates.
fn sorted(tensor: &Tensor) -> Vec<(Vec<u64>, String)> {
    let entries = tensor.iter().map(|(at, value)| (at, value.to_string()));
    let mut entries: Vec<_> = entries.collect();
    entries.sort();
    entries
}

/// Converts tensors of these extents and numbers of entries from each source to each other
/// source and to each destination.
fn check(sources: &[&str], destinations: &[&str], tensors: &[(&[u64], usize)]) {
    let session = Session::new(Options::from_env().backend(Backend::Cranelift).threads(1));
    let format = |text: &&str| {
        let spec = text.parse::<FormatSpec>();
        let format = spec.and_then(|spec| spec.resolve(spec.order().unwrap_or(2)));
        format.unwrap_or_else(|error| panic!("{text}: {error}"))
    };
    let texts = sources.to_vec();
    let sources: Vec<Format> = sources.iter().map(format).collect();
    let all = match destinations == DESTINATIONS {
        true => SOURCES,
        false => &texts[..],
    };
    let destinations: Vec<Format> = all.iter().chain(destinations).map(format).collect();
    let mut failed = Vec::new();
    for (at_source, source) in sources.iter().enumerate() {
        for (at_destination, destination) in destinations.iter().enumerate() {
            // To lower a conversion twice takes as long as all else: one in three is.
            let in_shares = (at_source + at_destination) % 3 == 0;
            let (extents, n) = tensors[0];
            let like = tensor(source, extents, 1, n / 4);
            let converter = Converter::new(&like, destination);
            let shared = converter.clone().map(|converter| converter.in_shares(1));
            for (extents, n) in tensors {
                let given = tensor(source, extents, 7 + *n as u64, *n);
                let expected = given.convert(destination);
                let found = converter
                    .clone()
                    .and_then(|converter| converter.run(&session, &given));
                if let Ok(shared) = &shared
                    && in_shares
                    && *n > 10
                    && let Err(why) = run_in_shares(shared, &given, &found)
                {
                    failed.push(format!("to {destination}: {why}"));
                }
                let is_right = match (&found, &expected) {
                    (Ok(found), Ok(expected)) => sorted(found) == sorted(expected),
                    // The destination cannot hold these entries.
                    (Err(error), Err(_)) => error.code() == code::NOT_AS_DECLARED,
                    _ => false,
                };
                if !is_right {
                    let of = |tensor: Result<Tensor, Diagnostic>| match tensor {
                        Ok(tensor) => format!("{:?}", tensor.arrays()),
                        Err(error) => error.to_string(),
                    };
                    let why = format!("{} not {}", of(found), of(expected));
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
