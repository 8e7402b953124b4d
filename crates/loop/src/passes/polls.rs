//! Where kernels ask whether anybody still waits for them.
//!
//! Asking takes a load and a branch that is never taken: little beside a loop, and much in
//! one. So what is counted is how many turns loops may take between two questions:
//!
//! ```text
//! for i in 0..A.n0 {                             poll
//!   for p in A1.pos[i]..A1.pos[i + 1] {          some entries
//!     for k in 0..C.n1 { … }                     as many as it is known to be: n
//! ```
//!
//! | a loop                                              | takes                      |
//! |-----------------------------------------------------|----------------------------|
//! | over what follows from extents                      | as many turns as these say; any number where they are not known |
//! | over stored entries, and a merge                    | [`SEGMENT`], inside of a loop that asks; outside, any number |
//!
//! Outermost loops that have others inside ask in each turn, and so do loops that would take
//! more than [`MOST`] turns of those inside before the next question. An innermost loop asks
//! in no turn; one that may take more than [`MOST`] is taken in **strips**:
//!
//! ```text
//!                                                let k_strips: i64 = (n + 1048575) // 1048576
//!                                                for k_strip in 0..k_strips {
//!                                                  poll
//!                                                  let k_from: i64 = k_strip * 1048576
//!                                                  let k_to: i64 = min(n, k_from + 1048576)
//! for k in 0..n { … }                       ─►     for k in k_from..k_to { … }
//!
//!                                                while pB < n and pC < m {
//!                                                  poll
//!                                                  let pB_to: i64 = min(n, pB + 1048576)
//!                                                  let pC_to: i64 = min(m, pC + 1048576)
//! while pB < n and pC < m { … }             ─►     while pB < pB_to and pC < pC_to { … }
//! ```
//!
//! Outermost fills that are known to be long are taken in strips as well. What is computed
//! does not change, nor in which order. A loop over what one row stores is left as it is, and
//! takes no longer than going through memory once.

use std::collections::{HashMap, HashSet};

use sparsec_base::ElementType;

use crate::ir::{BinaryOp, Block, Buffer, Expr, Function, Stmt, Var};
use crate::mark::Mark;
use crate::walk::for_each_stmt;
use crate::workspaces::{changed_vars, value_of};

/// So many turns of innermost loops may lie between two questions, where it is known how
/// many there are: some milliseconds.
const MOST: u64 = 1 << 20;

/// A guess of how many entries are stored in a row.
const SEGMENT: u64 = 1 << 9;

/// So many entries are filled between two questions, where it is known how many there are.
const FILLED: i64 = 1 << 23;

/// The turns of a loop that is marked as one of few, such as what lanes leave, and of one over
/// what chunks leave.
const FEW: u64 = 8;

/// From so many turns inside on, asking in each turn of a loop costs nothing beside them.
const WORTH_ASKING: u64 = 64;

/// The turns that calling a function is worth, such as `pow`.
const CALL: u64 = 8;

/// Any number of turns.
const ANY: i128 = 1 << 62;

/// Has long loops ask, by what is known of extents; the bits that a valid function computes
/// stay the same, for operands of any extents.
pub fn polls(function: &mut Function, extent: &dyn Fn(Var) -> Option<u64>) {
    let extents = function.arguments.iter().flat_map(|it| it.extents.iter());
    let known = extents.map(|&var| (var, extent(var).map_or(ANY, i128::from)));
    let known: HashMap<Var, i128> = known.collect();
    let changed = changed_vars(function);
    let mut body = std::mem::take(&mut function.body);
    let mut polls = Polls {
        changed,
        chunked: Vec::new(),
        first: known.clone(),
        last: known,
        function,
    };
    polls.block(&mut body, true);
    function.body = body;
    super::check_after("polls", function);
}

struct Polls<'f> {
    function: &'f mut Function,
    /// Variables that are assigned.
    changed: HashSet<Var>,
    /// How many chunks there are of the loops so far: few.
    chunked: Vec<Expr>,
    /// What is known of variables in the first turns of the loops around.
    first: HashMap<Var, i128>,
    /// The same, in the last turns.
    last: HashMap<Var, i128>,
}

