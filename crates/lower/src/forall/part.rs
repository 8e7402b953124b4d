//! The part of a loop in which what is computed from its variable is within its extent.
//!
//! ```text
//! split(i, i0, i1, 4)       i1 in 0..min(n - 4 * i0, 4)
//! skew(j, d, j - i + 2)     i in max(0, 2 - d)..min(m, n + 2 - d)
//! ```

use sparsec_index::IndexVar;
use sparsec_index::concrete::{Clause, Skew};
use sparsec_loop::{BinaryOp, Builder, Expr};

use crate::context::{Context, Range};

/// How a computed variable goes on with one of those that it is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ascends {
    /// In steps of one, from a coordinate that there is.
    Blocks,
    /// In steps of one, from anywhere.
    Up,
    /// In steps of minus one.
    Down,
}

/// The part of a loop over `var` in which what is computed from it is within
/// its extent, and what that is; `None` where tests have to tell.
pub(super) fn part_within(
    b: &mut Builder,
    at: &Context<'_>,
    var: IndexVar,
) -> Option<(Range, IndexVar)> {
    let concrete = at.kernel.concrete;
    let mut clauses = concrete.clauses();
    let (value, above, ascends) = clauses.find_map(|clause| start_of(at, var, clause))?;
    let within = at.extent(above);
    let end = at.extent(var);
    let difference = |a: Expr, b: &Expr| match *b == Expr::int(0) {
        true => a,
        false => a.binary(BinaryOp::Sub, b.clone()),
    };
    // The computed variable is `value` where this one is 0.
    let (lo, hi) = match ascends {
        Ascends::Blocks => (Expr::int(0), difference(within, &value)),
        Ascends::Up => (difference(Expr::int(0), &value), difference(within, &value)),
        Ascends::Down => {
            let past = value.add(1);
            (difference(past.clone(), &within), past)
        }
    };
    let lo = match lo {
        Expr::Const(_) => lo,
        lo => lo.binary(BinaryOp::Max, 0),
    };
    let name = &concrete.vars[var].name;
    let lo = b.named(&format!("{name}_lo"), lo);
    let hi = b.named(&format!("{name}_hi"), hi.binary(BinaryOp::Min, end));
    let bases = vec![(var, Expr::int(0))];
    Some((Range { lo, hi, bases }, above))
}

/// What a clause computes where `var` is 0, if that needs nothing else that is
/// not bound, which variable it is, and how it goes on with `var`.
fn start_of(at: &Context<'_>, var: IndexVar, clause: &Clause) -> Option<(Expr, IndexVar, Ascends)> {
    let kernel = at.kernel;
    let bound = |var: &IndexVar| at.coordinates.get(var).cloned();
    match clause {
        Clause::Split {
            var: above,
            outer,
            inner,
            size,
        } if *inner == var => {
            let is_inside =
                kernel.concrete.made_by(*above).is_some() || kernel.divides(var, *above);
            let first = bound(outer)?.mul(*size as i64);
            (!is_inside).then_some((first, *above, Ascends::Blocks))
        }
        Clause::Skew {
            var: above,
            made,
            along,
            by,
        } if by.factor.abs() == 1 && bound(above).is_none() => {
            let zero = Expr::int(0);
            let (value, factor) = if *along == var {
                (unskewed(bound(made)?, zero, *by), -by.sign() * by.factor)
            } else if *made == var {
                (unskewed(zero, bound(along)?, *by), by.sign())
            } else {
                return None;
            };
            let ascends = match factor > 0 {
                true => Ascends::Up,
                false => Ascends::Down,
            };
            Some((value, *above, ascends))
        }
        _ => None,
    }
}

/// The variable of a sum, from the sum and the other variable.
pub(super) fn unskewed(sum: Expr, along: Expr, by: Skew) -> Expr {
    let other = match by.factor.abs() {
        1 => along,
        factor => along.mul(factor),
    };
    let is_zero = |expr: &Expr| *expr == Expr::int(0);
    let rest = match by.factor < 0 {
        _ if is_zero(&other) => sum,
        true if is_zero(&sum) => other,
        true => sum.add(other),
        false => sum.binary(BinaryOp::Sub, other),
    };
    let value = match by.offset {
        0 => rest,
        offset => rest.binary(BinaryOp::Sub, offset),
    };
    match by.is_negative {
        true => Expr::int(0).binary(BinaryOp::Sub, value),
        false => value,
    }
}
