//! Expressions, values and sets that statements are made of.

use sparsec_base::Result;
use sparsec_base::arena::Id;
use sparsec_computation::{Access, Operator, Value};
use sparsec_relation::{Comparison, Conjunction, Constraint, Expression, Set, Variable};

/// The one point of no dimension.
pub(crate) fn everywhere() -> Result<Set> {
    Set::new(vec![Conjunction::new::<String>([], [])])
}

/// An integer expression as a value.
pub(crate) fn value(e: &Expression) -> Option<Value> {
    use Operator::{Add, FloorDivide, Modulo, Multiply, Subtract};
    let both = |operator, a: &Expression, b: &Expression| {
        Some(Value::Binary(
            operator,
            Box::new(value(a)?),
            Box::new(value(b)?),
        ))
    };
    match e {
        Expression::Integer(n) => Some(Value::Integer(*n)),
        Expression::Variable(v) => Some(Value::Variable(*v)),
        Expression::Constant(name) => Some(Value::Parameter(name.clone())),
        Expression::Call(name, arguments) => Some(Value::Entry(Access {
            space: name.clone(),
            indices: arguments.clone(),
        })),
        Expression::Negate(a) => Some(Value::Negate(Box::new(value(a)?))),
        Expression::Add(a, b) => both(Add, a, b),
        Expression::Subtract(a, b) => both(Subtract, a, b),
        Expression::Multiply(a, b) => both(Multiply, a, b),
        Expression::FloorDivide(a, b) => both(FloorDivide, a, b),
        Expression::Modulo(a, b) => both(Modulo, a, b),
    }
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

/// `{[x] : 0 <= x < end}`.
pub(crate) fn below(name: &str, end: &Expression) -> Result<Set> {
    let mut part = Conjunction::new([name], []);
    part.add(Constraint {
        first: Expression::Integer(0),
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
