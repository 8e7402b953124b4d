//! Rows of arrays, some entries at a time.
//!
//! The innermost loops of products with dense operands go along rows:
//!
//! ```text
//! for j in lo..hi { C[i * n + j] += a * B[k * n + j] }
//!
//!   j = lo
//!   while hi - j >= 4:                        two vectors of two doubles
//!     C[i * n + j .. + 2] += a * B[k * n + j .. + 2];  and so with j + 2
//!     j += 4
//!   the loop as it stands, from j
//! ```
//!
//! A loop whose bounds are constants and that is no longer than a tile is written out.
//!
//! That is done only where no entry can tell: every store goes to a row, no buffer
//! is stored to twice, and what is stored to is loaded at the same entry alone.
//! Buffers share no memory, lanes compute what one number at a time would, and no
//! sum is taken across lanes, so the bits are the same.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value, types};
use sparsec_base::ElementType;
use sparsec_loop::{
    BinaryOp, Block, Buffer, Expr, Function, Intrinsic, Stmt, UnaryOp, Var, passes,
};

use crate::emitter::{Cell, Emitter};
use crate::number::Number;

/// Vectors to a turn: enough to keep the processor's units busy.
const VECTORS: i32 = 2;
/// Bytes of a vector.
pub(crate) const WIDTH: i32 = 16;

/// One store of a loop along rows.
#[derive(Clone, Copy, Debug)]
struct Row<'f> {
    buffer: Buffer,
    index: &'f Expr,
    value: &'f Expr,
    reduce: Option<BinaryOp>,
}

/// A loop along rows of floats of one type.
#[derive(Clone, Debug)]
pub(crate) struct Rows<'f> {
    stores: Vec<Row<'f>>,
    element: ElementType,
    var: Var,
}

impl<'f> Rows<'f> {
    /// The body of a loop over `var`, if it goes along rows.
    pub(crate) fn of(function: &Function, var: Var, body: &'f Block) -> Option<Self> {
        let mut stores = Vec::new();
        for stmt in body {
            match stmt {
                Stmt::Comment(_) => {}
                Stmt::Store {
                    buffer,
                    index,
                    value,
                    reduce,
                } => stores.push(Row {
                    buffer: *buffer,
                    index,
                    value,
                    reduce: *reduce,
                }),
                _ => return None,
            }
        }
        let element = function.buffers[stores.first()?.buffer].compute;
        let is_float = matches!(element, ElementType::F32 | ElementType::F64);
        let rows = Self {
            stores,
            element,
            var,
        };
        let all = rows.stores.iter().enumerate().all(|(number, row)| {
            let others = &rows.stores[..number];
            others.iter().all(|other| other.buffer != row.buffer)
                && rows.is_row(function, row.buffer, row.index)
                && row.reduce.is_none_or(has_lanes)
                && rows.is_lanes(function, row.value)
        });
        (is_float && all).then_some(rows)
    }

    /// What is read along rows over `var`, and not stored.
    pub(crate) fn read(element: ElementType, var: Var) -> Self {
        Self {
            stores: Vec::new(),
            element,
            var,
        }
    }

    /// Whether an index goes along a row of numbers of our type.
    fn is_row(&self, function: &Function, buffer: Buffer, index: &Expr) -> bool {
        let kind = &function.buffers[buffer];
        let along = match index {
            Expr::Var(var) => *var == self.var,
            Expr::Binary(BinaryOp::Add, row, last) => {
                **last == Expr::Var(self.var) && self.is_fixed(function, row)
            }
            _ => false,
        };
        along && kind.storage == self.element && kind.compute == self.element
    }

    /// Whether an expression has one value in all turns, and can be had in each.
    fn is_fixed(&self, function: &Function, expr: &Expr) -> bool {
        let stored = |buffer: Buffer| self.stores.iter().any(|row| row.buffer == buffer);
        !function.can_fail(expr)
            && !expr.any(&mut |expr| match expr {
                Expr::Load { buffer, .. } => stored(*buffer),
                expr => *expr == Expr::Var(self.var),
            })
    }

    /// Whether a value is computed lane by lane.
    pub(crate) fn is_lanes(&self, function: &Function, expr: &Expr) -> bool {
        if function.type_of(expr) != self.element {
            return false;
        }
        let all = |operands: &[&Expr]| operands.iter().all(|it| self.is_lanes(function, it));
        match expr {
            Expr::Load { buffer, index } if self.is_row(function, *buffer, index) => self
                .stores
                .iter()
                .all(|row| row.buffer != *buffer || row.index == &**index),
            _ if self.is_fixed(function, expr) => true,
            Expr::Binary(op, left, right) => has_lanes(*op) && all(&[&**left, &**right]),
            Expr::Unary(UnaryOp::Neg | UnaryOp::Abs, value) => all(&[&**value]),
            Expr::Call(Intrinsic::Sqrt, arguments) => all(&[&arguments[0]]),
            _ => false,
        }
    }

    /// Whether a row of `n` entries is no more than a [tile](passes::tile), and its
    /// loop written out.
    pub(crate) fn is_short(&self, n: i64) -> bool {
        (0..=passes::MOST_BYTES as i64).contains(&n.saturating_mul(self.element.size() as i64))
    }

    pub(crate) fn vector(&self) -> Type {
        match self.element {
            ElementType::F32 => types::F32X4,
            _ => types::F64X2,
        }
    }

