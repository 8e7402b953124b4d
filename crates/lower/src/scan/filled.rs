//! Entries of lists that are assigned once each, so that they need no first value.
//!
//! The general proof ([`covered`](super::covered)) does not know that segments lie one behind
//! the other, or that numbers leave none out. Three forms do, and the end is compared when the
//! kernel runs:
//!
//! | assigned at      | over, or where                                      | are, if          |
//! |------------------|-----------------------------------------------------|------------------|
//! | `q`              | `0 <= a < n && f(a) <= q < f(a + 1)`, `f` nondecreasing | `f(0)` to `f(n)` |
//! | `g` at the point | `g(q) = rank(…)`, over points that are each `q` once  | 0 to the number of `q` |
//! | `g` at the point | `g(q) = f(k) + ordinal(k of n)`, `f(k + 1) += 1` over the same points, `f(x + 1) += f(x)` | 0 to `f(n)` |

use sparsec_computation::segments::{are_defined, in_segments};
use sparsec_computation::{
    Computation, DataSpace, Operator, Role, Statement, Update, Value, Window,
};
use sparsec_relation::{Constraint, Declarations, Expression};

use super::covered::covers;

/// Where a statement assigns a list from its first entry on, each once: what has to hold
/// when it begins, so that these are all of them.
pub(super) fn fills(
    (whole, stage): (&Computation, &Computation),
    statement: &Statement,
    space: &DataSpace,
    known: &Declarations,
) -> Option<Vec<Constraint>> {
    let ([index], [extent]) = (&statement.target.indices[..], &space.extents[..]) else {
        return None;
    };
    let (mut conditions, end) = match index {
        Expression::Variable(place) => in_segments(statement, *place, known)?,
        Expression::Call(name, arguments) => {
            let numbering = only_writer(whole, name)?;
            let is_at_point =
                numbering.target.indices == *arguments && statement.is_at_point_of(numbering);
            is_at_point.then(|| numbers((whole, stage), numbering, known))??
        }
        _ => return None,
    };
    conditions.push(end.equals(extent.clone()));
    Some(conditions)
}

/// The statement that assigns data, if there is one alone.
fn only_writer<'a>(whole: &'a Computation, name: &str) -> Option<&'a Statement> {
    let mut writers = whole.writers(name);
    let writer = writers.next().filter(|_| writers.next().is_none())?;
    Some(whole.statement(writer))
}

/// What the numbers of a statement's points end with, all from 0 on being there.
fn numbers(
    (whole, stage): (&Computation, &Computation),
    numbering: &Statement,
    known: &Declarations,
) -> Option<(Vec<Constraint>, Expression)> {
    match &numbering.value {
        Value::Window(Window::Rank, _) => ranks(whole, numbering, known),
        Value::Window(Window::Ordinal, keys) if keys.is_empty() => ranks(whole, numbering, known),
        _ => Some((Vec::new(), counted((whole, stage), numbering)?)),
    }
}

/// Ranks are as many as there are points: one for each place.
fn ranks(
    whole: &Computation,
    numbering: &Statement,
    known: &Declarations,
) -> Option<(Vec<Constraint>, Expression)> {
    let [Expression::Variable(place)] = &numbering.target.indices[..] else {
        return None;
    };
    if let Some(found) = in_segments(numbering, *place, known) {
        return Some(found);
    }
    let space = whole.space(&numbering.target.space)?;
    let [part] = numbering.space.parts() else {
        return None;
    };
    let is_all = covers(numbering, space, known) == Some(true);
    let once = are_defined(part, &[*place]).is_some();
    (is_all && once).then(|| (Vec::new(), space.extents[0].clone()))
}

/// Where points are counted into the segments of `f` and numbered from their starts on, the
/// end of the last segment.
pub(super) fn counted(
    (whole, stage): (&Computation, &Computation),
    numbering: &Statement,
) -> Option<Expression> {
    let Value::Binary(Operator::Add, start, ordinal) = &numbering.value else {
        return None;
    };
    let (Value::Entry(start), Value::Window(Window::Ordinal, keys)) = (&**start, &**ordinal) else {
        return None;
    };
    let ([key], [index]) = (&keys[..], &start.indices[..]) else {
        return None;
    };
    let mut writers = whole.writers(&start.space).map(|id| whole.statement(id));
    let (count, sum) = (writers.next()?, writers.next()?);
    let next = |e: &Expression| {
        let one = Box::new(Expression::Integer(1));
        vec![Expression::Add(Box::new(e.clone()), one)]
    };
    let counts = count.update == Update::Add
        && count.value == Value::Integer(1)
        && count.space == numbering.space
        && count.target.indices == next(&key.value);
    let x = sum.variables().next().map(Expression::Variable)?;
    let adds = sum.update == Update::Add
        && matches!(&sum.value, Value::Entry(before)
            if before.space == start.space && before.indices == [x.clone()])
        && sum.target.indices == next(&x)
        && sum.space.as_box()? == [(Expression::Integer(0), key.extent.clone())];
    let times = [count, sum].map(|statement| match statement.schedule.first() {
        Some(Expression::Integer(time)) => Some(*time),
        _ => None,
    });
    let in_turn = matches!(times, [Some(count), Some(sum)] if count < sum);
    let role = whole.space(&start.space)?.role;
    let begins_with_zeros = matches!(role, Role::Out | Role::Temporary);
    // An earlier stage has completed them.
    let is_there = stage.space(&start.space)?.role == Role::Given;
    let is_all = counts && adds && in_turn && begins_with_zeros && is_there;
    let is_all = is_all && *index == key.value && writers.next().is_none();
    is_all.then(|| Expression::Call(start.space.clone(), vec![key.extent.clone()]))
}
