//! Sums inside of a product, as one product.
//!
//! ```text
//! t = A(i,j) * sum{k}(B(i,k) * C(k,j))      ─►      t = A(i,j) * B(i,k) * C(k,j)
//! ```
//!
//! A network of all factors has the plan of the sum as it is written among its own: the sum is
//! contracted apart.

use sparsec_index::{Expr, Program};

/// A product with sums of products among its factors as one product, where that is a network:
/// `A(i,j) * sum{k}(B(i,k) * C(k,j))` as `sum{k}(A(i,j) * B(i,k) * C(k,j))`.
pub(crate) fn flattened(rhs: &Expr, program: &Program) -> Option<Expr> {
    let (mut reduce, mut vars, body) = match rhs {
        Expr::Reduce { op, vars, body } => (Some(op), vars.clone(), &**body),
        _ => (None, Vec::new(), rhs),
    };
    let Expr::Apply { op, .. } = body else {
        return None;
    };
    let n_outer = vars.len();
    let (mut open, mut factors) = (vec![body], Vec::new());
    while let Some(expr) = open.pop() {
        match expr {
            Expr::Apply { op: known, args } if known == op => open.extend(args.iter().rev()),
            Expr::Reduce {
                op: known,
                vars: own,
                body,
            } => {
                if *reduce.get_or_insert(known) != known {
                    return None;
                }
                vars.extend(own);
                open.push(body);
            }
            _ => factors.push(expr.clone()),
        }
    }
    let reduce = reduce?;
    if vars.len() == n_outer || !op.distributes_over(reduce, body.element(&program.tensors)) {
        return None;
    }
    let product = factors.into_iter().reduce(|left, right| Expr::Apply {
        op: op.clone(),
        args: vec![left, right],
    });
    Some(Expr::Reduce {
        op: reduce.clone(),
        vars,
        body: Box::new(product?),
    })
}