    fn per_turn(&self) -> i64 {
        i64::from(VECTORS * WIDTH) / self.element.size() as i64
    }
}

pub(crate) fn has_lanes(op: BinaryOp) -> bool {
    use BinaryOp::{Add, Div, Mul, Sub};
    matches!(op, Add | Sub | Mul | Div)
}

impl Emitter<'_, '_> {
    /// Runs a loop from `lo` as far as whole vectors go; where it is to go on.
    pub(crate) fn vectors(&mut self, rows: &Rows<'_>, lo: Value, hi: Value) -> Value {
        let (turn, rest) = (self.b.create_block(), self.b.create_block());
        let i = self.b.append_block_param(turn, types::I64);
        let on = self.b.append_block_param(rest, types::I64);
        // So that the difference has a sign that means something.
        let some = self.b.ins().icmp(IntCC::SignedLessThan, lo, hi);
        let whole = self.has_turn(rows, lo, hi);
        let begins = self.b.ins().band(some, whole);
        self.b
            .ins()
            .brif(begins, turn, &[lo.into()], rest, &[lo.into()]);
        self.b.switch_to_block(turn);
        self.vars.insert(rows.var, Cell::Fixed(Number::Real(i)));
        for vector in 0..VECTORS {
            for row in &rows.stores {
                self.store_vector(rows, row, WIDTH * vector);
            }
        }
        let next = self.b.ins().iadd_imm_s(i, rows.per_turn());
        let more = self.has_turn(rows, next, hi);
        self.b
            .ins()
            .brif(more, turn, &[next.into()], rest, &[next.into()]);
        self.b.seal_block(turn);
        self.enter(rest);
        on
    }

    /// Runs a loop from `lo`, which is 0, to `n` as far as whole vectors go, all of them
    /// one after another; where it is to go on.
    pub(crate) fn all_vectors(&mut self, rows: &Rows<'_>, lo: Value, n: i64) -> i64 {
        let size = rows.element.size() as i64;
        let n_vectors = n * size / i64::from(WIDTH);
        self.vars.insert(rows.var, Cell::Fixed(Number::Real(lo)));
        for vector in 0..n_vectors as i32 {
            for row in &rows.stores {
                self.store_vector(rows, row, WIDTH * vector);
            }
        }
        n_vectors * i64::from(WIDTH) / size
    }

    fn has_turn(&mut self, rows: &Rows<'_>, from: Value, hi: Value) -> Value {
        let left = self.b.ins().isub(hi, from);
        let how = IntCC::SignedGreaterThanOrEqual;
        self.b.ins().icmp_imm_s(how, left, rows.per_turn())
    }

    /// Stores the vector that lies `offset` bytes behind entry `rows.var`.
    fn store_vector(&mut self, rows: &Rows<'_>, row: &Row<'_>, offset: i32) {
        let value = self.lanes(rows, row.value, offset);
        if let Some(held) = self.held_vector(row.buffer, offset) {
            let value = match row.reduce {
                None => value,
                Some(op) => {
                    let old = self.b.use_var(held);
                    self.combine_lanes(op, old, value)
                }
            };
            return self.b.def_var(held, value);
        }
        let place = self.place(row.buffer, row.index);
        let (flags, offset) = (unaligned(place.flags), place.offset + offset);
        let value = match row.reduce {
            None => value,
            Some(op) => {
                let old = self
                    .b
                    .ins()
                    .load(rows.vector(), flags, place.address, offset);
                self.combine_lanes(op, old, value)
            }
        };
        self.b.ins().store(flags, value, place.address, offset);
    }

    pub(crate) fn lanes(&mut self, rows: &Rows<'_>, expr: &Expr, offset: i32) -> Value {
        match expr {
            Expr::Load { buffer, index } if rows.is_row(self.function, *buffer, index) => {
                if let Some(held) = self.held_vector(*buffer, offset) {
                    return self.b.use_var(held);
                }
                let place = self.place(*buffer, index);
                let flags = unaligned(place.flags);
                self.b
                    .ins()
                    .load(rows.vector(), flags, place.address, place.offset + offset)
            }
            _ if rows.is_fixed(self.function, expr) => {
                let value = self.expr(expr).real();
                self.b.ins().splat(rows.vector(), value)
            }
            Expr::Binary(op, left, right) => {
                let left = self.lanes(rows, left, offset);
                let right = self.lanes(rows, right, offset);
                self.combine_lanes(*op, left, right)
            }
            Expr::Unary(op, value) => {
                let value = self.lanes(rows, value, offset);
                match op {
                    UnaryOp::Neg => self.b.ins().fneg(value),
                    _ => self.b.ins().fabs(value),
                }
            }
            Expr::Call(_, arguments) => {
                let value = self.lanes(rows, &arguments[0], offset);
                self.b.ins().sqrt(value)
            }
            _ => unreachable!("only what has lanes is computed in vectors"),
        }
    }

    pub(crate) fn combine_lanes(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        match op {
            BinaryOp::Add => self.b.ins().fadd(a, b),
            BinaryOp::Sub => self.b.ins().fsub(a, b),
            BinaryOp::Mul => self.b.ins().fmul(a, b),
            _ => self.b.ins().fdiv(a, b),
        }
    }
}

/// The flags of an entry for a vector, which need not begin at a multiple of its
/// size.
pub(crate) fn unaligned(flags: MemFlagsData) -> MemFlagsData {
    MemFlagsData::new()
        .with_notrap()
        .with_alias_region(flags.alias_region())
}
