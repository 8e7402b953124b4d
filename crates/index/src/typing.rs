//! Of what type each part of an expression is.
//!
//! Two types meet in the narrowest one that holds both (`promote`). A number
//! that is written down is **weak**: it takes the type of what it stands beside,
//! unless that is of a lesser kind (truth value, integer, float, complex). So
//! `A(i) * 2.0` is `f32` if `A` is, and `f64` if `A` is `i32`. What is made of
//! numbers alone is worked out here and is weak too; where it stands alone it is
//! `i64`, `f64` or `c128`.
//!
//! `/` and the functions of floats take integers as `f64`; `pow` of integers is an
//! integer.
//!
//! Two kinds of types are computed with as others:
//!
//! | type           | in expressions | in sums and products | the result |
//! |----------------|----------------|----------------------|------------|
//! | `f16`, `bf16`  | `f32`          | `f32`                | rounded to the type where it is stored |
//! | `bool`, `i8` … `i32` | itself, wrapping | `i64`        | `i64`      |
//! | `u8` … `u32`   | itself, wrapping | `u64`              | `u64`      |
//!
//! So the sum of two halves is rounded once, when it is stored, however many
//! operations it took: `f16` is what [`Typed::element`] says and the type of a
//! result that nobody declared, while the expression is of `f32`.

mod call;
mod promote;

use sparsec_base::{Diagnostic, ElementType, Kind, Result, Scalar, Source, Span, code};

use crate::expr::Expr;
use crate::operator::{Operator, Style};
use crate::program::{IndexVar, Tensors};

pub use promote::promote;

/// An expression with its type and place.
#[derive(Clone, Debug)]
pub struct Typed {
    /// Of type `element`, or of the type that `element` is computed with.
    pub expr: Expr,
    /// The type that the language gives the expression.
    pub element: ElementType,
    /// Whether it is a number that takes the type of what it stands beside.
    pub weak: bool,
    /// Its place.
    pub span: Span,
}

/// Makes typed expressions of parts.
#[derive(Clone, Copy, Debug)]
pub struct Typer<'a> {
    /// The text that places point into.
    pub source: &'a Source,
    /// The tensors that accesses are of.
    pub tensors: &'a Tensors,
}

