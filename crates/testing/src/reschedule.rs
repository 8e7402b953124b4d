//! Random commands on top of a plan, for tests that a schedule changes nothing.
//!
//! Commands are made from numbers and applied one by one; those that do not
//! fit where they come are left out. What is left is legal as far as the
//! statement goes; whether formats follow is for the compiler to say.

use sparsec::internals::index::concrete::{Clause, MergeStrategy};
use sparsec::internals::index::{Concrete, IndexVar, TensorRole, WorkspaceKind};
use sparsec::internals::schedule::Schedule;
use sparsec::{Format, Source};
use sparsec_base::mark::{Races, Unit};

/// Numbers that a command is made of: which, on what, how large.
pub type Step = (usize, usize, usize);

/// The schedule of a plan with the commands that fit; `None` if none does.
pub fn reschedule(
    planned: &Schedule,
    concrete: &Concrete,
    result: &Format,
    steps: &[Step],
) -> Option<Schedule> {
    let mut changed = planned.clone();
    let is_sparse = result.has_sparse();
    let mut concrete = concrete.clone();
    for (number, step) in steps.iter().enumerate() {
        let Some(command) = command(&concrete, number, *step, is_sparse) else {
            continue;
        };
        let source = Source::new("schedule", command.as_str());
        let schedule = Schedule::parse(&source).expect("commands are written as they are read");
        if let Ok(applied) = schedule.apply(&concrete) {
            concrete = applied;
            changed.0.extend(schedule.0);
        }
    }
    (changed.0.len() > planned.0.len()).then_some(changed)
}

fn command(
    concrete: &Concrete,
    number: usize,
    (which, on, size): Step,
    is_sparse: bool,
) -> Option<String> {
    let loops = concrete.stmt.loops();
    let var = *loops.get(on % loops.len().max(1))?;
    let name = &concrete.vars[var].name;
    // The loop that follows in the order of the statement.
    let next = loops.get(on % loops.len() + 1).copied();
    let next = next.map(|var| concrete.vars[var].name.as_str());
    let size = size % 6 + 1;
    let result = &concrete.tensors[concrete.result].name;
    Some(match which % 14 {
        0 | 1 => format!("split({name}, s{number}, r{number}, {size})"),
        2 => format!("divide({name}, s{number}, r{number}, {size})"),
        3 => format!("fuse({name}, {}, f{number})", next?),
        4 => format!("reorder({}, {name})", next?),
        5 => format!("unroll({name}, {size})"),
        6 => {
            let strategy = MergeStrategy::ALL[size % MergeStrategy::ALL.len()].name();
            format!("mergeby({name}, {strategy})")
        }
        13 => {
            let mut read = Vec::new();
            concrete.stmt.for_each_assign(&mut |_, _, rhs| {
                rhs.for_each_access(&mut |access| read.push(access.tensor));
            });
            let tensor = *read.get((on + size) % read.len().max(1))?;
            format!(
                "prefetch({name}, {}, {size})",
                concrete.tensors[tensor].name
            )
        }
        9 => format!("fission({name})"),
        10 => format!("loopfuse({name})"),
        11 if is_sparse => format!("assemble({result}, Insert)"),
        12 => stored(concrete, name, on, size)?,
        7 => {
            let races = Races::ALL[size % Races::ALL.len()].name();
            let unit = Unit::ALL[(on + size) % Unit::ALL.len()].name();
            format!("parallelize({name}, {unit}, {races})")
        }
        _ => {
            let access = positions(concrete, var, size)?;
            format!("pos({name}, p{number}, {access})")
        }
    })
}

/// A workspace kept in another way, where it is, in a loop, or around all.
fn stored(concrete: &Concrete, name: &str, on: usize, size: usize) -> Option<String> {
    let tensors = concrete.tensors.iter();
    let workspaces: Vec<&str> = tensors
        .filter(|(_, data)| data.role == TensorRole::Workspace)
        .map(|(_, data)| data.name.as_str())
        .collect();
    let workspace = workspaces.get(on % workspaces.len().max(1))?;
    let kind = WorkspaceKind::ALL[size % WorkspaceKind::ALL.len()];
    Some(match size {
        1 | 2 => format!("store({workspace}, {kind}, root)"),
        3 | 4 => format!("store({workspace}, {kind}, {name})"),
        _ => format!("store({workspace}, {kind})"),
    })
}

/// An access that has what the loop is derived from.
fn positions(concrete: &Concrete, var: IndexVar, at: usize) -> Option<String> {
    let originals = concrete.originals(var);
    let mut fitting = Vec::new();
    concrete.stmt.for_each_assign(&mut |_, _, rhs| {
        rhs.for_each_access(&mut |access| {
            if access.plain_vars().is_some() && originals.iter().all(|var| access.uses(*var)) {
                fitting.push(
                    concrete.expr_text(&sparsec::internals::index::Expr::Access(access.clone())),
                );
            }
        });
    });
    let is_position = concrete
        .clauses()
        .any(|clause| matches!(clause, Clause::Pos { .. }));
    // One such loop is enough for most statements.
    let at = at + usize::from(is_position);
    fitting.get(at % fitting.len().max(1)).cloned()
}
