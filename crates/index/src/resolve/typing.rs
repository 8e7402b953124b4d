//! Of what type each part of an expression is.
//!
//! Two types meet in the narrower one that holds both, as in NumPy 2:
//!
//! |      | bool | i32 | i64 | f32 | f64 |
//! |------|------|-----|-----|-----|-----|
//! | bool | bool | i32 | i64 | f32 | f64 |
//! | i32  |      | i32 | i64 | f64 | f64 |
//! | i64  |      |     | i64 | f64 | f64 |
//! | f32  |      |     |     | f32 | f64 |
//!
//! A number that is written down is **weak**: it takes the type of what it
//! stands beside, unless that is of a lesser kind (truth value, integer, float).
//! So `A(i) * 2.0` is `f32` if `A` is, and `f64` if `A` is `i32`. What is made of
//! numbers alone is worked out here and is weak too; where it stands alone it is
//! `i64` or `f64`.
//!
//! `/` and the functions of floats take integers as `f64`. Sums and products of
//! `bool` and `i32` accumulate in `i64`, and give it.

use sparsec_base::{Arena, Diagnostic, ElementType, Result, Scalar, Source, Span, code};

use crate::expr::{Access, Expr};
use crate::notation::{Node, NodeKind, Number, TensorUse};
use crate::operator::{Operator, Style};
use crate::program::{IndexVar, TensorData, TensorVar};

/// An expression with its type and place.
#[derive(Clone, Debug)]
pub(crate) struct Typed {
    pub(crate) expr: Expr,
    pub(crate) element: ElementType,
    /// Whether it is a number that takes the type of what it stands beside.
    pub(crate) weak: bool,
    pub(crate) span: Span,
}

/// Makes typed expressions of parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Typer<'a> {
    pub(crate) source: &'a Source,
    pub(crate) tensors: &'a Arena<TensorVar, TensorData>,
}

/// The narrower type that holds all values of both, as far as floats do.
pub(crate) fn promote(a: ElementType, b: ElementType) -> ElementType {
    let (narrow, wide) = (a.min(b), a.max(b));
    if narrow.is_integer() && wide == ElementType::F32 {
        ElementType::F64
    } else {
        wide
    }
}

