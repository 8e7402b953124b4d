//! Programs that take more memory than there is are refused before they run.

use sparsec::{MemoryLimit, Options, Program, Session, code};

use super::{matrix, refuse};

fn session(bytes: u64) -> Session {
    Session::new(Options {
        backend: sparsec::Backend::Interpreter,
        memory: MemoryLimit::Bytes(bytes),
        ..Options::default()
    })
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
    let kernel = session(bytes).plan(&program)?;
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
        "`C` would take 80000 bytes, and 79999 are left",
    );
    // Coordinates alone have no least size.
    assert_eq!(square(SQUARE, "dcsr", "", 20_000), Ok(12.0));
    refuse(
        square("C(i,j) = A(i,j) * 6", "csr", "", 403),
        code::TOO_LARGE_FOR_MEMORY,
        "`C` would take 404 bytes",
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
    let kernel = session(100_000).plan(&program).unwrap();
    refuse(
        kernel.bind("A", &a).unwrap().evaluate(),
        code::TOO_LARGE_FOR_MEMORY,
        "`D` would take 80000 bytes",
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
        "ran out of memory",
    );
}
