//! Formats of results that nobody gave one.
//!
//! Each mode of a result is dense where a full level of some operand covers
//! it, or where no operand has it; else it is compressed. Levels come in the
//! order in which the operands store the modes, as far as they agree; else in
//! the order of the left side. The rule looks at formats only, never at data.

use sparsec_format::{Format, Level, LevelKind};
use sparsec_graph::operand::level_using;
use sparsec_graph::{Formats, path};
use sparsec_index::{Access, IndexVar, Program, Statement};

/// The format of the result of `statement`, given those of its operands.
///
/// Time `O(n^3)` in the number of modes.
pub fn default_result_format(
    program: &Program,
    statement: &Statement,
    formats: &Formats,
) -> Format {
    let accesses = statement.rhs.accesses();
    let is_dense = |var: IndexVar| {
        let mut levels = accesses
            .iter()
            .filter_map(|access| level_using(access, var, walked(formats, access)))
            .peekable();
        levels.peek().is_none() || levels.any(|(_, level)| level.kind.capabilities().full)
    };
    let edges: Vec<(IndexVar, IndexVar)> = accesses
        .iter()
        .flat_map(|access| path::edges(access, walked(formats, access)))
        .map(|edge| (edge.before, edge.after))
        .collect();
    let lhs = statement.lhs.vars();
    let lhs = lhs.as_slice();
    let levels: Vec<Level> = stored_order(lhs, &edges)
        .into_iter()
        .map(|mode| {
            let kind = if is_dense(lhs[mode]) {
                LevelKind::Dense
            } else {
                LevelKind::Compressed
            };
            Level::new(mode, kind)
        })
        .collect();
    let names: Vec<String> = lhs
        .iter()
        .map(|var| program.vars[*var].name.clone())
        .collect();
    Format::new(names, levels).expect("dense and compressed levels stand in any order")
}

/// The format in which kernels read an access.
fn walked<'f>(formats: &'f Formats, access: &Access) -> &'f Format {
    let format = formats.walked(access.tensor);
    format.expect("every operand of a statement has a format")
}

/// The modes of the left side, each after those that operands store outside it.
fn stored_order(lhs: &[IndexVar], edges: &[(IndexVar, IndexVar)]) -> Vec<usize> {
    let mut left: Vec<usize> = (0..lhs.len()).collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let is_free = |mode: &usize| {
            !left
                .iter()
                .any(|other| other != mode && reaches(lhs[*other], lhs[*mode], edges))
        };
        let Some(at) = left.iter().position(is_free) else {
            // The operands disagree: the left side decides.
            return (0..lhs.len()).collect();
        };
        order.push(left.remove(at));
    }
    order
}

fn reaches(from: IndexVar, to: IndexVar, edges: &[(IndexVar, IndexVar)]) -> bool {
    let mut seen = vec![from];
    let mut next = 0;
    while next < seen.len() {
        for (before, after) in edges {
            if *before == seen[next] && !seen.contains(after) {
                seen.push(*after);
            }
        }
        next += 1;
    }
    seen[1..].contains(&to)
}
