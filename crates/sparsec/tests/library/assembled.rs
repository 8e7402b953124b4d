//! Structure assembled once, values computed again.

use sparsec::{Binding, Kernel, Program, Tensor};

use super::{interpreter, matrix};

fn both<'a>(kernel: &Kernel, a: &'a Tensor, b: &'a Tensor) -> Binding<'a> {
    kernel.bind("A", a).unwrap().bind("B", b).unwrap()
}

#[test]
fn values_are_computed_again_without_assembling() {
    let session = interpreter();
    // A sum, whose structure is merged; a product, which has a workspace; and a
    // product that reads another format than it is given.
    for (text, format_b) in [
        ("C(i,j) = A(i,j) + B(i,j)", "csr"),
        ("C(i,j) = A(i,k) * B(k,j)", "csr"),
        ("C(i,j) = A(i,j) + B(i,j)", "csc"),
        ("t(i,j) = A(i,k) * B(k,j)\nC(i,j) = t(i,j) + A(i,j)", "dcsr"),
    ] {
        let entries = [([0, 0], 1.0), ([0, 2], 2.0), ([2, 1], 3.0)];
        let (mut a, b) = (
            matrix("csr", [3, 3], &entries),
            matrix(
                format_b,
                [3, 3],
                &[([0, 1], 4.0), ([2, 0], 5.0), ([2, 1], 6.0)],
            ),
        );
        let program = Program::parse(text).unwrap();
        let program = program.like("B", &b).unwrap().format("C", "csr").unwrap();
        let kernel = session.plan(&program).unwrap();
        let pattern = a.clone();
        let mut c = both(&kernel, &pattern, &b).assemble().unwrap();
        assert!(
            c.tensor()
                .values::<f64>()
                .unwrap()
                .iter()
                .all(|&v| v == 0.0)
        );
        assert_eq!(
            *c.compute().unwrap(),
            both(&kernel, &pattern, &b).evaluate().unwrap(),
            "{text}"
        );
        for step in 0..3 {
            a.values_mut::<f64>().unwrap()[step] *= 10.0;
            let computed = c.compute_with([("A", &a)]).unwrap().clone();
            assert_eq!(
                computed,
                both(&kernel, &a, &b).evaluate().unwrap(),
                "{text}"
            );
        }
        // Of the operands that were bound, nothing has changed.
        assert_eq!(
            *c.compute().unwrap(),
            both(&kernel, &pattern, &b).evaluate().unwrap(),
            "{text}"
        );
    }
}

/// What is assembled by its levels, or converted, gets its values too; so does what
/// later statements read of it.
#[test]
fn results_stored_by_their_levels_are_computed_again() {
    let session = interpreter();
    let maps = [
        "bsr(2, 2)",
        "csb(2)",
        "hicoo(2)",
        "alto",
        "dia",
        "ell",
        "msr",
        "hash",
        "(i, j) -> (i floordiv 2 : dense, j floordiv 2 : dense, i mod 2 : dense, j mod 2 : dense)",
        "(i, j) -> (0 - i : compressed, j : compressed)",
    ];
    let programs = [
        "C(i,j) = A(i,j) + B(i,j)",
        "C(i,j) = A(i,k) * B(k,j)",
        "C(i,j) = A(i,k) * B(k,j)\nD(i,j) = C(j,i) + A(i,j)",
    ];
    for map in maps {
        for text in programs {
            let entries = [([0, 0], 1.0), ([0, 2], 2.0), ([2, 1], 3.0), ([3, 3], 4.0)];
            let (mut a, b) = (
                matrix("csr", [4, 4], &entries),
                matrix(
                    "csr",
                    [4, 4],
                    &[([0, 1], 4.0), ([2, 0], 5.0), ([3, 1], 6.0)],
                ),
            );
            let program = Program::parse(text).unwrap().format("C", map).unwrap();
            let kernel = session.plan(&program).unwrap();
            let pattern = a.clone();
            let mut c = both(&kernel, &pattern, &b).assemble().unwrap();
            for factor in [1.0, 10.0] {
                for value in a.values_mut::<f64>().unwrap() {
                    *value *= factor;
                }
                assert_eq!(
                    *c.compute_with([("A", &a)]).unwrap(),
                    both(&kernel, &a, &b).evaluate().unwrap(),
                    "{map}: {text}"
                );
            }
        }
    }
}

/// A row of values that is cleared before it is known to hold anything has no place behind
/// the last one.
#[test]
fn values_have_room_where_entries_may_not_come() {
    let session = interpreter();
    let a = matrix("csr", [40, 3], &[([0, 1], 2.0), ([3, 2], 3.0)]);
    let b = matrix("dense", [3, 2], &[([1, 0], 4.0), ([2, 1], 5.0)]);
    let rows = "(i, k) -> (i : compressed, k : dense)";
    for (text, format) in [
        ("C(i,k) = A(i,j) * B(j,k)", rows),
        (
            "C(i,j) = 2 * A(i,j)",
            "(i, j) -> (i : compressed, j : dense)",
        ),
        ("C(i,k) = A(i,j) * B(j,k)", "dcsr"),
    ] {
        let reads_b = text.contains("B(");
        let program = Program::parse(text).unwrap().format("C", format).unwrap();
        let mut program = program.like("A", &a).unwrap();
        if reads_b {
            program = program.like("B", &b).unwrap();
        }
        let kernel = session.plan(&program).unwrap();
        let bound = || {
            let bound = kernel.bind("A", &a).unwrap();
            match reads_b {
                true => bound.bind("B", &b).unwrap(),
                false => bound,
            }
        };
        let mut assembled = bound().assemble().unwrap();
        for _ in 0..2 {
            assert_eq!(
                *assembled.compute().unwrap(),
                bound().evaluate().unwrap(),
                "{text}"
            );
        }
    }
}
