//! New names and variables for passes, and copies of statements with variables of their own.

use std::collections::HashMap;

use sparsec_base::ElementType;

use crate::ir::{Expr, Function, Stmt, Var, VarData};
use crate::walk::{for_each_block_mut, rewrite_exprs};

impl Function {
    /// A name like `name` that no variable and no buffer has.
    pub fn fresh_name(&self, name: &str) -> String {
        let is_reserved = |name: &str| crate::text::is_reserved(name);
        let taken = |name: &str| is_reserved(name) || self.buffers.named(name).is_some();
        match taken(name) || self.vars.named(name).is_some() {
            true => self.vars.fresh_from(&format!("{name}_"), 2, taken),
            false => name.to_owned(),
        }
    }

    /// A variable with a name like that.
    pub(crate) fn fresh_var(&mut self, name: &str, element: ElementType, mutable: bool) -> Var {
        let name = self.fresh_name(name);
        self.vars.push(VarData {
            name,
            element,
            mutable,
        })
    }

    /// The same statement with variables of its own.
    pub(crate) fn renamed(&mut self, stmt: Stmt) -> Stmt {
        let mut others = HashMap::new();
        stmt.for_each(&mut |inner| {
            if let Stmt::Declare { var, .. } | Stmt::For { var, .. } = inner {
                let data = self.vars[*var].clone();
                others.insert(*var, self.fresh_var(&data.name, data.element, data.mutable));
            }
        });
        let mut block = vec![stmt];
        rewrite_exprs(&mut block, &mut |part| {
            if let Expr::Var(var) = part
                && let Some(other) = others.get(var)
            {
                *var = *other;
            }
        });
        for_each_block_mut(&mut block, &mut |block| {
            for stmt in block {
                if let Stmt::Declare { var, .. } | Stmt::Assign { var, .. } | Stmt::For { var, .. } =
                    stmt
                    && let Some(other) = others.get(var)
                {
                    *var = *other;
                }
            }
        });
        block.pop().expect("one statement went in")
    }
}
