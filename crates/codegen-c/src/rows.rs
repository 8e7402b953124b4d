//! Rows of read-only arrays that an innermost loop goes along.
//!
//! ```text
//! for j { C[i * n + j] += a * B[k * n + j] }
//!
//! const double *B_row = B + k * n;
//! for j { C[i * n + j] += a * B_row[j] }
//! ```
//!
//! It leaves the compiler fewer registers to spill where the loop is vectorised,
//! as one that stores is. A loop that only adds up into a variable is not, and
//! measures slower with pointers.

use sparsec_loop::{Access, BinaryOp, Block, Buffer, Expr, Function, Stmt, Var};

use crate::uses::{keeps_value, may_fail};

/// Entries of `buffer` at `start + var`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) buffer: Buffer,
    pub(crate) start: Expr,
    pub(crate) var: Var,
}

/// The row that a load goes along in a loop over the variable it adds last.
pub(crate) fn row_of(buffer: Buffer, index: &Expr) -> Option<Row> {
    let Expr::Binary(BinaryOp::Add, start, last) = index else {
        return None;
    };
    let Expr::Var(var) = **last else {
        return None;
    };
    Some(Row {
        buffer,
        start: (**start).clone(),
        var,
    })
}

/// The rows that a loop over `var` goes along, each once; none if the body has
/// loops or branches of its own, or stores nothing.
pub(crate) fn rows(function: &Function, var: Var, body: &Block) -> Vec<Row> {
    let mut found = Vec::new();
    if !body.iter().any(|stmt| matches!(stmt, Stmt::Store { .. })) {
        return found;
    }
    for stmt in body {
        match stmt {
            Stmt::Store { index, value, .. } => {
                collect(function, var, body, index, &mut found);
                collect(function, var, body, value, &mut found);
            }
            Stmt::Assign { value, .. } | Stmt::Declare { value, .. } => {
                collect(function, var, body, value, &mut found);
            }
            Stmt::Comment(_) => {}
            _ => return Vec::new(),
        }
    }
    found
}

fn collect(function: &Function, var: Var, body: &Block, expr: &Expr, found: &mut Vec<Row>) {
    if let Expr::Load { buffer, index } = expr
        && function.buffers[*buffer].access == Access::Read
        && let Some(row) = row_of(*buffer, index)
        && row.var == var
        && multiplies(&row.start)
        && !row.start.reads(var)
        && !body
            .iter()
            .filter_map(declared)
            .any(|own| row.start.reads(own))
        && !may_fail(function, &row.start)
        && keeps_value(function, &row.start, body)
        && !found.contains(&row)
    {
        found.push(row);
    }
    expr.for_each_operand(&mut |operand| collect(function, var, body, operand, found));
}

/// The variable that a statement of the body declares, of which nothing outside knows.
fn declared(stmt: &Stmt) -> Option<Var> {
    match stmt {
        Stmt::Declare { var, .. } => Some(*var),
        _ => None,
    }
}

fn multiplies(expr: &Expr) -> bool {
    expr.any(&mut |part| matches!(part, Expr::Binary(BinaryOp::Mul, ..)))
}
