//! The formulas of conversions that plans read are those that conversions have.

use std::fmt::Write as _;
use std::path::Path;

use sparsec::internals::computation::cost::{Cost, Work};
use sparsec::internals::conversion::{Optimisation, Types, bytes_moved, synthesized};
use sparsec::{ElementType, Format, FormatSpec};

/// Formats of matrices between which plans convert.
const MATRICES: [&str; 7] = ["coo", "scoo", "csr", "csc", "dcsr", "dcsc", "dense"];

/// Formats that kernels read in the nearest format of levels, or from which they are converted.
const OTHERS: [&str; 12] = [
    "ell",
    "bsr(2, 2)",
    "bsr(3, 3)",
    "bsr(4, 4)",
    "hash",
    "bitmap",
    "mcoo",
    "alto",
    "hicoo(128)",
    "csb(128)",
    "(i, j) -> (j : compressed(nonunique), i : singleton)",
    "(i, j) -> (j : dense, i : dense)",
];

/// The modes of trees of three levels.
const TREES: [&str; 6] = ["ijk", "ikj", "jik", "jki", "kij", "kji"];

fn format(text: &str, order: usize) -> Format {
    let spec: FormatSpec = text.parse().expect("a format");
    spec.resolve(order).expect("of this order")
}

/// The pairs of the table.
fn pairs() -> Vec<(Format, Format)> {
    let mut pairs = Vec::new();
    let mut add = |from: Format, to: Format| {
        // With its modes in the order in which the source meets them.
        let mut modes: Vec<usize> = Vec::new();
        let met = from
            .levels()
            .iter()
            .filter_map(|level| level.coordinate.mode());
        for mode in met.chain(0..from.order()) {
            if !modes.contains(&mode) {
                modes.push(mode);
            }
        }
        let [from, to] = [from, to].map(|format| format.with_modes_moved(&modes));
        let name = |format: &Format| format.arrangement();
        let is_new = |(a, b): &(Format, Format)| (name(a), name(b)) != (name(&from), name(&to));
        if name(&from) != name(&to) && pairs.iter().all(is_new) {
            pairs.push((from, to));
        }
    };
    for from in MATRICES {
        for to in MATRICES {
            add(format(from, 2), format(to, 2));
        }
    }
    for other in OTHERS {
        for list in ["scoo", "csr", "csc"] {
            add(format(other, 2), format(list, 2));
            add(format(list, 2), format(other, 2));
        }
    }
    for from in ["coo", "scoo", "csf", "dense", "hash"] {
        for to in ["coo", "scoo", "dense"] {
            add(format(from, 3), format(to, 3));
        }
        for modes in TREES {
            let levels = modes.chars().map(|mode| format!("{mode} : compressed"));
            let levels: Vec<String> = levels.collect();
            let tree = format!("(i, j, k) -> ({})", levels.join(", "));
            add(format(from, 3), format(&tree, 3));
        }
    }
    for vector in ["coo", "csf", "hash", "bitmap"] {
        add(format(vector, 1), format("dense", 1));
        add(format("dense", 1), format(vector, 1));
    }
    pairs
}

/// The types of index arrays of 32 bits, by their names in a conversion.
fn narrow() -> Types {
    let mut types = Types::new();
    for level in 0..4 {
        for (side, array) in [("A", "pos"), ("A", "crd"), ("B", "pos"), ("B", "crd")] {
            types.insert(format!("{side}_{array}{level}"), ElementType::I32);
        }
    }
    types
}

