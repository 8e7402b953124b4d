//! What the body of chunks takes from around it.
//!
//! Back ends make a function of the body, which knows of its surroundings what is
//! handed to it:
//!
//! ```text
//! for i_chunk in 0..n chunks {                vars     m, since it is declared outside
//!   for i in … { w[i] = A.vals[i] * m }       buffers  A.vals
//! }                                           own      w, which each unit brings along
//! ```

use std::collections::HashSet;

use crate::ir::{Access, Block, Buffer, Function, Stmt, Var};
use crate::walk::{Read, for_each_stmt};

/// What a body uses that is declared around it, each in the function's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// Variables, whose values do not change while chunks run.
    pub vars: Vec<Var>,
    /// Buffers that units share.
    pub buffers: Vec<Buffer>,
    /// Buffers of which each unit has its own.
    pub own: Vec<Buffer>,
    /// Results that chunks grow in their turn, so that they move meanwhile.
    pub grown: Vec<Buffer>,
}

/// What the body of chunks counted by `var` takes from around it.
pub fn captured(function: &Function, var: Var, body: &Block) -> Captured {
    let mut inside = HashSet::from([var]);
    let mut vars = HashSet::new();
    let mut buffers = HashSet::new();
    let mut grown = HashSet::new();
    for_each_stmt(body, &mut |stmt| {
        inside.extend(stmt.written_var());
        buffers.extend(stmt.touched_buffers());
        match stmt {
            Stmt::Grow { buffer, .. } => _ = grown.insert(*buffer),
            Stmt::Prefetch { buffer, .. } => _ = buffers.insert(*buffer),
            _ => {}
        }
        stmt.for_each_expr(&mut |expr| {
            expr.for_each_read(&mut |read| {
                _ = match read {
                    Read::Var(var) => vars.insert(var),
                    Read::Buffer(buffer) => buffers.insert(buffer),
                }
            });
        });
    });
    vars.retain(|var| !inside.contains(var));
    let declared = function.vars.iter().map(|(var, _)| var);
    let vars = declared.filter(|var| vars.contains(var)).collect();
    let used = function.buffers.iter();
    let used = used.filter(|(buffer, _)| buffers.contains(buffer));
    let (own, shared): (Vec<_>, Vec<_>) = used.partition(|(_, data)| data.access == Access::Own);
    let (grown, shared): (Vec<_>, Vec<_>) = shared
        .into_iter()
        .partition(|(buffer, _)| grown.contains(buffer));
    Captured {
        vars,
        grown: grown.into_iter().map(|(buffer, _)| buffer).collect(),
        buffers: shared.into_iter().map(|(buffer, _)| buffer).collect(),
        own: own.into_iter().map(|(buffer, _)| buffer).collect(),
    }
}

#[cfg(test)]
mod tests {
    use sparsec_base::Source;

    use super::captured;
    use crate::ir::{Function, Stmt};

    /// What is fetched early and never read is handed over as well.
    #[test]
    fn what_is_only_fetched_is_captured() {
        let text = r#"fn f(out y "(i) -> (i : dense)" { extent n, write y: f64 },
              in x "(i) -> (i : dense)" { read x: f64 }) {
            for c in 0..2 chunks {
              prefetch x[0..n]
              for i in c * n // 2..(c + 1) * n // 2 { y[i] = 1.0 }
            }
          }"#;
        let function = Function::parse(&Source::new("f", text)).unwrap();
        let Some(Stmt::For { var, body, .. }) = function.body.first() else {
            panic!("the loop comes first");
        };
        let captured = captured(&function, *var, body);
        let names = captured.buffers.iter();
        let names: Vec<&str> = names.map(|it| &*function.buffers[*it].name).collect();
        assert_eq!(names, ["y", "x"]);
    }
}
