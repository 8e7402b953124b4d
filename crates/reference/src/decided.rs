//! What an operator is whatever its stored arguments are.
//!
//! An application is not stored where the arguments that are not stored leave
//! only one value: `0 * x`, `select(false, x, 2)`, `x < -inf`. What is asked here
//! is asked of values, at one point, and of what they are elsewhere: `0 / x` is 0
//! unless `x` may be an unstored zero too.

use sparsec_base::{ElementType, Scalar};
use sparsec_index::Operator;

use crate::point::{Entry, Value, same};

/// The value of `op`, if the arguments that are not stored decide it; `fills` has
/// what each argument is where it is not stored.
pub(crate) fn decided(op: &Operator, fills: &[Value], args: &[Entry]) -> Option<Scalar> {
    let unstored = |at: usize| args.get(at).filter(|arg| !arg.stored)?.value.ok();
    for at in 0..args.len() {
        if let Some(value) = unstored(at)
            && op.annihilator(at, value.element()) == Some(value)
        {
            return Some(value);
        }
    }
    match op {
        Operator::IsStored => (!args[0].stored).then_some(Scalar::Bool(false)),
        Operator::Select => {
            let chosen = match unstored(0) {
                Some(Scalar::Bool(true)) => unstored(1),
                Some(_) => unstored(2),
                None => None,
            };
            chosen.or_else(|| unstored(1).filter(|then| unstored(2) == Some(*then)))
        }
        Operator::Lt | Operator::Le | Operator::Gt | Operator::Ge => {
            let against = |left: Option<Scalar>, right: Option<Scalar>| {
                let known = left.or(right)?;
                let mut found = None;
                for other in extremes(known.element()) {
                    let value = op.evaluate(&[left.unwrap_or(other), right.unwrap_or(other)])?;
                    if *found.get_or_insert(value) != value {
                        return None;
                    }
                }
                found
            };
            match (unstored(0), unstored(1)) {
                (Some(_), Some(_)) | (None, None) => None,
                (left, right) => against(left, right),
            }
        }
        Operator::Pow => {
            let one = |value: Scalar| same(value, value.element().one());
            let float = |value: &Scalar| value.element().is_float();
            let base = unstored(0).filter(float).filter(|base| one(*base));
            let exponent = unstored(1)
                .filter(float)
                .filter(|exponent| exponent.is_zero());
            base.or(exponent).map(|value| value.element().one())
        }
        Operator::ShiftLeft | Operator::CopySign => {
            let moved = unstored(0).filter(|value| value.is_zero());
            moved.map(|value| value.element().zero())
        }
        // Of no bits, and of ones alone.
        Operator::ShiftRight => {
            unstored(0).filter(|value| value.is_zero() || value.to_integer() == Some(-1))
        }
        Operator::Fma => {
            let is_zero = |at: usize| unstored(at).is_some_and(|value| value.is_zero());
            let sum = unstored(2).filter(|_| is_zero(0) || is_zero(1))?;
            op.evaluate_unstored(&[sum.element().zero(), sum.element().zero(), sum])
        }
        Operator::Add | Operator::Sub | Operator::Div => {
            // What is so where nothing is stored stays so: an infinity in a sum, a
            // zero over something.
            let everywhere = op.evaluate_unstored(&[fills[0].ok()?, fills[1].ok()?])?;
            let settled = |at: usize| match op {
                Operator::Div => at == 0 && unstored(at).is_some_and(|value| value.is_zero()),
                _ => unstored(at).is_some_and(|value| value.to_f64().is_infinite()),
            };
            let element = everywhere.element();
            let rounds = element.is_float() || (element.is_complex() && *op == Operator::Div);
            let number = !everywhere.to_c128().is_nan();
            (rounds && number && (settled(0) || settled(1))).then_some(everywhere)
        }
        _ => None,
    }
}

/// The ends of the order of a type, and what has no place in it.
fn extremes(element: ElementType) -> Vec<Scalar> {
    let ends = [Operator::Max, Operator::Min].map(|op| op.identity(element));
    let nan = Scalar::F64(f64::NAN)
        .cast(element)
        .filter(|_| element.is_float());
    ends.into_iter().flatten().chain(nan).collect()
}
