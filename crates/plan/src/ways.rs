//! A statement in the ways in which it may be written, planned by commands.
//!
//! ```text
//! s = sum{i}(a(i) + b(i))          taken: with the rewriting that planning does
//! s = sum{i}(a(i) + b(i))          written: as the source has it
//! s = sum{i}(a(i)) + sum{i}(b(i))  apart: its sum taken apart, and rewritten then
//!
//! s = a(i) * sum{k}(b(i,k) * c(k))    sums inside of a product, as one product
//! ```
//!
//! Commands are for the first way that they can be applied to and completed for. What is
//! added to complete them may be all that a way before was lacking, so that the search
//! begins again with the completed schedule: the schedule that is printed is that of
//! the plan that runs, whoever gives it.

use sparsec_graph::Formats;
use sparsec_index::{Expr, Program};
use sparsec_schedule::Schedule;

use crate::fills::Fills;
use crate::search::{Facts, Plan, Size, complete};
use crate::split::distributed;
use crate::unplanned::{Result, Unplanned};

/// The ways, in the order in which they are tried.
pub(crate) struct Ways {
    ways: Vec<Expr>,
    /// How many come first that only a completed schedule may be for: those that were
    /// refused before.
    n_refused: usize,
    /// Which one is as the source has it.
    written: Option<usize>,
    /// Which one is the sum taken apart.
    apart: Option<usize>,
}

impl Ways {
    /// The ways to write a right side: as it was before its sum was taken apart, if it
    /// was because `whole` could not be planned, `taken` and `written`, taken apart, and as the
    /// one product `flat`.
    pub(crate) fn of(
        fills: Fills<'_>,
        whole: Option<&Expr>,
        taken: &Expr,
        written: &Expr,
        flat: Option<Expr>,
    ) -> Self {
        let mut ways: Vec<Expr> = whole.into_iter().chain([taken]).cloned().collect();
        let is_other = written != taken;
        let as_written = is_other.then_some(ways.len());
        ways.extend(is_other.then(|| written.clone()));
        let mut apart = whole.map(|_| 1);
        if apart.is_none()
            && let Some(distributed) = distributed(taken, fills.program)
        {
            apart = Some(ways.len());
            let rewritten = fills.taken(&distributed);
            let is_other = rewritten != distributed;
            ways.push(rewritten);
            ways.extend(is_other.then_some(distributed));
        }
        ways.extend(flat);
        Self {
            ways,
            n_refused: usize::from(whole.is_some()),
            written: as_written,
            apart,
        }
    }

    /// The plan that follows the commands for statement `number`, whose right side
    /// becomes the way that is planned.
    ///
    /// # Errors
    /// Why the first way is no plan: that says most. `E0305` before all, where larger
    /// kernels may be a way out.
    pub(crate) fn plan(
        &self,
        program: &mut Program,
        number: usize,
        formats: &Formats,
        commands: &Schedule,
        facts: Facts<'_>,
    ) -> Result<Plan> {
        let mut sized = |size| {
            let mut complete = |way: usize, commands: &Schedule| {
                program.statements[number].rhs.clone_from(&self.ways[way]);
                complete(program, number, formats, commands, size, facts)
            };
            let (mut way, mut plan) = self.first(self.n_refused, commands, size, &mut complete)?;
            // Completed, the commands may be for another way.
            for _ in 0..=self.ways.len() {
                let again = self.first(0, &plan.schedule, size, &mut complete)?;
                let is_same = again.0 == way;
                (way, plan) = again;
                if is_same {
                    break;
                }
            }
            program.statements[number].rhs.clone_from(&self.ways[way]);
            Ok(plan)
        };
        sized(Size::Small).or_else(|error: Unplanned| match error.is_too_large() {
            true => sized(Size::Any),
            false => Err(error),
        })
    }

    /// A plan of statement `number` that its own commands give: they may be for another way to write
    /// the statement, which is planned then.
    pub(crate) fn settled(
        &self,
        program: &mut Program,
        number: usize,
        formats: &Formats,
        plan: Plan,
        facts: Facts<'_>,
    ) -> Plan {
        if self.ways.len() == 1 {
            return plan;
        }
        let rhs = program.statements[number].rhs.clone();
        match self.plan(program, number, formats, &plan.schedule, facts) {
            Ok(mut other) if program.statements[number].rhs != rhs => {
                // Commands that are given convert without a cost.
                let conversions = plan.cost().conversions;
                if let Some(chosen) = other.account.considered.first_mut() {
                    chosen.cost.conversions += conversions;
                }
                other
            }
            _ => {
                program.statements[number].rhs = rhs;
                plan
            }
        }
    }

    /// The first way, but for so many, that commands are for, and its plan.
    fn first(
        &self,
        n_skipped: usize,
        commands: &Schedule,
        size: Size,
        complete: &mut dyn FnMut(usize, &Schedule) -> Result<Plan>,
    ) -> Result<(usize, Plan)> {
        let mut refused: Option<Unplanned> = None;
        let is_large = |error: &Unplanned| size == Size::Small && error.is_too_large();
        let mut is_too_large = false;
        let planned = (n_skipped..self.ways.len()).find_map(|way| {
            // A larger kernel is better than one that goes through everything.
            if is_too_large && Some(way) == self.written {
                return None;
            }
            let planned = complete(way, commands).map_err(|error| {
                is_too_large |= way >= self.n_refused && is_large(&error);
                match &refused {
                    Some(known) if is_large(known) || !is_large(&error) => {}
                    _ => refused = Some(error),
                }
            });
            planned.ok().map(|plan| (way, plan))
        });
        let (way, plan) = planned.ok_or_else(|| refused.expect("all ways were refused"))?;
        let is_all = |plan: &Plan| plan.schedule.0.len() == commands.0.len();
        // What lacks nothing for the sum taken apart is a plan of that, unless the whole costs
        // no more.
        if way == 0
            && let Some(apart) = self.apart
            && let Some(parts) = complete(apart, commands).ok().filter(is_all)
            && (!is_all(&plan) || parts.cost().is_less_than(&plan.cost()))
        {
            return Ok((apart, parts));
        }
        Ok((way, plan))
    }
}
