//! Mutants of conversions: the checker of certificates accepts none that is wrong.
//!
//! A mutant is a conversion with one thing changed. It gets the certificate that the forms of
//! its statements suggest, so that the checker has to find what is wrong, and not only that
//! something was changed; and it is run on small tensors:
//!
//! |          | accepted   | refused |
//! |----------|------------|---------|
//! | wrong    | **a fault** | as it should be |
//! | harmless | as it should be | a proof that is missing |

#![allow(clippy::print_stdout, reason = "counts what was judged")]

mod judge;
mod mutate;

use sparsec::internals::conversion::{
    Conversion, Wanted, assembled, convert_parts, described, into, wanted,
};
use sparsec::internals::relational;
use sparsec::{ElementType, Format, FormatSpec};
use sparsec_relation::Descriptor;

const COORDINATES: &str =
    "(i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonordered))";

const OTHERS: [&str; 6] = [
    "(i, j) -> (i : compressed(nonunique), j : singleton)",
    "csc",
    "dcsr",
    "(i, j) -> (j : compressed(nonunique), i : singleton)",
    "(i, j) -> (j : dense, i : compressed(nonordered))",
    "(i, j) -> (j - i : compressed, i : compressed)",
];

const DESTINATIONS: [&str; 12] = [
    "csr",
    "csc",
    "dcsc",
    "(i, j) -> (j : dense, i : compressed(nonordered))",
    COORDINATES,
    "(i, j) -> (i : dense, j : bitmap)",
    "(i, j) -> (i : dense, j : range)",
    "(i, j) -> (j : dense, i : dense)",
    "(i, j) -> (j - i : compressed, i : compressed)",
    "(i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense)",
    "dia",
    "ell",
];

/// How many mutants of each kind there are.
#[derive(Default)]
struct Counts {
    n_judged: usize,
    wrong_refused: usize,
    harmless_accepted: usize,
    harmless_refused: usize,
    no_computation: usize,
    faults: Vec<String>,
}

fn conversion(source: &Format, destination: &Format, has_fill: bool) -> Conversion {
    let wanted = Wanted {
        has_fill: Some(has_fill),
        ..wanted(source, ElementType::F64)
    };
    let wanted = into(destination, wanted);
    let parts = described(source, false).expect("a source");
    let whole = described(destination, true).expect("a destination");
    convert_parts(&parts, &whole, &wanted).expect("there is a conversion")
}

/// Judges mutants of the conversion between two formats: of all, one in `every`.
fn judge([from, to]: [&str; 2], (fill, every): (Option<f64>, usize), counts: &mut Counts) {
    let format = |text: &str| -> Format {
        let spec = text.parse::<FormatSpec>().and_then(|spec| spec.resolve(2));
        spec.unwrap_or_else(|e| panic!("{text}: {e}"))
    };
    let (source, destination) = (format(from), format(to));
    let made = conversion(&source, &destination, fill.is_some());
    let whole = destination.descriptors("format");
    judge_all(
        &made,
        ([&source, &destination], &whole),
        (fill, every),
        counts,
    );
}

/// Judges mutants of a conversion to a format that `whole` describes, and that holds the tensors which
/// the second of two formats of levels does.
fn judge_all(
    made: &Conversion,
    (formats, whole): ([&Format; 2], &[Descriptor]),
    (fill, every): (Option<f64>, usize),
    counts: &mut Counts,
) {
    let (from, to) = (formats[0], whole[0].name());
    let certificate = made.proposal().expect("it has a certificate");
    let checked = made.question().check(&certificate);
    checked.unwrap_or_else(|error| panic!("{from} to {to}: {error}"));
    let samples = judge::samples(made, (formats, whole), fill);
    let n = made.computation.statements.len();
    let mutants = mutate::mutants(&made.computation, n.max(3));
    for mutant in mutants
        .into_iter()
        .skip(counts.n_judged % every)
        .step_by(every)
    {
        counts.n_judged += 1;
        let Ok(computation) = mutant.computation.checked() else {
            counts.no_computation += 1;
            continue;
        };
        let mut changed = made.clone();
        changed.computation = computation;
        let proposed = changed.proposal();
        let is_accepted = proposed.is_ok_and(|it| changed.question().check(&it).is_ok());
        let mut samples = samples.iter();
        let is_right = samples.all(|sample| sample.is_right(&changed.computation, whole));
        match (is_right, is_accepted) {
            (true, true) => counts.harmless_accepted += 1,
            (true, false) => counts.harmless_refused += 1,
            (false, false) => counts.wrong_refused += 1,
            (false, true) => counts
                .faults
                .push(format!("{from} to {to}, {}", mutant.what)),
        }
    }
}

