//! `precompute` of some factors of a product that is reduced: the others are
//! taken out of the loops.
//!
//! ```text
//! forall i: forall j: forall k:           forall i: forall j: where(
//!   A(i,j) += B(i,j) * C(i,k) * D(j,k)      A(i,j) = B(i,j) * t,
//!                                           forall k: t += C(i,k) * D(j,k))
//!
//!   precompute(C(i,k) * D(j,k), {}, t)
//! ```
//!
//! That is the same where the product distributes over the reduction
//! ([`Operator::distributes_over`]) and what is taken out has one value for all
//! that a workspace entry collects.

use std::collections::BTreeSet;

use sparsec_index::{Concrete, Expr, IndexVar, Operator, Stmt, TensorVar};
use sparsec_notation::{Node, NodeKind};

use super::Rewrite;

use super::super::expression::matches;

/// A product that is reduced, in two parts.
#[derive(Clone, Debug)]
pub struct Factors {
    /// What multiplies.
    pub op: Operator,
    /// What depends on the loops that reduce.
    pub inside: Vec<Expr>,
    /// What does not.
    pub outside: Vec<Expr>,
}

impl Factors {
    /// Some factors as one expression.
    ///
    /// # Panics
    /// If there are none.
    pub fn product(&self, factors: &[Expr]) -> Expr {
        let product = factors.iter().cloned().reduce(|left, right| Expr::Apply {
            op: self.op.clone(),
            args: vec![left, right],
        });
        product.expect("a product has a factor")
    }
}

/// The product `rhs` with the factors that use no other variables than `bound`
/// apart, where `reduce` lets them be multiplied later: `None` if there are none.
pub fn factors(
    concrete: &Concrete,
    reduce: &Operator,
    rhs: &Expr,
    bound: &[IndexVar],
) -> Option<Factors> {
    let (op, all) = product(concrete, reduce, rhs)?;
    let is_bound = |factor: &Expr| factor.vars().iter().all(|var| bound.contains(var));
    let (outside, inside): (Vec<&Expr>, Vec<&Expr>) = all.iter().partition(|it| is_bound(it));
    let is_divided = !outside.is_empty() && !inside.is_empty();
    is_divided.then(|| Factors {
        op,
        inside: inside.into_iter().cloned().collect(),
        outside: outside.into_iter().cloned().collect(),
    })
}

/// The factors of a product that may be multiplied in any order, and after what
/// `reduce` does as well as before it, with what multiplies them.
pub fn product(
    concrete: &Concrete,
    reduce: &Operator,
    rhs: &Expr,
) -> Option<(Operator, Vec<Expr>)> {
    let Expr::Apply { op, .. } = rhs else {
        return None;
    };
    let element = rhs.element(&concrete.tensors);
    if !op.distributes_over(reduce, element) {
        return None;
    }
    let mut found = Vec::new();
    flatten(op, rhs, &mut found);
    Some((op.clone(), found.into_iter().cloned().collect()))
}

fn flatten<'e>(op: &Operator, expr: &'e Expr, found: &mut Vec<&'e Expr>) {
    match expr {
        Expr::Apply { op: known, args } if known == op => {
            args.iter().for_each(|arg| flatten(op, arg, found));
        }
        _ => found.push(expr),
    }
}

fn flatten_node<'n>(op: &Operator, node: &'n Node, found: &mut Vec<&'n Node>) {
    match &node.kind {
        NodeKind::Apply {
            op: known, args, ..
        } if known == op => args.iter().for_each(|arg| flatten_node(op, arg, found)),
        _ => found.push(node),
    }
}

impl Rewrite<'_> {
    /// The product that an assignment reduces, if the expression is some of its
    /// factors.
    pub(super) fn some_factors(&self, reduce: &Operator, rhs: &Expr) -> Option<Factors> {
        let (op, all) = product(&self.concrete, reduce, rhs)?;
        let mut wanted = Vec::new();
        flatten_node(&op, self.expr, &mut wanted);
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        for factor in all {
            let at = wanted
                .iter()
                .position(|node| matches(node, &factor, &self.concrete));
            match at {
                Some(at) => {
                    wanted.remove(at);
                    inside.push(factor);
                }
                None => outside.push(factor),
            }
        }
        let is_divided = wanted.is_empty() && !inside.is_empty() && !outside.is_empty();
        is_divided.then_some(Factors {
            op,
            inside,
            outside,
        })
    }

    /// Whether factors can be read behind the loops of `inner`: they use variables
    /// that are bound there, and no temporary that is made inside.
    pub(super) fn may_leave(&self, factors: &[Expr], bound: &[IndexVar], inner: &Stmt) -> bool {
        let mut made: BTreeSet<TensorVar> = BTreeSet::new();
        inner.for_each(&mut |stmt| {
            if let Stmt::Where { producer, .. } = stmt {
                made.extend(producer.temporaries());
            }
        });
        let mut accesses = factors.iter().flat_map(Expr::accesses);
        let mut vars = factors.iter().flat_map(Expr::vars);
        accesses.all(|access| !made.contains(&access.tensor))
            && vars.all(|var| bound.contains(&var))
    }
}
