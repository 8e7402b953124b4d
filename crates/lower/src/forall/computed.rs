//! Loops over values that several variables are computed from.
//!
//! ```text
//! fuse(i, j, f)                   for f in 0..n * m {
//!                                   let i = f // m
//!                                   let j = f % m
//!                                   … }
//!
//! split(i, i0, i1, 4);            for i1 in 0..4 {
//! reorder(i1, i0)                   for i0 in 0..(n + 3) // 4 {
//!                                     let i = i0 * 4 + i1
//!                                     if i < n { … } } }
//! ```
//!
//! What is computed is looked up ([`crate::search`]), and tested where it may lie
//! beyond an extent. Where the innermost loop goes through every coordinate that it
//! is computed from, that loop goes through the part that stays within the extent
//! instead ([`part_within`](super::part::part_within)), and nothing is tested.

use sparsec_index::concrete::Clause;
use sparsec_index::{Access, IndexVar};
use sparsec_loop::{BinaryOp, Builder, Expr};

use super::part::unskewed;
use crate::bits;
use crate::context::{Body, Context, Loop};
use crate::result::{reserve, with_result};
use crate::search::found;

/// A loop over values that the variables of accesses are computed from.
pub(super) fn over_computed(b: &mut Builder, at: &Context<'_>, this: Loop<'_>) {
    let Loop { var, body } = this;
    let new = at.newly_bound();
    let hi = at.extent(var);
    let v = at.kernel.coordinate(b, var);
    b.marked_loop(v, Expr::int(0)..hi, at.mark(), |b| {
        let mut inner = at.clone();
        inner.coordinates.insert(var, Expr::Var(v));
        with_computed(b, inner, &new[1..], body);
    });
}

/// The body of a loop over coordinates of a level, where variables that are
/// computed from them are bound with it, and the levels of the result that
/// store these.
pub(super) fn computing(b: &mut Builder, at: Context<'_>, body: Body<'_>) {
    let concrete = at.kernel.concrete;
    let is_bound = |var: &IndexVar| at.coordinates.contains_key(var);
    // Positions are of coordinates that are bound with them; what was made of
    // these in between is nowhere asked for.
    let is_passed = |var: &IndexVar| {
        let originals = concrete.originals(*var);
        !concrete.is_accessed(*var) && originals.iter().all(is_bound)
    };
    let mut new = at.newly_bound();
    new.retain(|var| !is_bound(var) && !is_passed(var));
    match new.is_empty() {
        true => found(b, body, &at),
        false => with_computed(b, at, &new, body),
    }
}

/// Computes variables from those that are bound, and writes the body under the condition that
/// each variable is below its extent.
fn with_computed(b: &mut Builder, mut at: Context<'_>, vars: &[IndexVar], body: Body<'_>) {
    let concrete = at.kernel.concrete;
    let mut within: Option<Expr> = None;
    for var in vars {
        let (value, is_bounded) = match concrete.derived_by(*var) {
            Some(Clause::Deal { made, .. }) => {
                let place = at.coordinates[made].clone();
                (dealt(b, &at, *var, &place), false)
            }
            _ => at.computed(*var),
        };
        let i = at.kernel.coordinate(b, *var);
        b.declare(i, value);
        at.coordinates.insert(*var, Expr::Var(i));
        if !is_bounded && !at.inside.contains(var) && !at.is_of_entry(*var) {
            let mut fits = Expr::Var(i).less(at.extent(*var));
            if let Some(Clause::Skew { .. }) = concrete.derived_by(*var) {
                fits = Expr::int(-1).less(i).and(fits);
            }
            within = within.into_iter().chain([fits]).reduce(Expr::and);
        }
    }
    b.if_some(within, |b| {
        at.advance();
        with_results(b, &at, vars, body);
    });
}

/// As [`with_result`], for several variables of one loop.
fn with_results(b: &mut Builder, at: &Context<'_>, vars: &[IndexVar], body: Body<'_>) {
    let Some((&var, rest)) = vars.split_first() else {
        return found(b, body, at);
    };
    reserve(b, at, Loop { var, body }, Expr::int(1));
    with_result(b, at, Loop { var, body }, |b, at| {
        with_results(b, at, rest, body);
    });
}