/// Of how many mutants one is judged. The environment variable `SPARSEC_MUTANTS` asks for all.
fn every(n: usize) -> usize {
    match std::env::var_os("SPARSEC_MUTANTS") {
        Some(_) => 1,
        None => n,
    }
}

/// Judges the mutants of conversions from formats to others.
fn check(sources: &[&str], destinations: &[&str], how: (Option<f64>, usize)) {
    let mut counts = Counts::default();
    for from in sources {
        for to in destinations {
            judge([from, to], (how.0, every(how.1)), &mut counts);
        }
    }
    settle(sources.len() * destinations.len(), &counts);
}

/// That no wrong mutant was accepted.
fn settle(n_conversions: usize, counts: &Counts) {
    println!(
        "{} conversions; mutants: wrong and refused {}, harmless and accepted {}, harmless and refused {}, no computation {}",
        n_conversions,
        counts.wrong_refused,
        counts.harmless_accepted,
        counts.harmless_refused,
        counts.no_computation,
    );
    let (n, faults) = (counts.faults.len(), counts.faults.join("\n"));
    assert!(n == 0, "{n} wrong mutants are accepted:\n{faults}");
    assert!(counts.wrong_refused > 0 && counts.harmless_accepted > 0);
}

/// Rows padded to the longest, which an array counts.
const COUNTED: &str = "
    format counted
    extents N0, N1
    map {[s, r] -> [i, j] : 0 <= r < N0 && 0 <= s < len(r) && i = r && j = col(N0 * s + r) && 0 <= j < N1}
    data {[s, r] -> [N0 * s + r]}
    values {[p] : 0 <= p < W * N0}
    unique
    function len : {[r] : 0 <= r < N0} -> {[n] : 0 <= n <= W}
    function col : {[p] : 0 <= p < W * N0} -> {[j] : 0 <= j < N1}
";

/// Entries along the diagonals that go up.
const DIAGONALLY: &str = "
    format diagonally
    extents N0, N1
    map {[n] -> [i, j] : 0 <= n < NZ && i = row(n) && j = col(n) && 0 <= i < N0 && 0 <= j < N1}
    data {[n] -> [n]}
    values {[n] : 0 <= n < NZ}
    function row : {[n] : 0 <= n < NZ} -> {[i] : 0 <= i < N0}
    function col : {[n] : 0 <= n < NZ} -> {[j] : 0 <= j < N1}
    forall n, m : 0 <= n < m < NZ => LEX(row(n) + col(n), row(n)) < LEX(row(m) + col(m), row(m))
";

/// Entries along a Hilbert curve through 8 rows and columns.
const CURVED: &str = "
    format curved
    extents N0, N1
    map {[n] -> [i, j] : 0 <= n < NZ && i = row(n) && j = col(n)}
    data {[n] -> [n]}
    values {[n] : 0 <= n < NZ}
    function row : {[n] : 0 <= n < NZ} -> {[i] : 0 <= i < N0}
    function col : {[n] : 0 <= n < NZ} -> {[j] : 0 <= j < N1}
    key CURVE(i : 3, j : 3) : 6 {
      d = 0
      for b in 0..3 {
        x = i >> 2 - b and 1
        y = j >> 2 - b and 1
        d = d << 2 or 3 * x xor y
        turned = select(y = 1, i, select(x = 1, 7 - j, j))
        j = select(y = 1, j, select(x = 1, 7 - i, i))
        i = turned
      }
      return d
    }
    forall n, m : 0 <= n < m < NZ => CURVE(row(n), col(n)) < CURVE(row(m), col(m))
";

#[test]
fn wrong_mutants_of_conversions_to_relations_are_refused() {
    let mut counts = Counts::default();
    let like = Format::csr();
    for from in [COORDINATES, "csr", "csc", "dense"] {
        let source: FormatSpec = from.parse().expect("a format");
        let source = source.resolve(2).expect("of order 2");
        for to in [COUNTED, DIAGONALLY, CURVED] {
            let whole: [Descriptor; 1] = [to.parse().expect("a descriptor")];
            let parts = described(&source, false).expect("a source");
            let wanted = wanted(&source, ElementType::F64);
            let made = convert_parts(&parts, &whole, &wanted).expect("a conversion");
            judge_all(&made, ([&source, &like], &whole), (None, 1), &mut counts);
        }
    }
    settle(12, &counts);
}

/// Formats whose assembly is stated: rows by length, entries by one mode, fibers.
const STATED: [&str; 7] = [
    "jds",
    "sell(1, 1)",
    "sell(2, 4)",
    "fcoo(0)",
    "fcoo(1)",
    "bcsf(1)",
    "bcsf(2)",
];

