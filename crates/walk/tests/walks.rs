//! Expressions over operands in formats that are relations, evaluated point by
//! point and compared with what dense loops give.

use std::collections::BTreeMap;

use sparsec_base::{Result, Scalar, Source};
use sparsec_computation::{Computation, Given};
use sparsec_notation::{Declaration, Declarations, Notation};
use sparsec_relation::Descriptor;
use sparsec_walk::{Operands, Types, walk};

const DIA: &str = include_str!("../../../samples/dia.fmt");

const JDS: &str = include_str!("../../../samples/jds.fmt");

/// The matrix that all of these hold, of 3 rows and 4 columns.
const DENSE: [[f64; 4]; 3] = [
    [1.0, 0.0, 2.0, 0.0],
    [0.0, 3.0, 0.0, 4.0],
    [5.0, 0.0, 6.0, 0.0],
];

fn walk_of(text: &str, formats: &[(&str, &str)], orders: &[(&str, usize)]) -> Result<Computation> {
    let notation = Notation::parse(&Source::new("expression", text))?;
    let mut declarations = Declarations::new();
    for (name, order) in orders {
        declarations.declare(*name, Declaration::with_order(*order));
    }
    let program = notation.resolve(&declarations)?;
    let mut operands = Operands::new();
    for (name, format) in formats {
        operands.insert((*name).to_owned(), format.parse::<Descriptor>()?);
    }
    walk(&program, &operands, &Types::new())
}

/// What a computation gives for these parameters, index arrays and values.
fn evaluate(
    computation: &Computation,
    parameters: &[(&str, i64)],
    indices: &[(&str, &[i32])],
    values: &[(&str, &[f64])],
) -> Vec<f64> {
    let parameters = parameters.iter().map(|(name, n)| ((*name).to_owned(), *n));
    let indices = indices.iter().map(|(name, entries)| {
        let entries: Vec<Scalar> = entries.iter().copied().map(Scalar::I32).collect();
        ((*name).to_owned(), entries)
    });
    let values = values.iter().map(|(name, entries)| {
        let entries: Vec<Scalar> = entries.iter().copied().map(Scalar::F64).collect();
        ((*name).to_owned(), entries)
    });
    let given = Given {
        parameters: parameters.collect(),
        data: indices.chain(values).collect::<BTreeMap<_, _>>(),
    };
    let found = computation.evaluate(&given, -3..20);
    let found = found.unwrap_or_else(|error| panic!("{error}\n{computation}"));
    let result = found.into_values().next().expect("one result");
    result.into_iter().map(Scalar::to_f64).collect()
}

const X: [f64; 4] = [1.0, 10.0, 100.0, 1000.0];

fn expect_product() -> Vec<f64> {
    let row = |row: &[f64; 4]| row.iter().zip(X).map(|(a, x)| a * x).sum();
    DENSE.iter().map(row).collect()
}

#[test]
fn diagonals_times_a_vector() {
    let computation = walk_of("y(i) = A(i,j) * x(j)", &[("A", DIA)], &[("A", 2), ("x", 1)]);
    let computation = computation.unwrap_or_else(|error| panic!("{error}"));
    let text = computation.to_string();
    assert!(text.contains("y(i) += A(d * Ni + r) * x(j)"), "{text}");
    let found = evaluate(
        &computation,
        &[("Ni", 3), ("Nj", 4), ("A_ND", 3)],
        &[("A_off", &[-2, 0, 2])],
        &[
            ("A", &[0.0, 0.0, 5.0, 1.0, 3.0, 6.0, 2.0, 4.0, 0.0]),
            ("x", &X),
        ],
    );
    assert_eq!(found, expect_product());
}

#[test]
fn jagged_diagonals_times_a_vector() {
    let computation = walk_of("y(i) = A(i,j) * x(j)", &[("A", JDS)], &[("A", 2), ("x", 1)]);
    let computation = computation.unwrap_or_else(|error| panic!("{error}"));
    let found = evaluate(
        &computation,
        &[("Ni", 3), ("Nj", 4), ("A_ND", 2), ("A_NNZ", 6)],
        &[
            ("A_perm", &[1, 0, 2]),
            ("A_ptr", &[0, 3, 6]),
            ("A_col", &[1, 0, 0, 3, 2, 2]),
        ],
        &[("A", &[3.0, 1.0, 5.0, 4.0, 2.0, 6.0]), ("x", &X)],
    );
    assert_eq!(found, expect_product());
}

/// Each tuple has its value in one of two halves.
const HALVES: &str = "
    format halves
    extents NR, NC
    map {[n, h] -> [i, j] : 0 <= n < NZ && 0 <= h < 2 && i = row(n) && j = col(2 * n + h)}
    data {[n, h] -> [k] : h = 0 && k = n} union {[n, h] -> [k] : h = 1 && k = NZ + n}
    values {[k] : 0 <= k < 2 * NZ}
    assume 0 <= NZ
    function row : {[n] : 0 <= n < NZ} -> {[i] : 0 <= i < NR}
    function col : {[n] : 0 <= n < 2 * NZ} -> {[j] : 0 <= j < NC}
";

#[test]
fn places_of_values_by_cases() {
    let computation = walk_of(
        "y(i) = A(i,j) * x(j)",
        &[("A", HALVES)],
        &[("A", 2), ("x", 1)],
    );
    let computation = computation.unwrap_or_else(|error| panic!("{error}"));
    let text = computation.to_string();
    assert!(text.contains("A(n) * x(j)"), "{text}");
    assert!(text.contains("A(n + A_NZ) * x(j)"), "{text}");
    let found = evaluate(
        &computation,
        &[("Ni", 3), ("Nj", 4), ("A_NZ", 3)],
        &[("A_row", &[0, 1, 2]), ("A_col", &[0, 2, 1, 3, 0, 2])],
        &[("A", &[1.0, 3.0, 5.0, 2.0, 4.0, 6.0]), ("x", &X)],
    );
    assert_eq!(found, expect_product());
}

