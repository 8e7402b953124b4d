//! Tables: places of keys by probing, and how many places a table has.
//!
//! ```text
//! slot(k of n, a of t, b of t)
//!
//! var place = a + first_slot(k, b - a)
//! var left = b - a
//! while 0 < left and taken[place] != 0 {
//!   place += 1; if place == b { place = a }
//!   left -= 1 }
//! if left <= 0 { fail }                          no place is free
//! taken[place] = 1
//! ```

use sparsec_base::ElementType;
use sparsec_computation::Key;
use sparsec_loop::{Access as BufferAccess, BinaryOp, Buffer, Expr, Failure};
use sparsec_relation::Expression;

use super::emit::{Emitter, Point};
use crate::level::hashed::{first_slot, next_slot};

impl Emitter<'_> {
    /// A mark for each place of all tables: whether it is taken.
    pub(super) fn places_of_tables(&mut self, keys: &[Key]) -> Buffer {
        let (storage, loaded) = (ElementType::U8, ElementType::I64);
        let access = BufferAccess::Workspace;
        let taken = self.builder.buffer("taken", storage, loaded, access);
        let len = self.expr(&keys[1].extent);
        let len = self.builder.let_("extent", len);
        self.builder.alloc(taken, len);
        taken
    }

    /// The place that a table gives to the key of a point.
    pub(super) fn next_place(&mut self, taken: Buffer, keys: &[Key], tuple: &[Expression]) -> Expr {
        let mut values = Vec::new();
        for (key, name) in keys.iter().zip(["key", "begin", "end"]) {
            let value = self.expr(&key.value.rewritten(&Point(tuple)));
            values.push(self.builder.let_(name, value));
        }
        let [key, begin, end] = values[..] else {
            unreachable!("a table has three keys");
        };
        let n = Expr::Var(end).binary(BinaryOp::Sub, begin);
        let left = self.builder.var_("left", n.clone());
        let first = first_slot(&[Expr::Var(key)], n);
        let first = Expr::Select {
            condition: Box::new(Expr::int(0).less(left)),
            then: Box::new(first),
            otherwise: Box::new(Expr::int(0)),
        };
        let place = self.builder.var_("place", Expr::Var(begin).add(first));
        let goes_on = Expr::int(0)
            .less(left)
            .and(Expr::load(taken, place).binary(BinaryOp::Ne, 0));
        self.builder.while_loop(goes_on, |b| {
            next_slot(b, place, begin, end);
            b.assign(left, Expr::Var(left).binary(BinaryOp::Sub, 1));
        });
        self.builder
            .if_then(Expr::Var(left).less(1), |b| b.fail(Failure::NotAsDeclared));
        self.builder.store(taken, place, 1);
        place.into()
    }

    /// The least power of two that is not less than a number; 0 where that is not positive.
    pub(super) fn power_of_two(&mut self, least: Expr) -> Expr {
        let least = self.builder.let_("least", least);
        let one = Expr::Var(least)
            .binary(BinaryOp::Max, 0)
            .binary(BinaryOp::Min, 1);
        let power = self.builder.var_("power", one);
        let is_less = Expr::Var(power).less(least).and(Expr::int(0).less(power));
        self.builder
            .while_loop(is_less, |b| b.assign(power, Expr::Var(power).mul(2)));
        power.into()
    }
}
