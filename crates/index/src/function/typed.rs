//! The body of a function for arguments of certain types.
//!
//! A typed body is an expression over tensors of order 0, one a parameter, in
//! their order. So what is known of expressions holds of bodies: a call is
//! expanded by putting the arguments in place of those accesses.

use sparsec_base::arena::Id;
use sparsec_base::{Arena, ElementType, Result, Scalar};

use super::UserFunction;
use crate::expr::{Access, Expr};
use crate::notation::NodeKind;
use crate::operator::Operator;
use crate::program::{TensorData, TensorRole, TensorVar};
use crate::resolve::{Typed, Typer};

/// A body for arguments of certain types, the bodies of functions that it calls
/// in place of the calls.
#[derive(Clone, Debug)]
pub struct Body {
    /// The parameters, as tensors of order 0 in their order.
    pub parameters: Arena<TensorVar, TensorData>,
    /// The value.
    pub expr: Expr,
}

impl Body {
    /// The type of the value.
    pub fn element(&self) -> ElementType {
        self.expr.element(&self.parameters)
    }

    /// The value for these arguments, of which only what decides is evaluated;
    /// `None` where a kernel leaves with an error.
    pub(crate) fn evaluate(&self, args: &[Scalar], stored: bool) -> Option<Scalar> {
        evaluate(&self.expr, args, stored)
    }

    /// The value with expressions in place of the parameters.
    #[must_use]
    pub fn with(&self, args: &[Expr]) -> Expr {
        self.expr
            .map_accesses(&mut |access| Some(args[access.tensor.index()].clone()))
    }
}

/// The parameters as scalars of these types.
fn scalars(function: &UserFunction, types: &[ElementType]) -> Arena<TensorVar, TensorData> {
    let mut tensors = Arena::new();
    for (parameter, element) in function.definition().parameters.iter().zip(types) {
        tensors.push(TensorData {
            name: parameter.name.clone(),
            earlier_of: None,
            element: *element,
            extents: Vec::new(),
            fill: element.zero(),
            role: TensorRole::Input,
            span: function.definition().span,
            levels_of: None,
        });
    }
    tensors
}

/// The expression without calls of functions of the user.
fn flat(expr: &Expr, tensors: &Arena<TensorVar, TensorData>) -> Expr {
    expr.map_parts(&mut |part| match part {
        Expr::Apply {
            op: Operator::Defined(function),
            args,
        } => {
            let args: Vec<Expr> = args.iter().map(|arg| flat(arg, tensors)).collect();
            Some(function.expand(&args, tensors))
        }
        _ => None,
    })
}

impl UserFunction {
    /// The body for arguments of these types.
    ///
    /// # Errors
    /// The `E02` code of an operator that does not take such arguments.
    pub fn body(&self, types: &[ElementType]) -> Result<Body> {
        let parameters = scalars(self, types);
        let definition = self.definition();
        let typer = Typer {
            source: &definition.source,
            tensors: &parameters,
        };
        let Typed { expr, .. } = typer.node(&definition.body, &|leaf| {
            let NodeKind::Access(parameter) = leaf else {
                unreachable!("a body has no index variables");
            };
            let found = parameters.find(|known| known.name == parameter.name.text);
            Ok(Expr::Access(Access {
                tensor: found.expect("a body has only parameters"),
                indices: Vec::new(),
                span: parameter.span,
            }))
        })?;
        let expr = flat(&expr, &parameters).simplify();
        Ok(Body { parameters, expr })
    }

    /// The call with these arguments, over these tensors, as its body says it.
    ///
    /// # Panics
    /// If the body does not take arguments of these types; programs that are
    /// resolved have no such calls.
    #[must_use]
    pub fn expand(&self, args: &[Expr], tensors: &Arena<TensorVar, TensorData>) -> Expr {
        let types: Vec<ElementType> = args.iter().map(|arg| arg.element(tensors)).collect();
        let body = self.body(&types).expect("calls are typed");
        body.with(args).simplify()
    }

    /// The value for these arguments, of which only what decides is evaluated;
    /// `None` where a kernel leaves with an error.
    ///
    /// # Panics
    /// As [`expand`](Self::expand).
    pub(crate) fn evaluate(&self, args: &[Scalar], stored: bool) -> Option<Scalar> {
        let types: Vec<ElementType> = args.iter().map(|arg| arg.element()).collect();
        let body = self.body(&types).expect("calls are typed");
        body.evaluate(args, stored)
    }
}

fn evaluate(expr: &Expr, values: &[Scalar], stored: bool) -> Option<Scalar> {
    match expr {
        Expr::Literal(value) => Some(*value),
        Expr::Access(access) => Some(values[access.tensor.index()]),
        Expr::Cast(element, body) => evaluate(body, values, stored)?.cast(*element),
        Expr::Apply { op, args } => {
            let first = evaluate(&args[0], values, stored)?;
            let decided = first.element() == ElementType::Bool
                && args.len() == 2
                && op.annihilator(0, ElementType::Bool) == Some(first);
            match (op, first) {
                _ if decided => Some(first),
                (Operator::Select, Scalar::Bool(true)) => evaluate(&args[1], values, stored),
                (Operator::Select, _) => evaluate(&args[2], values, stored),
                _ => {
                    let rest = args[1..].iter().map(|arg| evaluate(arg, values, stored));
                    let all: Option<Vec<Scalar>> =
                        std::iter::once(Some(first)).chain(rest).collect();
                    match stored {
                        true => op.evaluate(&all?),
                        false => op.evaluate_unstored(&all?),
                    }
                }
            }
        }
        _ => unreachable!("a body has no index variables"),
    }
}
