//! What a run gives, and each way in which it can break a rule.

use sparsec_base::Source;
use sparsec_loop::interpret::{
    ArgumentData, Entries, Fault, FaultKind, Options, Outcome, interpret,
};
use sparsec_loop::{Failure, Function};

fn function(body: &str) -> Function {
    let text = format!(
        r#"fn f(
  out y "(i) -> (i : compressed)" {{ extent n, grow crd: i64 as i32, write vals: f64 }},
  in a "(i) -> (i : dense)" {{ read x: f64 }}) {{
{body}
}}"#
    );
    Function::parse(&Source::new("test", text)).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs `body` with two values to write and two to read.
fn run(body: &str) -> (Result<Outcome, Fault>, Vec<Entries>) {
    let mut arguments = vec![
        ArgumentData {
            extents: vec![2],
            buffers: vec![Entries::I32(vec![7; 9]), Entries::F64(vec![7.0; 2])],
        },
        ArgumentData {
            extents: vec![],
            buffers: vec![Entries::F64(vec![1.5, -2.0])],
        },
    ];
    let options = Options {
        max_steps: Some(1000),
        ..Options::default()
    };
    let outcome = interpret(&function(body), &mut arguments, &options);
    (outcome, arguments.swap_remove(0).buffers)
}

fn fault(body: &str, expect: &str) {
    let fault = run(body).0.expect_err("a fault");
    assert_eq!(fault.to_string(), expect);
}

fn fails(body: &str, failure: Failure) {
    let (outcome, _) = run(&format!("{body} resize crd, 0"));
    assert_eq!(outcome, Ok(Outcome::Failed(failure)));
}

#[test]
fn results_have_their_final_length() {
    let (outcome, buffers) = run("
        var p: i64 = 0
        for i in 0..n {
          grow crd, p + 2
          crd[p] = 4294967299 - i
          crd[p + 1] = 0
          p += 1
          vals[i] = x[i] * 2.0
        }
        sort crd[0..p]
        resize crd, p");
    assert_eq!(outcome, Ok(Outcome::Done));
    // 2^32 + 3 keeps its low bits in an array of i32.
    assert_eq!(buffers[0], Entries::I32(vec![2, 3]));
    assert_eq!(buffers[1], Entries::F64(vec![3.0, -4.0]));
}

#[test]
fn only_what_is_needed_is_evaluated() {
    let (outcome, _) = run("
        let a: bool = false and 1 // 0 == 1
        let b: bool = true or 1 // 0 == 1
        let c: i64 = select(true, 1, 1 // 0)
        fill vals[0..n], 0.0
        resize crd, 0");
    assert_eq!(outcome, Ok(Outcome::Done));
}

#[test]
fn failures() {
    fails("let p: i64 = n % 0", Failure::DivisionByZero);
    fails("let p: i32 = 1i32 // i32(0)", Failure::DivisionByZero);
    fails("let p: i32 = i32(3e9)", Failure::CastOutOfRange);
    fails("let p: i64 = i64(nan)", Failure::CastOutOfRange);
    fails("fail width_overflow", Failure::WidthOverflow);
    fails("alloc w: f64[9223372036854775807]", Failure::OutOfMemory);
    fails("grow crd, 9223372036854775807", Failure::OutOfMemory);
}

#[test]
fn accesses_outside() {
    fault(
        "fill vals[0..n], x[n] resize crd, 0",
        "entry 2 of `x`, which has room for 2, in `fill vals[0..n], x[n]`",
    );
    fault(
        "for i in 0..n { vals[i - 1] = 0.0 } resize crd, 0",
        "entry -1 of `vals`, which has room for 2, in `vals[i - 1] = 0.0`",
    );
    fault(
        "grow crd, 3 crd[3] = 1 resize crd, 4",
        "entry 3 of `crd`, which has room for 3, in `crd[3] = 1`",
    );
    fault(
        "fill vals[0..n + 1], 0.0 resize crd, 0",
        "entry 2 of `vals`, which has room for 2, in `fill vals[0..n + 1], 0.0`",
    );
    fault(
        "alloc w: f64[0 - n] resize crd, 0",
        "`w` is to have -2 entries, in `alloc w: f64[0 - n]`",
    );
}

#[test]
fn reads_of_what_was_never_stored() {
    fault(
        "vals[0] += 1.0 resize crd, 0",
        "entry 0 of `vals` was never stored, in `vals[0] += 1.0`",
    );
    fault(
        "grow crd, 2 crd[0] = 1 sort crd[0..2] resize crd, 2",
        "entry 1 of `crd` was never stored, in `sort crd[0..2]`",
    );
    fault(
        "vals[1] = 0.0 resize crd, 0",
        "entry 0 of `vals` was never stored",
    );
    // Nothing is stored on purpose.
    assert_eq!(run("resize crd, 3").0, Ok(Outcome::Done));
    let zeros = "alloc w: f64[n] for i in 0..n { vals[i] = w[i] } resize crd, 0";
    assert_eq!(run(zeros).1[1], Entries::F64(vec![0.0, 0.0]));
}

#[test]
fn chunks_touch_nothing_that_others_write() {
    let chunks = |body: &str| format!("for p in 0..n chunks {{ {body} }} resize crd, 0");
    let write = chunks("vals[0] = 1.0");
    fault(
        &write,
        "two chunks touch entry 0 of `vals`, in `vals[0] = 1.0`",
    );
    let read = chunks("vals[p] = 1.0 vals[p] = vals[0]");
    fault(
        &read,
        "two chunks touch entry 0 of `vals`, in `vals[p] = vals[0]`",
    );
    // In their turn, chunks go on from what those before left.
    let turn = chunks("turn s[0] += x[p] vals[p] = s[0]");
    let (outcome, buffers) = run(&format!("alloc s: f64[1] {turn}"));
    assert_eq!(outcome, Ok(Outcome::Done));
    assert_eq!(buffers[1], Entries::F64(vec![1.5, -0.5]));
    // Once they passed it on, they have places of their own alone.
    let passed = chunks("turn s[0] += x[p] let t: f64 = s[0] pass vals[p] = t");
    let (outcome, buffers) = run(&format!("alloc s: f64[1] {passed}"));
    assert_eq!(outcome, Ok(Outcome::Done));
    assert_eq!(buffers[1], Entries::F64(vec![1.5, -0.5]));
    let late = chunks("turn pass s[0] += x[p]");
    fault(
        &format!("alloc s: f64[1] {late}"),
        "two chunks touch entry 0 of `s`, in `s[0] += x[p]`",
    );
    let early = chunks("vals[p] = x[p] let t: f64 = vals[0] turn vals[0] = t");
    fault(
        &early,
        "two chunks touch entry 0 of `vals`, in `let t: f64 = vals[0]`",
    );
    // What a unit has of its own is as it was allocated, for each of its chunks.
    let own = chunks("w[0] += x[p] vals[p] = w[0]");
    let (outcome, buffers) = run(&format!("own w: f64[1] {own}"));
    assert_eq!(outcome, Ok(Outcome::Done));
    assert_eq!(buffers[1], Entries::F64(vec![1.5, -2.0]));
}

#[test]
fn runs_have_a_limit() {
    fault(
        "while true { } resize crd, 0",
        "more than 1000 steps, in `while true`",
    );
}

#[test]
fn arguments_fit_the_signature() {
    let function = function("resize crd, 0");
    let fault = interpret(&function, &mut [], &Options::default()).expect_err("a fault");
    let why = "2 arguments are wanted, 0 are given".to_owned();
    assert_eq!(fault.kind, FaultKind::Signature(why));
}