/// A triangle that stands for its mirror image too, and says the first five entries
/// twice.
const MIRRORED: &str = "
    format mirrored
    extents NR, NC
    map {[n, s] -> [i, j] : 0 <= n < NZ && s = 0 && i = row(n) && j = col(n)}
        union {[n, s] -> [i, j] : 0 <= n < NZ && s = 0 && i = row(n) && j = col(n) && n < 5}
        union {[n, s] -> [i, j] : 0 <= n < NZ && s = 1 && i = col(n) && j = row(n) && row(n) != col(n)}
    data {[n, s] -> [n]}
    values {[n] : 0 <= n < NZ}
    assume 0 <= NZ && NR = NC
    function row : {[n] : 0 <= n < NZ} -> {[i] : 0 <= i < NR}
    function col : {[n] : 0 <= n < NZ} -> {[j] : 0 <= j < NC}
";

#[test]
fn parts_of_a_map_count_once() {
    let computation = walk_of(
        "y(i) = A(i,j) * x(j)",
        &[("A", MIRRORED)],
        &[("A", 2), ("x", 1)],
    );
    let computation = computation.unwrap_or_else(|error| panic!("{error}"));
    let found = evaluate(
        &computation,
        &[("Ni", 4), ("Nj", 4), ("A_NZ", 3)],
        &[("A_row", &[0, 2, 3]), ("A_col", &[0, 1, 3])],
        &[("A", &[2.0, 3.0, 5.0]), ("x", &X)],
    );
    assert_eq!(found, [2.0, 300.0, 30.0, 5000.0], "{computation}");
}

#[test]
fn names_of_a_format_may_be_those_of_the_expression() {
    // `s`, `k` and `t` are variables of the format, `term0` is a statement's name.
    for text in [
        "s = A(i,j) * A(i,j)",
        "k = A(s,t) * A(s,t)",
        "term0 = A(i,j) * A(i,j)",
    ] {
        let computation = walk_of(text, &[("A", JDS)], &[("A", 2)]);
        let computation = computation.unwrap_or_else(|error| panic!("{error}"));
        let printed = computation.to_string();
        let again = printed.parse::<Computation>();
        let computation = again.unwrap_or_else(|error| panic!("{error}"));
        let extents = computation
            .parameters
            .iter()
            .filter(|name| name.starts_with('N'));
        let extents: Vec<(&str, i64)> = extents.map(String::as_str).zip([3, 4]).collect();
        let found = evaluate(
            &computation,
            &[&extents[..], &[("A_ND", 2), ("A_NNZ", 6)]].concat(),
            &[
                ("A_perm", &[1, 0, 2]),
                ("A_ptr", &[0, 3, 6]),
                ("A_col", &[1, 0, 0, 3, 2, 2]),
            ],
            &[("A", &[3.0, 1.0, 5.0, 4.0, 2.0, 6.0])],
        );
        assert_eq!(found, [91.0], "{printed}");
    }
}

#[test]
fn sums_of_terms_and_two_relations() {
    // Both operands by relations, in formats that differ, and a dense term besides.
    let computation = walk_of(
        "C(i,j) = A(i,j) * B(i,j) - 2 * A(i,j) + D(i,j)",
        &[("A", DIA), ("B", JDS)],
        &[("A", 2), ("B", 2), ("D", 2)],
    );
    let computation = computation.unwrap_or_else(|error| panic!("{error}"));
    let ones = [1.0; 12];
    let found = evaluate(
        &computation,
        &[("Ni", 3), ("Nj", 4), ("A_ND", 3), ("B_ND", 2), ("B_NNZ", 6)],
        &[
            ("A_off", &[-2, 0, 2]),
            ("B_perm", &[1, 0, 2]),
            ("B_ptr", &[0, 3, 6]),
            ("B_col", &[1, 0, 0, 3, 2, 2]),
        ],
        &[
            ("A", &[0.0, 0.0, 5.0, 1.0, 3.0, 6.0, 2.0, 4.0, 0.0]),
            ("B", &[3.0, 1.0, 5.0, 4.0, 2.0, 6.0]),
            ("D", &ones),
        ],
    );
    let expect = DENSE.iter().flatten().map(|a| a * a - 2.0 * a + 1.0);
    assert_eq!(found, expect.collect::<Vec<f64>>());
}

#[test]
fn what_is_no_sum_of_products_is_refused() {
    let refused = |text: &str, orders: &[(&str, usize)]| {
        let error = walk_of(text, &[("A", DIA)], orders).expect_err("it is none");
        assert_eq!(error.code().to_string(), "E0820", "{error}");
        assert!(
            error.help_text().is_some() && !error.labels().is_empty(),
            "{error}"
        );
    };
    refused("C(i,j) = max(A(i,j), B(i,j))", &[("A", 2), ("B", 2)]);
    refused("C(i,j) = B(i,j) / A(i,j)", &[("A", 2), ("B", 2)]);
    refused("m = max{i,j}(A(i,j))", &[("A", 2)]);
    refused("A(i,j) = B(i,j)", &[("B", 2)]);
    refused("y(i) = A(i,j,k)", &[("A", 3)]);
}
