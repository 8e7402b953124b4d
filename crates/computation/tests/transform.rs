//! Transformations keep what is live out.

mod commands;
mod nests;
mod random;

use std::collections::BTreeMap;
use std::ops::Range;

use proptest::prelude::*;
use sparsec_base::Scalar;
use sparsec_computation::{Computation, Given, Script};

use commands::{command, dice};
use nests::{NEST, ROWS, WAVE, check, read, refuse, transformed};

#[test]
fn interchanges_loops() {
    check(NEST, "interchange(s0, 0, 1)", "s0 [j, i]");
    refuse(WAVE, "interchange(s0, 0, 1)", "E0807");
    check(
        ROWS,
        "interchange(s1, 1, 2)",
        "s0 [0, i]; s1 [1, p, i]; s2 [2, i]",
    );
    refuse(ROWS, "interchange(s1, 0, 1)", "E0807");
}

#[test]
fn skews_and_shifts() {
    check(WAVE, "skew(s0, 1, 0, 1)", "s0 [i, j + i]");
    check(
        WAVE,
        "skew(s0, 1, 0, 2) interchange(s0, 0, 1)",
        "s0 [j + 2 * i, i]",
    );
    refuse(WAVE, "skew(s0, 0, 1, 2)", "E0807");
    refuse(WAVE, "skew(s0, 1, 1, 2)", "E0809");
    check(WAVE, "shift(s0, 1, -3)", "s0 [i, j + -3]");
}

#[test]
fn strips_and_unrolls() {
    check(NEST, "strip_mine(s0, 1, 32)", "s0 [i, j0, j]");
    check(
        NEST,
        "strip_mine(s0, 1, 32) interchange(s0, 0, 1)",
        "s0 [j0, i, j]",
    );
    refuse(WAVE, "strip_mine(s0, 1, 4) interchange(s0, 0, 1)", "E0807");
    check(NEST, "unroll(s0, 1, 2)", "s0_0 [i, j0, 0]; s0_1 [i, j0, 1]");
    // One proof for all copies: 96 statements would be 9216 pairs.
    let all = "fuse(s0, s1, 2) fuse(s1, s2, 2) unroll([s0, s1, s2], 1, 32)";
    let unrolled = transformed(ROWS, all).expect("it unrolls");
    assert_eq!(unrolled.split("; ").count(), 96);
    assert!(unrolled.contains("s1_31 [0, i0, 31, 1, p]"), "{unrolled}");
    refuse(WAVE, "interchange(s0, 0, 1) unroll(s0, 0, 4)", "E0807");
    refuse(NEST, "unroll(s0, 1, 0)", "E0809");
    refuse(NEST, "unroll(s0, 1, 65)", "E0809");
    refuse(NEST, "unroll(s1, 1, 2)", "E0801");
}

#[test]
fn fuses() {
    check(
        ROWS,
        "fuse(s0, s1, 2) fuse(s1, s2, 2)",
        "s0 [0, i]; s1 [0, i, 1, p]; s2 [0, i, 2]",
    );
    refuse(ROWS, "fuse(s0, s2, 2)", "E0807");
    refuse(ROWS, "fuse(s0, s1, 3)", "E0809");
    refuse(ROWS, "fuse(s0, s0, 1)", "E0809");
    refuse(WAVE, "fuse(s0, s1, 1)", "E0801");
}

#[test]
fn shrinks_temporaries() {
    let fused = "fuse(s0, s1, 2) fuse(s1, s2, 2) shrink(t, 0)";
    check(ROWS, fused, "s0 [0, i]; s1 [0, i, 1, p]; s2 [0, i, 2]");
    refuse(ROWS, "shrink(t, 0)", "E0809");
    refuse(ROWS, "shrink(t, 1)", "E0809");
    refuse(ROWS, "shrink(y, 0)", "E0809");
    refuse(ROWS, "shrink(z, 0)", "E0801");
    // Without the first statement an entry would not begin at zero.
    let unset = ROWS.replace("s0: t(i) = 0 over {[i] : 0 <= i < N} at [0, i]", "");
    refuse(&unset, "fuse(s1, s2, 2) shrink(t, 0)", "E0809");
}

