//! Numberings of entries: arrays that hold a number for each entry at its place.
//!
//! A window numbers entries by keys. So does a sum of array entries, if it is different for each two
//! entries. If the numbers of `n` entries are different and lie in `0..n`, each number is taken:
//!
//! ```text
//! to(n) = ptr(slot(n)) + place(row)                           slots one after the other, rows in each
//! to(n) = ptr(chunk(row)) + C * nth(n) + place(row) mod C     as many places for each row of a chunk
//! ```

use sparsec_computation::{Key, Operator, Statement, Update, Value, Window};
use sparsec_relation::{Comparison, Constraint, Expression, Monotone};

use super::scalar::bounded;
use super::scan::by_size;
use super::store::{filled, holds, stored};
use super::{index, only_by, two};
use crate::Refusal;
use crate::check::{Outcome, require};
use crate::curve;
use crate::entries::{entry, natural, sum, variable, within, zero};
use crate::held::{Held, Numbering, NumberingKind, Segments, after};
use crate::order::reads_itself;
use crate::state::State;

/// Ranks number entries by keys, then by visits, and so do ordinals without keys; both count from 0 to
/// the number of entries. Dense ranks number distinct keys, and ordinals the entries of each group.
pub(crate) fn window(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    if let [statement] = statements
        && matches!(statement.value, Value::Window(Window::Rank, _))
        && is_of_indices(state, name, statement)
    {
        return permuted(state, name, statement);
    }
    let statement = numbers(state, name, statements)?;
    let kind = match &statement.value {
        Value::Window(Window::Rank, _) => NumberingKind::Entries,
        Value::Window(Window::Ordinal, keys) if keys.is_empty() => NumberingKind::Entries,
        Value::Window(Window::DenseRank, _) => NumberingKind::Keys,
        Value::Window(Window::Ordinal, _) => NumberingKind::InGroups,
        _ => return Err(Refusal::at(statement, "its value is no rank or ordinal")),
    };
    let windows = statement.value.windows().into_iter();
    let keys: Vec<Key> = windows.flat_map(|(_, keys)| keys).cloned().collect();
    let keys = checked(state, statement, &keys)?;
    numbered(state, name, statement, (keys.clone(), kind))?;
    curve::note_domains(state, &keys);
    match kind {
        NumberingKind::InGroups => in_groups(state, name, (statement, keys)),
        _ => Ok(()),
    }
}

/// Whether a statement writes all entries of its array, each at its index.
fn is_of_indices(state: &State<'_>, name: &str, statement: &Statement) -> bool {
    let is_each = |extent: Expression| state.sweeps(statement, &extent).is_ok();
    state.extent(name).is_ok_and(is_each) && statement.target.indices[..] == [variable(0)]
}

/// The ranks of the indices of an array are these indices in another order.
fn permuted(state: &mut State<'_>, name: &str, statement: &Statement) -> Outcome {
    let Value::Window(Window::Rank, keys) = &statement.value else {
        return Err(Refusal::at(statement, "its value is no `rank`"));
    };
    for key in keys {
        let within = within(zero(), key.value.clone(), key.extent.clone());
        require(
            statement.space.implies(&within, &state.known),
            statement,
            "a key may be beyond its extent",
        )?;
    }
    require(
        statement.update == Update::Assign && !reads_itself(statement),
        statement,
        "it does not assign ranks",
    )?;
    let range = (zero(), Some(state.extent(name)?));
    let keys = keys.iter().map(|key| key.value.clone()).collect();
    state.note(name, range, None, Held::Permutation { keys })?;
    state.note_injective(name);
    by_size(state)
}

/// A coordinate that tells the entries of a group apart bounds their ordinals. If a numbering without gaps is ordered by groups, then by visits, the entries of a
/// group have numbers in turn: one that the group has alone, and the ordinal more.
fn in_groups(
    state: &mut State<'_>,
    name: &str,
    (statement, keys): (&Statement, Vec<Expression>),
) -> Outcome {
    let ordinal = Expression::Call(name.to_owned(), statement.target.indices.clone());
    if let Some(most) = most_of_group(state, &keys) {
        state.note_fact(Constraint::new(ordinal.clone(), Comparison::Less, most))?;
    }
    let order = [keys.clone(), state.entries.tuple()].concat();
    for numbering in 0..state.numberings.len() {
        let numbers = &state.numberings[numbering];
        if numbers.kind == NumberingKind::Entries
            && numbers.end.is_some()
            && state.ascends(&numbers.value, (&[], &order))
        {
            let first = Expression::Call(format!("first number for {name}"), keys.clone());
            let sum = sum(first, ordinal.clone());
            state.facts.push(numbers.value.clone().equals(sum));
        }
    }
    Ok(())
}

