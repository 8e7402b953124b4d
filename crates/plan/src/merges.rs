//! How loops merge the operands that they walk.
//!
//! ```text
//! s = b(i) * c(i)      b of 10 entries, c of 10^6
//!
//! two fingers          10^6 steps, one after the other
//! mergeby(i, Gallop)   10 · 2 log2(10^6 / 10) steps, most of them far apart
//!
//! forall i: forall j: C(i,j) = A(i,j) + B(i,j)       entries anywhere
//!
//! two fingers          every other guess of a processor is wrong
//! mergeby(j, Select)   no guesses: each step waits for a comparison
//! ```
//!
//! **Leaps** are for intersections. Estimated by how many coordinates the operands hold for
//! each turn of the loops around: where one has many times those of another, leaps are
//! worth their comparisons, which nothing predicts.
//!
//! **Choosing** values without branches is for the rest. A processor guesses which operand
//! comes next. Where entries lie side by side, as in bands and blocks, it guesses well and
//! goes on before it knows; where they lie anywhere, or one operand has about as many as
//! another, every other guess is wrong and costs more than waiting for what the comparison
//! says. Where one operand has nearly all entries, that is the guess, and right. So it takes
//! operands of which it is known how they lie: what share of their entries is apart from the
//! one stored before ([`Facts::scatter`]), and how many there are.

use sparsec_graph::operand::{for_each_nested, level_at};
use sparsec_graph::{Lattice, Operands, Scope, space};
use sparsec_index::concrete::{MergeStrategy, Stmt};
use sparsec_index::{Access, IndexVar, TensorRole};

use crate::estimate::Estimate;
use crate::search::{Facts, Plan};
use crate::threads::marked;
use crate::waste::is_known;

/// How many times the coordinates of another an operand has over which it is worth
/// leaping.
const WORTH: f64 = 32.0;
/// Operands of which at least this share of the entries is apart are hard to guess.
const SCATTERED: f64 = 0.5;
/// Beside one that has this many times as many entries, an operand is seldom next.
const SELDOM: f64 = 4.0;

/// The plan with leaps where they are worth it.
pub(crate) fn gallop(plan: Plan, facts: Facts<'_>) -> Plan {
    if !is_known(&plan, &plan.formats, facts) {
        return plan;
    }
    let estimate = Estimate::of(&plan, facts);
    let mut found = Vec::new();
    for_each_nested(&plan.concrete.stmt, &mut |nested| {
        for (depth, &var) in nested.loops.iter().enumerate() {
            let (outer, within) = (&nested.loops[..depth], &nested.loops[..=depth]);
            let below = nested.rhs.accesses().into_iter().filter_map(|access| {
                let format = plan.formats.walked(access.tensor)?;
                let (_, level) = level_at(access, var, format)?;
                let held = estimate.prefixes(access, within) / estimate.prefixes(access, outer);
                (!level.is_full()).then_some(held)
            });
            let below: Vec<f64> = below.collect();
            let most = below.iter().copied().fold(0.0, f64::max);
            let least = below.iter().copied().fold(f64::INFINITY, f64::min);
            if most >= WORTH * least.max(1.0) && !found.contains(&var) {
                found.push(var);
            }
        }
    });
    merged_by(plan, found, MergeStrategy::Gallop)
}

/// The plan with merges that need no guesses, where these would be wrong often.
pub(crate) fn select(plan: Plan, facts: Facts<'_>) -> Plan {
    let mut loops = Vec::new();
    innermost(&plan.concrete.stmt, &mut loops);
    let hard: Vec<IndexVar> = loops
        .into_iter()
        .filter(|(var, body)| is_hard_to_guess(&plan, facts, *var, body))
        .map(|(var, _)| var)
        .collect();
    merged_by(plan, hard, MergeStrategy::Select)
}

/// The plan with these loops merging so, as far as they may.
fn merged_by(mut plan: Plan, loops: Vec<IndexVar>, strategy: MergeStrategy) -> Plan {
    for var in loops {
        let name = &plan.concrete.vars[var].name;
        let command = format!("mergeby({name}, {})", strategy.name());
        plan = marked(&plan, &command).unwrap_or(plan);
    }
    plan
}

/// The loops around nothing but an assignment.
fn innermost<'s>(stmt: &'s Stmt, found: &mut Vec<(IndexVar, &'s Stmt)>) {
    match stmt {
        Stmt::Forall { var, body } if matches!(**body, Stmt::Assign { .. }) => {
            found.push((*var, body));
        }
        Stmt::Forall { body, .. } => innermost(body, found),
        Stmt::Where { consumer, producer } => {
            innermost(consumer, found);
            innermost(producer, found);
        }
        Stmt::Sequence(stmts) => stmts.iter().for_each(|stmt| innermost(stmt, found)),
        Stmt::Assign { .. } => {}
    }
}

fn is_hard_to_guess(plan: &Plan, facts: Facts<'_>, var: IndexVar, body: &Stmt) -> bool {
    let concrete = &plan.concrete;
    let operands = Operands::of(concrete);
    let scope = Scope {
        concrete,
        formats: &plan.formats,
        operands: &operands,
    };
    let lattice = Lattice::of(&space(scope, body, var));
    if lattice.everything || lattice.points.len() < 2 {
        return false;
    }
    let estimate = Estimate::of(plan, facts);
    let is_scattered = |access: &Access| {
        let data = &concrete.tensors[access.tensor];
        let is_input = data.role == TensorRole::Input;
        let scatter = is_input.then(|| (facts.scatter)(data.source_name()));
        scatter.flatten().is_some_and(|share| share >= SCATTERED)
    };
    let walked = lattice.operands();
    let accesses = || walked.iter().map(|operand| operands.access(*operand));
    let stored = || accesses().map(|access| estimate.n_stored(access));
    let most = stored().fold(0.0, f64::max);
    accesses().all(is_scattered) && stored().all(|stored| stored * SELDOM >= most)
}
