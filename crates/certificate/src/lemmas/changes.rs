//! Runs of neighbouring coordinates that have one value. A destination whose places hold a run each:
//!
//! ```text
//! map  {[p, q, r] -> [i, j] : p = i && starts(p) <= q < starts(p + 1) && bounds(q + p) <= j < bounds(q + p + 1) && r = j}
//! data {[p, q, r] -> [q]}
//!
//! par(T) = p, at(T) = j, val(T) = A(place)                   at each entry, T its number, by (p, j)
//! before(x) = differs(val(x), fill)                          where 0 < at(x)
//! after(x) = differs(val(x), fill)                           where at(x) + 1 < N
//! before(x) = differs(val(x), val(x - 1))                    where par(x - 1) = par(x), at(x - 1) + 1 = at(x)
//! after(x - 1) = 0                                           there too
//! count(par(x)) += before(x) + after(x)
//! starts(x + 1) = starts(x) + (count(x) + 1)                 where 0 < N                              RunStarts
//! changes(x + 1) = changes(x) + (before(x) + after(x))
//! run(x) = par(x) + (changes(x) + before(x))
//! bounds(run(x) + par(x)) = at(x)                            where before(x) = 1                      RunBounds
//! bounds(run(x) + par(x) + 1) = at(x) + 1                    where after(x) = 1
//! bounds(starts(x + 1) + x) = N
//! ```
//!
//! Each parent has a value at each coordinate from 0 to `N`: that of the entry there, or the fill. A
//! **change** is a coordinate behind the first that has another value than the one before it. An
//! entry is beside each change: `before(x)` is 1 if `at(x)` is one, and `after(x)` if `at(x) + 1` is
//! one that holds no entry. No change is counted twice, and in the order of numbers the changes of a
//! parent ascend. So
//!
//! * a parent has one run more than changes, and `starts` counts the runs of the parents before;
//! * `run(x)` counts the parents before, each with its first run, and the changes up to entry `x`;
//! * the run of each change begins there, the first at 0, and the last ends at `N`: bounds
//!   increase for each parent;
//! * coordinates of one run have one value. That of an entry is stored at `run(x)`. A run without an
//!   entry has the fill, and nothing is stored there.

mod runs;

use sparsec_computation::{Operator, Statement, Update, Value};
use sparsec_relation::{Comparison, Constraint, Expression, Monotone};

pub(crate) use self::runs::bounds;
use super::{array_at, index, only_by};
use crate::Refusal;
use crate::check::{Outcome, refuse, require};
use crate::entries::{entry, minus, sum, variable, zero};
use crate::held::{Held, NumberingKind, after};
use crate::order::{is_after, reads_itself};
use crate::state::State;
use crate::tuples::FILL;

/// The arrays of entries by their numbers, and of changes.
#[derive(Clone, Debug)]
pub(crate) struct Changes {
    /// The number of an entry.
    number: Expression,
    /// Its parent and its coordinate, as expressions of the entry.
    parent: Expression,
    coordinate: Expression,
    /// The arrays of both.
    parents: String,
    at: String,
    before: String,
    after: String,
    /// How many coordinates each parent has.
    extent: Expression,
    /// The array that says where the runs of each parent begin.
    starts: String,
    /// The arrays with the bounds of runs and with the run of each entry, once they are known.
    runs: Option<[String; 2]>,
}

