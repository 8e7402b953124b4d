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
use sparsec_format::LevelKind;
use sparsec_graph::Operand;
use sparsec_graph::scheduled::{position_access, position_levels};
use sparsec_index::concrete::{Clause, Stmt};
use sparsec_index::{Access, IndexVar};
use sparsec_loop::{BinaryOp, Buffer, Expr, Stmt as Loop, Var};

use crate::bisect::Wanted;
use crate::cursor::{Bindings, Cursor, Place};
use crate::statement::Lowerer;

/// The positions that the loops of one clause go over.
#[derive(Clone, Debug)]
pub(crate) struct Positions {
    operand: Operand,
    /// The levels, the outermost first.
    levels: Vec<LevelPositions>,
}

/// The positions of one level.
#[derive(Clone, Debug)]
struct LevelPositions {
    number: usize,
    kind: LevelKind,
    lo: Expr,
    hi: Expr,
}

/// A position of a level that is not the last: an expression, or a variable
/// that follows the level below.
#[derive(Clone, Debug)]
struct Follower {
    position: Var,
    pos: Buffer,
}

impl Positions {
    /// How many positions there are.
    pub(crate) fn n_positions(&self) -> Expr {
        let last = self.last();
        last.hi.clone().binary(BinaryOp::Sub, last.lo.clone())
    }

    fn last(&self) -> &LevelPositions {
        self.levels.last().expect("positions are those of a level")
    }
}

