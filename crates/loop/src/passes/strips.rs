//! Arrays that a loop over rows fills a strip at a time.
//!
//! Slots of rows lie one behind the other: slot `s` of row `i` is entry `s * N + i`. If all of such an
//! array is filled before its entries are stored, it has left the caches by then, and passes
//! through memory twice. So a loop over the rows fills the slots of a **strip** of rows first:
//!
//! ```text
//! fill B[0..S * N], 0.0                 for strip in 0..(N + 1023) // 1024 {
//! for x in 0..S * N { C[x] = M }          let begin = strip * 1024    let end = min(begin + 1024, N)
//! for i in 0..N {                         for slot in 0..S {
//!   for q in … {                 ──►        fill B[slot * N + begin..slot * N + end], 0.0
//!     C[s * N + i] = …                      for x in begin..end { C[slot * N + x] = M } }
//!     B[s * N + i] = … } }                for i in begin..end {
//!                                           for q in … { C[s * N + i] = …   B[s * N + i] = … } } }
//! ```
//!
//! Entries of other rows are at other places, since no index is outside of its array: `s` is a slot.
//!
//! Source: C by hand, rows to slots, ms without strips and with them: 1.0 M rows of 5 slots 10.4 and
//! 6.9, 200,000 of 24 slots 6.3 and 4.4, 1.0 M of 26 slots 37.6 and 24.7. Strips of 256 to 4096 rows
//! take about as long.

use std::collections::HashSet;

use sparsec_base::ElementType;

use crate::ir::{BinaryOp, Block, Buffer, Expr, Function, Stmt, Var};
use crate::mark::Mark;
use crate::walk::for_each_stmt;

/// The rows of a strip.
const ROWS: i64 = 1024;

/// Has outermost loops over rows fill the slots that they store to.
pub fn strips(function: &mut Function) {
    let mut at = 0;
    while at < function.body.len() {
        let fillings = fillings(function, at);
        if !fillings.is_empty() {
            at -= fillings.len();
            in_strips(function, at, &fillings);
        }
        at += 1;
    }
    super::check_after("strips", function);
}

/// An array that is filled before the loop over rows.
struct Filling {
    /// Where in the body.
    at: usize,
    buffer: Buffer,
    value: Expr,
    /// Whether it is filled by one statement.
    is_fill: bool,
    n_slots: Expr,
}

/// The arrays that the loop at a place of the body can fill.
fn fillings(function: &Function, at: usize) -> Vec<Filling> {
    let body = &function.body;
    let Stmt::For {
        var,
        lo,
        hi,
        mark,
        body: rows,
    } = &body[at]
    else {
        return Vec::new();
    };
    if *lo != Expr::int(0) || *mark != Mark::default() || !is_fixed(function, hi) {
        return Vec::new();
    }
    let mut stored = Vec::new();
    for_each_stmt(rows, &mut |stmt| stored.extend(stmt.stored_buffers()));
    let stored: HashSet<Buffer> = stored.into_iter().collect();
    let found = (0..at).filter_map(|before| {
        let filling = filling(function, before, hi)?;
        let is_idle = body[before + 1..at]
            .iter()
            .all(|stmt| !uses(stmt, filling.buffer));
        let is_in_slots = || {
            rows.iter()
                .all(|stmt| stores_in_slots(stmt, filling.buffer, *var, hi))
        };
        (stored.contains(&filling.buffer) && is_idle && is_in_slots()).then_some(filling)
    });
    found.collect()
}

/// The filling of a statement that gives one value to all slots of all rows.
fn filling(function: &Function, at: usize, n_rows: &Expr) -> Option<Filling> {
    let (buffer, lo, hi, value, is_fill) = match &function.body[at] {
        Stmt::Fill {
            buffer,
            lo,
            hi,
            value,
        } => (buffer, lo, hi, value, true),
        Stmt::For {
            var,
            lo,
            hi,
            mark,
            body,
        } if *mark == Mark::default() => match &body[..] {
            [
                Stmt::Store {
                    buffer,
                    index,
                    value,
                    reduce: None,
                },
            ] if *index == Expr::Var(*var) && !value.reads(*var) => (buffer, lo, hi, value, false),
            _ => return None,
        },
        _ => return None,
    };
    let n_slots = slots(function, hi, n_rows)?;
    (*lo == Expr::int(0) && is_fixed(function, value)).then(|| Filling {
        at,
        buffer: *buffer,
        value: value.clone(),
        is_fill,
        n_slots,
    })
}

