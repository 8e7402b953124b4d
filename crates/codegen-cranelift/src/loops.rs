//! Loops.
//!
//! They test at the end, so that a turn takes one jump:
//!
//! ```text
//!   if lo < hi:
//!     i = lo
//!     do { body; i = i + 1 } while i < hi
//! ```
//!
//! One that is to be written out several times counts by as many, as long as there are so
//! many turns, and then goes on by one.
//!
//! Loops that sum what they load have the test in a block of its own, to which an empty loop jumps too:
//!
//! ```text
//!   if lo < hi {
//!     turn: t = t + a[i] * x[crd[i]]; i = i + 1              vmulsd (%rsi, %r14, 8), …
//!   }
//!   test: if i < hi goto turn
//! ```
//!
//! A sum in the block of the test would have two uses: the next iteration and what follows the loop.
//! Cranelift makes no load a part of an instruction whose result has several uses, directly or by
//! others. A block with two predecessors takes the sum as a parameter, which is one use. So the
//! loop has one jump for each entry, and multiplies what it reads from memory.
//!
//! Loops that keep many values from one iteration to the next test at the beginning: sums in lanes and
//! tiles, bodies that are written out several times, and loops over segments. With the test at the end,
//! these values are moved behind it, and a second jump leads back.

use std::collections::HashSet;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use sparsec_base::Scalar;
use sparsec_loop::walk::rewrite_exprs;
use sparsec_loop::{BinaryOp, Block, Buffer, Expr, Function, Mark, Stmt, Var};

use crate::again::Again;
use crate::emitter::{Cell, Emitter};
use crate::helper::Helper;
use crate::lanes::{Rows, unaligned};
use crate::number::Number;
use crate::place::varies;
use crate::sums::Sums;

/// Whether the turns of a loop over `body` go one of several ways.
fn branches(body: &Block) -> bool {
    body.iter().any(|stmt| matches!(stmt, Stmt::If { .. }))
}

/// The body of a merge whose operands go on behind the loops for what they both have:
///
/// ```text
/// if jB == jC { for … }               if jB == jC { for …   pB += 1   pC += 1 }
/// pB += jB <= jC               ─►     else { pB += jB <= jC   pC += jC <= jB }
/// pC += jC <= jB
/// ```
///
/// There the outcome is known, and the coordinates need not live across the loops inside,
/// which want all registers.
fn settled(function: &Function, body: &Block) -> Option<Block> {
    let meets = |stmt: &Stmt| {
        matches!(stmt, Stmt::If { then, .. } if then.iter().any(|stmt| {
            matches!(stmt, Stmt::For { .. } | Stmt::While { .. })
        }))
    };
    let at = body.iter().position(meets)?;
    let rest = &body[at + 1..];
    let Stmt::If {
        condition,
        then,
        otherwise,
    } = &body[at]
    else {
        return None;
    };
    let Expr::Binary(BinaryOp::Eq, a, b) = condition else {
        return None;
    };
    let (Expr::Var(a), Expr::Var(b)) = (&**a, &**b) else {
        return None;
    };
    // Numbers that are equal and not the same: zeros of either sign.
    let is_same = |var: Var| {
        let data = &function.vars[var];
        data.element.is_integer() && !data.mutable
    };
    let is_settled = is_same(*a) && is_same(*b) && (1..=4).contains(&rest.len());
    if !(is_settled && is_brief(rest)) {
        return None;
    }
    let mut known = rest.to_vec();
    rewrite_exprs(&mut known, &mut |expr| {
        if *expr == Expr::Var(*b) {
            *expr = Expr::Var(*a);
        }
    });
    let mut settled = body[..at].to_vec();
    settled.push(Stmt::If {
        condition: condition.clone(),
        then: [then.clone(), known].concat(),
        otherwise: [otherwise.clone(), rest.to_vec()].concat(),
    });
    Some(settled)
}

/// Bodies are written out at most so many times.
const MOST_TURNS: usize = 16;

