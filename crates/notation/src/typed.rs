//! Expressions as they are written, with the types that the language gives them.

use sparsec_base::{Diagnostic, Result, code};
use sparsec_index::Expr;
use sparsec_index::typing::{Typed, Typer};

use crate::syntax::{Node, NodeKind};

/// An expression without reductions; `leaf` says what accesses and indices in
/// it are.
///
/// # Errors
/// Those of [`Typer::apply`], [`Typer::cast`] and `leaf`; `E0101` for a reduction.
pub fn typed(
    typer: &Typer<'_>,
    node: &Node,
    leaf: &dyn Fn(&NodeKind) -> Result<Expr>,
) -> Result<Typed> {
    match &node.kind {
        NodeKind::Number(number) => Ok(typer.number(number.value(), node.span)),
        NodeKind::Access(_) | NodeKind::Index(_) => Ok(typer.expr(leaf(&node.kind)?, node.span)),
        NodeKind::Apply { op, op_span, args } => {
            let args = args.iter().map(|arg| typed(typer, arg, leaf));
            let args: Result<Vec<Typed>> = args.collect();
            typer.apply(op, op_span.0, args?, node.span)
        }
        NodeKind::Cast(element, body) => {
            let body = typed(typer, body, leaf)?;
            let span = body.span;
            match body.expr.literal() {
                // What constants make of each other is found out when it is computed.
                Some(value) if !value.element().is_complex() && value.cast(*element).is_none() => {
                    Ok(typer.expr(Expr::Cast(*element, Box::new(body.expr)), span))
                }
                _ => typer.cast(*element, body),
            }
        }
        NodeKind::Reduce { .. } => {
            let message = "an expression of concrete notation has no reductions";
            let error = Diagnostic::new(code::UNEXPECTED_TOKEN, message);
            Err(error.at(
                typer.source,
                node.span,
                "written with loops and an operator",
            ))
        }
    }
}
