//! The variables that are of type `index`.
//!
//! ```text
//! for pA1 in A1.pos[i]..end {       pA1, i, end    bounds and places
//!   n += 1                          n              if it is a place: C.crd[n] = …
//!   t += A.vals[pA1]                t is not one, even if A holds integers
//! }
//! ```
//!
//! A variable from which the value of such a variable is computed is one as well, so that loops
//! convert only what they load and store.

use std::collections::HashSet;

use sparsec_base::ElementType;
use sparsec_loop::walk::for_each_stmt;
use sparsec_loop::{Expr, Function, Stmt, Var};

/// The `i64` variables of a function that are of type `index`.
pub(crate) fn indices(function: &Function) -> HashSet<Var> {
    let mut found: HashSet<Var> = function
        .arguments
        .iter()
        .flat_map(|argument| argument.extents.iter().copied())
        .collect();
    for_each_stmt(&function.body, &mut |stmt| {
        match stmt {
            Stmt::For { var, lo, hi, .. } => {
                found.insert(*var);
                mark(function, lo, &mut found);
                mark(function, hi, &mut found);
            }
            Stmt::Store { index, .. } => mark(function, index, &mut found),
            Stmt::Fill { lo, hi, .. }
            | Stmt::Sort { lo, hi, .. }
            | Stmt::Prefetch { lo, hi, .. } => {
                mark(function, lo, &mut found);
                mark(function, hi, &mut found);
            }
            Stmt::Alloc { len, .. } | Stmt::Grow { len, .. } | Stmt::Resize { len, .. } => {
                mark(function, len, &mut found);
            }
            _ => {}
        }
        stmt.for_each_expr(&mut |expr| {
            expr.any(&mut |part| {
                if let Expr::Load { index, .. } = part {
                    mark(function, index, &mut found);
                }
                false
            });
        });
    });
    loop {
        let before = found.len();
        for_each_stmt(&function.body, &mut |stmt| {
            if let Stmt::Declare { var, value } | Stmt::Assign { var, value } = stmt
                && found.contains(var)
            {
                mark(function, value, &mut found);
            }
        });
        if found.len() == before {
            return found;
        }
    }
}

/// Adds the variables that an index is computed from.
fn mark(function: &Function, expr: &Expr, found: &mut HashSet<Var>) {
    match expr {
        Expr::Var(var) if function.vars[*var].element == ElementType::I64 => {
            found.insert(*var);
        }
        Expr::Unary(_, value) => mark(function, value, found),
        Expr::Binary(op, left, right) if !op.is_comparison() => {
            mark(function, left, found);
            mark(function, right, found);
        }
        Expr::Select {
            then, otherwise, ..
        } => {
            mark(function, then, found);
            mark(function, otherwise, found);
        }
        _ => {}
    }
}
