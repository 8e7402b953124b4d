//! Complex arithmetic, by the formulas that every engine shares.
//!
//! A [`Formula`] is a fragment of loop IR over the parts of its operands. Where an
//! operation is used, the fragment is translated in place, with the parts as the
//! values of its parameters.

use std::collections::HashMap;

use sparsec_base::ElementType;
use sparsec_loop::complex::{Formula, Operation, formula};
use sparsec_loop::walk::for_each_stmt;
use sparsec_loop::{BinaryOp, Expr, Function, Stmt};

use crate::emitter::{Cell, Emitter};
use crate::number::Number;

/// The formulas of the operations that a function uses, by the type of their parts.
#[derive(Debug, Default)]
pub(crate) struct Formulas(HashMap<(Operation, ElementType), Formula>);

impl Formulas {
    /// Those that `function` uses.
    pub(crate) fn of(function: &Function) -> Self {
        let mut formulas = Self::default();
        for_each_stmt(&function.body, &mut |stmt| {
            if let Stmt::Store {
                buffer,
                reduce: Some(op),
                ..
            } = stmt
            {
                let element = function.buffers[*buffer].compute;
                formulas.add(Operation::Binary(*op), element);
            }
            stmt.for_each_expr(&mut |expr| {
                expr.any(&mut |expr| {
                    formulas.add_of(function, expr);
                    false
                });
            });
        });
        formulas
    }

    fn add_of(&mut self, function: &Function, expr: &Expr) {
        let (operation, operand) = match expr {
            Expr::Unary(op, value) => (Operation::Unary(*op), &**value),
            Expr::Binary(BinaryOp::Ne, left, _) => (Operation::Binary(BinaryOp::Eq), &**left),
            Expr::Binary(op, left, _) => (Operation::Binary(*op), &**left),
            Expr::Call(intrinsic, arguments) => (Operation::Call(*intrinsic), &arguments[0]),
            _ => return,
        };
        self.add(operation, function.type_of(operand));
    }

    fn add(&mut self, operation: Operation, element: ElementType) {
        if element.is_complex() {
            let part = element.part();
            self.0
                .entry((operation, part))
                .or_insert_with(|| formula(operation, part));
        }
    }
}

impl Emitter<'_, '_> {
    /// An operation on complex numbers of type `element`.
    pub(crate) fn complex(
        &mut self,
        operation: Operation,
        operands: &[Number],
        element: ElementType,
    ) -> Number {
        let formula = &self.formulas.0[&(operation, element.part())];
        let mut vars = HashMap::new();
        for (operand, &(re, im)) in operands.iter().zip(&formula.parameters) {
            let (a, b) = operand.parts();
            vars.insert(re, Cell::Fixed(Number::Real(a)));
            vars.insert(im, Cell::Fixed(Number::Real(b)));
        }
        // A formula names variables of its own and no buffers.
        let vars = std::mem::replace(&mut self.vars, vars);
        let function = std::mem::replace(&mut self.function, &formula.function);
        self.block(&formula.function.body);
        let results: Vec<Number> = formula.results.iter().map(|it| self.expr(it)).collect();
        self.vars = vars;
        self.function = function;
        match results[..] {
            [re, im] => Number::Complex(re.real(), im.real()),
            _ => results[0],
        }
    }
}
