//! A loop that merges several operands: one `while` for each lattice point.
//!
//! ```text
//! two operands         while pb < eb and pc < ec {
//!                        ib = crd_b[pb]; ic = crd_c[pc]
//!                        if ib == ic { both at ib … pb += 1; pc += 1 }
//!                        else if ib < ic { b alone at ib … pb += 1 }
//!                        else { c alone at ic … pc += 1 } }
//!
//! two that must meet   while pb < eb and pc < ec {
//!                        if ib == ic { both … }
//!                        pb += (ib <= ic); pc += (ic <= ib) }
//!
//! more                 while … {
//!                        i = min(ib, ic, id)
//!                        if ib == i and ic == i and id == i … else if …
//!                        pb += (ib == i); pc += (ic == i); pd += (id == i) }
//! ```
//!
//! Two operands have three outcomes, and each knows what it has to move; of
//! more there are too many to tell apart. Where only one outcome does anything,
//! which of them comes next is hard to guess for a processor, and nothing waits for
//! that where positions are moved by what comparisons give. Nor does it, if the schedule
//! says `mergeby(i, Select)`, where outcomes differ only in what they store ([`select`]).

use sparsec_graph::{Lattice, Operand, Point};
use sparsec_index::IndexVar;
use sparsec_index::concrete::{MergeStrategy, Stmt};
use sparsec_loop::walk::rewrite_exprs;
use sparsec_loop::{BinaryOp, Block, Expr, Stmt as Loop, Var};

mod ahead;
mod select;

use self::ahead::Ahead;
use self::select::Case;
use crate::cursor::Bindings;
use crate::statement::Lowerer;
use crate::walk::Behind;
use crate::walker::Walker;

/// Two operands being merged.
#[derive(Clone, Debug)]
struct Pair {
    /// The coordinates that both are at.
    read: [Var; 2],
    /// Moved where they are hit.
    left: Walker,
    right: Walker,
}

impl Pair {
    /// Whether both are at one coordinate.
    fn equal(&self) -> Expr {
        Expr::Var(self.read[0]).equals(self.read[1])
    }

    /// Whether the left one is at the smaller.
    fn less(&self) -> Expr {
        Expr::Var(self.read[0]).less(self.read[1])
    }
}

