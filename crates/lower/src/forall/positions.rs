//! Loops over positions of an operand, one or several levels of it at once.
//!
//! ```text
//! fuse(i, j, f); pos(f, p, A(i,j))      A : csr
//!
//! let pA1_begin = A1.pos[0]             all of the last level's positions
//! let pA1_finish = A1.pos[n]            below the first level's
//! var pA0 = the last with A1.pos[pA0] <= pA1_begin
//! for pA1 in pA1_begin..pA1_finish {
//!   while A1.pos[pA0 + 1] <= pA1 { pA0 += 1 }
//!   i = pA0; j = A1.crd[pA1]; … }
//! ```
//!
//! Going up from a position: the parent of a `compressed` entry is the segment
//! that holds it, found by a search where the loop begins and followed from
//! there; of a `singleton` entry it is at the same position; of a `dense` one,
//! the position divided by the extent.
//!
//! Where iterations may run at once, each searches for itself.
//!
//! Source: Senanayake et al., OOPSLA 2020, §5 (position loops, coordinate
//! recovery), <https://doi.org/10.1145/3428226>.

use sparsec_base::ElementType;
use sparsec_graph::scheduled::{position_access, position_levels};
use sparsec_index::IndexVar;
use sparsec_index::concrete::Clause;
use sparsec_loop::{BinaryOp, Buffer, Builder, Expr, Var};

use super::computed::computing;
use super::stretch::stretch;
use crate::bisect::{Wanted, bisect};
use crate::context::{Context, Loop};
use crate::cursor::{Cursor, Place};
use crate::level::Holes;
use crate::positions::{LevelPositions, Positions};
use crate::result::{reserve, with_result};

/// The position of a parent, a variable that follows the level below.
#[derive(Clone, Debug)]
struct Follower {
    position: Var,
    pos: Buffer,
}

/// Finds out which positions there are, before the first loop that is derived from them.
pub(super) fn begin(b: &mut Builder, at: &mut Context<'_>, var: IndexVar) {
    let kernel = at.kernel;
    let concrete = kernel.concrete;
    let Some(number) = concrete.positions_above(var) else {
        return;
    };
    let mut outer = at.loops.iter();
    if outer.any(|outer| concrete.positions_above(*outer) == Some(number)) {
        return;
    }
    let Clause::Pos {
        var,
        pos,
        tensor,
        indices,
    } = &concrete.clauses[number].clause
    else {
        unreachable!("the number is that of a clause of positions");
    };
    let access = position_access(concrete, *tensor, indices);
    let operand = kernel.operand(&access);
    let numbers = position_levels(&access, &concrete.originals(*var), kernel.formats)
        .expect("the statement is lowerable");
    let mut place = at.cursors[&operand].place.clone();
    let mut levels = Vec::new();
    for number in numbers {
        let segment = at.level_arrays(operand, number).segment(&place);
        let name = at.position_name(operand, number);
        let lo = Expr::Var(b.let_(&format!("{name}_begin"), segment.lo));
        let hi = Expr::Var(b.let_(&format!("{name}_finish"), segment.hi));
        place = Place::Run {
            lo: lo.clone(),
            hi: hi.clone(),
        };
        levels.push(LevelPositions { number, lo, hi });
    }
    at.positions.insert(*pos, Positions { operand, levels });
}

/// The loop that binds what positions stand for.
pub(super) fn over_positions(b: &mut Builder, at: &Context<'_>, number: usize, this: Loop<'_>) {
    let Loop { var, body } = this;
    let concrete = at.kernel.concrete;
    let Clause::Pos {
        var: above, pos, ..
    } = &concrete.clauses[number].clause
    else {
        unreachable!("the number is that of a clause of positions");
    };
    let originals = concrete.originals(*above);
    let range = stretch(b, at, var, *pos);
    let positions = &at.positions[pos];
    let begin = positions.last().lo.clone();
    let first = begin.clone().add(range.lo.clone());
    let end = begin.clone().add(range.hi.clone());
    let mark = at.mark();
    let at_once = mark.parallel.is_some();
    let name = at.position_name(positions.operand, positions.last().number);
    let mut followers = match at_once {
        true => Vec::new(),
        false => begin_followers(b, at, positions, first.clone()),
    };
    let p = b.fixed(&name, ElementType::I64);
    let single = match originals[..] {
        [var] => Some(Loop { var, body }),
        _ => None,
    };
    if let Some(single) = single {
        let visited = end.clone().binary(BinaryOp::Sub, first.clone());
        reserve(b, at, single, visited);
    }
    b.marked_loop(p, first..end, mark, |b| {
        let mut inner = at.clone();
        range.bind(&Expr::Var(p).binary(BinaryOp::Sub, begin), &mut inner);
        match at_once {
            true => followers = begin_followers(b, &inner, positions, Expr::Var(p)),
            false => follow(b, at, positions, &followers, p),
        }
        let is_entry = recover(b, &mut inner, (positions, &originals), &followers, p);
        let cursor = Cursor::at(positions.last().number + 1, p);
        inner.cursors.insert(positions.operand, cursor);
        inner.advance();
        // What is computed from these coordinates may lie outside of its mode.
        b.if_some(is_entry, |b| match single {
            Some(single) => with_result(b, &inner, single, |b, inner| {
                computing(b, inner.clone(), body);
            }),
            None => computing(b, inner, body),
        });
    });
}

