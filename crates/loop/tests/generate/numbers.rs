//! Numbers that passes follow: kept in a workspace, tried before they are stored.

use sparsec_base::ElementType;
use sparsec_loop::{BinaryOp, Expr, Failure, Var};

use super::Generator;

impl Generator<'_> {
    /// A number that a workspace of one entry keeps, or one from 32 bits that is tried.
    pub(super) fn kept_or_narrow(&mut self) {
        let value = if self.below(2) == 0 {
            let value = self.expr(ElementType::I64, 2);
            let index = Expr::int(0);
            self.builder
                .store_reduce(self.single, index, value, Some(BinaryOp::Max));
            self.builder.let_("t", Expr::load(self.single, 0))
        } else {
            let index = self.index();
            let value = self.builder.let_("t", Expr::load(self.readable[0], index));
            let below = Expr::Var(value).less(i64::from(i32::MIN));
            let above = Expr::int(i32::MAX.into()).less(value);
            let outside = below.binary(BinaryOp::Or, above);
            self.builder
                .if_then(outside, |b| b.fail(Failure::CastOutOfRange));
            value
        };
        self.visible.push((value, false));
    }

    /// Fails for a number that grows with the loop variable, or that the loop may not change.
    pub(super) fn number_is_tried(&mut self, i: Var, outer: Option<Var>) {
        let most = self.pick(&[1, 2, 5, i64::from(i32::MAX)]);
        let is_integer = |var: &Var| self.builder.function().vars[*var].element == ElementType::I64;
        let outer = outer.filter(is_integer);
        let number = match self.below(4) {
            0 => i.into(),
            1 => outer.map_or(i.into(), Expr::Var),
            more => self
                .builder
                .let_("t", Expr::Var(i).add(more as i64 - 1))
                .into(),
        };
        let is_beyond = Expr::int(most).less(number);
        let failure = self.pick(&Failure::ALL);
        self.builder.if_then(is_beyond, |b| b.fail(failure));
    }
}
