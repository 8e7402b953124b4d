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
//! Where it is known before how many entries come at most ([`reserve`](super::reserve)),
//! chunks append to the arrays themselves. What stands behind the places of entries that
//! did not come is moved back, in the chunk's turn:
//!
//! ```text
//! grow crd, p + (B.pos[n] - B.pos[0])
//! for i_chunk in 0..i_chunks chunks {
//!   let p_first: i64 = p_begin + (B.pos[i_first] - B.pos[0])
//!   var p_part: i64 = p_first
//!   for i in … { crd[p_part] = j   p_part += 1   pos[i + 1] = p_part }
//!   turn
//!   let p_base: i64 = ends[0]
//!   let p_shift: i64 = p_base - p_first
//!   ends[0] = p_part + p_shift
//!   if p_shift < 0 { for at in 0..p_part - p_first { crd[p_base + at] = crd[p_first + at] } }
//!   if p_shift < 0 { for i in … { pos[i + 1] += p_shift } }
//! }
//! ```
//!
//! What is computed from what has been counted so far is less in a chunk than it should
//! be ([`shifts`](super::shifts)). The loop appends if that is used for nothing but
//! the places of entries, values that are stored, and what is the same without.
//!
//! How long each array becomes stands behind the loop (`resize crd, p`), which says
//! where its piece begins and ends.

mod chunk;

use std::collections::{HashMap, HashSet};

use self::chunk::{plus, scaled};
use super::reserve::{self, Lengths, Reserved};
use super::shifts::{Shift, Shifts};
use crate::ir::{Access, Block, Buffer, Expr, Function, Stmt, Var};
use crate::walk::for_each_stmt;

/// What the iterations of a loop append.
#[derive(Debug, Default)]
pub(super) struct Appended {
    /// The variables that count it.
    counters: Vec<Var>,
    /// The most that some of them may reach.
    limits: Vec<(Var, Expr)>,
    pieces: Vec<Piece>,
    placed: Vec<Placed>,
    /// Where chunks begin in the arrays themselves, if that is known before.
    reserved: Option<Reserved>,
}

impl Appended {
    /// Whether chunks append to arrays of their own.
    pub(super) fn has_pieces(&self) -> bool {
        self.reserved.is_none()
    }
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

impl Piece {
    /// How long the array is once so many are counted.
    fn len(&self, counted: Expr) -> Expr {
        plus(&self.start, scaled(&self.scale, counted))
    }
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
    (var, lo): (Var, &Expr),
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
    let mut lengths = Lengths::new();
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
                lengths.insert(buffer, (*counter, len.clone()));
                let start = reserve::with(&len, *counter, &Expr::int(0));
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
    appended.reserved = reserve::of(function, (var, lo), body, &lengths)
        .filter(|it| appended.counters.iter().all(|counter| it.counts(*counter)));
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
pub(super) fn inlined(expr: &Expr, known: &HashMap<Var, Expr>) -> Expr {
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
