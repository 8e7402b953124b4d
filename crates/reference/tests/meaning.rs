//! What programs mean, written out by hand; both evaluators are to agree.

use std::collections::BTreeMap;

use sparsec_base::{Bool8, Result, Scalar, Source, code};
use sparsec_index::Program;
use sparsec_notation::{Declaration, Declarations, Notation};
use sparsec_reference::{CoordinateMap, dense, evaluate, evaluate_statement};
use sparsec_tensor::{Array, Entries, Format, PackOptions, Tensor};

type Inputs = BTreeMap<String, Tensor>;

fn resolve(text: &str, inputs: &Inputs) -> Result<Program> {
    let mut declarations = Declarations::new();
    for (name, tensor) in inputs {
        let declaration = Declaration {
            fill: Some(tensor.fill()),
            ..Declaration::with_extents(tensor.extents()).of(tensor.element())
        };
        declarations.declare(name, declaration);
    }
    Notation::parse(&Source::new("expression", text))?.resolve(&declarations)
}

fn vector(format: Format, coords: &[u64], values: Array) -> Tensor {
    let entries = Entries {
        extents: vec![3],
        coords: coords.to_vec().into(),
        values,
    };
    Tensor::pack_entries(&format, entries, PackOptions::default()).unwrap()
}

/// `A` and `B` are matrices of 2 by 3 in `csr`, `b` and `c` sparse vectors of
/// 3, `d` a dense one, `m` and `n` sparse vectors of `i64`, `t` one of `bool`.
fn inputs() -> Inputs {
    let matrix = |coords: &[u64], values: &[f64]| {
        Tensor::pack(&Format::csr(), &[2, 3], coords, values).unwrap()
    };
    let sparse = |coords: &[u64], values: Array| vector(Format::csf(1), coords, values);
    let named = [
        ("A", matrix(&[0, 1, 1, 2], &[2.0, 5.0])),
        ("B", matrix(&[0, 0, 0, 1], &[1.0, -2.0])),
        ("b", sparse(&[1], Array::from_vec(vec![3.0]))),
        ("c", sparse(&[1, 2], Array::from_vec(vec![0.0, f64::NAN]))),
        (
            "d",
            vector(
                Format::dense(1),
                &[0, 1, 2],
                Array::from_vec(vec![1.0, 0.0, f64::NAN]),
            ),
        ),
        ("m", sparse(&[0, 1], Array::from_vec(vec![7i64, -7]))),
        ("n", sparse(&[1, 2], Array::from_vec(vec![2i64, 0]))),
        (
            "t",
            sparse(&[0, 1], Array::from_vec(vec![Bool8::TRUE, Bool8::FALSE])),
        ),
    ];
    let named = named.into_iter();
    named
        .map(|(name, tensor)| (name.to_owned(), tensor))
        .collect()
}

/// The last result of a program, from both evaluators.
fn results(text: &str) -> [Result<CoordinateMap>; 2] {
    let mut inputs = inputs();
    let named = Notation::parse(&Source::new("expression", text)).unwrap();
    let named: Vec<String> = named
        .tensor_names()
        .into_iter()
        .map(|name| name.name)
        .collect();
    inputs.retain(|name, _| named.contains(name));
    let program = resolve(text, &inputs).unwrap_or_else(|error| panic!("{error}"));
    let last = program.statements.last().expect("a statement").lhs.tensor;
    let name = program.tensors[last].name.clone();
    let last = |results: Result<BTreeMap<String, CoordinateMap>>| results.map(|r| r[&name].clone());
    [
        last(evaluate(&program, &inputs)),
        last(dense::evaluate(&program, &inputs)),
    ]
}

/// What the last statement stores.
fn check(text: &str, expect: &str) {
    for result in results(text) {
        let result = result.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(result.to_string(), expect, "for `{text}`");
    }
}

fn check_fill(text: &str, expect: f64) {
    for result in results(text) {
        assert_eq!(result.unwrap().fill(), Scalar::F64(expect), "for `{text}`");
    }
}

fn check_fails(text: &str, expect: code::Code) {
    for result in results(text) {
        assert_eq!(result.unwrap_err().code(), expect, "for `{text}`");
    }
}