#[test]
fn removes_statements_without_effect() {
    let text = |statements: &str| {
        format!(
            "computation c {{ parameters N given x : f64[N]
               temporary t : f64[N] out y : f64[N] {statements} }}"
        )
    };
    let over = "over {[i] : 0 <= i < N}";
    // Dead.
    let dead = text(&format!("s0: t(i) = x(i) {over} s1: y(i) = x(i) {over}"));
    check(&dead, "remove(s0)", "s1 [1, i]");
    refuse(&dead, "remove(s1)", "E0809");
    // Overwritten, but not where it is read before, or where less is written.
    let twice = text(&format!("s0: y(i) = 1 {over} s1: y(i) = x(i) {over}"));
    check(&twice, "remove(s0)", "s1 [1, i]");
    refuse(&twice, "remove(s1)", "E0809");
    let read = text(&format!(
        "s0: y(i) = 1 {over} s1: t(i) = y(i) {over} s2: y(i) = t(i) {over}"
    ));
    refuse(&read, "remove(s0)", "E0809");
    let itself = text(&format!("s0: y(i) = 1 {over} s1: y(i) = y(i) + 1 {over}"));
    refuse(&itself, "remove(s0)", "E0809");
    let less = text(&format!(
        "s0: y(i) = 1 {over} s1: y(i) = x(i) over {{[i] : 0 <= i < N - 1}}"
    ));
    refuse(&less, "remove(s0)", "E0809");
    // Repeated, but not where something has changed in between.
    let again = text(&format!(
        "s0: y(i) max= x(i) {over} s1: t(i) = y(i) {over} s2: y(i) max= x(i) {over}
         s3: y(i) += t(i) {over}"
    ));
    check(&again, "remove(s2)", "s0 [0, i]; s1 [1, i]; s3 [3, i]");
    refuse(&again, "remove(s0)", "E0809");
    let sums = again.replace("max=", "+=");
    refuse(&sums, "remove(s2)", "E0809");
    let changed = text(&format!(
        "s0: y(i) = t(i) {over} s1: t(i) = y(i) + 1 {over} s2: y(i) = t(i) {over}
         s3: y(i) += t(i) {over}"
    ));
    refuse(&changed, "remove(s2)", "E0809");
}

#[test]
fn index_arrays_are_written_before_loops_depend_on_them() {
    let text = |first: &str, second: &str| {
        read(&format!(
            "computation c {{ parameters N temporary pos : i64[N + 1] out y : f64[N + 1]
               s0: pos(i) = i over {{[i] : 0 <= i <= N}} at [{first}, i]
               s1: y(p) = 1 over {{[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)}}
                 at [{second}, i, p] }}"
        ))
    };
    let mut given = Given::default();
    given.parameters.insert("N".to_owned(), 3);
    let right = text("0", "1");
    assert!(right.check_settled().is_ok());
    let found = right.evaluate(&given, 0..5).expect("it runs");
    assert_eq!(found["y"], [1.0, 1.0, 1.0, 0.0].map(Scalar::F64));

    let wrong = text("1", "0");
    let code = |error: sparsec_base::Diagnostic| error.code().to_string();
    assert_eq!(wrong.check_settled().map_err(code), Err("E0806".to_owned()));
    assert_eq!(
        wrong.evaluate(&given, 0..5).map_err(code),
        Err("E0806".to_owned())
    );
    let schedule = |script| transformed(&right.to_string(), script);
    assert_eq!(schedule("shift(s0, 0, 2)"), Err("E0807".to_owned()));
    assert_eq!(schedule("fuse(s0, s1, 2)"), Err("E0807".to_owned()));
}

#[test]
fn refusals_say_which_budget_ran_out() {
    let rows: Vec<String> = (1..40).map(|k| format!("pos({k} * i)")).collect();
    let text = format!(
        "computation c {{ parameters N
           function pos : {{[i] : 0 <= i <= 40 * N}} -> {{[p] : 0 <= p}} nondecreasing
           given pos : i32[40 * N + 1] out y : f64[N]
           s0: y({}) = f64(i + j) over {{[i, j] : 0 <= i < N && 0 <= j < N}} at [i, j] }}",
        rows.join(" + ")
    );
    let script: Script = "interchange(s0, 0, 1)".parse().expect("a script");
    let error = read(&text)
        .transformed(&script.commands[0])
        .expect_err("not proved");
    assert_eq!(error.code().to_string(), "E0807");
    let note = "the proof ran out of its budget of 600 instances of one declaration";
    assert_eq!(error.notes().last().map(String::as_str), Some(note));
    // A plain refusal has none.
    let plain = read(WAVE).transformed(&script.commands[0]);
    assert_eq!(plain.expect_err("broken").notes().len(), 1);
}

