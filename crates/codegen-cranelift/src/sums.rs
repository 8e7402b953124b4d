//! Sums in lanes, a vector of them in a register.
//!
//! ```text
//! let k_first: i64 = k_block * 8
//! t_lane   += C[i * n + k_first] * D[j * n + k_first]
//! t_lane_2 += C[i * n + (k_first + 1)] * D[j * n + (k_first + 1)]
//! …
//!
//!   (t_lane, t_lane_2) += C[i * n + k_first .. + 2] * D[j * n + k_first .. + 2]
//!   …
//! ```
//!
//! That is what the pass `lanes` makes of a reduction along rows. Each lane is added up as
//! it would be alone, so the bits are the same. Before the loop, lanes become vectors, and
//! behind it variables again.

use cranelift_codegen::ir::{InstBuilder, Value};
use sparsec_base::ElementType;
use sparsec_loop::{BinaryOp, Block, Expr, Function, Stmt, Var};

use crate::emitter::{Cell, Emitter};
use crate::lanes::{Rows, WIDTH, has_lanes};
use crate::number::Number;

/// A loop that adds to lanes.
pub(crate) struct Sums<'f> {
    /// Declares the number of the first entry.
    first: &'f Stmt,
    /// What each lane is combined with, that of the first entry.
    value: &'f Expr,
    op: BinaryOp,
    lanes: Vec<Var>,
    rows: Rows<'f>,
}

impl<'f> Sums<'f> {
    /// The body of a loop, if it is such.
    pub(crate) fn of(function: &Function, body: &'f Block) -> Option<Self> {
        let (declared, assigned) = body.split_first()?;
        let Stmt::Declare { var: first, .. } = declared else {
            return None;
        };
        let lane = |stmt: &'f Stmt| match stmt {
            Stmt::Assign {
                var,
                value: Expr::Binary(op, old, value),
            } if **old == Expr::Var(*var) => Some((*var, *op, &**value)),
            _ => None,
        };
        let all: Vec<(Var, BinaryOp, &Expr)> = assigned.iter().map(lane).collect::<Option<_>>()?;
        let &(one, op, value) = all.first()?;
        let element = function.vars[one].element;
        let is_float = matches!(element, ElementType::F32 | ElementType::F64);
        let rows = Rows::read(element, *first);
        let lanes: Vec<Var> = all.iter().map(|(lane, ..)| *lane).collect();
        let reads_lane = |part: &Expr| matches!(part, Expr::Var(var) if lanes.contains(var));
        let follow = || {
            (0..).zip(&all).all(|(number, (lane, same, of))| {
                let is_other = !lanes[..number as usize].contains(lane);
                is_other && *same == op && **of == at(value, *first, number)
            })
        };
        let is_row = is_float
            && has_lanes(op)
            && (lanes.len() * element.size()).is_multiple_of(WIDTH as usize)
            && rows.is_lanes(function, value)
            && !value.any(&mut |part| reads_lane(part))
            && follow();
        is_row.then_some(Self {
            first: declared,
            value,
            op,
            lanes,
            rows,
        })
    }
}

/// An expression where `first` is so much more.
fn at(value: &Expr, first: Var, more: i64) -> Expr {
    let mut value = value.clone();
    if more > 0 {
        value.rewrite(&mut |part| {
            if *part == Expr::Var(first) {
                *part = Expr::Var(first).add(Expr::int(more));
            }
        });
    }
    value
}

impl Emitter<'_, '_> {
    /// Runs such a loop over `var`.
    pub(crate) fn sums(&mut self, sums: &Sums<'_>, var: Var, lo: Value, hi: Value) {
        let vector = sums.rows.vector();
        let per_vector = vector.lane_count() as usize;
        let groups: Vec<&[Var]> = sums.lanes.chunks(per_vector).collect();
        let mut vectors = Vec::new();
        for group in &groups {
            let first = self.variable(group[0]).real();
            let mut value = self.b.ins().splat(vector, first);
            for (number, lane) in (1..).zip(&group[1..]) {
                let lane = self.variable(*lane).real();
                value = self.b.ins().insertlane(value, lane, number);
            }
            let held = self.b.declare_var(vector);
            self.b.def_var(held, value);
            vectors.push(held);
        }
        self.count_by(1, [lo, hi], |emitter, turn| {
            emitter.begin_turn();
            emitter.vars.insert(var, Cell::Fixed(Number::Real(turn)));
            emitter.stmt(sums.first);
            for (number, held) in (0..).zip(&vectors) {
                let value = emitter.lanes(&sums.rows, sums.value, WIDTH * number);
                let old = emitter.b.use_var(*held);
                let value = emitter.combine_lanes(sums.op, old, value);
                emitter.b.def_var(*held, value);
            }
        });
        for (group, held) in groups.iter().zip(&vectors) {
            let value = self.b.use_var(*held);
            for (number, lane) in (0..).zip(*group) {
                let lane_value = self.b.ins().extractlane(value, number);
                self.assign(*lane, Number::Real(lane_value));
            }
        }
    }
}
