//! Segments that lie one behind the other, run through as one.
//!
//! ```text
//! for i in 0..N {                                  for q in pos[0]..pos[N] { n[crd[q]] += 1 }
//!   for q in pos[i]..pos[i + 1] { n[crd[q]] += 1 } }
//! ```
//!
//! Where `pos` does not fall and nothing in the loops depends on `i`, both visit the same points in the
//! same order. Branch predictors miss the end of most short segments, which costs more than the segment:
//! `csr` to `csc` takes 0.19 ms in place of 0.28 for 100,000 entries, six a row.

use sparsec_base::arena::Id;
use sparsec_computation::Value;
use sparsec_relation::{
    Comparison, Conjunction, Constraint, Expression, Monotone, Set, Step, Variable,
};

use super::emit::{Emitter, Point};
use super::window::{Numbering, Visiting};

/// Loops over the segments of an array, as one loop.
pub(super) struct Telescoped<'s> {
    /// The variable of the loop.
    pub(super) variable: Variable,
    /// Where the first segment begins, and where the last one ends.
    pub(super) bounds: [Expression; 2],
    pub(super) body: &'s [Step],
}

impl Emitter<'_> {
    /// A loop over segments and the loop over each of them as one, if they can be.
    pub(super) fn telescoped<'s>(&self, step: &'s Step) -> Option<Telescoped<'s>> {
        let Step::For {
            variable: segment,
            lower,
            upper,
            body: outer,
        } = step
        else {
            return None;
        };
        let [
            Step::For {
                variable,
                lower: begin,
                upper: end,
                body,
            },
        ] = &outer[..]
        else {
            return None;
        };
        let is_plain = self.grain.is_none()
            && self.found.is_empty()
            && matches!(self.visiting, Visiting::Assign);
        if !is_plain {
            return None;
        }
        let [first, last] = [only(lower)?, only(upper)?];
        let Expression::Call(name, at) = only(begin)? else {
            return None;
        };
        let itself = Expression::Variable(*segment);
        let next = Expression::Add(Box::new(itself.clone()), Box::new(Expression::Integer(1)));
        let is_segment = at[..] == [itself]
            && *only(end)? == Expression::Call(name.clone(), vec![next])
            && self.never_falls(name)
            && self.is_before(first, last);
        let is_free = |step| !self.depends(step, *segment, *variable);
        (is_segment && body.iter().all(is_free)).then(|| Telescoped {
            variable: *variable,
            bounds: [first, last].map(|at| Expression::Call(name.clone(), vec![at.clone()])),
            body,
        })
    }

    /// Whether an array that this stage does not write never falls.
    fn never_falls(&self, name: &str) -> bool {
        let function = self.known.function(name);
        let monotone = function.and_then(|function| function.monotone);
        matches!(
            monotone,
            Some(Monotone::Nondecreasing | Monotone::Increasing)
        ) && self.carries.iter().all(|carried| carried.name != *name)
            && self.computation.writers(name).next().is_none()
    }

    /// Whether `first <= last` is known of two constants.
    fn is_before(&self, first: &Expression, last: &Expression) -> bool {
        let is_constant =
            |e: &Expression| matches!(e, Expression::Integer(_) | Expression::Constant(_));
        let anywhere = Set::new(vec![Conjunction::new::<String>([], [])]);
        let before = Constraint::new(first.clone(), Comparison::LessEqual, last.clone());
        is_constant(first)
            && is_constant(last)
            && anywhere.is_ok_and(|anywhere| anywhere.implies(&before, self.known))
    }

    /// Whether a step within both loops depends on the segment, or on where it begins.
    fn depends(&self, step: &Step, segment: Variable, variable: Variable) -> bool {
        let speaks = |e: &Expression| speaks(e, segment);
        let within = |body: &[Step]| {
            let mut body = body.iter();
            body.any(|step| self.depends(step, segment, variable))
        };
        match step {
            Step::Let { value, .. } => speaks(value),
            Step::For {
                lower, upper, body, ..
            } => lower.iter().chain(upper).flatten().any(speaks) || within(body),
            Step::If { conditions, body } => {
                conditions
                    .iter()
                    .flat_map(Constraint::expressions)
                    .any(speaks)
                    || within(body)
            }
            Step::Where { .. } | Step::Found => true,
            Step::Visit { number, tuple } => {
                let statement = &self.computation.statements[*number];
                let at = Point(tuple);
                let mut windows = self.windows.iter();
                let begins_at = windows.any(|((of, _), numbering)| {
                    of == number && matches!(numbering, Numbering::InLoop(it) if *it == variable)
                });
                let mut entries = statement
                    .value
                    .entries()
                    .into_iter()
                    .chain([&statement.target]);
                let mut values = statement.value.expressions().into_iter();
                let mut is_value = false;
                statement.value.visit(&mut |value| {
                    is_value |= matches!(value, Value::Variable(it) if speaks(&tuple[it.index()]));
                });
                begins_at
                    || is_value
                    || entries.any(|entry| entry.indices.iter().any(|e| speaks(&e.rewritten(&at))))
                    || values.any(|e| speaks(&e.rewritten(&at)))
            }
        }
    }
}

/// The only bound of a loop on one side.
fn only(bounds: &[Vec<Expression>]) -> Option<&Expression> {
    match bounds {
        [of] if of.len() == 1 => of.first(),
        _ => None,
    }
}

/// Whether an expression speaks of a variable.
fn speaks(e: &Expression, variable: Variable) -> bool {
    let mut found = false;
    e.visit(&mut |e| found |= *e == Expression::Variable(variable));
    found
}
