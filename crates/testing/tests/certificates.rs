//! Certificates of conversions between presets: all obligations are proved.

use std::sync::Arc;

use sparsec::internals::conversion::synthesized;
use sparsec::internals::relational;
use sparsec::{ElementType, Format, FormatSpec, Source, Storage, code};
use sparsec_format::{RelationFormat, presets};

fn format(text: &str, order: usize) -> Format {
    let spec = text
        .parse::<FormatSpec>()
        .and_then(|spec| spec.resolve(order));
    spec.unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Checks that all obligations of these conversions are proved.
fn prove(sources: &[String], destinations: &[String], order: usize) {
    let mut failed = Vec::new();
    for from in sources {
        for to in destinations {
            let [source, destination] = [from, to].map(|text| format(text, order));
            let types = Default::default();
            let made = synthesized(&source, &destination, ElementType::F64, &types);
            let certificate = made.and_then(|made| made.certificate());
            match certificate {
                Ok(certificate) => {
                    let unproved = certificate
                        .unproved()
                        .map(|it| format!("{from} to {to}: {it}"));
                    failed.extend(unproved);
                }
                Err(error) => failed.push(format!("{from} to {to}: {error}")),
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// The presets for matrices. `csf` is `dcsr` here.
fn matrix_presets() -> Vec<String> {
    let all = presets().iter().filter(|preset| preset.fits(2));
    let texts = all.map(|preset| preset.text(2));
    texts.filter(|text| text != "csf").collect()
}

#[test]
fn conversions_of_lists_are_proved() {
    let lists = texts(&[
        "csr", "csc", "dcsr", "dcsc", "coo", "scoo", "mcoo", "csb(2)",
    ]);
    prove(&lists, &matrix_presets(), 2);
    let curves = texts(&["alto", "hicoo(2)"]);
    prove(&curves, &matrix_presets(), 2);
}

#[test]
fn conversions_of_places_without_entries_are_proved() {
    let padded = texts(&["dense", "bitmap", "ell", "dia", "sky", "hash"]);
    prove(&padded, &matrix_presets(), 2);
    let blocks = texts(&["bsr(2, 2)"]);
    prove(
        &blocks,
        &texts(&["csr", "coo", "bsr(2, 2)", "dia", "msr"]),
        2,
    );
}

#[test]
fn conversions_of_several_pieces_are_proved() {
    let symmetric = "(i, j) -> (i : dense, j : compressed), symmetric(i, j)";
    prove(&texts(&["hyb(2)", "msr", symmetric]), &matrix_presets(), 2);
}

#[test]
fn conversions_to_triangles_are_proved() {
    let triangles = texts(&[
        "(i, j) -> (i : dense, j : compressed), symmetric(i, j)",
        "(i, j) -> (j : compressed, i : compressed), skew(i, j)",
        "coo, symmetric(i, j), upper(i, j)",
        "sky, symmetric(i, j)",
    ]);
    prove(&matrix_presets(), &triangles[..2], 2);
    prove(&texts(&["csr", "coo", "dia"]), &triangles[2..], 2);
    // One triangle from another.
    prove(&triangles[..1], &triangles, 2);
}

#[test]
fn conversions_of_runs_are_proved() {
    let runs = texts(&[
        "(i, j) -> (i : dense, j : run_length)",
        "(i, j) -> (j : compressed, i : run_length)",
    ]);
    prove(&runs, &matrix_presets(), 2);
    prove(&runs, &runs, 2);
    prove(&matrix_presets(), &runs, 2);
}

/// A triangle would take part of a run, and leave the rest to its mirror image.
#[test]
fn runs_across_the_diagonal_are_refused() {
    let symmetric = format("(i, j) -> (i : dense, j : compressed), symmetric(i, j)", 2);
    for runs in [
        "(i, j) -> (i : dense, j : run_length)",
        "(i, j) -> (j : compressed, i : run_length)",
    ] {
        let made = synthesized(
            &format(runs, 2),
            &symmetric,
            ElementType::F64,
            &Default::default(),
        );
        let refused = made.expect_err("a run has one place");
        assert_eq!(refused.code(), code::NO_CONVERSION, "{refused}");
        let text = refused.to_string();
        for words in [
            "share a place",
            "both sides of `i >= j`",
            "help: ",
            "`scoo`",
        ] {
            assert!(text.contains(words), "{words} in {text}");
        }
    }
}

#[test]
fn sums_of_repeated_entries_are_proved() {
    let list =
        "(i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonunique, nonordered))";
    let destinations = texts(&[
        "csr",
        "dcsc",
        "dense",
        "dia",
        "bsr(2, 2)",
        "msr",
        "coo",
        "csb(2)",
    ]);
    prove(&texts(&[list]), &destinations, 2);
}

#[test]
fn filled_up_blocks_are_proved() {
    let blocks = "(i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])";
    let sources = texts(&["csr", "csc", "coo", "dense", "ell", "msr", blocks]);
    prove(&sources, &texts(&[blocks]), 2);
}

#[test]
fn conversions_of_three_modes_are_proved() {
    let formats = texts(&["coo", "csf", "scoo", "dense"]);
    prove(&formats, &formats, 3);
    prove(&formats, &texts(&["mcoo", "hicoo(2)", "alto"]), 3);
}

/// A preset, or the text of a description.
fn storage(text: &str, order: usize) -> Storage {
    let storage = match text.starts_with("format ") {
        true => RelationFormat::parse(&Source::new("described.fmt", text))
            .map(|format| Storage::Relation(Arc::new(format))),
        false => text
            .parse::<FormatSpec>()
            .and_then(|spec| spec.storage(order)),
    };
    storage.unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Checks that all obligations of conversions to formats that are relations are proved.
fn prove_relations(sources: &[&str], destinations: &[&str], order: usize) {
    let mut failed = Vec::new();
    for from in sources {
        for to in destinations {
            let [source, destination] = [from, to].map(|text| storage(text, order));
            let made = relational::conversion(&source, &destination, ElementType::F64);
            let certificate = made.and_then(|made| made.certificate());
            let certificate = certificate.unwrap_or_else(|error| panic!("{from} to {to}: {error}"));
            let unproved = certificate
                .lines()
                .filter(|line| line.contains(": not proved"));
            failed.extend(unproved.map(|line| format!("{from} to {to}: {line}")));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn stated_assemblies_are_proved() {
    let matrices = [
        "jds",
        "sell(1, 1)",
        "sell(4, 2)",
        "sell(8, 32)",
        "fcoo(0)",
        "fcoo(1)",
        "bcsf(1)",
        "bcsf(128)",
    ];
    prove_relations(&["scoo", "csr", "coo", "dense"], &matrices, 2);
    let sources = ["jds", "sell(8, 32)", "fcoo(0)", "bcsf(128)"];
    prove_relations(&sources, &["msr", "hyb(2)", "csr", "jds"], 2);
    let tensors = ["fcoo(0)", "fcoo(1)", "fcoo(2)", "bcsf(2)", "bcsf(128)"];
    prove_relations(&["scoo", "csf", "coo"], &tensors, 3);
    prove_relations(&["scoo"], &["fcoo(2)", "bcsf(8)"], 4);
}

/// Segments of listed rows begin one behind the other, since no listed row is empty.
#[test]
fn segments_of_listed_rows_are_proved_to_increase() {
    let rows = "format rows
extents N, M
map {[r, k] -> [i, j] : 0 <= r < R && i = row(r) && pos(r) <= k < pos(r + 1) && j = col(k) && 0 <= j < M}
data {[r, k] -> [k]}
values {[k] : 0 <= k < pos(R)}
assume 0 <= R
function pos : {[r] : 0 <= r <= R} -> {[k] : 0 <= k} increasing
function row : {[r] : 0 <= r < R} -> {[i] : 0 <= i < N} increasing
function col : {[k] : 0 <= k < pos(R)} -> {[j] : 0 <= j < M}
forall i, k, l : 0 <= i < R && pos(i) <= k < l < pos(i + 1) => col(k) < col(l)
";
    let every_row = rows.replace("R && i = row(r)", "N && i = r");
    let every_row = every_row
        .replace("pos(R)", "pos(N)")
        .replace("<= R}", "<= N}");
    let every_row = every_row
        .replace("assume 0 <= R\n", "")
        .replace("i < R &&", "i < N &&");
    let lines: Vec<&str> = every_row
        .lines()
        .filter(|it| !it.contains("row :"))
        .collect();
    prove_relations(&["scoo", "coo", "csc"], &[rows], 2);
    let [source, destination] = ["scoo", &lines.join("\n")].map(|text| storage(text, 2));
    let made = relational::conversion(&source, &destination, ElementType::F64);
    let certificate = made.and_then(|made| made.certificate()).expect("lines");
    // A row of all rows may be empty.
    let wanted = "pos is increasing: not proved";
    assert!(certificate.contains(wanted), "{certificate}");
}

#[test]
fn skylines_are_proved() {
    for column in ["k = begin(r) + j - r", "k = begin(r + 1) - 1 - (r - j)"] {
        let skyline = format!(
            "format skyline
extents N, M
map {{[r, k] -> [i, j] : i = r && 0 <= r < N && begin(r) <= k < begin(r + 1) && {column} && 0 <= j < M}}
data {{[r, k] -> [k]}}
values {{[k] : 0 <= k < begin(N)}}
unique
padding
function begin : {{[r] : 0 <= r <= N}} -> {{[k] : 0 <= k}} nondecreasing
"
        );
        prove_relations(&["csr", "coo", "dense", "hash"], &[&skyline], 2);
        prove_relations(&[&skyline], &["csr", "dense", "jds"], 2);
    }
}

/// Numbers of blocks and coordinates within them have fewer bits than coordinates of a matrix.
#[test]
fn blocks_on_curves_are_proved() {
    let blocks = "format blocks
extents N, M
map {[b, n] -> [i, j] : 0 <= b < NB && begin(b) <= n < begin(b + 1) && i = 4 * row(b) + y(n) && j = 4 * col(b) + x(n) && 0 <= i < N && 0 <= j < M}
data {[b, n] -> [n]}
values {[n] : 0 <= n < begin(NB)}
assume 0 <= NB
function begin : {[b] : 0 <= b <= NB} -> {[n] : 0 <= n} increasing
function row : {[b] : 0 <= b < NB} -> {[i] : 0 <= i}
function col : {[b] : 0 <= b < NB} -> {[i] : 0 <= i}
function y : {[n] : 0 <= n < begin(NB)} -> {[i] : 0 <= i < 4}
function x : {[n] : 0 <= n < begin(NB)} -> {[i] : 0 <= i < 4}
forall a, b : 0 <= a < b < NB => MORTON(row(a), col(a)) < MORTON(row(b), col(b))
forall b, n, m : 0 <= b < NB && begin(b) <= n < m < begin(b + 1) => MORTON(y(n), x(n)) < MORTON(y(m), x(m))
";
    prove_relations(&["csr", "coo", "alto"], &[blocks], 2);
}

#[test]
fn certificates_of_less_are_refused() {
    for (from, to) in [
        ("coo", "msr"),
        ("msr", "csr"),
        ("dense", "csr"),
        ("csr", "hash"),
        (
            "csr",
            "(i, j) -> (i : dense, j : compressed), symmetric(i, j)",
        ),
        ("(i, j) -> (i : dense, j : run_length)", "csr"),
        ("csr", "(i, j) -> (i : dense, j : run_length)"),
    ] {
        let [source, destination] = [from, to].map(|text| format(text, 2));
        let types = Default::default();
        let made = synthesized(&source, &destination, ElementType::F64, &types);
        let made = made.expect("a conversion");
        let whole = made.certificate().expect("a certificate");
        let question = made.question();
        question.check(&whole).expect("it is accepted");
        let read = whole.to_string().parse();
        assert_eq!(whole, read.expect("a certificate"));
        for part in 0..whole.parts.len() {
            for line in 0..whole.parts[part].lines.len() {
                let mut less = whole.clone();
                let line = less.parts[part].lines.remove(line);
                let error = question.check(&less);
                error.expect_err(&format!("{from} to {to}: {line}"));
            }
            let mut less = whole.clone();
            less.parts.remove(part);
            question.check(&less).expect_err("a part is missing");
        }
        if whole.parts.len() > 1 {
            let mut other = whole.clone();
            other.parts.reverse();
            question.check(&other).expect_err("parts are exchanged");
        }
    }
}