/// `starts(x + 1) = starts(x) + (count(x) + 1)` for each parent, if parents have coordinates.
pub(crate) fn starts(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let scan = only_by(statements, Update::Assign)?;
    let wrong = |why: &str| Refusal::at(scan, why);
    let x = variable(0);
    let Value::Binary(Operator::Add, own, more) = &scan.value else {
        return Err(wrong("its value is no sum"));
    };
    let Value::Binary(Operator::Add, count, one) = &**more else {
        return Err(wrong("it does not add the runs of a parent"));
    };
    let is_next = reads(own, name, &x) && **one == Value::Integer(1) && *index(scan)? == after(&x);
    let count = array_at(count, &x).filter(|count| is_next && count != name);
    let count = count.ok_or_else(|| wrong("it does not add the runs of a parent"))?;
    let changes = counted(state, &count, name)?;
    let n_parents = state.n_segments(name)?;
    let has_coordinates = Constraint::new(zero(), Comparison::Less, changes.extent.clone());
    let is_each = runs_over(state, scan, (0, &n_parents), &[has_coordinates]);
    if !is_each || !state.are_equal(&state.extent(&count)?, &n_parents) {
        return Err(wrong("it does not run over all parents"));
    }
    let within = state.is_within(changes.parent.clone(), n_parents.clone());
    refuse(within, "an entry may have no parent")?;
    // Each number is that of an entry, whose parent and coordinate are in their ranges.
    for (array, end) in [
        (&changes.parents, n_parents),
        (&changes.at, changes.extent.clone()),
    ] {
        let (numbering, value) = keys(state, array)?;
        let range = (zero(), Some(end));
        state.note(array, range, None, Held::Keys { numbering, value })?;
    }
    let range = (zero(), None);
    state.note(name, range, Some(Monotone::Nondecreasing), Held::Declared)?;
    let first = entry(name, zero());
    state.assume(first.equals(zero()))?;
    state.changes = Some(changes);
    Ok(())
}

/// The changes that an array counts for each parent: `count(par(x)) += before(x) + after(x)`.
fn counted(state: &State<'_>, count: &str, starts: &str) -> Result<Changes, Refusal> {
    let statement = only_by(&state.writers(count), Update::Add)?;
    let wrong = |why: &str| Refusal::at(statement, why);
    let x = variable(0);
    let [before, after] = summed(&statement.value)
        .ok_or_else(|| wrong("it does not count the changes at an entry"))?;
    let parents = match index(statement)? {
        Expression::Call(parents, at) if at[..] == [x.clone()] => parents.clone(),
        _ => return Err(wrong("it does not count for the parent of an entry")),
    };
    let (numbering, parent) = keys(state, &parents)?;
    let numbers = &state.numberings[numbering];
    let end = numbers.end.clone();
    let end = end.filter(|_| numbers.kind == NumberingKind::Entries);
    let end = end.ok_or_else(|| wrong("its entries have no numbers in turn"))?;
    if !runs_over(state, statement, (0, &end), &[]) {
        return Err(wrong("it does not run over all entries"));
    }
    let number = numbers.value.clone();
    let (at, extent) = marked(state, [&before, &after], (&parents, &end))?;
    let (other, coordinate) = keys(state, &at)?;
    refuse(other == numbering, "coordinates have other numbers")?;
    let within = state.is_within(coordinate.clone(), extent.clone());
    refuse(within, "a coordinate may be beyond its extent")?;
    let told = [parent.clone(), coordinate.clone()];
    let are_told = state.are_distinct && state.determines(&told, &state.entries.tuple());
    refuse(are_told, "two entries may share a coordinate of one parent")?;
    refuse(
        state.ascends(&numbers.value, (&[], &told)),
        "numbers are not known to be ordered by parents and coordinates",
    )?;
    Ok(Changes {
        number,
        parent,
        coordinate,
        parents,
        at,
        before,
        after,
        extent,
        starts: starts.to_owned(),
        runs: None,
    })
}

/// The numbering of an array that holds a value for each number, and that value.
fn keys(state: &State<'_>, array: &str) -> Result<(usize, Expression), Refusal> {
    match state.held.get(array) {
        Some(Held::Keys { numbering, value }) => Ok((*numbering, value.clone())),
        _ => Err(Refusal::of(format!(
            "nothing says what `{array}` holds for each entry"
        ))),
    }
}

