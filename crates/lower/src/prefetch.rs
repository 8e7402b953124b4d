//! What later turns of a loop read, fetched early.
//!
//! ```text
//! prefetch(j, A, 256)     A is walked: its arrays lie there in order, so that once
//!                         a segment is enough
//!
//!   prefetch A1.crd[pos[i] + 256..pos[i] + 257]
//!   prefetch A.vals[pos[i] + 256..pos[i] + 257]
//!   for p in pos[i]..pos[i + 1] { … }
//!
//! prefetch(j, B, 4)       B(j,k) is where the fourth coordinate from here leads to,
//!                         in this segment or behind it
//!
//!   for p in pos[i]..pos[i + 1] {
//!     let j_ahead = crd[min(p + 4, pos[n] - 1)]
//!     prefetch B.vals[j_ahead * m..(j_ahead + 1) * m]
//!     … }
//! ```
//!
//! Processors fetch on their own what lies in order, though not across the ends of
//! pages, and what the instructions ahead of them load, a few hundred of them: rows
//! that a few entries lead to are farther than that. Rows of a dense result that entries are
//! added to are fetched in the same way. Nothing is fetched for merges, nor for operands
//! whose place takes more than one array to find.
//!
//! Source: Ainsworth and Jones, "Software Prefetching for Indirect Memory Accesses",
//! CGO 2017, <https://doi.org/10.1109/CGO.2017.7863749>.

use sparsec_format::Level;
use sparsec_graph::Operand;
use sparsec_index::{Access, IndexVar, TensorVar};
use sparsec_loop::{BinaryOp, Builder, Expr, Var};

use crate::context::Context;
use crate::cursor::Place;
use crate::level::{Coordinates, Holes, has_segments, holds_all};
use crate::walker::Walker;

/// Before a segment of a walked operand that begins at `lo`.
pub(crate) fn prefetch_segment(
    b: &mut Builder,
    at: &Context<'_>,
    operand: Operand,
    level: usize,
    lo: &Expr,
) {
    let walked = at.kernel.access(operand).tensor;
    for (tensor, ahead) in prefetched(at) {
        let Some(arrays) = at.kernel.tensors.get(&tensor) else {
            continue;
        };
        let levels = at.kernel.levels(tensor);
        if walked != tensor || !has_segments(&levels[level]) {
            continue;
        }
        let is_last = level + 1 == levels.len();
        let streams = [Some(arrays.crd(level)), is_last.then_some(arrays.vals)];
        for buffer in streams.into_iter().flatten() {
            let from = lo.clone().add(i64::from(ahead));
            b.prefetch(buffer, from.clone()..from.add(1));
        }
    }
}

/// In an iteration of a loop over the entries of `walker`, of which it is at one.
pub(crate) fn prefetch_by(b: &mut Builder, at: &Context<'_>, var: IndexVar, walker: &Walker) {
    let is_listed = matches!(walker.entries.crd, Coordinates::Listed(_))
        && matches!(walker.entries.holes, Holes::None);
    if !is_listed {
        return;
    }
    let walked = at.kernel.access(walker.operand);
    for (tensor, ahead) in prefetched(at) {
        let Some(n_stored) = at.all_positions(walker.operand, walker.level) else {
            continue;
        };
        if tensor == walked.tensor {
            continue;
        }
        let last = n_stored.binary(BinaryOp::Sub, 1);
        let next = Expr::Var(walker.position).add(i64::from(ahead));
        let next = walker.coordinate(next.binary(BinaryOp::Min, last));
        prefetch_at(b, at, tensor, var, next);
    }
}

/// In an iteration of a loop over all coordinates up to `hi`, of which it is at `i`.
pub(crate) fn prefetch_from(b: &mut Builder, at: &Context<'_>, var: IndexVar, i: Var, hi: &Expr) {
    for (tensor, ahead) in prefetched(at) {
        let next = Expr::Var(i).add(i64::from(ahead));
        let last = hi.clone().binary(BinaryOp::Sub, 1);
        prefetch_at(b, at, tensor, var, next.binary(BinaryOp::Min, last));
    }
}

/// What the innermost of the loops around here fetches, and how far ahead.
fn prefetched(at: &Context<'_>) -> Vec<(TensorVar, u32)> {
    let concrete = at.kernel.concrete;
    let innermost = at.loops.last();
    innermost.map_or_else(Vec::new, |var| concrete.prefetched(*var).collect())
}

/// Fetches what accesses of `tensor` come to where `var` is `next`.
fn prefetch_at(b: &mut Builder, at: &Context<'_>, tensor: TensorVar, var: IndexVar, next: Expr) {
    let mut before = Vec::new();
    for operand in at.kernel.operands.ids() {
        let access = at.kernel.access(operand);
        if access.tensor == tensor && access.uses(var) {
            before.push((Some(operand), access, &at.cursors[&operand]));
        }
    }
    let result = &at.output.access;
    let is_dense = || at.kernel.formats.of(tensor).is_all_dense();
    if result.tensor == tensor && result.uses(var) && is_dense() {
        before.push((None, result, &at.output.cursor));
    }
    if before.is_empty() || !at.kernel.tensors.contains_key(&tensor) {
        return;
    }
    // What the iteration leads to, as if it were this one.
    let name = format!("{}_ahead", at.kernel.concrete.vars[var].name);
    let mut then = at.clone();
    then.bind(var, Expr::Var(b.let_(&name, next)));
    then.advance();
    for (operand, access, before) in before {
        let cursor = operand.map_or(&then.output.cursor, |operand| &then.cursors[&operand]);
        if let Place::At(position) = cursor.place.clone()
            && cursor.levels != before.levels
        {
            prefetch_below(b, at, access, cursor.levels, position);
        }
    }
}

/// Fetches the rows and entries below a position, to which the first `levels` of an access lead.
fn prefetch_below(
    b: &mut Builder,
    at: &Context<'_>,
    access: &Access,
    levels: usize,
    position: Expr,
) {
    let arrays = &at.kernel.tensors[&access.tensor];
    match &at.kernel.levels(access.tensor)[levels..] {
        [row] if has_segments(row) => {
            let pos = arrays.pos(levels);
            let lo = Expr::load(pos, position.clone());
            let hi = Expr::load(pos, position.add(1));
            b.prefetch(arrays.crd(levels), lo.clone()..hi.clone());
            b.prefetch(arrays.vals, lo..hi);
        }
        rows if rows.iter().all(holds_all) => {
            let modes = rows.iter().map(Level::mode);
            let extents = modes.map(|mode| at.mode_extent(access, mode));
            let (next, size) = (position.clone().add(1), extents.reduce(Expr::mul));
            let times = |position: Expr| match &size {
                Some(size) => position.mul(size.clone()),
                None => position,
            };
            b.prefetch(arrays.vals, times(position)..times(next));
        }
        _ => {}
    }
}

impl Context<'_> {
    /// How many positions a level of an operand has in all; `None` where that takes more
    /// than its `pos` arrays to say.
    pub(crate) fn all_positions(&self, operand: Operand, level: usize) -> Option<Expr> {
        let tensor = self.kernel.access(operand).tensor;
        self.kernel.tensors.get(&tensor)?;
        let mut levels = (0..=level).map(|number| self.level_arrays(operand, number));
        levels.try_fold(Expr::int(1), |n, level| level.n_positions(n))
    }
}