/// `S` of a length `S * N`, which may have a name.
fn slots(function: &Function, len: &Expr, n_rows: &Expr) -> Option<Expr> {
    let named = |var: Var| {
        let mut body = function.body.iter();
        body.find_map(|stmt| match stmt {
            Stmt::Declare { var: it, value } if *it == var => Some(value),
            _ => None,
        })
    };
    let len = match len {
        Expr::Var(var) if !function.vars[*var].mutable => named(*var)?,
        other => other,
    };
    match len {
        Expr::Binary(BinaryOp::Mul, a, b) => {
            let (slots, rows) = if **b == *n_rows { (a, b) } else { (b, a) };
            (**rows == *n_rows && is_fixed(function, slots)).then(|| (**slots).clone())
        }
        _ => None,
    }
}

/// Whether an expression has the same value wherever it stands: a constant, or a fixed variable.
fn is_fixed(function: &Function, e: &Expr) -> bool {
    match e {
        Expr::Const(_) => true,
        Expr::Var(var) => !function.vars[*var].mutable,
        _ => false,
    }
}

/// Whether a statement reads or changes a buffer.
fn uses(stmt: &Stmt, buffer: Buffer) -> bool {
    let mut found = false;
    stmt.for_each(&mut |stmt| {
        found |= stmt.touched_buffers().any(|it| it == buffer) || loads_in(stmt, buffer);
    });
    found
}

fn loads_in(stmt: &Stmt, buffer: Buffer) -> bool {
    let mut found = false;
    stmt.for_each_expr(&mut |e| {
        found |= e.any(&mut |e| matches!(e, Expr::Load { buffer: it, .. } if *it == buffer));
    });
    found
}

/// Whether a statement uses a buffer to store in slots of the row alone.
fn stores_in_slots(stmt: &Stmt, buffer: Buffer, row: Var, n_rows: &Expr) -> bool {
    let mut all = true;
    stmt.for_each(&mut |stmt| {
        let is_used = stmt.touched_buffers().any(|it| it == buffer);
        let is_in_slot = match stmt {
            Stmt::Store {
                index,
                reduce: None,
                ..
            } => is_slot(index, row, n_rows),
            _ => false,
        };
        all &= !loads_in(stmt, buffer) && (!is_used || is_in_slot);
    });
    all
}

/// Whether an index is `s * N + i`.
fn is_slot(index: &Expr, row: Var, n_rows: &Expr) -> bool {
    let Expr::Binary(BinaryOp::Add, slot, own) = index else {
        return false;
    };
    let is_multiple = match &**slot {
        Expr::Binary(BinaryOp::Mul, a, b) => **a == *n_rows || **b == *n_rows,
        _ => false,
    };
    **own == Expr::Var(row) && is_multiple
}

/// Runs the loop behind these fillings, which are removed, in strips.
fn in_strips(function: &mut Function, at: usize, fillings: &[Filling]) {
    for filling in fillings.iter().rev() {
        function.body.remove(filling.at);
    }
    let Stmt::For { var, hi, body, .. } = function.body[at].clone() else {
        unreachable!("it is a loop over rows");
    };
    let [strip, begin, end] =
        ["strip", "begin", "end"].map(|name| function.fresh_var(name, ElementType::I64, false));
    let first = Expr::Var(strip).mul(ROWS);
    let behind = Expr::Var(begin).add(ROWS).binary(BinaryOp::Min, hi.clone());
    let mut of_strip: Block = vec![
        Stmt::Declare {
            var: begin,
            value: first,
        },
        Stmt::Declare {
            var: end,
            value: behind,
        },
    ];
    of_strip.extend(
        fillings
            .iter()
            .map(|it| it.of_strip(function, [begin, end], &hi)),
    );
    of_strip.push(Stmt::For {
        var,
        lo: begin.into(),
        hi: end.into(),
        mark: Mark::default(),
        body,
    });
    function.body[at] = Stmt::For {
        var: strip,
        lo: Expr::int(0),
        hi: hi.add(ROWS - 1).binary(BinaryOp::FloorDiv, ROWS),
        mark: Mark::default(),
        body: of_strip,
    };
}

impl Filling {
    /// Fills the slots of a strip.
    fn of_strip(&self, function: &mut Function, [begin, end]: [Var; 2], n_rows: &Expr) -> Stmt {
        let slot = function.fresh_var("slot", ElementType::I64, false);
        let at = |row: Var| Expr::Var(slot).mul(n_rows.clone()).add(row);
        let fill = match self.is_fill {
            true => Stmt::Fill {
                buffer: self.buffer,
                lo: at(begin),
                hi: at(end),
                value: self.value.clone(),
            },
            false => {
                let row = function.fresh_var("row", ElementType::I64, false);
                Stmt::For {
                    var: row,
                    lo: begin.into(),
                    hi: end.into(),
                    mark: Mark::default(),
                    body: vec![Stmt::Store {
                        buffer: self.buffer,
                        index: at(row),
                        value: self.value.clone(),
                        reduce: None,
                    }],
                }
            }
        };
        Stmt::For {
            var: slot,
            lo: Expr::int(0),
            hi: self.n_slots.clone(),
            mark: Mark::default(),
            body: vec![fill],
        }
    }
}
