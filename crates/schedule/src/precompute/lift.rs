//! `precompute` of what a scalar workspace collects: the `where` is lifted out of
//! the innermost loops around it, and these become modes of the workspace:
//!
//! ```text
//! forall i: forall j: where(              forall i: where(
//!   C(i,j) = D(i,j) + t,                    forall j: C(i,j) = D(i,j) + w(j),
//!   forall k: t += A(i,k) * B(k,j))         forall k: forall j: w(j) += A(i,k) * B(k,j))
//! ```

use sparsec_base::Result;
use sparsec_index::{Expr, IndexVar, Stmt, TensorRole, TensorVar};

use super::Rewrite;

impl Rewrite<'_> {
    /// The producer of a scalar workspace that collects the expression, with
    /// the `where` of which it is the outermost producer.
    pub(super) fn producer_to_lift(
        &self,
        consumer: &Stmt,
        producer: &Stmt,
    ) -> Option<(TensorVar, Lifted)> {
        let (loops, assign) = producer.nest();
        if let Stmt::Assign {
            lhs,
            reduce: Some(_),
            rhs,
        } = assign
            && lhs.indices.is_empty()
            && self.concrete.tensors[lhs.tensor].role == TensorRole::Workspace
            && self.is_expr(rhs)
        {
            let lifted = Lifted {
                consumer: consumer.clone(),
                loops,
                assign: assign.clone(),
            };
            return Some((lhs.tensor, lifted));
        }
        // Of producers that do not read each other either may come first.
        let Stmt::Where {
            consumer: inner_consumer,
            producer: inner_producer,
        } = consumer
        else {
            return None;
        };
        let (temporary, lifted) = self.producer_to_lift(inner_consumer, inner_producer)?;
        let Stmt::Assign { rhs, .. } = &lifted.assign else {
            return None;
        };
        let mut assigned = Vec::new();
        producer.for_each_assign(&mut |lhs, _, _| assigned.push(lhs.tensor));
        if rhs
            .accesses()
            .iter()
            .any(|access| assigned.contains(&access.tensor))
        {
            return None;
        }
        let lifted = Lifted {
            consumer: Stmt::Where {
                consumer: Box::new(lifted.consumer),
                producer: Box::new(producer.clone()),
            },
            ..lifted
        };
        Some((temporary, lifted))
    }

    /// A scalar workspace gets the innermost loops around it as modes.
    pub(super) fn lift(
        &mut self,
        loops: &[IndexVar],
        temporary: TensorVar,
        lifted: Lifted,
    ) -> Result<Stmt> {
        if self.vars.is_empty() {
            return Err(self
                .illegal("it is collected in a scalar already")
                .help("leave the command out"));
        }
        let Some(outside) = loops.len().checked_sub(self.vars.len()) else {
            return Err(self
                .illegal("there are not so many loops around it")
                .help(format!("name {} or fewer", loops.len())));
        };
        let (outer, inner) = loops.split_at(outside);
        self.expect_modes(inner, "the innermost loops around it")?;
        let data = &self.concrete.tensors[temporary];
        let access = self.new_workspace(data.element, data.fill);
        let consumer = lifted.consumer.map_exprs(&mut |expr| {
            expr.map_accesses(&mut |read| {
                (read.tensor == temporary).then(|| Expr::Access(access.clone()))
            })
        });
        let Stmt::Assign { reduce, rhs, .. } = lifted.assign else {
            unreachable!("only assignments are lifted");
        };
        let producer = Stmt::Assign {
            lhs: access,
            reduce,
            rhs,
        };
        let both = Stmt::Where {
            consumer: Box::new(consumer.in_loops(inner)),
            producer: Box::new(self.renamed(&producer.in_loops(inner).in_loops(&lifted.loops))),
        };
        Ok(both.in_loops(outer))
    }
}

/// The producer of a scalar workspace, and what reads it.
pub(super) struct Lifted {
    consumer: Stmt,
    /// The loops that reduce.
    loops: Vec<IndexVar>,
    assign: Stmt,
}
