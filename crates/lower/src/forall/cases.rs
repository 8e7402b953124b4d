//! The cases of a loop: which of the operands that it walks are stored at a coordinate.
//!
//! ```text
//! a(i) = b(i) + c(i)       if ib == i and ic == i { b and c … }
//!                          else if ib == i { b … } else { c … }
//! ```
//!
//! In each case, operands outside of the case's point count as not stored.

use std::collections::BTreeSet;

use sparsec_graph::{Lattice, Operand, Point};
use sparsec_index::Access;
use sparsec_index::concrete::{Clause, MergeStrategy};
use sparsec_loop::{Block, Builder, Expr, Stmt, Var};

use super::computed::computing;
use crate::absent::without;
use crate::context::{Body, Context, Loop};
use crate::runs::Follower;
use crate::walker::Walker;

/// A loop over coordinates, or over a range of them.
#[derive(Clone, Debug)]
pub(super) struct Walk<'w, 'k> {
    pub(super) this: Loop<'w>,
    /// Around the body.
    pub(super) at: Context<'k>,
    pub(super) lattice: Lattice,
    /// The operands of the lattice.
    pub(super) walked: Vec<Operand>,
    /// The operands that are looked up rather than walked.
    pub(super) located: BTreeSet<Operand>,
    /// The runs that are followed.
    pub(super) runs: Vec<Follower>,
}

impl<'k> Walk<'_, 'k> {
    /// Begins to walk all operands.
    pub(super) fn begin(&self, b: &mut Builder) -> Vec<Walker> {
        let walked = self.walked.iter();
        walked
            .map(|operand| Walker::begin(b, &self.at, *operand, self.this.var))
            .collect()
    }

    /// What is known inside of the loop at coordinate `i`.
    pub(super) fn inside(&self, b: &mut Builder, i: Var) -> Context<'k> {
        let mut inner = self.at.clone();
        inner.bind(self.this.var, Expr::Var(i));
        // Places that are listed are those of coordinates within the extents.
        if let Some(Clause::Deal { vars, .. }) = self.at.kernel.concrete.made_by(self.this.var) {
            inner.inside.extend(vars);
        }
        for follower in &self.runs {
            follower.follow(b, i, &mut inner);
        }
        inner.advance();
        inner
    }

    /// Whether operands leap.
    pub(super) fn gallops(&self) -> bool {
        self.at.merges_by() == Some(MergeStrategy::Gallop)
    }

    /// Whether outcomes that differ only in what they store are chosen without branches.
    pub(super) fn selects(&self) -> bool {
        self.at.merges_by() == Some(MergeStrategy::Select)
    }

    /// How the coordinate is called that a walker is at.
    pub(super) fn name_of_coordinate(&self, walker: &Walker) -> String {
        let var = &self.at.kernel.concrete.vars[self.this.var].name;
        format!("{var}{}", walker.tensor)
    }
}

/// The body where the operands of `case` are stored and no others.
pub(super) fn case(
    b: &mut Builder,
    walk: &Walk<'_, '_>,
    at: &Context<'_>,
    case: &Point,
    walkers: &[Walker],
) {
    let (kernel, Loop { var, body }) = (at.kernel, walk.this);
    let is_absent = |access: &Access| {
        kernel.operands.find(access).is_some_and(|operand| {
            let is_walked = kernel.walked_level(operand, var).is_some();
            is_walked && !case.0.contains(&operand) && !walk.located.contains(&operand)
        })
    };
    let Some(stmt) = without(kernel.concrete, body.stmt, &is_absent, &at.unfilled()) else {
        return;
    };
    let mut inner = at.clone();
    for walker in walkers {
        if case.0.contains(&walker.operand) {
            inner.cursors.insert(walker.operand, walker.cursor());
        }
    }
    inner.advance();
    computing(
        b,
        inner,
        Body {
            stmt: &stmt,
            ..body
        },
    );
}

/// A part of a loop, in which operands of a point have entries left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'p, 'w, 'k> {
    pub(super) walk: &'p Walk<'w, 'k>,
    pub(super) point: &'p Point,
    pub(super) walkers: &'p [Walker],
}

impl<'p> Part<'p, '_, '_> {
    pub(super) fn cases(&self) -> Vec<&'p Point> {
        self.walk.lattice.cases(self.point).collect()
    }

    /// Whether something happens only where all operands of the part meet.
    pub(super) fn must_meet(&self) -> bool {
        let meets = |case: &Point| self.walkers.iter().all(|it| case.0.contains(&it.operand));
        self.cases().into_iter().all(meets)
    }

    /// What each case does, in their order.
    pub(super) fn blocks(&self, b: &mut Builder, at: &Context<'_>) -> Vec<Block> {
        let cases = self.cases().into_iter().rev();
        let mut blocks: Vec<Block> = cases
            .map(|point| b.block(|b| case(b, self.walk, at, point, self.walkers)))
            .collect();
        blocks.reverse();
        blocks
    }

    /// The blocks of the cases as a chain of tests: `if` the largest point is hit, `else` the
    /// next, and `otherwise`. The last needs no test where one of them always holds.
    pub(super) fn chain(&self, b: &mut Builder, blocks: Vec<Block>, otherwise: Block) {
        let cases = self.cases();
        let is_case = |operand: &Operand| cases.contains(&&Point([*operand].into()));
        let is_certain = self.walk.lattice.everything || self.point.0.iter().all(is_case);
        let mut chain = otherwise;
        for (number, block) in blocks.into_iter().enumerate().rev() {
            let is_last = number + 1 == cases.len();
            chain = match self.condition(cases[number]) {
                Some(condition) if !(is_last && is_certain) => vec![Stmt::If {
                    condition,
                    then: block,
                    otherwise: chain,
                }],
                _ => block,
            };
        }
        b.extend(chain);
    }

    /// When all operands of a case are stored at the coordinate; `None` is always.
    fn condition(&self, case: &Point) -> Option<Expr> {
        let walkers = self.walkers.iter();
        walkers
            .filter(|walker| case.0.contains(&walker.operand))
            .filter_map(|walker| walker.hit.clone())
            .reduce(Expr::and)
    }
}
