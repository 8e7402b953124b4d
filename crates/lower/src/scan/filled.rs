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

use sparsec_computation::segments::{Places, is_in_domain, places_at};
use sparsec_computation::{
    Computation, DataSpace, Operator, Role, Statement, Update, Value, Window,
};
use sparsec_relation::{Constraint, Declarations, Expression};

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
    let places = match index {
        Expression::Variable(place) => places_at(statement, *place, known)?,
        Expression::Call(name, arguments) => {
            let numbering = only_writer(whole, name)?;
            let is_at_point =
                numbering.target.indices == *arguments && statement.is_at_point_of(numbering);
            is_at_point.then(|| numbers((whole, stage), numbering, known))??
        }
        _ => return None,
    };
    let ends = places.end.clone().equals(extent.clone());
    Some(places.from_zero(known).into_iter().chain([ends]).collect())
}

/// The statement that assigns data, if there is one alone.
fn only_writer<'a>(whole: &'a Computation, name: &str) -> Option<&'a Statement> {
    let mut writers = whole.writers(name);
    let writer = writers.next().filter(|_| writers.next().is_none())?;
    Some(whole.statement(writer))
}

/// The numbers of a statement's points, each of which one point has.
fn numbers(
    computations: (&Computation, &Computation),
    numbering: &Statement,
    known: &Declarations,
) -> Option<Places> {
    let ranks_all = match &numbering.value {
        Value::Window(Window::Rank, _) => true,
        Value::Window(Window::Ordinal, keys) => keys.is_empty(),
        _ => false,
    };
    match (ranks_all, &numbering.target.indices[..]) {
        // Ranks are as many as there are points: one for each place.
        (true, [Expression::Variable(place)]) => places_at(numbering, *place, known),
        (true, _) => None,
        (false, _) => Some(Places {
            begin: Expression::Integer(0),
            end: counted(computations, numbering, known)?,
        }),
    }
}

/// Where points are counted into the segments of `f` and numbered from their starts on, the
/// end of the last segment.
pub(super) fn counted(
    (whole, stage): (&Computation, &Computation),
    numbering: &Statement,
    known: &Declarations,
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
    let sums = sums(whole, &start.space)?;
    // An earlier stage has completed them.
    let is_there = stage.space(&start.space)?.role == Role::Given;
    let same = *index == key.value && *sums.key == key.value && sums.n_keys == key.extent;
    let is_all = is_there && same && sums.count.space == numbering.space;
    let function = known.function(&start.space)?;
    let has_end = is_all && is_in_domain(function, &sums.n_keys, known);
    has_end.then(|| Expression::Call(start.space.clone(), vec![sums.n_keys]))
}

/// How data begin with zeros, count the points of each key, and add the counts up.
#[derive(Clone, Debug)]
pub(super) struct Sums<'a> {
    /// `f(key + 1) += 1`, for all points.
    pub(super) count: &'a Statement,
    /// The key of a point of that statement.
    pub(super) key: &'a Expression,
    /// How many keys there are: `f(x + 1) += f(x)` for each `x` from 0 on.
    pub(super) n_keys: Expression,
}

/// How data count points, if that is all that is done to them.
pub(super) fn sums<'a>(whole: &'a Computation, name: &str) -> Option<Sums<'a>> {
    let mut writers = whole.writers(name).map(|id| whole.statement(id));
    let [Some(count), Some(sum), None] = std::array::from_fn(|_| writers.next()) else {
        return None;
    };
    let x = sum.variables().next().map(Expression::Variable)?;
    let [(Expression::Integer(0), n_keys)] = &sum.space.as_box()?[..] else {
        return None;
    };
    let adds = sum.update == Update::Add
        && matches!(&sum.value, Value::Entry(before)
            if before.space == name && before.indices == [x.clone()])
        && before_next(&sum.target.indices) == Some(&x);
    let times = [count, sum].map(|statement| match statement.schedule.first() {
        Some(Expression::Integer(time)) => Some(*time),
        _ => None,
    });
    let in_turn = matches!(times, [Some(count), Some(sum)] if count < sum);
    let counts = count.update == Update::Add && count.value == Value::Integer(1);
    let mut times_of_sum = sum.schedule.iter();
    let ascends = times_of_sum.find(|e| !matches!(e, Expression::Integer(_))) == Some(&x);
    let begins_with_zeros = matches!(whole.space(name)?.role, Role::Out | Role::Temporary);
    (adds && ascends && in_turn && counts && begins_with_zeros).then_some(Sums {
        count,
        key: before_next(&count.target.indices)?,
        n_keys: n_keys.clone(),
    })
}

/// The `e` of one index `e + 1`.
pub(super) fn before_next(indices: &[Expression]) -> Option<&Expression> {
    match indices {
        [Expression::Add(e, one)] if **one == Expression::Integer(1) => Some(e),
        _ => None,
    }
}
