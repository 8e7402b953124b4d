//! The variables of a statement: each has its own, in place of those that values have.

use super::ProgramBuilder;
use crate::expr::{Access, Expr};
use crate::program::IndexVar;

/// The variables of one statement, made in the order in which they are bound.
#[derive(Default)]
pub(super) struct Own {
    /// Pairs of a variable as values have it, and that of the statement.
    known: Vec<(IndexVar, IndexVar)>,
}

impl Own {
    fn of(&mut self, builder: &mut ProgramBuilder, var: IndexVar) -> IndexVar {
        if let Some((_, own)) = self.known.iter().rev().find(|(known, _)| *known == var) {
            return *own;
        }
        self.bind(builder, var)
    }

    fn bind(&mut self, builder: &mut ProgramBuilder, var: IndexVar) -> IndexVar {
        let own = builder.vars.push(builder.named[var].clone());
        self.known.push((var, own));
        own
    }

    pub(super) fn access(&mut self, builder: &mut ProgramBuilder, access: &Access) -> Access {
        for var in access.vars() {
            self.of(builder, var);
        }
        access.renamed(&|var| self.renamed(var))
    }

    /// The variable of the statement, which was made.
    fn renamed(&self, var: IndexVar) -> IndexVar {
        let mut known = self.known.iter().rev();
        known
            .find(|(it, _)| *it == var)
            .map_or(var, |(_, own)| *own)
    }

    pub(super) fn expr(&mut self, builder: &mut ProgramBuilder, expr: &Expr) -> Expr {
        match expr {
            Expr::Literal(_) => expr.clone(),
            Expr::Access(access) => Expr::Access(access.renamed(&|var| self.renamed(var))),
            Expr::Index(index) => Expr::Index(index.renamed(&|var| self.renamed(var))),
            Expr::Apply { op, args } => Expr::Apply {
                op: op.clone(),
                args: args.iter().map(|arg| self.expr(builder, arg)).collect(),
            },
            Expr::Cast(element, body) => Expr::Cast(*element, Box::new(self.expr(builder, body))),
            Expr::Reduce { op, vars, body } => {
                // Two reductions over one variable of the caller have variables of their own.
                let n_known = self.known.len();
                let vars = vars.iter().map(|var| self.bind(builder, *var)).collect();
                let body = Box::new(self.expr(builder, body));
                self.known.truncate(n_known);
                Expr::Reduce {
                    op: op.clone(),
                    vars,
                    body,
                }
            }
        }
    }
}