#[test]
fn the_table_has_the_formulas_of_conversions() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/conversion/costs.txt");
    let mut table = String::new();
    for (from, to) in pairs() {
        let made = synthesized(&from, &to, ElementType::F64, &narrow());
        let cost = made.and_then(|made| made.cost(Optimisation::All, &|_| true));
        let cost = cost.unwrap_or_else(|error| panic!("{from} to {to}: {error}"));
        let total = cost.total();
        let parsed: Work = total.to_string().parse().expect("it parses back");
        assert_eq!(parsed, total, "{from} to {to}");
        let again: Cost = cost.to_string().parse().expect("it parses back");
        assert_eq!(again, cost, "{from} to {to}");
        let pair = format!("{} -> {}", from.arrangement(), to.arrangement());
        let arrays = cost.to_string();
        let arrays = arrays
            .lines()
            .find_map(|line| line.trim().strip_prefix("arrays: "));
        let arrays = arrays.expect("a line with the arrays").to_owned();
        writeln!(table, "{pair} | {arrays} | {total}").expect("room in memory");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    if found != table && std::env::var_os("SPARSEC_BLESS").is_some() {
        std::fs::write(&path, &table).expect("the table can be written");
        return;
    }
    assert!(
        found == table,
        "{} is stale: run this test with SPARSEC_BLESS=1",
        path.display()
    );
}

/// Formulas of pairs whose modes have other numbers are those of the pair in the table.
#[test]
fn modes_of_other_numbers_are_counted_alike() {
    let extents = [Some(1_000), Some(70_000)];
    let turned = [extents[1], extents[0]];
    let by_columns = "(i, j) -> (j : compressed(nonunique), i : singleton)";
    for (pair, other) in [
        (["csc", "csr"], ["csr", "csc"]),
        (["csc", "dcsr"], ["csr", "dcsc"]),
        (["csc", "scoo"], ["csr", by_columns]),
    ] {
        let moved = |[from, to]: [&str; 2], extents: &[Option<u64>]| {
            bytes_moved(&format(from, 2), &format(to, 2), extents, 3e7)
        };
        assert_eq!(moved(pair, &extents), moved(other, &turned), "{pair:?}");
        assert_ne!(moved(pair, &extents), moved(other, &extents), "{pair:?}");
    }
}

/// Large tensors are converted by kernels: their formulas say what that takes.
#[test]
fn kernels_move_less_than_packing_where_there_is_much() {
    let extents = [Some(1_000_000), Some(1_000_000)];
    let each = |from: &str, to: &str, n: f64| {
        bytes_moved(&format(from, 2), &format(to, 2), &extents, n) / n
    };
    for (from, to) in [
        ("csr", "csc"),
        ("scoo", "csr"),
        ("coo", "csr"),
        ("csr", "dcsr"),
    ] {
        // Packing takes as long for each entry, beside arrays over the extents.
        let packed = |n: f64| each(from, to, 2.0 * n) * 2.0 * n - each(from, to, n) * n;
        let (few, many) = (packed(1e3) / 1e3, packed(2e5) / 2e5);
        assert!(
            (few - many).abs() < 1e-3,
            "{from} to {to}: {few} and {many}"
        );
        assert!(each(from, to, 1e8) < each(from, to, 1e6), "{from} to {to}");
    }
    // Entries in the order of the destination are copied, and others are not.
    assert!(each("scoo", "csr", 1e8) < each("coo", "csr", 1e8) / 2.0);
}

/// Positions over an extent are written however few entries there are.
#[test]
fn arrays_over_extents_are_counted() {
    let extents = [Some(10), Some(1 << 33)];
    let moved = |to: &str| bytes_moved(&format("csr", 2), &format(to, 2), &extents, 3.0);
    assert!(moved("dcsr") < 1e4);
    assert!(moved("csc") > 64e9);
}

/// Pairs that the table lacks have formulas too: each takes less than packing.
#[test]
fn formulas_of_other_pairs_are_derived() {
    for [from, to] in [
        ["csc", "bsr(2, 3)"],
        ["dcsr", "bsr(2, 3)"],
        ["scoo", "hyb(2)"],
    ] {
        let entries = 3e7;
        let extents = [Some(1_000_000), Some(3_000_000)];
        let moved = bytes_moved(&format(from, 2), &format(to, 2), &extents, entries);
        let of_fewer = bytes_moved(&format(from, 2), &format(to, 2), &extents, 1e5);
        assert!(
            moved / entries < 0.9 * of_fewer / 1e5,
            "{from} to {to}: {moved}"
        );
    }
}
