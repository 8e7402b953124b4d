//! A loop over an intersection in which operands that are behind leap.
//!
//! ```text
//! while pb < eb and pc < ec {
//!   ib = crd_b[pb]; ic = crd_c[pc]; i = max(ib, ic)
//!   if ib == i and ic == i { … pb += 1; pc += 1 }
//!   else {                                    each that is behind i:
//!     var step = 1
//!     while pb + step < eb and crd_b[pb + step] < i { pb += step; step *= 2 }
//!     pb = the first in pb + 1..min(pb + step, eb) at least i } }
//! ```
//!
//! Time: the smaller operand's entries times the logarithm of the gaps between
//! their places in the larger.
//!
//! Source: Bentley, Yao, "An almost optimal algorithm for unbounded searching",
//! Information Processing Letters 5(3), 1976.

use sparsec_loop::{BinaryOp, Builder, Expr, Var};

use super::cases::{Walk, case};
use crate::bisect::{Wanted, bisect, first_from};
use crate::level::Coordinates;
use crate::result::{reserve, with_result};
use crate::walker::Walker;

pub(super) fn over_gallop(b: &mut Builder, walk: &Walk<'_, '_>) {
    let walkers = walk.begin(b);
    reserve(b, &walk.at, walk.this, walkers[0].left());
    let more = walkers.iter().map(Walker::has_more).reduce(Expr::and);
    let more = more.expect("an intersection has walkers");
    b.while_loop(more, |b| {
        let (i, all_equal) = greatest_coordinate(b, walk, &walkers);
        let meet = |b: &mut Builder| {
            let mut here = walkers.clone();
            here.iter_mut().for_each(|walker| walker.take_run(b, i));
            let inner = walk.inside(b, i);
            with_result(b, &inner, walk.this, |b, inner| {
                case(b, walk, inner, &walk.lattice.points[0], &here);
            });
            here.iter().for_each(|walker| walker.step(b));
        };
        b.if_else(all_equal, meet, |b| {
            walkers.iter().for_each(|walker| leap(b, walker, i));
        });
    });
}

/// Declares the greatest of the coordinates that operands are at; and
/// whether all are at it.
fn greatest_coordinate(b: &mut Builder, walk: &Walk<'_, '_>, walkers: &[Walker]) -> (Var, Expr) {
    let mut read = Vec::new();
    for walker in walkers {
        let coordinate = walker.entries.coordinate(walker.position);
        read.push(b.let_(&walk.name_of_coordinate(walker), coordinate));
    }
    let greatest = read.iter().map(|var| Expr::Var(*var));
    let greatest = greatest.reduce(|a, b| a.binary(BinaryOp::Max, b));
    let i = walk.at.kernel.coordinate(b, walk.this.var);
    b.declare(i, greatest.expect("an intersection has walkers"));
    let equal = read.iter().map(|read| Expr::Var(*read).equals(i));
    let equal = equal.reduce(Expr::and);
    (i, equal.expect("an intersection has walkers"))
}

/// Moves a walker that is behind `i` to its first coordinate from there on.
fn leap(b: &mut Builder, walker: &Walker, i: Var) {
    let p = walker.position;
    b.if_then(walker.entries.coordinate(p).less(i), |b| {
        let name = format!("{}_leap", b.function().vars[p].name);
        let found = match walker.entries.crd {
            Coordinates::Listed(crd) => {
                let step = b.function().vars[p].name.clone();
                let step = b.var_(&format!("{step}_step"), 1);
                let ahead = || Expr::Var(p).add(step);
                let far = Expr::load(crd, ahead()).less(i);
                b.while_loop(ahead().less(walker.end.clone()).and(far), |b| {
                    b.assign(p, ahead());
                    b.assign(step, Expr::Var(step).mul(2));
                });
                let end = ahead().binary(BinaryOp::Min, walker.end.clone());
                let lo = Expr::Var(p).add(1);
                bisect(b, &name, crd, lo..end, &Wanted::AtLeast(i.into()))
            }
            // What is counted is where it is.
            _ => {
                let left = p.into()..walker.end.clone();
                first_from(b, &name, &walker.entries, left, i.into())
            }
        };
        walker.go_on(b, found.into());
    });
}
