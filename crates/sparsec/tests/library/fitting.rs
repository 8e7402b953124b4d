//! Tensors that are not those of a kernel: each public function that takes a tensor gives
//! the right result or refuses.
//!
//! ```text
//! programs × formats, types, fills, extents, orders × bind, run, compute_with, compute
//! ```
//!
//! The interpreter checks every access, so a launch that should have been refused panics
//! there; machine code is run where the interpreter was.

use std::collections::BTreeMap;

use sparsec::internals::{Computation, Given, Inputs, Request, compile, compile_computation};
use sparsec::{Backend, Options, Program, Result, Session, Source, Tensor, code};

use super::refuse;

/// Tensors of all kinds; small ones, and one that is larger than any memory.
fn tensors() -> Vec<Tensor> {
    let mut all = Vec::new();
    for order in 0..4usize {
        let formats: &[&str] = match order {
            0 => &["dense"],
            1 => &[
                "dense",
                "csf",
                "(i) -> (i floordiv 2 : dense, i mod 2 : dense)",
            ],
            2 => &[
                "dense",
                "csr",
                "csc",
                "coo",
                "dcsr",
                "bsr(2, 2)",
                "dia",
                "ell",
                "hash",
                "msr",
            ],
            _ => &["dense", "csf", "coo"],
        };
        for format in formats {
            for extents in [&[3, 3, 3], &[0, 3, 2], &[3, 0, 1], &[1, 1, 1], &[4, 3, 5]] {
                let mut builder = Tensor::builder(*format, &extents[..order]).unwrap();
                let held = extents[..order].iter().all(|extent| *extent > 0);
                if held {
                    builder.extend([(vec![0; order], 2.0)]);
                }
                all.extend(builder.build());
            }
        }
    }
    let huge = |format: &str| {
        let builder = Tensor::builder(format, &[1_000_000, 1_000_000]).unwrap();
        builder.push([999_999, 999_999], 5.0).build().unwrap()
    };
    all.extend(["csr", "csc", "dcsr", "coo"].map(huge));
    let ints = Tensor::builder("csr", &[3, 3]).unwrap();
    all.push(ints.push([2, 2], 7i32).build().unwrap());
    let singles = Tensor::builder("csr", &[3, 3]).unwrap();
    all.push(singles.push([2, 2], 7f32).build().unwrap());
    let filled = Tensor::builder("csr, fill 1", &[3, 3]).unwrap();
    all.push(filled.push([2, 2], 7.0).build().unwrap());
    all.push(Tensor::dense(&[3], [1i64, 2, 3]).unwrap());
    all
}

fn sessions() -> [Session; 2] {
    [Backend::Interpreter, Backend::Cranelift]
        .map(|backend| Session::new(Options::from_env().backend(backend)))
}

/// Statements whose operands `A` and `x` are given.
const PROGRAMS: [&str; 4] = [
    "y(i) = A(i,j) * x(j)",
    "C(i,j) = A(i,k) * A(k,j)",
    "s = A(i,i)",
    "y(i) = A(i,j) * x(j)\nz(i) = y(i) + A(i,0)",
];

fn request(text: &str) -> Request {
    Request::new(Source::new("expression", text))
}

fn inputs(text: &str, a: &Tensor, x: &Tensor) -> Inputs {
    let mut inputs = Inputs::from([("A".to_owned(), a.clone())]);
    if text.contains('x') {
        inputs.insert("x".to_owned(), x.clone());
    }
    inputs
}

/// The results where everything is planned for these very tensors, if they fit together.
fn expected(session: &Session, text: &str, inputs: &Inputs) -> Result<BTreeMap<String, Tensor>> {
    let compiled = compile(&request(text), inputs)?;
    Ok(session.run(&compiled, inputs)?.tensors)
}

/// Compares entries: another plan may store a result in another format.
fn assert_same(found: &BTreeMap<String, Tensor>, expected: &BTreeMap<String, Tensor>) {
    for (name, tensor) in found {
        assert!(
            tensor.equal_within(&expected[name], 0.0).is_none(),
            "`{name}`"
        );
    }
}

