//! Points that are numbered by the iterations of the innermost loop around them.
//!
//! ```text
//! s0: g(q) = ordinal(i of N)             for i in 0..N {
//!   over {[i, q] : … pos(i) <= q < pos(i + 1)}   let begin = pos[i]
//!                                          for q in begin..pos[i + 1] { g = q - begin } }
//! ```

use sparsec_computation::Key;
use sparsec_loop::Expr;
use sparsec_relation::{Expression, Step, Variable};

use super::emit::{Emitter, Point};
use super::in_runs::visited;
use super::window::Numbering;

impl Emitter<'_> {
    /// The innermost loop around the visits of a statement, if the keys tell the iterations of all
    /// loops outside of it apart: the points of one key are the iterations of that loop.
    pub(super) fn loop_of_keys(&self, number: usize, keys: &[Key]) -> Option<Variable> {
        let mut steps = &self.loops.body;
        let mut around: Vec<Variable> = Vec::new();
        let tuple = loop {
            let visits = steps.iter().find_map(|step| match step {
                Step::Visit { number: it, tuple } if *it == number => Some(tuple),
                _ => None,
            });
            if let Some(tuple) = visits {
                break tuple;
            }
            let inner = steps.iter().find_map(|step| match step {
                Step::For { variable, body, .. } if visited(body, number).is_some() => {
                    Some((*variable, body))
                }
                _ => None,
            });
            let (variable, body) = inner?;
            around.push(variable);
            steps = body;
        };
        let innermost = around.pop()?;
        let keys: Vec<Expression> = (keys.iter())
            .map(|key| key.value.rewritten(&Point(tuple)))
            .collect();
        let tells = |variable: &Variable| keys.contains(&Expression::Variable(*variable));
        let is_outside = |key: &Expression| match key {
            Expression::Variable(variable) => around.contains(variable),
            _ => false,
        };
        (around.iter().all(tells) && keys.iter().all(is_outside)).then_some(innermost)
    }

    /// Where a loop begins, which is noted if points are numbered from there on.
    pub(super) fn noted_begin(&mut self, variable: Variable, lo: Expr, body: &[Step]) -> Expr {
        let is_numbered = body.iter().any(|step| match step {
            Step::Visit { number, .. } => {
                let mut windows = self.windows.iter();
                windows.any(|((statement, _), numbering)| {
                    let in_loop = matches!(numbering, Numbering::InLoop(it) if *it == variable);
                    statement == number && in_loop
                })
            }
            _ => false,
        });
        if !is_numbered {
            return lo;
        }
        let begin = self.builder.let_("begin", lo);
        self.begins.insert(variable, begin.into());
        begin.into()
    }
}
