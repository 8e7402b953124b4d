//! Partial derivatives of operators.
//!
//! Each is the derivative of the result, times that of the operator by one argument. A function
//! with steps (`floor`, `sign`, comparisons) has derivative 0 where it has one. Where both arguments
//! of `max` are equal, each gets half, and at a kink (`abs` and `relu` at 0) it is 0.

use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10};

use sparsec_base::{Result, Scalar};
use sparsec_index::build::Value;
use sparsec_index::{Operator, ProgramBuilder};

use Operator as Op;

/// Values of a program that is being built.
pub(crate) struct Values<'a>(pub(crate) &'a ProgramBuilder);

impl Values<'_> {
    pub(crate) fn number(&self, value: f64) -> Value {
        self.0.number(Scalar::F64(value))
    }

    pub(crate) fn one(&self, op: &Operator, a: &Value) -> Result<Value> {
        self.0.apply(op, [a.clone()])
    }

    pub(crate) fn two(&self, op: &Operator, a: &Value, b: &Value) -> Result<Value> {
        self.0.apply(op, [a.clone(), b.clone()])
    }

    pub(crate) fn select(&self, condition: &Value, a: &Value, b: &Value) -> Result<Value> {
        let args = [condition.clone(), a.clone(), b.clone()];
        self.0.apply(&Op::Select, args)
    }

    fn square(&self, a: &Value) -> Result<Value> {
        self.two(&Op::Mul, a, a)
    }

    /// `1 + s * a * a`
    fn one_and_square(&self, op: &Operator, a: &Value) -> Result<Value> {
        self.two(op, &self.number(1.0), &self.square(a)?)
    }
}

/// Whether the derivative by argument `number` of an operator reads its argument `other`.
pub(crate) fn reads(op: &Operator, number: usize, other: usize) -> bool {
    match op {
        Op::Add | Op::Sub | Op::Neg | Op::Conj | Op::Real => false,
        Op::Mul => other != number,
        Op::Fma => number < 2 && other == 1 - number,
        Op::Select => other == 0,
        Op::Mod if number == 0 => false,
        Op::Div if number == 0 => other == 1,
        _ => true,
    }
}

