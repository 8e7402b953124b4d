//! A function that a pass has changed: valid, read back from its text, and run.

use sparsec_base::Source;
use sparsec_loop::interpret::{ArgumentData, Entries, Options, Outcome, interpret};
use sparsec_loop::{Function, verify};

/// A copy of a function, changed by a pass.
pub(crate) fn passed(function: &Function, pass: impl FnOnce(&mut Function)) -> Function {
    let mut changed = function.clone();
    pass(&mut changed);
    verify(&changed).unwrap_or_else(|error| panic!("{error}\n{changed}"));
    let printed = changed.to_string();
    let parsed = Function::parse(&Source::new("changed", &printed));
    assert_eq!(parsed.as_ref().map(ToString::to_string), Ok(printed));
    changed
}

/// The first array of the first argument after a run.
pub(crate) fn result(function: &Function, mut arguments: Vec<ArgumentData>) -> Entries {
    let outcome = interpret(function, &mut arguments, &Options::default());
    let outcome = outcome.unwrap_or_else(|fault| panic!("{fault}\n{function}"));
    assert_eq!(outcome, Outcome::Done);
    arguments.remove(0).buffers.remove(0)
}
