//! Formats of results that nobody gave one.
//!
//! Levels come in the order in which the operands store the modes, as far as they
//! agree; else in the order of the left side. A mode is dense where no operand has
//! it, or where operands fill it: one argument of a sum, all factors of a product that have
//! it. An operand fills a mode where a full level covers it, and nothing that is sparse
//! stands below that level while the result stores it above. Else the mode is compressed.
//!
//! ```text
//! Y(i,j) = A(i,j) + A(j,i)        A is csr: (dense, compressed)
//!
//! i   filled by A(i,j)            dense
//! j   compressed in A(i,j); in A(j,i) a row has few columns i, so that few
//!     rows j have a given i       compressed
//! ```
//!
//! A result whose fill is not the value of the expression where operands store
//! nothing has all values, and is dense. The rule looks at formats and fills only,
//! never at entries.

use sparsec_format::{Format, Level, LevelKind};
use sparsec_graph::operand::level_using;
use sparsec_graph::{Formats, path};
use sparsec_index::stored::{Answers, Found, stored};
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
    let Program { tensors, vars, .. } = program;
    let unstored = statement.rhs.fill(tensors, vars);
    let has_all = unstored != Some(tensors[statement.lhs.tensor].fill);
    let is_dense = |var: IndexVar, above: &[IndexVar]| {
        let filled = Filled {
            program,
            formats,
            var,
            above,
        };
        has_all
            || stored(&filled, &statement.rhs, tensors, vars)
                .0
                .unwrap_or(true)
    };
    let edges: Vec<(IndexVar, IndexVar)> = accesses
        .iter()
        .flat_map(|access| path::edges(access, walked(formats, access)))
        .map(|edge| (edge.before, edge.after))
        .collect();
    let lhs = statement.lhs.vars();
    let lhs = lhs.as_slice();
    let order = stored_order(lhs, &edges);
    let vars: Vec<IndexVar> = order.iter().map(|mode| lhs[*mode]).collect();
    let level = |(number, mode): (usize, &usize)| {
        let kind = match is_dense(vars[number], &vars[..number]) {
            true => LevelKind::Dense,
            false => LevelKind::Compressed,
        };
        Level::new(*mode, kind)
    };
    let levels: Vec<Level> = order.iter().enumerate().map(level).collect();
    let names: Vec<String> = lhs
        .iter()
        .map(|var| program.vars[*var].name.clone())
        .collect();
    Format::new(names, levels).expect("dense and compressed levels stand in any order")
}

/// What may have an entry at every value of `var`, those of the variables `above` being given.
struct Filled<'a> {
    program: &'a Program,
    formats: &'a Formats,
    var: IndexVar,
    above: &'a [IndexVar],
}

/// Whether an expression may; `None` if it does not have the variable. Of arguments that decide a
/// result together, one has to fill the mode, if any has the variable.
impl Answers for Filled<'_> {
    type Where = Option<bool>;

    fn nowhere(&self) -> Option<bool> {
        None
    }

    fn everywhere(&self) -> Option<bool> {
        None
    }

    fn of_access(&self, access: &Access) -> Found<Option<bool>> {
        let format = walked(self.formats, access);
        let fill = self.program.tensors[access.tensor].fill;
        (fills(access, format, self.var, self.above), Some(fill))
    }

    fn either(&self, one: Option<bool>, other: Option<bool>) -> Option<bool> {
        [one, other].into_iter().flatten().reduce(|a, b| a || b)
    }

    fn both(&self, one: Option<bool>, other: Option<bool>) -> Option<bool> {
        [one, other].into_iter().flatten().reduce(|a, b| a && b)
    }
}

/// Whether an access may have an entry at every value of `var`, those of the
/// variables `above` being given; `None` if it does not have `var`.
fn fills(access: &Access, format: &Format, var: IndexVar, above: &[IndexVar]) -> Option<bool> {
    let (number, level) = level_using(access, var, format)?;
    let is_full = |level: &Level| level.kind.capabilities().full;
    let is_given = |level: &Level| {
        let index = &access.indices[level.mode()];
        above.iter().any(|var| index.uses(*var))
    };
    let mut below = format.levels()[number + 1..].iter();
    Some(is_full(level) && !below.any(|level| !is_full(level) && is_given(level)))
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
