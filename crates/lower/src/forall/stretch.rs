//! Loops over blocks of coordinates, and over the stretch that one block is.
//!
//! ```text
//! split(i, i0, i1, 32)            for i0 in 0..(n + 31) // 32 {
//!                                   let i_lo = 32 * i0
//!                                   let i_hi = min(i_lo + 32, n)
//!                                   for i in i_lo..i_hi { … } }
//!
//! … and A(i) compressed             var pA0 = first of A0.pos[0]..A0.pos[1]
//!                                     whose coordinate is at least i_lo
//!                                   …
//! ```
//!
//! The innermost loop of a split goes through one stretch of the original
//! variable, so it is lowered as a loop over that variable which begins and ends
//! elsewhere ([`Context::ranges`]): levels are walked from where a search finds
//! the first coordinate of the stretch. What is computed otherwise is in
//! [`computed`](super::computed).

use sparsec_index::IndexVar;
use sparsec_index::concrete::Clause;
use sparsec_loop::{BinaryOp, Builder, Expr};

use crate::context::{Context, Loop, Range};

/// A loop over blocks, in which nothing of an access is bound yet.
pub(super) fn over_blocks(b: &mut Builder, at: &Context<'_>, this: Loop<'_>) {
    let Loop { var, body } = this;
    let kernel = at.kernel;
    let last = at.newly_bound().last().copied().unwrap_or(var);
    let range = stretch(b, at, var, last);
    let i = kernel.coordinate(b, last);
    b.marked_loop(i, range.lo.clone()..range.hi.clone(), at.mark(), |b| {
        let mut inner = at.clone();
        range.bind(&Expr::Var(i), &mut inner);
        inner.advance();
        body.write(b, &inner);
    });
}

/// Where a loop over `var` goes through a stretch of `last`.
pub(super) fn stretch(b: &mut Builder, at: &Context<'_>, var: IndexVar, last: IndexVar) -> Range {
    let (kernel, bases) = (at.kernel, at.bases(var, last));
    let name = &kernel.concrete.vars[last].name;
    let (_, base) = bases.last().cloned().expect("it begins with one");
    let lo = b.named(&format!("{name}_lo"), base);
    // Each variable ends at its own extent.
    let mut hi: Option<Expr> = None;
    for (number, (above, base)) in bases.iter().enumerate() {
        if number > 0 && kernel.divides(bases[number - 1].0, *above) {
            continue;
        }
        let extent = at.extent(*above);
        let end = match (*above == last, *base == Expr::int(0)) {
            (true, _) => extent,
            (false, true) => lo.clone().add(extent),
            (false, false) => lo.clone().add(extent.binary(BinaryOp::Sub, base.clone())),
        };
        hi = Some(match hi {
            None => end,
            Some(hi) => hi.binary(BinaryOp::Min, end),
        });
    }
    let hi = hi.expect("a variable has an extent");
    // A block of a split begins within what is split; others may not.
    let begins_within = match bases.len() {
        1 => true,
        2 => matches!(kernel.concrete.made_by(var), Some(Clause::Split { .. })),
        _ => false,
    };
    let hi = match begins_within {
        true => hi,
        false => hi.binary(BinaryOp::Max, lo.clone()),
    };
    let hi = b.named(&format!("{name}_hi"), hi);
    Range { lo, hi, bases }
}

impl Context<'_> {
    /// The variables that the innermost loop around here binds.
    pub(super) fn newly_bound(&self) -> Vec<IndexVar> {
        match self.loops.split_last() {
            Some((var, outer)) => self.kernel.concrete.newly_bound(outer, *var),
            None => Vec::new(),
        }
    }

    /// The clause-made variables from `var` up to `last`, each with what it is
    /// where `var` is 0; the last is `last` itself.
    fn bases(&self, var: IndexVar, last: IndexVar) -> Vec<(IndexVar, Expr)> {
        let mut bases = vec![(var, Expr::int(0))];
        let (mut at, mut base) = (var, Expr::int(0));
        while at != last {
            match self.kernel.concrete.made_by(at) {
                Some(Clause::Split { var, outer, .. } | Clause::Divide { var, outer, .. }) => {
                    let block = self.coordinates[outer].clone();
                    let first = block.mul(self.block_size(at));
                    base = match base == Expr::int(0) {
                        true => first,
                        false => first.add(base),
                    };
                    at = *var;
                }
                Some(Clause::Bound { var, .. }) => at = *var,
                _ => unreachable!("a stretch is made of blocks"),
            }
            bases.push((at, base.clone()));
        }
        bases
    }
}