impl Lowerer<'_> {
    pub(crate) fn over_merge(
        &mut self,
        var: IndexVar,
        body: &Stmt,
        bindings: &Bindings,
        lattice: &Lattice,
        walked: &[Operand],
    ) {
        let walkers: Vec<Walker> = walked
            .iter()
            .map(|operand| self.begin_walk(*operand, var, bindings))
            .collect();
        let visited = match &lattice.points[..] {
            // Where all have to be stored, the first bounds them all.
            [_] => walkers[0].left(),
            _ => walkers
                .iter()
                .map(Walker::left)
                .reduce(Expr::add)
                .expect("a merge has walkers"),
        };
        self.reserve(var, body, visited);
        for point in &lattice.points {
            let part: Vec<Walker> = walkers
                .iter()
                .filter(|walker| point.0.contains(&walker.operand))
                .cloned()
                .collect();
            let more = part
                .iter()
                .map(|walker| Expr::Var(walker.position).less(walker.end.clone()))
                .reduce(Expr::and)
                .expect("a merge has a walker in every part");
            let turn = self.block(|it| {
                it.merge_step(var, body, bindings, lattice, point, &mut part.clone(), None);
            });
            let ahead = self.looking_ahead(&part, &more, var, bindings, |it, part, ahead| {
                it.merge_step(var, body, bindings, lattice, point, part, Some(ahead))
            });
            let turn_by_turn = Loop::While {
                condition: more,
                body: turn,
            };
            self.builder.push(match ahead {
                None => turn_by_turn,
                Some((condition, then)) => Loop::If {
                    condition,
                    then,
                    otherwise: vec![turn_by_turn],
                },
            });
        }
    }

    /// One turn. With `ahead`, of two walkers, whether it moves what is known ahead, too.
    #[allow(clippy::too_many_arguments)]
    fn merge_step(
        &mut self,
        var: IndexVar,
        body: &Stmt,
        bindings: &Bindings,
        lattice: &Lattice,
        point: &Point,
        walkers: &mut [Walker],
        ahead: Option<&Ahead>,
    ) -> bool {
        let (i, read) = self.least_coordinate(var, walkers, ahead);
        if let ([left, right], [left_read, right_read]) = (&*walkers, &read[..]) {
            let up_to = |walker: &Walker, own: Var, other: Var| Walker {
                hit: Some(Expr::Var(own).binary(BinaryOp::Le, other)),
                ..walker.clone()
            };
            let pair = Pair {
                read: [*left_read, *right_read],
                left: up_to(left, *left_read, *right_read),
                right: up_to(right, *right_read, *left_read),
            };
            return self.pair_step(var, body, bindings, lattice, point, i, &pair, ahead);
        }
        for walker in walkers.iter_mut() {
            self.take_run(walker, i);
        }
        let selects = self.merges_by(bindings) == Some(MergeStrategy::Select);
        let inner = self.inside_loop(var, i, bindings);
        let mut cases = lattice.cases(point);
        let must_meet = cases.all(|case| walkers.iter().all(|it| case.0.contains(&it.operand)));
        self.with_result(var, body, &inner, |it, inner| {
            if must_meet {
                let nothing: &Behind<'_> = &|_, _, _| {};
                return it.cases(var, body, inner, lattice, point, walkers, nothing);
            }
            let mut blocks = Vec::new();
            for case in lattice.cases(point).collect::<Vec<_>>().into_iter().rev() {
                blocks.push(it.block(|it| it.case(var, body, inner, case, walkers)));
            }
            blocks.reverse();
            if selects && it.selected_step(lattice, point, walkers, &read, i, &blocks) {
                return;
            }
            let chain = it.block(|it| {
                let cases: Vec<&Point> = lattice.cases(point).collect();
                it.step(&stepping(walkers, &cases, None));
            });
            it.chain(
                lattice,
                point,
                walkers,
                blocks,
                chain,
                &|it, failed, case| {
                    it.step(&stepping(walkers, failed, case));
                },
            );
        });
        // Whether all meet is hard to guess, and no step waits for it.
        if must_meet {
            self.step(walkers);
        }
        false
    }

    /// The step of a loop over more than two operands without branches but for where all
    /// of them meet; false if there is none.
    fn selected_step(
        &mut self,
        lattice: &Lattice,
        part: &Point,
        walkers: &[Walker],
        read: &[Var],
        i: Var,
        blocks: &[Block],
    ) -> bool {
        let numbers = |case: &Point| {
            let is_in = |at: &usize| case.0.contains(&walkers[*at].operand);
            (0..walkers.len()).filter(is_in).collect()
        };
        let cases: Vec<Case> = lattice
            .cases(part)
            .zip(blocks)
            .map(|(case, block)| Case {
                walkers: numbers(case),
                block: block.clone(),
            })
            .collect();
        let Some(selected) = self.selected(walkers, &cases) else {
            return false;
        };
        let otherwise = self.block(|it| {
            let each = walkers.iter().zip(read);
            let (hits, next): (Vec<Expr>, Vec<Expr>) =
                each.map(|(walker, own)| it.hit(walker, *own, i)).unzip();
            it.select(&selected, walkers, &hits);
            for (walker, next) in walkers.iter().zip(next) {
                it.go_on(walker, next);
            }
        });
        let then = self.block(|it| {
            for stmt in &cases[0].block {
                it.builder.push(stmt.clone());
            }
            for walker in walkers {
                it.go_on(walker, Expr::Var(walker.position).add(1));
            }
        });
        let equal = |other: &Var| Expr::Var(read[0]).equals(*other);
        let all = read[1..].iter().map(equal).reduce(Expr::and);
        self.builder.push(Loop::If {
            condition: all.expect("there are several"),
            then,
            otherwise,
        });
        true
    }

    /// The step of a loop over two operands, outcome by outcome.
    #[allow(clippy::too_many_arguments)]
    fn pair_step(
        &mut self,
        var: IndexVar,
        body: &Stmt,
        bindings: &Bindings,
        lattice: &Lattice,
        part: &Point,
        i: Var,
        pair: &Pair,
        ahead: Option<&Ahead>,
    ) -> bool {
        let mut is_selected = false;
        let inner = self.inside_loop(var, i, bindings);
        let must_meet = lattice.cases(part).all(|case| {
            let walkers = [&pair.left, &pair.right];
            walkers
                .iter()
                .all(|walker| case.0.contains(&walker.operand))
        });
        let repeat = pair.left.repeats || pair.right.repeats;
        self.with_result(var, body, &inner, |it, inner| {
            if must_meet && !repeat {
                let both = it.block(|it| {
                    let mut present = [pair.left.clone(), pair.right.clone()];
                    present.iter_mut().for_each(|walker| walker.hit = None);
                    for case in lattice.cases(part).take(1) {
                        it.case(var, body, inner, case, &present);
                    }
                });
                it.builder.push(Loop::If {
                    condition: pair.equal(),
                    then: both,
                    otherwise: Vec::new(),
                });
                return it.step(&[pair.left.clone(), pair.right.clone()]);
            }
            let mut outcome = |present: &[usize]| {
                let mut walkers: Vec<Walker> = present
                    .iter()
                    .map(|at| [&pair.left, &pair.right][*at].clone())
                    .collect();
                let block = it.block(|it| {
                    for walker in &mut walkers {
                        walker.hit = None;
                        it.take_run(walker, i);
                    }
                    let holds = |case: &&Point| {
                        let is_present = |operand: &Operand| {
                            walkers.iter().any(|walker| walker.operand == *operand)
                        };
                        case.0.iter().all(is_present)
                    };
                    if let Some(case) = lattice.cases(part).find(holds) {
                        it.case(var, body, inner, case, &walkers);
                    }
                });
                let step = it.block(|it| it.step(&walkers));
                let walkers = present.to_vec();
                (Case { walkers, block }, step)
            };
            let (cases, steps): (Vec<Case>, Vec<Block>) = [&[0, 1][..], &[0], &[1]]
                .map(&mut outcome)
                .into_iter()
                .unzip();
            let selects = it.merges_by(bindings) == Some(MergeStrategy::Select);
            let apart = selects.then(|| it.apart(pair, &cases, ahead)).flatten();
            is_selected = apart.is_some();
            let [both, left, right] = [0, 1, 2].map(|at| {
                let mut block = cases[at].block.clone();
                block.extend_from_slice(&steps[at]);
                // Each outcome knows which coordinate is the least.
                let own = pair.read[cases[at].walkers[0]];
                rewrite_exprs(&mut block, &mut |expr| {
                    if *expr == Expr::Var(i) {
                        *expr = own.into();
                    }
                });
                block
            });
            let next = it.block(|it| it.all_move_ahead(ahead));
            let both = [both, next].concat();
            it.builder.push(Loop::If {
                condition: pair.equal(),
                then: both,
                otherwise: apart.unwrap_or_else(|| {
                    vec![Loop::If {
                        condition: pair.less(),
                        then: left,
                        otherwise: right,
                    }]
                }),
            });
        });
        is_selected
    }

    /// What is done where two operands are at different coordinates, without branches;
    /// `None` if there is no such way.
    fn apart(&mut self, pair: &Pair, cases: &[Case], ahead: Option<&Ahead>) -> Option<Block> {
        let walkers = [pair.left.clone(), pair.right.clone()];
        let selected = self.selected(&walkers, cases)?;
        Some(self.block(|it| {
            let (less, next) = it.lesser(&walkers, pair.read);
            it.select(&selected, &walkers, std::slice::from_ref(&less));
            for (walker, next) in walkers.iter().zip(next) {
                it.go_on(walker, next);
            }
            it.either_moves_ahead(ahead, &less);
        }))
    }

    /// Reads the coordinate of every walker, unless it is known ahead, and declares the least
    /// of them.
    fn least_coordinate(
        &mut self,
        var: IndexVar,
        walkers: &mut [Walker],
        ahead: Option<&Ahead>,
    ) -> (Var, Vec<Var>) {
        if let [walker] = walkers {
            let i = self.coordinate(var);
            self.builder.declare(i, walker.coordinate(walker.position));
            return (i, vec![i]);
        }
        let read = match ahead {
            Some(ahead) => ahead.read(),
            None => {
                let each = walkers.iter().map(|walker| {
                    let label = self.name_of_coordinate(var, walker);
                    let coordinate = walker.coordinate(walker.position);
                    self.builder.let_(&label, coordinate)
                });
                each.collect()
            }
        };
        let least = read
            .iter()
            .map(|var| Expr::Var(*var))
            .reduce(|a, b| a.binary(BinaryOp::Min, b))
            .expect("a merge has a walker in every part");
        let i = self.coordinate(var);
        self.builder.declare(i, least);
        for (walker, coordinate) in walkers.iter_mut().zip(&read) {
            walker.hit = Some(Expr::Var(*coordinate).equals(i));
        }
        (i, read)
    }
}

/// The walkers that go on where these cases failed and one holds, or none does.
///
/// Those of the case are hit, and go on without a test, which lets the processor
/// guess the next step before this one is known. One is not hit that would have made
/// a case hold that failed; others go on if they are.
fn stepping(walkers: &[Walker], failed: &[&Point], case: Option<&Point>) -> Vec<Walker> {
    let is_hit = |operand: &Operand| case.is_some_and(|case| case.0.contains(operand));
    let is_missed = |walker: &Walker| {
        let failed = failed
            .iter()
            .filter(|point| point.0.contains(&walker.operand));
        let others = |point: &&&Point| {
            let mut others = point.0.iter().filter(|it| **it != walker.operand);
            others.all(is_hit)
        };
        !is_hit(&walker.operand) && walker.run_end.is_none() && failed.clone().any(|it| others(&it))
    };
    let going = walkers.iter().filter(|walker| !is_missed(walker));
    going
        .map(|walker| Walker {
            hit: walker.hit.clone().filter(|_| !is_hit(&walker.operand)),
            ..walker.clone()
        })
        .collect()
}
