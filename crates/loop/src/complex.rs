//! Complex arithmetic over pairs of real numbers: each formula written once.
//!
//! A complex number is a pair of its real and its imaginary part. Each operation is a
//! function here over any `Real`: over `f32` and `f64`, for the interpreter, and over
//! *terms*, which record the operation as loop IR over the parts ([`Formula`]), for back
//! ends to print or to compile. All engines therefore round alike.
//!
//! ```text
//! mul(a, b)  ──over f64──►    (a.re * b.re + a.im * -b.im, a.re * b.im + a.im * b.re)
//!            ──over terms──►  the same as two expressions of loop IR
//! ```
//!
//! The parts of products and quotients are sums, never a sum beside a difference: gcc 12 makes one
//! fused operation of that pair (`vfmaddsub`), which rounds once, and no flag forbids it. A
//! negated factor gives the same bits, since negation is exact.
//!
//! | operation   | formula                                                        |
//! |-------------|----------------------------------------------------------------|
//! | `a * b`     | the plain one: infinite parts may give `NaN`                   |
//! | `a / b`     | Smith's: by the ratio of the smaller part of `b` to the larger; exact steps only if `b` is real |
//! | `abs(a)`    | `hypot(re, im)`                                                |
//! | `sqrt(a)`   | from `(abs(a) + abs(re)) / 2`, without cancellation; the root with the sign of `im` on the negative axis |
//! | `exp(a)`    | `exp(re) * (cos(im), sin(im))`; of a real, real                |
//! | `log(a)`    | `(log(abs(a)), atan2(im, re))`                                 |
//! | `pow(a, b)` | `exp(b * log(a))`; 1 for `b == 0`, `a` for `b == 1`; of 0, 0 where `real(b) > 0`, else `NaN` |
//!
//! Source for division: R. L. Smith, "Algorithm 116: Complex division", CACM 5,
//! 1962.

use std::ops::{Add, Div, Mul, Neg, Sub};

use sparsec_base::{Complex, ElementType};

use crate::ir::{BinaryOp, Intrinsic, UnaryOp};

mod record;

pub use record::{Formula, formula};

/// What formulas are made of: numbers, or terms that stand for them.
trait Real:
    Clone
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The truth of a comparison.
    type Truth: Clone;

    /// A constant of the type of `self`.
    fn constant(&self, value: f64) -> Self;
    fn abs(self) -> Self;
    fn call(function: Intrinsic, arguments: &[&Self]) -> Self;
    fn equal(&self, other: &Self) -> Self::Truth;
    fn less(&self, other: &Self) -> Self::Truth;
    fn and(a: Self::Truth, b: Self::Truth) -> Self::Truth;
    fn select(condition: &Self::Truth, then: &Self, otherwise: &Self) -> Self;
}

macro_rules! real {
    ($ty:ident) => {
        impl Real for $ty {
            type Truth = bool;

            fn constant(&self, value: f64) -> Self {
                value as $ty
            }

            fn abs(self) -> Self {
                $ty::abs(self)
            }

            fn call(function: Intrinsic, arguments: &[&Self]) -> Self {
                match (function, arguments) {
                    (Intrinsic::Sqrt, [x]) => x.sqrt(),
                    (Intrinsic::Exp, [x]) => x.exp(),
                    (Intrinsic::Log, [x]) => x.ln(),
                    (Intrinsic::Sin, [x]) => x.sin(),
                    (Intrinsic::Cos, [x]) => x.cos(),
                    (Intrinsic::Hypot, [x, y]) => x.hypot(**y),
                    (Intrinsic::Atan2, [y, x]) => y.atan2(**x),
                    _ => unreachable!("formulas call no other function"),
                }
            }

            fn equal(&self, other: &Self) -> bool {
                self == other
            }

            fn less(&self, other: &Self) -> bool {
                self < other
            }

            fn and(a: bool, b: bool) -> bool {
                a && b
            }

            fn select(condition: &bool, then: &Self, otherwise: &Self) -> Self {
                if *condition { *then } else { *otherwise }
            }
        }
    };
}

