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
//! that if comparisons advance the positions. Nor does it if the schedule
//! says `mergeby(i, Select)`, where outcomes differ only in what they store ([`select`]).

use sparsec_graph::{Operand, Point};
use sparsec_loop::{BinaryOp, Block, Builder, Expr, Stmt, Var};

mod ahead;
mod pair;
mod select;

use self::ahead::{Ahead, looking_ahead};
use self::pair::Pair;
use self::select::{Case, hit, select, selected};
use super::cases::{Part, Walk};
use crate::result::{reserve, with_result};
use crate::walker::Walker;

pub(super) fn over_merge(b: &mut Builder, walk: &Walk<'_, '_>) {
    let walkers = walk.begin(b);
    let visited = match &walk.lattice.points[..] {
        // Where all have to be stored, the first bounds them all.
        [_] => Some(walkers[0].left()),
        _ => walkers.iter().map(Walker::left).reduce(Expr::add),
    };
    let visited = visited.expect("a merge has walkers");
    reserve(b, &walk.at, walk.this, visited);
    for point in &walk.lattice.points {
        let mut left = walkers.clone();
        left.retain(|walker| point.0.contains(&walker.operand));
        let part = Part {
            walk,
            point,
            walkers: &left,
        };
        let more = left.iter().map(Walker::has_more).reduce(Expr::and);
        let more = more.expect("a merge has a walker in every part");
        let body = b.block(|b| _ = step(b, part, None));
        let ahead = looking_ahead(b, part, &more, |b, ahead| step(b, part, Some(ahead)));
        let plain = Stmt::While {
            condition: more,
            body,
        };
        b.push(match ahead {
            None => plain,
            Some((condition, then)) => Stmt::If {
                condition,
                then,
                otherwise: vec![plain],
            },
        });
    }
}

/// One iteration. With `ahead`, of two walkers, whether it moves what is known ahead, too.
fn step(b: &mut Builder, part: Part<'_, '_, '_>, ahead: Option<&Ahead>) -> bool {
    let (i, read) = least_coordinate(b, part, ahead);
    let walk = part.walk;
    if let Some(pair) = Pair::of(part.walkers, i, &read) {
        return pair.step(b, part, ahead);
    }
    let mut walkers = part.walkers.to_vec();
    for (walker, own) in walkers.iter_mut().zip(&read) {
        if read.len() > 1 {
            walker.hit = Some(Expr::Var(*own).equals(i));
        }
        walker.take_run(b, i);
    }
    let walkers = &walkers;
    let part = Part { walkers, ..part };
    let must_meet = part.must_meet();
    let inner = walk.inside(b, i);
    with_result(b, &inner, walk.this, |b, inner| {
        let mut blocks = part.blocks(b, inner);
        if must_meet {
            return part.chain(b, blocks, Vec::new());
        }
        if walk.selects() && selected_step(b, part, &read, i, &blocks) {
            return;
        }
        let cases = part.cases();
        let go_on = |b: &mut Builder, failed: &[&Point], case: Option<&Point>| {
            let going = stepping(walkers, failed, case);
            b.block(|b| going.iter().for_each(|walker| walker.step(b)))
        };
        for (number, block) in blocks.iter_mut().enumerate() {
            block.extend(go_on(b, &cases[..number], Some(cases[number])));
        }
        let otherwise = go_on(b, &cases, None);
        part.chain(b, blocks, otherwise);
    });
    // Whether all meet is hard to guess, and no step waits for it.
    if must_meet {
        walkers.iter().for_each(|walker| walker.step(b));
    }
    false
}

/// The step of a loop over more than two operands without branches but for where all
/// of them meet; false if there is none.
fn selected_step(
    b: &mut Builder,
    part: Part<'_, '_, '_>,
    read: &[Var],
    i: Var,
    blocks: &[Block],
) -> bool {
    let walkers = part.walkers;
    let numbers = |case: &Point| {
        let is_in = |at: &usize| case.0.contains(&walkers[*at].operand);
        (0..walkers.len()).filter(is_in).collect()
    };
    let cases = part.cases().into_iter().zip(blocks);
    let cases = cases.map(|(case, block)| Case {
        walkers: numbers(case),
        block: block.clone(),
    });
    let cases: Vec<Case> = cases.collect();
    let Some(chosen) = selected(b.function(), walkers, &cases) else {
        return false;
    };
    let otherwise = b.block(|b| {
        let each = walkers.iter().zip(read);
        let (hits, next): (Vec<Expr>, Vec<Expr>) =
            each.map(|(walker, own)| hit(b, walker, *own, i)).unzip();
        select(b, &chosen, walkers, &hits);
        for (walker, next) in walkers.iter().zip(next) {
            walker.go_on(b, next);
        }
    });
    let then = b.block(|b| {
        b.extend(cases[0].block.clone());
        for walker in walkers {
            walker.go_on(b, Expr::Var(walker.position).add(1));
        }
    });
    let equal = |other: &Var| Expr::Var(read[0]).equals(*other);
    let all = read[1..].iter().map(equal).reduce(Expr::and);
    b.push(Stmt::If {
        condition: all.expect("there are several"),
        then,
        otherwise,
    });
    true
}

/// Reads the coordinate of every walker, unless it is known ahead, and declares the least
/// of them.
fn least_coordinate(
    b: &mut Builder,
    part: Part<'_, '_, '_>,
    ahead: Option<&Ahead>,
) -> (Var, Vec<Var>) {
    let (kernel, var) = (part.walk.at.kernel, part.walk.this.var);
    if let [walker] = part.walkers {
        let i = kernel.coordinate(b, var);
        b.declare(i, walker.coordinate(walker.position));
        return (i, vec![i]);
    }
    let mut read = ahead.map_or_else(Vec::new, Ahead::read);
    if ahead.is_none() {
        for walker in part.walkers {
            let coordinate = walker.coordinate(walker.position);
            read.push(b.let_(&part.walk.name_of_coordinate(walker), coordinate));
        }
    }
    let least = read.iter().map(|var| Expr::Var(*var));
    let least = least.reduce(|a, b| a.binary(BinaryOp::Min, b));
    let i = kernel.coordinate(b, var);
    b.declare(i, least.expect("a merge has a walker in every part"));
    (i, read)
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