/// Neither access can be listed beforehand: what `w` stores says where `x` is read.
#[test]
fn convolutions_of_few_entries_are_computed_at_any_extent() {
    const EXTENT: u64 = 9_000_000_000;
    let vector = |coords: &[u64], values: &[f64]| {
        Tensor::pack(&Format::csf(1), &[EXTENT], coords, values).unwrap()
    };
    let inputs = BTreeMap::from([
        (
            "x".to_owned(),
            vector(&[5, 70, EXTENT - 1], &[2.0, 3.0, 4.0]),
        ),
        ("w".to_owned(), vector(&[5, 6], &[10.0, 100.0])),
    ]);
    let mut declarations = Declarations::new();
    for name in ["x", "w"] {
        declarations.declare(name, Declaration::with_extents(&[EXTENT]));
    }
    declarations.set_extent("i", EXTENT);
    let source = Source::new("expression", "y(i) = x(i + j) * w(j)");
    let notation = Notation::parse(&source).unwrap();
    let program = notation.resolve(&declarations).unwrap();
    let results = evaluate(&program, &inputs).unwrap();
    let expect = "{(0): 20.0, (64): 300.0, (65): 30.0, (8999999993): 400.0, (8999999994): 40.0}";
    assert_eq!(results["y"].to_string(), expect);
}

#[test]
fn products_store_the_intersection() {
    check("a(i,j) = A(i,j) * B(i,j)", "{(0,1): -4.0}");
    check("a(i) = b(i) * c(i)", "{(1): 0.0}");
}

#[test]
fn sums_store_the_union() {
    check(
        "a(i,j) = A(i,j) + B(i,j)",
        "{(0,0): 1.0, (0,1): 0.0, (1,2): 5.0}",
    );
    check("a(i) = b(i) - b(i)", "{(1): 0.0}");
}

#[test]
fn an_unstored_zero_annihilates_nan() {
    check("a(i) = b(i) * d(i)", "{(1): 0.0}");
    check("a(i) = 0 * d(i)", "{}");
    check("a(i) = c(i) * d(i)", "{(1): 0.0, (2): nan}");
}

#[test]
fn literals_are_not_stored() {
    check("a(i) = b(i) + 1", "{(1): 4.0}");
    check_fill("a(i) = b(i) + 1", 1.0);
    check("a(i) = exp(b(i) * 0)", "{}");
    check_fill("a(i) = exp(b(i) * 0)", 1.0);
}

#[test]
fn a_variable_that_an_operand_lacks_runs_over_its_extent() {
    check(
        "a(i,j) = A(i,j) + b(j)",
        "{(0,1): 5.0, (1,1): 3.0, (1,2): 5.0}",
    );
    check("a(i,j) = b(i) * b(j)", "{(1,1): 9.0}");
}

#[test]
fn reductions_store_where_the_body_is() {
    check("a(i) = A(i,j) * b(j)", "{(0): 6.0}");
    check("a(j) = sum{i}(A(i,j))", "{(1): 2.0, (2): 5.0}");
    check("s = A(i,j)", "{(): 7.0}");
    check("a(i) = B(i,j) - A(i,j)", "{(0): -3.0, (1): -5.0}");
}

#[test]
fn reductions_see_what_is_not_stored() {
    check("a(i) = max{j}(B(i,j))", "{(0): 1.0}");
    check("a(i) = min{j}(A(i,j))", "{(0): 0.0, (1): 0.0}");
    check("a(i) = sum{j}(A(i,j) + 1)", "{(0): 5.0, (1): 8.0}");
    check_fill("a(i) = sum{j}(B(i,j) + 1)", 3.0);
    check("a(i) = prod{j}(A(i,j) + 2)", "{(0): 16.0, (1): 28.0}");
}

#[test]
fn reductions_nest() {
    check(
        "a(j) = b(j) * sum{i}(A(i,j) * max{k}(B(i,k)))",
        "{(1): 6.0}",
    );
    check("s = max{i}(sum{j}(A(i,j)))", "{(): 5.0}");
}

#[test]
fn comparisons_are_of_all_values() {
    check("a(i) = m(i) > n(i)", "{(0): true, (1): false, (2): false}");
    check("a(i) = m(i) == n(i)", "{(0): false, (1): false, (2): true}");
    check("a(i) = t(i) and not t(i)", "{(0): false, (1): false}");
}

#[test]
fn earlier_results_are_operands() {
    check("T(i) = A(i,j) * b(j); y(j) = T(i) * A(i,j)", "{(1): 12.0}");
}

