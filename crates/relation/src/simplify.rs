//! Evaluation of constant arithmetic.
//!
//! `p * N + i` with 0 for `p` is `i`, and `0 <= 0 < M` is `0 < M`. The pairs of
//! the relation stay the same; its text gets shorter.

use crate::expression::{Comparison, Constraint, Expression};

impl Expression {
    /// The expression with numbers combined and neutral operands left out.
    /// Where it has a value the result has the same.
    #[must_use]
    pub fn simplified(&self) -> Self {
        match self {
            Self::Integer(_) | Self::Constant(_) | Self::Variable(_) => self.clone(),
            Self::Call(name, arguments) => {
                let arguments = arguments.iter().map(Self::simplified);
                Self::Call(name.clone(), arguments.collect())
            }
            Self::Negate(a) => negated(a.simplified()),
            Self::Add(a, b) => sum(a.simplified(), b.simplified()),
            Self::Subtract(a, b) => difference(a.simplified(), b.simplified()),
            Self::Multiply(a, b) => product(a.simplified(), b.simplified()),
            Self::FloorDivide(a, b) => quotient(a.simplified(), b.simplified()),
            Self::Modulo(a, b) => remainder(a.simplified(), b.simplified()),
        }
    }
}

impl Constraint {
    /// The constraint with simpler expressions, and without the comparisons of
    /// numbers at the ends of the chain that hold; `None` if nothing is left.
    pub fn simplified(&self) -> Option<Self> {
        let rest = self.rest.iter();
        let mut constraint = Self {
            first: self.first.simplified(),
            rest: rest.map(|(c, e)| (*c, e.simplified())).collect(),
        };
        while let Some((comparison, second)) = constraint.rest.first() {
            if !known_to_hold(&constraint.first, *comparison, second) {
                break;
            }
            constraint.first = constraint.rest.remove(0).1;
        }
        while let Some((left, comparison, right)) = constraint.links().last() {
            if !known_to_hold(left, comparison, right) {
                break;
            }
            constraint.rest.pop();
        }
        (!constraint.rest.is_empty()).then_some(constraint)
    }
}

fn known_to_hold(left: &Expression, comparison: Comparison, right: &Expression) -> bool {
    match (left, right) {
        (Expression::Integer(left), Expression::Integer(right)) => comparison.holds(*left, *right),
        _ => false,
    }
}

fn negated(a: Expression) -> Expression {
    match a {
        Expression::Integer(n) if n != i64::MIN => Expression::Integer(-n),
        a => Expression::Negate(Box::new(a)),
    }
}

fn sum(a: Expression, b: Expression) -> Expression {
    match (a, b) {
        (Expression::Integer(0), e) | (e, Expression::Integer(0)) => e,
        (a, b) => folded(a, b, i64::checked_add, Expression::Add),
    }
}

fn difference(a: Expression, b: Expression) -> Expression {
    match (a, b) {
        (e, Expression::Integer(0)) => e,
        (a, b) => folded(a, b, i64::checked_sub, Expression::Subtract),
    }
}

fn product(a: Expression, b: Expression) -> Expression {
    match (a, b) {
        (Expression::Integer(1), e) | (e, Expression::Integer(1)) => e,
        (Expression::Integer(0), e) | (e, Expression::Integer(0)) if has_value(&e) => {
            Expression::Integer(0)
        }
        (a, b) => folded(a, b, i64::checked_mul, Expression::Multiply),
    }
}

fn quotient(a: Expression, b: Expression) -> Expression {
    match b {
        Expression::Integer(1) => a,
        b => folded(a, b, floor_divide, Expression::FloorDivide),
    }
}

fn remainder(a: Expression, b: Expression) -> Expression {
    match b {
        Expression::Integer(1) if has_value(&a) => Expression::Integer(0),
        b => folded(a, b, modulo, Expression::Modulo),
    }
}

/// Whether an expression has a value whenever its names have. A call may be outside of its
/// function's domain and a divisor 0; the comparison then does not hold, so such an expression must
/// not vanish.
pub(crate) fn has_value(e: &Expression) -> bool {
    let mut certain = true;
    e.visit(&mut |e| {
        certain &= match e {
            Expression::Call(..) => false,
            Expression::FloorDivide(_, b) | Expression::Modulo(_, b) => {
                matches!(**b, Expression::Integer(n) if n != 0)
            }
            _ => true,
        }
    });
    certain
}

/// The quotient rounded down; `None` for a divisor of 0 and for overflow.
pub(crate) fn floor_divide(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    Some(quotient - i64::from(a % b != 0 && (a < 0) != (b < 0)))
}

/// The rest of [`floor_divide`]; it has the sign of `b`.
pub(crate) fn modulo(a: i64, b: i64) -> Option<i64> {
    let rest = a.checked_rem(b).or((b == -1).then_some(0))?;
    Some(if rest != 0 && (rest < 0) != (b < 0) {
        rest + b
    } else {
        rest
    })
}

fn folded(
    a: Expression,
    b: Expression,
    compute: fn(i64, i64) -> Option<i64>,
    otherwise: fn(Box<Expression>, Box<Expression>) -> Expression,
) -> Expression {
    if let (Expression::Integer(x), Expression::Integer(y)) = (&a, &b)
        && let Some(value) = compute(*x, *y)
    {
        return Expression::Integer(value);
    }
    otherwise(Box::new(a), Box::new(b))
}