real!(f32);
real!(f64);

/// A complex number in two parts.
#[derive(Clone, Debug)]
struct Pair<R> {
    re: R,
    im: R,
}

impl<R: Real> Pair<R> {
    fn new(re: R, im: R) -> Self {
        Self { re, im }
    }

    /// `(re, im)` where the condition holds, else `self`.
    fn unless(self, condition: &R::Truth, re: &R, im: &R) -> Self {
        Self {
            re: R::select(condition, re, &self.re),
            im: R::select(condition, im, &self.im),
        }
    }

    fn is(&self, re: f64, im: f64) -> R::Truth {
        let (wanted_re, wanted_im) = (self.re.constant(re), self.im.constant(im));
        R::and(self.re.equal(&wanted_re), self.im.equal(&wanted_im))
    }
}

/// What an operation gives.
enum Given<R: Real> {
    Complex(Pair<R>),
    Real(R),
    Truth(R::Truth),
}

/// An operation that complex numbers have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// Of one number.
    Unary(UnaryOp),
    /// Of two numbers.
    Binary(BinaryOp),
    /// A function.
    Call(Intrinsic),
}

impl Operation {
    /// The name of the function that computes the operation in generated code, such as
    /// `sparsec_mul_c128`.
    ///
    /// ```
    /// use sparsec_base::ElementType;
    /// use sparsec_loop::{BinaryOp, complex::Operation};
    /// let product = Operation::Binary(BinaryOp::Mul);
    /// assert_eq!(product.function_name(ElementType::C128), "sparsec_mul_c128");
    /// ```
    pub fn function_name(self, ty: ElementType) -> String {
        let stem = match self {
            Self::Unary(UnaryOp::Neg) => "neg",
            Self::Unary(op) => op.symbol(),
            Self::Binary(BinaryOp::Add) => "add",
            Self::Binary(BinaryOp::Sub) => "sub",
            Self::Binary(BinaryOp::Mul) => "mul",
            Self::Binary(BinaryOp::Div) => "div",
            Self::Binary(BinaryOp::Eq) => "eq",
            Self::Binary(op) => panic!("complex numbers have no {op:?}"),
            Self::Call(function) => function.name(),
        };
        format!("sparsec_{stem}_{ty}")
    }

    /// How many numbers it takes.
    pub fn arity(self) -> usize {
        match self {
            Self::Unary(_) => 1,
            Self::Binary(_) => 2,
            Self::Call(function) => function.arity(),
        }
    }
}

/// The operation on `a`, and on `b` where it takes two numbers.
///
/// # Panics
/// If complex numbers do not have the operation.
fn apply<R: Real>(operation: Operation, a: Pair<R>, b: Option<Pair<R>>) -> Given<R> {
    use Given::{Complex, Real, Truth};
    match (operation, b) {
        (Operation::Unary(UnaryOp::Neg), None) => Complex(Pair::new(-a.re, -a.im)),
        (Operation::Unary(UnaryOp::Conj), None) => Complex(Pair::new(a.re, -a.im)),
        (Operation::Unary(UnaryOp::Real), None) => Real(a.re),
        (Operation::Unary(UnaryOp::Imag), None) => Real(a.im),
        (Operation::Unary(UnaryOp::Abs), None) => Real(modulus(&a)),
        (Operation::Binary(BinaryOp::Add), Some(b)) => Complex(Pair::new(a.re + b.re, a.im + b.im)),
        (Operation::Binary(BinaryOp::Sub), Some(b)) => Complex(Pair::new(a.re - b.re, a.im - b.im)),
        (Operation::Binary(BinaryOp::Mul), Some(b)) => Complex(mul(a, b)),
        (Operation::Binary(BinaryOp::Div), Some(b)) => Complex(div(&a, &b)),
        (Operation::Binary(BinaryOp::Eq), Some(b)) => {
            Truth(R::and(a.re.equal(&b.re), a.im.equal(&b.im)))
        }
        (Operation::Call(Intrinsic::Sqrt), None) => Complex(sqrt(&a)),
        (Operation::Call(Intrinsic::Exp), None) => Complex(exp(&a)),
        (Operation::Call(Intrinsic::Log), None) => Complex(log(&a)),
        (Operation::Call(Intrinsic::Pow), Some(b)) => Complex(pow(&a, &b)),
        _ => panic!("complex numbers have no {operation:?}"),
    }
}