/// What differs from turn to turn of a loop over `var`: the variable itself, and what the body
/// computes of it. Nothing, if the body has jumps.
fn varying(function: &Function, var: Var, body: &[Stmt]) -> HashSet<Var> {
    if !is_brief(body) {
        return HashSet::new();
    }
    let mut varying = HashSet::from([var]);
    for stmt in body {
        if let Stmt::Declare { var, value } = stmt
            && !function.vars[*var].mutable
            && varies(&varying, value)
        {
            varying.insert(*var);
        }
    }
    varying
}

/// Whether a body is worth writing out several times: without jumps.
fn is_brief(body: &[Stmt]) -> bool {
    body.iter().all(|stmt| {
        matches!(
            stmt,
            Stmt::Declare { .. } | Stmt::Assign { .. } | Stmt::Store { .. } | Stmt::Comment(_)
        )
    })
}

/// Whether a body adds entries of arrays to a variable, or combines them with it otherwise.
fn sums_loads(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Assign { var, value } => {
            let loads = |part: &Expr| matches!(part, Expr::Load { .. });
            value.reads(*var) && value.any(&mut |part| loads(part))
        }
        _ => false,
    })
}

/// A body so many turns later, with what is added to indices last, as offsets are.
fn further(body: &Block, var: Var, turns: i64) -> Block {
    let mut body = body.clone();
    if turns == 0 {
        return body;
    }
    let later = Expr::Var(var).add(Expr::int(turns));
    rewrite_exprs(&mut body, &mut |expr| match expr {
        Expr::Var(other) if *other == var => *expr = later.clone(),
        Expr::Binary(BinaryOp::Add, row, last) if **last == later => {
            *expr = (**row).clone().add(var).add(turns);
        }
        _ => {}
    });
    body
}

impl Emitter<'_, '_> {
    pub(crate) fn for_loop(&mut self, var: Var, lo: &Expr, hi: &Expr, mark: Mark, body: &Block) {
        let known = match (lo, hi) {
            (Expr::Const(Scalar::I64(0)), Expr::Const(Scalar::I64(n))) => Some(*n),
            _ => None,
        };
        let [lo, hi] = match self.segment(lo, hi) {
            Some(bounds) => bounds,
            None => [lo, hi].map(|bound| self.expr(bound).real()),
        };
        let outside = self.innermost.replace(var);
        let before = self.bring_near(None, body);
        let varying = match known {
            // What is written out has one index.
            Some(_) => HashSet::new(),
            None => varying(self.function, var, body),
        };
        let varying = std::mem::replace(&mut self.varying, varying);
        self.for_loop_inside(var, [lo, hi], (known, mark), body);
        self.varying = varying;
        self.leave_loop(before);
        self.innermost = outside;
    }

    fn for_loop_inside(
        &mut self,
        var: Var,
        [lo, hi]: [Value; 2],
        (known, mark): (Option<i64>, Mark),
        body: &Block,
    ) {
        if let Some(sums) = Sums::of(self.function, body) {
            return self.sums(&sums, var, lo, hi);
        }
        let lo = match Rows::of(self.function, var, body) {
            Some(rows) if known.is_some_and(|n| rows.is_short(n)) => {
                let whole = self.all_vectors(&rows, lo, known.unwrap_or(0));
                if Some(whole) == known {
                    return;
                }
                if self.uses_tiles(body) {
                    return self.each_entry(var, whole, known.unwrap_or(0), body);
                }
                self.int(whole)
            }
            Some(rows) => self.vectors(&rows, lo, hi),
            None => match mark.unroll as usize {
                times @ 2..=MOST_TURNS if is_brief(body) => {
                    self.several(times, var, [lo, hi], body)
                }
                _ => lo,
            },
        };
        let merge = std::mem::replace(&mut self.is_branching, false);
        let walked = self.walked(var, body);
        let turn = |emitter: &mut Self, i| {
            emitter.begin_turn();
            emitter.vars.insert(var, Cell::Fixed(Number::Real(i)));
            emitter.next_segments(var, i);
            emitter.block(body);
        };
        if !walked.is_empty() {
            let first = |emitter: &mut Self| emitter.begin_segments(&walked, var, lo);
            self.count_segments([lo, hi], first, turn);
            self.leave_segments(var);
        } else if self.uses_tiles(body) {
            self.count_by(1, [lo, hi], turn);
        } else if sums_loads(body) {
            self.count_sum([lo, hi], turn);
        } else {
            self.count(lo, hi, turn);
        }
        self.is_branching = merge;
    }

