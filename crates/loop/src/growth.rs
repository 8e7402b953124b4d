//! Which arrays grow together, so that a back end compares once for all of them.
//!
//! An append makes room in every array of a level:
//!
//! ```text
//! grow C1.crd, pC1 + 1        a run: statements next to each other that make
//! grow C.vals, pC1 + 1        room for one length in different buffers
//! ```
//!
//! Buffers that are in the same runs all over a function form a **group**. One
//! capacity, the least of its members', serves a group.

use crate::ir::{Access, Block, Buffer, Function, Stmt};
use crate::walk::for_each_stmt;

/// The buffers of the statements from the first of `block` on that grow, or that
/// resize, to one length, each buffer once; empty where the first does neither.
pub fn growth_run(block: &[Stmt]) -> Vec<Buffer> {
    let mut run: Vec<Buffer> = Vec::new();
    for stmt in block {
        match (&block[0], stmt) {
            (Stmt::Grow { len: first, .. }, Stmt::Grow { buffer, len })
            | (Stmt::Resize { len: first, .. }, Stmt::Resize { buffer, len })
                if first == len && !run.contains(buffer) =>
            {
                run.push(*buffer);
            }
            _ => break,
        }
    }
    run
}

/// The growing buffers of results, in groups, then each workspace that grows as a
/// group of its own.
pub fn growth_groups(function: &Function) -> Vec<Vec<Buffer>> {
    let mut groups: Vec<Vec<Buffer>> = Vec::new();
    for argument in &function.arguments {
        let grows = |buffer: &Buffer| function.buffers[*buffer].access == Access::Grow;
        groups.push(argument.buffers.iter().copied().filter(grows).collect());
    }
    split_groups(&function.body, &mut groups);
    groups.retain(|group| !group.is_empty());
    groups.extend(growing_workspaces(function));
    groups
}

/// Splits every group of which some run holds a part.
fn split_groups(block: &Block, groups: &mut Vec<Vec<Buffer>>) {
    let mut rest = block.as_slice();
    while let Some(stmt) = rest.first() {
        for inner in stmt.blocks() {
            split_groups(inner, groups);
        }
        let run = growth_run(rest);
        if !run.is_empty() {
            let parts = std::mem::take(groups).into_iter().flat_map(|group| {
                let (inside, outside): (Vec<Buffer>, Vec<Buffer>) =
                    group.into_iter().partition(|buffer| run.contains(buffer));
                [inside, outside]
            });
            *groups = parts.filter(|group| !group.is_empty()).collect();
        }
        rest = &rest[run.len().max(1)..];
    }
}

/// The workspaces that some statement grows, in the order of the buffers.
fn growing_workspaces(function: &Function) -> Vec<Vec<Buffer>> {
    let mut grown = std::collections::BTreeSet::new();
    for_each_stmt(&function.body, &mut |stmt| {
        if let Stmt::Grow { buffer, .. } = stmt
            && function.buffers[*buffer].access.is_allocated()
        {
            grown.insert(*buffer);
        }
    });
    grown.into_iter().map(|buffer| vec![buffer]).collect()
}
