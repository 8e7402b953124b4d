//! Counts whose sum is known before they are made.
//!
//! ```text
//! s1: f(key + 1) += 1      over points that are each a place from 0 to E, once each
//! s2: f(x + 1) += f(x)     over {[x] : 0 <= x < N}
//! ```
//!
//! Then `f(0) = 0`, `f` never falls, and `f(N) = E`. So one comparison of `E` stands for those of
//! each sum with the width of the entries, and for those of each entry with the declared range.
//! Numbers `f(key) + ordinal(key of N)` of the same points lie below `E` as well.

use sparsec_computation::segments::n_points;
use sparsec_computation::{Computation, Stage};
use sparsec_loop::{BinaryOp, Expr, Failure};
use sparsec_relation::{
    Comparison, Conjunction, Constraint, Declarations, Expression, Function, Monotone, Set,
};

use super::emit::Emitter;
use super::filled::{before_next, counted, sums};
use super::values::range;

impl Emitter<'_> {
    /// Finds the sums of what this stage counts, and ends the function where entries cannot
    /// hold them.
    pub(super) fn make_totals(&mut self, stage: &Stage) {
        let whole = self.whole;
        for name in &stage.begins {
            let Some(total) = total(whole, stage, name, self.known) else {
                continue;
            };
            let total = self.expr(&total);
            let total = self.builder.let_("total", total);
            let space = whole.space(name).expect("stages begin data");
            let (_, most) = range(space.element);
            if most < i64::MAX {
                let is_more = Expr::int(most).less(total);
                self.builder
                    .if_then(is_more, |b| b.fail(Failure::CastOutOfRange));
            }
            self.totals.insert(name.clone(), total);
        }
    }

    /// Checks by its sum that a function is as declared; whether that says all.
    pub(super) fn is_settled_by_total(&mut self, function: &Function) -> bool {
        let Some(total) = self.totals.get(&function.name).copied() else {
            return false;
        };
        let rises = matches!(function.monotone, None | Some(Monotone::Nondecreasing));
        rises && self.check_below(function, |above| above.binary(BinaryOp::Le, total))
    }

    /// Checks by the last number of a numbering that all are as declared; whether that says all.
    pub(super) fn is_settled_by_end(&mut self, number: usize) -> bool {
        let statement = &self.computation.statements[number];
        let carried = self.carries.iter();
        let mut carried = carried.filter(|function| function.name == statement.target.space);
        let Some(function) = carried.next().cloned() else {
            return false;
        };
        let Some(end) = counted((self.whole, self.computation), statement) else {
            return false;
        };
        let end = self.expr(&end);
        self.check_below(&function, |above| above.less(end))
    }

    /// Ends the function where values from 0 on are not all in a range; `false`, and no check, for
    /// a range that begins elsewhere.
    fn check_below(&mut self, function: &Function, is_more: impl FnOnce(Expr) -> Expr) -> bool {
        let range = function.range.as_box();
        let Some([(Expression::Integer(0), above)]) = range.as_deref() else {
            return false;
        };
        let above = self.expr(above);
        self.builder
            .if_then(is_more(above), |b| b.fail(Failure::NotAsDeclared));
        true
    }
}

/// What the counts of a stage add up to.
fn total(
    whole: &Computation,
    stage: &Stage,
    name: &str,
    known: &Declarations,
) -> Option<Expression> {
    let is_here = stage.completes.iter().any(|it| it == name);
    let space = whole.space(name)?;
    let sums = sums(whole, name).filter(|_| is_here && space.is_index_array())?;
    // Entries behind the last key would be counts alone.
    if before_next(&space.extents) != Some(&sums.n_keys) {
        return None;
    }
    let (conditions, total) = n_points(sums.count, known)?;
    let mut conditions = conditions.iter();
    let holds = conditions.all(|condition| is_implied(condition, known));
    (holds && is_there(whole, &total, known)).then_some(total)
}

/// Whether the entry that a total is, if it is one, lies in its array, also where no point is.
fn is_there(whole: &Computation, total: &Expression, known: &Declarations) -> bool {
    let Expression::Call(name, arguments) = total else {
        return true;
    };
    let domain = known.function(name).and_then(|it| it.domain.as_box());
    let (Some([(from, end)]), [at]) = (domain.as_deref(), &arguments[..]) else {
        return false;
    };
    let is_below = Constraint::new(at.clone(), Comparison::Less, end.clone());
    let is_from = Constraint::new(from.clone(), Comparison::LessEqual, at.clone());
    // Parameters are refused below zero.
    let is_parameter = matches!(at, Expression::Constant(name) if whole.parameters.contains(name));
    let is_above = (is_parameter && *from == Expression::Integer(0)) || is_implied(&is_from, known);
    is_above && is_implied(&is_below, known)
}

fn is_implied(constraint: &Constraint, known: &Declarations) -> bool {
    let anywhere = Set::new(vec![Conjunction::new([""; 0], [])]);
    anywhere.is_ok_and(|anywhere| anywhere.implies(constraint, known))
}