/// For each level with segments but the first, the position of its parent,
/// from the last level up, where the last level is at `first`.
fn begin_followers(
    b: &mut Builder,
    at: &Context<'_>,
    positions: &Positions,
    first: Expr,
) -> Vec<Follower> {
    let operand = positions.operand;
    let mut followers = Vec::new();
    let mut position = first;
    for pair in positions.levels.windows(2).rev() {
        let [parent, child] = pair else {
            unreachable!("windows of two");
        };
        let child = at.level_arrays(operand, child.number);
        if let Some(above) = child.parent_of(position.clone()) {
            position = above;
            continue;
        }
        let pos = child.arrays.pos(child.number);
        let name = at.position_name(operand, parent.number);
        // The segment that begins last at or before the position.
        let segments = parent.lo.clone()..parent.hi.clone();
        let found = bisect(b, &name, pos, segments, &Wanted::Above(position));
        b.assign(found, Expr::Var(found).binary(BinaryOp::Sub, 1));
        position = Expr::Var(found);
        followers.push(Follower {
            position: found,
            pos,
        });
    }
    followers
}

/// Moves the parents' positions to those of the entry at `p`.
fn follow(
    b: &mut Builder,
    at: &Context<'_>,
    positions: &Positions,
    followers: &[Follower],
    p: Var,
) {
    let mut followers = followers.iter();
    let mut position = Expr::Var(p);
    for child in positions.levels[1..].iter().rev() {
        let child = at.level_arrays(positions.operand, child.number);
        if let Some(above) = child.parent_of(position.clone()) {
            position = above;
            continue;
        }
        let follower = followers.next().expect("each level with segments has one");
        let next = Expr::Var(follower.position).add(1);
        let ends = Expr::load(follower.pos, next.clone());
        b.while_loop(ends.binary(BinaryOp::Le, position), |b| {
            b.assign(follower.position, next);
        });
        position = Expr::Var(follower.position);
    }
}

/// Binds the variables that the position `p` of the last level stands for. The result says whether
/// there is an entry, where a place may have none: then its coordinate is the extent.
fn recover(
    b: &mut Builder,
    at: &mut Context<'_>,
    (positions, originals): (&Positions, &[IndexVar]),
    followers: &[Follower],
    p: Var,
) -> Option<Expr> {
    let root = match &at.cursors[&positions.operand].place {
        Place::At(position) => position.clone(),
        Place::Run { lo, .. } => lo.clone(),
    };
    let mut followers = followers.iter();
    let mut position = Expr::Var(p);
    let mut is_entry: Option<Expr> = None;
    for (number, (level, original)) in positions.levels.iter().zip(originals).enumerate().rev() {
        let level = at.level_arrays(positions.operand, level.number);
        let parent = match (number, level.parent_of(position.clone())) {
            (0, _) => root.clone(),
            (_, Some(parent)) => parent,
            (_, None) => {
                let follower = followers.next().expect("each level with segments has one");
                Expr::Var(follower.position)
            }
        };
        let coordinate = level.coordinate(&parent, position);
        let i = at.kernel.coordinate(b, *original);
        b.declare(i, coordinate);
        let segment = level.segment(&Place::At(parent.clone()));
        if let Holes::Marked { mark, .. } = segment.entries.holes {
            let is_inside = Expr::Var(i).less(mark);
            is_entry = Some(match is_entry {
                Some(others) => others.and(is_inside),
                None => is_inside,
            });
        }
        at.coordinates.insert(*original, Expr::Var(i));
        position = parent;
    }
    is_entry
}
