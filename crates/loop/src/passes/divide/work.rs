//! How much work a loop does, and where equal shares of it end.
//!
//! ```text
//! for i in 0..n {
//!   for p in A.pos[i]..A.pos[i + 1] { for k in 0..m { … } }
//! }
//!
//! total      A.pos[n] - A.pos[0] + n      entries and rows
//! weight     m                            of each
//! ```
//!
//! The array of positions ascends, so a search finds the row where a share of the
//! entries ends. What is stored there is not trusted for more than speed: each
//! chunk begins where the one before ends.

use sparsec_base::{ElementType, Scalar};

use super::{Divider, Loop, assign, difference};
use crate::ir::{BinaryOp, Block, Buffer, Expr, Function, Stmt, Var};
use crate::walk::for_each_stmt;

/// What a loop is taken to run through whose bounds are not known outside.
const UNKNOWN: i64 = 8;

/// How much work a loop does.
pub(super) struct Work {
    /// Rows and entries.
    pub(super) total: Expr,
    /// How much work each is; at most the grain, since beyond that it decides nothing.
    pub(super) weight: Expr,
    /// The arrays that say where the entries of iterations begin.
    pub(super) positions: Vec<Buffer>,
}

/// The work of `range` with this body.
pub(super) fn of(range: &Loop, function: &Function, body: &Block, grain: u32) -> Work {
    let positions = positions(function, range.var, body);
    let mut total = difference(&range.hi, &range.lo);
    for &buffer in &positions {
        let (end, begin) = (&range.hi, &range.lo);
        let entries = Expr::load(buffer, end.clone());
        let entries = entries.binary(BinaryOp::Sub, Expr::load(buffer, begin.clone()));
        total = total.add(entries);
    }
    let estimate = Estimate {
        var: range.var,
        body,
        grain: i64::from(grain),
        unknown: match [&range.lo, &range.hi].map(number) {
            // Blocks, of which somebody chose how many there are.
            [Some(_), Some(_)] => i64::from(grain),
            _ => UNKNOWN,
        },
    };
    let weight = match positions.is_empty() {
        true => estimate.of(body),
        false => {
            body.iter()
                .map(|stmt| estimate.of_entries(stmt))
                .fold(Expr::int(1), |most, weight| match (&most, &weight) {
                    (Expr::Const(_), _) => weight,
                    _ => most,
                })
        }
    };
    Work {
        total,
        weight: estimate.bounded(weight),
        positions,
    }
}

/// The arrays that a loop over `var` reads at `var` and at `var + 1` in the bounds
/// of what it does, whatever it finds there.
fn positions(function: &Function, var: Var, body: &Block) -> Vec<Buffer> {
    let at = [Expr::Var(var), Expr::Var(var).add(1)];
    let mut read: [Vec<Buffer>; 2] = [Vec::new(), Vec::new()];
    let mut look = |expr: &Expr| {
        expr.any(&mut |part| {
            if let Expr::Load { buffer, index } = part {
                for (at, read) in at.iter().zip(&mut read) {
                    if **index == *at {
                        read.push(*buffer);
                    }
                }
            }
            false
        });
    };
    for stmt in body {
        match stmt {
            Stmt::For { lo, hi, .. } => {
                look(lo);
                look(hi);
            }
            Stmt::While { condition, .. } => look(condition),
            Stmt::Declare { value, .. } => look(value),
            _ => {}
        }
    }
    let [first, next] = read;
    let mut found = Vec::new();
    for buffer in first {
        let kind = &function.buffers[buffer];
        let is_index = kind.compute == ElementType::I64;
        if is_index
            && bounds_loop(body, buffer)
            && next.contains(&buffer)
            && !is_stored(body, buffer)
            && !found.contains(&buffer)
        {
            found.push(buffer);
        }
    }
    found
}

/// Whether the entries of `buffer` bound an inner loop: as they stand in its
/// bounds or condition, or by variables that they are given to.
fn bounds_loop(body: &Block, buffer: Buffer) -> bool {
    let loads = |expr: &Expr| {
        expr.any(&mut |part| matches!(part, Expr::Load { buffer: from, .. } if *from == buffer))
    };
    let mut given = Vec::new();
    for stmt in body {
        if let Stmt::Declare { var, value } = stmt
            && loads(value)
        {
            given.push(*var);
        }
    }
    let bounds = |expr: &Expr| loads(expr) || given.iter().any(|var| expr.reads(*var));
    let mut found = false;
    for_each_stmt(body, &mut |stmt| {
        if let Stmt::For { lo, hi, .. } = stmt {
            found |= bounds(lo) && bounds(hi);
        }
        if let Stmt::While { condition, .. } = stmt {
            found |= bounds(condition);
        }
    });
    found
}

fn is_stored(body: &Block, wanted: Buffer) -> bool {
    let mut found = false;
    for_each_stmt(body, &mut |stmt| {
        found |= stmt.stored_buffers().any(|buffer| buffer == wanted);
    });
    found
}