impl Lowerer<'_> {
    /// Finds out which positions there are, before the first loop that is
    /// derived from them.
    pub(crate) fn begin_positions(&mut self, var: IndexVar, bindings: &Bindings) {
        let concrete = self.concrete;
        let Some(number) = concrete.positions_above(var) else {
            return;
        };
        let mut outer = bindings.loops.iter();
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
        let operand = self.operands.find(&access).expect("the access is read");
        let levels = position_levels(&access, &concrete.originals(*var), self.formats)
            .expect("the statement is lowerable");
        let mut place = bindings.cursors[&operand].place.clone();
        let mut found = Vec::new();
        for number in levels {
            let level = &self.formats.of(*tensor).levels()[number];
            let (lo, hi) = self.below(&access, number, &place);
            let name = self.position_name(operand, number);
            let lo = Expr::Var(self.builder.let_(&format!("{name}_begin"), lo));
            let hi = Expr::Var(self.builder.let_(&format!("{name}_finish"), hi));
            place = Place::Run {
                lo: lo.clone(),
                hi: hi.clone(),
            };
            found.push(LevelPositions {
                number,
                kind: level.kind,
                lo,
                hi,
            });
        }
        let positions = Positions {
            operand,
            levels: found,
        };
        self.positions.insert(*pos, positions);
    }

    /// The positions of a level below a place of the level above.
    fn below(&self, access: &Access, number: usize, place: &Place) -> (Expr, Expr) {
        let segment = self.level_arrays(access, number).segment(place);
        (segment.lo, segment.hi)
    }

    /// The loop that binds what positions stand for.
    pub(crate) fn over_positions(
        &mut self,
        number: usize,
        var: IndexVar,
        body: &Stmt,
        bindings: &Bindings,
    ) {
        let Clause::Pos {
            var: above, pos, ..
        } = &self.concrete.clauses[number].clause
        else {
            unreachable!("the number is that of a clause of positions");
        };
        let originals = self.concrete.originals(*above);
        let mut inner = bindings.clone();
        let range = self.stretch(var, *pos, &inner);
        let positions = self.positions[pos].clone();
        let begin = positions.last().lo.clone();
        let first = begin.clone().add(range.lo.clone());
        let end = begin.clone().add(range.hi.clone());
        let mark = self.concrete.mark(var);
        let at_once = mark.parallel.is_some();
        let name = self.position_name(positions.operand, positions.last().number);
        let mut followers = match at_once {
            true => Vec::new(),
            false => self.begin_followers(&positions, first.clone()),
        };
        let p = self.builder.fixed(&name, ElementType::I64);
        let single = match &originals[..] {
            [original] => Some(*original),
            _ => None,
        };
        if let Some(original) = single {
            self.reserve(
                original,
                body,
                end.clone().binary(BinaryOp::Sub, first.clone()),
            );
        }
        self.marked_loop(p, first, end, mark, |it| {
            range.bind(&Expr::Var(p).binary(BinaryOp::Sub, begin), &mut inner);
            if at_once {
                followers = it.begin_followers(&positions, Expr::Var(p));
            } else {
                it.follow(&positions, &followers, p);
            }
            it.recover(&positions, &followers, p, &originals, &mut inner);
            let operand = positions.operand;
            let cursor = Cursor {
                levels: positions.last().number + 1,
                place: Place::At(Expr::Var(p)),
            };
            inner.cursors.insert(operand, cursor);
            it.advance(&mut inner);
            // What is computed from these coordinates may lie outside of its mode.
            let write = |it: &mut Self, inner: &Bindings| {
                it.computing(body, inner.clone(), &mut |it, inner| it.found(body, inner));
            };
            match single {
                Some(original) => it.with_result(original, body, &inner, write),
                None => write(it, &inner),
            }
        });
    }

    /// For each compressed level but the first, the position of its parent,
    /// from the last level up, where the last level is at `first`.
    fn begin_followers(&mut self, positions: &Positions, first: Expr) -> Vec<Follower> {
        let mut followers = Vec::new();
        let mut at = first;
        let pairs = positions.levels.windows(2).rev();
        for pair in pairs.collect::<Vec<_>>() {
            let [parent, child] = pair else {
                unreachable!("windows of two");
            };
            at = match child.kind {
                LevelKind::Compressed => {
                    let tensor = self.operands.access(positions.operand).tensor;
                    let pos = self.tensors[&tensor].pos(child.number);
                    let name = self.position_name(positions.operand, parent.number);
                    // The segment that begins last at or before the position.
                    let position = self.bisect(
                        &name,
                        pos,
                        parent.lo.clone(),
                        parent.hi.clone(),
                        &Wanted::Above(at),
                    );
                    let before = Expr::Var(position).binary(BinaryOp::Sub, 1);
                    self.builder.assign(position, before);
                    followers.push(Follower { position, pos });
                    Expr::Var(position)
                }
                _ => self.parent_of(positions, child, at),
            };
        }
        followers
    }

    /// The parent's position of an entry whose level is not compressed.
    fn parent_of(&self, positions: &Positions, child: &LevelPositions, at: Expr) -> Expr {
        match child.kind {
            LevelKind::Dense => {
                let access = self.operands.access(positions.operand);
                let level = &self.formats.of(access.tensor).levels()[child.number];
                at.binary(BinaryOp::FloorDiv, self.mode_extent(access, level.mode()))
            }
            _ => at,
        }
    }

    /// Moves the parents' positions to those of the entry at `p`.
    fn follow(&mut self, positions: &Positions, followers: &[Follower], p: Var) {
        let mut followers = followers.iter();
        let mut at = Expr::Var(p);
        for child in positions.levels[1..].iter().rev() {
            if child.kind != LevelKind::Compressed {
                at = self.parent_of(positions, child, at);
                continue;
            }
            let follower = followers.next().expect("each compressed level has one");
            let next = Expr::Var(follower.position).add(1);
            let ends = Expr::load(follower.pos, next.clone());
            let body = self.block(|it| it.builder.assign(follower.position, next));
            self.builder.push(Loop::While {
                condition: ends.binary(BinaryOp::Le, at),
                body,
            });
            at = Expr::Var(follower.position);
        }
    }

    /// Binds the variables that the position `p` of the last level stands for.
    fn recover(
        &mut self,
        positions: &Positions,
        followers: &[Follower],
        p: Var,
        originals: &[IndexVar],
        bindings: &mut Bindings,
    ) {
        let access = self.operands.access(positions.operand).clone();
        let root = bindings.cursors[&positions.operand].place.clone();
        let mut followers = followers.iter();
        let mut at = Expr::Var(p);
        for (place, (level, original)) in positions.levels.iter().zip(originals).enumerate().rev() {
            let parent = match (place, level.kind) {
                (0, _) => match &root {
                    Place::At(position) => position.clone(),
                    Place::Run { lo, .. } => lo.clone(),
                },
                (_, LevelKind::Compressed) => {
                    let follower = followers.next().expect("each compressed level has one");
                    Expr::Var(follower.position)
                }
                _ => self.parent_of(positions, level, at.clone()),
            };
            let coordinate = match level.kind {
                LevelKind::Dense => {
                    let mode = self.formats.of(access.tensor).levels()[level.number].mode();
                    let before = parent.clone().mul(self.mode_extent(&access, mode));
                    at.binary(BinaryOp::Sub, before)
                }
                _ => Expr::load(self.tensors[&access.tensor].crd(level.number), at),
            };
            let i = self.coordinate(*original);
            self.builder.declare(i, coordinate);
            bindings.coordinates.insert(*original, Expr::Var(i));
            at = parent;
        }
    }
}
