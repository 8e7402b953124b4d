use sparsec_base::Source;

use super::Schedule;
use crate::concrete::Concrete;
use crate::concretize::concretize;
use crate::notation::Notation;
use crate::resolve::{Declaration, Declarations};

fn naive(text: &str) -> Concrete {
    let notation = Notation::parse(&Source::new("expression", text)).expect("parses");
    let mut declarations = Declarations::new();
    for tensor in notation.tensor_names() {
        if !tensor.written {
            declarations.declare(tensor.name, Declaration::with_order(tensor.order));
        }
    }
    concretize(&notation.resolve(&declarations).expect("resolves"), 0)
}

fn scheduled(text: &str, schedule: &str) -> String {
    let naive = naive(text);
    let parsed = match Schedule::parse(&Source::new("schedule", schedule)) {
        Ok(parsed) => parsed,
        Err(error) => return error.to_string(),
    };
    let printed = parsed.to_string();
    let again = Schedule::parse(&Source::new("schedule", printed.as_str())).expect("reads back");
    assert_eq!(again.to_string(), printed);
    match again.apply(&naive) {
        Ok(concrete) => {
            let text = concrete.to_string();
            let source = Source::new("concrete", text.as_str());
            let again = Concrete::parse(&source, &concrete.tensors).expect("reads back");
            assert_eq!(again.to_string(), text);
            text
        }
        Err(error) => error.to_string(),
    }
}

fn check(text: &str, schedule: &str, expect: &str) {
    assert_eq!(
        scheduled(text, schedule),
        expect,
        "for `{text}` and `{schedule}`"
    );
}

/// The first line of the diagnostic and its help.
fn refused(text: &str, schedule: &str, expect: &[&str]) {
    let error = scheduled(text, schedule);
    for part in expect {
        assert!(error.contains(part), "`{part}` in:\n{error}");
    }
}

const SPGEMM: &str = "C(i,j) = A(i,k) * B(k,j)";

#[test]
fn loops_change_places() {
    check(
        SPGEMM,
        "reorder(i, k, j)",
        "forall i: forall k: forall j: C(i,j) += A(i,k) * B(k,j)",
    );
    check(
        SPGEMM,
        "reorder(k, i)",
        "forall k: forall j: forall i: C(i,j) += A(i,k) * B(k,j)",
    );
    refused(SPGEMM, "reorder(i, l)", &["E0310", "no loop `l`"]);
    refused(SPGEMM, "reorder(i, i)", &["E0311", "named twice"]);
    refused(
        "y(i) = b(i) - A(i,j) * x(j)",
        "reorder(j, i)",
        &["E0311", "not directly inside"],
    );
}

#[test]
fn a_row_is_collected_in_a_workspace() {
    check(
        SPGEMM,
        "reorder(i, k, j); precompute(A(i,k) * B(k,j), {j}, w)",
        "forall i: where(\n  forall j: C(i,j) = w(j),\n  \
         forall k: forall j: w(j) += A(i,k) * B(k,j))",
    );
    check(
        SPGEMM,
        "precompute(A(i,k) * B(k,j), {}, t)",
        "forall i: forall j: where(C(i,j) = t, forall k: t += A(i,k) * B(k,j))",
    );
    refused(
        SPGEMM,
        "precompute(A(i,k) * B(k,j), {j}, w)",
        &["E0311", "write `{}`"],
    );
    refused(
        SPGEMM,
        "precompute(A(i,k) + B(k,j), {}, w)",
        &["E0310", "no assignment"],
    );
    refused(
        SPGEMM,
        "precompute(A(i,k) * B(k,j), {}, A)",
        &["E0311", "already"],
    );
    refused("C(i,j) = A(i,j)", "precompute(A(i,j), {}, t)", &["E0310"]);
}

#[test]
fn a_scalar_workspace_is_lifted() {
    let text = "C(i,j) = D(i,j) + A(i,k) * B(k,j)";
    check(
        text,
        "precompute(A(i,k) * B(k,j), {j}, w)",
        "forall i: where(\n  forall j: C(i,j) = D(i,j) + w(j),\n  \
         forall k: forall j: w(j) += A(i,k) * B(k,j))",
    );
    refused(
        text,
        "precompute(A(i,k) * B(k,j), {i}, w)",
        &["E0311", "write `{j}`"],
    );
    refused(
        text,
        "precompute(A(i,k) * B(k,j), {}, w)",
        &["E0311", "scalar already"],
    );
    // One producer changes places with the other that it is inside of.
    check(
        "C(i,j) = D(i,k) * E(k,j) + x(m) + A(i,l) * B(l,j)",
        "precompute(A(i,l) * B(l,j), {j}, w)",
        "where(\n  forall i: where(\n    \
         forall j: where(\n      \
         C(i,j) = t + t1 + w(j),\n      \
         forall k: t += D(i,k) * E(k,j)),\n    \
         forall l: forall j: w(j) += A(i,l) * B(l,j)),\n  \
         forall m: t1 += x(m))",
    );
}

#[test]
fn operands_are_converted() {
    check(
        SPGEMM,
        "convert(B(k,j), csc)",
        "forall i: forall j: forall k: C(i,j) += A(i,k) * B_csc(k,j)",
    );
    check(
        "C(i,j) = A(i,j) + A(j,i)",
        "convert(A(j,i), (i, j) -> (j : dense, i : compressed), crd = 32)",
        "forall i: forall j: C(i,j) = A(i,j) + A_converted(j,i)",
    );
    check(
        "C(i,j) = A(i,j) + A(j,i)",
        "convert(A, dense)",
        "forall i: forall j: C(i,j) = A_dense(i,j) + A_dense(j,i)",
    );
    refused(SPGEMM, "convert(D, csc)", &["E0310", "no operand `D`"]);
    refused(
        SPGEMM,
        "convert(A(k,i), csc)",
        &["E0310", "not read with these indices"],
    );
    refused("y(i) = x(i)", "convert(x, csr)", &["E0115"]);
    refused(SPGEMM, "unroll(i, 4)", &["E0311", "not in this version"]);
    refused(
        SPGEMM,
        "reordr(i, j)",
        &["E0311", "did you mean `reorder`?"],
    );
}
