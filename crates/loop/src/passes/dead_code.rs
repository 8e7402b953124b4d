//! Dropping what nothing needs.

use std::collections::HashSet;

use super::needed::{Roots, keep_needed};
use crate::ir::{Buffer, Expr, Function, Stmt};
use crate::walk::{for_each_block_mut, for_each_stmt};

/// Drops statements that have no effect outside the function: variables that
/// nothing reads with their assignments, workspaces that nothing loads, and
/// loops and branches around nothing else. What may leave the function with an
/// error stays.
pub fn dead_code(function: &mut Function) {
    keep_needed(
        function,
        &Roots {
            is_root: &has_effect,
            given: &HashSet::new(),
        },
    );
}

/// The function without what is [fetched](Stmt::Prefetch) early, but for the bounds that
/// `keeps` holds of, for engines to which it costs more than it saves; `None` where it has
/// nothing of that.
pub fn without_prefetch(
    function: &Function,
    keeps: &dyn Fn(&Expr, &Expr) -> bool,
) -> Option<Function> {
    let is_hint = |stmt: &Stmt| matches!(stmt, Stmt::Prefetch { lo, hi, .. } if !keeps(lo, hi));
    let mut found = false;
    for_each_stmt(&function.body, &mut |stmt| found |= is_hint(stmt));
    let mut without = found.then(|| function.clone())?;
    for_each_block_mut(&mut without.body, &mut |block| {
        block.retain(|stmt| !is_hint(stmt))
    });
    dead_code(&mut without);
    Some(without)
}

fn has_effect(function: &Function, stmt: &Stmt) -> bool {
    let is_own = |buffer: Buffer| function.buffers[buffer].access.is_allocated();
    match stmt {
        Stmt::Grow { buffer, .. } | Stmt::Prefetch { buffer, .. } => !is_own(*buffer),
        Stmt::Resize { .. } | Stmt::Turn | Stmt::Pass | Stmt::Fail(_) => true,
        _ => can_fail(function, stmt) || stmt.stored_buffers().any(|buffer| !is_own(buffer)),
    }
}

/// Whether evaluating the statement's own expressions may fail.
pub(super) fn can_fail(function: &Function, stmt: &Stmt) -> bool {
    // `//=` of a store divides too.
    let mut fails = match stmt {
        Stmt::Store {
            buffer,
            index,
            value,
            reduce: Some(op),
        } => function.can_fail(&Expr::load(*buffer, index.clone()).binary(*op, value.clone())),
        _ => false,
    };
    stmt.for_each_expr(&mut |expr| fails = fails || function.can_fail(expr));
    fails
}
