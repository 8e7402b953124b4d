//! Points that are a place each: those of segments that lie one behind the other, and those
//! whose other variables follow from the place.
//!
//! ```text
//! {[i, q, j] : 0 <= i < N && pos(i) <= q < pos(i + 1) && crd(q) = j && 0 <= j < M}
//!              q runs from pos(0) to pos(N), once each          j follows from q
//! ```

use sparsec_relation::{
    Comparison, Conjunction, Constraint, Declarations, Expression, Monotone, Set, Variable,
};

use crate::computation::Statement;

/// Where a variable runs through all segments of a function: where they have to begin, and
/// where they end.
pub fn in_segments(
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
pub fn are_defined(part: &Conjunction, free: &[Variable]) -> Option<Vec<Constraint>> {
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
