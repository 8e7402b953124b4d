//! Which reductions are summed in several lanes at once.
//!
//! ```text
//! where(A(i,j) = B(i,j) * t, forall k: t += C(i,k) * D(j,k))      128 values of k
//!
//! parallelize(k, CPUVector, ParallelReduction)
//! ```
//!
//! A sum in one variable waits for each of its additions; lanes do not, but have to
//! be added up after each loop. So a loop gets lanes that takes many turns on
//! average, as far as that is known: a row of ten entries does not.
//!
//! Lanes round otherwise than the source does, so there are none with `--strict`.

use sparsec_base::mark::{Races, Unit};
use sparsec_index::concrete::{Clause, for_each_nested};
use sparsec_machine::Machine;

use crate::estimate::Estimate;
use crate::search::{Facts, Plan};
use crate::threads::extended;

/// The plan with lanes where they are worth it.
pub(crate) fn lanes(plan: Plan, facts: Facts<'_>) -> Plan {
    if facts.strict {
        return plan;
    }
    let mut found = Vec::new();
    let estimate = Estimate::of(&plan, facts);
    let Machine {
        lane_iterations, ..
    } = Machine::MIDDLING;
    for_each_nested(&plan.concrete.stmt, &mut |nested| {
        let tensors = &plan.concrete.tensors;
        let element = tensors[nested.lhs.tensor].element;
        let is_one_value = tensors[nested.lhs.tensor].order() == 0;
        let rounds = !element.is_integer() && nested.rhs.element(tensors) == element;
        if let Some((&var, outer)) = nested.loops.split_last()
            && nested.reduce.is_some()
            && is_one_value
            && rounds
            && estimate.computed(nested.rhs, nested.loops)
                >= lane_iterations * estimate.points(outer)
        {
            found.push(var);
        }
    });
    let mut plan = plan;
    for var in found {
        let mark = Clause::Parallelize {
            var: plan.concrete.vars[var].name.as_str(),
            unit: Unit::CpuVector,
            races: Races::ParallelReduction,
        };
        plan = extended(&plan, [mark]).unwrap_or(plan);
    }
    plan
}
