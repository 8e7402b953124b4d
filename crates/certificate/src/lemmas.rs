//! The lemmas about arrays, by the use of the arrays. Each function receives all statements that
//! write an array, and checks the side conditions of its lemma.

pub(crate) mod block;
pub(crate) mod changes;
pub(crate) mod each;
pub(crate) mod number;
pub(crate) mod run;
pub(crate) mod scalar;
pub(crate) mod scan;
pub(crate) mod spread;
pub(crate) mod store;
pub(crate) mod table;

use sparsec_computation::{Statement, Update, Value};
use sparsec_relation::Expression;

use crate::Refusal;
use crate::check::Outcome;

/// The statement that writes an array, if it is the only one.
pub(crate) fn only<'s>(statements: &[&'s Statement]) -> Result<&'s Statement, Refusal> {
    match statements {
        [statement] => Ok(statement),
        [_, other, ..] => Err(Refusal::at(
            other,
            "it writes an array that another has written",
        )),
        [] => Err(Refusal::of("no statement writes it")),
    }
}

/// As [`only`], for a statement with this update.
pub(crate) fn only_by<'s>(
    statements: &[&'s Statement],
    update: Update,
) -> Result<&'s Statement, Refusal> {
    let statement = only(statements)?;
    updates(statement, update)?;
    Ok(statement)
}

/// The two statements that write an array, in the order in which they run, if they have these
/// updates.
pub(crate) fn two<'s>(
    state: &crate::state::State<'_>,
    statements: &[&'s Statement],
    [before, after]: [Update; 2],
) -> Result<[&'s Statement; 2], Refusal> {
    match statements {
        [a, b] => {
            let [first, second] = match crate::order::is_after(a, b) {
                true => [b, a],
                false => [a, b],
            };
            state.follows(second, first)?;
            updates(first, before)?;
            updates(second, after)?;
            Ok([first, second])
        }
        [other, ..] => Err(Refusal::at(other, "two statements have to write its array")),
        [] => Err(Refusal::of(
            "two statements have to write it, and none does",
        )),
    }
}

pub(crate) fn updates(statement: &Statement, update: Update) -> Outcome {
    match statement.update == update {
        true => Ok(()),
        false => {
            let (is, symbol) = (statement.update.symbol(), update.symbol());
            Err(Refusal::at(
                statement,
                format!("it has `{is}` where the lemma has `{symbol}`"),
            ))
        }
    }
}

/// The index of a statement's target, if it has one only.
pub(crate) fn index(statement: &Statement) -> Result<&Expression, Refusal> {
    match &statement.target.indices[..] {
        [index] => Ok(index),
        _ => Err(Refusal::at(statement, "its target has not one index")),
    }
}

/// The array of which a value is the entry at an index.
pub(crate) fn array_at(value: &Value, at: &Expression) -> Option<String> {
    match value {
        Value::Entry(read) if read.indices[..] == [at.clone()] => Some(read.space.clone()),
        _ => None,
    }
}
