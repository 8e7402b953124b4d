//! Statements that are no loops.

use cranelift_codegen::ir::{InstBuilder, types};
use sparsec_base::ElementType;
use sparsec_loop::growth::growth_run;
use sparsec_loop::{BinaryOp, Block, Buffer, Expr, Mark, Stmt};

use crate::abi::Layout;
use crate::cases::Cases;
use crate::condition::is_lazy;
use crate::emitter::Emitter;
use crate::number::Number;

const ABI: Layout = Layout::RELIED_ON;

impl Emitter<'_, '_> {
    pub(crate) fn block(&mut self, block: &Block) {
        let mut rest = block.as_slice();
        while let Some(stmt) = rest.first() {
            let run = growth_run(rest);
            match stmt {
                Stmt::Grow { len, .. } => {
                    self.grow(&run, len);
                }
                Stmt::Resize { len, .. } => self.resize(&run, len),
                _ => self.stmt(stmt),
            }
            rest = &rest[run.len().max(1)..];
        }
    }

    pub(crate) fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Comment(_) => {}
            Stmt::Prefetch { buffer, lo, hi } => {
                let [from, to] = [lo, hi].map(|at| {
                    let at = self.expr(at).real();
                    self.address(*buffer, at)
                });
                self.fetch_early(from, to);
            }
            Stmt::Turn => self.turn(),
            Stmt::Pass => _ = self.ask(ABI.pass, None, &[]),
            Stmt::Poll => self.poll(),
            Stmt::Declare { var, value } => {
                let value = self.expr(value);
                self.declare(*var, value);
            }
            Stmt::Assign { var, value } => {
                let value = self.expr(value);
                self.assign(*var, value);
            }
            Stmt::Store {
                buffer,
                index,
                value,
                reduce,
            } => self.store_entry(*buffer, index, value, *reduce),
            Stmt::For {
                var,
                hi,
                mark: Mark { chunks: true, .. },
                body,
                ..
            } => self.hand_out(*var, hi, body),
            Stmt::For {
                var,
                lo,
                hi,
                mark,
                body,
            } => self.for_loop(*var, lo, hi, *mark, body),
            Stmt::While { condition, body } => self.while_loop(condition, body),
            Stmt::If {
                condition,
                then,
                otherwise,
            } => match Cases::of(self.function, stmt) {
                Some(cases) => self.cases(&cases, None),
                None => self.branches(condition, then, otherwise),
            },
            Stmt::Fill {
                buffer,
                lo,
                hi,
                value,
            } => self.fill(*buffer, lo, hi, value),
            Stmt::Alloc { buffer, len } => self.alloc(*buffer, len),
            Stmt::Grow { .. } | Stmt::Resize { .. } => {
                unreachable!("a block takes these in runs")
            }
            Stmt::Sort {
                buffer,
                along,
                lo,
                hi,
            } => self.sort(*buffer, *along, lo, hi),
            Stmt::Fail(failure) => self.leave(*failure),
        }
    }

    fn store_entry(
        &mut self,
        buffer: Buffer,
        index: &Expr,
        value: &Expr,
        reduce: Option<BinaryOp>,
    ) {
        let value = match reduce {
            // Where the entry decides, the value is not to be looked at.
            Some(op @ (BinaryOp::And | BinaryOp::Or)) if is_lazy(self.function, value) => {
                let old = Box::new(Expr::load(buffer, index.clone()));
                self.expr(&Expr::Binary(op, old, Box::new(value.clone())))
            }
            Some(op) => {
                let value = self.expr(value);
                if let Some(held) = self.held_entry(buffer) {
                    let element = self.function.buffers[buffer].compute;
                    let old = Number::Real(self.b.use_var(held));
                    let new = self.combine(op, old, value, element);
                    return self.b.def_var(held, new.real());
                }
                let place = self.place(buffer, index);
                let old = self.load(place);
                let new = self.combine(op, old, value, place.compute);
                self.store(place, new);
                return;
            }
            None => self.expr(value),
        };
        if let Some(held) = self.held_entry(buffer) {
            return self.b.def_var(held, value.real());
        }
        let place = self.place(buffer, index);
        self.store(place, value);
    }

    fn branches(&mut self, condition: &Expr, then: &Block, otherwise: &Block) {
        let on = self.b.create_block();
        let yes = self.b.create_block();
        let no = if otherwise.is_empty() {
            on
        } else {
            self.b.create_block()
        };
        self.branch(condition, yes, no);
        self.enter(yes);
        self.block(then);
        self.b.ins().jump(on, []);
        if !otherwise.is_empty() {
            self.enter(no);
            self.block(otherwise);
            self.b.ins().jump(on, []);
        }
        self.enter(on);
    }

    fn sort(&mut self, buffer: Buffer, along: Option<Buffer>, lo: &Expr, hi: &Expr) {
        let (lo, hi) = (self.expr(lo).real(), self.expr(hi).real());
        let count = self.b.ins().isub(hi, lo);
        let first = self.address(buffer, lo);
        let offset = match (along, self.function.buffers[buffer].storage) {
            (Some(_), _) => ABI.sort_pairs,
            (None, ElementType::I32) => ABI.sort_i32,
            (None, _) => ABI.sort_i64,
        };
        let mut arguments = vec![first];
        arguments.extend(along.map(|along| self.address(along, lo)));
        arguments.push(count);
        let status = self.ask(offset, Some(types::I32), &arguments);
        self.leave_with(status.expect("a sort has a status"));
    }
}
