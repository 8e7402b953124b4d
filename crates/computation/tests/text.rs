//! The text of computations: what is read, printed and refused.

mod random;

use proptest::prelude::*;
use sparsec_computation::Computation;

fn printed(text: &str) -> String {
    let read = text.parse::<Computation>();
    read.unwrap_or_else(|error| panic!("{error}")).to_string()
}

/// The code and the text under its caret.
fn refused(text: &str) -> (String, String) {
    let error = text.parse::<Computation>().expect_err("it is wrong");
    let label = &error.labels()[0];
    (
        error.code().to_string(),
        text[label.span.range()].to_owned(),
    )
}

fn in_header(line: &str) -> (String, String) {
    refused(&format!("computation c {{ parameters N {line} }}"))
}

fn in_statement(line: &str) -> (String, String) {
    refused(&format!(
        "computation c {{ parameters N
           given x : f64[N], r : f32[N], z : c64[N], at1 : i32[N], m : f64[N, N]
           out y : f64[N], n : i64, w : i64[N]
           {line} }}"
    ))
}

fn at(code: &str, place: &str) -> (String, String) {
    (code.to_owned(), place.to_owned())
}

#[test]
fn prints_what_it_reads() {
    let text = "\
computation spmv {
  parameters N, M, NZ
  assume 0 <= N
  function pos : {[i] : 0 <= i <= N} -> {[p] : 0 <= p <= NZ} nondecreasing
  given pos : i32[N + 1], crd : i32[NZ], A : f64[NZ], x : f64[M]
  temporary n : i64
  out y : f64[N]

  s0: y(i) = 0
    over {[i] : 0 <= i < N}
    at [i, 0]

  s1: y(i) += A(p) * x(crd(p))
    over {[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)}
    at [i, 1, p]

  s2: n max= -(3) floordiv max(i - 1, pos(i)) mod 2 + i * -3
    over {[i] : 0 <= i < N} union {[i_1] : i_1 = N}
    at [N + i, i mod 2]

  s3: y(i) = (f64(i) - 0.5) / (x(i) - (1e300 - -2.0)) min -y(i)
    over {[i] : 0 <= i < N}
    at []
}
"
    .replace("(1e300 - -2.0)) min -y(i)", "(1e300 - -2.0)) - -y(i)");
    assert_eq!(printed(&text), text);
}

#[test]
fn orders_data_by_role() {
    let text = "computation c { out y : f64 given x : f64 s0: y = x over {[]} }";
    let expect = "computation c {\n  given x : f64\n  out y : f64\n\n  s0: y = x\n    over {[]}\n    at [0]\n}\n";
    assert_eq!(printed(text), expect);
}

#[test]
fn statements_without_a_schedule_run_one_after_another() {
    let text = "computation c { parameters N out y : f64[N]
        s0: y(i) = 0 over {[i] : 0 <= i < N}
        s1: y(i) += 1 over {[i] : 0 <= i < N} }";
    let read: Computation = text.parse().expect("it is right");
    let schedules = read.to_string();
    assert!(schedules.contains("at [0, i]") && schedules.contains("at [1, i]"));
}

#[test]
fn refuses_names() {
    assert_eq!(in_header("given N : f64"), at("E0802", "N"));
    assert_eq!(in_header("given over : f64"), at("E0802", "over"));
    assert_eq!(in_header("given mod : f64"), at("E0131", "mod"));
    assert_eq!(in_header("given A : f64[M]"), at("E0801", "M"));
    assert_eq!(in_header("given A : f46[N]"), at("E0101", "f46"));
    assert_eq!(in_header("function f : {[i]} -> {[j]}"), at("E0801", "f"));
    assert_eq!(
        in_header("function f : {[i]} -> {[j]} given f : f64[N]"),
        at("E0803", "f")
    );
    assert_eq!(
        in_header("function f : {[i, j]} -> {[k]} given f : i64[N]"),
        at("E0130", "f")
    );
    let over = "over {[i] : 0 <= i < N}";
    assert_eq!(
        in_statement(&format!("s: u(i) = 0 {over}")),
        at("E0801", "u")
    );
    assert_eq!(
        in_statement(&format!("s: y(i) = u(i) {over}")),
        at("E0801", "u")
    );
    assert_eq!(
        in_statement(&format!("s: y(i) = f64(k) {over}")),
        at("E0801", "k")
    );
    assert_eq!(
        in_statement(&format!("s: y(k) = 0 {over}")),
        at("E0801", "k")
    );
    assert_eq!(
        in_statement("s: y(i) = 0 over {[i] : 0 <= i < f(N)}"),
        at("E0801", "f")
    );
    assert_eq!(
        in_statement("s: y(i) = 0 over {[i, y] : 0 <= i < N && y = 0}"),
        at("E0802", "y")
    );
    assert_eq!(
        in_statement(&format!("s: y(i) = 0 {over} s: y(i) = 1 {over}")),
        at("E0802", "s")
    );
    assert_eq!(
        in_statement(&format!("s: y(i(0)) = 0 {over}")),
        at("E0802", "i")
    );
}

