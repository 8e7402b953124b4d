//! Runs that are followed by a loop whose coordinates ascend.
//!
//! ```text
//! r : run_length               var pr = r0.pos[0]
//!                              for pb in … { i = b0.crd[pb]
//!                                while r0.bounds[pr + 1] <= i { pr += 1 }
//!                                … r.vals[pr] … }
//! ```
//!
//! The runs of a parent cover every coordinate, so the search ends; over the whole
//! loop it takes as many steps as there are runs. Where coordinates leap, stand in
//! no order or are visited at once, each is searched for ([`crate::search`]).

use sparsec_graph::Operand;
use sparsec_index::IndexVar;
use sparsec_index::concrete::Stmt;
use sparsec_loop::{BinaryOp, Buffer, Builder, Expr, Var};

use crate::bisect::{Wanted, bisect};
use crate::context::Context;
use crate::cursor::Cursor;
use crate::level::{Coordinates, Segment};

/// A level of runs that a loop follows.
#[derive(Clone, Debug)]
pub(crate) struct Follower {
    operand: Operand,
    levels: usize,
    /// The run that the loop is in.
    position: Var,
    bounds: Buffer,
    /// Run `q` ends at `bounds[q + after]`.
    after: Expr,
}

/// Begins to follow every level of runs below a cursor that a loop over `var` goes along.
pub(crate) fn begin_runs(
    b: &mut Builder,
    at: &Context<'_>,
    var: IndexVar,
    body: &Stmt,
) -> Vec<Follower> {
    let mut followed = Vec::new();
    body.for_each_assign(&mut |_, _, rhs| {
        rhs.for_each_access(&mut |access| {
            let operand = at.kernel.operand(access);
            let number = at.cursors[&operand].levels;
            let level = at.kernel.levels(access.tensor).get(number);
            let follows = level.is_some_and(|level| {
                let is_run = level.is_full() && !level.is_computed();
                is_run && access.var(level.mode()) == Some(var)
            });
            if follows && !followed.contains(&operand) {
                followed.push(operand);
            }
        });
    });
    let begin = |operand| Follower::begin(b, at, operand, var);
    followed.into_iter().map(begin).collect()
}

impl Follower {
    fn begin(b: &mut Builder, at: &Context<'_>, operand: Operand, var: IndexVar) -> Self {
        let number = at.cursors[&operand].levels;
        let Segment { lo, hi, entries } = at.entries_below(operand, number);
        let Coordinates::Runs { bounds, before } = entries.crd else {
            unreachable!("a full level that is not computed has runs");
        };
        let name = at.position_name(operand, number);
        let after = before.add(1);
        let first = match at.ranges.get(&var) {
            None => lo,
            Some(range) => {
                let wanted = Wanted::Above(range.lo.clone());
                let within = lo.add(after.clone())..hi.add(after.clone());
                let end = bisect(b, &format!("{name}_found"), bounds, within, &wanted);
                Expr::Var(end).binary(BinaryOp::Sub, after.clone())
            }
        };
        Self {
            operand,
            levels: number + 1,
            position: b.var_(&name, first),
            bounds,
            after,
        }
    }

    /// Moves to the run that `i` is in.
    pub(crate) fn follow(&self, b: &mut Builder, i: Var, at: &mut Context<'_>) {
        let p = self.position;
        let end = Expr::load(self.bounds, Expr::Var(p).add(self.after.clone()));
        b.while_loop(end.binary(BinaryOp::Le, i), |b| {
            b.assign(p, Expr::Var(p).add(1));
        });
        let cursor = Cursor::at(self.levels, p);
        at.cursors.insert(self.operand, cursor);
    }
}
