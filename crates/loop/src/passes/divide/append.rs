//! Loops whose iterations append: each chunk appends to pieces of its own, which
//! are put behind those of the chunks before when it has its turn.
//!
//! ```text
//! for i in … parallel(…, Temporary) {
//!   grow crd, p + 1   crd[p] = j   p += 1     pos[i + 1] = p
//! }
//!
//! p_ends[0] = p
//! for i_chunk in 0..i_chunks chunks {
//!   var p_part: i64 = 0
//!   for i in … { grow crd_piece, p_part + 1   crd_piece[p_part] = j   p_part += 1
//!                pos[i + 1] = p_part }
//!   turn
//!   let p_base: i64 = p_ends[0]
//!   let p_end: i64 = p_base + p_part
//!   p_ends[0] = p_end
//!   grow crd, p_end
//!   pass
//!   for at in 0..p_part { crd[p_base + at] = crd_piece[at] }
//!   for i in … { pos[i + 1] += p_base }
//! }
//! p = p_ends[0]
//! ```
//!
//! A piece is small enough to be in a cache when it is copied, so that this costs
//! little; chunks copy side by side, each to places of its own; and what is written is what one chunk alone would have written.
//!
//! What is computed from what has been counted so far is less in a chunk than it should
//! be ([`shifts`](super::shifts)). The loop appends if that is used for nothing but
//! the places of entries, values that are stored, and what is the same without.
//!
//! How long each array becomes stands behind the loop (`resize crd, p`), which says
//! where its piece begins and ends.

use std::collections::{HashMap, HashSet};

use sparsec_base::ElementType;

use super::combine::Shape;
use super::shifts::{Shift, Shifts, limit};
use super::{Divider, Loop, assign};
use crate::ir::{Access, BinaryOp, Block, Buffer, BufferData, Expr, Failure, Function, Stmt, Var};
use crate::mark::Mark;
use crate::walk::{for_each_block_mut, for_each_stmt, rewrite_exprs};

/// A unit makes room for so many entries of each array at first.
const ROOM: i64 = 1024;

/// What the iterations of a loop append.
#[derive(Debug, Default)]
pub(super) struct Appended {
    /// The variables that count it.
    counters: Vec<Var>,
    /// The most that some of them may reach.
    limits: Vec<(Var, Expr)>,
    pieces: Vec<Piece>,
    placed: Vec<Placed>,
}

/// An array that is appended to.
#[derive(Debug)]
struct Piece {
    buffer: Buffer,
    /// So many entries for each that this counter counts.
    counter: Var,
    scale: Expr,
    /// Where the first of them is that the loop appends, if the counter begins at 0.
    start: Expr,
    /// What its values count.
    counts: Shift,
}

/// An array of which each iteration stores one entry at a place of its own, with
/// what a counter is there.
#[derive(Debug)]
struct Placed {
    buffer: Buffer,
    /// A function of the loop's variable.
    index: Expr,
    counts: Shift,
}

/// What a loop over `body` appends, whose own workspaces are `own`; `None` if it
/// does something else. `resized` has the length that an array gets behind the loop.
pub(super) fn of(
    function: &Function,
    var: Var,
    body: &Block,
    own: &HashSet<Buffer>,
    resized: &dyn Fn(Buffer) -> Option<Expr>,
) -> Option<Appended> {
    let mut shifts = Shifts::of(function, body)?;
    shifts.block(body)?;
    let mut appended = Appended {
        counters: shifts.counters.iter().copied().collect(),
        limits: std::mem::take(&mut shifts.limits),
        ..Appended::default()
    };
    appended.counters.sort();
    for (&buffer, place) in &shifts.places {
        let counts = shifts.values.get(&buffer).cloned().flatten();
        let is_own = own.contains(&buffer);
        match place {
            Some(_) if is_own || function.buffers[buffer].access != Access::Grow => return None,
            Some((counter, scale)) => {
                let len = resized(buffer)?;
                if shifts.expr(&len)? != *place {
                    return None;
                }
                let mut start = len;
                start.rewrite(&mut |expr| {
                    if *expr == Expr::Var(*counter) {
                        *expr = Expr::int(0);
                    }
                });
                appended.pieces.push(Piece {
                    buffer,
                    counter: *counter,
                    scale: scale.clone(),
                    start,
                    counts,
                });
            }
            None if counts.is_some() => appended.placed.push(Placed {
                buffer,
                index: placed(function, var, body, buffer)?,
                counts,
            }),
            None => {}
        }
    }
    // Room made for entries that never come is no piece, and is not made by chunks.
    let is_piece = |buffer| appended.pieces.iter().any(|piece| piece.buffer == buffer);
    let mut grows_else = false;
    for_each_stmt(body, &mut |stmt| {
        grows_else |= matches!(stmt, Stmt::Grow { buffer, .. }
            if !own.contains(buffer) && !is_piece(*buffer));
    });
    (!appended.pieces.is_empty() && !grows_else).then_some(appended)
}

