//! The commands of a statement that are of use to a part of it.

use std::collections::BTreeSet;

use sparsec_index::{Program, concretize};
use sparsec_schedule::Schedule;

/// The commands that can be applied to a part of a statement, in their order, and
/// which those are.
pub(super) fn fitting(
    program: &Program,
    number: usize,
    schedule: &Schedule,
) -> (Schedule, BTreeSet<usize>) {
    let mut concrete = concretize(program, number);
    let mut fitting = Schedule::default();
    let mut used = BTreeSet::new();
    for (at, command) in schedule.0.iter().enumerate() {
        if let Ok(applied) = command.apply(&concrete) {
            concrete = applied;
            fitting.0.push(command.clone());
            used.insert(at);
        }
    }
    (fitting, used)
}
