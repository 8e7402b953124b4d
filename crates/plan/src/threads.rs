//! Which loops run on several threads.
//!
//! ```text
//! forall i: forall j: y(i) += A(i,j) * x(j)      parallelize(i, CPUThread, NoRaces)
//!
//! forall i: … C(i,j) = w(j) …      C : csr       assemble(C, Insert)
//!                                                parallelize(i, CPUThread, NoRaces)
//! ```
//!
//! The outermost loop is taken where its iterations write apart: then results have
//! the bits of one thread. Loops that add into one place from several iterations
//! have to be asked for, since chunks of a sum round otherwise than the whole.
//!
//! Entries of a sparse result are counted before they are put in place, which costs
//! about half of computing them again, and more where nothing is sorted. So that is
//! chosen only where there are threads enough to gain by it.
//!
//! All this only for statements of which it is known that they do much: handing
//! chunks out costs some microseconds, waking threads up more.

use sparsec_base::Source;
use sparsec_graph::{lowerable, operand::for_each_nested};
use sparsec_index::concrete::Stmt;
use sparsec_index::{Concrete, IndexVar, Schedule, TensorRole};

use crate::estimate::Estimate;
use crate::search::{Facts, Plan};
use crate::waste::is_known;

/// So many chunks of work are worth several threads.
const WORTH: f64 = 16.0;

/// How many threads gain by counting the entries of a merge first.
const FOR_MERGES: usize = 3;

/// The plan with its outermost loops on several threads, where that is right and
/// worth it.
pub(crate) fn parallelize(plan: Plan, facts: Facts<'_>) -> Plan {
    if !is_worth_it(&plan, facts) {
        return plan;
    }
    let threads = (facts.threads)();
    if threads < 2 {
        return plan;
    }
    let mut plan = plan;
    let mut loops = Vec::new();
    outermost(&plan.concrete.stmt, &mut loops);
    for var in loops {
        let name = &plan.concrete.vars[var].name;
        let mark = format!("parallelize({name}, CPUThread, NoRaces)");
        let result = &plan.concrete.tensors[plan.concrete.result].name;
        let inserted = format!("assemble({result}, Insert)\n{mark}");
        let is_enough = threads >= FOR_MERGES || has_workspace(&plan.concrete);
        let parallel = marked(&plan, &mark);
        if let Some(parallel) = parallel.or_else(|| is_enough.then(|| marked(&plan, &inserted))?) {
            plan = parallel;
        }
    }
    plan
}

/// The plan followed by commands that only mark loops, if that can be lowered.
pub(crate) fn marked(plan: &Plan, commands: &str) -> Option<Plan> {
    let commands = Schedule::parse(&Source::new("plan", commands)).ok()?;
    let concrete = commands.apply(&plan.concrete).ok()?;
    lowerable(&concrete, &plan.formats).ok()?;
    let mut plan = plan.clone();
    plan.concrete = concrete;
    plan.schedule.0.extend(commands.0);
    // The same plan, marked.
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

fn has_workspace(concrete: &Concrete) -> bool {
    let is_array =
        |data: &sparsec_index::TensorData| data.role == TensorRole::Workspace && data.order() > 0;
    concrete.tensors.iter().any(|(_, data)| is_array(data))
}

/// Whether it is known that there is much to compute.
fn is_worth_it(plan: &Plan, facts: Facts<'_>) -> bool {
    let concrete = &plan.concrete;
    if !is_known(plan, &plan.formats, facts) {
        return false;
    }
    let estimate = Estimate {
        concrete,
        formats: &plan.formats,
        counts: facts.counts,
        conversions: &plan.conversions,
    };
    let mut points = 0.0;
    for_each_nested(&concrete.stmt, &mut |nested| {
        points += estimate.computed(nested.rhs, nested.loops);
    });
    points >= WORTH * f64::from(facts.grain)
}
