//! Constraints of a destination, solved for the array that they speak of.
//!
//! A list is found by constraints that say which entry an array has at an element. The same
//! may be said of a coordinate that is a sum with the entry:
//!
//! ```text
//! j = r + off(d)        ──►   off(d) = j - r
//! ```

use sparsec_relation::{Comparison, Conjunction, Constraint, Expression, Variable};

/// The map with each equation for a coordinate solved for the call in it, if that is the
/// only one and of one element.
pub(crate) fn isolated(map: &Conjunction) -> Conjunction {
    let names = |of: &mut dyn Iterator<Item = Variable>| -> Vec<String> {
        of.map(|v| map.name(v).to_owned()).collect()
    };
    let mut whole = Conjunction::new(names(&mut map.inputs()), names(&mut map.outputs()));
    for exists in map.exists() {
        whole.add_exists(map.name(exists));
    }
    let is_coordinate = |e: &Expression| match e {
        Expression::Variable(v) => map.outputs().any(|output| output == *v),
        _ => false,
    };
    for constraint in map.constraints() {
        let solved = match (&constraint.first, &constraint.rest[..]) {
            (left, [(Comparison::Equal, right)]) if is_coordinate(left) => solved(left, right),
            (left, [(Comparison::Equal, right)]) if is_coordinate(right) => solved(right, left),
            _ => None,
        };
        whole.add(solved.unwrap_or_else(|| constraint.clone()));
    }
    whole
}

/// `coordinate = a + f(x) - b` as `f(x) = coordinate - a + b`.
fn solved(coordinate: &Expression, sum: &Expression) -> Option<Constraint> {
    let terms = sum.terms();
    let has_call = |e: &Expression| {
        let mut found = false;
        e.visit(&mut |e| found |= matches!(e, Expression::Call(..)));
        found
    };
    let mut calls = terms
        .iter()
        .enumerate()
        .filter(|(_, (_, term))| has_call(term));
    let (at, (is_negative, call)) = calls.next()?;
    let is_plain = match call {
        Expression::Call(_, arguments) => matches!(arguments[..], [Expression::Variable(_)]),
        _ => false,
    };
    if calls.next().is_some() || *is_negative || !is_plain || terms.len() == 1 {
        return None;
    }
    let others = terms.iter().enumerate().filter(|(number, _)| *number != at);
    let value = others.fold(coordinate.clone(), |rest, (_, (is_negative, term))| {
        let (rest, term) = (Box::new(rest), Box::new((*term).clone()));
        match is_negative {
            true => Expression::Add(rest, term),
            false => Expression::Subtract(rest, term),
        }
    });
    Some((*call).clone().equals(value))
}
