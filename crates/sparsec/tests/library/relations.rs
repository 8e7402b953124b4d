//! Expressions over operands whose formats are relations: what is computed from
//! copies of them is what the same expression gives for the matrix in `csr`.

use std::collections::BTreeMap;

use sparsec::internals::walk::{Operands, Types};
use sparsec::internals::{Given, reference};
use sparsec::{Source, Tensor, code};

use super::{interpreter, matrix};

const DIA: &str = include_str!("../../../../samples/dia.fmt");
const JDS: &str = include_str!("../../../../samples/jds.fmt");

/// One triangle of a matrix, each entry beside the diagonal at two places.
const MIRRORED: &str = "
    format mirrored
    extents NR, NC
    map {[n, s] -> [i, j] : 0 <= n < NZ && s = 0 && i = row(n) && j = col(n)
            && 0 <= i < NR && 0 <= j < NC}
        union {[n, s] -> [i, j] : 0 <= n < NZ && s = 1 && i = col(n) && j = row(n) && i < j
            && 0 <= i < NR && 0 <= j < NC}
    data {[n, s] -> [n]}
    values {[n] : 0 <= n < NZ}
    function row : {[n] : 0 <= n < NZ} -> {[i] : 0 <= i < NR}
    function col : {[n] : 0 <= n < NZ} -> {[j] : 0 <= j < NC}
";

/// The same as one part, which finds each value twice.
const TWICE: &str = "
    format twice
    extents NR, NC
    map {[n, s] -> [i, j] : 0 <= n < NZ && 0 <= s < 2 && i = n && j = n + s && 0 <= i < NR && 0 <= j < NC}
    data {[n, s] -> [n]}
    values {[n] : 0 <= n < NZ}
";

fn indices(entries: &[i32]) -> Tensor {
    Tensor::dense(&[entries.len() as u64], entries.to_vec()).expect("a vector")
}

fn values(entries: &[f64]) -> Tensor {
    Tensor::dense(&[entries.len() as u64], entries.to_vec()).expect("a vector")
}

/// A matrix through a descriptor, with its constants and arrays, and in `csr`.
struct Operand {
    format: &'static str,
    constants: &'static [(&'static str, i64)],
    arrays: Vec<(&'static str, Tensor)>,
    same: Tensor,
}

fn operands() -> [Operand; 3] {
    let same = || {
        let entries = [
            ([0, 0], 1.0),
            ([0, 2], -2.0),
            ([1, 1], 3.0),
            ([2, 0], -5.0),
            ([2, 2], 6.0),
        ];
        matrix("csr", [3, 3], &entries)
    };
    let mirrored = [([0, 0], 4.0), ([0, 2], -1.0), ([2, 0], -1.0), ([1, 1], 2.0)];
    [
        Operand {
            format: DIA,
            constants: &[("ND", 3)],
            arrays: vec![
                ("off", indices(&[-2, 0, 2])),
                ("", values(&[9.0, 9.0, -5.0, 1.0, 3.0, 6.0, -2.0, 9.0, 9.0])),
            ],
            same: same(),
        },
        Operand {
            format: JDS,
            constants: &[("ND", 2), ("NNZ", 5)],
            arrays: vec![
                ("perm", indices(&[2, 0, 1])),
                ("ptr", indices(&[0, 3, 5])),
                ("col", indices(&[0, 0, 1, 2, 2])),
                ("", values(&[-5.0, 1.0, 3.0, 6.0, -2.0])),
            ],
            same: same(),
        },
        Operand {
            format: MIRRORED,
            constants: &[("NZ", 3)],
            arrays: vec![
                ("row", indices(&[0, 2, 1])),
                ("col", indices(&[0, 0, 1])),
                ("", values(&[4.0, -1.0, 2.0])),
            ],
            same: matrix("csr", [3, 3], &mirrored),
        },
    ]
}

fn named(prefix: &str, name: &str) -> String {
    match name {
        "" => prefix.to_owned(),
        name => format!("{prefix}_{name}"),
    }
}

