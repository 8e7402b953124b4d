//! A schedule that would read what is not computed yet is refused.

use sparsec_base::{Diagnostic, Source, code};
use sparsec_index::Concrete;
use sparsec_notation::{Declaration, Declarations, Notation};
use sparsec_schedule::{Schedule, parse_concrete};

/// `loopfuse(i)` of a statement over `C(i,j)`, `b(i)` and `c(j)`.
fn fused(text: &str) -> Result<Concrete, Diagnostic> {
    let notation = Notation::parse(&Source::new("expression", "C(i,j) = b(i) * c(j)"));
    let mut declarations = Declarations::new();
    for name in ["b", "c"] {
        declarations.declare(name, Declaration::with_order(1));
    }
    let program = notation.and_then(|notation| notation.resolve(&declarations));
    let tensors = program.expect("resolves").tensors;
    let concrete = parse_concrete(&Source::new("concrete", text), &tensors).expect("reads");
    let schedule = Schedule::parse(&Source::new("schedule", "loopfuse(i)")).expect("parses");
    schedule.apply(&concrete)
}

#[track_caller]
fn refused(text: &str, expect: &str) {
    let error = fused(text).expect_err("breaks a dependence");
    assert_eq!(error.code(), code::SCHEDULE_DEPENDENCE);
    let error = error.to_string();
    assert!(error.contains(expect), "{error}");
    assert!(error.contains("schedule:1:10"), "{error}");
}

#[test]
fn loops_are_not_fused_where_iterations_read_one_another() {
    refused(
        "where(forall i: forall j: C(i,j) = w(j), forall i: w(i) += b(i) * c(i))",
        "entries of `w` that others write",
    );
}

#[test]
fn nests_are_not_fused_where_one_needs_the_other() {
    let first = "forall i: forall j: C(j,i) += b(i) * c(j)";
    for second in [
        // Reads what later iterations of the first have still to add to.
        "forall i: forall j: c(j) += C(i,j) * b(i)",
        // Replaces what they then add to.
        "forall i: forall j: C(i,j) = b(i)",
        "forall i: forall j: C(i,j) max= b(i)",
        // Changes what they read.
        "forall i: forall j: c(j) += b(i)",
    ] {
        refused(
            &format!("sequence({first}, {second})"),
            "nests over `i` read or replace what the other writes",
        );
    }
    let text = format!("sequence({first}, forall i: forall j: C(i,j) += b(i))");
    assert_eq!(
        fused(&text).expect("sums may be in any order").to_string(),
        "forall i: sequence(\n  forall j: C(j,i) += b(i) * c(j),\n  forall j: C(i,j) += b(i))"
    );
}
