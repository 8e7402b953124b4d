//! One run of points with the same first key.
//!
//! The outermost loop has one first key in each iteration. A run ends where another key begins. If
//! all that is done at its points is over the segments of an array, these are one loop:
//!
//! ```text
//! for i in first..behind {
//!   for q in pos[i]..pos[i + 1] { … } }      ──►      for q in pos[first]..pos[behind] { … }
//! ```

use std::collections::BTreeSet;

use sparsec_base::Scalar;
use sparsec_computation::{Key, Operator, Role, Update, Value};
use sparsec_loop::{Expr, Var};
use sparsec_relation::{Expression, Monotone, Rewrite, Step, Variable};

use super::emit::{Emitter, Point};
use super::in_runs::{Counted, visited};
use super::shares::Sweep;
use crate::bisect::integer;

/// How the first key follows from the variable of the outermost loop.
pub(super) struct FirstKey {
    pub(super) variable: Variable,
    lets: Vec<Step>,
    value: Expression,
}

impl Emitter<'_> {
    /// The first key in the loop of these steps that visits the statement.
    pub(super) fn first_key(&self, number: usize, key: &Key, steps: &[Step]) -> Option<FirstKey> {
        let (variable, body) = steps.iter().find_map(|step| match step {
            Step::For { variable, body, .. } if visited(body, number).is_some() => {
                Some((*variable, body))
            }
            _ => None,
        })?;
        let mut determined = BTreeSet::from([variable]);
        let mut lets = Vec::new();
        for step in body {
            if let Step::Let { variable, value } = step
                && speaks_of_none_but(value, &determined)
            {
                determined.insert(*variable);
                lets.push(step.clone());
            }
        }
        let value = key.value.rewritten(&Point(visited(body, number)?));
        speaks_of_none_but(&value, &determined).then_some(FirstKey {
            variable,
            lets,
            value,
        })
    }

    /// Visits the points of a run, up to where another first key begins, which is returned.
    pub(super) fn visit_run(
        &mut self,
        first_key: &FirstKey,
        keys: &[Key],
        (first, group, end): (Var, Var, Var),
        (variable, steps): (Variable, &[Step]),
    ) -> Var {
        let behind = self.builder.var_("behind", first);
        let goes_on = self.builder.var_("goes_on", Scalar::Bool(true));
        let segments = self.segments(variable, keys, steps);
        let each = self.written(|this| {
            let at = this.builder.let_(this.loops.name(variable), behind);
            this.variables.insert(variable, at.into());
            if segments.is_none() {
                this.steps(steps);
            }
            this.builder.assign(behind, Expr::Var(at).add(1));
            let is_inside = Expr::Var(behind).less(end);
            this.builder.assign(goes_on, is_inside);
            let key = this.written(|this| {
                let key = this.key_at(first_key, behind.into());
                this.builder.assign(goes_on, key.equals(group));
            });
            this.branch(goes_on.into(), key, true);
        });
        self.builder.while_loop(Expr::Var(goes_on), |b| {
            each.into_iter().for_each(|stmt| b.push(stmt));
        });
        if let Some((place, starts, body)) = segments {
            let [lo, hi] = [first, behind]
                .map(|at| integer(self.builder, self.arrays.spaces[starts], Expr::Var(at)));
            self.for_each(place, lo, hi, body);
        }
        behind
    }

    /// The loop over the places of a segment, with the array of where segments begin, if a step is
    /// nothing else: those of a run are one loop.
    fn segments<'a>(
        &self,
        variable: Variable,
        keys: &[Key],
        steps: &'a [Step],
    ) -> Option<(Variable, &'a str, &'a [Step])> {
        let [
            Step::For {
                variable: place,
                lower,
                upper,
                body,
            },
        ] = steps
        else {
            return None;
        };
        let ([lower], [upper]) = (&lower[..], &upper[..]) else {
            return None;
        };
        let ([Expression::Call(starts, _)], [_]) = (&lower[..], &upper[..]) else {
            return None;
        };
        let at = Expression::Variable(variable);
        let next = Expression::Add(Box::new(at.clone()), Box::new(Expression::Integer(1)));
        let [begin, end] = [at.clone(), next].map(|at| Expression::Call(starts.clone(), vec![at]));
        let function = self.known.function(starts)?;
        let lacks_it = |e: &Expression| {
            let mut lacks_it = true;
            e.visit(&mut |e| lacks_it &= *e != at);
            lacks_it
        };
        let is_apart = |step: &Step| match step {
            Step::Let { value, .. } => lacks_it(value),
            Step::Visit { tuple, .. } => {
                let mut others = keys[1..]
                    .iter()
                    .map(|key| key.value.rewritten(&Point(tuple)));
                others.all(|key| lacks_it(&key))
            }
            _ => false,
        };
        let is_segment = lower[0] == begin
            && upper[0] == end
            && function.monotone == Some(Monotone::Nondecreasing)
            && self.whole.space(starts)?.role == Role::Given;
        (is_segment && body.iter().all(is_apart)).then_some((*place, &starts[..], &body[..]))
    }

    /// The first key at a value of the outermost variable.
    pub(super) fn key_at(&mut self, first_key: &FirstKey, value: Expr) -> Expr {
        self.variables.insert(first_key.variable, value);
        self.steps(&first_key.lets);
        self.expr(&first_key.value)
    }

    /// The statements beside the ranked one, with their points, if each takes a maximum of the
    /// number and one, at an entry that all points of a run share.
    pub(super) fn counts_of_runs<'s>(
        &self,
        number: usize,
        keys: &[Key],
        sweep: &Sweep<'s>,
    ) -> Option<Vec<Counted<'s>>> {
        let ranked = &self.computation.statements[number];
        let is_kept = [&self.in_variables, &self.locals];
        let is_plain = matches!(ranked.value, Value::Window(..))
            && is_kept
                .iter()
                .any(|names| names.contains(&ranked.target.space));
        let mut visits = sweep.visits();
        visits.retain(|(visited, _)| *visited != number);
        let mut others = visits.iter();
        let all = others.all(|(visited, _)| self.counts_by_run((*visited, number), keys));
        (is_plain && all).then_some(visits)
    }

    /// Whether a statement takes a maximum of the number and one of a ranked statement, at an entry
    /// that all points of one first key share.
    pub(super) fn counts_by_run(&self, (visited, ranked): (usize, usize), keys: &[Key]) -> bool {
        let ranked = &self.computation.statements[ranked];
        let statement = &self.computation.statements[visited];
        let next = Value::Binary(
            Operator::Add,
            Box::new(Value::Entry(ranked.target.clone())),
            Box::new(Value::Integer(1)),
        );
        let mut indices = statement.target.indices.iter();
        statement.update == Update::Maximum
            && statement.value == next
            && statement.space == ranked.space
            && indices.all(|index| !has_variable(&index.rewritten(&Run(&keys[0].value))))
    }
}

pub(super) fn speaks_of_none_but(e: &Expression, variables: &BTreeSet<Variable>) -> bool {
    let mut holds = true;
    e.visit(&mut |e| {
        if let Expression::Variable(variable) = e {
            holds &= variables.contains(variable);
        }
    });
    holds
}

/// A constant in place of the first key.
struct Run<'a>(&'a Expression);

impl Rewrite for Run<'_> {
    fn whole(&self, e: &Expression) -> Option<Expression> {
        (e == self.0).then_some(Expression::Integer(0))
    }
}

fn has_variable(e: &Expression) -> bool {
    !speaks_of_none_but(e, &BTreeSet::new())
}
