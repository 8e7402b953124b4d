//! Which loops are written out several times.
//!
//! ```text
//! forall i: t = 0; forall j: t += A(i,j) * x(j)        rows of ten entries, all of them
//!
//! unroll(j, 4)
//! ```
//!
//! A short loop that adds up what it reads takes as long to count its turns as to take
//! them, and four at a time are counted once. What remains is asked for in branches,
//! which processors foresee where segments are as long as the ones before, and nowhere
//! else: in rows of any length they cost more than the counting ([`Facts::evenness`]).

use sparsec_graph::{Operands, Scope};
use sparsec_index::TensorRole;
use sparsec_index::concrete::{Clause, Stmt, for_each_nested};

use crate::estimate::{Estimate, is_known};
use crate::prefetch::walked_alone;
use crate::search::{Facts, Plan};
use crate::threads::extended;

/// How many turns are written out.
const TURNS: u32 = 4;
/// Between how many entries segments have whose loops are: in longer ones lanes have
/// each a turn, and a vector is loaded for all of them.
const SHORT: (f64, f64) = (4.0, 32.0);
/// What share of the segments is alike where processors foresee how long they are.
const EVEN: f64 = 0.9;

/// The plan with loops written out where that is worth it.
pub(crate) fn unroll(plan: Plan, facts: Facts<'_>) -> Plan {
    if !is_known(&plan, &plan.formats, facts) {
        return plan;
    }
    let operands = Operands::of(&plan.concrete);
    let estimate = Estimate::of(&plan, facts);
    let scope = Scope {
        concrete: &plan.concrete,
        formats: &plan.formats,
        operands: &operands,
    };
    let mut found = Vec::new();
    for_each_nested(&plan.concrete.stmt, &mut |nested| {
        let tensors = &plan.concrete.tensors;
        let Some((&var, outer)) = nested.loops.split_last() else {
            return;
        };
        let body = Stmt::Assign {
            lhs: nested.lhs.clone(),
            reduce: nested.reduce.cloned(),
            rhs: nested.rhs.clone(),
        };
        let is_sum = nested.reduce.is_some() && tensors[nested.lhs.tensor].order() == 0;
        let Some(walked) = walked_alone(scope, var, &body).filter(|_| is_sum) else {
            return;
        };
        let of = &tensors[walked.tensor];
        let (evenness, segment) = match of.role {
            TensorRole::Input => (
                (facts.evenness)(of.source_name()),
                (facts.segment)(of.source_name()),
            ),
            _ => (None, None),
        };
        let segment = segment.unwrap_or_else(|| {
            estimate.prefixes(&walked, nested.loops) / estimate.prefixes(&walked, outer)
        });
        if evenness.is_some_and(|share| share >= EVEN) && (SHORT.0..SHORT.1).contains(&segment) {
            found.push(var);
        }
    });
    let mut plan = plan;
    for var in found {
        let var = plan.concrete.vars[var].name.as_str();
        let clause = Clause::Unroll { var, factor: TURNS };
        plan = extended(&plan, [clause]).unwrap_or(plan);
    }
    plan
}
