//! Statements in which some operands are known not to be stored.
//!
//! Their accesses become the literal fill and the statement is simplified: an
//! assignment that leaves its left side as it is disappears, a temporary that
//! nothing is added to is the operator's identity, a loop around nothing is
//! nothing.

use std::collections::BTreeMap;

use sparsec_base::Scalar;
use sparsec_index::concrete::Stmt;
use sparsec_index::{Access, Concrete, Expr, Operator, TensorRole, TensorVar};

/// `stmt` with every access that `is_absent` replaced by its fill; `None` if
/// nothing is left to do. Assignments to tensors that are `unfilled`, which hold
/// nothing yet, are never idle.
pub(crate) fn without(
    concrete: &Concrete,
    stmt: &Stmt,
    is_absent: &dyn Fn(&Access) -> bool,
    unfilled: &[TensorVar],
) -> Option<Stmt> {
    let replaced = replace(concrete, stmt, &mut |access| {
        is_absent(access).then(|| Expr::Literal(concrete.tensors[access.tensor].fill))
    });
    simplify(concrete, replaced, unfilled)
}

fn replace(
    concrete: &Concrete,
    stmt: &Stmt,
    with: &mut dyn FnMut(&Access) -> Option<Expr>,
) -> Stmt {
    match stmt {
        Stmt::Assign { lhs, reduce, rhs } => Stmt::Assign {
            lhs: lhs.clone(),
            reduce: reduce.clone(),
            rhs: decided(concrete, rhs.map_accesses(with)),
        },
        Stmt::Forall { var, body } => Stmt::Forall {
            var: *var,
            body: Box::new(replace(concrete, body, with)),
        },
        Stmt::Where { consumer, producer } => Stmt::Where {
            consumer: Box::new(replace(concrete, consumer, with)),
            producer: Box::new(replace(concrete, producer, with)),
        },
        Stmt::Sequence(stmts) => Stmt::Sequence(
            stmts
                .iter()
                .map(|stmt| replace(concrete, stmt, with))
                .collect(),
        ),
    }
}

/// An expression of which literals decide what they can, whatever is stored beside them.
pub(crate) fn decided(concrete: &Concrete, expr: Expr) -> Expr {
    spelled_out(concrete, expr).simplify_with(&|part| part.fill(&concrete.tensors, &concrete.vars))
}

/// An expression whose calls of functions of the user, where a literal is an
/// argument, are their bodies: what is not stored may decide a part of a body.
fn spelled_out(concrete: &Concrete, expr: Expr) -> Expr {
    match expr {
        Expr::Literal(_) | Expr::Access(_) | Expr::Index(_) => expr,
        Expr::Cast(element, body) => Expr::Cast(element, Box::new(spelled_out(concrete, *body))),
        Expr::Reduce { op, vars, body } => Expr::Reduce {
            op,
            vars,
            body: Box::new(spelled_out(concrete, *body)),
        },
        Expr::Apply { op, args } => {
            let args = args.into_iter().map(|arg| spelled_out(concrete, arg));
            let args: Vec<Expr> = args.map(|arg| arg.simplify()).collect();
            let is_literal = |arg: &Expr| arg.literal().is_some();
            match &op {
                Operator::Defined(function) if args.iter().any(is_literal) => {
                    let whole = Expr::Apply {
                        op: op.clone(),
                        args: args.clone(),
                    };
                    match whole.simplify() {
                        // Its declared properties decide it.
                        decided @ Expr::Literal(_) => decided,
                        _ => spelled_out(concrete, function.expand(&args, &concrete.tensors)),
                    }
                }
                _ => Expr::Apply { op, args },
            }
        }
    }
}

fn simplify(concrete: &Concrete, stmt: Stmt, unfilled: &[TensorVar]) -> Option<Stmt> {
    match stmt {
        Stmt::Assign { lhs, reduce, rhs } => {
            let data = &concrete.tensors[lhs.tensor];
            let unchanged = match &reduce {
                Some(op) => op.identity(data.element),
                None if data.role == TensorRole::Workspace => None,
                None if unfilled.contains(&lhs.tensor) => None,
                None => Some(data.fill),
            };
            let idle = matches!(rhs, Expr::Literal(value) if Some(value) == unchanged);
            (!idle).then_some(Stmt::Assign { lhs, reduce, rhs })
        }
        Stmt::Forall { var, body } => {
            simplify(concrete, *body, unfilled).map(|body| Stmt::Forall {
                var,
                body: Box::new(body),
            })
        }
        Stmt::Where { consumer, producer } => {
            let idle = identities(concrete, &producer);
            if let Some(producer) = simplify(concrete, *producer, unfilled) {
                return simplify(concrete, *consumer, unfilled).map(|consumer| Stmt::Where {
                    consumer: Box::new(consumer),
                    producer: Box::new(producer),
                });
            }
            let consumer = replace(concrete, &consumer, &mut |access| {
                idle.get(&access.tensor).map(|value| Expr::Literal(*value))
            });
            simplify(concrete, consumer, unfilled)
        }
        Stmt::Sequence(stmts) => {
            let left: Vec<Stmt> = stmts
                .into_iter()
                .filter_map(|stmt| simplify(concrete, stmt, unfilled))
                .collect();
            // One that is left is still a nest, with variables of its own.
            (!left.is_empty()).then_some(Stmt::Sequence(left))
        }
    }
}

/// What each temporary of a producer holds if nothing is added to it.
fn identities(concrete: &Concrete, producer: &Stmt) -> BTreeMap<TensorVar, Scalar> {
    let mut values = BTreeMap::new();
    producer.for_each_assign(&mut |lhs, reduce, _| {
        let data = &concrete.tensors[lhs.tensor];
        let value = reduce.and_then(|op| op.identity(data.element));
        values.insert(lhs.tensor, value.unwrap_or(data.fill));
    });
    values
}
