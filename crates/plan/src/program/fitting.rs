//! Parts of statements: whether there may be some, and which commands are of use to each.

use std::collections::BTreeSet;

use sparsec_base::code;
use sparsec_index::{Program, concretize};
use sparsec_schedule::Schedule;

use crate::unplanned::Unplanned;

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

/// Whether a statement that cannot be planned for this reason might be in parts.
pub(super) fn may_split(error: &Unplanned) -> bool {
    [
        code::MERGE_TOO_LARGE,
        code::LOOP_ORDER,
        code::RESULT_ORDER,
        code::WORKSPACE_MODES,
        code::SPARSE_REDUCTION,
    ]
    .contains(&error.code())
}
