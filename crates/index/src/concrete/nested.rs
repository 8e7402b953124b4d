//! The assignments of a statement, each with the loops around it.

use super::Stmt;
use crate::expr::{Access, Expr};
use crate::operator::Operator;
use crate::program::IndexVar;

/// One assignment with the loops around it.
#[derive(Clone, Copy, Debug)]
pub struct Nested<'a, 'l> {
    /// The variables of the loops around it, outermost first.
    pub loops: &'l [IndexVar],
    /// How many of them are around the `where` whose producer it is in; 0 if it is in none.
    pub n_outside: usize,
    /// What is assigned.
    pub lhs: &'a Access,
    /// The operator that combines the value with the entry before; `None` overwrites the entry.
    pub reduce: Option<&'a Operator>,
    /// The value.
    pub rhs: &'a Expr,
}

/// Calls `visit` on every assignment of `stmt`, consumers before producers.
pub fn for_each_nested<'a>(stmt: &'a Stmt, visit: &mut dyn FnMut(Nested<'a, '_>)) {
    visit_nested(stmt, &mut Vec::new(), 0, visit);
}

fn visit_nested<'a>(
    stmt: &'a Stmt,
    loops: &mut Vec<IndexVar>,
    n_outside: usize,
    visit: &mut dyn FnMut(Nested<'a, '_>),
) {
    match stmt {
        Stmt::Assign { lhs, reduce, rhs } => visit(Nested {
            loops,
            n_outside,
            lhs,
            reduce: reduce.as_ref(),
            rhs,
        }),
        Stmt::Forall { var, body } => {
            loops.push(*var);
            visit_nested(body, loops, n_outside, visit);
            loops.pop();
        }
        Stmt::Where { consumer, producer } => {
            visit_nested(consumer, loops, n_outside, visit);
            visit_nested(producer, loops, loops.len(), visit);
        }
        Stmt::Sequence(stmts) => {
            for stmt in stmts {
                visit_nested(stmt, loops, n_outside, visit);
            }
        }
    }
}
