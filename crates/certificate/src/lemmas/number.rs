//! Numberings of entries: arrays that hold the rank or the ordinal of each entry at its place.

use sparsec_computation::{Key, Operator, Statement, Update, Value, Window};
use sparsec_relation::{Comparison, Constraint, Expression};

use super::scalar::bounded;
use super::store::filled;
use super::{index, only_by, two};
use crate::Refusal;
use crate::check::Outcome;
use crate::curve;
use crate::entries::variable;
use crate::held::{Held, Numbering, NumberingKind, Segments, after};
use crate::order::reads_itself;
use crate::state::State;

/// Ranks number entries by keys, then by visits. They count from 0 to the number of entries.
pub(crate) fn rank(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    if let [statement] = statements
        && is_of_indices(state, name, statement)
    {
        return permuted(state, name, statement);
    }
    let statement = numbers(state, name, statements)?;
    let keys = windowed(state, statement, Window::Rank)?;
    numbered(state, name, statement, (keys, NumberingKind::Entries))
}

/// Whether a statement writes all entries of its array, each at its index.
pub(super) fn is_of_indices(state: &State<'_>, name: &str, statement: &Statement) -> bool {
    let is_each = |extent: Expression| state.sweeps(statement, &extent).is_ok();
    state.extent(name).is_ok_and(is_each) && statement.target.indices[..] == [variable(0)]
}

/// The ranks of the indices of an array are these indices in another order.
fn permuted(state: &mut State<'_>, name: &str, statement: &Statement) -> Outcome {
    let Value::Window(Window::Rank, keys) = &statement.value else {
        return Err(Refusal::at(statement, "its value is no `rank`"));
    };
    for key in keys {
        let within = Constraint {
            first: Expression::Integer(0),
            rest: vec![
                (Comparison::LessEqual, key.value.clone()),
                (Comparison::Less, key.extent.clone()),
            ],
        };
        if !statement.space.implies(&within, &state.known) {
            return Err(Refusal::at(statement, "a key may be beyond its extent"));
        }
    }
    if statement.update != Update::Assign || reads_itself(statement) {
        return Err(Refusal::at(statement, "it does not assign ranks"));
    }
    let range = (Expression::Integer(0), Some(state.extent(name)?));
    state.note(name, range, None, Held::Permutation)?;
    state.note_injective(name);
    Ok(())
}

/// The ordinals of all entries are their ranks by no key.
pub(crate) fn ordinal(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let statement = numbers(state, name, statements)?;
    let keys = windowed(state, statement, Window::Ordinal)?;
    if !keys.is_empty() {
        return Err(Refusal::at(
            statement,
            "it numbers the entries of each group",
        ));
    }
    numbered(state, name, statement, (keys, NumberingKind::Entries))
}

/// Dense ranks number the distinct keys of the entries.
pub(crate) fn dense_rank(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let statement = numbers(state, name, statements)?;
    let keys = windowed(state, statement, Window::DenseRank)?;
    numbered(state, name, statement, (keys, NumberingKind::Keys))
}

/// No two entries of a group have the same ordinal.
pub(crate) fn in_group(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let statement = numbers(state, name, statements)?;
    let keys = windowed(state, statement, Window::Ordinal)?;
    numbered(state, name, statement, (keys, NumberingKind::InGroups))
}

/// If `pos(k)` counts the entries with a lesser key, `pos(k) + ordinal(k of n)` is `rank(k of n)`.
/// The entries of key `k` then have the numbers from `pos(k)` to `pos(k + 1)`.
pub(crate) fn start(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let statement = numbers(state, name, statements)?;
    let wrong = |why: &str| Err(Refusal::at(statement, why));
    let Value::Binary(Operator::Add, start, ordinal) = &statement.value else {
        return wrong("its value is no sum");
    };
    let (Value::Entry(start), Value::Window(Window::Ordinal, keys)) = (&**start, &**ordinal) else {
        return wrong("its value is not where a group starts and an ordinal");
    };
    let keys = checked(state, statement, keys)?;
    let ([key], [at]) = (&keys[..], &start.indices[..]) else {
        return wrong("its groups have not one key");
    };
    let Some(Held::Counts { key: counted }) = state.held.get(&start.space).cloned() else {
        return wrong("no counts say where its groups start");
    };
    if at != key || !state.agree(key, &counted) {
        return wrong("it starts where other groups do");
    }
    let (array, parent) = (start.space.clone(), key.clone());
    numbered(state, name, statement, (keys, NumberingKind::Entries))?;
    let numbering = state.numberings.len() - 1;
    segments(state, &array, numbering, parent)
}

