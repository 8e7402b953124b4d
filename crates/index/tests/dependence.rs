//! A schedule that would read what is not computed yet is refused.

use sparsec_base::{Source, code};
use sparsec_index::{Concrete, Declaration, Declarations, Notation, Schedule};

#[test]
fn loops_are_not_fused_where_iterations_read_one_another() {
    let notation = Notation::parse(&Source::new("expression", "C(i,j) = b(i) * c(j)"));
    let mut declarations = Declarations::new();
    for name in ["b", "c"] {
        declarations.declare(name, Declaration::with_order(1));
    }
    let program = notation.and_then(|notation| notation.resolve(&declarations));
    let tensors = program.expect("resolves").tensors;
    let text = "where(forall i: forall j: C(i,j) = w(j), forall i: w(i) += b(i) * c(i))";
    let concrete = Concrete::parse(&Source::new("concrete", text), &tensors).expect("reads");
    let schedule = Schedule::parse(&Source::new("schedule", "loopfuse(i)")).expect("parses");
    let error = schedule.apply(&concrete).expect_err("breaks a dependence");
    assert_eq!(error.code(), code::SCHEDULE_DEPENDENCE);
    assert!(
        error
            .to_string()
            .contains("entries of `w` that others write"),
        "{error}"
    );
}
