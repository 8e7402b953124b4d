//! The body of a function for arguments of certain types.
//!
//! A typed body is an expression over tensors of order 0, one a parameter, in
//! their order. So what is known of expressions holds of bodies: a call is
//! expanded by putting the arguments in place of those accesses.
//!
//! A chain of definitions may double at every link:
//!
//! ```text
//! def f1(x) = x + x        def f2(x) = f1(x) + f1(x)        def f3(x) = f2(x) + f2(x)
//! ```
//!
//! So each function keeps its bodies, which are typed once for each list of types, and
//! the [`Size`] of an expansion is counted before it is built.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use sparsec_base::arena::Id;
use sparsec_base::{ElementType, Result, Scalar};

use super::UserFunction;
use crate::expr::{Access, Expr};
use crate::operator::Operator;
use crate::program::{TensorData, TensorRole, Tensors};
use crate::typing::Typer;

/// A body for arguments of certain types, the bodies of functions that it calls
/// in place of the calls.
#[derive(Clone, Debug)]
pub struct Body {
    /// The parameters, as tensors of order 0 in their order.
    pub parameters: Tensors,
    /// The value.
    pub expr: Expr,
    /// How large a call of it is, expanded.
    pub size: Size,
}

/// The bodies of a function, by the types of the arguments.
pub(super) type Bodies = Mutex<BTreeMap<Vec<ElementType>, Arc<Body>>>;

/// How large an expression is once calls of functions are expanded, where its
/// leaves may be parameters that stand for larger expressions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// How many parts it has, parameters left out; `u64::MAX` is as many or more.
    parts: u64,
    /// How many parts lie inside one another, parameters left out.
    depth: u64,
    /// For each parameter how often it occurs, and inside how many parts at most.
    uses: Vec<(u64, u64)>,
}

impl Size {
    /// The size of an expression over `tensors`, of which the first `n_parameters`
    /// are parameters.
    fn of(expr: &Expr, tensors: &Tensors, n_parameters: usize) -> Self {
        let of = |expr: &Expr| Self::of(expr, tensors, n_parameters);
        let mut size = Self {
            uses: vec![(0, 0); n_parameters],
            ..Self::default()
        };
        match expr {
            Expr::Access(access) if access.tensor.index() < n_parameters => {
                size.uses[access.tensor.index()].0 = 1;
                return size;
            }
            Expr::Apply {
                op: Operator::Defined(function),
                args,
            } => {
                let types: Vec<ElementType> = args.iter().map(|arg| arg.element(tensors)).collect();
                let body = function.body(&types).expect("calls are typed");
                let args: Vec<Self> = args.iter().map(of).collect();
                return body.size.with(&args, n_parameters);
            }
            Expr::Apply { args, .. } => args.iter().for_each(|arg| size.add(&of(arg), 1, 1)),
            Expr::Cast(_, body) | Expr::Reduce { body, .. } => size.add(&of(body), 1, 1),
            _ => {}
        }
        size.parts = size.parts.saturating_add(1);
        size.depth = size.depth.max(1);
        size
    }

    /// The size with arguments in place of the parameters; the arguments use
    /// `n_parameters` parameters themselves.
    fn with(&self, args: &[Self], n_parameters: usize) -> Self {
        let mut size = Self {
            parts: self.parts,
            depth: self.depth,
            uses: vec![(0, 0); n_parameters],
        };
        for (arg, (times, depth)) in std::iter::zip(args, &self.uses) {
            size.add(arg, *times, *depth);
        }
        size
    }

    /// Adds a part that occurs `times` times, inside at most `depth` parts.
    fn add(&mut self, other: &Self, times: u64, depth: u64) {
        if times == 0 {
            return;
        }
        self.parts = self.parts.saturating_add(other.parts.saturating_mul(times));
        self.depth = self.depth.max(other.depth.saturating_add(depth));
        for (known, (n, below)) in std::iter::zip(&mut self.uses, &other.uses) {
            known.0 = known.0.saturating_add(n.saturating_mul(times));
            known.1 = known.1.max(below.saturating_add(depth));
        }
    }

    /// How many parts there are, and how many lie inside one another, with each
    /// parameter one of them.
    fn whole(&self) -> (u64, u64) {
        let uses = self.uses.iter().filter(|(times, _)| *times > 0);
        uses.fold(
            (self.parts, self.depth),
            |(parts, depth), (times, below)| (parts.saturating_add(*times), depth.max(below + 1)),
        )
    }

    /// How many parts an expression has, and how many of them lie inside one another.
    pub fn of_whole(expr: &Expr, tensors: &Tensors) -> (u64, u64) {
        Self::of(expr, tensors, 0).whole()
    }

    /// How many parts a call with these arguments has, and how many of them lie
    /// inside one another.
    pub(crate) fn of_call(&self, args: &[Expr], tensors: &Tensors) -> (u64, u64) {
        let args: Vec<Self> = args.iter().map(|arg| Self::of(arg, tensors, 0)).collect();
        self.with(&args, 0).whole()
    }
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
fn scalars(function: &UserFunction, types: &[ElementType]) -> Tensors {
    let mut tensors = Tensors::new();
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
fn flat(expr: &Expr, tensors: &Tensors) -> Expr {
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
    /// The body for arguments of these types, typed when it is first asked for.
    ///
    /// # Errors
    /// * The `E02` code of an operator that does not take such arguments;
    /// * `E0220` for a call in the body that is too large.
    pub fn body(&self, types: &[ElementType]) -> Result<Arc<Body>> {
        let bodies = || self.bodies.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(body) = bodies().get(types) {
            return Ok(body.clone());
        }
        let body = Arc::new(self.typed(types)?);
        bodies().insert(types.to_vec(), body.clone());
        Ok(body)
    }

    fn typed(&self, types: &[ElementType]) -> Result<Body> {
        let parameters = scalars(self, types);
        let definition = self.definition();
        let expr = definition.body.typed(&parameters)?;
        let size = Size::of(&expr, &parameters, types.len());
        let typer = Typer {
            source: &definition.source,
            tensors: &parameters,
        };
        typer.check_size(size.whole(), definition.span)?;
        let expr = flat(&expr, &parameters).simplify();
        Ok(Body {
            parameters,
            expr,
            size,
        })
    }

    /// The call with these arguments, over these tensors, as its body says it.
    ///
    /// # Panics
    /// If the body does not take arguments of these types; programs that are
    /// resolved have no such calls.
    #[must_use]
    pub fn expand(&self, args: &[Expr], tensors: &Tensors) -> Expr {
        let types: Vec<ElementType> = args.iter().map(|arg| arg.element(tensors)).collect();
        let body = self.body(&types).expect("calls are typed");
        body.with(args).simplify()
    }

    /// The body with arguments that are literals in place of their parameters. Accesses read the
    /// other parameters, by their numbers.
    ///
    /// # Panics
    /// As [`expand`](Self::expand).
    pub(crate) fn with_literals(&self, args: &[Expr], tensors: &Tensors) -> Expr {
        let types: Vec<ElementType> = args.iter().map(|arg| arg.element(tensors)).collect();
        let body = self.body(&types).expect("calls are typed");
        let literal = |access: &Access| {
            let arg = &args[access.tensor.index()];
            arg.literal().map(Expr::Literal)
        };
        body.expr.map_accesses(&mut { literal }).simplify()
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
