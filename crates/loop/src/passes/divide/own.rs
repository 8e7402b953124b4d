//! Which loops are divided, and which workspaces are then each unit's own.
//!
//! ```text
//! alloc w: f64[n]                    own w: f64[n]
//! for i in … parallel { w … }   ──►  for i_piece in … pieces { … w … }
//! for i in … parallel { w … }        for i_piece in … pieces { … w … }
//! ```
//!
//! Iterations that may run at once do not tell one another anything. So what a
//! workspace holds that no other part of the function uses is of no use to another
//! iteration, and any unit may have one of its own. A loop that only reads a
//! workspace reads what somebody else stored there, and shares it.

use std::collections::HashSet;

use super::is_independent;
use crate::ir::{Access, Block, Buffer, Expr, Function, Stmt, Var};
use crate::walk::for_each_stmt;

/// The variables of the outermost loops that can be divided.
pub(super) fn divisible(function: &Function, body: &Block) -> Vec<Var> {
    let mut loops = Vec::new();
    outermost(body, &mut loops);
    loop {
        let marked: Vec<Var> = loops.iter().map(|(var, _)| *var).collect();
        let own = owned(function, body, &marked);
        let before = loops.len();
        loops.retain(|(_, inside)| !grows_others(inside, &own));
        if loops.len() == before {
            return marked;
        }
    }
}

/// Makes the workspaces of these loops each unit's own.
pub(super) fn take(function: &mut Function, body: &Block, loops: &[Var]) {
    for buffer in owned(function, body, loops) {
        function.buffers[buffer].access = Access::Own;
    }
}

fn outermost<'b>(block: &'b Block, found: &mut Vec<(Var, &'b Block)>) {
    for stmt in block {
        match stmt {
            Stmt::For {
                var, mark, body, ..
            } if is_independent(*mark) => found.push((*var, body)),
            // These were divided before.
            Stmt::For { mark, .. } if mark.pieces => {}
            _ => {
                for inner in stmt.blocks() {
                    outermost(inner, found);
                }
            }
        }
    }
}

/// Whether a loop over `body` makes room in what is not its own.
fn grows_others(body: &Block, own: &HashSet<Buffer>) -> bool {
    let mut found = false;
    for_each_stmt(body, &mut |stmt| {
        found |= matches!(stmt, Stmt::Grow { buffer, .. } if !own.contains(buffer));
    });
    found
}

/// The workspaces that only the loops over `loops` use, and none only reads.
fn owned(function: &Function, body: &Block, loops: &[Var]) -> HashSet<Buffer> {
    let workspaces = function.buffers.iter();
    let workspaces = workspaces.filter(|(_, kind)| kind.access == Access::Workspace);
    let mut own: HashSet<Buffer> = workspaces.map(|(buffer, _)| buffer).collect();
    let mut around = Uses::default();
    around.block(body, loops, &mut |inside| {
        let only_read = inside.read.difference(&inside.stored);
        only_read.for_each(|buffer| _ = own.remove(buffer));
    });
    own.retain(|buffer| !around.read.contains(buffer) && !around.stored.contains(buffer));
    own
}

/// The buffers that statements read and store to.
#[derive(Default)]
struct Uses {
    read: HashSet<Buffer>,
    stored: HashSet<Buffer>,
}

impl Uses {
    /// Notes what a block uses, and has `divided` look at loops over `loops`.
    fn block(&mut self, block: &Block, loops: &[Var], divided: &mut dyn FnMut(&Self)) {
        for stmt in block {
            self.stored.extend(stmt.stored_buffers());
            if let Stmt::Grow { buffer, .. } | Stmt::Resize { buffer, .. } = stmt {
                self.stored.insert(*buffer);
            }
            stmt.for_each_expr(&mut |expr| {
                expr.any(&mut |part| {
                    if let Expr::Load { buffer, .. } = part {
                        self.read.insert(*buffer);
                    }
                    false
                });
            });
            match stmt {
                Stmt::For { var, body, .. } if loops.contains(var) => {
                    let mut inside = Self::default();
                    inside.block(body, &[], &mut |_| {});
                    divided(&inside);
                }
                _ => {
                    for inner in stmt.blocks() {
                        self.block(inner, loops, divided);
                    }
                }
            }
        }
    }
}