    /// Runs a loop, of which the body is written out so many times, as long as there are so
    /// many turns left; where it goes on.
    fn several(&mut self, times: usize, var: Var, [lo, hi]: [Value; 2], body: &Block) -> Value {
        let times = times as i64;
        let copies: Vec<Block> = (0..times).map(|turn| further(body, var, turn)).collect();
        let last = self.b.ins().iadd_imm_s(hi, 1 - times);
        self.count_by(times, [lo, last], |emitter, i| {
            emitter.begin_turn();
            emitter.vars.insert(var, Cell::Fixed(Number::Real(i)));
            for copy in &copies {
                emitter.block(copy);
            }
        })
    }

    /// Runs `body` with numbers from `lo` by `step`, as long as they are below `hi`; the first that
    /// is not. The test is at the beginning.
    pub(crate) fn count_by(
        &mut self,
        step: i64,
        [lo, hi]: [Value; 2],
        body: impl FnOnce(&mut Self, Value),
    ) -> Value {
        let (test, turn, on) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        let i = self.b.append_block_param(test, types::I64);
        self.b.ins().jump(test, &[lo.into()]);
        self.b.switch_to_block(test);
        // Cranelift places the second of two blocks next: a turn takes one jump that way, too.
        let ends = self.b.ins().icmp(IntCC::SignedGreaterThanOrEqual, i, hi);
        self.b.ins().brif(ends, on, [], turn, []);
        self.enter(turn);
        body(self, i);
        let next = self.b.ins().iadd_imm_s(i, step);
        self.b.ins().jump(test, &[next.into()]);
        self.b.seal_block(test);
        self.enter(on);
        i
    }

    /// Runs `body` with each number from `lo` up to but without `hi`, and `first` before it, if there
    /// are any. The test is at the beginning.
    fn count_segments(
        &mut self,
        [lo, hi]: [Value; 2],
        first: impl FnOnce(&mut Self),
        body: impl FnOnce(&mut Self, Value),
    ) {
        let [begin, on] = std::array::from_fn(|_| self.b.create_block());
        let some = self.b.ins().icmp(IntCC::SignedLessThan, lo, hi);
        self.b.ins().brif(some, begin, [], on, []);
        self.enter(begin);
        first(self);
        self.count_by(1, [lo, hi], body);
        self.b.ins().jump(on, []);
        self.enter(on);
    }

    /// Runs `body` with each number from `lo` up to but without `hi`. The test has a block of its own.
    fn count_sum(&mut self, [lo, hi]: [Value; 2], body: impl FnOnce(&mut Self, Value)) {
        let [turn, test, on] = std::array::from_fn(|_| self.b.create_block());
        let i = self.b.append_block_param(turn, types::I64);
        let next = self.b.append_block_param(test, types::I64);
        // Cranelift places what follows the first of two blocks before the second.
        let some = self.b.ins().icmp(IntCC::SignedLessThan, lo, hi);
        let lo = lo.into();
        self.b.ins().brif(some, turn, &[lo], test, &[lo]);
        self.b.switch_to_block(turn);
        body(self, i);
        let counted = self.b.ins().iadd_imm_s(i, 1);
        self.b.ins().jump(test, &[counted.into()]);
        self.enter(test);
        let more = self.b.ins().icmp(IntCC::SignedLessThan, next, hi);
        self.b.ins().brif(more, turn, &[next.into()], on, []);
        self.b.seal_block(turn);
        self.enter(on);
    }

