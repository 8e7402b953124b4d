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
use sparsec_loop::{BinaryOp, Buffer, Expr, Stmt as Loop, Var};

use crate::bisect::Wanted;
use crate::cursor::{Bindings, Cursor, Place};
use crate::level::{Coordinates, Segment};
use crate::statement::Lowerer;

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

impl Lowerer<'_> {
    /// Begins to follow every level of runs below a cursor that a loop over `var`
    /// goes along.
    pub(crate) fn begin_runs(
        &mut self,
        var: IndexVar,
        body: &Stmt,
        bindings: &Bindings,
    ) -> Vec<Follower> {
        let mut followed = Vec::new();
        body.for_each_assign(&mut |_, _, rhs| {
            rhs.for_each_access(&mut |access| {
                let operand = self.operands.find(access);
                let operand = operand.expect("operands hold every access");
                let number = bindings.cursors[&operand].levels;
                let level = self.formats.of(access.tensor).levels().get(number);
                let follows = level.is_some_and(|level| {
                    let is_run = level.is_full() && !level.is_computed();
                    is_run && access.var(level.mode()) == Some(var)
                });
                if follows && !followed.contains(&operand) {
                    followed.push(operand);
                }
            });
        });
        let begin = |operand| self.begin_run(operand, var, bindings);
        followed.into_iter().map(begin).collect()
    }

    fn begin_run(&mut self, operand: Operand, var: IndexVar, bindings: &Bindings) -> Follower {
        let number = bindings.cursors[&operand].levels;
        let access = self.operands.access(operand);
        let place = &bindings.cursors[&operand].place;
        let Segment { lo, hi, entries } = self.level_arrays(access, number).segment(place);
        let Coordinates::Runs { bounds, before } = entries.crd else {
            unreachable!("a full level that is not computed has runs");
        };
        let name = self.position_name(operand, number);
        let after = before.add(1);
        let first = match bindings.ranges.get(&var) {
            None => lo,
            Some(range) => {
                let wanted = Wanted::Above(range.lo.clone());
                let (lo, hi) = (lo.add(after.clone()), hi.add(after.clone()));
                let end = self.bisect(&format!("{name}_found"), bounds, lo, hi, &wanted);
                Expr::Var(end).binary(BinaryOp::Sub, after.clone())
            }
        };
        Follower {
            operand,
            levels: number + 1,
            position: self.builder.var_(&name, first),
            bounds,
            after,
        }
    }

    /// Moves to the runs that `i` is in.
    pub(crate) fn follow_runs(&mut self, i: Var, bindings: &mut Bindings) {
        for follower in std::mem::take(&mut bindings.runs) {
            let p = follower.position;
            let end = Expr::load(follower.bounds, Expr::Var(p).add(follower.after));
            let body = self.block(|it| it.builder.assign(p, Expr::Var(p).add(1)));
            self.builder.push(Loop::While {
                condition: end.binary(BinaryOp::Le, i),
                body,
            });
            let cursor = Cursor {
                levels: follower.levels,
                place: Place::At(Expr::Var(p)),
            };
            bindings.cursors.insert(follower.operand, cursor);
        }
    }
}
