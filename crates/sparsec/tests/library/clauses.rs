//! Clauses of formats that are relations: padding, fills and mirror images, from other formats and
//! back.

use std::collections::BTreeMap;
use std::sync::Arc;

use sparsec::{Array, Complex, Format, FormatSpec, RelationTensor, Stored, Tensor, code};

use super::interpreter;
use super::stored::{relation, storage};

const SYMMETRIC: &str = include_str!("../../../../samples/symmetric.fmt");

/// The lower triangle with other images.
fn triangle(image: &str) -> String {
    SYMMETRIC.replace("[j, i]} same", &format!("[j, i]}} {image}"))
}

/// The other triangle.
fn upper() -> String {
    let upper = SYMMETRIC.replace("0 <= j <= i && j < M", "i <= j < M");
    assert_ne!(upper, SYMMETRIC);
    upper
}

/// A list of entries, where others have this value.
fn list(fill: &str) -> String {
    format!(
        "format list
         extents N, M
         map {{[n] -> [i, j] : 0 <= n < NZ && i = row(n) && j = col(n)}}
         data {{[n] -> [n]}}
         values {{[n] : 0 <= n < NZ}}
         unique
         {fill}
         function row : {{[n] : 0 <= n < NZ}} -> {{[i] : 0 <= i < N}}
         function col : {{[n] : 0 <= n < NZ}} -> {{[j] : 0 <= j < M}}
         forall n, m : 0 <= n < m < NZ => LEX(row(n), col(n)) < LEX(row(m), col(m))"
    )
}

/// Converts a tensor to each of these formats, from each of these, and back.
fn there_and_back(tensor: &Tensor, others: &[&str], to: &[String]) {
    let session = interpreter();
    for from in others {
        let from = storage(from, 2);
        let own = session.convert_stored(&Stored::Levels(tensor.clone()), &from);
        let own = own
            .unwrap_or_else(|error| panic!("{from:?}: {error}"))
            .tensor;
        for to in to {
            let stored = session.convert_stored(&own, &storage(to, 2));
            let stored = stored
                .unwrap_or_else(|error| panic!("{from:?} {to}: {error}"))
                .tensor;
            assert_eq!(stored.fill(), tensor.fill());
            let again = session
                .convert_stored(&stored, &from)
                .expect("it reads back")
                .tensor;
            assert_eq!(again, own, "{to}");
        }
    }
}

#[test]
fn triangles_stand_for_both_sides() {
    let levels = [
        "csr",
        "coo",
        "dense",
        "csc",
        "(i, j) -> (i : dense, j : compressed), symmetric(i, j)",
    ];
    let upper_levels = "(i, j) -> (i : dense, j : compressed), symmetric(i, j), upper(i, j)";
    for n in 0..6u64 {
        let mut entries = Tensor::builder("csr", &[n, n]).expect("a builder");
        for i in 0..n {
            for j in 0..=i {
                if (i * 7 + j * 3) % 4 < 2 {
                    let value = (i * n + j) as f64 + 1.0;
                    entries = entries.push([i, j], value);
                    if i != j {
                        entries = entries.push([j, i], value);
                    }
                }
            }
        }
        let a = entries.build().expect("a matrix");
        let others: Vec<&str> = levels.iter().copied().chain([upper_levels]).collect();
        there_and_back(&a, &others, &[SYMMETRIC.to_owned(), upper()]);
    }
}

#[test]
fn images_are_negatives_and_conjugates() {
    let skew = Tensor::builder("csr", &[3, 3]).expect("a builder");
    let skew = skew
        .push([2, 0], 5.0)
        .push([0, 2], -5.0)
        .push([1, 0], 0.5)
        .push([0, 1], -0.5);
    let skew = skew.build().expect("a matrix");
    there_and_back(&skew, &["csr", "coo"], &[triangle("negative")]);
    let (z, w) = (Complex::new(1.0, 2.0), Complex::new(3.0, 0.0));
    let hermitian = Tensor::builder("csr", &[2, 2]).expect("a builder");
    let hermitian = hermitian
        .push([1, 0], z)
        .push([0, 1], z.conj())
        .push([0, 0], w);
    there_and_back(
        &hermitian.build().expect("a matrix"),
        &["csr"],
        &[triangle("conjugate")],
    );
}

#[test]
fn entries_that_are_not_mirrored_are_named() {
    let session = interpreter();
    let a = Tensor::builder("csr", &[3, 3]).expect("a builder");
    let a = a
        .push([0, 0], 1.0)
        .push([2, 1], 3.0)
        .push([1, 2], 4.0)
        .build()
        .expect("a matrix");
    let error = session.convert_stored(&Stored::Levels(a), &storage(SYMMETRIC, 2));
    let error = error.expect_err("it is not symmetric");
    assert_eq!(error.code(), code::NOT_MIRRORED, "{error}");
    assert!(error.to_string().contains("[2, 1]"), "{error}");
    assert_eq!(error.notes(), ["`symmetric` says `mirror`"]);
    let wide = Tensor::builder("csr", &[2, 3])
        .expect("a builder")
        .push([0, 0], 1.0);
    let wide = Stored::Levels(wide.build().expect("a matrix"));
    let error = session
        .convert_stored(&wide, &storage(SYMMETRIC, 2))
        .expect_err("it is not square");
    assert_eq!(error.code(), code::NOT_MIRRORED, "{error}");
}