/// A coordinate out of the bits of a place on a curve.
fn dealt(b: &mut Builder, at: &Context<'_>, var: IndexVar, place: &Expr) -> Expr {
    let concrete = at.kernel.concrete;
    let Some(Clause::Deal { vars, curve, .. }) = concrete.derived_by(var) else {
        unreachable!("the variable is dealt from a place");
    };
    let extent = |var: &IndexVar| concrete.extent(*var).map(|it| it.saturating_sub(1));
    let last: Option<Vec<u64>> = vars.iter().map(extent).collect();
    let deal = last.and_then(|last| curve.deal(&last));
    let deal = deal.expect("places that a clause makes have at most 63 bits");
    let number = vars.iter().position(|it| *it == var).expect("one of them");
    bits::coordinate(b, &concrete.vars[var].name, place, &deal, number)
}

/// What runs at the place `var` of a loop over all places on a curve: nothing where
/// that is the place of coordinates beyond the extents.
pub(super) fn on_curve(
    b: &mut Builder,
    at: &Context<'_>,
    var: IndexVar,
    write: impl FnOnce(&mut Builder),
) {
    let Some(Clause::Deal { vars, .. }) = at.kernel.concrete.made_by(var) else {
        return write(b);
    };
    let place = at.coordinates[&var].clone();
    let fits = vars
        .iter()
        .map(|var| dealt(b, at, *var, &place).less(at.extent(*var)));
    let within = fits.reduce(Expr::and);
    b.if_then(within.expect("a curve goes through coordinates"), write);
}

impl Context<'_> {
    /// Whether a variable is a mode of a tensor, computed from its levels, that has been
    /// followed to an entry: listed entries lie within the extents.
    fn is_of_entry(&self, var: IndexVar) -> bool {
        let kernel = self.kernel;
        self.cursors.iter().any(|(operand, cursor)| {
            let access = kernel.access(*operand);
            let of = &kernel.concrete.tensors[access.tensor].levels_of;
            let is_mode = of.as_ref().is_some_and(|of| of.modes.contains(&var));
            if cursor.levels == 0 || !is_mode {
                return false;
            }
            let format = kernel.formats.of(access.tensor);
            let is_last = format.chain_end(cursor.levels - 1) + 1 == format.levels().len();
            is_last && format.lists_entries() && self.rests_on(var, access)
        })
    }

    /// Whether a variable is computed from those of an access alone.
    fn rests_on(&self, var: IndexVar, access: &Access) -> bool {
        let derived = self.kernel.concrete.derived_by(var);
        access.uses(var)
            || derived.is_some_and(|clause| {
                let mut from = clause.computed_from().into_iter();
                from.all(|from| self.rests_on(*from, access))
            })
    }

    /// The value of a variable from those that it was made into, and whether
    /// that is below its extent.
    fn computed(&self, var: IndexVar) -> (Expr, bool) {
        let kernel = self.kernel;
        let value = |var: &IndexVar| self.coordinates[var].clone();
        match kernel.concrete.derived_by(var) {
            Some(
                clause @ (Clause::Split { outer, inner, .. } | Clause::Divide { outer, inner, .. }),
            ) => {
                let first = value(outer).mul(self.block_size(*inner));
                let whole = matches!(clause, Clause::Split { .. }) && kernel.divides(*inner, var);
                (first.add(value(inner)), whole)
            }
            Some(Clause::Fuse {
                outer,
                inner,
                fused,
            }) => {
                let op = match *outer == var {
                    true => BinaryOp::FloorDiv,
                    false => BinaryOp::Mod,
                };
                (value(fused).binary(op, self.extent(*inner)), true)
            }
            Some(Clause::Bound { bound, .. }) => (value(bound), true),
            Some(Clause::Skew {
                made, along, by, ..
            }) => (unskewed(value(made), value(along), *by), false),
            _ => unreachable!("positions are visited in order"),
        }
    }
}
