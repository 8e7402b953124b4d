//! Which loops are divided, and which workspaces are then each unit's own.
//!
//! ```text
//! alloc w: f64[n]                    own w: f64[n]
//! for i in … parallel { w … }   ──►  for i_chunk in … chunks { … w … }
//! for i in … parallel { w … }        for i_chunk in … chunks { … w … }
//! ```
//!
//! Iterations that may run at once do not tell one another anything. So what a
//! workspace holds that no other part of the function uses is of no use to another
//! iteration, and any unit may have one of its own. A loop that only reads a
//! workspace reads what somebody else stored there, and shares it.

use std::collections::{BTreeMap, HashSet};

use super::combine::{self, Combined};
use super::{append, appends, is_independent, is_parallel};
use crate::ir::{Access, Block, Buffer, Expr, Function, Stmt, Var};
use crate::mark::Mark;
use crate::walk::for_each_stmt;

/// The outermost loops that can be divided, by their variables.
pub(super) fn divisible(function: &Function, body: &Block) -> BTreeMap<Var, Combined> {
    let mut loops = Vec::new();
    outermost(body, 0, &mut loops);
    loop {
        let marked: Vec<Var> = loops.iter().map(|found| found.var).collect();
        let own = owned(function, body, &marked);
        let mut divisible = BTreeMap::new();
        for found in &loops {
            let filled = |buffer| match found.n_around {
                0 => filled(function, body, found.var, buffer),
                _ => None,
            };
            let appended = match (found.n_around, appends(found.mark)) {
                (0, true) => {
                    let resized = |buffer| resized(body, buffer);
                    append::of(function, (found.var, found.lo), found.body, &own, &resized)
                }
                _ => None,
            };
            let combined = match appended {
                Some(appended) => Some(Combined::appending(appended)),
                None if is_independent(found.mark) => Some(Combined::flags(found.body)),
                None => combine::of(function, found.var, found.body, &own, &filled),
            };
            let combined = combined
                .filter(|combined| combined.appended.is_some() || !grows_others(found.body, &own));
            if let Some(combined) = combined {
                divisible.insert(found.var, combined);
            }
        }
        let before = loops.len();
        loops.retain(|found| divisible.contains_key(&found.var));
        if loops.len() == before {
            return divisible;
        }
    }
}

/// What one statement of the function, before the loop over `var`, fills of an
/// array that nothing but that loop and this changes up to there.
fn filled(function: &Function, body: &Block, var: Var, wanted: Buffer) -> Option<(Expr, Expr)> {
    let mut found = None;
    for stmt in body {
        if let Stmt::Fill { buffer, lo, hi, .. } = stmt
            && *buffer == wanted
        {
            if found.is_some() {
                return None;
            }
            found = Some((lo.clone(), hi.clone()));
            continue;
        }
        if matches!(stmt, Stmt::For { var: known, .. } if *known == var) {
            // What it says is the same here.
            let is_fixed = |expr: &Expr| {
                !expr.any(&mut |part| match part {
                    Expr::Var(var) => function.vars[*var].mutable,
                    Expr::Load { .. } => true,
                    _ => false,
                })
            };
            return found.filter(|(lo, hi)| is_fixed(lo) && is_fixed(hi));
        }
        let mut is_stored = false;
        stmt.for_each(&mut |inner| {
            is_stored |= inner.stored_buffers().any(|buffer| buffer == wanted);
        });
        if is_stored {
            return None;
        }
    }
    None
}

/// The length that a statement of the function gives an array.
fn resized(body: &Block, wanted: Buffer) -> Option<Expr> {
    body.iter().find_map(|stmt| match stmt {
        Stmt::Resize { buffer, len } if *buffer == wanted => Some(len.clone()),
        _ => None,
    })
}

/// Makes the workspaces of these loops each unit's own.
pub(super) fn take(function: &mut Function, body: &Block, loops: &[Var]) {
    for buffer in owned(function, body, loops) {
        function.buffers[buffer].access = Access::Own;
    }
}

/// A parallel loop in so many others.
struct Found<'b> {
    var: Var,
    lo: &'b Expr,
    mark: Mark,
    body: &'b Block,
    n_around: usize,
}

fn outermost<'b>(block: &'b Block, n_around: usize, found: &mut Vec<Found<'b>>) {
    for stmt in block {
        match stmt {
            Stmt::For {
                var,
                lo,
                mark,
                body,
                ..
            } if is_parallel(*mark) => found.push(Found {
                var: *var,
                lo,
                mark: *mark,
                body,
                n_around,
            }),
            // These were divided before.
            Stmt::For { mark, .. } if mark.chunks => {}
            _ => {
                let is_loop = matches!(stmt, Stmt::For { .. } | Stmt::While { .. });
                for inner in stmt.blocks() {
                    outermost(inner, n_around + usize::from(is_loop), found);
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