impl Typer<'_> {
    /// An expression that is typed already.
    pub fn expr(&self, expr: Expr, span: Span) -> Typed {
        Typed {
            element: expr.element(self.tensors),
            weak: false,
            expr,
            span,
        }
    }

    /// A number that is written down: a truth value, an `i64` or `u64`, an `f64` or a
    /// `c128`. All but the first are weak.
    pub fn number(&self, value: Scalar, span: Span) -> Typed {
        literal(value, value.element() != ElementType::Bool, span)
    }

    /// An operator applied to its arguments.
    ///
    /// # Errors
    /// `E0208` and `E0223` for a type that it does not take, `E0219` and `E0222`
    /// for numbers.
    pub fn apply(
        &self,
        op: &Operator,
        op_span: Span,
        mut args: Vec<Typed>,
        span: Span,
    ) -> Result<Typed> {
        if let Operator::Defined(function) = op {
            return self.call(function, op_span, args, span);
        }
        let mut condition = None;
        if *op == Operator::Select {
            let first = args.remove(0);
            self.expect_bool(op, op_span, &first)?;
            condition = Some(first);
        }
        if op.is_logical() {
            for arg in &args {
                self.expect_bool(op, op_span, arg)?;
            }
        }
        let mut common = common_type(&args);
        if !op.takes_kind(common.kind()) && op.takes_kind(Kind::Float) && !common.is_complex() {
            // True division and the functions of floats.
            if !op.takes_kind(Kind::Signed) {
                common = ElementType::F64;
            }
        }
        if !op.takes_kind(common.kind()) {
            return Err(self.not_taken(op, op_span, &args, common));
        }
        let weak = args.iter().all(|arg| arg.weak) && !op.is_comparison();
        let exponent = args.last().map_or(span, |arg| arg.span);
        let mut converted = Vec::with_capacity(op.arity());
        converted.extend(condition.map(|condition| condition.expr));
        let beside = args.iter().find(|arg| !arg.weak).map(|arg| arg.span);
        for arg in args {
            converted.push(self.operand(arg, common, beside)?.expr);
        }
        self.check_power(op, &converted, common, exponent)?;
        let literals: Option<Vec<Scalar>> = converted.iter().map(Expr::literal).collect();
        if let Some(values) = literals {
            let Some(value) = op.evaluate_unstored(&values) else {
                let error = Diagnostic::new(code::CONSTANT_ERROR, "an integer is divided by zero");
                return Err(error
                    .at(self.source, span, "the same for all data")
                    .help("divide by another number, or with `/`, which gives a float"));
            };
            let element = op.result_type(&[common]);
            return Ok(Typed {
                element,
                ..literal(value, weak, span)
            });
        }
        Ok(Typed {
            expr: Expr::Apply {
                op: op.clone(),
                args: converted,
            },
            element: op.result_type(&[common]),
            weak: false,
            span,
        })
    }

    /// `op` reduced over `vars`; none where it is the operator of an
    /// assignment alone.
    ///
    /// # Errors
    /// `E0208` and `E0223`.
    pub fn reduce(
        &self,
        op: &Operator,
        op_span: Span,
        vars: Vec<IndexVar>,
        body: Typed,
    ) -> Result<Typed> {
        if op.is_logical() {
            self.expect_bool(op, op_span, &body)?;
        }
        if !op.takes_kind(body.element.kind()) {
            return Err(self.not_taken(op, op_span, std::slice::from_ref(&body), body.element));
        }
        if let Operator::Defined(function) = op {
            self.check_reduction(function, op_span, body.element)?;
        }
        if vars.is_empty() {
            return Ok(body);
        }
        let span = body.span;
        let accumulator = accumulator(op, body.element);
        let body = self.operand(body, accumulator, None)?;
        Ok(Typed {
            expr: Expr::Reduce {
                op: op.clone(),
                vars,
                body: Box::new(body.expr),
            },
            element: accumulator,
            weak: false,
            span,
        })
    }

    /// An explicit conversion, which may lose digits.
    ///
    /// # Errors
    /// `E0222` for a constant that the type does not hold, `E0224` for a complex
    /// number as a real one.
    pub fn cast(&self, element: ElementType, value: Typed) -> Result<Typed> {
        let span = value.span;
        let truth = element == ElementType::Bool;
        if value.element.is_complex() && !element.is_complex() && !truth {
            let text = self.source.slice(span);
            let message = format!("a complex number is no {element}");
            return Err(Diagnostic::new(code::COMPLEX_AS_REAL, message)
                .at(self.source, span, format!("this is {}", value.element))
                .help(format!("take a part of it: `real({text})`")));
        }
        if let Some(constant) = value.expr.literal() {
            let Some(converted) = constant.cast(element) else {
                let message = format!("`{constant}` cannot be converted to {element}");
                return Err(Diagnostic::new(code::CONSTANT_ERROR, message)
                    .at(self.source, span, format!("no {element} is near it"))
                    .help(format!(
                        "write a number that {element} holds, or keep it a float, the type of the result included"
                    )));
            };
            return Ok(literal(converted, false, span));
        }
        if value.expr.element(self.tensors) == element {
            return Ok(Typed { element, ..value });
        }
        Ok(Typed {
            expr: Expr::Cast(element, Box::new(value.expr)),
            element,
            weak: false,
            span,
        })
    }

    /// A conversion to the type of the assigned tensor; literals have to fit.
    ///
    /// # Errors
    /// `E0219`.
    pub fn convert(&self, value: Typed, element: ElementType) -> Result<Typed> {
        if let Some(number) = too_large(&value, element) {
            let wide = number.element();
            return Err(self
                .does_not_fit(number, element, value.span)
                .help(format!("give the result the type {wide}")));
        }
        self.cast(element, value)
    }

    /// An argument of an operator on values of a type, which it computes with in a type that
    /// may be wider; numbers have to fit. Another argument is `beside` it.
    ///
    /// # Errors
    /// `E0219`.
    pub fn operand(
        &self,
        value: Typed,
        element: ElementType,
        beside: Option<Span>,
    ) -> Result<Typed> {
        if let Some(number) = too_large(&value, element.computed()) {
            let wide = number.element();
            let other = beside.map_or("…", |span| self.source.slice(span));
            return Err(self
                .does_not_fit(number, element, value.span)
                .help(format!("convert the other side: `{wide}({other})`")));
        }
        self.cast(element.computed(), value)
    }

    fn does_not_fit(&self, number: Scalar, element: ElementType, span: Span) -> Diagnostic {
        let message = format!("`{number}` does not fit in {element}");
        Diagnostic::new(code::LITERAL_RANGE, message).at(
            self.source,
            span,
            format!("used as {element}"),
        )
    }

    /// Refuses an integer to a power that is sure to be negative.
    fn check_power(
        &self,
        op: &Operator,
        args: &[Expr],
        common: ElementType,
        exponent: Span,
    ) -> Result<()> {
        let is_negative = |value: Scalar| value.to_integer().is_some_and(|value| value < 0);
        let last = args.last().and_then(Expr::literal);
        if *op != Operator::Pow || !common.is_integer() || !last.is_some_and(is_negative) {
            return Ok(());
        }
        let message = "an integer to a negative power is a fraction";
        Err(Diagnostic::new(code::NEGATIVE_POWER, message)
            .at(self.source, exponent, "negative")
            .help(format!(
                "compute with floats: `pow(f64(…), {})`",
                self.source.slice(exponent)
            )))
    }

    fn expect_bool(&self, op: &Operator, op_span: Span, arg: &Typed) -> Result<()> {
        if arg.element == ElementType::Bool {
            return Ok(());
        }
        let what = match op {
            Operator::Select => "the condition of `select`".to_owned(),
            _ => format!("`{}`", op.symbol()),
        };
        Err(Diagnostic::new(
            code::TYPE_MISMATCH,
            format!("{what} takes a truth value, not {}", arg.element),
        )
        .at(self.source, arg.span, format!("this is {}", arg.element))
        .also(self.source, op_span, "takes `bool`")
        .help(format!(
            "compare it: `{} != 0`",
            self.source.slice(arg.span)
        )))
    }

    /// The diagnostic for arguments that meet in a type which `op` does not take.
    fn not_taken(
        &self,
        op: &Operator,
        op_span: Span,
        args: &[Typed],
        common: ElementType,
    ) -> Diagnostic {
        let symbol = op.symbol();
        let text = match op.style() {
            Style::Call => format!("`{symbol}`"),
            _ => format!("operator `{symbol}`"),
        };
        let of_bits = op.takes_kind(Kind::Signed) && !op.takes_kind(Kind::Float);
        let what = match common.kind() {
            Kind::Complex => "complex numbers",
            Kind::Bool => "truth values",
            _ => "floats",
        };
        let (code, takes) = match (common.is_complex(), of_bits) {
            (_, true) => (code::TYPE_MISMATCH, "takes integers of one type"),
            (true, _) => (code::COMPLEX_OPERATION, "takes real numbers"),
            (false, _) => (code::TYPE_MISMATCH, "takes numbers"),
        };
        let mut error = Diagnostic::new(code, format!("{text} is not for {what}")).at(
            self.source,
            op_span,
            takes,
        );
        // Integers that no integer type holds both of have a float as their common type.
        let is_at_fault = |arg: &&Typed| of_bits || arg.element.kind() == common.kind();
        for arg in args.iter().filter(is_at_fault) {
            error = error.also(self.source, arg.span, format!("this is {}", arg.element));
        }
        let culprit = args.iter().find(|arg| arg.element.kind() == common.kind());
        let culprit = culprit.or_else(|| args.last().filter(|_| of_bits));
        let Some(arg) = culprit else {
            return error;
        };
        let slice = self.source.slice(arg.span);
        error.help(match common.is_complex() {
            _ if of_bits => format!("convert it: `i64({slice})`"),
            true => format!("take a part of it: `abs({slice})`"),
            false => format!("convert it: `i32({slice})`"),
        })
    }
}