#[test]
fn refuses_wrong_numbers_of_indices() {
    let over = "over {[i] : 0 <= i < N}";
    for (line, place) in [
        ("s: y(i, i) = 0", "y"),
        ("s: y = 0", "y"),
        ("s: y(i) = m(i)", "m"),
        ("s: y(i) = x(at1(i, i))", "at1"),
    ] {
        let found = in_statement(&format!("{line} {over}"));
        assert!(["E0130", "E0131"].contains(&found.0.as_str()), "{found:?}");
        assert_eq!(found.1, place);
    }
}

/// The example that stands beside a text that is no computation.
#[test]
fn shows_what_a_computation_looks_like() {
    for text in ["", "sum", "computation c { given x f64[3] }"] {
        let error = text.parse::<Computation>().expect_err("no computation");
        let help = error.help_text().expect("a way out");
        let example = help.split('`').nth(1).expect("an example");
        assert!(example.parse::<Computation>().is_ok(), "{example}");
    }
}

#[test]
fn refuses_data_that_are_no_integers() {
    let over = "over {[i] : 0 <= i < N}";
    assert_eq!(
        in_statement(&format!("s: y(x(i)) = 0 {over}")),
        at("E0803", "x")
    );
    assert_eq!(
        in_statement("s: y(i) = 0 over {[i] : 0 <= i < N && x(i) < 3}"),
        at("E0803", "x")
    );
    assert_eq!(
        in_statement(&format!("s: y(i) = 0 {over} at [x(i)]")),
        at("E0803", "x")
    );
}

#[test]
fn refuses_types_that_do_not_fit() {
    for (line, place) in [
        ("y(i) = x(i) * r(i)", "r(i)"),
        ("y(i) = r(i)", "r(i)"),
        ("y(i) = i", "i"),
        ("n = x(i)", "x(i)"),
        ("n = 0.5", "0.5"),
        ("y(i) = z(i)", "z(i)"),
        ("y(i) = f64(z(i))", "z(i)"),
        ("y(i) = x(i) floordiv x(i)", "x(i) floordiv x(i)"),
        ("n = i / N", "i / N"),
        ("y(i) = f16(i)", "f16(i)"),
        ("y(i) += n", "n"),
    ] {
        let found = in_statement(&format!("s: {line} over {{[i] : 0 <= i < N}}"));
        assert_eq!(found, at("E0804", place), "{line}");
    }
}

#[test]
fn refuses_writes_to_given_data() {
    assert_eq!(
        in_statement("s: x(i) = 0 over {[i] : 0 <= i < N}"),
        at("E0805", "x")
    );
}

#[test]
fn refuses_text_that_is_not_of_the_language() {
    assert_eq!(in_header("given x f64").0, "E0101");
    assert_eq!(in_statement("y(i) = 0 over {[i]}").0, "E0101");
    assert_eq!(in_statement("s: y(i) -= 0 over {[i]}").0, "E0101");
    assert_eq!(in_statement("s: y(i) = 0").0, "E0101");
    let deep = format!(
        "s: y(i) = {}1{} over {{[i]}}",
        "(".repeat(300),
        ")".repeat(300)
    );
    assert_eq!(in_statement(&deep).0, "E0101");
    assert_eq!(refused("computation c { } x").0, "E0101");
}

proptest! {
    #[test]
    fn printing_then_parsing_is_the_identity(computation in random::computation()) {
        let text = computation.to_string();
        let read = text.parse::<Computation>();
        prop_assert_eq!(read.unwrap_or_else(|error| panic!("{error}\n{text}")), computation);
    }
}
