//! A step of a merge of two operands, outcome by outcome.
//!
//! Each outcome knows which coordinate is the least, and what it has to move.

use sparsec_graph::{Operand, Point};
use sparsec_loop::walk::rewrite_exprs;
use sparsec_loop::{BinaryOp, Block, Builder, Expr, Stmt, Var};

use super::ahead::Ahead;
use super::select::{Case, lesser, select, selected};
use crate::context::Context;
use crate::forall::cases::{Part, case};
use crate::result::with_result;
use crate::walker::Walker;

/// Two operands being merged.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    /// The coordinates that both are at.
    read: [Var; 2],
    /// The least of them.
    i: Var,
    /// Moved where they are hit.
    walkers: [Walker; 2],
}

impl Pair {
    /// Two walkers at coordinates whose least is `i`; `None` where there are not two.
    pub(super) fn of(walkers: &[Walker], i: Var, read: &[Var]) -> Option<Self> {
        let ([left, right], &[own, other]) = (walkers, read) else {
            return None;
        };
        let up_to = |walker: &Walker, own: Var, other: Var| Walker {
            hit: Some(Expr::Var(own).binary(BinaryOp::Le, other)),
            ..walker.clone()
        };
        Some(Self {
            read: [own, other],
            i,
            walkers: [up_to(left, own, other), up_to(right, other, own)],
        })
    }

    /// Whether both are at one coordinate.
    fn equal(&self) -> Expr {
        Expr::Var(self.read[0]).equals(self.read[1])
    }

    /// Whether the left one is at the smaller.
    fn less(&self) -> Expr {
        Expr::Var(self.read[0]).less(self.read[1])
    }

    /// One iteration; whether it moves what is known ahead, too.
    pub(super) fn step(
        &self,
        b: &mut Builder,
        part: Part<'_, '_, '_>,
        ahead: Option<&Ahead>,
    ) -> bool {
        let walk = part.walk;
        let mut is_selected = false;
        let inner = walk.inside(b, self.i);
        let repeat = self.walkers.iter().any(|walker| walker.repeats);
        with_result(b, &inner, walk.this, |b, inner| {
            if part.must_meet() && !repeat {
                return self.meet(b, part, inner);
            }
            let (cases, steps): (Vec<Case>, Vec<Block>) = [&[0, 1][..], &[0], &[1]]
                .map(|present| self.outcome(b, part, inner, present))
                .into_iter()
                .unzip();
            let apart = walk.selects().then(|| self.apart(b, &cases, ahead));
            let apart = apart.flatten();
            is_selected = apart.is_some();
            let [mut both, left, right] = [0, 1, 2].map(|at| {
                let mut block = cases[at].block.clone();
                block.extend_from_slice(&steps[at]);
                // Each outcome knows which coordinate is the least.
                let own = self.read[cases[at].walkers[0]];
                rewrite_exprs(&mut block, &mut |expr| {
                    if *expr == Expr::Var(self.i) {
                        *expr = own.into();
                    }
                });
                block
            });
            if let Some(ahead) = ahead {
                both.extend(b.block(|b| ahead.both_move(b)));
            }
            b.push(Stmt::If {
                condition: self.equal(),
                then: both,
                otherwise: apart.unwrap_or_else(|| {
                    vec![Stmt::If {
                        condition: self.less(),
                        then: left,
                        otherwise: right,
                    }]
                }),
            });
        });
        is_selected
    }

    /// A step that does something only where both meet.
    fn meet(&self, b: &mut Builder, part: Part<'_, '_, '_>, at: &Context<'_>) {
        b.if_then(self.equal(), |b| {
            let mut present = self.walkers.clone();
            present.iter_mut().for_each(|walker| walker.hit = None);
            if let Some(point) = part.cases().first() {
                case(b, part.walk, at, point, &present);
            }
        });
        self.walkers.iter().for_each(|walker| walker.step(b));
    }

    /// What is done where the walkers of these numbers are at the least coordinate, and how
    /// they go on.
    fn outcome(
        &self,
        b: &mut Builder,
        part: Part<'_, '_, '_>,
        at: &Context<'_>,
        present: &[usize],
    ) -> (Case, Block) {
        let walkers = present.iter().map(|number| self.walkers[*number].clone());
        let mut walkers: Vec<Walker> = walkers.collect();
        let block = b.block(|b| {
            for walker in &mut walkers {
                walker.hit = None;
                walker.take_run(b, self.i);
            }
            let is_present =
                |operand: &Operand| walkers.iter().any(|walker| walker.operand == *operand);
            let holds = |point: &&Point| point.0.iter().all(is_present);
            if let Some(point) = part.cases().into_iter().find(holds) {
                case(b, part.walk, at, point, &walkers);
            }
        });
        let step = b.block(|b| walkers.iter().for_each(|walker| walker.step(b)));
        let walkers = present.to_vec();
        (Case { walkers, block }, step)
    }

    /// What is done where both are at different coordinates, without branches;
    /// `None` if there is no such way.
    fn apart(&self, b: &mut Builder, cases: &[Case], ahead: Option<&Ahead>) -> Option<Block> {
        let walkers = &self.walkers;
        let chosen = selected(b.function(), walkers, cases)?;
        Some(b.block(|b| {
            let (less, next) = lesser(b, walkers, self.read);
            select(b, &chosen, walkers, std::slice::from_ref(&less));
            for (walker, next) in walkers.iter().zip(next) {
                walker.go_on(b, next);
            }
            if let Some(ahead) = ahead {
                ahead.either_moves(b, &less);
            }
        }))
    }
}
