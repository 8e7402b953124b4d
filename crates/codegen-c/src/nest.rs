//! Nests of loops that are functions of their own.
//!
//! ```text
//! for i {                                 static int64_t compute_C_nest(…, int64_t w_n) {
//!   var w_n = 0                             for k { for j { …  w_n++ } }
//!   for k { for j { …  w_n += 1 } }   ─►    return w_n;
//!   sort w_list[0..w_n]                   }
//!   …
//! }                                       w_n = compute_C_nest(…, w_n);
//! ```
//!
//! What lives across a call is left the few registers that callees keep. C compilers give
//! them to what lives longest, and the loops beside the call, which run most, read their
//! arrays from the stack. As a function of its own, a nest has all registers; a call for
//! each turn of the loop around is little beside the one that sorts.
//!
//! A nest is taken out that neither fails nor asks for anything, and leaves at most one
//! variable changed.

use std::collections::HashSet;

use sparsec_loop::{Access, Function, Stmt, Var, captured};

use crate::function::{function_name, signature};
use crate::stmt::Writer;
use crate::uses::may_fail;

/// Whether a loop is to be a function: it has loops inside, and can be one.
pub(crate) fn is_one(function: &Function, nest: &Stmt) -> bool {
    let (mut n_loops, mut is_plain) = (0, true);
    nest.for_each(&mut |stmt| {
        n_loops += usize::from(matches!(stmt, Stmt::For { .. } | Stmt::While { .. }));
        is_plain &= match stmt {
            Stmt::For { mark, .. } => !mark.chunks,
            Stmt::Comment(_)
            | Stmt::Declare { .. }
            | Stmt::Assign { .. }
            | Stmt::Store { .. }
            | Stmt::While { .. }
            | Stmt::If { .. }
            | Stmt::Fill { .. }
            | Stmt::Prefetch { .. } => true,
            _ => false,
        };
        stmt.for_each_expr(&mut |expr| is_plain &= !may_fail(function, expr));
    });
    n_loops > 1 && is_plain && changed(nest).len() <= 1
}

/// The variables of around that a nest changes.
fn changed(nest: &Stmt) -> Vec<Var> {
    let (mut own, mut assigned) = (HashSet::new(), HashSet::new());
    nest.for_each(&mut |stmt| match stmt {
        Stmt::Assign { var, .. } => _ = assigned.insert(*var),
        _ => own.extend(stmt.written_var()),
    });
    assigned.difference(&own).copied().collect()
}

impl Writer<'_> {
    /// Writes a nest as a function, and calls it.
    pub(crate) fn nest(&mut self, nest: &Stmt) {
        let Stmt::For { var, .. } = nest else {
            unreachable!("a nest is a loop")
        };
        let block = vec![nest.clone()];
        let taken = captured(self.function, *var, &block);
        let changed = changed(nest).pop();
        let (mut parameters, mut values) = (Vec::new(), Vec::new());
        for &buffer in taken.buffers.iter().chain(&taken.own) {
            let data = &self.function.buffers[buffer];
            let constant = match data.access {
                Access::Read => "const ",
                _ => "",
            };
            let ty = self.c_type(data.storage);
            let name = self.buffer_name(buffer).to_owned();
            parameters.push(format!("{constant}{ty} *restrict {name}"));
            values.push(name);
        }
        for &var in taken.vars.iter().chain(&changed) {
            let ty = self.c_type(self.function.vars[var].element);
            let name = self.var_name(var).to_owned();
            parameters.push(format!("{ty} {name}"));
            values.push(name);
        }
        let (returns, assigns) = match changed {
            Some(var) => {
                let ty = self.c_type(self.function.vars[var].element);
                (ty, format!("{} = ", self.var_name(var)))
            }
            None => ("void", String::new()),
        };

        let name = self
            .names
            .fresh(&format!("{}_nest", function_name(&self.function.name)));
        let rows = std::mem::take(&mut self.rows);
        let outside = std::mem::replace(&mut self.is_sorting, false);
        let text = self.apart(|w| {
            w.block(&block);
            if let Some(var) = changed {
                w.line(&format!("return {};", w.var_name(var)));
            }
        });
        self.is_sorting = outside;
        self.rows = rows;
        let head = signature(&format!("static {returns} {name}"), &parameters);
        self.nests.push(format!(
            "/* Apart, so that its loops have all registers. */\n\
             #ifdef __GNUC__\n__attribute__((noinline))\n#endif\n{head} {{\n{text}}}\n\n"
        ));
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        self.wrapped(&format!("{assigns}{name}("), &values, ");");
    }
}
