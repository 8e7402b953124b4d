//! Counts whose sum is known before they are made.
//!
//! ```text
//! s1: f(key + 1) += 1      over points that have the places from 0 to E, one each
//! s2: f(x + 1) += f(x)     over {[x] : 0 <= x < N}
//! ```
//!
//! Then `f(0) = 0`, `f` never falls, and `f(N) = E`. So one comparison of `E` stands for those of
//! each sum with the width of the entries, and for those of each entry with the declared range.
//! Numbers `f(key) + ordinal(key of N)` of the same points lie below `E` as well.

use sparsec_computation::segments::places;
use sparsec_computation::{Computation, Stage};
use sparsec_loop::{BinaryOp, Expr, Failure};
use sparsec_relation::{Declarations, Expression, Function, Monotone};

use super::emit::Emitter;
use super::filled::{before_next, sums};
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

    /// Checks by the end of a statement's numbers that all are as declared; whether that says all.
    pub(super) fn is_settled_by_end(&mut self, number: usize, end: &Expression) -> bool {
        let target = &self.computation.statements[number].target.space;
        let mut carried = self.carries.iter();
        let Some(function) = carried.find(|function| function.name == *target).cloned() else {
            return false;
        };
        let end = self.expr(end);
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
    let is_summed = before_next(&space.extents) == Some(&sums.n_keys);
    let places = places(sums.count, known).filter(|_| is_summed)?;
    places.from_zero(known).is_none().then_some(places.end)
}
