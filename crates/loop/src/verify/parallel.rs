//! What iterations of a parallel loop share, and what they may do with it.
//!
//! ```text
//! for i in 0..n parallel(CPUThread, ParallelReduction) { t += x[i] }
//! ```
//!
//! A variable declared outside is assigned only where the loop's strategy
//! combines values, only by an operator that takes them in any order, and is not
//! read otherwise: then each unit can have its own, or combine atomically. That
//! it becomes `true` is the same whoever says so: it counts as combining, and every
//! strategy allows it.
//!
//! With the strategy `Temporary`, one that is added to may be read: it counts what
//! iterations append, one after another, until they are [divided](crate::passes::divide()).

use std::collections::HashSet;

use sparsec_base::{Scalar, code};

use super::check::{Check, Checker};
use crate::ir::{BinaryOp, Block, Expr, Stmt, Var};
use crate::mark::Races;
use crate::walk::for_each_stmt;

/// The variables that iterations of a parallel loop share, and its strategy.
pub(crate) struct Shared {
    /// Declared outside.
    pub(crate) vars: HashSet<Var>,
    /// What keeps iterations apart.
    pub(crate) races: Races,
}

impl Shared {
    /// Whether an iteration may assign `value` to `var`.
    pub(crate) fn allows(&self, var: Var, value: &Expr) -> bool {
        let combined = match self.races {
            // A flag of a temporary whose entries are told apart.
            Races::NoRaces | Races::IgnoreRaces => combined_by(var, value) == Some(BinaryOp::Or),
            Races::Atomics | Races::Temporary | Races::ParallelReduction => combines(var, value),
        };
        !self.vars.contains(&var) || combined
    }

    /// Whether iterations may append: each what comes behind that of those before.
    pub(crate) fn appends(&self) -> bool {
        self.races == Races::Temporary
    }

    /// A shared variable that the body of the loop assigns, and reads for more
    /// than that.
    pub(crate) fn read_beside(&self, body: &Block) -> Option<Var> {
        let mut assigned = HashSet::new();
        for_each_stmt(body, &mut |stmt| {
            if let Stmt::Assign { var, value } = stmt
                && self.vars.contains(var)
                && !(self.appends() && combined_by(*var, value) == Some(BinaryOp::Add))
            {
                assigned.insert(*var);
            }
        });
        let mut found = None;
        for_each_stmt(body, &mut |stmt| {
            let own = stmt.written_var();
            stmt.for_each_expr(&mut |expr| {
                let read = assigned
                    .iter()
                    .find(|var| Some(**var) != own && expr.reads(**var));
                found = found.or(read.copied());
            });
        });
        found
    }
}

impl Checker<'_> {
    /// Checks that chunks of `body` from `lo` on may stand here.
    pub(super) fn chunks(&self, lo: &Expr, body: &Block) -> Check {
        if self.in_chunks || *lo != Expr::int(0) {
            return Err(self.helped(
                code::LOOP_LIFETIME,
                "chunks are counted from 0, in a loop outside of all other chunks".to_owned(),
                "divide the outer loop only",
            ));
        }
        for (wanted, help) in [
            (
                Stmt::Turn,
                "write `turn` once, outside of loops and branches of the chunk",
            ),
            (
                Stmt::Pass,
                "write `pass` once, outside of loops and branches of the chunk",
            ),
        ] {
            let mut n_found = 0;
            for_each_stmt(body, &mut |stmt| n_found += usize::from(*stmt == wanted));
            let n_outside = body.iter().filter(|stmt| **stmt == wanted).count();
            if n_found > 1 || n_found > n_outside {
                let message = "a chunk has one turn, and passes it on once".to_owned();
                return Err(self.helped(code::LOOP_LIFETIME, message, help));
            }
        }
        Ok(())
    }

    /// What iterations of a parallel loop over `body` share.
    pub(super) fn shared(&self, races: Races, body: &Block) -> Check<Shared> {
        let vars = self.visible.clone();
        let shared = Shared { vars, races };
        match shared.read_beside(body) {
            None => Ok(shared),
            Some(var) => {
                let name = &self.function.vars[var].name;
                Err(self.invalid(
                    code::LOOP_IMMUTABLE,
                    format!("iterations of a parallel loop combine into `{name}` and read it"),
                ))
            }
        }
    }
}

/// Whether `value` is `var` combined with something, or `true`.
fn combines(var: Var, value: &Expr) -> bool {
    combined_by(var, value).is_some()
}

/// Whether one of these variables is read in `body` for more than combining it.
pub(crate) fn is_read_beside(vars: HashSet<Var>, body: &Block) -> bool {
    let races = Races::ParallelReduction;
    Shared { vars, races }.read_beside(body).is_some()
}

/// The operator by which `value` is `var` combined with something: `true` is
/// combined by `or`.
pub(crate) fn combined_by(var: Var, value: &Expr) -> Option<BinaryOp> {
    if *value == Expr::Const(Scalar::Bool(true)) {
        return Some(BinaryOp::Or);
    }
    BinaryOp::COMBINE
        .into_iter()
        .find(|op| combines_by(*op, var, value))
}

/// Whether `value` is `var op a op b …`, in any order.
fn combines_by(op: BinaryOp, var: Var, value: &Expr) -> bool {
    match value {
        Expr::Binary(known, left, right) if *known == op => {
            (combines_by(op, var, left) || **left == Expr::Var(var)) && !right.reads(var)
                || (combines_by(op, var, right) || **right == Expr::Var(var)) && !left.reads(var)
        }
        Expr::Binary(BinaryOp::Sub, left, right) if op == BinaryOp::Add => {
            (combines_by(op, var, left) || **left == Expr::Var(var)) && !right.reads(var)
        }
        _ => false,
    }
}
