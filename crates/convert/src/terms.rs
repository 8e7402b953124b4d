//! Expressions, values and sets that statements are made of.

use sparsec_base::Result;
use sparsec_base::arena::Id;
use sparsec_computation::{Access, Operator, Value};
use sparsec_relation::{Comparison, Conjunction, Constraint, Expression, Set, Variable};

/// The one point of no dimension.
pub(crate) fn everywhere() -> Result<Set> {
    Set::new(vec![Conjunction::new::<String>([], [])])
}

pub(crate) fn at_least_zero(name: &str) -> Constraint {
    let zero = Expression::Integer(0);
    Constraint::new(
        zero,
        Comparison::LessEqual,
        Expression::Constant(name.to_owned()),
    )
}

pub(crate) fn plus_one(e: &Expression) -> Expression {
    let one = Box::new(Expression::Integer(1));
    Expression::Add(Box::new(e.clone()), one).simplified()
}

/// The entry of an array of one mode.
pub(crate) fn entry(array: &str, at: &Expression) -> Value {
    Value::Entry(Access {
        space: array.to_owned(),
        indices: vec![at.clone()],
    })
}

/// The value of data without extents.
pub(crate) fn scalar(name: &str) -> Value {
    Value::Entry(Access {
        space: name.to_owned(),
        indices: Vec::new(),
    })
}

pub(crate) fn binary(operator: Operator, a: Value, b: Value) -> Value {
    Value::Binary(operator, Box::new(a), Box::new(b))
}

pub(crate) fn add(a: Value, b: Value) -> Value {
    binary(Operator::Add, a, b)
}

/// `0 <= e < end`.
pub(crate) fn inside(e: &Expression, end: &Expression) -> Constraint {
    Constraint {
        first: Expression::Integer(0),
        rest: vec![
            (Comparison::LessEqual, e.clone()),
            (Comparison::Less, end.clone()),
        ],
    }
}

/// The points of a set at which a constraint holds too.
pub(crate) fn with(space: &Set, constraint: Constraint) -> Result<Set> {
    let mut part = space.parts()[0].clone();
    part.add(constraint);
    Set::new(vec![part])
}

/// Whether an expression has another as a part.
pub(crate) fn has_part(e: &Expression, part: &Expression) -> bool {
    let mut found = false;
    e.visit(&mut |e| found |= e == part);
    found
}

/// `{[x] : 0 <= x < end}`.
pub(crate) fn below(name: &str, end: &Expression) -> Result<Set> {
    between(name, &Expression::Integer(0), end)
}

/// `{[x] : from <= x < end}`.
pub(crate) fn between(name: &str, from: &Expression, end: &Expression) -> Result<Set> {
    let mut part = Conjunction::new([name], []);
    part.add(Constraint {
        first: from.clone(),
        rest: vec![
            (
                Comparison::LessEqual,
                Expression::Variable(Variable::from_index(0)),
            ),
            (Comparison::Less, end.clone()),
        ],
    });
    Set::new(vec![part])
}

/// A product without its factors that are constants or numbers: those do not tell entries apart.
pub(crate) fn without_constants(term: &Expression) -> &Expression {
    match term {
        Expression::Multiply(a, b) => match (&**a, &**b) {
            (Expression::Constant(_) | Expression::Integer(_), rest)
            | (rest, Expression::Constant(_) | Expression::Integer(_)) => without_constants(rest),
            _ => term,
        },
        _ => term,
    }
}

/// Whether a side of a comparison is an entry at a place that has this part.
pub(crate) fn calls_with(link: &Constraint, part: &Expression) -> bool {
    link.expressions().any(|side| {
        matches!(side, Expression::Call(_, places) if places.iter().any(|it| has_part(it, part)))
    })
}
