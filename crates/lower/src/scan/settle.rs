//! Checks of what a stage establishes: later stages rely on it, so that a computation
//! whose data are not as declared ends with `E0519` and not outside of an array.
//!
//! ```text
//! function pos : {[i] : 0 <= i <= N} -> {[p] : 0 <= p <= NZ} nondecreasing
//!
//! for i in 0..N + 1 {
//!   let value = pos.vals[i]
//!   if value < 0 or value >= NZ + 1 or value < before { fail not_as_declared }
//!   before = value }
//! ```
//!
//! Positions that are sums of counts need no such loop where the sum is known
//! ([`totals`](super::totals)), nor do numbers below their maximum ([`numbers`](super::numbers)).

use sparsec_base::{ElementType, Scalar};
use sparsec_computation::{Computation, DataSpace, Stage};
use sparsec_loop::{BinaryOp, Expr, Failure};
use sparsec_relation::{Expression, Function, ListOrder, Monotone};

use super::emit::Emitter;
use crate::bisect::integer;

/// The most entries that an array of computed length has; products and sums of what is
/// at most so much do not wrap where each is compared with it.
const MOST_ENTRIES: i64 = 1 << 60;

impl Emitter<'_> {
    /// Binds the integers that a stage completes, and checks what it establishes.
    pub(super) fn settle(&mut self, whole: &Computation, stage: &Stage) {
        for name in &stage.completes {
            let space = whole.space(name);
            let space = space.expect("a stage completes data that it writes");
            if space.extents.is_empty() && space.is_index_array() {
                let buffer = self.arrays.spaces[name];
                self.arrays.bind(self.builder, space, buffer);
            }
        }
        for constraint in stage.establishes.assumptions() {
            let holds = self.all(std::slice::from_ref(constraint));
            let broken = Expr::Unary(sparsec_loop::UnaryOp::Not, Box::new(holds));
            self.builder
                .if_then(broken, |b| b.fail(Failure::NotAsDeclared));
        }
        for function in stage.establishes.functions() {
            if self.is_settled_by_total(function)
                || self.is_settled_by_maximum(function)
                || self.is_settled_by_constants(function)
            {
                continue;
            }
            let space = whole.space(&function.name);
            self.check_function(function, space.expect("a stage establishes what is there"));
        }
        for quantifier in stage.establishes.quantifiers() {
            let order = whole.checked_order(quantifier);
            self.check_order(&order.expect("a stage establishes orders of lists"));
        }
    }

    /// Checks that no key of a list falls from a place to the next.
    fn check_order(&mut self, order: &ListOrder) {
        let [begin, end] = [&order.begin, &order.end].map(|e| self.expr(e));
        let is_broken = self.builder.var_("is_broken", 0);
        self.for_each_at(begin.add(1), end, |this, at| {
            let before = Expr::Var(at).binary(BinaryOp::Sub, 1);
            let before = this.builder.let_("before", before);
            // From the last key on: the rest falls, or not, where this one is the same.
            let mut falls = Expr::Const(Scalar::Bool(order.is_strict));
            for key in order.keys.iter().rev() {
                let buffer = this.arrays.spaces[key];
                let earlier = integer(this.builder, buffer, before);
                let earlier = this.builder.let_("earlier", earlier);
                let later = integer(this.builder, buffer, at);
                let later = this.builder.let_("later", later);
                let is_same = Expr::Var(earlier).binary(BinaryOp::Eq, later);
                let is_less = Expr::Var(later).less(earlier);
                falls = is_less.binary(BinaryOp::Or, is_same.binary(BinaryOp::And, falls));
            }
            let one = Expr::Select {
                condition: Box::new(falls),
                then: Box::new(Expr::int(1)),
                otherwise: Box::new(Expr::int(0)),
            };
            let either = Expr::Var(is_broken).binary(BinaryOp::Max, one);
            this.builder.assign(is_broken, either);
        });
        self.builder.if_then(Expr::int(0).less(is_broken), |b| {
            b.fail(Failure::NotAsDeclared);
        });
    }

    fn check_function(&mut self, function: &Function, space: &DataSpace) {
        let sides = |set: &sparsec_relation::Set| set.as_box().expect("established on a box");
        let (domain, range) = (sides(&function.domain), sides(&function.range));
        let [least, above] = [&range[0].0, &range[0].1].map(|e| self.expr(e));
        let least = self.builder.let_("least", least);
        let above = self.builder.let_("above", above);
        let buffer = self.arrays.spaces[&function.name];
        let before = function.monotone.map(|monotone| match monotone {
            Monotone::Nondecreasing | Monotone::Increasing => self.builder.var_("before", least),
            _ => {
                let most = Expr::Var(above).binary(BinaryOp::Sub, 1);
                self.builder.var_("before", most)
            }
        });
        let is_strict = matches!(
            function.monotone,
            Some(Monotone::Increasing | Monotone::Decreasing)
        );
        let mut bounds = Vec::new();
        for (from, end) in &domain {
            let [from, end] = [from, end].map(|e| self.expr(e));
            bounds.push((from, end));
        }
        let first = bounds[0].0.clone();
        let mut at = Vec::new();
        for _ in &bounds {
            at.push(self.builder.fixed("at", ElementType::I64));
        }
        let names: Vec<Expr> = at.iter().map(|var| Expr::Var(*var)).collect();
        let index = self.index_of(space, &names);
        self.builder.begin_block();
        let value = integer(self.builder, buffer, index);
        let value = self.builder.let_("value", value);
        let mut broken = Expr::Var(value)
            .less(least)
            .binary(BinaryOp::Or, Expr::Var(above).binary(BinaryOp::Le, value));
        if let (Some(before), Some(monotone)) = (before, function.monotone) {
            let op = match monotone {
                Monotone::Nondecreasing => BinaryOp::Lt,
                Monotone::Increasing => BinaryOp::Le,
                Monotone::Nonincreasing => BinaryOp::Gt,
                Monotone::Decreasing => BinaryOp::Ge,
            };
            let turns = Expr::Var(value).binary(op, before);
            // The first value follows none.
            let turns = match is_strict {
                true => Expr::Var(at[0]).binary(BinaryOp::Ne, first).and(turns),
                false => turns,
            };
            broken = broken.binary(BinaryOp::Or, turns);
        }
        self.builder
            .if_then(broken, |b| b.fail(Failure::NotAsDeclared));
        if let Some(before) = before {
            self.builder.assign(before, value);
        }
        let mut body = self.builder.end_block();
        for (var, (from, end)) in at.into_iter().zip(bounds).rev() {
            self.builder.begin_block();
            self.builder.for_loop(var, from, end, |b| {
                body.drain(..).for_each(|stmt| b.push(stmt));
            });
            body = self.builder.end_block();
        }
        body.into_iter().for_each(|stmt| self.builder.push(stmt));
    }

    /// How many entries data of computed extents have; leaves the function where that
    /// cannot be counted.
    pub(super) fn checked_length(&mut self, space: &DataSpace) -> Expr {
        let mut length: Option<Expr> = None;
        for extent in &space.extents {
            let extent = self.counted(extent);
            let extent = self.at_least_zero(extent);
            length = Some(match length {
                None => extent,
                Some(before) => self.checked_product(before, extent),
            });
        }
        length.unwrap_or_else(|| Expr::int(1))
    }

    /// The value of an extent, none of whose parts is beyond what can be counted.
    fn counted(&mut self, e: &Expression) -> Expr {
        match e {
            Expression::Add(a, b) | Expression::Subtract(a, b) => {
                let [a, b] = [a, b].map(|side| self.counted(side));
                let op = match e {
                    Expression::Add(..) => BinaryOp::Add,
                    _ => BinaryOp::Sub,
                };
                self.countable(a.binary(op, b))
            }
            Expression::Multiply(a, b) => {
                let [a, b] = [a, b].map(|side| {
                    let side = self.counted(side);
                    self.at_least_zero(side)
                });
                self.checked_product(a, b)
            }
            other => {
                let value = self.expr(other);
                self.countable(value)
            }
        }
    }

    fn checked_product(&mut self, a: Expr, b: Expr) -> Expr {
        let [a, b] = [a, b].map(|side| self.builder.let_("extent", side));
        let most = Expr::int(MOST_ENTRIES)
            .binary(BinaryOp::FloorDiv, Expr::Var(b).binary(BinaryOp::Max, 1));
        let outside = most.less(a);
        self.builder
            .if_then(outside, |b| b.fail(Failure::OutOfMemory));
        Expr::Var(a).mul(b)
    }

    fn countable(&mut self, value: Expr) -> Expr {
        let value = self.builder.let_("extent", value);
        let outside = Expr::int(MOST_ENTRIES)
            .less(value)
            .binary(BinaryOp::Or, Expr::Var(value).less(-MOST_ENTRIES));
        self.builder
            .if_then(outside, |b| b.fail(Failure::OutOfMemory));
        value.into()
    }

    fn at_least_zero(&mut self, value: Expr) -> Expr {
        let value = self.builder.let_("extent", value);
        self.builder
            .if_then(Expr::Var(value).less(0), |b| b.fail(Failure::NotAsDeclared));
        value.into()
    }
}
