//! Values that cannot be computed, where nothing needs them and where something does.

use sparsec::{Binding, Kernel, Program, Tensor, code};

use super::{interpreter, matrix, refuse};

fn bound<'t>(kernel: &Kernel, a: &'t Tensor, b: &'t Tensor) -> Binding<'t> {
    kernel.bind("A", a).unwrap().bind("b", b).unwrap()
}

/// `y(i) = b(i) * sum{j}(i64(A(i,j)))` with `A` by columns is split: the sum is a result of its own.
#[test]
fn a_part_that_is_computed_apart_fails_only_if_the_rest_needs_it() {
    let program = Program::parse("y(i) = b(i) * sum{j}(i64(A(i,j)))").unwrap();
    let program = program.format("A", "csc").unwrap();
    let program = program.format("b", "csf").unwrap();
    let kernel = interpreter().plan(&program).unwrap();
    let a = matrix(
        "csc",
        [3, 2],
        &[([0, 0], 1e30), ([1, 0], 3.0), ([1, 1], 4.0)],
    );
    let list = |at: u64| {
        let mut builder = Tensor::builder("csf", &[3]).unwrap();
        builder.extend([([at], 2.0)]);
        builder.build().unwrap()
    };

    let apart = list(1);
    let y = bound(&kernel, &a, &apart).evaluate().unwrap();
    assert_eq!(y.values::<f64>(), Some(&[14.0][..]));
    let mut assembled = bound(&kernel, &a, &apart).assemble().unwrap();
    let y = assembled.compute().unwrap();
    assert_eq!(y.values::<f64>(), Some(&[14.0][..]));
    // Once more: the evaluator decides in each run.
    let y = assembled.compute().unwrap();
    assert_eq!(y.values::<f64>(), Some(&[14.0][..]));

    let needed = list(0);
    let says = "does not fit the integer type";
    refuse(
        bound(&kernel, &a, &needed).evaluate(),
        code::CAST_OUT_OF_RANGE,
        says,
    );
    let mut assembled = bound(&kernel, &a, &needed).assemble().unwrap();
    refuse(assembled.compute(), code::CAST_OUT_OF_RANGE, says);
}

/// Where nothing is stored, the right side divides zero by zero.
#[test]
fn a_result_without_a_fill_stores_every_entry_or_is_refused() {
    let program = Program::parse("q(i) = sum{j}(i64(A(i,j)) // i64(b(i)))").unwrap();
    let program = program.format("A", "csr").unwrap();
    let program = program.format("b", "csf").unwrap();
    let program = program.format("q", "csf").unwrap();
    let kernel = interpreter().plan(&program).unwrap();
    let list = |entries: &[([u64; 1], f64)]| {
        let mut builder = Tensor::builder("csf", &[2]).unwrap();
        builder.extend(entries.iter().copied());
        builder.build().unwrap()
    };
    let a = matrix("csr", [2, 1], &[([0, 0], 7.0), ([1, 0], 9.0)]);
    let all = list(&[([0], 2.0), ([1], 3.0)]);
    let some = list(&[([0], 2.0)]);
    let q = bound(&kernel, &a, &all).evaluate().unwrap();
    assert_eq!(q.get(&[1]).to_string(), "3");
    let says = "divided by zero";
    refuse(
        bound(&kernel, &a, &some).evaluate(),
        code::DIVISION_BY_ZERO,
        says,
    );
}
