//! Keeping what is needed, and nothing else.
//!
//! Some statements are needed for what they do: the roots. A statement is also
//! needed if it gives a variable or a buffer a value that a needed statement
//! reads, or if it holds a needed statement. The rest goes, loops included:
//! that a loop ends is taken for granted. A poll stays where its loop does.
//!
//! ```text
//!  pos[i + 1] = p      a root: p is needed,
//!  p += 1              so this is,
//!  while q < e { … }   and the loop around it: q and e are needed
//!  vals[p] = x[q]      no root: goes
//! ```

use std::collections::HashSet;

use crate::ir::{Block, Buffer, Function, Stmt, Var};
use crate::walk::Read;

/// Which statements are needed for themselves.
pub(super) struct Roots<'a> {
    /// Whether the statement, without those inside it, is needed.
    pub(super) is_root: &'a dyn Fn(&Function, &Stmt) -> bool,
    /// Buffers that hold their values before the call: what fills them goes.
    pub(super) given: &'a HashSet<Buffer>,
}

/// Removes every statement that is not needed.
pub(super) fn keep_needed(function: &mut Function, roots: &Roots) {
    let mut needed = Needed {
        function,
        roots,
        vars: HashSet::new(),
        buffers: HashSet::new(),
    };
    loop {
        let before = (needed.vars.len(), needed.buffers.len());
        for stmt in &function.body {
            needed.mark(stmt);
        }
        if before == (needed.vars.len(), needed.buffers.len()) {
            break;
        }
    }
    let mut body = function.body.clone();
    needed.sweep(&mut body);
    function.body = body;
}

struct Needed<'a> {
    function: &'a Function,
    roots: &'a Roots<'a>,
    vars: HashSet<Var>,
    buffers: HashSet<Buffer>,
}

impl Needed<'_> {
    /// Adds what `stmt` and those inside it need; whether it is needed itself.
    fn mark(&mut self, stmt: &Stmt) -> bool {
        let mut needed = self.by_itself(stmt);
        for block in stmt.blocks() {
            for inner in block {
                needed |= self.mark(inner);
            }
        }
        if needed {
            // What is assigned has to be declared, and a workspace allocated,
            // even where nothing reads it: `t = a // b` may fail.
            if let Stmt::Assign { var, .. } = stmt {
                self.vars.insert(*var);
            }
            for buffer in stmt.stored_buffers() {
                if self.function.buffers[buffer].access.is_allocated() {
                    self.buffers.insert(buffer);
                }
            }
            stmt.for_each_expr(&mut |expr| {
                expr.for_each_read(&mut |read| {
                    _ = match read {
                        Read::Var(var) => self.vars.insert(var),
                        Read::Buffer(buffer) => self.buffers.insert(buffer),
                    }
                });
            });
        }
        needed
    }

    /// Whether `stmt` is needed, were there no statements inside it.
    fn by_itself(&self, stmt: &Stmt) -> bool {
        let filled: Vec<Buffer> = match stmt {
            Stmt::Alloc { buffer, .. }
            | Stmt::Grow { buffer, .. }
            | Stmt::Resize { buffer, .. } => vec![*buffer],
            _ => stmt.stored_buffers().collect(),
        };
        if filled
            .iter()
            .any(|buffer| self.roots.given.contains(buffer))
        {
            return false;
        }
        if filled.iter().any(|buffer| self.buffers.contains(buffer)) {
            return true;
        }
        let assigns = match stmt {
            Stmt::Declare { var, .. } | Stmt::Assign { var, .. } => self.vars.contains(var),
            Stmt::Prefetch { buffer, .. } => self.buffers.contains(buffer),
            _ => false,
        };
        assigns || (self.roots.is_root)(self.function, stmt)
    }

    fn is_needed(&self, stmt: &Stmt) -> bool {
        self.by_itself(stmt)
            || stmt
                .blocks()
                .into_iter()
                .flatten()
                .any(|inner| self.is_needed(inner))
    }

    /// Drops what is not needed, and comments on nothing but that.
    fn sweep(&self, block: &mut Block) {
        let mut kept = Block::new();
        let mut comments = Block::new();
        // Whether something behind the waiting comments was dropped.
        let mut dropped = false;
        for mut stmt in block.drain(..) {
            if matches!(stmt, Stmt::Comment(_)) {
                if dropped {
                    comments.clear();
                    dropped = false;
                }
                comments.push(stmt);
            } else if matches!(stmt, Stmt::Poll) || self.is_needed(&stmt) {
                stmt.blocks_mut()
                    .into_iter()
                    .for_each(|inner| self.sweep(inner));
                kept.append(&mut comments);
                kept.push(stmt);
                dropped = false;
            } else {
                dropped = true;
            }
        }
        if !dropped {
            kept.append(&mut comments);
        }
        *block = kept;
    }
}
