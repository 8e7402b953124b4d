//! Where kernels ask whether anybody still waits for them.
//!
//! ```text
//! for i in 0..A.n0 {                           for i in 0..A.n0 {
//!   for p in A1.pos[i]..A1.pos[i + 1] {          poll
//!     …                                          for p in A1.pos[i]..A1.pos[i + 1] { … }
//! ```
//!
//! Asking takes a load and a branch that is never taken: it stands in outermost loops that
//! have others inside, and in all loops with two more levels inside. So no more than two
//! loops run between two questions, and an innermost loop stays as it is. A loop alone goes
//! through memory once, and is not worth asking for.

use crate::ir::{Block, Function, Stmt};

/// Has long loops poll.
pub fn polls(function: &mut Function) {
    block(&mut function.body, true);
}

/// Adds polls to the loops of a block; how many levels of loops it has.
fn block(block: &mut Block, is_outermost: bool) -> usize {
    block
        .iter_mut()
        .map(|stmt| in_stmt(stmt, is_outermost))
        .max()
        .unwrap_or(0)
}

fn in_stmt(stmt: &mut Stmt, is_outermost: bool) -> usize {
    let body = match stmt {
        // Chunks are handed out one by one, and each has an outermost loop.
        Stmt::For { mark, body, .. } if mark.chunks => return block(body, true),
        Stmt::For { body, .. } | Stmt::While { body, .. } => body,
        stmt => {
            let inner = stmt.blocks_mut().into_iter();
            let levels = inner.map(|inner| block(inner, is_outermost));
            return levels.max().unwrap_or(0);
        }
    };
    let levels = block(body, false);
    if levels >= if is_outermost { 1 } else { 2 } {
        body.insert(0, Stmt::Poll);
    }
    levels + 1
}
