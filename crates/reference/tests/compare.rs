//! When a result counts as what was expected.

use std::collections::BTreeMap;

use sparsec_base::{ElementType, Scalar, Source};
use sparsec_notation::{Declaration, Declarations, Notation};
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
        fill: Some(Scalar::F64(1.0)),
        ..PackOptions::default()
    };
    let filled = Tensor::pack_entries(&sparse, a.entries(), options).unwrap();
    check(&a, &filled, ["expected fill 0.0 and found 1.0"; 2]);
}

/// Whether `s` may be `found` where `text` computes it of a vector of f32.
fn may_be(text: &str, values: &[f32], found: Scalar) -> bool {
    let x = Tensor::dense(&[values.len() as u64], values.to_vec()).unwrap();
    let mut declarations = Declarations::new();
    let declared = Declaration::with_extents(x.extents()).of(ElementType::F32);
    declarations.declare("x", declared);
    let notation = Notation::parse(&Source::new("expression", text)).unwrap();
    let program = notation.resolve(&declarations).unwrap();
    let results = evaluate(&program, &BTreeMap::from([("x".to_owned(), x)])).unwrap();
    let found = Tensor::scalar(found);
    assert!(found.element() == results["s"].element(), "of {text}");
    compare(&results["s"], &found).is_none()
}

#[test]
fn what_cancels_is_compared_by_what_it_was() {
    let values = [1e9, 0.1, -1e9, -0.1];
    for text in ["s = x(i)", "s = x(i) + 0", "s = 2 * x(i) - x(i)"] {
        assert!(may_be(text, &values, Scalar::F32(8.0)), "{text}");
        assert!(!may_be(text, &values, Scalar::F32(1e7)), "{text}");
    }
}

#[test]
fn a_sum_is_compared_by_the_type_it_was_computed_in() {
    let values = [1e7, 0.5, 0.25, -0.5];
    let wide = "s = f64(sum{i}(x(i)))";
    assert!(may_be(wide, &values, Scalar::F64(1e7 + 1.0)));
    assert!(!may_be(wide, &values, Scalar::F64(1e7 + 1e5)));
    assert!(may_be(
        "s = f64(sum{i}(x(i))) * 3.0",
        &values,
        Scalar::F64(3e7 + 3.0)
    ));
    let sum_of_wide = "s = sum{i}(f64(x(i)))";
    assert!(!may_be(sum_of_wide, &values, Scalar::F64(1e7 + 1.0)));
}

#[test]
fn an_integer_beside_a_rounded_sum_may_be_its_neighbour() {
    let values = [1.5, 1.25, 0.25];
    let whole = "s = i32(sum{i}(x(i)))";
    assert!(may_be(whole, &values, Scalar::I32(2)));
    assert!(may_be(whole, &values, Scalar::I32(3)));
    assert!(!may_be(whole, &values, Scalar::I32(5)));
    // Nowhere near an integer, and not rounded at all.
    assert!(!may_be(whole, &[1.5, 1.0], Scalar::I32(3)));
    let exact = "s = sum{i}(i32(x(i)))";
    assert!(!may_be(exact, &values, Scalar::I64(3)));
}

#[test]
fn what_a_rounded_comparison_decides_may_be_either() {
    let values = [1.5, 1.25, 0.25];
    let below = "s = sum{i}(x(i)) < 3.0";
    assert!(may_be(below, &values, Scalar::Bool(true)));
    assert!(!may_be(below, &[1.5], Scalar::Bool(false)));
    let chosen = "s = select(sum{i}(x(i)) < 3.0, 10.0, 20.0)";
    assert!(may_be(chosen, &values, Scalar::F64(10.0)));
    assert!(may_be(chosen, &values, Scalar::F64(20.0)));
    assert!(!may_be(chosen, &[1.5], Scalar::F64(20.0)));
}

#[test]
fn functions_pass_on_how_far_their_arguments_may_be() {
    let values = [1e7, 1.0, -9.9e6];
    let root = "s = sqrt(sum{i}(x(i)))";
    assert!(may_be(root, &values, Scalar::F32(318.0)));
    assert!(!may_be(root, &values, Scalar::F32(330.0)));
    // The sum may be zero, so its inverse may be anything.
    assert!(may_be(
        "s = 1 / (sum{i}(x(i)) - 1e5)",
        &values,
        Scalar::F32(1e9)
    ));
}
