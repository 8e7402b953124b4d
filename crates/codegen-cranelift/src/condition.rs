//! Truth values: short circuits, choices, jumps.
//!
//! What need not be evaluated is skipped by a jump where evaluating it could be
//! noticed: it loads, may fail, calls, or is long. Anything else is evaluated
//! either way, which costs less than a jump that goes both ways. In merges that branch
//! anyway, each part of a condition has a jump.

use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData};
use sparsec_loop::{BinaryOp, Expr, Function, UnaryOp};

use crate::emitter::Emitter;
use crate::number::{Number, register};

/// As many operations are evaluated in vain.
const LONG: usize = 6;

/// Whether an expression must not, or should not, be evaluated in vain.
pub(crate) fn is_lazy(function: &Function, expr: &Expr) -> bool {
    function.can_fail(expr)
        || expr.n_operations() > LONG
        || expr.any(&mut |expr| {
            matches!(
                expr,
                Expr::Load { .. }
                    | Expr::Call(..)
                    | Expr::Binary(BinaryOp::FloorDiv | BinaryOp::Mod, ..)
            )
        })
}

impl Emitter<'_, '_> {
    /// Jumps to `yes` where the condition holds, to `no` where it does not.
    pub(crate) fn branch(&mut self, condition: &Expr, yes: ir::Block, no: ir::Block) {
        match condition {
            Expr::Unary(UnaryOp::Not, inner) => self.branch(inner, no, yes),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right)
                if self.is_branching || is_lazy(self.function, right) =>
            {
                let further = self.b.create_block();
                match op {
                    BinaryOp::And => self.branch(left, further, no),
                    _ => self.branch(left, yes, further),
                }
                self.enter(further);
                self.branch(right, yes, no);
            }
            _ => {
                let holds = self.expr(condition).real();
                self.b.ins().brif(holds, yes, [], no, []);
            }
        }
    }

    /// `left and right`, `left or right`.
    pub(crate) fn lazy(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Number {
        if !is_lazy(self.function, right) {
            let (a, b) = (self.expr(left), self.expr(right));
            return self.combine(op, a, b, sparsec_base::ElementType::Bool);
        }
        let known = self.expr(left).real();
        let (further, on) = (self.b.create_block(), self.b.create_block());
        let holds = self.b.append_block_param(on, ir::types::I8);
        let given = [known.into()];
        match op {
            BinaryOp::And => self.b.ins().brif(known, further, [], on, &given),
            _ => self.b.ins().brif(known, on, &given, further, []),
        };
        self.enter(further);
        let value = self.expr(right).real();
        self.b.ins().jump(on, &[value.into()]);
        self.enter(on);
        Number::Real(holds)
    }

    /// One of two values.
    pub(crate) fn select(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr) -> Number {
        if !is_lazy(self.function, then) && !is_lazy(self.function, otherwise) {
            let condition = self.expr(condition).real();
            let (a, b) = (self.expr(then), self.expr(otherwise));
            return match (a, b) {
                (Number::Complex(a_re, a_im), Number::Complex(b_re, b_im)) => Number::Complex(
                    self.choose(condition, a_re, b_re),
                    self.choose(condition, a_im, b_im),
                ),
                _ => Number::Real(self.choose(condition, a.real(), b.real())),
            };
        }
        let element = self.function.type_of(then);
        let [yes, no, on] = std::array::from_fn(|_| self.b.create_block());
        let n_parts = if element.is_complex() { 2 } else { 1 };
        for _ in 0..n_parts {
            self.b.append_block_param(on, register(element));
        }
        self.branch(condition, yes, no);
        for (block, value) in [(yes, then), (no, otherwise)] {
            self.enter(block);
            let given: Vec<ir::BlockArg> = match self.expr(value) {
                Number::Real(value) => vec![value.into()],
                Number::Complex(re, im) => vec![re.into(), im.into()],
            };
            self.b.ins().jump(on, &given);
        }
        self.enter(on);
        match self.b.block_params(on) {
            &[re, im] => Number::Complex(re, im),
            params => Number::Real(params[0]),
        }
    }

    /// One of two values without a jump: of floats, machines choose by one, so their
    /// bits are chosen.
    fn choose(&mut self, condition: ir::Value, a: ir::Value, b: ir::Value) -> ir::Value {
        let element = self.b.func.dfg.value_type(a);
        if !element.is_float() {
            return self.b.ins().select(condition, a, b);
        }
        let bits = element.as_int();
        let [a, b] = [a, b].map(|value| self.b.ins().bitcast(bits, MemFlagsData::new(), value));
        let chosen = self.b.ins().select(condition, a, b);
        self.b.ins().bitcast(element, MemFlagsData::new(), chosen)
    }
}
