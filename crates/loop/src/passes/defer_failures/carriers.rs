//! Which temporaries may hold values that failed.

use std::collections::{BTreeSet, HashSet};

use super::stored;
use crate::ir::{Block, Buffer, Expr, Function, Stmt, Var};
use crate::walk::{Read, for_each_stmt};

/// Temporaries whose values may come from operations that failed.
pub(super) struct Carriers {
    pub(super) vars: BTreeSet<Var>,
    pub(super) buffers: BTreeSet<Buffer>,
    /// What chooses entries, bounds loops or is sorted.
    places: (HashSet<Var>, HashSet<Buffer>),
}

impl Carriers {
    pub(super) fn of(function: &Function) -> Self {
        let mut carriers = Self {
            vars: BTreeSet::new(),
            buffers: BTreeSet::new(),
            places: places(&function.body),
        };
        loop {
            let before = carriers.len();
            for_each_stmt(&function.body, &mut |stmt| carriers.add(function, stmt));
            if carriers.len() == before {
                return carriers;
            }
        }
    }

    fn len(&self) -> usize {
        self.vars.len() + self.buffers.len()
    }

    fn add(&mut self, function: &Function, stmt: &Stmt) {
        match stmt {
            Stmt::Declare { var, value } | Stmt::Assign { var, value }
                if !self.places.0.contains(var) && self.may_fail(function, value) =>
            {
                self.vars.insert(*var);
            }
            Stmt::Store { buffer, .. }
                if function.buffers[*buffer].access.is_allocated()
                    && !self.places.1.contains(buffer)
                    && self.may_fail(function, &stored(stmt)) =>
            {
                self.buffers.insert(*buffer);
            }
            _ => {}
        }
    }

    fn may_fail(&self, function: &Function, value: &Expr) -> bool {
        value.any(&mut |part| match part {
            Expr::Var(var) => self.vars.contains(var),
            Expr::Load { buffer, .. } => self.buffers.contains(buffer),
            // There are no coordinates where an extent is 0.
            Expr::Binary(_, _, divisor) if is_of_extents(function, divisor) => false,
            _ => function.own_failure(part).is_some(),
        })
    }
}

/// Whether an expression reads extents of arguments, and nothing else.
fn is_of_extents(function: &Function, expr: &Expr) -> bool {
    let is_other = |part: &Expr| match part {
        Expr::Var(_) => !function.is_extent(part),
        Expr::Load { .. } => true,
        _ => false,
    };
    !expr.any(&mut |part| is_other(part)) && expr.any(&mut |part| function.is_extent(part))
}

/// The variables and buffers that indices, bounds, lengths and conditions of loops read, and
/// the buffers that are sorted.
fn places(body: &Block) -> (HashSet<Var>, HashSet<Buffer>) {
    let (mut vars, mut buffers) = (HashSet::new(), HashSet::new());
    let mut read = |expr: &Expr| {
        expr.for_each_read(&mut |read| {
            _ = match read {
                Read::Var(var) => vars.insert(var),
                Read::Buffer(buffer) => buffers.insert(buffer),
            }
        });
    };
    let mut sorted = Vec::new();
    for_each_stmt(body, &mut |stmt| {
        stmt.for_each_expr(&mut |expr| {
            expr.any(&mut |part| {
                if let Expr::Load { index, .. } = part {
                    read(index);
                }
                false
            });
        });
        match stmt {
            Stmt::Store { index, .. } => read(index),
            Stmt::Sort { .. } => {
                sorted.extend(stmt.stored_buffers());
                stmt.for_each_expr(&mut read);
            }
            Stmt::For { .. }
            | Stmt::While { .. }
            | Stmt::Fill { .. }
            | Stmt::Alloc { .. }
            | Stmt::Grow { .. }
            | Stmt::Resize { .. }
            | Stmt::Prefetch { .. } => stmt.for_each_expr(&mut read),
            _ => {}
        }
    });
    buffers.extend(sorted);
    (vars, buffers)
}
