//! When a result counts as what was expected.

use std::collections::BTreeMap;

use sparsec_base::Source;
use sparsec_index::{Declaration, Declarations, Notation};
use sparsec_reference::{CoordinateMap, compare, compare_exact, evaluate};
use sparsec_tensor::{Format, PackOptions, Tensor};

fn vector(format: &Format, coords: &[u64], values: &[f64]) -> Tensor {
    Tensor::pack(format, &[4], coords, values).unwrap()
}

/// What is said of a sparse vector and the one expected: of values alone, and
/// of values and pattern.
fn check(expected: &Tensor, actual: &Tensor, expect: [&str; 2]) {
    let expected = CoordinateMap::of(expected);
    let shown = [compare(&expected, actual), compare_exact(&expected, actual)];
    let shown = shown.map(|difference| difference.map_or(String::new(), |d| d.to_string()));
    assert_eq!(shown, expect);
}

#[test]
fn values_differ() {
    let sparse = Format::csf(1);
    let a = vector(&sparse, &[1, 3], &[5.0, 2.0]);
    check(&a, &a, ["", ""]);
    let other = "expected 2.0 and found 2.5 at (3)";
    check(&a, &vector(&sparse, &[1, 3], &[5.0, 2.5]), [other, other]);
    let close = vector(&sparse, &[1, 3], &[5.0, 2.0 + 1e-12]);
    check(
        &a,
        &close,
        ["", "expected 2.0 and found 2.000000000001 at (3)"],
    );
}

#[test]
fn patterns_differ() {
    let sparse = Format::csf(1);
    let a = vector(&sparse, &[1, 3], &[5.0, 0.0]);
    let fewer = vector(&sparse, &[1], &[5.0]);
    check(
        &a,
        &fewer,
        ["", "expected 0.0 at (3), where nothing is stored"],
    );
    check(
        &fewer,
        &a,
        ["", "expected nothing stored at (3) and found 0.0"],
    );
    let without = "expected 5.0 and found 0.0 at (1)";
    let nothing_stored = "expected 5.0 at (1), where nothing is stored";
    check(
        &fewer,
        &vector(&sparse, &[], &[]),
        [without, nothing_stored],
    );
}

#[test]
fn a_dense_level_may_pad() {
    let expected = vector(&Format::csf(1), &[1], &[5.0]);
    check(
        &expected,
        &vector(&Format::dense(1), &[1], &[5.0]),
        ["", ""],
    );
    let other = vector(&Format::dense(1), &[1, 2], &[5.0, 7.0]);
    let value = "expected 0.0 and found 7.0 at (2)";
    check(
        &expected,
        &other,
        [value, "expected nothing stored at (2) and found 7.0"],
    );
}

#[test]
fn zeros_have_no_sign_and_nan_is_nan() {
    let sparse = Format::csf(1);
    let a = vector(&sparse, &[0, 1], &[0.0, f64::NAN]);
    check(&a, &vector(&sparse, &[0, 1], &[-0.0, -f64::NAN]), ["", ""]);
}

#[test]
fn shapes_types_and_fills_differ() {
    let sparse = Format::csf(1);
    let a = vector(&sparse, &[0], &[1.0]);
    let long = Tensor::pack(&sparse, &[5], &[0], &[1.0]).unwrap();
    check(&a, &long, ["expected extents [4] and found [5]"; 2]);
    let options = PackOptions {
        fill: Some(sparsec_base::Scalar::F64(1.0)),
        ..PackOptions::default()
    };
    let filled = Tensor::pack_entries(&sparse, a.entries(), options).unwrap();
    check(&a, &filled, ["expected fill 0.0 and found 1.0"; 2]);
}

#[test]
fn what_cancels_is_compared_by_what_it_was() {
    let values = [1e9, 0.1, -1e9, -0.1];
    let x = vector(&Format::csf(1), &[0, 1, 2, 3], &values);
    let mut declarations = Declarations::new();
    declarations.declare("x", Declaration::with_extents(&[4]));
    let notation = Notation::parse(&Source::new("expression", "s = x(i)")).unwrap();
    let program = notation.resolve(&declarations).unwrap();
    let results = evaluate(&program, &BTreeMap::from([("x".to_owned(), x)])).unwrap();
    let scalar = |value| Tensor::scalar(sparsec_base::Scalar::F64(value));
    assert_eq!(compare(&results["s"], &scalar(0.0)), None);
    assert!(compare(&results["s"], &scalar(2.0)).is_some());
    assert!(compare_exact(&results["s"], &scalar(0.0)).is_some());
}