/// `T(p) = e`, numbers that arrays hold, if no two entries have the same. As many numbers as there are
/// entries leave nothing out. The entries whose numbers a segment holds are those of its parent.
pub(crate) fn places(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let statement = numbers(state, name, statements)?;
    let value = stored(statement)?;
    let number = at_places(state, name, statement)?;
    holds(state, statement, value.clone())?;
    let mut parents: Vec<(String, Expression)> = Vec::new();
    value.visit(&mut |e| {
        if let Expression::Call(array, at) = e
            && let [at] = &at[..]
            && let Some(Monotone::Nondecreasing | Monotone::Increasing) =
                state.known.function(array).and_then(|it| it.monotone)
        {
            parents.push((array.clone(), at.clone()));
        }
    });
    let is_in = |state: &State<'_>, range: &Constraint| {
        state.is_valued(range) && range.split().all(|link| state.at_entries(&link))
    };
    let mut segments_of = Vec::new();
    for (array, parent) in parents {
        let [first, end] = [parent.clone(), after(&parent)].map(|at| entry(&array, at));
        let segment = within(first, number.clone(), end);
        if is_in(state, &segment) {
            state.note_fact(segment)?;
            segments_of.push((array, parent));
        }
    }
    let natural = natural(number.clone());
    let are_apart = state.at_entries(&natural)
        && state.determines(std::slice::from_ref(&value), &state.entries.tuple());
    require(are_apart, statement, "two entries may have the same number")?;
    state.note_fact(natural)?;
    let end = state
        .n_entries()
        .filter(|end| is_in(state, &within(zero(), number.clone(), end.clone())));
    let numbering = state.numberings.len();
    state.numberings.push(Numbering {
        value: number,
        keys: Vec::new(),
        kind: match end {
            Some(_) => NumberingKind::Onto,
            None => NumberingKind::InGroups,
        },
        end: None,
    });
    let Some(end) = end else { return Ok(()) };
    bounded(state, numbering, end.clone())?;
    for (array, parent) in segments_of {
        let (first, last) = (
            entry(&array, zero()),
            entry(&array, state.n_segments(&array)?),
        );
        let bounds = [(zero(), first), (last, end.clone())];
        let mut bounds = bounds
            .into_iter()
            .map(|(a, b)| Constraint::new(a, Comparison::LessEqual, b));
        if bounds.all(|it| state.always(&it)) {
            segments(state, &array, numbering, parent)?;
        }
    }
    Ok(())
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
    let at = |index: Expression| entry(array, index);
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

/// The values of keys, if they lie within their extents at each entry; of the words of a curve, the
/// key that they are.
pub(crate) fn checked(
    state: &State<'_>,
    statement: &Statement,
    keys: &[Key],
) -> Result<Vec<Expression>, Refusal> {
    for key in keys {
        let is_within = || state.is_within(key.value.clone(), key.extent.clone());
        require(
            curve::is_below(state, key) || is_within(),
            statement,
            "a key may be beyond its extent",
        )?;
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

/// Checks that a statement writes at the place of each entry, and returns what the array holds there.
fn at_places(
    state: &mut State<'_>,
    name: &str,
    statement: &Statement,
) -> Result<Expression, Refusal> {
    state.visits(statement)?;
    let wrong = |why: &str| Err(Refusal::at(statement, why));
    if !state.are_apart || *index(statement)? != state.entries.place {
        return wrong("entries may share the places of their numbers");
    }
    if !state.are_equal(&state.extent(name)?, &state.entries.n_places) {
        return wrong("its array has not one entry for each place");
    }
    let any = (Expression::Integer(i64::MIN), None);
    state.note(name, any, None, Held::Declared)?;
    Ok(entry(name, state.entries.place.clone()))
}

/// Records a numbering: the array holds the number of each entry at its place.
pub(crate) fn numbered(
    state: &mut State<'_>,
    name: &str,
    statement: &Statement,
    (keys, kind): (Vec<Expression>, NumberingKind),
) -> Outcome {
    let number = at_places(state, name, statement)?;
    if state.is_full {
        state.note(name, (zero(), None), None, Held::Declared)?;
    }
    state.note_fact(natural(number.clone()))?;
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

/// How many entries with equal keys there are at most: the extent of a coordinate that tells them apart.
pub(super) fn most_of_group(state: &State<'_>, keys: &[Expression]) -> Option<Expression> {
    let coordinates = state.entries.coordinates.iter().enumerate();
    let mut found = coordinates.filter_map(|(mode, coordinate)| {
        let extent = Expression::Constant(format!("N{mode}"));
        let all = [keys, std::slice::from_ref(coordinate)].concat();
        let tells = !keys.contains(coordinate)
            && state.is_within(coordinate.clone(), extent.clone())
            && state.determines(&all, &state.entries.tuple());
        tells.then_some(extent)
    });
    found.next()
}
