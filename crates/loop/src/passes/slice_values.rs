//! The kernel that only computes.

mod ahead;

use std::collections::HashSet;

use self::ahead::stores_ahead;
use super::dead_code::can_fail;
use super::needed::{Roots, keep_needed};
use super::{check_after, result_structure, result_values, simplify};
use crate::ir::{Access, Buffer, Expr, Failure, Function, Stmt};
use crate::walk::{for_each_block_mut, for_each_stmt};

/// The part of a kernel that computes the values of its results, where
/// positions and coordinates are there already, as
/// [`slice_structure`](super::slice_structure) leaves them.
///
/// Arrays of structure become `read`, those of values `write`: nothing grows.
/// Running both slices on the same operands gives the arrays that the whole
/// kernel gives, and ends in an error where the whole one does.
///
/// That holds for a kernel that reads back an entry of its results' structure
/// only once it is final, after a sort for example. `None` for one that counts
/// in place (`pos[i] += 1`) and reads that back for its values, and for one that stores values
/// of entries which may not come: their array has no room for more than there are.
#[must_use]
pub fn slice_values(function: &Function) -> Option<Function> {
    let values = result_values(function);
    if stores_ahead(function, &values) {
        return None;
    }
    let structure = result_structure(function);
    let is_root = |function: &Function, stmt: &Stmt| match stmt {
        Stmt::Grow { .. } | Stmt::Resize { .. } => false,
        Stmt::Prefetch { .. } | Stmt::Turn | Stmt::Pass => true,
        // The widths were checked when the structure was assembled.
        Stmt::Fail(failure) => *failure != Failure::WidthOverflow,
        _ => {
            can_fail(function, stmt) || stmt.stored_buffers().any(|buffer| values.contains(&buffer))
        }
    };
    let mut sliced = function.clone();
    keep_needed(
        &mut sliced,
        &Roots {
            is_root: &is_root,
            given: &structure,
        },
    );
    let buffers = &sliced.buffers;
    for_each_block_mut(&mut sliced.body, &mut |block| {
        block.retain(|stmt| match stmt {
            Stmt::Grow { buffer, .. } => buffers[*buffer].access.is_allocated(),
            Stmt::Resize { .. } => false,
            _ => true,
        });
    });
    if !loads(&sliced).is_disjoint(&updated(function, &structure)) {
        return None;
    }
    for &buffer in &structure {
        sliced.buffers[buffer].access = Access::Read;
    }
    for &buffer in &values {
        if sliced.buffers[buffer].access == Access::Grow {
            sliced.buffers[buffer].access = Access::Write;
        }
    }
    simplify(&mut sliced);
    check_after("slice_values", &sliced);
    Some(sliced)
}

/// All buffers that are loaded from.
fn loads(function: &Function) -> HashSet<Buffer> {
    let mut loaded = HashSet::new();
    for_each_stmt(&function.body, &mut |stmt| {
        stmt.for_each_expr(&mut |expr| {
            expr.any(&mut |part| {
                if let Expr::Load { buffer, .. } = part {
                    loaded.insert(*buffer);
                }
                false
            });
        });
    });
    loaded
}

/// Those of `buffers` with entries that are made from older ones.
fn updated(function: &Function, buffers: &HashSet<Buffer>) -> HashSet<Buffer> {
    let mut found = HashSet::new();
    for_each_stmt(&function.body, &mut |stmt| {
        if let Stmt::Store {
            buffer,
            value,
            reduce,
            ..
        } = stmt
        {
            let reads_itself = value
                .any(&mut |part| matches!(part, Expr::Load { buffer: from, .. } if from == buffer));
            if buffers.contains(buffer) && (reduce.is_some() || reads_itself) {
                found.insert(*buffer);
            }
        }
    });
    found
}
