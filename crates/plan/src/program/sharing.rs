//! Programs in which a product that several sums share is computed once.

use sparsec_base::Result;
use sparsec_graph::Formats;
use sparsec_index::Program;

use super::{Asked, ProgramPlan, planned};
use crate::shared::{self, Shared};

/// The plan of a program with one common part of several sums in a statement of its own, where
/// that costs less than the plan that is known, or where the schedule names its result.
pub(super) fn with_part_shared(
    program: &Program,
    formats: &Formats,
    asked: Asked<'_>,
    known: &Result<ProgramPlan>,
) -> Option<(ProgramPlan, Shared)> {
    let shared = shared::candidates(program, formats, asked.facts.strict).into_iter();
    let mut shared = shared.filter(|shared| match asked.schedule {
        Some(schedule) => schedule.names(&shared.name),
        None => true,
    });
    shared.find_map(|shared| {
        let plan = planned(shared.program.clone(), shared.formats.clone(), asked).ok()?;
        let is_better = known
            .as_ref()
            .map_or(true, |known| plan.cost().is_less_than(&known.cost()));
        (is_better || asked.schedule.is_some()).then_some((plan, shared))
    })
}