/// The index of the one store to `wanted` that each iteration does, as a function of
/// the loop's variable and of what is not changed by the loop.
fn placed(function: &Function, var: Var, body: &Block, wanted: Buffer) -> Option<Expr> {
    let mut n_uses = 0;
    let mut inside = HashSet::new();
    let mut stored = HashSet::new();
    for_each_stmt(body, &mut |stmt| {
        n_uses += stmt.touched_buffers().filter(|it| *it == wanted).count();
        stored.extend(stmt.stored_buffers());
        inside.extend(stmt.written_var());
        stmt.for_each_expr(&mut |expr| n_uses += usize::from(loads_of(expr, wanted)));
    });
    let mut known = HashMap::new();
    for stmt in body {
        match stmt {
            Stmt::Declare { var, value } if !function.vars[*var].mutable => {
                known.insert(*var, inlined(value, &known));
            }
            Stmt::Store {
                buffer,
                index,
                reduce: None,
                ..
            } if *buffer == wanted => {
                let index = inlined(index, &known);
                let changes = index.any(&mut |part| match part {
                    Expr::Var(other) => inside.contains(other) && *other != var,
                    Expr::Load { buffer, .. } => stored.contains(buffer),
                    _ => false,
                });
                return (n_uses == 1 && !changes).then_some(index);
            }
            _ => {}
        }
    }
    None
}

/// `expr` with what variables are known to be in their place.
fn inlined(expr: &Expr, known: &HashMap<Var, Expr>) -> Expr {
    let mut expr = expr.clone();
    expr.rewrite(&mut |part| {
        if let Expr::Var(var) = part
            && let Some(value) = known.get(var)
        {
            *part = value.clone();
        }
    });
    expr
}

fn loads_of(expr: &Expr, wanted: Buffer) -> bool {
    expr.any(&mut |part| matches!(part, Expr::Load { buffer, .. } if *buffer == wanted))
}

impl Divider<'_> {
    /// Has iterations of `body` append to pieces; what to do around, where a chunk's
    /// iterations are those from `lo` to `hi`.
    pub(super) fn append(
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
        let mut bases = HashMap::new();
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
            let part = self.declare(&format!("{name}_part"), 0, true, &mut shape.before);
            super::combine::rename(body, counter, part);
            let base = Expr::load(ends, at.clone());
            let base = self.declare(&format!("{name}_base"), base, false, &mut shape.after);
            let end = Expr::Var(base).add(part);
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
            bases.insert(counter, base);
            counted.insert(counter, (part, end));
        }
        shape.after.append(&mut stop);
        let shifted = |value: Expr, counts: &Shift| match counts {
            None => value,
            Some((counter, scale)) => value.add(times(scale, bases[counter])),
        };
        for piece in &appended.pieces {
            let (_, end) = counted[&piece.counter];
            shape.after.push(Stmt::Grow {
                buffer: piece.buffer,
                len: plus(&piece.start, times(&piece.scale, end)),
            });
        }
        shape.after.push(Stmt::Pass);
        for piece in &appended.pieces {
            let own = self.piece(piece.buffer, body);
            let (part, _) = counted[&piece.counter];
            let at = self.var("at", false);
            let to = times(&piece.scale, bases[&piece.counter]).add(plus(&piece.start, at.into()));
            let from = Expr::load(own, plus(&piece.start, at.into()));
            shape.after.push(Stmt::For {
                var: at,
                lo: Expr::int(0),
                hi: times(&piece.scale, part),
                mark: Mark::default(),
                body: vec![Stmt::Store {
                    buffer: piece.buffer,
                    index: to,
                    value: shifted(from, &piece.counts),
                    reduce: None,
                }],
            });
        }
        for placed in &appended.placed {
            let again = self.var(&range.name, false);
            let mut index = placed.index.clone();
            index.rewrite(&mut |expr| {
                if *expr == Expr::Var(range.var) {
                    *expr = again.into();
                }
            });
            let (counter, scale) = placed.counts.as_ref().expect("it counts something");
            shape.after.push(Stmt::For {
                var: again,
                lo: lo.clone(),
                hi: hi.clone(),
                mark: Mark::default(),
                body: vec![Stmt::Store {
                    buffer: placed.buffer,
                    index,
                    value: times(scale, bases[counter]),
                    reduce: Some(BinaryOp::Add),
                }],
            });
        }
        shape
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

    /// A workspace of `len` integers.
    fn fixed_array(&mut self, name: &str, len: i64) -> Buffer {
        let name = self.function.fresh_name(name);
        let buffer = self.function.buffers.push(BufferData {
            name,
            storage: ElementType::I64,
            compute: ElementType::I64,
            access: Access::Workspace,
        });
        self.made.push(Stmt::Alloc {
            buffer,
            len: Expr::int(len),
        });
        buffer
    }
}

/// Takes out what compares counters with the most that they may be.
fn without_limits(body: &mut Block, counters: &[Var]) {
    let counters: HashSet<Var> = counters.iter().copied().collect();
    for_each_block_mut(body, &mut |block| {
        block.retain(|stmt| limit(stmt, &counters).is_none());
    });
}

/// `scale * var`
fn times(scale: &Expr, var: Var) -> Expr {
    match *scale == Expr::int(1) {
        true => var.into(),
        false => Expr::Var(var).mul(scale.clone()),
    }
}

/// `start + more`
fn plus(start: &Expr, more: Expr) -> Expr {
    match *start == Expr::int(0) {
        true => more,
        false => start.clone().add(more),
    }
}