#[test]
fn whatever_is_given_the_result_is_right_or_refused() {
    let all = tensors();
    let small = Tensor::builder("csr", &[3, 3]).unwrap();
    let a = small.push([0, 1], 1.0).push([2, 2], 4.0).build().unwrap();
    let x = Tensor::dense(&[3], [1.0, 10.0, 100.0]).unwrap();
    let (mut right, mut refused) = (0, 0);
    for session in sessions() {
        for text in PROGRAMS {
            let compiled = compile(&request(text), &inputs(text, &a, &x)).unwrap();
            let open = compile(&request(text), &Inputs::new()).unwrap();
            let program = Program::parse(text).unwrap().format("A", "csr").unwrap();
            let kernel = session.plan(&program).unwrap();
            for given in &all {
                let inputs = inputs(text, given, &x);
                let expected = expected(&session, text, &inputs);
                for loops in [&compiled, &open] {
                    match session.run(loops, &inputs) {
                        Ok(found) => {
                            assert_same(&found.tensors, expected.as_ref().unwrap());
                            right += 1;
                        }
                        Err(_) => refused += 1,
                    }
                }
                let bound = kernel.bind("A", given);
                let bound = bound.and_then(|bound| match text.contains('x') {
                    true => bound.bind("x", &x),
                    false => Ok(bound),
                });
                match bound.and_then(|bound| bound.evaluate_all()) {
                    Ok(found) => {
                        assert_same(&found, expected.as_ref().unwrap());
                        right += 1;
                    }
                    Err(_) => refused += 1,
                }
            }
            // Values alone go into a structure that was assembled for `A`.
            let mut bound = kernel.bind("A", &a).unwrap();
            if text.contains('x') {
                bound = bound.bind("x", &x).unwrap();
            }
            let mut assembled = bound.assemble().unwrap();
            for given in &all {
                match assembled.compute_with([("A", given)]) {
                    Ok(found) => {
                        let inputs = inputs(text, given, &x);
                        let expected = expected(&session, text, &inputs).unwrap();
                        assert!(
                            expected
                                .values()
                                .any(|it| found.equal_within(it, 0.0).is_none())
                        );
                        right += 1;
                    }
                    Err(_) => refused += 1,
                }
            }
        }
    }
    assert!(
        right > 100 && refused > 1000,
        "{right} right, {refused} refused"
    );
}

#[test]
fn compiled_loops_refuse_other_extents_than_theirs() {
    let matrix = |n: u64| {
        let builder = Tensor::builder("csr", &[n, n]).unwrap();
        builder.push([n - 1, n - 1], 2.0).build().unwrap()
    };
    let text = "y(i) = A(i,j)";
    let compiled = compile(&request(text), &Inputs::from([("A".to_owned(), matrix(3))])).unwrap();
    for session in sessions() {
        let huge = Inputs::from([("A".to_owned(), matrix(1_000_000))]);
        refuse(
            session.run(&compiled, &huge),
            code::NOT_AS_PLANNED,
            "planned with extents `3x3`, and given with `1000000x1000000`",
        );
        // Loops that were compiled for any extents take all that fit together.
        let open = compile(&request(text), &Inputs::new()).unwrap();
        let ran = session.run(&open, &huge).unwrap();
        assert_eq!(ran.tensors["y"].extents(), [1_000_000]);
        // Loops with offsets are for the extents that they were compiled with.
        let open = compile(&request("s = A(i,i+1)"), &Inputs::new()).unwrap();
        refuse(session.run(&open, &huge), code::MISSING_EXTENT, "extents");
    }
}

#[test]
fn computations_refuse_arrays_that_are_not_as_declared() {
    let text = "
computation gather {
  parameters N, M
  function crd : {[i] : 0 <= i < N} -> {[j] : 0 <= j < M}
  given crd : i32[N], x : f64[M]
  out y : f64[N]
  s0: y(i) = x(crd(i)) over {[i] : 0 <= i < N}
}";
    let compiled = compile_computation(&text.parse::<Computation>().unwrap()).unwrap();
    let x = Tensor::dense(&[2], [1.0, 10.0]).unwrap();
    let fits = Tensor::dense(&[3], [0i32, 1, 0]).unwrap();
    let beyond = Tensor::dense(&[3], [0i32, 2, 0]).unwrap();
    let wide = Tensor::dense(&[3], [0i64, 1, 0]).unwrap();
    let sparse = Tensor::builder("(i) -> (i : compressed)", &[3]).unwrap();
    let sparse = sparse.push([1], 1i32).build().unwrap();
    for session in sessions() {
        let with = |at| session.compute(&compiled, &Given::new().data("crd", at).data("x", &x));
        assert_eq!(
            with(&fits).unwrap()["y"].values::<f64>(),
            Some(&[1.0, 10.0, 1.0][..])
        );
        refuse(with(&beyond), code::NOT_AS_DECLARED, "crd(1) = 2");
        refuse(with(&wide), code::GIVEN_MISFIT, "i64");
        refuse(with(&sparse), code::GIVEN_MISFIT, "compressed");
        let stated = Given::new()
            .parameter("N", 4)
            .data("crd", &fits)
            .data("x", &x);
        refuse(
            session.compute(&compiled, &stated),
            code::GIVEN_MISFIT,
            "[4]",
        );
    }
}
