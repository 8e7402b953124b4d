//! Programs that take more memory than there is are refused before they run.

use sparsec::{Backend, MemoryLimit, Options, Program, Session, code};

use super::{matrix, refuse};

fn session(backend: Backend, bytes: u64) -> Session {
    Session::new(
        Options::from_env()
            .backend(backend)
            .memory(MemoryLimit::Bytes(bytes)),
    )
}

/// Squares a matrix of 100 rows with 2 entries, in at most so many bytes.
fn square(program: &str, result: &str, schedule: &str, bytes: u64) -> sparsec::Result<f64> {
    let a = matrix("dcsr", [100, 100], &[([0, 1], 2.0), ([1, 0], 3.0)]);
    let mut program = Program::parse(program)?
        .format("C", result)?
        .like("A", &a)?;
    if !schedule.is_empty() {
        program = program.schedule(schedule)?;
    }
    let kernel = session(Backend::Interpreter, bytes).plan(&program)?;
    let c = kernel.bind("A", &a)?.evaluate()?;
    let c = c.entries().values;
    Ok((0..c.len()).map(|at| c.get(at).to_f64()).sum())
}

const SQUARE: &str = "C(i,j) = A(i,k) * A(k,j)";

#[test]
fn dense_results_are_estimated() {
    // 100 x 100 f64
    assert_eq!(square(SQUARE, "dense", "", 80_000), Ok(12.0));
    refuse(
        square(SQUARE, "dense", "", 79_999),
        code::TOO_LARGE_FOR_MEMORY,
        "`C` would take 80000 bytes, and 79999 bytes are left",
    );
    // Coordinates alone have no least size.
    assert_eq!(square(SQUARE, "dcsr", "", 30_000), Ok(12.0));
    refuse(
        square("C(i,j) = A(i,j) * 6", "csr", "", 403),
        code::TOO_LARGE_FOR_MEMORY,
        "`C` would take at least 404 bytes",
    );
}

/// A result that is assembled in one format and then stored in another is both.
#[test]
fn results_that_are_stored_otherwise_are_estimated() {
    let program = "C(i,j) = A(i,j) * 6";
    assert_eq!(square(program, "msr", "", 20_000), Ok(30.0));
    refuse(
        square(program, "msr", "", 700),
        code::TOO_LARGE_FOR_MEMORY,
        "`C` would take at least 1.2 kB, and 700 bytes are left",
    );
}

#[test]
fn results_of_earlier_statements_count() {
    let program = "C(i,j) = A(i,j) * 2\ny(i) = C(i,j) * C(j,i)\nD(i,j) = y(i) * y(j)";
    let a = matrix("csr", [100, 100], &[([0, 1], 2.0), ([1, 0], 3.0)]);
    let program = Program::parse(program).unwrap();
    let program = program
        .format("C", "dense")
        .unwrap()
        .format("D", "dense")
        .unwrap();
    let kernel = session(Backend::Interpreter, 100_000)
        .plan(&program)
        .unwrap();
    refuse(
        kernel.bind("A", &a).unwrap().evaluate(),
        code::TOO_LARGE_FOR_MEMORY,
        "`D` would take 80.0 kB",
    );
}

#[test]
fn workspaces_are_estimated() {
    let schedule = "reorder(i, k, j) precompute(A(i,k) * A(k,j), {j}, w)";
    assert_eq!(square(SQUARE, "dcsr", schedule, 100_000), Ok(12.0));
    refuse(
        square(SQUARE, "dcsr", schedule, 900),
        code::TOO_LARGE_FOR_MEMORY,
        "workspaces for `C` would take",
    );
}

#[test]
fn growth_is_bounded() {
    refuse(
        square("C(i,j) = A(i,k) + A(k,j)", "coo", "", 6_000),
        code::KERNEL_OUT_OF_MEMORY,
        "no memory for the result",
    );
}

/// Beyond the few kilobytes that every result has, growth asks for memory.
#[test]
fn growth_is_bounded_on_every_engine() {
    let a = matrix("dcsr", [9_000, 9_000], &[([0, 1], 2.0), ([1, 0], 3.0)]);
    let program = Program::parse("C(i,j) = A(i,k) + A(k,j)").unwrap();
    let program = program.format("C", "coo").unwrap().like("A", &a).unwrap();
    for backend in [Backend::Interpreter, Backend::Cranelift, Backend::C] {
        let run = |bytes| {
            let kernel = session(backend, bytes).plan(&program)?;
            kernel.bind("A", &a)?.evaluate()
        };
        let n_stored = run(2 << 20).map(|c| c.n_stored());
        assert_eq!(n_stored, Ok(4 * 9_000 - 4), "{backend:?}");
        let refused = run(300_000).expect_err("36000 entries take more");
        assert_eq!(refused.code(), code::KERNEL_OUT_OF_MEMORY, "{backend:?}");
        let shown = refused.to_string();
        assert!(shown.contains("no memory for the result"), "{shown}");
        assert!(shown.contains("^ computed here"), "{shown}");
    }
}

#[test]
fn what_would_take_years_is_refused() {
    let huge = 1 << 40;
    let a = matrix("dcsr", [huge, huge], &[([7, 3], 2.0), ([9, huge - 1], 4.0)]);
    let nothing = matrix("dcsr", [huge, huge], &[]);
    let run = |text: &str, strict: bool, a: &sparsec::Tensor| {
        let mut program = Program::parse(text)?.like("A", a)?;
        if strict {
            program = program.strict();
        }
        let kernel = Session::interpreter().plan(&program)?;
        let result = kernel.bind("A", a)?.evaluate()?;
        sparsec::Result::Ok(result.entries().values.get(0).to_f64())
    };
    let points = 2f64.powi(80);
    let sum = 2f64.exp() + 4f64.exp() + points;
    let exp = "s = sum{i,j}(exp(A(i,j)))";
    assert_eq!(run(exp, false, &a), Ok(sum));
    assert_eq!(run("s = max{i}(sum{j}(A(i,j)))", false, &a), Ok(4.0));
    assert_eq!(run("s = prod{i,j}(A(i,j))", false, &a), Ok(0.0));
    // The order of the source is that of all points.
    let refused = [
        (exp, true, "`i`, `j`: 1099511627776 x 1099511627776"),
        ("s = sum{i,j}(A(i,j) + i)", false, "64 x 17179869184 x"),
    ];
    for (text, strict, loops) in refused {
        let refused = run(text, strict, &a).expect_err("it takes years");
        assert_eq!(refused.code(), code::TOO_MUCH_WORK);
        let shown = refused.to_string();
        assert!(shown.contains(loops), "{shown}");
    }
    // Kernels that are planned before extents are known get them when they are bound.
    let x = sparsec::Tensor::builder("(i) -> (i : compressed)", &[huge]).unwrap();
    let x = x.push([9], 10.0).build().unwrap();
    let program = Program::parse("y(i) = max{j}(A(i,j)) * x(i)").unwrap();
    let program = program.like("A", &a).unwrap().like("x", &x).unwrap();
    let kernel = Session::interpreter().plan(&program).unwrap();
    let bound = kernel.bind("A", &a).unwrap().bind("x", &x).unwrap();
    let y = bound.evaluate().unwrap();
    assert_eq!((y.n_stored(), y.get(&[9]).to_f64()), (1, 40.0));
    // Loops over entries, of which there are none.
    assert_eq!(
        run("s = sum{i,j,k}(A(i,j) * (A(j,k) + k))", false, &nothing),
        Ok(0.0)
    );
}
