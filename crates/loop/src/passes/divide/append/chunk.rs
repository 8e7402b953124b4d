//! What chunks do that append: the statements around their iterations.

use std::collections::{HashMap, HashSet};

use super::Appended;
use crate::ir::{Access, BinaryOp, Block, Buffer, BufferData, Expr, Failure, Stmt, Var};
use crate::mark::Mark;
use crate::passes::divide::combine::{Shape, rename};
use crate::passes::divide::reserve::{Reserved, with};
use crate::passes::divide::shifts::limit;
use crate::passes::divide::{Divider, Loop, assign};
use crate::walk::{for_each_block_mut, for_each_stmt, rewrite_exprs};

/// A unit makes room for so many entries of each array at first.
const ROOM: i64 = 1024;

/// What a chunk counts.
struct Counted {
    /// What it begins to count at, if not at 0.
    first: Option<Var>,
    /// What it has counted up to.
    part: Var,
    /// Where its first entry belongs.
    base: Var,
    /// How much less than it should be what is computed from `part` is.
    shift: Var,
    /// Where the next chunk's first entry belongs.
    end: Var,
}

impl Divider<'_> {
    /// Has iterations of `body` append to pieces, or where it belongs; what to do around,
    /// where a chunk's iterations are those from `lo` to `hi`.
    pub(in crate::passes::divide) fn append(
        &mut self,
        appended: &Appended,
        range: &Loop,
        [lo, hi]: [Expr; 2],
        body: &mut Block,
        block: &mut Block,
    ) -> Shape {
        let mut shape = Shape::default();
        without_limits(body, &appended.counters);
        shape.after.push(Stmt::Turn);
        let ends = self.fixed_array("ends", appended.counters.len() as i64);
        let mut counted = HashMap::new();
        let mut stop = Block::new();
        for (at, &counter) in appended.counters.iter().enumerate() {
            let at = Expr::int(at as i64);
            let store = |value: Expr| Stmt::Store {
                buffer: ends,
                index: at.clone(),
                value,
                reduce: None,
            };
            let name = self.function.vars[counter].name.clone();
            block.push(store(counter.into()));
            let first = appended.reserved.as_ref().map(|reserved| {
                let begin = format!("{name}_begin");
                let begin = self.declare(&begin, counter, false, block);
                let before = reserved.between(counter, &range.lo, &lo);
                let first = Expr::Var(begin).add(before);
                self.declare(&format!("{name}_first"), first, false, &mut shape.before)
            });
            let part = first.map_or(Expr::int(0), Expr::Var);
            let part = self.declare(&format!("{name}_part"), part, true, &mut shape.before);
            rename(body, counter, part);
            let base = Expr::load(ends, at.clone());
            let base = self.declare(&format!("{name}_base"), base, false, &mut shape.after);
            let shift = first.map_or(base, |first| {
                let shift = Expr::Var(base).binary(BinaryOp::Sub, first);
                self.declare(&format!("{name}_shift"), shift, false, &mut shape.after)
            });
            let end = Expr::Var(shift).add(part);
            let end = self.declare(&format!("{name}_end"), end, false, &mut shape.after);
            stop.push(store(end.into()));
            for (_, most) in appended.limits.iter().filter(|(it, _)| *it == counter) {
                shape.after.push(Stmt::If {
                    condition: Expr::Var(end).binary(BinaryOp::Gt, most.clone()),
                    then: vec![Stmt::Fail(Failure::WidthOverflow)],
                    otherwise: Block::new(),
                });
            }
            shape
                .behind
                .push(assign(counter, Expr::load(ends, at.clone())));
            let here = Counted {
                first,
                part,
                base,
                shift,
                end,
            };
            counted.insert(counter, here);
        }
        shape.after.append(&mut stop);
        match &appended.reserved {
            None => {
                self.make_room(appended, &counted, &mut shape.after);
                shape.after.push(Stmt::Pass);
                let pieces = appended.pieces.iter();
                let pieces: Vec<Buffer> = pieces.map(|it| self.piece(it.buffer, body)).collect();
                self.put_in_place(appended, &pieces, &counted, &mut shape.after);
                self.shift_placed(appended, range, [lo, hi], &counted, &mut shape.after);
            }
            Some(reserved) => {
                reserve_room(appended, reserved, range, block);
                without_growth(body, appended);
                let arrays: Vec<Buffer> = appended.pieces.iter().map(|it| it.buffer).collect();
                self.put_in_place(appended, &arrays, &counted, &mut shape.after);
                self.shift_placed(appended, range, [lo, hi], &counted, &mut shape.after);
            }
        }
        shape
    }

    /// In a chunk's turn: has arrays grow by its piece.
    fn make_room(
        &mut self,
        appended: &Appended,
        counted: &HashMap<Var, Counted>,
        block: &mut Block,
    ) {
        for piece in &appended.pieces {
            let end = counted[&piece.counter].end;
            block.push(Stmt::Grow {
                buffer: piece.buffer,
                len: piece.len(end.into()),
            });
        }
    }

    /// Copies what a chunk has appended to where it belongs.
    fn put_in_place(
        &mut self,
        appended: &Appended,
        from: &[Buffer],
        counted: &HashMap<Var, Counted>,
        block: &mut Block,
    ) {
        for (piece, &from) in appended.pieces.iter().zip(from) {
            let here = &counted[&piece.counter];
            let at = self.var("at", false);
            let begin = plus(&piece.start, at.into());
            let place = |first: Var| times(&piece.scale, first).add(begin.clone());
            let (first, n) = match here.first {
                None => (begin.clone(), Expr::Var(here.part)),
                Some(first) => {
                    let n = Expr::Var(here.part).binary(BinaryOp::Sub, first);
                    (place(first), n)
                }
            };
            let value = Expr::load(from, first);
            let counts = piece.counts.as_ref().map(|(counter, _)| &counted[counter]);
            let copy = Stmt::For {
                var: at,
                lo: Expr::int(0),
                hi: scaled(&piece.scale, n),
                mark: Mark::default(),
                body: vec![Stmt::Store {
                    buffer: piece.buffer,
                    index: place(here.base),
                    value: match &piece.counts {
                        None => value,
                        Some((counter, scale)) => value.add(times(scale, counted[counter].shift)),
                    },
                    reduce: None,
                }],
            };
            push_where_off(block, [Some(here), counts], copy);
        }
    }

    /// Adds to what a chunk has stored apart how much less, or more, it was than it should be.
    fn shift_placed(
        &mut self,
        appended: &Appended,
        range: &Loop,
        [lo, hi]: [Expr; 2],
        counted: &HashMap<Var, Counted>,
        block: &mut Block,
    ) {
        for placed in &appended.placed {
            let again = self.var(&range.name, false);
            let index = with(&placed.index, range.var, &again.into());
            let (counter, scale) = placed.counts.as_ref().expect("it counts something");
            let add = Stmt::For {
                var: again,
                lo: lo.clone(),
                hi: hi.clone(),
                mark: Mark::default(),
                body: vec![Stmt::Store {
                    buffer: placed.buffer,
                    index,
                    value: times(scale, counted[counter].shift),
                    reduce: Some(BinaryOp::Add),
                }],
            };
            push_where_off(block, [Some(&counted[counter]), None], add);
        }
    }

    /// A unit's own array in the place of `buffer`, with room wherever that is
    /// stored to.
    fn piece(&mut self, buffer: Buffer, body: &mut Block) -> Buffer {
        let data = self.function.buffers[buffer].clone();
        let name = format!("{}_piece", data.name.replace('.', "_"));
        let piece = self.function.buffers.push(BufferData {
            name: self.function.fresh_name(&name),
            access: Access::Own,
            ..data
        });
        self.made.push(Stmt::Alloc {
            buffer: piece,
            len: Expr::int(ROOM),
        });
        let mut is_grown = false;
        for_each_stmt(body, &mut |stmt| {
            is_grown |= matches!(stmt, Stmt::Grow { buffer: grown, .. } if *grown == buffer);
        });
        rewrite_exprs(body, &mut |expr| {
            if let Expr::Load { buffer: loaded, .. } = expr
                && *loaded == buffer
            {
                *loaded = piece;
            }
        });
        for_each_block_mut(body, &mut |block| {
            for mut stmt in std::mem::take(block) {
                if let Stmt::Store { buffer: used, .. }
                | Stmt::Fill { buffer: used, .. }
                | Stmt::Grow { buffer: used, .. } = &mut stmt
                    && *used == buffer
                {
                    *used = piece;
                    if let Stmt::Store { index, .. } = &stmt
                        && !is_grown
                    {
                        block.push(Stmt::Grow {
                            buffer: piece,
                            len: index.clone().add(1),
                        });
                    }
                }
                block.push(stmt);
            }
        });
        piece
    }
}