#[test]
fn stored_zeros_divide() {
    check_fails("a(i) = m(i) // n(i)", code::DIVISION_BY_ZERO);
    check(
        "a(i) = select(n(i) == 0, 0, m(i) // n(i))",
        // At 0 both choices are zeros that are not stored.
        "{(1): -4, (2): 0}",
    );
    check_fails("a(i) = i32(c(i))", code::CAST_OUT_OF_RANGE);
    check("a(i) = b(i) * i32(c(i))", "{(1): 0.0}");
}

#[test]
fn one_statement_takes_results_as_they_are_stored() {
    let mut inputs = inputs();
    inputs.retain(|name, _| name == "b");
    let program = resolve("T(i) = 2 * b(i); y(i) = T(i)", &inputs).unwrap();
    let padded = Tensor::pack(&Format::dense(1), &[3], &[1], &[6.0]).unwrap();
    inputs.insert("T".to_owned(), padded);
    for result in [
        evaluate_statement(&program, 1, &inputs),
        dense::evaluate_statement(&program, 1, &inputs),
    ] {
        assert_eq!(
            result.unwrap().to_string(),
            "{(0): 0.0, (1): 6.0, (2): 0.0}"
        );
    }
}

#[test]
fn inputs_are_what_the_program_was_resolved_for() {
    let mut inputs = inputs();
    inputs.retain(|name, _| name == "b");
    let program = resolve("y(i) = b(i)", &inputs).unwrap();
    let refusal = |inputs: &Inputs| evaluate(&program, inputs).unwrap_err().code();
    assert_eq!(refusal(&Inputs::new()), code::MISSING_INPUT);
    let other = |tensor| Inputs::from([("b".to_owned(), tensor)]);
    let long = Tensor::pack(&Format::csf(1), &[4], &[1], &[6.0]).unwrap();
    assert_eq!(refusal(&other(long)), code::LENGTH_MISMATCH);
    let whole = vector(Format::csf(1), &[1], Array::from_vec(vec![6i32]));
    assert_eq!(refusal(&other(whole)), code::ARRAY_MISMATCH);
}

#[test]
fn more_points_than_anybody_waits_for_are_refused() {
    let vector = |extent| Tensor::pack(&Format::csf(1), &[extent], &[1, 3], &[2.0, 5.0]).unwrap();
    let evaluate = |text, extent| {
        let inputs = Inputs::from([("x".to_owned(), vector(extent))]);
        evaluate(&resolve(text, &inputs).unwrap(), &inputs)
    };
    let huge = 1 << 40;
    let results = evaluate("y(i) = x(i(1:1000000000:2))", huge).unwrap();
    assert_eq!(results["y"].to_string(), "{(0): 2.0, (1): 5.0}");
    for text in ["y(i) = x(i) + i", "s = sum{i}(x(i) + i)"] {
        let error = evaluate(text, huge).unwrap_err();
        assert_eq!(error.code(), code::TOO_MANY_POINTS, "{text}");
        assert!(evaluate(text, 10).is_ok(), "{text}");
    }
}

#[test]
fn runs_are_listed_where_they_are_short() {
    let runs = Format::parse("(i, j) -> (i : compressed, j : run_length)").unwrap();
    let evaluate = |extent| {
        let a = Tensor::pack(&runs, &[extent; 2], &[0, 1, 2, 3], &[2.0, 5.0])?;
        assert_eq!(a.most_entries(), 2 * extent);
        let inputs = Inputs::from([("A".to_owned(), a)]);
        evaluate(&resolve("s = A(i,i+1)", &inputs)?, &inputs)
    };
    assert_eq!(evaluate(9).unwrap()["s"].to_string(), "{(): 7.0}");
    let error = evaluate(1 << 40).unwrap_err();
    assert_eq!(error.code(), code::TOO_MANY_POINTS);
}

#[test]
fn no_entries_are_found_however_far_apart_they_would_be() {
    let huge = 1 << 33;
    let a = Tensor::pack(&Format::csf(3), &[0, huge, huge], &[], &[]).unwrap();
    let x = Tensor::pack(&Format::csf(1), &[huge], &[7], &[2.0]).unwrap();
    let inputs = Inputs::from([("A".to_owned(), a), ("x".to_owned(), x)]);
    let program = resolve("y(j) = A(i,j,k) * x(k)", &inputs).unwrap();
    assert_eq!(evaluate(&program, &inputs).unwrap()["y"].to_string(), "{}");
}
