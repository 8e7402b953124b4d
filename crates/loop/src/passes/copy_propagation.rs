//! Removing variables that add nothing.

use std::collections::{HashMap, HashSet};

use crate::ir::{BinaryOp, Block, Expr, Function, Stmt, Var};
use crate::walk::for_each_stmt;

/// Removes variables that only rename a fixed variable or a constant, and
/// those that name a short sum or product for one use in the same loop.
/// Variables that are never assigned become fixed.
///
/// ```text
/// let k: i64 = j                 ──►   y[i * n + j] = 0.0
/// let p: i64 = i * n + k
/// y[p] = 0.0
/// ```
pub fn copy_propagation(function: &mut Function) {
    fix_unassigned(function);
    let mut body = std::mem::take(&mut function.body);
    let mut values = HashMap::new();
    // Declarations come before uses, so a chain of renames is followed in one
    // walk.
    replace(
        &mut body,
        &mut values,
        &mut |_, value| match value {
            Expr::Const(_) => true,
            Expr::Var(of) => !function.vars[*of].mutable,
            _ => false,
        },
        function,
    );
    let uses = Uses::of(&body);
    let short = |var: Var, value: &Expr| uses.once_in_its_loop(var) && is_short(function, value);
    replace(
        &mut body,
        &mut HashMap::new(),
        &mut |var, value| short(var, value),
        function,
    );
    function.body = body;
}

fn fix_unassigned(function: &mut Function) {
    let mut assigned = HashSet::new();
    for_each_stmt(&function.body, &mut |stmt| {
        if let Stmt::Assign { var, .. } = stmt {
            assigned.insert(*var);
        }
    });
    let vars: Vec<Var> = function.vars.ids().collect();
    for var in vars {
        function.vars[var].mutable = assigned.contains(&var);
    }
}

/// Puts the values of fixed variables that `wanted` chooses in their places.
fn replace(
    block: &mut Block,
    values: &mut HashMap<Var, Expr>,
    wanted: &mut dyn FnMut(Var, &Expr) -> bool,
    function: &Function,
) {
    block.retain_mut(|stmt| {
        stmt.for_each_expr_mut(&mut |expr| {
            expr.rewrite(&mut |part| {
                if let Expr::Var(var) = part
                    && let Some(value) = values.get(var)
                {
                    *part = value.clone();
                }
            });
        });
        if let Stmt::Declare { var, value } = stmt
            && !function.vars[*var].mutable
            && wanted(*var, value)
        {
            values.insert(*var, value.clone());
            return false;
        }
        for inner in stmt.blocks_mut() {
            replace(inner, values, wanted, function);
        }
        true
    });
}

/// One or two of `+ - *` on fixed variables and constants: a position, which
/// reads better where it is used.
fn is_short(function: &Function, value: &Expr) -> bool {
    value.n_operations() <= 2
        && !value.any(&mut |part| match part {
            Expr::Const(_) => false,
            Expr::Var(var) => function.vars[*var].mutable,
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, ..) => {
                !function.type_of(part).is_integer()
            }
            _ => true,
        })
}

/// How often variables are used, and in which loop.
#[derive(Default)]
struct Uses {
    /// The innermost loop of each declaration, by number; 0 is the function.
    declared: HashMap<Var, usize>,
    /// The innermost loop of each use.
    used: HashMap<Var, Vec<usize>>,
    n_loops: usize,
}

impl Uses {
    fn of(body: &Block) -> Self {
        let mut uses = Self::default();
        uses.block(body, 0);
        uses
    }

    fn block(&mut self, block: &Block, current: usize) {
        for stmt in block {
            if let Stmt::Declare { var, .. } = stmt {
                self.declared.insert(*var, current);
            }
            let inner = match stmt {
                Stmt::For { .. } | Stmt::While { .. } => {
                    self.n_loops += 1;
                    self.n_loops
                }
                _ => current,
            };
            // The bounds of a `for` are evaluated once, a condition each time.
            let place = match stmt {
                Stmt::While { .. } => inner,
                _ => current,
            };
            stmt.for_each_expr(&mut |expr| {
                expr.any(&mut |part| {
                    if let Expr::Var(var) = part {
                        self.used.entry(*var).or_default().push(place);
                    }
                    false
                });
            });
            for inner_block in stmt.blocks() {
                self.block(inner_block, inner);
            }
        }
    }

    fn once_in_its_loop(&self, var: Var) -> bool {
        match (self.declared.get(&var), self.used.get(&var)) {
            (Some(declared), Some(used)) => used[..] == [*declared],
            _ => false,
        }
    }
}