/// Takes out what compares counters with the most that they may be.
fn without_limits(body: &mut Block, counters: &[Var]) {
    let counters: HashSet<Var> = counters.iter().copied().collect();
    for_each_block_mut(body, &mut |block| {
        block.retain(|stmt| limit(stmt, &counters).is_none());
    });
}

/// Adds `stmt`, for where a chunk that stores where its entries belong has begun behind that.
fn push_where_off(block: &mut Block, counted: [Option<&Counted>; 2], stmt: Stmt) {
    let counted = counted.into_iter().flatten();
    let shifts = counted.filter(|it| it.first.is_some()).map(|it| it.shift);
    let mut shifts: Vec<Var> = shifts.collect();
    shifts.dedup();
    let is_off = shifts.into_iter().map(|shift| Expr::Var(shift).less(0));
    let is_off = is_off.reduce(|all, one| all.binary(BinaryOp::Or, one));
    match (is_off, block.last_mut()) {
        (None, _) => block.push(stmt),
        (
            Some(is_off),
            Some(Stmt::If {
                condition, then, ..
            }),
        ) if *condition == is_off => {
            then.push(stmt);
        }
        (Some(condition), _) => block.push(Stmt::If {
            condition,
            then: vec![stmt],
            otherwise: Block::new(),
        }),
    }
}

/// Before the chunks: has arrays grow by what they append at most.
fn reserve_room(appended: &Appended, reserved: &Reserved, range: &Loop, block: &mut Block) {
    for piece in &appended.pieces {
        let most = reserved.between(piece.counter, &range.lo, &range.hi);
        block.push(Stmt::Grow {
            buffer: piece.buffer,
            len: piece.len(Expr::Var(piece.counter).add(most)),
        });
    }
}

/// Takes out what makes room in arrays that have it.
fn without_growth(body: &mut Block, appended: &Appended) {
    let has_room = |buffer| appended.pieces.iter().any(|piece| piece.buffer == buffer);
    for_each_block_mut(body, &mut |block| {
        block.retain(|stmt| !matches!(stmt, Stmt::Grow { buffer, .. } if has_room(*buffer)));
    });
}

/// `scale * var`
fn times(scale: &Expr, var: Var) -> Expr {
    scaled(scale, var.into())
}

/// `scale * number`
pub(super) fn scaled(scale: &Expr, number: Expr) -> Expr {
    match *scale == Expr::int(1) {
        true => number,
        false => number.mul(scale.clone()),
    }
}

/// `start + more`
pub(super) fn plus(start: &Expr, more: Expr) -> Expr {
    match *start == Expr::int(0) {
        true => more,
        false => start.clone().add(more),
    }
}
