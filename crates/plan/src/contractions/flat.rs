//! Sums inside of a product, as one product.
//!
//! ```text
//! t = A(i,j) * sum{k}(B(i,k) * C(k,j))      ─►      t = A(i,j) * B(i,k) * C(k,j)
//! ```
//!
//! A network of all factors has the plan of the sum as it is written among its own: the sum is
//! contracted apart.

use sparsec_index::{Expr, IndexVar, Operator, Program};

/// A product with sums of products among its factors as one product, where that is a network:
/// `A(i,j) * sum{k}(B(i,k) * C(k,j))` as `sum{k}(A(i,j) * B(i,k) * C(k,j))`, or with the factors
/// of each sum in parentheses, if these are kept.
pub(crate) fn flattened(rhs: &Expr, program: &Program, keeps_tree: bool) -> Option<Expr> {
    let (reduce, vars, body) = match rhs {
        Expr::Reduce { op, vars, body } => (Some(op), vars.clone(), &**body),
        _ => (None, Vec::new(), rhs),
    };
    let Expr::Apply { op, .. } = body else {
        return None;
    };
    let n_outer = vars.len();
    let mut sums = Sums { op, reduce, vars };
    let product = sums.without(body)?;
    let Sums { reduce, vars, .. } = sums;
    let reduce = reduce?;
    if vars.len() == n_outer || !op.distributes_over(reduce, body.element(&program.tensors)) {
        return None;
    }
    let product = match keeps_tree {
        true => product,
        false => {
            let mut factors = Vec::new();
            flatten(op, product, &mut factors);
            let factors = factors.into_iter();
            factors.reduce(|left, right| applied(op, vec![left, right]))?
        }
    };
    Some(Expr::Reduce {
        op: reduce.clone(),
        vars,
        body: Box::new(product),
    })
}

/// The sums in a product.
struct Sums<'e> {
    /// What multiplies.
    op: &'e Operator,
    /// What sums.
    reduce: Option<&'e Operator>,
    vars: Vec<IndexVar>,
}

impl<'e> Sums<'e> {
    /// A product without the sums in it, whose variables are taken in; `None` if they are
    /// summed otherwise than those before.
    fn without(&mut self, expr: &'e Expr) -> Option<Expr> {
        match expr {
            Expr::Apply { op, args } if op == self.op => {
                let args = args.iter().map(|arg| self.without(arg));
                Some(applied(op, args.collect::<Option<_>>()?))
            }
            Expr::Reduce { op, vars, body } => {
                if *self.reduce.get_or_insert(op) != op {
                    return None;
                }
                self.vars.extend(vars);
                self.without(body)
            }
            _ => Some(expr.clone()),
        }
    }
}

fn flatten(of: &Operator, expr: Expr, factors: &mut Vec<Expr>) {
    match expr {
        Expr::Apply { op, args } if op == *of => {
            args.into_iter().for_each(|arg| flatten(of, arg, factors));
        }
        _ => factors.push(expr),
    }
}

fn applied(op: &Operator, args: Vec<Expr>) -> Expr {
    Expr::Apply {
        op: op.clone(),
        args,
    }
}
