//! What makes one schedule better than another.
//!
//! The figures are compared in order:
//!
//! 1. what conversions of operands, workspaces of several modes and steps of loops
//!    that come to nothing move, as [estimated](crate::estimate) from what is known
//!    of the operands;
//! 2. loops over everything outside loops that walk stored coordinates, which
//!    then walk them again and again;
//! 3. modes of workspaces;
//! 4. arrays that the innermost loop reads or writes with a stride.
//!
//! Among equals the first candidate wins, which is nearest the naive order.

use sparsec_format::Level;
use sparsec_graph::operand::{Nested, Walk, for_each_nested, level_at};
use sparsec_graph::{Formats, Operands};
use sparsec_index::{Access, Concrete, IndexVar, TensorRole};

/// The cost of a planned statement; less is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    /// Bytes moved by conversions, by workspaces of several modes and by steps that
    /// come to nothing.
    pub traffic: u64,
    /// Pairs of a loop over everything and a walk inside it.
    pub repeated_walks: usize,
    /// Modes of all workspaces together.
    pub workspace_modes: usize,
    /// Arrays that innermost loops go through with a stride.
    pub strided: usize,
}

/// That of two nests, one after the other.
impl std::ops::Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            traffic: self.traffic.saturating_add(other.traffic),
            repeated_walks: self.repeated_walks + other.repeated_walks,
            workspace_modes: self.workspace_modes + other.workspace_modes,
            strided: self.strided + other.strided,
        }
    }
}

/// The cost of a statement as it stands.
pub fn cost(concrete: &Concrete, formats: &Formats, traffic: u64) -> Cost {
    let operands = Operands::of(concrete);
    let mut cost = Cost {
        traffic,
        workspace_modes: 0,
        strided: 0,
        repeated_walks: 0,
    };
    let mut workspaces = Vec::new();
    for_each_nested(
        &concrete.stmt,
        &mut |Nested {
                  loops, lhs, rhs, ..
              }| {
            let accesses = rhs.accesses();
            let is_workspace =
                |access: &Access| concrete.tensors[access.tensor].role == TensorRole::Workspace;
            if is_workspace(lhs) && !workspaces.contains(&lhs.tensor) {
                workspaces.push(lhs.tensor);
                cost.workspace_modes += lhs.indices.len();
            }
            if let Some(innermost) = loops.last() {
                cost.strided += accesses
                    .iter()
                    .copied()
                    .chain([lhs])
                    .filter(|access| {
                        !is_workspace(access) && is_strided(access, *innermost, concrete, formats)
                    })
                    .count();
            }
            let walks = accesses.iter().map(|access| operands.walk(access, formats));
            let walks: Vec<Walk<'_>> = walks.collect();
            // How many loops inside of the one at hand walk an operand.
            let mut n_walked = 0;
            for var in loops.iter().rev() {
                if walks
                    .iter()
                    .any(|walk| walk.is_sparse_at(*var) == Some(true))
                {
                    n_walked += 1;
                    continue;
                }
                let leads = |access: &&Access| leads_to_walk(access, *var, concrete, formats);
                if n_walked > 0 && !accesses.iter().any(leads) {
                    cost.repeated_walks += n_walked;
                }
            }
        },
    );
    cost
}

/// Whether a walk over stored coordinates of `access` begins below `var`, rather
/// than ending above the level of it.
fn leads_to_walk(access: &Access, var: IndexVar, concrete: &Concrete, formats: &Formats) -> bool {
    let format = formats.of(access.tensor);
    let bound = moved(concrete, var);
    let levels = format.levels();
    let uses = |level: &Level| {
        let index = &access.indices[level.mode()];
        bound.iter().any(|var| index.uses(*var))
    };
    let first = levels.iter().position(uses);
    first.is_some_and(|first| levels[first..].iter().any(|level| !level.is_full()))
}

/// Whether a loop over `var` goes through the values of `access` in steps:
/// a full level other than the last stores `var`.
fn is_strided(access: &Access, var: IndexVar, concrete: &Concrete, formats: &Formats) -> bool {
    let format = formats.of(access.tensor);
    moved(concrete, var).into_iter().any(|var| {
        level_at(access, var, format).is_some_and(|(number, level)| {
            level.kind.capabilities().full && number + 1 != format.levels().len()
        })
    })
}

/// The variables that move with a loop.
fn moved(concrete: &Concrete, var: IndexVar) -> Vec<IndexVar> {
    let mut moved = concrete.originals(var);
    if !moved.contains(&var) {
        moved.push(var);
    }
    moved
}
