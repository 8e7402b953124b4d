//! Loops whose last iteration leaves all that the loop leaves.
//!
//! Each iteration overwrites the entries that the one before wrote, or takes the maximum of values
//! that grow. Numbers change with the loops around alone, or are those of the iterations:
//!
//! ```text
//! for q in pos[i]..pos[i + 1] {             if pos[i] < pos[i + 1] {
//!   if i != last { last = i; begun += 1 }     let q = pos[i + 1] - 1
//!   crd[begun - 1] = i                        if i != last { last = i; begun += 1 }
//!   end[begun - 1] = q + 1 }                  crd[begun - 1] = i
//!                                             end[begun - 1] = q + 1 }
//! ```

use std::collections::BTreeSet;

use sparsec_computation::{Access, Operator, Update, Value, Window};
use sparsec_loop::{BinaryOp, Expr};
use sparsec_relation::{Expression, Step, Variable};

use super::emit::{Emitter, Point};
use super::window::{Numbering, Visiting};

/// The variables and entries that iterations change.
struct Varying {
    variables: BTreeSet<Variable>,
    /// Entries at varying places whose values are the same in all iterations.
    same: Vec<Access>,
    /// Entries at varying places whose values grow from iteration to iteration.
    growing: Vec<Access>,
}

impl Varying {
    fn has(&self, e: &Expression) -> bool {
        match e {
            Expression::Integer(_) | Expression::Constant(_) => false,
            Expression::Variable(variable) => self.variables.contains(variable),
            Expression::Negate(a) => self.has(a),
            Expression::Add(a, b)
            | Expression::Subtract(a, b)
            | Expression::Multiply(a, b)
            | Expression::FloorDivide(a, b)
            | Expression::Modulo(a, b) => self.has(a) || self.has(b),
            Expression::Call(name, arguments) => {
                let is_same = |it: &Access| it.space == *name && it.indices[..] == arguments[..];
                !self.same.iter().any(is_same) && arguments.iter().any(|e| self.has(e))
            }
        }
    }
}

impl Varying {
    /// Whether a value at a point never falls from iteration to iteration.
    fn grows(&self, value: &Value, point: &Point<'_>) -> bool {
        match value {
            Value::Integer(_) | Value::Parameter(_) => true,
            Value::Entry(access) => {
                let access = access.rewritten(point);
                self.growing.contains(&access) || self.same.contains(&access)
            }
            Value::Binary(Operator::Add, a, b) => self.grows(a, point) && self.grows(b, point),
            _ => false,
        }
    }
}

impl Emitter<'_> {
    /// Runs the last iteration of a loop.
    pub(super) fn run_last(&mut self, variable: Variable, lo: Expr, hi: Expr, body: &[Step]) {
        let name = self.loops.name(variable);
        let end = self.builder.let_(&format!("{name}_end"), hi);
        let lo = self.noted_begin(variable, lo, body);
        let then = self.written(|this| {
            let last = Expr::Var(end).binary(BinaryOp::Sub, 1);
            let last = this.builder.let_(name, last);
            this.variables.insert(variable, last.into());
            this.steps(body);
        });
        self.branch(lo.less(end), then, true);
    }

    /// Whether the last iteration of a loop leaves all that the loop leaves.
    pub(super) fn is_all_in_last(&self, variable: Variable, body: &[Step]) -> bool {
        let mut varying = Varying {
            variables: BTreeSet::from([variable]),
            same: Vec::new(),
            growing: Vec::new(),
        };
        let is_plain = matches!(self.visiting, Visiting::Assign) && self.found.is_empty();
        is_plain
            && body.iter().all(|step| match step {
                Step::Let { variable, value } => {
                    if varying.has(value) {
                        varying.variables.insert(*variable);
                    }
                    true
                }
                Step::Visit { number, tuple } => {
                    self.overwrites(*number, tuple, body, &mut varying)
                }
                _ => false,
            })
    }

    /// Whether a statement overwrites in each iteration what it wrote in the one before.
    fn overwrites(
        &self,
        number: usize,
        tuple: &[Expression],
        body: &[Step],
        varying: &mut Varying,
    ) -> bool {
        let statement = &self.computation.statements[number];
        let point = Point(tuple);
        let windows = statement.value.windows();
        let numbering = self.windows.get(&(number, 0));
        let counts_loop = matches!(statement.value, Value::Window(..))
            && matches!(numbering, Some(Numbering::InLoop(at)) if varying.variables.contains(at));
        let is_numbered_alike = windows.iter().enumerate().all(|(place, (window, keys))| {
            let numbering = self.windows.get(&(number, place));
            let is_group = matches!(numbering, Some(Numbering::Zero | Numbering::Ascending(_)));
            let mut keys = keys.iter();
            is_group
                && *window == Window::DenseRank
                && keys.all(|key| !varying.has(&key.value.rewritten(&point)))
        });
        let target = statement.target.rewritten(&point);
        let is_kept = [&self.in_variables, &self.locals];
        let is_kept = is_kept.iter().any(|names| names.contains(&target.space));
        let is_here = !target.indices.iter().any(|e| varying.has(e));
        let expressions = statement.value.expressions().into_iter();
        let entries = statement.value.entries().into_iter();
        let is_same = expressions
            .chain(entries.clone().flat_map(|access| &access.indices))
            .all(|e| !varying.has(&e.rewritten(&point)));
        let is_read_elsewhere = entries
            .filter(|access| self.is_written(&access.space, body))
            .map(|access| access.rewritten(&point))
            .any(|access| !varying.same.contains(&access) && !varying.growing.contains(&access));
        let is_last = match statement.update {
            Update::Assign => is_here || is_kept,
            Update::Maximum => is_here && varying.grows(&statement.value, &point),
            _ => false,
        };
        if is_kept && counts_loop {
            varying.growing.push(target);
        } else if is_kept && is_same && is_numbered_alike {
            varying.same.push(target);
        }
        is_last && (is_numbered_alike || counts_loop) && !is_read_elsewhere
    }

    fn is_written(&self, space: &str, body: &[Step]) -> bool {
        body.iter().any(|step| match step {
            Step::Visit { number, .. } => {
                self.computation.statements[*number].target.space == space
            }
            _ => false,
        })
    }
}