impl Typer<'_> {
    /// An expression that is typed already.
    pub(crate) fn expr(&self, expr: Expr, span: Span) -> Typed {
        Typed {
            element: expr.element(self.tensors),
            weak: false,
            expr,
            span,
        }
    }

    /// A number that is written down.
    pub(crate) fn number(&self, number: Number, span: Span) -> Typed {
        let (value, weak) = match number {
            Number::Bool(value) => (Scalar::Bool(value), false),
            Number::Integer(value) => (Scalar::I64(value), true),
            Number::Float(value) => (Scalar::F64(value), true),
        };
        literal(value, weak, span)
    }

    /// An expression without reductions; `access` says what its accesses are.
    ///
    /// # Errors
    /// Those of [`apply`](Self::apply), [`cast`](Self::cast) and `access`;
    /// `E0101` for a reduction.
    pub(crate) fn node(
        &self,
        node: &Node,
        access: &dyn Fn(&TensorUse) -> Result<Access>,
    ) -> Result<Typed> {
        match &node.kind {
            NodeKind::Number(number) => Ok(self.number(*number, node.span)),
            NodeKind::Access(tensor) => Ok(self.expr(Expr::Access(access(tensor)?), node.span)),
            NodeKind::Apply { op, op_span, args } => {
                let args = args.iter().map(|arg| self.node(arg, access));
                let args: Result<Vec<Typed>> = args.collect();
                self.apply(*op, op_span.0, args?, node.span)
            }
            NodeKind::Cast(element, body) => {
                let body = self.node(body, access)?;
                self.cast(*element, body)
            }
            NodeKind::Reduce { .. } => {
                let message = "an expression of concrete notation has no reductions";
                let error = Diagnostic::new(code::UNEXPECTED_TOKEN, message);
                Err(error.at(self.source, node.span, "written with loops and an operator"))
            }
        }
    }

    /// An operator applied to its arguments.
    ///
    /// # Errors
    /// `E0208` for a type that it does not take, `E0219` and `E0222` for
    /// numbers.
    pub(crate) fn apply(
        &self,
        op: Operator,
        op_span: Span,
        mut args: Vec<Typed>,
        span: Span,
    ) -> Result<Typed> {
        let mut condition = None;
        if op == Operator::Select {
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
        if !op.takes(common) && op.takes(ElementType::F64) && !op.takes(ElementType::I64) {
            common = ElementType::F64;
        }
        if !op.takes(common) {
            return Err(self.not_of_bool(op, op_span, &args));
        }
        let weak = args.iter().all(|arg| arg.weak) && !op.is_comparison();
        let mut converted = Vec::with_capacity(op.arity());
        converted.extend(condition.map(|condition| condition.expr));
        for arg in args {
            converted.push(self.convert(arg, common)?.expr);
        }
        let literals: Option<Vec<Scalar>> = converted.iter().map(Expr::literal).collect();
        if let Some(values) = literals {
            let Some(value) = op.evaluate_unstored(&values) else {
                let error = Diagnostic::new(code::CONSTANT_ERROR, "an integer is divided by zero");
                return Err(error.at(self.source, span, "the same for all data"));
            };
            return Ok(literal(value, weak, span));
        }
        Ok(Typed {
            expr: Expr::Apply {
                op,
                args: converted,
            },
            element: op.result_type(common),
            weak: false,
            span,
        })
    }

    /// `op` reduced over `vars`; none where it is the operator of an
    /// assignment alone.
    ///
    /// # Errors
    /// `E0208`.
    pub(crate) fn reduce(
        &self,
        op: Operator,
        op_span: Span,
        vars: Vec<IndexVar>,
        body: Typed,
    ) -> Result<Typed> {
        if op.is_logical() {
            self.expect_bool(op, op_span, &body)?;
        }
        if vars.is_empty() {
            return Ok(body);
        }
        let span = body.span;
        let narrow = matches!(body.element, ElementType::Bool | ElementType::I32);
        let accumulator = match op {
            Operator::Add | Operator::Mul if narrow => ElementType::I64,
            _ => body.element,
        };
        let body = self.convert(body, accumulator)?;
        Ok(Typed {
            expr: Expr::Reduce {
                op,
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
    /// `E0222` for a constant that the type does not hold.
    pub(crate) fn cast(&self, element: ElementType, value: Typed) -> Result<Typed> {
        let span = value.span;
        if let Some(constant) = value.expr.literal() {
            let Some(converted) = constant.cast(element) else {
                let message = format!("`{constant}` cannot be converted to {element}");
                return Err(Diagnostic::new(code::CONSTANT_ERROR, message).at(
                    self.source,
                    span,
                    format!("no {element} is near it"),
                ));
            };
            return Ok(literal(converted, false, span));
        }
        if value.element == element {
            return Ok(value);
        }
        Ok(Typed {
            expr: Expr::Cast(element, Box::new(value.expr)),
            element,
            weak: false,
            span,
        })
    }

    /// A conversion that an operator asks for; numbers have to fit.
    ///
    /// # Errors
    /// `E0219`.
    pub(crate) fn convert(&self, value: Typed, element: ElementType) -> Result<Typed> {
        if let (true, Expr::Literal(Scalar::I64(number))) = (value.weak, &value.expr)
            && element == ElementType::I32
            && i32::try_from(*number).is_err()
        {
            let message = format!("`{number}` is not an {element}");
            return Err(Diagnostic::new(code::LITERAL_RANGE, message)
                .at(
                    self.source,
                    value.span,
                    format!("stands beside an {element}"),
                )
                .help("convert the other side: `i64(…)`"));
        }
        self.cast(element, value)
    }

    fn expect_bool(&self, op: Operator, op_span: Span, arg: &Typed) -> Result<()> {
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

    fn not_of_bool(&self, op: Operator, op_span: Span, args: &[Typed]) -> Diagnostic {
        let symbol = op.symbol();
        let call = op.style() == Style::Call;
        let text = if call {
            format!("`{symbol}`")
        } else {
            format!("operator `{symbol}`")
        };
        let mut error = Diagnostic::new(
            code::TYPE_MISMATCH,
            format!("{text} is not for truth values"),
        )
        .at(self.source, op_span, "takes numbers");
        for arg in args {
            error = error.also(self.source, arg.span, "this is bool");
        }
        match args.first() {
            Some(arg) => error.help(format!(
                "convert it: `i32({})`",
                self.source.slice(arg.span)
            )),
            None => error,
        }
    }
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
    let weak = args
        .iter()
        .filter(|arg| arg.weak)
        .map(|arg| arg.element)
        .max();
    match (strong.reduce(promote), weak) {
        (Some(strong), None) => strong,
        (None, Some(weak)) => weak,
        (Some(strong), Some(ElementType::F64)) if !strong.is_float() => ElementType::F64,
        (Some(ElementType::Bool), Some(_)) => ElementType::I64,
        (Some(strong), Some(_)) => strong,
        (None, None) => unreachable!("every operator has an argument"),
    }
}
