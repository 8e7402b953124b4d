//! Which merges choose values without branches.
//!
//! ```text
//! forall i: forall j: C(i,j) = A(i,j) + B(i,j)       entries anywhere
//!
//! mergeby(j, Select)
//! ```
//!
//! A processor guesses which operand comes next. Where entries lie side by side, as in
//! bands and blocks, it guesses well and goes on before it knows; where they lie anywhere,
//! or one operand has about as many as another, every other guess is wrong and costs more
//! than waiting for what the comparison says. Where one operand has nearly all entries,
//! that is the guess, and right.
//!
//! So it takes operands of which it is known how they lie: what share of their entries is
//! apart from the one stored before ([`Facts::scatter`]), and how many there are.

use sparsec_graph::{Lattice, Operands, Scope, space};
use sparsec_index::concrete::Stmt;
use sparsec_index::{Access, IndexVar, TensorRole};

use crate::estimate::Estimate;
use crate::search::{Facts, Plan};
use crate::threads::marked;

/// Operands of which at least this share of the entries is apart are hard to guess.
const SCATTERED: f64 = 0.5;
/// Beside one that has this many times as many entries, an operand is seldom next.
const SELDOM: f64 = 4.0;

/// The plan with merges that need no guesses, where these would be wrong often.
pub(crate) fn merges(plan: Plan, facts: Facts<'_>) -> Plan {
    let mut loops = Vec::new();
    innermost(&plan.concrete.stmt, &mut loops);
    let hard: Vec<IndexVar> = loops
        .into_iter()
        .filter(|(var, body)| is_hard_to_guess(&plan, facts, *var, body))
        .map(|(var, _)| var)
        .collect();
    let mut plan = plan;
    for var in hard {
        let name = &plan.concrete.vars[var].name;
        plan = marked(&plan, &format!("mergeby({name}, Select)")).unwrap_or(plan);
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
