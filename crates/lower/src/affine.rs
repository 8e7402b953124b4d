//! Walks over levels that store `a * i + b` for coordinate `i` of a loop.
//!
//! Only the entries between the coordinates of the first and the last `i` are
//! walked, both found by bisection, and of those the ones that `a` divides:
//!
//! ```text
//! lo = first p with crd[p] >= b; hi = first p with crd[p] >= b + a * n
//! for p in lo..hi { if (crd[p] - b) % a == 0 { i = (crd[p] - b) // a … } }
//! ```
//!
//! `b` is made of variables bound outside. Coordinates ascend with `i`, so that
//! such a level merges with others.

use sparsec_graph::Operand;
use sparsec_index::IndexVar;
use sparsec_loop::{BinaryOp, Builder, Expr};

use crate::bisect::first_from;
use crate::context::Context;
use crate::level::Segment;

/// What a walked level stores where the loop is at `i`: `factor * i + offset`.
#[derive(Clone, Debug)]
pub(crate) struct Affine {
    pub(crate) factor: i64,
    pub(crate) offset: Expr,
    /// How far `i` runs.
    pub(crate) n: Expr,
    /// Whether no coordinate is below that of the first `i`.
    pub(crate) begins_inside: bool,
    /// Whether no coordinate is beyond that of the last `i`.
    pub(crate) ends_inside: bool,
}

impl Affine {
    pub(crate) fn coordinate(&self, stored: Expr) -> Expr {
        let scaled = match self.offset == Expr::int(0) {
            true => stored,
            false => stored.binary(BinaryOp::Sub, self.offset.clone()),
        };
        match self.factor {
            1 => scaled,
            factor => scaled.binary(BinaryOp::FloorDiv, factor),
        }
    }

    pub(crate) fn stored(&self, i: Expr) -> Expr {
        let scaled = match self.factor {
            1 => i,
            factor => i.mul(factor),
        };
        match self.offset == Expr::int(0) {
            true => scaled,
            false => scaled.add(self.offset.clone()),
        }
    }

    /// The part of an ordered segment that has coordinates of a loop.
    pub(crate) fn part(&self, b: &mut Builder, name: &str, segment: Segment) -> Segment {
        let Segment {
            mut lo,
            mut hi,
            entries,
        } = segment;
        if !self.begins_inside {
            let first = self.offset.clone();
            lo = first_from(b, name, &entries, lo..hi.clone(), first).into();
        }
        if !self.ends_inside {
            let beyond = self.stored(self.n.clone());
            let name = format!("{name}_end");
            hi = first_from(b, &name, &entries, lo.clone()..hi, beyond).into();
        }
        Segment { lo, hi, entries }
    }

    /// Whether a stored coordinate belongs to one of the loop; `None` is always.
    pub(crate) fn divides(&self, stored: Expr) -> Option<Expr> {
        let offset = self.offset.clone();
        let rest = stored.binary(BinaryOp::Sub, offset);
        let rest = rest.binary(BinaryOp::Mod, self.factor);
        (self.factor != 1).then(|| rest.equals(0))
    }
}

impl Context<'_> {
    /// How the stored coordinates of a level that a loop over `var` walks
    /// become those of the loop; `None` where they are the same.
    pub(crate) fn affine(&self, operand: Operand, level: usize, var: IndexVar) -> Option<Affine> {
        let (access, concrete) = (self.kernel.access(operand), self.kernel.concrete);
        let mode = self.kernel.levels(access.tensor)[level].mode();
        let index = &access.indices[mode];
        if index.as_var().is_some() {
            return None;
        }
        let (factor, rest) = index.linear_in(var).expect("walked levels are linear");
        let extent = |var: IndexVar| concrete.vars[var].extent;
        let bound = concrete.tensors[access.tensor].extents[mode];
        let range = rest.range(&extent);
        let n_visited = extent(var).map(|n| i128::from(n) * i128::from(factor));
        Some(Affine {
            factor,
            offset: self.bound_coordinate(&rest),
            n: self.extent(var),
            begins_inside: range.is_some_and(|(_, most)| most <= 0),
            ends_inside: range.is_some_and(|(least, _)| {
                let (Some(n), Some(bound)) = (n_visited, bound) else {
                    return false;
                };
                least + n >= i128::from(bound)
            }),
        })
    }
}
