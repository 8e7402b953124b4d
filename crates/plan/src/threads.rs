//! Which loops run on several threads.
//!
//! ```text
//! forall i: forall j: y(i) += A(i,j) * x(j)      parallelize(i, CPUThread, NoRaces)
//!
//! forall i: … C(i,j) = w(j) …      C : csr       parallelize(i, CPUThread, Temporary)
//!
//! forall i: forall j: s += A(i,j) * B(i,j)       parallelize(i, CPUThread, ParallelReduction)
//!
//! forall i: … A(i,j) + B(i,j) …    merged rows   divide(i, i0, i1, 64)
//!                                                parallelize(i0, …)
//! ```
//!
//! The outermost loop is taken. Where its iterations write apart, or append entries
//! of a sparse result, results have the bits of one thread, so that this is chosen
//! where there are several. A sum in chunks rounds otherwise than the whole: where
//! floats are added into one value, chunks are chosen by the work alone, at every number
//! of threads, and not with `--strict`. Loops that add into entries of an array
//! from several iterations have to be asked for: each chunk has a copy of the array.
//!
//! Rows that several operands are merged along are divided into blocks of coordinates,
//! which searches begin.
//!
//! All this only for statements of which it is known that they do much: handing
//! chunks out costs some microseconds, waking threads up more.

use sparsec_base::mark::{Races, Unit};
use sparsec_format::LevelKind;
use sparsec_graph::lowerable;
use sparsec_index::concrete::{Clause, MergeStrategy, Nested, Stmt, for_each_nested};
use sparsec_index::{Access, Concrete, IndexVar, TensorRole};
use sparsec_schedule::{Command, Schedule};

use crate::draft::with_workspaces;
use crate::estimate::{Estimate, is_known};
use crate::merges::held;
use crate::search::{Facts, Plan};

/// So many chunks of work are worth several threads.
const WORTH: f64 = 16.0;

/// Into so many blocks rows are divided.
const BLOCKS: u64 = 64;

/// The plan with its outermost loops on several threads, where that is right and
/// worth it.
pub(crate) fn parallelize(plan: Plan, facts: Facts<'_>) -> Plan {
    if !is_worth_it(&plan, facts) {
        return plan;
    }
    let mut plan = plan;
    let mut loops = Vec::new();
    outermost(&plan.concrete.stmt, &mut loops);
    for var in loops {
        let strategies: &[Races] = match writes(&plan.concrete, var) {
            Writes::IntoValue if !facts.strict => &[Races::ParallelReduction],
            Writes::Apart if (facts.threads)() > 1 => &[Races::NoRaces, Races::Temporary],
            _ => &[],
        };
        let name = plan.concrete.vars[var].name.clone();
        let (outer, inner) = (format!("{name}_block"), format!("{name}_in"));
        let divided = Clause::Divide {
            var: name.as_str(),
            outer: outer.as_str(),
            inner: inner.as_str(),
            parts: BLOCKS,
        };
        let on_threads = |var, races: Races| Clause::Parallelize {
            var,
            unit: Unit::CpuThread,
            races,
        };
        let whole = strategies
            .iter()
            .map(|races| vec![on_threads(name.as_str(), *races)]);
        let in_blocks = strategies
            .iter()
            .filter(|_| is_searched(&plan, var))
            .map(|races| vec![divided.clone(), on_threads(outer.as_str(), *races)]);
        let (whole, in_blocks): (Vec<_>, Vec<_>) = (whole.collect(), in_blocks.collect());
        // An innermost loop keeps what else it is marked with inside of its blocks.
        let mut ways = match is_innermost(&plan.concrete, var) {
            true => in_blocks.into_iter().chain(whole),
            false => whole.into_iter().chain(in_blocks),
        };
        if let Some(parallel) = ways.find_map(|way| extended(&plan, way)) {
            plan = parallel;
        }
    }
    plan
}

/// Whether there is no loop in the one over `var`.
fn is_innermost(concrete: &Concrete, var: IndexVar) -> bool {
    let mut found = false;
    concrete.stmt.for_each(&mut |stmt| {
        if let Stmt::Forall { var: known, body } = stmt {
            found |= *known == var && body.loops().is_empty();
        }
    });
    found
}