/// The type in which values of a type are reduced.
pub fn accumulator(op: &Operator, element: ElementType) -> ElementType {
    match (op, element.kind()) {
        (Operator::Add | Operator::Mul, Kind::Bool | Kind::Signed) => ElementType::I64,
        (Operator::Add | Operator::Mul, Kind::Unsigned) => ElementType::U64,
        _ => element,
    }
}

/// The number that is written down, if a type does not hold it.
fn too_large(value: &Typed, element: ElementType) -> Option<Scalar> {
    let number = value.expr.literal().filter(|_| value.weak)?;
    (!holds(element, number)).then_some(number)
}

/// Whether a type holds an integer as it is, and a float as a finite one.
fn holds(element: ElementType, number: Scalar) -> bool {
    if number.element().is_integer() && element.is_integer() {
        // Not there and back: integers wrap, and would come back as they were.
        let there = number.cast(element).and_then(Scalar::to_integer);
        return there.is_some() && there == number.to_integer();
    }
    // The conversion itself refuses a number that no integer or truth value is near.
    element.is_integer() || element == ElementType::Bool || number.as_type(element).is_some()
}

fn literal(value: Scalar, weak: bool, span: Span) -> Typed {
    Typed {
        expr: Expr::Literal(value),
        element: value.element(),
        weak,
        span,
    }
}

/// The type in which arguments meet.
fn common_type(args: &[Typed]) -> ElementType {
    let strong = args.iter().filter(|arg| !arg.weak).map(|arg| arg.element);
    let weak = args.iter().filter(|arg| arg.weak).map(|arg| arg.element);
    // Of numbers alone: the widest of i64, u64, f64 and c128.
    let weak = weak.max();
    match (strong.reduce(promote), weak) {
        (Some(strong), None) => strong,
        (None, Some(weak)) => weak,
        (Some(strong), Some(weak)) => match (strong.kind(), weak.kind()) {
            // A number of a greater kind lifts what it stands beside.
            (Kind::Bool, Kind::Signed | Kind::Unsigned) => weak,
            (Kind::Bool | Kind::Signed | Kind::Unsigned, Kind::Float | Kind::Complex) => weak,
            (Kind::Float, Kind::Complex) => promote(strong, ElementType::C64),
            _ => strong,
        },
        (None, None) => unreachable!("every operator has an argument"),
    }
}
