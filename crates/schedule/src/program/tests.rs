use sparsec_base::Source;
use sparsec_index::Program;
use sparsec_notation::{Declaration, Declarations, Notation};

use super::ProgramSchedule;

const TWO: &str = "C(i,j) = A(i,k) * B(k,j)\ny(i) = C(i,j) * x(j)";

fn program(text: &str) -> Program {
    let notation = Notation::parse(&Source::new("expression", text)).expect("parses");
    let mut declarations = Declarations::new();
    for tensor in notation.tensor_names() {
        if !tensor.written {
            declarations.declare(tensor.name, Declaration::with_order(tensor.order));
        }
    }
    notation.resolve(&declarations).expect("resolves")
}

/// What each statement of [`TWO`] gets, `PART[…]` for what is split off it.
fn dealt(schedule: &str) -> String {
    let parsed = match ProgramSchedule::parse(&Source::new("schedule", schedule)) {
        Ok(parsed) => parsed,
        Err(error) => return error.to_string(),
    };
    let printed = parsed.to_string();
    let again = ProgramSchedule::parse(&Source::new("schedule", printed.as_str()));
    let again = again.expect("reads back");
    assert_eq!(again.to_string(), printed);
    let said = match again.deal(&program(TWO)) {
        Ok(said) => said,
        Err(error) => return error.to_string(),
    };
    let text = |commands: &super::Schedule| commands.to_string().replace('\n', "; ");
    let said = said.iter().map(|said| {
        let parts = said.parts.iter();
        let parts = parts.map(|part| format!("{}[{}] ", part.statement, text(&part.commands)));
        parts.chain([text(&said.commands)]).collect::<String>()
    });
    said.collect::<Vec<String>>().join(" | ")
}

fn check(schedule: &str, expect: &str) {
    assert_eq!(dealt(schedule), expect, "for `{schedule}`");
}

fn refused(schedule: &str, expect: &[&str]) {
    let error = dealt(schedule);
    for part in expect {
        assert!(error.contains(part), "`{part}` in:\n{error}");
    }
}

#[test]
fn names_say_for_which_statement() {
    check(
        "y: unroll(j, 2) C: unroll(j, 4); unroll(k, 2)",
        "unroll(j, 4); unroll(k, 2) | unroll(j, 2)",
    );
    check(
        "C: unroll(j, 4); y: ; C: unroll(k, 2)",
        "unroll(j, 4); unroll(k, 2) | ",
    );
    check(
        "t2: t1: unroll(j, 4) y: unroll(i, 2)",
        " | t2[] t1[unroll(j, 4)] unroll(i, 2)",
    );
    refused(
        "z: unroll(j, 4)",
        &["E0310", "no statement computes `z`", "`C`, `y`"],
    );
}

#[test]
fn without_a_name_the_loops_say_it() {
    check("unroll(k, 4)", "unroll(k, 4) | ");
    check("convert(x, dense)", " | convert(x, dense)");
    check(
        "split(k, k0, k1, 4); unroll(k1, 4)",
        "split(k, k0, k1, 4); unroll(k1, 4) | ",
    );
    refused(
        "unroll(j, 4)",
        &["E0360", "2 statements", "`C: unroll(j, 4)`"],
    );
    refused("convert(C, csc)", &["E0360", "2 statements"]);
    refused(
        "unroll(l, 4)",
        &["E0310", "no loop `l`", "no other statement"],
    );
}

#[test]
fn what_a_command_would_make_once_loops_are_planned_is_known() {
    // Row by row the workspace has no place before the loops change places.
    check(
        "precompute(A(i,k) * B(k,j), {j}, w); store(w, hashed)",
        "precompute(A(i,k) * B(k,j), {j}, w); store(w, hashed) | ",
    );
}