fn modulus<R: Real>(a: &Pair<R>) -> R {
    R::call(Intrinsic::Hypot, &[&a.re, &a.im])
}

fn mul<R: Real>(a: Pair<R>, b: Pair<R>) -> Pair<R> {
    Pair::new(
        a.re.clone() * b.re.clone() + a.im.clone() * -b.im.clone(),
        a.re * b.im + a.im * b.re,
    )
}

fn div<R: Real>(a: &Pair<R>, b: &Pair<R>) -> Pair<R> {
    let upright = b.re.clone().abs().less(&b.im.clone().abs());
    let large = R::select(&upright, &b.im, &b.re);
    let small = R::select(&upright, &b.re, &b.im);
    let zero = small.constant(0.0);
    let ratio = small.clone() / large.clone();
    // So that a number over zero is infinite.
    let ratio = R::select(&small.equal(&zero), &zero, &ratio);
    let over = large + small * ratio.clone();
    let x = R::select(&upright, &a.im, &a.re);
    let y = R::select(&upright, &a.re, &a.im);
    let re = x.clone() + y.clone() * ratio.clone();
    let im = y + x * -ratio;
    let im = R::select(&upright, &-im.clone(), &im);
    Pair::new(re / over.clone(), im / over)
}

fn sqrt<R: Real>(a: &Pair<R>) -> Pair<R> {
    let half = a.re.constant(0.5);
    let zero = a.re.constant(0.0);
    let mean = modulus(a) * half.clone() + a.re.clone().abs() * half.clone();
    let major = R::call(Intrinsic::Sqrt, &[&mean]);
    let minor = a.im.clone() / major.clone() * half;
    let left = a.re.less(&zero);
    // Of zeros, which compare equal, the inverses tell the signs apart.
    let inverse = a.re.constant(1.0) / a.im.clone();
    let down = -major.clone();
    let signed = R::select(&inverse.less(&zero), &down, &major);
    let signed = R::select(&a.im.less(&zero), &down, &signed);
    let root = Pair::new(major, minor.clone()).unless(&left, &minor.abs(), &signed);
    root.unless(&a.is(0.0, 0.0), &zero, &a.im)
}

fn exp<R: Real>(a: &Pair<R>) -> Pair<R> {
    let size = R::call(Intrinsic::Exp, &[&a.re]);
    let turned = Pair::new(
        size.clone() * R::call(Intrinsic::Cos, &[&a.im]),
        size.clone() * R::call(Intrinsic::Sin, &[&a.im]),
    );
    turned.unless(&a.im.equal(&a.im.constant(0.0)), &size, &a.im)
}

fn log<R: Real>(a: &Pair<R>) -> Pair<R> {
    Pair::new(
        R::call(Intrinsic::Log, &[&modulus(a)]),
        R::call(Intrinsic::Atan2, &[&a.im, &a.re]),
    )
}

fn pow<R: Real>(a: &Pair<R>, b: &Pair<R>) -> Pair<R> {
    let (zero, one) = (a.re.constant(0.0), a.re.constant(1.0));
    let nan = a.re.constant(f64::NAN);
    let power = exp(&mul(b.clone(), log(a)));
    let of_zero = R::select(&zero.less(&b.re), &zero, &nan);
    power
        .unless(&a.is(0.0, 0.0), &of_zero, &of_zero)
        .unless(&b.is(1.0, 0.0), &a.re, &a.im)
        .unless(&b.is(0.0, 0.0), &one, &zero)
}

/// What an operation gives on values.
pub(crate) enum Outcome<T> {
    /// A complex number.
    Complex(Complex<T>),
    /// A real number.
    Real(T),
    /// A truth value.
    Truth(bool),
}

