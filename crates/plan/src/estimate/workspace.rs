//! What workspaces cost, by their kind.

use sparsec_index::concrete::Stmt;
use sparsec_index::{Access, Expr, IndexVar, WorkspaceKind};
use sparsec_machine::Machine;

use crate::cost::Cost;

/// What is asked of a workspace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    /// How many coordinates its modes have together.
    pub positions: f64,
    /// Bytes of one value.
    pub value_bytes: f64,
    /// How often an entry is written or combined into.
    pub writes: f64,
    /// How often it begins anew.
    pub runs: f64,
}

/// The cheaper of the two kinds that list the entries written.
pub(crate) fn best_with_list(used: Use, machine: &Machine) -> WorkspaceKind {
    let listed = of_kind(WorkspaceKind::Listed, used, machine).nanoseconds();
    let hashed = of_kind(WorkspaceKind::Hashed, used, machine).nanoseconds();
    match listed <= hashed {
        true => WorkspaceKind::Listed,
        false => WorkspaceKind::Hashed,
    }
}

/// The cost of keeping a workspace so. That of a dense one is the cost of clearing it: loops
/// go through it as through any other array.
pub(crate) fn of_kind(kind: WorkspaceKind, used: Use, machine: &Machine) -> Cost {
    let entries = used.entries();
    match kind {
        WorkspaceKind::Dense => {
            Cost::of_steps(used.runs * used.positions * machine.dense_step) + first(used, machine)
        }
        // Two arrays are cleared, and a bit is stored beside each value.
        WorkspaceKind::Bitmap => {
            let clear = used.runs * used.positions * 2.0 * machine.dense_step;
            Cost::of_steps(clear + used.writes * machine.dense_step) + first(used, machine)
        }
        // As one that is listed, without a sort.
        WorkspaceKind::Marked => {
            let all = used.positions * used.slot_bytes();
            first(used, machine)
                + Cost {
                    steps: used.writes * machine.step,
                    traffic: used.writes * machine.anywhere(all),
                    ..Cost::default()
                }
        }
        WorkspaceKind::Listed => {
            let all = used.positions * used.slot_bytes();
            let steps = used.writes * machine.step + used.sorting(machine);
            let traffic = used.writes * machine.anywhere(all);
            first(used, machine)
                + Cost {
                    steps,
                    traffic,
                    ..Cost::default()
                }
        }
        WorkspaceKind::Hashed => {
            // A key, an entry of the list, and two slots of the table.
            let one_run = entries / used.runs.max(1.0) * (used.value_bytes + 32.0);
            Cost {
                steps: used.writes * machine.probe + 2.0 * used.sorting(machine),
                traffic: used.writes * machine.anywhere(one_run),
                ..Cost::default()
            }
        }
        WorkspaceKind::Appended => Cost::of_steps(used.writes * machine.step),
    }
}

/// The cost of memory that is written for the first time.
fn first(used: Use, machine: &Machine) -> Cost {
    let all = used.positions * used.slot_bytes();
    if all > machine.most_bytes {
        return Cost::of_steps(f64::INFINITY);
    }
    // Its list is written from the start on.
    let (scattered, list) = (used.positions * (used.value_bytes + 1.0), used.writes * 8.0);
    let touched = scattered.min(used.writes * Machine::LARGE_PAGE) + list.min(all);
    let traffic = match all < Machine::LARGE_PAGE {
        true => (all / Machine::PAGE).min(used.writes) * machine.page,
        false => touched * machine.byte,
    };
    Cost {
        traffic,
        ..Cost::default()
    }
}

impl Use {
    /// A value, a bit and an entry of the list.
    fn slot_bytes(&self) -> f64 {
        self.value_bytes + 9.0
    }

    /// Sorting the entries of each run.
    fn sorting(&self, machine: &Machine) -> f64 {
        let one_run = self.entries() / self.runs.max(1.0);
        self.entries() * one_run.max(2.0).log2() * machine.sort
    }

    /// How many entries all runs have together, at most.
    fn entries(&self) -> f64 {
        self.writes.min(self.positions * self.runs.max(1.0))
    }
}

/// Visits the assignments of a producer, but for those of producers inside of it, with the
/// loops around each.
pub(super) fn for_each_written(
    producer: &Stmt,
    loops: &mut Vec<IndexVar>,
    visit: &mut dyn FnMut(&[IndexVar], &Access, &Expr),
) {
    match producer {
        Stmt::Assign { lhs, rhs, .. } => visit(loops, lhs, rhs),
        Stmt::Forall { var, body } => {
            loops.push(*var);
            for_each_written(body, loops, visit);
            loops.pop();
        }
        Stmt::Where { consumer, .. } => for_each_written(consumer, loops, visit),
        Stmt::Sequence(stmts) => {
            for stmt in stmts {
                for_each_written(stmt, loops, visit);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(positions: f64, writes: f64, runs: f64) -> WorkspaceKind {
        let used = Use {
            positions,
            value_bytes: 8.0,
            writes,
            runs,
        };
        best_with_list(used, &Machine::MIDDLING)
    }

    #[test]
    fn small_and_well_filled_workspaces_are_listed() {
        // Rows of a product of matrices of a million rows.
        assert_eq!(kind(1e6, 1e8, 1e6), WorkspaceKind::Listed);
        assert_eq!(kind(100.0, 1e3, 10.0), WorkspaceKind::Listed);
    }

    #[test]
    fn huge_or_nearly_empty_workspaces_are_hashed() {
        assert_eq!(kind(1e12, 1e6, 1.0), WorkspaceKind::Hashed);
        assert_eq!(kind(1e9, 1e3, 1.0), WorkspaceKind::Hashed);
    }
}