/// Whether blocks of a variable begin where searches find them: operands name it as it
/// is, in levels of ordered coordinates. At `i - 1`, or in a table, an operand would
/// be looked up at each coordinate.
fn is_searched(plan: &Plan, var: IndexVar) -> bool {
    let is_found = |access: &Access| {
        let mut levels = match plan.concrete.tensors[access.tensor].role {
            TensorRole::Workspace => &[],
            _ => plan.formats.of(access.tensor).levels(),
        }
        .iter();
        let mode = access.mode_of(var);
        mode.is_some_and(|mode| {
            levels.all(|level| {
                let is_known = matches!(level.kind, LevelKind::Dense | LevelKind::Compressed);
                level.mode() != mode || (is_known && level.is_ordered())
            })
        })
    };
    let mut found = true;
    plan.concrete.stmt.for_each_assign(&mut |lhs, _, rhs| {
        let mut look = |access: &Access| found &= !access.uses(var) || is_found(access);
        look(lhs);
        rhs.for_each_access(&mut look);
    });
    found
}

/// Where the iterations of a loop write.
enum Writes {
    /// Each to entries of its own.
    Apart,
    /// All into one value, which they combine.
    IntoValue,
    /// Some to entries that others write.
    IntoEntries,
}

/// Where iterations over `var` write what others may see.
fn writes(concrete: &Concrete, var: IndexVar) -> Writes {
    let mut own = Vec::new();
    let mut shared = Vec::new();
    concrete.stmt.for_each(&mut |stmt| match stmt {
        Stmt::Forall { var: known, body } if *known == var => {
            body.for_each(&mut |inner| {
                if let Stmt::Where { producer, .. } = inner {
                    producer.for_each_assign(&mut |lhs, _, _| own.push(lhs.tensor));
                }
            });
            body.for_each_assign(&mut |lhs, reduce, _| {
                if !concrete.tells_apart(lhs, var) {
                    let is_value = reduce.is_some() && lhs.vars().is_empty();
                    shared.push((lhs.tensor, is_value));
                }
            });
        }
        _ => {}
    });
    shared.retain(|(tensor, _)| !own.contains(tensor));
    match shared.as_slice() {
        [] => Writes::Apart,
        all if all.iter().all(|(_, is_value)| *is_value) => Writes::IntoValue,
        _ => Writes::IntoEntries,
    }
}

/// The plan followed by commands that convert nothing, if that can be lowered.
pub(crate) fn extended<C: Into<Command>>(
    plan: &Plan,
    commands: impl IntoIterator<Item = C>,
) -> Option<Plan> {
    let commands = Schedule(commands.into_iter().map(Into::into).collect());
    let concrete = commands.apply(&plan.concrete).ok()?;
    let formats = with_workspaces(&concrete, &plan.formats);
    lowerable(&concrete, &formats).ok()?;
    let mut plan = plan.clone();
    (plan.concrete, plan.formats) = (concrete, formats);
    plan.schedule.0.extend(commands.0);
    // The same plan, with these commands.
    if let Some(chosen) = plan.account.considered.first_mut() {
        chosen.schedule = plan.schedule.clone();
    }
    Some(plan)
}

/// The loops that are in no other.
fn outermost(stmt: &Stmt, found: &mut Vec<IndexVar>) {
    match stmt {
        Stmt::Forall { var, .. } => found.push(*var),
        Stmt::Where { consumer, producer } => {
            outermost(producer, found);
            outermost(consumer, found);
        }
        Stmt::Sequence(stmts) => stmts.iter().for_each(|stmt| outermost(stmt, found)),
        Stmt::Assign { .. } => {}
    }
}

/// Whether it is known that there is much to compute.
fn is_worth_it(plan: &Plan, facts: Facts<'_>) -> bool {
    let concrete = &plan.concrete;
    if !is_known(plan, &plan.formats, facts) {
        return false;
    }
    let estimate = Estimate::of(plan, facts);
    let mut turns = 0.0;
    for_each_nested(&concrete.stmt, &mut |nested| {
        let computed = estimate.computed(nested.rhs, nested.loops);
        turns += computed.max(merged(plan, estimate, nested));
    });
    turns >= WORTH * f64::from(facts.grain)
}

/// How many turns loops take along what operands store, also where nothing comes of them:
/// where few entries meet, merges are most of the work.
fn merged(plan: &Plan, estimate: Estimate<'_>, nested: Nested<'_, '_>) -> f64 {
    let mut turns = 0.0;
    for (depth, &var) in nested.loops.iter().enumerate() {
        // Leaps are few.
        if plan.concrete.merges_by(var) == MergeStrategy::Gallop {
            continue;
        }
        let around = estimate.visited(nested.rhs, &nested.loops[..depth]);
        turns += around * held(plan, estimate, nested, depth).iter().sum::<f64>();
    }
    turns
}
