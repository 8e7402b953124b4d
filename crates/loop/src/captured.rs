//! What the body of chunks takes from around it.
//!
//! Back ends make a function of the body, which knows of its surroundings what is
//! handed to it:
//!
//! ```text
//! for i_chunk in 0..n chunks {                vars     m, since it is declared outside
//!   for i in … { w[i] = A.vals[i] * m }       buffers  A.vals
//! }                                           own      w, which each unit brings along
//! ```

use std::collections::HashSet;

use crate::ir::{Access, Block, Buffer, Expr, Function, Stmt, Var};
use crate::walk::for_each_stmt;

/// What a body uses that is declared around it, each in the function's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// Variables, whose values do not change while chunks run.
    pub vars: Vec<Var>,
    /// Buffers that units share.
    pub buffers: Vec<Buffer>,
    /// Buffers of which each unit has its own.
    pub own: Vec<Buffer>,
    /// Results that chunks grow in their turn, so that they move meanwhile.
    pub grown: Vec<Buffer>,
}

/// What the body of chunks counted by `var` takes from around it.
pub fn captured(function: &Function, var: Var, body: &Block) -> Captured {
    let mut inside = HashSet::from([var]);
    let mut vars = HashSet::new();
    let mut buffers = HashSet::new();
    let mut grown = HashSet::new();
    for_each_stmt(body, &mut |stmt| {
        inside.extend(stmt.written_var());
        buffers.extend(stmt.touched_buffers());
        if let Stmt::Grow { buffer, .. } = stmt {
            grown.insert(*buffer);
        }
        stmt.for_each_expr(&mut |expr| {
            expr.any(&mut |part| {
                match part {
                    Expr::Var(var) => _ = vars.insert(*var),
                    Expr::Load { buffer, .. } => _ = buffers.insert(*buffer),
                    _ => {}
                }
                false
            });
        });
    });
    vars.retain(|var| !inside.contains(var));
    let declared = function.vars.iter().map(|(var, _)| var);
    let vars = declared.filter(|var| vars.contains(var)).collect();
    let used = function.buffers.iter();
    let used = used.filter(|(buffer, _)| buffers.contains(buffer));
    let (own, shared): (Vec<_>, Vec<_>) = used.partition(|(_, data)| data.access == Access::Own);
    let (grown, shared): (Vec<_>, Vec<_>) = shared
        .into_iter()
        .partition(|(buffer, _)| grown.contains(buffer));
    Captured {
        vars,
        grown: grown.into_iter().map(|(buffer, _)| buffer).collect(),
        buffers: shared.into_iter().map(|(buffer, _)| buffer).collect(),
        own: own.into_iter().map(|(buffer, _)| buffer).collect(),
    }
}