#[test]
fn evaluation_refuses_what_it_cannot_do() {
    let code = |text: &str, given: &Given| {
        let found = read(text).evaluate(given, -9..9);
        found.map_err(|error| error.code().to_string())
    };
    let refused = Err("E0808".to_owned());
    let mut given = Given::default();
    let text = "computation c { parameters N given x : i64[N] out y : i8[N], z : f64[N]
        s0: y(i) = x(i) floordiv (i - 1) over {[i] : 0 <= i < N} }";
    assert_eq!(code(text, &given), refused);
    given.parameters.insert("N".to_owned(), 2);
    assert_eq!(code(text, &given), refused);
    given.data.insert("x".to_owned(), vec![Scalar::I64(1)]);
    assert_eq!(code(text, &given), refused);
    let numbers = |a, b| vec![Scalar::I64(a), Scalar::I64(b)];
    given.data.insert("x".to_owned(), numbers(7, 8));
    assert_eq!(code(text, &given), refused);
    let text = text.replace("(i - 1)", "(i - 2)");
    let found = code(&text, &given).expect("it runs");
    assert_eq!(found["y"], [-4i8, -8].map(Scalar::I8));
    given.data.insert("x".to_owned(), numbers(300, 0));
    assert_eq!(code(&text, &given), refused);
    let outside = text.replace("x(i)", "x(i + 1)");
    assert_eq!(code(&outside, &given), refused);
}

/// What the given data of random computations are.
fn given() -> Given {
    let integers = |values: &[i64]| values.iter().map(|v| Scalar::I64(*v)).collect::<Vec<_>>();
    let narrow = |values: &[i32]| values.iter().map(|v| Scalar::I32(*v)).collect::<Vec<_>>();
    Given {
        parameters: BTreeMap::from([("N".to_owned(), 4), ("NZ".to_owned(), 5)]),
        data: BTreeMap::from([
            ("pos".to_owned(), narrow(&[0, 2, 2, 3, 5])),
            ("crd".to_owned(), narrow(&[3, 0, 1, 2, 3])),
            ("a".to_owned(), integers(&[1, -2, 3, 5, -7])),
            ("x".to_owned(), integers(&[2, -1, 4, 1])),
        ]),
    }
}

fn values(computation: &Computation) -> BTreeMap<String, Vec<Scalar>> {
    values_within(computation, -2..8)
}

fn values_within(computation: &Computation, within: Range<i64>) -> BTreeMap<String, Vec<Scalar>> {
    let found = computation.evaluate(&given(), within);
    found.unwrap_or_else(|error| panic!("{error}"))
}

/// Whether live-out data are as expected. Where loops are skewed and strip-mined points may
/// be far beyond the extents, and are looked for there too.
fn keeps(after: &Computation, expected: &BTreeMap<String, Vec<Scalar>>) -> bool {
    values(after) == *expected || values_within(after, -400..400) == *expected
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn transformations_keep_live_out_data(
        computation in random::computation(),
        throws in prop::collection::vec(dice(), 1..7),
    ) {
        let expect = values(&computation);
        let mut now = computation;
        for dice in &throws {
            if now.statements.is_empty() {
                break;
            }
            let command = command(&now, dice);
            if let Ok(after) = now.transformed(&command) {
                prop_assert!(keeps(&after, &expect), "{}\n{}", command, after);
                now = after;
            }
        }
    }

    #[test]
    fn the_pipeline_keeps_live_out_data(computation in random::computation()) {
        let (script, after) = computation.optimised().expect("it applies what is right");
        prop_assert!(keeps(&after, &values(&computation)), "{}\n{}", script, after);
        let text = script.to_string();
        let source = sparsec_base::Source::new("script", text.as_str());
        prop_assert_eq!(&text.parse::<Script>().expect("a script"), &script);
        prop_assert_eq!(Script::replay(&source, &computation).expect("it replays"), after);
    }

    #[test]
    fn scripts_print_and_parse(
        computation in random::computation(),
        throws in prop::collection::vec(dice(), 0..5),
    ) {
        let commands = throws.iter().map(|dice| command(&computation, dice)).collect();
        let script = Script { commands };
        prop_assert_eq!(script.to_string().parse::<Script>().expect("a script"), script);
    }
}
