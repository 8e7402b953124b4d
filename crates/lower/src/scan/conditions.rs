//! Conditions of points, and searches for a point.

use sparsec_base::Scalar;
use sparsec_loop::{BinaryOp, Expr, Stmt};
use sparsec_relation::{Comparison, Constraint, Expression, Step};

use super::emit::Emitter;

impl Emitter<'_> {
    /// Runs a body where all conditions hold, one group of them after the other.
    pub(super) fn guard(&mut self, groups: &[Vec<Constraint>], body: &[Step]) {
        match groups {
            [] => self.steps(body),
            [conditions, rest @ ..] if conditions.is_empty() => self.guard(rest, body),
            [conditions, rest @ ..] => {
                let condition = self.all(conditions);
                let then = self.written(|this| this.guard(rest, body));
                self.branch(condition, then, true);
            }
        }
    }

    pub(super) fn branch(&mut self, condition: Expr, block: Vec<Stmt>, holds: bool) {
        let (then, otherwise) = match holds {
            true => (block, Vec::new()),
            false => (Vec::new(), block),
        };
        self.builder.push(Stmt::If {
            condition,
            then,
            otherwise,
        });
    }

    pub(super) fn search(&mut self, search: &[Step], found: bool, body: &[Step]) {
        if let [
            Step::If {
                conditions,
                body: inner,
            },
        ] = search
            && matches!(inner[..], [Step::Found])
        {
            let condition = self.all(conditions);
            let block = self.block(body);
            return self.branch(condition, block, found);
        }
        let flag = self.builder.var_("found", Scalar::Bool(false));
        self.found.push(flag);
        self.steps(search);
        self.found.pop();
        // A body within an outer search ends that one alone.
        let block = self.block(body);
        self.branch(flag.into(), block, found);
    }

    /// Conditions that all hold; each is evaluated only where those before it do.
    pub(super) fn all(&mut self, conditions: &[Constraint]) -> Expr {
        let links: Vec<(&Expression, Comparison, &Expression)> =
            conditions.iter().flat_map(Constraint::links).collect();
        let tests = links.into_iter().map(|(left, comparison, right)| {
            let op = match comparison {
                Comparison::Less => BinaryOp::Lt,
                Comparison::LessEqual => BinaryOp::Le,
                Comparison::Equal => BinaryOp::Eq,
                Comparison::NotEqual => BinaryOp::Ne,
                Comparison::Greater => BinaryOp::Gt,
                Comparison::GreaterEqual => BinaryOp::Ge,
            };
            self.expr(left).binary(op, self.expr(right))
        });
        let all = tests.reduce(Expr::and);
        all.unwrap_or(Expr::Const(Scalar::Bool(true)))
    }
}