    /// Runs `body` with each number from `lo` up to but without `hi`.
    pub(crate) fn count(&mut self, lo: Value, hi: Value, body: impl FnOnce(&mut Self, Value)) {
        let (turn, on) = (self.b.create_block(), self.b.create_block());
        let i = self.b.append_block_param(turn, types::I64);
        let some = self.b.ins().icmp(IntCC::SignedLessThan, lo, hi);
        self.b.ins().brif(some, turn, &[lo.into()], on, []);
        self.b.switch_to_block(turn);
        body(self, i);
        let next = self.b.ins().iadd_imm_s(i, 1);
        let more = self.b.ins().icmp(IntCC::SignedLessThan, next, hi);
        self.b.ins().brif(more, turn, &[next.into()], on, []);
        self.b.seal_block(turn);
        self.enter(on);
    }

    pub(crate) fn while_loop(&mut self, condition: &Expr, body: &Block) {
        let (turn, on) = (self.b.create_block(), self.b.create_block());
        let settled = settled(self.function, body);
        let body = settled.as_ref().unwrap_or(body);
        let before = self.bring_near(Some(condition), body);
        let outside = std::mem::replace(&mut self.is_branching, branches(body));
        self.branch(condition, turn, on);
        self.b.switch_to_block(turn);
        self.begin_turn();
        if before.keeps {
            self.begin_turn_with_kept();
        }
        self.turn_of(&Again::new(condition, turn, on), body);
        self.is_branching = outside;
        self.b.seal_block(turn);
        self.enter(on);
        self.leave_loop(before);
    }

    pub(crate) fn fill(&mut self, buffer: Buffer, from: &Expr, to: &Expr, value: &Expr) {
        let is_zero = matches!(value, Expr::Const(value) if *value == value.element().zero());
        let (lo, hi) = (self.expr(from).real(), self.expr(to).real());
        let value = self.expr(value);
        if self.fill_tile(buffer, value) {
            return;
        }
        if !is_zero {
            self.count(lo, hi, |emitter, at| {
                let place = emitter.place_at(buffer, at);
                emitter.store(place, value);
            });
            return;
        }
        if let Some(len) = self.function.local_len(buffer)
            && from == &Expr::int(0)
            && to == &Expr::int(len)
        {
            return self.clear(buffer, len);
        }
        let (some, on) = (self.b.create_block(), self.b.create_block());
        let any = self.b.ins().icmp(IntCC::SignedLessThan, lo, hi);
        self.b.ins().brif(any, some, [], on, []);
        self.enter(some);
        let size = self.function.buffers[buffer].storage.size() as i64;
        let count = self.b.ins().isub(hi, lo);
        let bytes = self.b.ins().imul_imm_s(count, size);
        let first = self.address(buffer, lo);
        let zero = self.b.ins().iconst(types::I32, 0);
        let clear = Helper {
            address: libc::memset as *const () as usize,
            takes: &[types::I64, types::I32, types::I64],
            gives: types::I64,
        };
        self.call(clear, &[first, zero, bytes]);
        self.b.ins().jump(on, []);
        self.enter(on);
    }

    /// Zeros in all of a small workspace, without a call.
    fn clear(&mut self, buffer: Buffer, len: i64) {
        let bytes = len as i32 * self.function.buffers[buffer].storage.size() as i32;
        let start = self.int(0);
        let place = self.place_at(buffer, start);
        let flags = unaligned(place.flags);
        let zero = self.int(0);
        let zeros = self.b.ins().splat(types::I64X2, zero);
        let mut at = 0;
        while at < bytes {
            let (ty, zero) = match bytes - at {
                left if left >= 16 => (types::I64X2, zeros),
                left if left >= 8 => (types::I64, zero),
                _ => (types::I8, self.b.ins().iconst(types::I8, 0)),
            };
            let offset = place.offset + at;
            self.b.ins().store(flags, zero, place.address, offset);
            at += ty.bytes() as i32;
        }
    }
}
