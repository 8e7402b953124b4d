//! Definitions of functions that are refused, and calls that end with an error.

use sparsec::{Complex, Program, Scalar, Tensor, UserFunction, code, parse_function};

use super::functions::engines;
use super::interpreter;

/// Wrong declarations would make wrong loops.
#[test]
fn properties_that_do_not_hold_are_refused() {
    for (text, found) in [
        (
            "minus(a, b) = a - b : commutative",
            "minus(0.0, 1.0) is -1.0",
        ),
        (
            "gate(a, b) = a + b : annihilator 0",
            "gate(0.0, 1.0) is 1.0",
        ),
        ("mul(a, b) = a * b : identity 0", "mul(1.0, 0.0) is 0.0"),
        ("twice(a, b) = a - b : idempotent", "is declared idempotent"),
    ] {
        let error = parse_function(text).unwrap_err();
        assert_eq!(error.code(), code::PROPERTY_FAILS, "{text}");
        assert!(error.to_string().contains(found), "{error}");
    }
    // These hold of some type, and are refused where it is another.
    for (text, holds_of, fails_of) in [
        (
            "f(a, b) = (a * b) % 5 : associative, commutative, identity 1",
            Scalar::I32(3),
            Scalar::F32(0.5),
        ),
        (
            "f(a, b) = a + conj(b) : associative, commutative, identity 0",
            Scalar::F64(3.0),
            Scalar::C128(Complex::new(0.0, 1.0)),
        ),
        (
            "f(a, b) = max(a, b) : associative, commutative, identity 0",
            Scalar::U8(3),
            Scalar::I8(-3),
        ),
    ] {
        let f = parse_function(text).unwrap();
        let reduced = |value: Scalar| {
            let program = Program::parse_with("s = f{i}(x(i))", std::slice::from_ref(&f))?;
            let program = program.element("x", value.element())?;
            interpreter().plan(&program)
        };
        assert!(reduced(holds_of).is_ok(), "{text}");
        let error = reduced(fails_of).unwrap_err();
        assert_eq!(error.code(), code::PROPERTY_FAILS, "{text}");
    }
}

#[test]
fn names_and_bodies_that_cannot_be_are_refused() {
    for (text, refused) in [
        ("sum(a, b) = a + b", code::FUNCTION_NAME),
        ("abs(a) = a", code::FUNCTION_NAME),
        ("f64(a) = a", code::FUNCTION_NAME),
        ("f(a) = f(a) + 1", code::FUNCTION_BODY),
        ("f(a) = b + 1", code::FUNCTION_BODY),
        ("f(a, a) = a", code::FUNCTION_BODY),
        ("f(a) = a : commutative", code::FUNCTION_PROPERTY),
    ] {
        let error = parse_function(text).unwrap_err();
        assert_eq!(error.code(), refused, "{text}: {error}");
    }
}

/// An integer that is divided by zero ends the kernel; a float is infinite.
#[test]
fn division_by_zero_is_as_outside_of_functions() {
    let inverse = [parse_function("inverse(x) = 60 / x").unwrap()];
    let floor = [parse_function("share(x) = 60 // x").unwrap()];
    let builder = Tensor::builder("csr", &[2, 2]).unwrap();
    let a = builder.push([0, 1], 4.0).build().unwrap();
    let integers = Tensor::builder("csr", &[2, 2]).unwrap();
    let integers = integers.push([0, 1], 4i64).build().unwrap();
    let cache = tempfile::tempdir().expect("a scratch directory");
    for (session, _) in engines(cache.path()) {
        let plan = |text: &str, functions: &[UserFunction], a: &Tensor| {
            let program = Program::parse_with(text, functions)?.like("A", a)?;
            session.plan(&program)
        };
        let kernel = plan("B(i,j) = inverse(A(i,j))", &inverse, &a).unwrap();
        let b = kernel.bind("A", &a).unwrap().evaluate().unwrap();
        assert_eq!(
            [b.get(&[0, 0]), b.get(&[0, 1])],
            [f64::INFINITY, 15.0].map(Scalar::F64)
        );
        let kernel = plan("B(i,j) = share(A(i,j))", &floor, &integers).unwrap();
        let error = kernel.bind("A", &integers).unwrap().evaluate().unwrap_err();
        assert_eq!(error.code(), code::DIVISION_BY_ZERO);
    }
}
