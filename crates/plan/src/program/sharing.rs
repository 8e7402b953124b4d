//! Programs in which products that several sums share are computed once.

use sparsec_base::Result;
use sparsec_graph::Formats;
use sparsec_index::Program;
use sparsec_schedule::ProgramSchedule;

use super::{Asked, ProgramPlan, planned};
use crate::shared::{self, Shared};

/// The plan of a program with one common part of several sums in a statement of its own, where
/// that costs less than the plan that is known.
pub(super) fn with_part_shared(
    program: &Program,
    formats: &Formats,
    asked: Asked<'_>,
    known: &Result<ProgramPlan>,
) -> Option<(ProgramPlan, Shared)> {
    let mut shared = candidates(program, formats, asked).into_iter();
    shared.find_map(|shared| {
        let plan = planned(shared.program.clone(), shared.formats.clone(), asked).ok()?;
        let is_better = known
            .as_ref()
            .map_or(true, |known| plan.cost().is_less_than(&known.cost()));
        is_better.then_some((plan, shared))
    })
}

/// Shares the parts whose results a schedule names; whether there are any.
pub(super) fn share_named(
    program: &mut Program,
    formats: &mut Formats,
    asked: Asked<'_>,
    schedule: &ProgramSchedule,
) -> bool {
    let mut is_any = false;
    loop {
        let mut named = candidates(program, formats, asked).into_iter();
        let Some(shared) = named.find(|shared| schedule.names(&shared.name)) else {
            return is_any;
        };
        (*program, *formats) = (shared.program, shared.formats);
        is_any = true;
    }
}

/// None if a tree is asked for or memory is limited: shared parts keep neither tree nor limit.
fn candidates(program: &Program, formats: &Formats, asked: Asked<'_>) -> Vec<Shared> {
    let wanted = asked.facts.networks.wanted;
    match wanted.is_fixed() || wanted.memory.is_some() {
        true => Vec::new(),
        false => shared::candidates(program, formats, asked.facts.strict),
    }
}
