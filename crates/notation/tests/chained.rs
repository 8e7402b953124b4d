//! Definitions that call one another in long chains: sizes are counted before
//! anything is expanded; larger programs are refused at once.

use std::fmt::Write;

use sparsec_base::{Result, Source, code};
use sparsec_index::Program;
use sparsec_notation::{Declaration, Declarations, Notation};

/// A program that calls the last of `n` definitions, each of which is `link` of the
/// one before.
fn chain(n: usize, link: &str) -> Result<Program> {
    let mut text = String::from("def h0(x) = x * x\n");
    for at in 1..=n {
        let before = format!("h{}", at - 1);
        let body = link.replace("before", &before);
        writeln!(text, "def h{at}(x) = {body}").unwrap();
    }
    write!(text, "y(i) = h{n}(a(i))").unwrap();
    resolve(&text)
}

fn resolve(text: &str) -> Result<Program> {
    let mut declarations = Declarations::new();
    declarations.declare("a", Declaration::with_order(1));
    Notation::parse(&Source::new("program", text))?.resolve(&declarations)
}

#[track_caller]
fn refuse(program: Result<Program>) {
    let error = program.expect_err("it is too large");
    assert_eq!(error.code(), code::STATEMENT_TOO_LARGE, "{error}");
}

#[test]
fn chains_that_double_are_refused_when_they_are_too_large() {
    for n in [1, 5, 8] {
        chain(n, "before(x) + before(x)").unwrap_or_else(|error| panic!("{}", error.message()));
        chain(n, "before(x + x)").unwrap_or_else(|error| panic!("{}", error.message()));
    }
    for n in [11, 40, 80] {
        refuse(chain(n, "before(x) + before(x)"));
        refuse(chain(n, "before(x + x)"));
        refuse(chain(n, "before(before(x))"));
    }
}

#[test]
fn long_chains_that_do_not_double_are_as_long_as_their_links() {
    chain(80, "before(x) + 1").unwrap_or_else(|error| panic!("{}", error.message()));
    refuse(chain(1200, "before(x) + 1"));
    refuse(chain(20_000, "before(x)"));
}

#[test]
fn chains_of_deep_links_are_refused() {
    let link = |n: usize| format!("{}before(x){}", "(1 - ".repeat(n), ")".repeat(n));
    chain(80, &link(3)).unwrap_or_else(|error| panic!("{}", error.message()));
    refuse(chain(4, &link(70)));
}

#[test]
fn calls_inside_calls_are_counted_expanded() {
    let nested = |n: usize| {
        let call = format!("{}a(i){}", "twice(".repeat(n), ")".repeat(n));
        resolve(&format!("def twice(x) = x + x * 2\ny(i) = {call}"))
    };
    nested(8).unwrap_or_else(|error| panic!("{}", error.message()));
    refuse(nested(12));
    refuse(nested(60));
}

#[test]
fn calls_beside_one_another_are_counted_together() {
    let beside = |n: usize| {
        let calls = vec!["eight(a(i))"; n].join(" + ");
        resolve(&format!(
            "def four(x) = x*x + x*x\ndef eight(x) = four(four(x))\ny(i) = {calls}"
        ))
    };
    beside(20).unwrap_or_else(|error| panic!("{}", error.message()));
    refuse(beside(120));
}
