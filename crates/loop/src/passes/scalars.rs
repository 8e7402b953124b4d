//! Workspaces of one entry to variables.
//!
//! ```text
//! alloc n: i64[1]                      var n_1: i64 = 0
//! for p in 0..m { n[0] max= x[p] }     for p in 0..m { n_1 = max(n_1, x[p]) }
//! y[0] = n[0]                          y[0] = n_1
//! ```
//!
//! A variable stays in a register where a workspace is loaded and stored at every turn.
//! Workspaces that a parallel loop or a chunk touches stay as they are: others may combine
//! their entries at the same time.

use std::collections::{HashMap, HashSet};

use sparsec_base::Scalar;

use crate::ir::{Access, Block, Buffer, Expr, Function, Stmt, Var};
use crate::walk::for_each_stmt;

/// Turns workspaces of one entry into variables.
pub fn scalars(function: &mut Function) {
    let mut body = std::mem::take(&mut function.body);
    let single = single(function, &body);
    let mut vars = HashMap::new();
    for buffer in single {
        let data = &function.buffers[buffer];
        let (name, element) = (data.name.clone(), data.compute);
        let var = function.fresh_var(&name, element, true);
        vars.insert(buffer, (var, Scalar::from_i64(element, 0)));
    }
    if !vars.is_empty() {
        rewrite(&mut body, &vars);
    }
    function.body = body;
}

/// The workspaces that are allocated once, with one entry, and of which nothing but that
/// entry is loaded and stored.
fn single(function: &Function, body: &Block) -> Vec<Buffer> {
    let mut other: HashSet<Buffer> = HashSet::new();
    let mut allocated: HashSet<Buffer> = HashSet::new();
    for stmt in body {
        // A variable lives as long as its block.
        if let Stmt::Alloc { buffer, len } = stmt
            && *len == Expr::int(1)
            && !allocated.insert(*buffer)
        {
            other.insert(*buffer);
        }
        stmt.blocks().into_iter().for_each(|block| {
            for_each_stmt(block, &mut |stmt| {
                if let Stmt::Alloc { buffer, .. } = stmt {
                    other.insert(*buffer);
                }
            });
        });
    }
    for_each_stmt(body, &mut |stmt| {
        match stmt {
            Stmt::Alloc { len, .. } if *len == Expr::int(1) => {}
            Stmt::Store { index, .. } if *index == Expr::int(0) => {}
            Stmt::For { mark, .. } if mark.parallel.is_some() || mark.chunks => {
                stmt.for_each(&mut |inner| other.extend(inner.touched_buffers()));
            }
            stmt => other.extend(stmt.touched_buffers()),
        }
        stmt.for_each_expr(&mut |expr| {
            expr.any(&mut |part| {
                if let Expr::Load { buffer, index } = part
                    && **index != Expr::int(0)
                {
                    other.insert(*buffer);
                }
                false
            });
        });
    });
    let ids = function.buffers.ids();
    ids.filter(|buffer| {
        let data = &function.buffers[*buffer];
        data.access == Access::Workspace
            && data.storage == data.compute
            && allocated.contains(buffer)
            && !other.contains(buffer)
    })
    .collect()
}

fn rewrite(block: &mut Block, vars: &HashMap<Buffer, (Var, Scalar)>) {
    for stmt in block {
        stmt.for_each_expr_mut(&mut |expr| {
            expr.rewrite(&mut |part| {
                if let Expr::Load { buffer, .. } = part
                    && let Some((var, _)) = vars.get(buffer)
                {
                    *part = Expr::Var(*var);
                }
            });
        });
        match stmt {
            Stmt::Alloc { buffer, .. } => {
                if let Some((var, zero)) = vars.get(buffer) {
                    let (var, value) = (*var, (*zero).into());
                    *stmt = Stmt::Declare { var, value };
                }
            }
            Stmt::Store {
                buffer,
                value,
                reduce,
                ..
            } => {
                if let Some((var, _)) = vars.get(buffer) {
                    let value = match reduce {
                        None => value.clone(),
                        Some(op) => Expr::Var(*var).binary(*op, value.clone()),
                    };
                    *stmt = Stmt::Assign { var: *var, value };
                }
            }
            stmt => {
                for inner in stmt.blocks_mut() {
                    rewrite(inner, vars);
                }
            }
        }
    }
}
