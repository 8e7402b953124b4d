//! Diagnostics of a program that is built: the places are in the text of the expressions
//! that are at hand, which is printed only then.

use std::cell::RefCell;
use std::fmt::{self, Write};

use sparsec_base::{Diagnostic, Result, Source, Span};

use super::{ProgramBuilder, Value, none};
use crate::expr::Expr;
use crate::operator::Operator;
use crate::typing::{Typed, Typer};

impl ProgramBuilder {
    /// A diagnostic about an expression, with the expression as its place.
    pub(super) fn about(&self, error: Diagnostic, expr: &Expr) -> Diagnostic {
        let source = Source::new("program", self.names().expr(expr));
        let whole = Span::new(0, source.text().len());
        error.or_at(&source, whole, "in this expression")
    }

    /// What is typed of one value; an error has its place in the value's text.
    pub(super) fn shown(
        &self,
        value: Value,
        typed: &dyn Fn(&Typer<'_>, Typed) -> Result<Typed>,
    ) -> Result<Value> {
        let none = none();
        typed(&self.typer(&none), value.0.clone())
            .map(Value)
            .or_else(|_| {
                let source = Source::new("program", self.names().expr(&value.0.expr));
                let span = Span::new(0, source.text().len());
                let value = Typed { span, ..value.0 };
                typed(&self.typer(&source), value).map(Value)
            })
    }

    /// An operator applied to its arguments; an error has its places in the text of both.
    pub(super) fn explained(&self, op: &Operator, args: Vec<Typed>) -> Result<Value> {
        let (nothing, none) = (Span::default(), none());
        let made = self.typer(&none).apply(op, nothing, args.clone(), nothing);
        made.map(Value).or_else(|_| {
            let text = RefCell::new(String::new());
            let spans = RefCell::new(vec![nothing; args.len()]);
            let mut write = |out: &mut dyn Write, at: usize, least: u8| {
                let start = text.borrow().len();
                self.names().write(out, &args[at].expr, least)?;
                spans.borrow_mut()[at] = Span::new(start, text.borrow().len());
                Ok(())
            };
            // Writing to a string cannot fail.
            let _ = op.write_applied(&mut Shared(&text), args.len(), false, &mut write);
            let (source, spans) = (Source::new("program", text.take()), spans.take());
            let placed = std::iter::zip(&args, &spans);
            let placed = placed.map(|(arg, span)| Typed {
                span: *span,
                ..arg.clone()
            });
            let whole = Span::new(0, source.text().len());
            let symbol = source.text().find(op.symbol()).unwrap_or(0);
            let op_span = Span::new(symbol, symbol + op.symbol().len());
            let typer = self.typer(&source);
            typer.apply(op, op_span, placed.collect(), whole).map(Value)
        })
    }
}

/// A text that is written to, and read from meanwhile.
struct Shared<'a>(&'a RefCell<String>);

impl Write for Shared<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.borrow_mut().push_str(text);
        Ok(())
    }
}