/// Checks the statements that mark changes beside entries: `before` where one begins with an entry,
/// `after` where one begins behind it. Returns the array of coordinates, and their extent.
fn marked(
    state: &State<'_>,
    [before, behind]: [&str; 2],
    (parents, end): (&str, &Expression),
) -> Result<(String, Expression), Refusal> {
    let x = variable(0);
    let [from_fill, changes] = in_turn(&state.writers(before))?;
    let [to_fill, none] = in_turn(&state.writers(behind))?;
    let wrong = |statement: &Statement, why: &str| Err(Refusal::at(statement, why));
    for array in [before, behind] {
        let is_whole = state.are_equal(&state.extent(array)?, end);
        refuse(is_whole, "changes are not marked for each entry")?;
    }
    // The value of each entry.
    let values = match differing(state, &from_fill.value) {
        Some((value, other)) if is_fill(state, other) => array_at(value, &x),
        _ => None,
    };
    let Some(values) = values else {
        return wrong(from_fill, "it does not compare with the fill");
    };
    valued(state, &values, end)?;
    // `at` is read where coordinates are compared with the last.
    let bound = to_fill.space.parts().first().and_then(|part| {
        let links = part.constraints().iter().flat_map(Constraint::split);
        let mut links = links.filter_map(|link| match (&link.first, &link.rest[..]) {
            (Expression::Add(call, one), [(Comparison::Less, extent)])
                if **one == Expression::Integer(1) =>
            {
                match &**call {
                    Expression::Call(at, _) => Some((at.clone(), extent.clone())),
                    _ => None,
                }
            }
            _ => None,
        });
        links.next()
    });
    let Some((at, extent)) = bound else {
        return wrong(
            to_fill,
            "it does not run over entries that are not the last",
        );
    };
    let call = |array: &str, place: &Expression| entry(array, place.clone());
    let last = minus_one(&x);
    let first = Constraint::new(zero(), Comparison::Less, call(&at, &x));
    let is_before = runs_over(state, from_fill, (0, end), &[first]) && *index(from_fill)? == x;
    let inner = Constraint::new(plus_one(&call(&at, &x)), Comparison::Less, extent.clone());
    let is_behind = runs_over(state, to_fill, (0, end), &[inner])
        && *index(to_fill)? == x
        && to_fill.value == from_fill.value;
    let neighbours = [
        call(parents, &last).equals(call(parents, &x)),
        plus_one(&call(&at, &last)).equals(call(&at, &x)),
    ];
    let is_change = match differing(state, &changes.value) {
        Some((value, other)) => reads(value, &values, &x) && reads(other, &values, &last),
        None => false,
    };
    let is_change =
        is_change && runs_over(state, changes, (1, end), &neighbours) && *index(changes)? == x;
    let is_none = none.value == Value::Integer(0)
        && runs_over(state, none, (1, end), &neighbours)
        && index(none)?.simplified() == last.simplified();
    for (is_right, statement) in [
        (is_before, from_fill),
        (is_behind, to_fill),
        (is_change, changes),
        (is_none, none),
    ] {
        if !is_right {
            return wrong(statement, "it does not mark the changes beside entries");
        }
    }
    Ok((at, extent))
}

/// Checks that an array holds the value of each entry at its number.
fn valued(state: &State<'_>, array: &str, end: &Expression) -> Outcome {
    let statement = only_by(&state.writers(array), Update::Assign)?;
    state.visits(statement)?;
    let is_value = matches!(&statement.value, Value::Entry(read)
        if read.space == state.source.name
            && matches!(&read.indices[..], [at] if state.agree(at, &state.entries.place)));
    let is_whole = state.are_equal(&state.extent(array)?, end);
    let has_number = state.numbering(index(statement)?).is_some_and(|numbering| {
        let numbers = &state.numberings[numbering];
        let own = numbers.end.as_ref();
        numbers.kind == NumberingKind::Entries && own.is_some_and(|own| state.are_equal(own, end))
    });
    // An image has another value than the one that is stored.
    require(
        is_value && is_whole && has_number && state.images.is_empty(),
        statement,
        "it does not store the value of each entry",
    )
}