#[test]
fn wrong_mutants_of_stated_assemblies_are_refused() {
    let mut counts = Counts::default();
    let (source, like) = (Format::scoo(2), Format::csr());
    let parts = described(&source, false).expect("a source");
    for to in STATED {
        let format = to.parse::<FormatSpec>().and_then(|spec| spec.relation(2));
        let format = format.expect("a format").expect("a relation");
        let assembly = relational::assembly(&format, ElementType::F64).expect("a computation");
        let assembly = assembly.expect("a stated assembly");
        let whole = std::slice::from_ref(format.descriptor());
        let wanted = Wanted::of(ElementType::F64);
        let made = assembled(&parts, &whole[0], &wanted, (&assembly, true));
        let made = made.expect("a conversion");
        let formats = ([&source, &like], whole);
        judge_all(made.stated(), formats, (None, every(7)), &mut counts);
    }
    settle(STATED.len(), &counts);
}

#[test]
fn wrong_mutants_of_conversions_of_coordinates_are_refused() {
    check(&[COORDINATES], &DESTINATIONS, (None, 1));
}

#[test]
fn wrong_mutants_of_conversions_of_rows_are_refused() {
    check(&["csr"], &DESTINATIONS, (None, 1));
}

#[test]
fn wrong_mutants_of_other_conversions_are_refused() {
    check(&OTHERS, &DESTINATIONS[..4], (None, 1));
}

#[test]
fn wrong_mutants_of_conversions_of_places_without_entries_are_refused() {
    let sources = ["dense", "bsr(2, 2)", "dia", "ell"];
    check(&sources, &["csr", "dcsc", "dia", "ell"], (None, 7));
}

#[test]
fn wrong_mutants_of_sums_are_refused() {
    let list =
        "(i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonunique, nonordered))";
    let destinations = ["csr", "dcsc", "dense", "dia", "bsr(2, 2)", "msr"];
    check(&[list], &destinations, (None, 3));
}

#[test]
fn wrong_mutants_of_conversions_with_fills_are_refused() {
    let destinations = ["csc", "dense", "dia", "ell", "msr"];
    check(&["csr", "dense"], &destinations, (Some(7.5), 3));
}

#[test]
fn wrong_mutants_of_conversions_to_several_parts_are_refused() {
    let sources = [COORDINATES, "csr", "bsr(2, 2)"];
    check(&sources, &["hyb(1)", "hyb(2)", "msr"], (None, 7));
}

#[test]
fn wrong_mutants_of_conversions_to_hash_tables_are_refused() {
    let tables = ["hash", "(i, j) -> (j : compressed, i : hashed)"];
    check(&[COORDINATES, "csr", "dense"], &tables, (None, 5));
}

#[test]
fn wrong_mutants_of_conversions_of_several_pieces_are_refused() {
    let symmetric = "(i, j) -> (i : dense, j : compressed), symmetric(i, j)";
    check(
        &["msr", "hyb(1)", symmetric],
        &["csr", "dcsc", "ell"],
        (None, 7),
    );
}

#[test]
fn wrong_mutants_of_conversions_to_filled_blocks_are_refused() {
    let blocks = "(i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[3, 4])";
    check(&["csr", "csc", "dense"], &[blocks], (None, 5));
}

#[test]
fn wrong_mutants_of_conversions_along_curves_are_refused() {
    check(
        &[COORDINATES, "csr"],
        &["mcoo", "alto", "hicoo(2)"],
        (None, 1),
    );
    check(&["mcoo", "alto", "hicoo(2)"], &["csr", "msr"], (None, 3));
}

#[test]
fn wrong_mutants_of_conversions_to_triangles_are_refused() {
    let list =
        "(i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonunique, nonordered))";
    let triangles = [
        "(i, j) -> (i : dense, j : compressed), symmetric(i, j)",
        "(i, j) -> (j : compressed, i : compressed), skew(i, j)",
    ];
    check(&[COORDINATES, list, "msr"], &triangles, (None, 9));
    check(&["dense"], &triangles[..1], (Some(7.5), 9));
}

#[test]
fn wrong_mutants_of_conversions_of_runs_are_refused() {
    let runs = [
        "(i, j) -> (i : dense, j : run_length)",
        "(i, j) -> (j : compressed, i : run_length)",
    ];
    check(&runs, &["csr", "dcsc", "ell"], (None, 3));
}

#[test]
fn wrong_mutants_of_conversions_to_runs_are_refused() {
    let runs = [
        "(i, j) -> (i : dense, j : run_length)",
        "(i, j) -> (j : compressed, i : run_length)",
    ];
    check(&["csr", COORDINATES, "dense"], &runs, (None, 5));
    check(&["csr"], &runs[..1], (Some(7.5), 5));
}