macro_rules! evaluate {
    ($name:ident, $ty:ty) => {
        /// The operation on values.
        pub(crate) fn $name(operation: Operation, arguments: &[Complex<$ty>]) -> Outcome<$ty> {
            let pair = |value: &Complex<$ty>| Pair::new(value.re, value.im);
            match apply(operation, pair(&arguments[0]), arguments.get(1).map(pair)) {
                Given::Complex(pair) => Outcome::Complex(Complex::new(pair.re, pair.im)),
                Given::Real(value) => Outcome::Real(value),
                Given::Truth(value) => Outcome::Truth(value),
            }
        }
    };
}

evaluate!(evaluate_f32, f32);
evaluate!(evaluate_f64, f64);

#[cfg(test)]
mod tests {
    use super::*;

    fn value(operation: Operation, arguments: &[Complex<f64>]) -> Complex<f64> {
        match evaluate_f64(operation, arguments) {
            Outcome::Complex(value) => value,
            _ => panic!("{operation:?} gives no complex number"),
        }
    }

    /// Our formulas against those of a library, over a grid around the origin.
    #[test]
    fn formulas_agree_with_a_library() {
        let grid = [-3.0, -1.0, -0.5, -0.0, 0.0, 0.25, 1.0, 2.0];
        let points = || {
            grid.into_iter()
                .flat_map(|re| grid.map(|im| Complex::new(re, im)))
        };
        let near = |found: Complex<f64>, wanted: Complex<f64>, what: &str| {
            let scale = wanted.norm().max(1.0);
            assert!(
                (found - wanted).norm() <= 1e-14 * scale,
                "{what}: {found} is not {wanted}"
            );
        };
        for a in points().filter(|a| a.norm() > 0.0) {
            near(
                value(Operation::Call(Intrinsic::Sqrt), &[a]),
                a.sqrt(),
                &format!("sqrt({a})"),
            );
            near(
                value(Operation::Call(Intrinsic::Exp), &[a]),
                a.exp(),
                &format!("exp({a})"),
            );
            near(
                value(Operation::Call(Intrinsic::Log), &[a]),
                a.ln(),
                &format!("log({a})"),
            );
            for b in points() {
                let what = format!("{a} and {b}");
                near(
                    value(Operation::Binary(BinaryOp::Mul), &[a, b]),
                    a * b,
                    &what,
                );
                if b.norm() > 0.0 {
                    near(
                        value(Operation::Binary(BinaryOp::Div), &[a, b]),
                        a / b,
                        &what,
                    );
                    near(
                        value(Operation::Call(Intrinsic::Pow), &[a, b]),
                        a.powc(b),
                        &what,
                    );
                }
            }
        }
    }

    #[test]
    fn corners() {
        let c = Complex::new;
        let zero = c(0.0, 0.0);
        let div = |a, b| value(Operation::Binary(BinaryOp::Div), &[a, b]);
        let pow = |a, b| value(Operation::Call(Intrinsic::Pow), &[a, b]);
        let sqrt = |a| value(Operation::Call(Intrinsic::Sqrt), &[a]);
        assert_eq!(div(c(1.0, 2.0), zero), c(f64::INFINITY, f64::INFINITY));
        assert_eq!(div(c(1e300, 1e300), c(1e300, 1e300)), c(1.0, 0.0));
        assert_eq!(div(c(5.0, 7.0), c(3.0, 0.0)), c(5.0 / 3.0, 7.0 / 3.0));
        assert_eq!(pow(zero, c(2.0, 1.0)), zero);
        assert!(pow(zero, c(-1.0, 0.0)).re.is_nan());
        assert_eq!(pow(zero, zero), c(1.0, 0.0));
        assert_eq!(sqrt(c(-4.0, 0.0)), c(0.0, 2.0));
        assert_eq!(sqrt(c(-4.0, -0.0)), c(0.0, -2.0));
        assert!(sqrt(c(1e308, 1e308)).im.is_finite());
        let exp = value(Operation::Call(Intrinsic::Exp), &[c(800.0, 0.0)]);
        assert_eq!(exp, c(f64::INFINITY, 0.0));
    }
}
