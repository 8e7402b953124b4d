//! Loops, and the conditions of merges.
//!
//! A merge that branches has conditions of several parts, as in
//! `pA1 < pA1_end && pB1 < pB1_end` and `jA == j && jB == j`. C compilers evaluate short ones
//! whole, for one jump in place of two; but here a processor guesses the jumps, and each part
//! costs a comparison, a flag kept in a register and an `and`. An empty `asm` statement
//! between the parts has each jump by itself: A + B + C on bands is 1.2 times as fast. A merge
//! that computes how far each operand goes is one where processors guess wrong, and is
//! left as it is.
//!
//! gcc unrolls a loop of up to 17 iterations before it looks for vectors, and finds few in the
//! statements that come of several such loops. Rows of a tile, which store along an array side
//! by side, are told to unroll twice, which puts that off until they are vectors: 8 rows by 16
//! columns of a dense product take 0.08 of the time (gcc 12, AVX-512). A tile of one row takes
//! 1.2 times as long with this mark, and does without. So is a loop told that is inside of another
//! of constant bounds, which gcc would vectorise by permutations in its place: 16 rows by 16
//! columns added to a matrix take 0.4 of the time.

use std::ops::RangeInclusive;

use sparsec_base::{ElementType, Scalar};
use sparsec_loop::{BinaryOp, Block, Expr, Mark, Stmt, Var};

use crate::hint::copies;
use crate::precedence::{Piece, Precedence};
use crate::rows::rows;
use crate::stmt::Writer;
use crate::uses::{keeps_value, may_fail};

/// Whether a loop that goes on while `condition` holds has a case for each way to advance: what
/// the condition names goes on by constants, inside of branches.
fn branches(condition: &Expr, body: &Block) -> bool {
    let (mut advances, mut computes) = (false, false);
    let mut look = |stmt: &Stmt, is_case: bool| {
        if let Stmt::Assign { var, value } = stmt
            && condition.any(&mut |part| *part == Expr::Var(*var))
        {
            let by_constant = matches!(value, Expr::Binary(BinaryOp::Add, from, by)
                if **from == Expr::Var(*var) && matches!(**by, Expr::Const(_)));
            advances = true;
            computes |= !(is_case && by_constant);
        }
    };
    for stmt in body {
        let is_case = matches!(stmt, Stmt::If { .. });
        stmt.for_each(&mut |stmt| look(stmt, is_case));
    }
    advances && !computes
}

/// The turns of loops that gcc unrolls as a whole before it vectorises.
const UNROLLED_EARLY: RangeInclusive<i64> = 4..=17;

/// How often such loops are unrolled in place of that.
const LATE: u32 = 2;

/// Whether a block has several loops that gcc would unroll before it vectorises.
pub(crate) fn is_tile(block: &Block) -> bool {
    let rows = block.iter().filter(|stmt| match stmt {
        Stmt::For {
            var, lo, hi, body, ..
        } => goes_along_few(*var, [lo, hi], body),
        _ => false,
    });
    rows.take(2).count() == 2
}

/// Whether a loop stores along arrays, and gcc would unroll it before it vectorises.
fn goes_along_few(var: Var, bounds: [&Expr; 2], body: &Block) -> bool {
    let [Expr::Const(Scalar::I64(lo)), Expr::Const(Scalar::I64(hi))] = bounds else {
        return false;
    };
    let stores_along = |stmt: &Stmt| match stmt {
        Stmt::Store { index, .. } => index.reads(var),
        Stmt::Declare { .. } | Stmt::Comment(_) => true,
        _ => false,
    };
    let is_store = |stmt: &Stmt| matches!(stmt, Stmt::Store { .. });
    UNROLLED_EARLY.contains(&(hi - lo))
        && body.iter().any(is_store)
        && body.iter().all(stores_along)
}

impl Writer<'_> {
    pub(crate) fn for_loop(&mut self, var: Var, lo: &Expr, hi: &Expr, mark: Mark, body: &Block) {
        let is_inside = self.is_tile || self.is_in_constant;
        let is_kept_for_vectors = is_inside && goes_along_few(var, [lo, hi], body);
        let is_constant = matches!((lo, hi), (Expr::Const(_), Expr::Const(_)));
        let lo = self.expr(lo);
        let again = !may_fail(self.function, hi) && keeps_value(self.function, hi, body);
        let name = self.var_name(var).to_owned();
        let hi = self.expr(hi);
        let hi = if again {
            hi.at(Precedence::Sum)
        } else {
            self.named(&hi, ElementType::I64, &format!("{name}_end"))
        };
        let outside = self.rows.len();
        for row in rows(self.function, var, body) {
            let ty = self.c_type(self.function.buffers[row.buffer].storage);
            let data = self.buffer_name(row.buffer).to_owned();
            let pointer = self.names.fresh(&format!("{data}_row"));
            let start = self.expr(&row.start).at(Precedence::Sum);
            self.line(&format!("const {ty} *{pointer} = {data} + {start};"));
            self.rows.push((row, pointer));
        }
        let unroll = match mark.unroll {
            0 if is_kept_for_vectors => LATE,
            said => said,
        };
        if unroll > 1 {
            self.line(&format!("#pragma GCC unroll {unroll}"));
        }
        self.line(&format!(
            "for (int64_t {name} = {}; {name} < {hi}; {name}++) {{",
            lo.text
        ));
        let is_short = mark.unroll == 1 || self.merges > 0 && copies(body);
        let merge = std::mem::replace(&mut self.is_branching, false);
        let around = std::mem::replace(&mut self.is_in_constant, is_constant);
        self.indented(|w| w.body(body, is_short));
        self.is_branching = merge;
        self.is_in_constant = around;
        self.line("}");
        self.rows.truncate(outside);
    }

    pub(crate) fn while_loop(&mut self, condition: &Expr, body: &Block) {
        if may_fail(self.function, condition) {
            self.line("while (1) {");
            self.indented(|w| {
                let condition = w.expr(condition);
                w.line(&format!(
                    "if (!{}) break;",
                    condition.at(Precedence::Primary)
                ));
                w.block(body);
            });
        } else {
            let outside = std::mem::replace(&mut self.is_branching, branches(condition, body));
            let condition = self.condition(condition);
            self.line(&format!("while ({}) {{", condition.text));
            self.merges += 1;
            self.indented(|w| w.body(body, copies(body)));
            self.merges -= 1;
            self.is_branching = outside;
        }
        self.line("}");
    }

    /// The body of a loop, which may be one of few turns.
    fn body(&mut self, body: &Block, is_short: bool) {
        let is_sorting = body.iter().any(|stmt| matches!(stmt, Stmt::Sort { .. }));
        let outside = std::mem::replace(&mut self.is_sorting, is_sorting);
        if is_short {
            let call = self.helpers.short_loop();
            self.line(call);
        }
        self.block(body);
        self.is_sorting = outside;
    }

    /// The condition of a statement: of one in a merge that branches, part by part.
    pub(crate) fn condition(&mut self, condition: &Expr) -> Piece {
        if let Expr::Binary(BinaryOp::And, left, right) = condition
            && self.is_branching
            && !may_fail(self.function, condition)
        {
            let (left, right) = (self.condition(left), self.expr(right));
            let apart = self.helpers.apart();
            let text = format!(
                "{} && {apart} && {}",
                left.at(Precedence::And),
                right.at(Precedence::Bits)
            );
            return Piece::operation(text, Precedence::And, ElementType::Bool);
        }
        self.expr(condition)
    }
}