/// Two statements in the order in which they run, of which the second runs later.
fn in_turn<'s>(statements: &[&'s Statement]) -> Result<[&'s Statement; 2], Refusal> {
    let [a, b] = statements else {
        return Err(Refusal::of("two statements have to mark changes"));
    };
    let [first, second] = match is_after(a, b) {
        true => [*b, *a],
        false => [*a, *b],
    };
    let are_assigned = [first, second].iter().all(|it| it.update == Update::Assign);
    match are_assigned && is_after(second, first) && !reads_itself(first) && !reads_itself(second) {
        true => Ok([first, second]),
        false => Err(Refusal::at(second, "it does not follow the other marks")),
    }
}

/// Whether a statement runs over `{[x] : from <= x < end && …}`, with exactly these constraints.
fn runs_over(
    state: &State<'_>,
    statement: &Statement,
    (from, end): (i64, &Expression),
    more: &[Constraint],
) -> bool {
    let [part] = statement.space.parts() else {
        return false;
    };
    let x = variable(0);
    let plain = |link: &Constraint| {
        let (comparison, right) = &link.rest[0];
        (link.first.simplified(), *comparison, right.simplified())
    };
    let wanted: Vec<_> = more.iter().map(plain).collect();
    let mut found = vec![false; wanted.len() + 2];
    for link in part.constraints().iter().flat_map(Constraint::split) {
        let (comparison, right) = &link.rest[0];
        let is_from = link.first.simplified() == Expression::Integer(from)
            && *comparison == Comparison::LessEqual
            && *right == x;
        let is_end =
            link.first == x && *comparison == Comparison::Less && state.are_equal(right, end);
        let own = plain(&link);
        let at = match (is_from, is_end) {
            (true, _) => Some(wanted.len()),
            (_, true) => Some(wanted.len() + 1),
            _ => wanted.iter().position(|it| *it == own),
        };
        match at {
            Some(at) => found[at] = true,
            None => return false,
        }
    }
    part.n_variables() == 1 && found.iter().all(|it| *it)
}

/// The two sides of a comparison that is 1 if they are other values, zeros of two signs too.
fn differing<'v>(state: &State<'_>, value: &'v Value) -> Option<(&'v Value, &'v Value)> {
    let element = state.computation.space(&state.source.name)?.element;
    if !element.is_float() {
        return match value {
            Value::Differs(a, b) if element.is_integer() => Some((a, b)),
            _ => None,
        };
    }
    let Value::Binary(Operator::Maximum, values, signs) = value else {
        return None;
    };
    let (Value::Differs(a, b), Value::Differs(x, y)) = (&**values, &**signs) else {
        return None;
    };
    let inverts = |inverse: &Value, of: &Value| {
        matches!(inverse, Value::Binary(Operator::Divide, one, e)
            if **one == Value::Integer(1) && **e == *of)
    };
    (inverts(x, a) && inverts(y, b)).then_some((&**a, &**b))
}

/// Whether a value is that of places without an entry.
fn is_fill(state: &State<'_>, value: &Value) -> bool {
    match value {
        Value::Entry(read) if state.question.has_fill => {
            read.space == FILL && read.indices.is_empty()
        }
        Value::Cast(_, zero) if !state.question.has_fill => **zero == Value::Integer(0),
        Value::Integer(0) => !state.question.has_fill,
        _ => false,
    }
}

/// The arrays of a sum of two entries at `x`.
fn summed(value: &Value) -> Option<[String; 2]> {
    let Value::Binary(Operator::Add, a, b) = value else {
        return None;
    };
    let x = variable(0);
    Some([array_at(a, &x)?, array_at(b, &x)?])
}

fn reads(value: &Value, array: &str, at: &Expression) -> bool {
    matches!(value, Value::Entry(read) if read.space == array
        && matches!(&read.indices[..], [index] if index.simplified() == at.simplified()))
}

fn stored(statement: &Statement) -> Option<Expression> {
    statement.value.to_expression()
}

fn plus_one(e: &Expression) -> Expression {
    sum(e.clone(), Expression::Integer(1))
}

fn minus_one(e: &Expression) -> Expression {
    minus(e.clone(), Expression::Integer(1))
}