/// The derivative by argument `number` of an operator, where `d` is that by its result.
///
/// # Errors
/// Those of types that operators do not take.
///
/// # Panics
/// For an operator whose derivative is 0 wherever it has one.
pub(crate) fn partial(
    values: &Values<'_>,
    op: &Operator,
    args: &[Option<Value>],
    number: usize,
    d: &Value,
) -> Result<Value> {
    let v = values;
    let arg = |number: usize| {
        let value = args[number].as_ref();
        value.expect("the statements that derivatives read are written")
    };
    let (a, both) = (|| arg(0), || arg(1));
    let first = number == 0;
    match op {
        Op::Add => Ok(d.clone()),
        Op::Sub if first => Ok(d.clone()),
        Op::Sub | Op::Neg => v.one(&Op::Neg, d),
        Op::Mul => v.two(&Op::Mul, d, arg(1 - number)),
        Op::Div if first => v.two(&Op::Div, d, both()),
        Op::Div => {
            let quotient = v.two(&Op::Div, &v.two(&Op::Mul, d, a())?, &v.square(both())?)?;
            v.one(&Op::Neg, &quotient)
        }
        Op::Mod if first => Ok(d.clone()),
        Op::Mod => {
            let times = v.two(&Op::FloorDiv, a(), both())?;
            v.one(&Op::Neg, &v.two(&Op::Mul, d, &times)?)
        }
        Op::Abs => v.two(&Op::Mul, d, &v.one(&Op::Sign, a())?),
        Op::Conj | Op::Real => Ok(d.clone()),
        Op::Sqrt => {
            let twice = v.two(&Op::Mul, &v.number(2.0), &v.one(&Op::Sqrt, a())?)?;
            v.two(&Op::Div, d, &twice)
        }
        Op::Exp => v.two(&Op::Mul, d, &v.one(&Op::Exp, a())?),
        Op::Expm1 => v.two(&Op::Mul, d, &v.one(&Op::Exp, a())?),
        Op::Exp2 => {
            let scaled = v.two(&Op::Mul, d, &v.one(&Op::Exp2, a())?)?;
            v.two(&Op::Mul, &scaled, &v.number(LN_2))
        }
        Op::Log => v.two(&Op::Div, d, a()),
        Op::Log2 => v.two(&Op::Div, d, &v.two(&Op::Mul, a(), &v.number(LN_2))?),
        Op::Log10 => v.two(&Op::Div, d, &v.two(&Op::Mul, a(), &v.number(LN_10))?),
        Op::Log1p => v.two(&Op::Div, d, &v.two(&Op::Add, &v.number(1.0), a())?),
        Op::Pow if first => {
            let less = v.two(&Op::Sub, both(), &v.number(1.0))?;
            let slope = v.two(&Op::Mul, both(), &v.two(&Op::Pow, a(), &less)?)?;
            let slope = v.two(&Op::Mul, d, &slope)?;
            match both().expr().literal() {
                Some(power) if power.to_f64() != 0.0 => Ok(slope),
                // `x` to the power of 0 is 1 everywhere.
                _ => v.select(
                    &v.two(&Op::Eq, both(), &v.number(0.0))?,
                    &v.number(0.0),
                    &slope,
                ),
            }
        }
        Op::Pow => {
            let power = v.two(&Op::Pow, a(), both())?;
            let slope = v.two(&Op::Mul, &power, &v.one(&Op::Log, a())?)?;
            let slope = v.two(&Op::Mul, d, &slope)?;
            // Powers of 0 are 0, at every positive exponent.
            let is_zero = v.two(&Op::Eq, a(), &v.number(0.0))?;
            v.select(&is_zero, &v.number(0.0), &slope)
        }
        Op::Sin => v.two(&Op::Mul, d, &v.one(&Op::Cos, a())?),
        Op::Cos => v.one(&Op::Neg, &v.two(&Op::Mul, d, &v.one(&Op::Sin, a())?)?),
        Op::Tan => v.two(
            &Op::Mul,
            d,
            &v.one_and_square(&Op::Add, &v.one(&Op::Tan, a())?)?,
        ),
        Op::Asin => {
            let root = v.one(&Op::Sqrt, &v.one_and_square(&Op::Sub, a())?)?;
            v.two(&Op::Div, d, &root)
        }
        Op::Acos => {
            let root = v.one(&Op::Sqrt, &v.one_and_square(&Op::Sub, a())?)?;
            v.one(&Op::Neg, &v.two(&Op::Div, d, &root)?)
        }
        Op::Atan => v.two(&Op::Div, d, &v.one_and_square(&Op::Add, a())?),
        Op::Sinh => v.two(&Op::Mul, d, &v.one(&Op::Cosh, a())?),
        Op::Cosh => v.two(&Op::Mul, d, &v.one(&Op::Sinh, a())?),
        Op::Tanh => v.two(
            &Op::Mul,
            d,
            &v.one_and_square(&Op::Sub, &v.one(&Op::Tanh, a())?)?,
        ),
        Op::Asinh => {
            let root = v.one(&Op::Sqrt, &v.one_and_square(&Op::Add, a())?)?;
            v.two(&Op::Div, d, &root)
        }
        Op::Acosh => {
            let square = v.two(&Op::Sub, &v.square(a())?, &v.number(1.0))?;
            v.two(&Op::Div, d, &v.one(&Op::Sqrt, &square)?)
        }
        Op::Atanh => v.two(&Op::Div, d, &v.one_and_square(&Op::Sub, a())?),
        Op::Erf => {
            let bell = v.one(&Op::Exp, &v.one(&Op::Neg, &v.square(a())?)?)?;
            let slope = v.two(&Op::Mul, &bell, &v.number(FRAC_2_SQRT_PI))?;
            v.two(&Op::Mul, d, &slope)
        }
        Op::CopySign if !first => Ok(v.number(0.0)),
        Op::CopySign => {
            let one = v.two(&Op::CopySign, &v.number(1.0), both())?;
            let sign = v.two(&Op::Mul, &one, &v.one(&Op::Sign, a())?)?;
            v.two(&Op::Mul, d, &sign)
        }
        Op::Fma if number == 2 => Ok(d.clone()),
        Op::Fma => v.two(&Op::Mul, d, arg(1 - number)),
        Op::Cbrt => {
            let square = v.square(&v.one(&Op::Cbrt, a())?)?;
            v.two(&Op::Div, d, &v.two(&Op::Mul, &v.number(3.0), &square)?)
        }
        Op::Hypot => {
            let length = v.two(&Op::Hypot, a(), both())?;
            v.two(&Op::Div, &v.two(&Op::Mul, d, arg(number))?, &length)
        }
        Op::Atan2 => {
            let squares = v.two(&Op::Add, &v.square(a())?, &v.square(both())?)?;
            let share = v.two(&Op::Div, &v.two(&Op::Mul, d, arg(1 - number))?, &squares)?;
            match first {
                true => Ok(share),
                false => v.one(&Op::Neg, &share),
            }
        }
        Op::Min | Op::Max => {
            let (own, other) = (arg(number), arg(1 - number));
            let wins = match op {
                Op::Max => v.two(&Op::Gt, own, other)?,
                _ => v.two(&Op::Lt, own, other)?,
            };
            let half = v.two(&Op::Mul, d, &v.number(0.5))?;
            let meets = v.two(&Op::Eq, own, other)?;
            let shared = v.select(&meets, &half, &v.number(0.0))?;
            v.select(&wins, d, &shared)
        }
        Op::Relu => {
            let positive = v.two(&Op::Gt, a(), &v.number(0.0))?;
            v.select(&positive, d, &v.number(0.0))
        }
        Op::Select if number == 1 => v.select(a(), d, &v.number(0.0)),
        Op::Select => v.select(a(), &v.number(0.0), d),
        _ => unreachable!("operators of steps have derivative 0"),
    }
}
