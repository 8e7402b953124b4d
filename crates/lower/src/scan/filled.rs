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

use sparsec_computation::{
    Computation, DataSpace, Operator, Role, Statement, Update, Value, Window,
};
use sparsec_relation::{
    Comparison, Conjunction, Constraint, Declarations, Expression, Monotone, Set, Variable,
};

use super::covered::covers;

/// Where a statement assigns a list from its first entry on, each once: what has to hold
/// when it begins, so that these are all of them.
pub(super) fn fills(
    whole: &Computation,
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
            is_at_point.then(|| numbers(whole, numbering, known))??
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
    whole: &Computation,
    numbering: &Statement,
    known: &Declarations,
) -> Option<(Vec<Constraint>, Expression)> {
    match &numbering.value {
        Value::Window(Window::Rank, _) => ranks(whole, numbering, known),
        Value::Window(Window::Ordinal, keys) if keys.is_empty() => ranks(whole, numbering, known),
        _ => Some((Vec::new(), counted(whole, numbering)?)),
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
pub(super) fn counted(whole: &Computation, numbering: &Statement) -> Option<Expression> {
    let Value::Binary(Operator::Add, start, ordinal) = &numbering.value else {
        return None;
    };
    let (Value::Entry(start), Value::Window(Window::Ordinal, keys)) = (&**start, &**ordinal)
    else {
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
    let begins_with_zeros = whole.space(&start.space)?.role != Role::InOut;
    let is_all = counts && adds && begins_with_zeros && *index == key.value;
    let is_all = is_all && writers.next().is_none() && !whole.space(&start.space)?.role.is_given();
    is_all.then(|| Expression::Call(start.space.clone(), vec![key.extent.clone()]))
}

/// Where a variable runs through all segments of a function: where they have to begin, and
/// where they end.
fn in_segments(
    statement: &Statement,
    place: Variable,
    known: &Declarations,
) -> Option<(Vec<Constraint>, Expression)> {
    let [part] = statement.space.parts() else {
        return None;
    };
    let at = Expression::Variable(place);
    let links: Vec<(&Expression, Comparison, &Expression)> = (part.constraints().iter())
        .flat_map(Constraint::links)
        .collect();
    let below = links.iter().find_map(|(left, comparison, right)| {
        (*comparison == Comparison::LessEqual && **right == at).then_some(*left)
    });
    let Some(Expression::Call(name, arguments)) = below else {
        return None;
    };
    let [Expression::Variable(parent)] = &arguments[..] else {
        return None;
    };
    let of = Expression::Variable(*parent);
    let one = Box::new(Expression::Integer(1));
    let next = Expression::Add(Box::new(of.clone()), one);
    let end = Expression::Call(name.clone(), vec![next]);
    let has = |left: &Expression, comparison, right: &Expression| {
        links.contains(&(left, comparison, right))
    };
    let zero = Expression::Integer(0);
    let last = links.iter().find_map(|(left, comparison, right)| {
        (*comparison == Comparison::Less && **left == of).then_some((*right).clone())
    })?;
    let is_monotone = known.function(name)?.monotone == Some(Monotone::Nondecreasing);
    let is_segment = has(&at, Comparison::Less, &end)
        && has(&zero, Comparison::LessEqual, &of)
        && !mentions(&last, part);
    if !is_monotone || !is_segment {
        return None;
    }
    // What else is said of points holds of all of these.
    let mut free = Conjunction::new(part.inputs().map(|v| part.name(v)).collect::<Vec<_>>(), []);
    let begin = below.expect("just found").clone();
    let bounds = [
        (begin, Comparison::LessEqual, at.clone()),
        (at, Comparison::Less, end),
        (zero.clone(), Comparison::LessEqual, of.clone()),
        (of, Comparison::Less, last.clone()),
    ];
    for (left, comparison, right) in bounds {
        free.add(Constraint::new(left, comparison, right));
    }
    for definition in are_defined(part, &[place, *parent])? {
        free.add(definition);
    }
    let free = Set::new(vec![free]).ok()?;
    let mut others = part.constraints().iter();
    if !others.all(|constraint| free.implies(constraint, known)) {
        return None;
    }
    let ends = |at: Expression| Expression::Call(name.clone(), vec![at]);
    Some((vec![ends(zero.clone()).equals(zero)], ends(last)))
}

/// Equations that say the values of all variables of a part but some, each once; `None` if
/// there are others.
fn are_defined(part: &Conjunction, free: &[Variable]) -> Option<Vec<Constraint>> {
    if part.exists().len() > 0 {
        return None;
    }
    let mut defined: Vec<Variable> = free.to_vec();
    let mut definitions = Vec::new();
    for (left, comparison, right) in part.constraints().iter().flat_map(Constraint::links) {
        for (side, other) in [(left, right), (right, left)] {
            if let Expression::Variable(variable) = side
                && comparison == Comparison::Equal
                && !defined.contains(variable)
                && variables(other).iter().all(|it| defined.contains(it))
            {
                defined.push(*variable);
                definitions.push(side.clone().equals(other.clone()));
            }
        }
    }
    let mut inputs = part.inputs();
    inputs.all(|v| defined.contains(&v)).then_some(definitions)
}

fn mentions(e: &Expression, part: &Conjunction) -> bool {
    let found = variables(e);
    part.inputs().any(|variable| found.contains(&variable))
}

fn variables(e: &Expression) -> Vec<Variable> {
    let mut found = Vec::new();
    e.visit(&mut |e| {
        if let Expression::Variable(variable) = e {
            found.push(*variable);
        }
    });
    found
}