/// Estimates from bounds that are known before a loop.
struct Estimate<'f> {
    var: Var,
    /// What the loop repeats: variables of it are not known before.
    body: &'f Block,
    grain: i64,
    /// What a loop inside is taken to run through whose bounds are not known.
    unknown: i64,
}

impl Estimate<'_> {
    /// How much work a block is: that of its most expensive statement.
    fn of(&self, block: &Block) -> Expr {
        let mut most = Expr::int(1);
        for stmt in block {
            let weight = match stmt {
                Stmt::For { lo, hi, body, .. } => self.times(lo, hi, self.of(body)),
                Stmt::Fill { lo, hi, .. } => self.times(lo, hi, Expr::int(1)),
                Stmt::While { body, .. } => self.product(Expr::int(self.unknown), self.of(body)),
                Stmt::If {
                    then, otherwise, ..
                } => most_of(self.of(then), self.of(otherwise)),
                _ => Expr::int(1),
            };
            most = most_of(most, weight);
        }
        most
    }

    /// How much work each entry is that a statement goes through.
    fn of_entries(&self, stmt: &Stmt) -> Expr {
        match stmt {
            Stmt::For { body, .. } | Stmt::While { body, .. } => self.of(body),
            _ => Expr::int(1),
        }
    }

    fn times(&self, lo: &Expr, hi: &Expr, each: Expr) -> Expr {
        let count = match self.is_known(lo) && self.is_known(hi) {
            true => self.bounded(difference(hi, lo)),
            false => Expr::int(self.unknown),
        };
        self.product(count, each)
    }

    fn product(&self, a: Expr, b: Expr) -> Expr {
        match (number(&a), number(&b)) {
            (Some(a), Some(b)) => Expr::int(a.saturating_mul(b)),
            (Some(1), _) => b,
            (_, Some(1)) => a,
            _ => self.bounded(a.mul(b)),
        }
    }

    fn is_known(&self, expr: &Expr) -> bool {
        let mut written = vec![self.var];
        for_each_stmt(self.body, &mut |stmt| written.extend(stmt.written_var()));
        !expr.any(&mut |part| match part {
            Expr::Const(_) => false,
            Expr::Var(var) => written.contains(var),
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, ..) => false,
            _ => true,
        })
    }

    fn bounded(&self, weight: Expr) -> Expr {
        match number(&weight) {
            Some(number) => Expr::int(number.clamp(1, self.grain)),
            None => weight.binary(BinaryOp::Min, self.grain),
        }
    }
}

fn number(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Const(Scalar::I64(number)) => Some(*number),
        _ => None,
    }
}

/// The larger of two constants, or what is no constant.
fn most_of(a: Expr, b: Expr) -> Expr {
    match (number(&a), number(&b)) {
        (Some(a), Some(b)) => Expr::int(a.max(b)),
        (None, _) => a,
        _ => b,
    }
}

impl Divider<'_> {
    /// Finds where the shares of chunks end; the array that holds it.
    pub(super) fn cuts(
        &mut self,
        range: &Loop,
        work: &Work,
        chunks: Var,
        step: Var,
        block: &mut Block,
    ) -> Buffer {
        let cuts = self.fixed_array(&format!("{}_cuts", range.name), range.parts + 1);
        let store = |index: Expr, value: Expr| Stmt::Store {
            buffer: cuts,
            index,
            value,
            reduce: None,
        };
        block.push(store(Expr::int(0), range.lo.clone()));
        let chunk = self.var(&format!("{}_cut", range.name), false);
        let mut body = Block::new();
        let wanted = range.share(work.total.clone(), Expr::Var(chunk).mul(step));
        let wanted = self.declare(&format!("{}_share", range.name), wanted, false, &mut body);
        let before = Expr::Var(chunk).binary(BinaryOp::Sub, 1);
        let before = Expr::load(cuts, before);
        let first = self.declare(&format!("{}_first", range.name), before, true, &mut body);
        let last = range.hi.clone();
        let last = self.declare(&format!("{}_last", range.name), last, true, &mut body);
        let mut search = Block::new();
        let middle = Expr::Var(first).add(last).binary(BinaryOp::FloorDiv, 2);
        let middle = self.declare(
            &format!("{}_middle", range.name),
            middle,
            false,
            &mut search,
        );
        let mut so_far = difference(&middle.into(), &range.lo);
        for &buffer in &work.positions {
            let begin = Expr::load(buffer, range.lo.clone());
            so_far = so_far.add(Expr::load(buffer, middle).binary(BinaryOp::Sub, begin));
        }
        search.push(Stmt::If {
            condition: so_far.less(wanted),
            then: vec![assign(first, Expr::Var(middle).add(1))],
            otherwise: vec![assign(last, middle.into())],
        });
        body.push(Stmt::While {
            condition: Expr::Var(first).less(last),
            body: search,
        });
        body.push(store(chunk.into(), first.into()));
        block.push(Stmt::For {
            var: chunk,
            lo: Expr::int(1),
            hi: chunks.into(),
            mark: crate::mark::Mark::default(),
            body,
        });
        block.push(store(chunks.into(), range.hi.clone()));
        cuts
    }
}