#[test]
fn what_is_no_sum_of_products_is_computed_from_copies() {
    let session = interpreter();
    let w = values(&[1.0, -10.0, 100.0]);
    let texts = [
        "C(i,j) = max(A(i,j), B(i,j))",
        "C(i,j) = abs(A(i,j)) - min(B(i,j), 0)",
        "C(i,j) = (A(i,j) > 0) * B(j,i)",
        "y(i) = max{j}(A(i,j) * w(j)) + B(i,i)",
        "C(i,j) = select(A(i,j) < B(i,j), 1.5, w(j))",
        "C(i,j) = A(i,k) * B(k,j)",
        "t(i) = abs(A(i,j)) * w(j); s = sum{j}(max{i}(t(i) + B(i,j)))",
        "y(i) = w(i); y(k(1:3)) = A(1,k(0:2))",
    ];
    for text in texts {
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            let all = operands();
            let pair = [("A", &all[a]), ("B", &all[b])];
            let pair = || {
                pair.into_iter()
                    .filter(|(name, _)| text.contains(&format!("{name}(")))
            };
            let mut formats = Operands::new();
            let mut given = Given::new();
            let mut same: BTreeMap<&str, &Tensor> = BTreeMap::new();
            for (name, operand) in pair() {
                let format = operand.format.parse();
                formats.insert(name.to_owned(), format.unwrap_or_else(|e| panic!("{e}")));
                for (constant, value) in operand.constants {
                    given = given.parameter(named(name, constant), *value);
                }
                for (array, tensor) in &operand.arrays {
                    given = given.data(named(name, array), tensor);
                }
                same.insert(name, &operand.same);
            }
            if text.contains("w(") {
                given = given.data("w", &w);
                same.insert("w", &w);
            }
            let source = Source::new("expression", text);
            let known = |extent: &str| {
                let one = sparsec::internals::walk::walk(&source, &formats, &Types::new());
                let all = sparsec::internals::walk::copies(&source, &formats, &Types::new());
                let all = all.unwrap_or_else(|e| panic!("{e}")).into_iter();
                let all = all.map(|copied| copied.computation).chain(one);
                all.into_iter()
                    .any(|made| made.parameters.iter().any(|it| it == extent))
            };
            for extent in ["Ni", "Nj", "Nk", "A_N0", "A_N1"] {
                if known(extent) {
                    given = given.parameter(extent, 3);
                }
            }
            let found = session.execute(&source, &formats, &Types::new(), &given);
            let found = found.unwrap_or_else(|e| panic!("{text}\n{e}"));
            let expect = session.evaluate(text, same);
            let expect = expect.unwrap_or_else(|e| panic!("{text}\n{e}"));
            let name = text.rsplit(';').next().expect("a statement");
            let name = name.trim_start().split(['(', ' ']).next().expect("a name");
            let expect = reference::CoordinateMap::of(&expect);
            let differs = reference::compare(&expect, &found[name]);
            assert!(differs.is_none(), "{text}: {differs:?}");
        }
    }
}

#[test]
fn a_value_of_several_entries_is_not_copied() {
    let a = values(&[1.0, 2.0]);
    let given = Given::new()
        .parameter("Ni", 2)
        .parameter("Nj", 2)
        .parameter("A_NZ", 2)
        .data("A", &a);
    let twice = Operands::from([("A".to_owned(), TWICE.parse().unwrap())]);
    let run = |text: &str| {
        let text = Source::new("expression", text);
        interpreter().execute(&text, &twice, &Types::new(), &given)
    };
    let error = run("C(i,j) = max(A(i,j), 0)").unwrap_err();
    assert_eq!(error.code(), code::VALUE_SHARED);
    // Loops over the tuples need no copy.
    let sum = run("s = A(i,j)").unwrap();
    assert_eq!(sum["s"].values::<f64>(), Some(&[4.0][..]));
}

#[test]
fn names_that_nothing_has_are_refused() {
    let all = operands();
    let dia = Operands::from([("A".to_owned(), DIA.parse().unwrap())]);
    let given = Given::new()
        .parameter("Ni", 3)
        .data("A_of", &all[0].arrays[0].1);
    let text = Source::new("expression", "C(i,j) = max(A(i,j), 0)");
    let error = interpreter().execute(&text, &dia, &Types::new(), &given);
    let error = error.unwrap_err();
    assert_eq!(error.code(), code::UNUSED_NAME);
    assert!(
        error.to_string().contains("did you mean `A_off`"),
        "{error}"
    );
}
