//! The kernel that only assembles.

use std::collections::HashSet;

use super::needed::{Roots, keep_needed};
use super::{check_after, result_values, simplify};
use crate::ir::{Failure, Function, Stmt};

/// The part of a kernel that builds positions and coordinates of its results.
///
/// The values, each the last array of an `out` argument, are given their
/// length and no entries; what only they need is gone, and so are the errors
/// that only computing them can end in. [`slice_values`](super::slice_values)
/// is the other half.
///
/// ```text
/// while p < e { grow crd, q + 1            while p < e { grow crd, q + 1
///               grow vals, q + 1                         crd[q] = A.crd[p]
///               crd[q] = A.crd[p]      ──►               q += 1; p += 1 }
///               vals[q] = 2.0 * A.vals[p]
///               q += 1; p += 1 }
/// resize crd, q; resize vals, q            resize crd, q; resize vals, q
/// ```
#[must_use]
pub fn slice_structure(function: &Function) -> Function {
    let values = result_values(function);
    let is_root = |function: &Function, stmt: &Stmt| match stmt {
        Stmt::Resize { .. } | Stmt::Turn | Stmt::Pass => true,
        Stmt::Grow { buffer, .. } => {
            !function.buffers[*buffer].access.is_allocated() && !values.contains(buffer)
        }
        Stmt::Fail(failure) => *failure == Failure::WidthOverflow,
        _ => stmt.stored_buffers().any(|buffer| {
            !function.buffers[buffer].access.is_allocated() && !values.contains(&buffer)
        }),
    };
    let mut sliced = function.clone();
    keep_needed(
        &mut sliced,
        &Roots {
            is_root: &is_root,
            given: &HashSet::new(),
        },
    );
    simplify(&mut sliced);
    check_after("slice_structure", &sliced);
    sliced
}