/// Records that the numbers of the entries of `parent` are a segment of an array.
pub(crate) fn segments(
    state: &mut State<'_>,
    array: &str,
    numbering: usize,
    parent: Expression,
) -> Outcome {
    let at = |index: Expression| Expression::Call(array.to_owned(), vec![index]);
    state.note_fact(Constraint {
        first: at(parent.clone()),
        rest: vec![
            (
                Comparison::LessEqual,
                state.numberings[numbering].value.clone(),
            ),
            (Comparison::Less, at(after(&parent))),
        ],
    })?;
    state.segments.push(Segments {
        array: array.to_owned(),
        numbering,
        parent,
    });
    Ok(())
}

/// The keys of a statement that assigns this window function.
fn windowed(
    state: &State<'_>,
    statement: &Statement,
    window: Window,
) -> Result<Vec<Expression>, Refusal> {
    match &statement.value {
        Value::Window(it, keys) if *it == window => checked(state, statement, keys),
        _ => Err(Refusal::at(
            statement,
            format!("its value is no `{}`", window.word()),
        )),
    }
}

/// The values of keys, if they lie within their extents at each entry; of the words of a curve, the
/// key that they are.
pub(crate) fn checked(
    state: &State<'_>,
    statement: &Statement,
    keys: &[Key],
) -> Result<Vec<Expression>, Refusal> {
    for key in keys {
        let within = Constraint {
            first: Expression::Integer(0),
            rest: vec![
                (Comparison::LessEqual, key.value.clone()),
                (Comparison::Less, key.extent.clone()),
            ],
        };
        let is_within = || within.split().all(|link| state.at_entries(&link));
        if !curve::is_below(state, key) && !is_within() {
            return Err(Refusal::at(statement, "a key may be beyond its extent"));
        }
    }
    let values = keys.iter().map(|key| key.value.clone());
    Ok(curve::joined(state, values.collect()))
}

/// The statement that numbers entries. If places may hold no entry, one before it may give all
/// places a mark.
pub(crate) fn numbers<'s>(
    state: &State<'_>,
    name: &str,
    statements: &[&'s Statement],
) -> Result<&'s Statement, Refusal> {
    if statements.len() == 2 {
        let [fill, statement] = two(state, statements, [Update::Assign; 2])?;
        filled(state, name, fill)?;
        return Ok(statement);
    }
    only_by(statements, Update::Assign)
}

/// Records a numbering: the array holds the number of each entry at its place.
pub(crate) fn numbered(
    state: &mut State<'_>,
    name: &str,
    statement: &Statement,
    (keys, kind): (Vec<Expression>, NumberingKind),
) -> Outcome {
    state.visits(statement)?;
    if !state.are_apart || *index(statement)? != state.entries.place {
        return Err(Refusal::at(
            statement,
            "entries may share the places of their numbers",
        ));
    }
    if !state.are_equal(&state.extent(name)?, &state.entries.n_places) {
        return Err(Refusal::at(
            statement,
            "its array has not one entry for each place",
        ));
    }
    let number = Expression::Call(name.to_owned(), statement.target.indices.clone());
    let zero = Expression::Integer(0);
    let least = match state.is_full {
        true => zero.clone(),
        false => Expression::Integer(i64::MIN),
    };
    state.note(name, (least, None), None, Held::Declared)?;
    state.note_fact(Constraint::new(zero, Comparison::LessEqual, number.clone()))?;
    state.numberings.push(Numbering {
        value: number,
        keys,
        kind,
        end: None,
    });
    match (kind, state.n_entries()) {
        (NumberingKind::Entries, Some(end)) => bounded(state, state.numberings.len() - 1, end),
        _ => Ok(()),
    }
}