#[test]
fn fills_are_those_that_formats_declare() {
    let ones: Format = "(i, j) -> (i : dense, j : compressed), fill 1"
        .parse()
        .expect("a format");
    let a = Tensor::pack(&ones, &[2, 3], &[0, 2, 1, 0], &[7.0, 5.0]).expect("a matrix");
    let columns = "(i, j) -> (j : dense, i : compressed), fill 1";
    let dense = "(i, j) -> (i : dense, j : dense), fill 1";
    there_and_back(
        &a,
        &["csr, fill 1", columns, dense],
        &[list("fill 1"), list("fill 1\npadding")],
    );
    let session = interpreter();
    let error = session.convert_stored(&Stored::Levels(a), &storage(&list(""), 2));
    assert_eq!(
        error.expect_err("its fill is 0").code(),
        code::FILL_MISMATCH
    );
}

#[test]
fn operands_with_clauses_are_read_as_they_say() {
    let session = interpreter();
    let a = Tensor::builder("csr", &[2, 2]).expect("a builder");
    let a = a
        .push([1, 0], 2.0)
        .push([0, 1], 2.0)
        .push([1, 1], 3.0)
        .build()
        .expect("a matrix");
    let stored = session
        .convert_stored(&Stored::Levels(a), &storage(SYMMETRIC, 2))
        .expect("it fits");
    let levels = session.levels_of(&stored.tensor).expect("it is read");
    assert_eq!(levels.n_stored(), 3);
    let ones = relation(&list("fill 1"));
    assert_eq!(Arc::clone(&ones).nearest().fill(), Some(1.0));
    let spec: FormatSpec = list("fill 1").parse().expect("a format");
    assert!(spec.is_relation());
}

/// Rows in slots, which a format of a user's own describes row by row or slot by slot.
#[test]
fn slots_hold_each_entry_of_a_row() {
    let slots = |place: &str, columns: &str| {
        format!(
            "format slots
             extents N, M
             map {{[s, r] -> [i, j] : 0 <= r < N && 0 <= s < W && i = r && j = col({place}) && 0 <= j < M}}
             data {{[s, r] -> [{place}]}}
             values {{[p] : 0 <= p < W * N}}
             unique
             function col : {{[p] : 0 <= p < W * N}} -> {{[j] : {columns}}}"
        )
    };
    let a = Tensor::builder("csr", &[3, 4]).expect("a builder");
    let a = a
        .push([0, 1], -7.0)
        .push([0, 2], -1.0)
        .push([1, 0], -2.0)
        .push([1, 3], 4.0);
    let a = a.push([2, 1], 3.0).build().expect("a matrix");
    let to = [
        slots("W * r + s", "-1 <= j < M"),
        slots("N * s + r", "-1 <= j < M"),
        slots("N * s + r", "0 <= j <= M"),
    ];
    there_and_back(&a, &["csr", "coo", "csc"], &to);
}

#[test]
fn lists_with_images_keep_their_order() {
    let session = interpreter();
    let ordered = list("mirror {[i, j] -> [j, i]} same\n assume N = M");
    let ordered = ordered.replace("j = col(n)}", "j = col(n) && j <= i}");
    let a = Tensor::builder("csr", &[3, 3]).expect("a builder");
    let a = a
        .push([1, 0], 5.0)
        .push([2, 2], 4.0)
        .build()
        .expect("a matrix");
    let error = session.convert_stored(&Stored::Levels(a), &storage(&ordered, 2));
    assert_eq!(
        error.expect_err("it is not symmetric").code(),
        code::NOT_MIRRORED
    );
    let b = Tensor::builder("csr", &[3, 3]).expect("a builder");
    let b = b
        .push([1, 0], 5.0)
        .push([0, 1], 5.0)
        .push([2, 2], 4.0)
        .build()
        .expect("a matrix");
    there_and_back(&b, &["csr", "coo"], &[ordered]);
}

#[test]
fn entries_beyond_the_diagonal_are_refused() {
    let arrays = |columns: [i64; 2]| {
        let array = |of: &[i64]| Array::from_vec(of.to_vec());
        BTreeMap::from([
            ("pos".to_owned(), array(&[0, 1, 2])),
            ("col".to_owned(), array(&columns)),
        ])
    };
    let made = |columns| {
        let values = Array::from_vec(vec![5.0, 7.0]);
        let (format, none) = (relation(SYMMETRIC), BTreeMap::new());
        RelationTensor::new(format, vec![2, 2], none, arrays(columns), values)
    };
    assert_eq!(
        made([0, 0])
            .expect("a triangle")
            .entries()
            .expect("entries")
            .len(),
        3
    );
    let error = made([1, 0]).expect_err("an entry of the other side");
    assert_eq!(error.code(), code::NOT_AS_DECLARED, "{error}");
}

#[test]
fn padding_of_negative_images_is_left_behind() {
    let dense = "(i, j) -> (i : dense, j : dense), skew(i, j)";
    let dense = dense
        .parse::<Format>()
        .expect("a format")
        .descriptors("skew")
        .remove(0);
    let a = Tensor::builder("csr", &[3, 3]).expect("a builder");
    let a = a
        .push([1, 0], 1.0)
        .push([0, 1], -1.0)
        .build()
        .expect("a matrix");
    there_and_back(&a, &["csr", "coo"], &[dense.to_string()]);
}

#[test]
fn programs_read_the_fill_of_a_relation() {
    let spec: FormatSpec = list("fill 1").parse().expect("a format");
    assert_eq!(spec.fill(), Some(1.0));
}
