//! Statements of programs as naive loops, which read back.

use sparsec_base::Source;
use sparsec_index::concretize;
use sparsec_notation::{Declaration, Declarations, Notation};
use sparsec_schedule::parse_concrete;

/// The loops of the last statement of a text over tensors of `f64`.
fn check(text: &str, expect: &str) {
    let notation = Notation::parse(&Source::new("expression", text)).expect("parses");
    let mut declarations = Declarations::new();
    for tensor in notation.tensor_names() {
        if !tensor.written {
            declarations.declare(tensor.name, Declaration::with_order(tensor.order));
        }
    }
    let program = notation.resolve(&declarations).expect("resolves");
    let concrete = concretize(&program, program.statements.len() - 1);
    assert_eq!(concrete.to_string(), expect, "for `{text}`");
    let source = Source::new("concrete", expect);
    let again = parse_concrete(&source, &program.tensors).expect("reads back");
    assert_eq!(again.to_string(), expect);
    assert_eq!(again.result, concrete.result);
}

#[test]
fn reductions_at_the_root_assign_with_their_operator() {
    check("a(i) = b(i) + c(i)", "forall i: a(i) = b(i) + c(i)");
    check("s = a(i)", "forall i: s += a(i)");
    check("y(i) max= A(i,j)", "forall i: forall j: y(i) max= A(i,j)");
    check(
        "s = sum{i}(sum{j}(A(i,j)))",
        "forall i: forall j: s += A(i,j)",
    );
    check("s = a", "s = a");
    check("t(i) = a(i); s = t(i)", "forall i: s += t(i)");
    check(
        "B(j,i) = A(i,k) * A(k,j) * C(i,j)",
        "forall j: forall i: forall k: B(j,i) += A(i,k) * A(k,j) * C(i,j)",
    );
}

#[test]
fn other_reductions_get_a_workspace() {
    check(
        "y(i) = b(i) - A(i,j) * x(j)",
        "forall i: where(y(i) = b(i) - t, forall j: t += A(i,j) * x(j))",
    );
    check(
        "s = max{i}(sum{j}(A(i,j)))",
        "forall i: where(s max= t, forall j: t += A(i,j))",
    );
    check(
        "s = sqrt(sum{i}(a(i) * max{j}(A(i,j))))",
        "where(\n  s = sqrt(t),\n  \
         forall i: where(t += a(i) * t1, forall j: t1 max= A(i,j)))",
    );
    check(
        "t(i) = sum{j}(A(i,j)) + sum{k}(B(i,k))",
        "forall i: where(\n  \
         where(t(i) = t1 + t2, forall k: t2 += B(i,k)),\n  \
         forall j: t1 += A(i,j))",
    );
}

#[test]
fn workspaces_are_outside_loops_that_they_do_not_depend_on() {
    check(
        "y(i) = a(i) / sum{k}(a(k))",
        "where(forall i: y(i) = a(i) / t, forall k: t += a(k))",
    );
    check(
        "y(i) = A(i,j) * sum{k}(B(i,k))",
        "forall i: where(forall j: y(i) += A(i,j) * t, forall k: t += B(i,k))",
    );
}

#[test]
fn constants_are_worked_out_unless_a_loop_needs_them() {
    check("y(i) = 1 * a(i) + 0", "forall i: y(i) = a(i)");
    check(
        "y(i) = sum{j}(0 * A(i,j)) + a(i)",
        "forall i: where(y(i) = t + a(i), forall j: t += 0.0 * A(i,j))",
    );
}