impl Polls<'_> {
    /// Adds polls to the loops of a block; what these take.
    fn block(&mut self, block: &mut Block, is_outermost: bool) -> Turns {
        let mut turns = Turns {
            calls: n_calls(block),
            ..Turns::default()
        };
        for mut stmt in std::mem::take(block) {
            let more = self.stmt(&mut stmt, is_outermost, block);
            turns.all = turns.all.saturating_add(more.all);
            turns.unasked = turns.unasked.saturating_add(more.unasked);
            block.push(stmt);
        }
        turns
    }

    /// The same for a statement; what is to be declared before it goes into `before`.
    fn stmt(&mut self, stmt: &mut Stmt, is_outermost: bool, before: &mut Block) -> Turns {
        match stmt {
            // Chunks are handed out one by one, and each has outermost loops.
            Stmt::For {
                var,
                lo,
                hi,
                mark,
                body,
                ..
            } if mark.chunks => {
                self.enter(*var, lo, hi);
                self.chunked.push(hi.clone());
                self.block(body, true)
            }
            Stmt::For {
                var,
                lo,
                hi,
                mark,
                body,
            } => {
                let turns = match mark.unroll {
                    1 => FEW,
                    _ if self.chunked.contains(hi) => FEW,
                    _ => self.turns(lo, hi, is_outermost),
                };
                self.enter(*var, lo, hi);
                let inside = self.block(body, false);
                let asking = Asking::of(turns, inside, is_outermost);
                match asking {
                    Asking::Not => {}
                    Asking::EachTurn => body.insert(0, Stmt::Poll),
                    Asking::InStrips(strip) => self.strips(stmt, strip, before),
                }
                inside.times(turns, &asking)
            }
            Stmt::While { condition, body } => {
                let turns = if is_outermost { u64::MAX } else { SEGMENT };
                if !touches(condition, body) {
                    return Turns::default();
                }
                let inside = self.block(body, false);
                let asking = Asking::of(turns, inside, is_outermost);
                match asking {
                    Asking::Not => {}
                    Asking::EachTurn => body.insert(0, Stmt::Poll),
                    Asking::InStrips(strip) => {
                        if let Some(stripped) = self.merge_in_strips(condition, body, strip) {
                            *stmt = stripped;
                        }
                    }
                }
                inside.times(turns, &asking)
            }
            Stmt::Fill { lo, hi, .. } if is_outermost => {
                if (i128::from(FILLED) + 1..ANY).contains(&self.n_filled(lo, hi)) {
                    self.strips(stmt, FILLED, before);
                }
                Turns::default()
            }
            Stmt::Declare { var, value } => {
                if !self.changed.contains(var) {
                    let values = [value_of(value, &self.first), value_of(value, &self.last)];
                    self.first.extend(values[0].map(|value| (*var, value)));
                    self.last.extend(values[1].map(|value| (*var, value)));
                }
                Turns::default()
            }
            stmt => {
                let blocks = stmt.blocks_mut().into_iter();
                let turns = blocks.map(|block| self.block(block, is_outermost));
                turns.fold(Turns::default(), |most, turns| Turns {
                    all: most.all.max(turns.all),
                    unasked: most.unasked.max(turns.unasked),
                    ..most
                })
            }
        }
    }

    /// How many turns a loop takes at most.
    fn turns(&self, lo: &Expr, hi: &Expr, is_outermost: bool) -> u64 {
        let at = |known: &HashMap<Var, i128>| {
            let hi = value_of(hi, known)?;
            Some(hi.saturating_sub(value_of(lo, known).unwrap_or(0)).max(0))
        };
        let turns = at(&self.first).max(at(&self.last));
        match turns {
            Some(turns) => u64::try_from(turns).unwrap_or(u64::MAX),
            None if is_outermost => u64::MAX,
            None => SEGMENT,
        }
    }

    /// How many entries are filled, where that is known; else none.
    fn n_filled(&self, lo: &Expr, hi: &Expr) -> i128 {
        let bounds = (value_of(lo, &self.first), value_of(hi, &self.first));
        let (Some(lo), Some(hi)) = bounds else {
            return 0;
        };
        hi.saturating_sub(lo)
    }

    /// Notes from where to where a loop goes; where that is not known, its turn at zero stands
    /// for all of them.
    fn enter(&mut self, var: Var, lo: &Expr, hi: &Expr) {
        let lo = value_of(lo, &self.first).unwrap_or(0);
        let hi = value_of(hi, &self.last).or(value_of(hi, &self.first));
        let last = hi.map_or(lo, |hi| hi.saturating_sub(1).max(lo));
        self.first.insert(var, lo);
        self.last.insert(var, last);
    }

    /// Takes a loop or a fill in strips of so many turns.
    fn strips(&mut self, stmt: &mut Stmt, strip: i64, before: &mut Block) {
        let (name, lo, hi) = match stmt {
            Stmt::For { var, lo, hi, .. } => (self.function.vars[*var].name.clone(), lo, hi),
            Stmt::Fill { buffer, lo, hi, .. } => {
                let name = self.function.buffers[*buffer].name.replace('.', "_");
                (name, lo, hi)
            }
            _ => unreachable!("it goes over a range"),
        };
        // Bounds are evaluated once, as they were.
        let mut once = |polls: &mut Self, bound: &Expr, part: &str| match bound {
            Expr::Const(_) => bound.clone(),
            Expr::Var(var) if !polls.changed.contains(var) => bound.clone(),
            _ => polls
                .declare(&format!("{name}_{part}"), bound.clone(), before)
                .into(),
        };
        let (start, end) = (once(self, lo, "start"), once(self, hi, "end"));
        let from_zero = start == Expr::int(0);
        let len = match from_zero {
            true => end.clone(),
            false => end.clone().binary(BinaryOp::Sub, start.clone()),
        };
        let n = len.add(strip - 1).binary(BinaryOp::FloorDiv, strip);
        let n = self.declare(&format!("{name}_strips"), n, before);
        let number = self.fresh(&format!("{name}_strip"));
        let mut body = vec![Stmt::Poll];
        let from = Expr::Var(number).mul(strip);
        let from = match from_zero {
            true => from,
            false => start.add(from),
        };
        let from = self.declare(&format!("{name}_from"), from, &mut body);
        let to = end.binary(BinaryOp::Min, Expr::Var(from).add(strip));
        let to = self.declare(&format!("{name}_to"), to, &mut body);
        (*lo, *hi) = (from.into(), to.into());
        let strips = Stmt::For {
            var: number,
            lo: Expr::int(0),
            hi: n.into(),
            mark: Mark::default(),
            body: Block::new(),
        };
        let inside = std::mem::replace(stmt, strips);
        body.push(inside);
        if let Stmt::For { body: outside, .. } = stmt {
            *outside = body;
        }
    }

    /// A merge in strips, of which each goes no further than `strip` along any operand. Other
    /// loops ask in each turn.
    fn merge_in_strips(&mut self, condition: &Expr, body: &mut Block, strip: i64) -> Option<Stmt> {
        let Some(bounds) = self.bounds(condition, body) else {
            body.insert(0, Stmt::Poll);
            return None;
        };
        let mut outside = vec![Stmt::Poll];
        let mut limited: Option<Expr> = None;
        for (var, bound) in bounds {
            let name = format!("{}_to", self.function.vars[var].name);
            let to = bound.binary(BinaryOp::Min, Expr::Var(var).add(strip));
            let to = self.declare(&name, to, &mut outside);
            let part = Expr::Var(var).less(to);
            limited = Some(match limited {
                Some(limited) => limited.and(part),
                None => part,
            });
        }
        outside.push(Stmt::While {
            condition: limited?,
            body: std::mem::take(body),
        });
        Some(Stmt::While {
            condition: condition.clone(),
            body: outside,
        })
    }

    /// The variables that a loop goes on with, and how far each: where all that its
    /// condition asks is whether they are there, and the loop does not move that.
    fn bounds(&self, condition: &Expr, body: &Block) -> Option<Vec<(Var, Expr)>> {
        let (mut assigned, mut stored) = (HashSet::new(), HashSet::<Buffer>::new());
        for_each_stmt(body, &mut |stmt| {
            if let Stmt::Assign { var, .. } = stmt {
                assigned.insert(*var);
            }
            stored.extend(stmt.stored_buffers());
        });
        let stays = |bound: &Expr| {
            !bound.any(&mut |part| match part {
                Expr::Var(var) => assigned.contains(var),
                Expr::Load { buffer, .. } => stored.contains(buffer),
                _ => false,
            })
        };
        match condition {
            Expr::Binary(BinaryOp::And, left, right) => {
                let mut bounds = self.bounds(left, body)?;
                bounds.extend(self.bounds(right, body)?);
                Some(bounds)
            }
            Expr::Binary(BinaryOp::Lt, left, right) => match **left {
                Expr::Var(var)
                    if assigned.contains(&var)
                        && self.function.vars[var].element == ElementType::I64
                        && stays(right) =>
                {
                    Some(vec![(var, (**right).clone())])
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn fresh(&mut self, name: &str) -> Var {
        self.function.fresh_var(name, ElementType::I64, false)
    }

    fn declare(&mut self, name: &str, value: Expr, block: &mut Block) -> Var {
        let var = self.fresh(name);
        block.push(Stmt::Declare { var, value });
        var
    }
}

/// Whether a loop goes along arrays, and not just doubles a number until it suffices.
fn touches(condition: &Expr, body: &Block) -> bool {
    let mut touches = condition.loads();
    for_each_stmt(body, &mut |stmt| {
        touches |= stmt.stored_buffers().next().is_some();
        stmt.for_each_expr(&mut |expr| touches |= expr.loads());
    });
    touches
}

/// How many functions are called in a block, loops inside included.
fn n_calls(block: &Block) -> u64 {
    let mut n = 0;
    for_each_stmt(block, &mut |stmt| {
        stmt.for_each_expr(&mut |expr| {
            expr.any(&mut |part| {
                n += u64::from(matches!(part, Expr::Call(..)));
                false
            });
        });
    });
    n
}

/// The turns of innermost loops.
#[derive(Clone, Copy, Default)]
struct Turns {
    /// In all.
    all: u64,
    /// Between two questions.
    unasked: u64,
    /// The functions that a turn calls.
    calls: u64,
}

impl Turns {
    /// Those that a turn of a loop around takes unasked: one where there are no loops inside,
    /// more where that calls functions.
    fn each(self) -> u64 {
        match self.all {
            0 => (CALL * self.calls).max(1).next_power_of_two(),
            _ => self.unasked.max(1),
        }
    }

    /// Those of a loop of so many turns.
    fn times(self, turns: u64, asking: &Asking) -> Self {
        Self {
            all: turns.saturating_mul(self.all.max(1)),
            unasked: match asking {
                Asking::Not => turns.saturating_mul(self.each()),
                Asking::EachTurn | Asking::InStrips(_) => 1,
            },
            calls: 0,
        }
    }
}

/// Where a loop asks.
enum Asking {
    Not,
    /// In each of its turns.
    EachTurn,
    /// After so many turns each.
    InStrips(i64),
}

impl Asking {
    /// Of a loop of so many turns, each with those `inside`.
    fn of(turns: u64, inside: Turns, is_outermost: bool) -> Self {
        let each = inside.each();
        if is_outermost && inside.all > 0 {
            Self::EachTurn
        } else if turns.saturating_mul(each) <= MOST {
            Self::Not
        } else if inside.all >= WORTH_ASKING {
            Self::EachTurn
        } else {
            let strip = (MOST / each).max(1);
            Self::InStrips(i64::try_from(strip).expect("strips are short"))
        }
    }
}
