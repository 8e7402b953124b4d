//! What is refused, when it is bound or evaluated, and how it is said.

use sparsec::internals::{Inputs, Request, compile};
use sparsec::{Format, Program, Source, Tensor, code};

use super::{a, interpreter, matrix, refuse, spmv, x};

#[test]
fn other_structures_are_not_computed_with() {
    let kernel = spmv(&interpreter());
    let (a, x) = (a(), x());
    let mut y = kernel
        .bind("A", &a)
        .unwrap()
        .bind("x", &x)
        .unwrap()
        .assemble()
        .unwrap();
    let moved = matrix(
        "csr",
        [2, 3],
        &[([0, 0], 1.0), ([0, 1], 2.0), ([1, 1], 3.0)],
    );
    let fewer = matrix("csr", [2, 3], &[([0, 0], 1.0)]);
    let larger = matrix(
        "csr",
        [2, 4],
        &[([0, 0], 1.0), ([0, 2], 2.0), ([1, 1], 3.0)],
    );
    let wide = a.convert(&Format::parse("csr, crd = 64").unwrap()).unwrap();
    for other in [&moved, &fewer, &larger, &wide] {
        refuse(y.compute_with([("A", other)]), code::OTHER_STRUCTURE, "`A`");
    }
    refuse(y.compute_with([("B", &a)]), code::UNUSED_NAME, "`B`");
    // What was refused has left no trace.
    assert_eq!(
        y.compute().unwrap().values::<f64>(),
        Some(&[201.0, 30.0][..])
    );
}

#[test]
fn what_does_not_fit_is_refused_when_it_is_bound() {
    let kernel = spmv(&interpreter());
    let (a, x) = (a(), x());
    let by_columns = a.convert(&Format::csc()).unwrap();
    refuse(kernel.bind("A", &by_columns), code::NOT_AS_PLANNED, "`A`");
    refuse(kernel.bind("A", &x), code::NOT_AS_PLANNED, "`A`");
    let single = Tensor::dense(&[3], [1f32; 3]).unwrap();
    refuse(
        kernel.bind("x", &single),
        code::NOT_AS_PLANNED,
        "ElementType::F32",
    );
    let filled = Tensor::builder("csr", &[2, 3])
        .unwrap()
        .fill(1.0)
        .build()
        .unwrap();
    refuse(kernel.bind("A", &filled), code::NOT_AS_PLANNED, "fill");
    refuse(kernel.bind("y", &x), code::NOT_AN_OPERAND, "`y`");
    refuse(kernel.bind("B", &a), code::UNUSED_NAME, "`B`");
}

#[test]
fn what_does_not_fit_together_is_refused_with_its_places() {
    let session = interpreter();
    let kernel = spmv(&session);
    let (a, x) = (a(), x());
    refuse(
        kernel.bind("A", &a).unwrap().evaluate(),
        code::MISSING_INPUT,
        "give `x` its data",
    );
    refuse(kernel.binding().evaluate(), code::MISSING_INPUT, "`A`");
    let short = Tensor::dense(&[2], [1.0, 2.0]).unwrap();
    let binding = kernel.bind("A", &a).unwrap().bind("x", &short).unwrap();
    refuse(
        binding.evaluate(),
        code::EXTENT_MISMATCH,
        "y(i) = A(i,j) * x(j)",
    );
    refuse(
        binding.assemble().map(drop),
        code::EXTENT_MISMATCH,
        "two extents",
    );
    let given = [("A", &a), ("x", &short)];
    refuse(
        session.evaluate("y(i) = A(i,j) * x(j)", given),
        code::EXTENT_MISMATCH,
        "`j`",
    );
    let given = [("A", &a), ("x", &x), ("A", &a)];
    refuse(
        session.evaluate("y(i) = A(i,j) * x(j)", given),
        code::SAID_TWICE,
        "`A` is given two tensors",
    );
    let given = [("A", &a), ("z", &x)];
    refuse(
        session.evaluate("y(i) = A(i,j) * x(j)", given),
        code::UNUSED_NAME,
        "`z`",
    );
    refuse(
        session.evaluate("y(i) = A(i,j", [("A", &a)]),
        code::UNEXPECTED_TOKEN,
        "A(i,j",
    );
    refuse(
        Program::parse("y(i) = x(i)").unwrap().format("z", "csr"),
        code::UNUSED_NAME,
        "`z`",
    );
    refuse(
        Program::parse("y(i) = x(i)").unwrap().format("x", "cssr"),
        code::UNKNOWN_FORMAT,
        "csr",
    );
}

/// Implied sums of one statement over one name run equally far, whether extents are known
/// when the program is planned or compiled, or come with operands.
#[test]
fn sums_over_one_name_run_equally_far() {
    let session = interpreter();
    let (long, short) = (x(), Tensor::dense(&[2], [1.0, 2.0]).unwrap());
    let text = "s = v(i) + w(i)";
    let kernel = session.plan(&Program::parse(text).unwrap()).unwrap();
    let bind = |w| kernel.bind("v", &long).unwrap().bind("w", w).unwrap();
    assert!(bind(&long).evaluate().is_ok());
    let two = "index variable `i` has two extents, 3 and 2";
    refuse(bind(&short).evaluate(), code::EXTENT_MISMATCH, two);
    let request = Request::new(Source::new("expression", text));
    let compiled = compile(&request, &Inputs::new()).unwrap();
    let given = [("v", &long), ("w", &short)];
    let given: Inputs = given.map(|(name, it)| (name.to_owned(), it.clone())).into();
    refuse(session.run(&compiled, &given), code::EXTENT_MISMATCH, two);
}
