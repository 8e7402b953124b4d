//! How far another evaluation may lie from this one through rounding.
//!
//! The compiler may add in another order, fuse a product with a sum, or take a
//! factor out of a sum. Every entry therefore carries a **slack**: a bound on
//! how far a right evaluation of the same expression is from its value. Entries
//! that are read have none; each step adds its own rounding, in its own type,
//! to what its arguments pass on:
//!
//! | step               | slack, for arguments `x ± s` and `y ± t`               |
//! |--------------------|--------------------------------------------------------|
//! | `x + y`, `x - y`   | `s + t + u (\|x\| + \|y\|)`                            |
//! | `x * y`            | `s \|y\| + t \|x\| + s t + u \|x y\|`                  |
//! | `select(c, x, y)`  | of the branch taken; `\|x - y\|` more where `c` may flip |
//! | any other, a cast  | how far its value moves with its arguments, and `u \|value\|` |
//!
//! `u` is the [`unit`] of the step's type. So a sum of `f32` that is cast to
//! `f64` is held to the rounding of `f32`, one that is cast to `i32` may be 1
//! off where it lies beside an integer and must be exact elsewhere, and a
//! comparison may go either way where its sides are equal but for rounding.

use sparsec_base::{Complex, ElementType, Scalar};
use sparsec_index::Operator;

use crate::point::{Entry, Value, evaluate};

/// What one rounding may move a value of this type by, relative to it: a good
/// deal more than one unit in the last place, since sums have many terms.
pub(crate) fn unit(element: ElementType) -> f64 {
    match element {
        // A sum that is a little off may be rounded to the half beside.
        ElementType::Bf16 => 1.6e-2,
        ElementType::F16 => 2e-3,
        ElementType::F32 | ElementType::C64 => 1e-4,
        ElementType::F64 | ElementType::C128 => 1e-10,
        _ => 0.0,
    }
}

/// The slack of `value`, which is `op` applied to `args`.
pub(crate) fn slack(op: &Operator, args: &[Entry], value: Value) -> f64 {
    let Ok(value) = value else { return 0.0 };
    let found = passed_on(op, args, value);
    if found.is_nan() { f64::INFINITY } else { found }
}

fn passed_on(op: &Operator, args: &[Entry], value: Scalar) -> f64 {
    let (size, slack) = (|at: usize| size(args[at].value), |at: usize| args[at].slack);
    let unit = unit(value.element());
    let exact = args.iter().all(|arg| arg.slack == 0.0);
    match op {
        _ if unit == 0.0 && exact => 0.0,
        Operator::Add | Operator::Sub if !is_bool(value) => {
            slack(0) + slack(1) + unit * (size(0) + size(1))
        }
        Operator::Mul if !is_bool(value) => {
            let passed_on = slack(0) * size(1) + slack(1) * size(0) + slack(0) * slack(1);
            passed_on + unit * magnitude(value)
        }
        Operator::Neg | Operator::Abs | Operator::Relu => slack(0),
        Operator::Conj | Operator::Real | Operator::Imag => slack(0),
        Operator::Min | Operator::Max => slack(0).max(slack(1)),
        Operator::Select => {
            let (condition, [then, otherwise]) = (args[0], [args[1], args[2]]);
            let taken = match condition.value {
                Ok(Scalar::Bool(true)) => then.slack,
                _ => otherwise.slack,
            };
            match (condition.slack > 0.0, then.value, otherwise.value) {
                (true, Ok(a), Ok(b)) => then.slack.max(otherwise.slack) + distance(a, b),
                _ => taken,
            }
        }
        // A quotient has no bound where the divisor may be zero.
        Operator::Div | Operator::FloorDiv | Operator::Mod if !exact && size(1) <= slack(1) => {
            f64::INFINITY
        }
        _ => moved(args, value, |args| evaluate(op, args, true).ok()) + unit * magnitude(value),
    }
}

/// The slack of `value`, which is `entry` cast.
pub(crate) fn slack_of_cast(entry: Entry, value: Value) -> f64 {
    match value {
        Ok(value) if entry.slack > 0.0 => {
            let moved = moved(&[entry], value, |args| args[0].cast(value.element()));
            moved + unit(value.element()) * magnitude(value)
        }
        _ => 0.0,
    }
}

/// How far the value moves when the arguments go to the ends of their slack;
/// infinite where there is no value there.
fn moved(args: &[Entry], value: Scalar, function: impl Fn(&[Scalar]) -> Option<Scalar>) -> f64 {
    fn corners(
        args: &[Entry],
        chosen: &mut Vec<Scalar>,
        visit: &mut dyn FnMut(&[Scalar]),
    ) -> Option<()> {
        let Some(arg) = args.get(chosen.len()) else {
            visit(chosen);
            return Some(());
        };
        for moved in ends(arg.value.ok()?, arg.slack) {
            chosen.push(moved?);
            corners(args, chosen, visit)?;
            chosen.pop();
        }
        Some(())
    }
    if args.iter().all(|arg| arg.slack == 0.0) {
        return 0.0;
    }
    let mut furthest = 0.0f64;
    let reached = corners(args, &mut Vec::new(), &mut |corner| {
        let there = function(corner);
        furthest = furthest.max(there.map_or(f64::INFINITY, |there| distance(there, value)));
    });
    match reached {
        Some(()) => furthest,
        None => f64::INFINITY,
    }
}

/// A value moved by its slack in every direction; itself where it has none.
fn ends(value: Scalar, slack: f64) -> Vec<Option<Scalar>> {
    if slack == 0.0 {
        return vec![Some(value)];
    }
    let by = |re: f64, im: f64| {
        let moved = value.to_c128() + Complex::new(re, im);
        match value.element() {
            element if element.is_complex() => Scalar::C128(moved).cast(element),
            element => Scalar::F64(moved.re).cast(element),
        }
    };
    let mut ends = vec![by(slack, 0.0), by(-slack, 0.0)];
    match value {
        Scalar::Bool(value) => return vec![Some(Scalar::Bool(value)), Some(Scalar::Bool(!value))],
        Scalar::C64(_) | Scalar::C128(_) => ends.extend([by(0.0, slack), by(0.0, -slack)]),
        _ => {}
    }
    ends
}

/// How far apart two values are; infinite if only one is a number.
fn distance(a: Scalar, b: Scalar) -> f64 {
    let (x, y) = (a.to_c128(), b.to_c128());
    match (x - y).norm() {
        distance if distance.is_nan() && (x == y || (x.is_nan() && y.is_nan())) => 0.0,
        distance if distance.is_nan() => f64::INFINITY,
        distance => distance,
    }
}

fn is_bool(value: Scalar) -> bool {
    value.element() == ElementType::Bool
}

fn size(value: Value) -> f64 {
    value.map_or(0.0, magnitude)
}

/// What rounding errors are relative to: infinities and `NaN` have none.
pub(crate) fn magnitude(value: Scalar) -> f64 {
    let norm = value.to_c128().norm();
    if norm.is_finite() { norm } else { 0.0 }
}
