//! Which intersections leap over what the other operand lacks.
//!
//! ```text
//! s = b(i) * c(i)      b of 10 entries, c of 10^6
//!
//! two fingers          10^6 steps, one after the other
//! mergeby(i, Gallop)   10 · 2 log2(10^6 / 10) steps, most of them far apart
//! ```
//!
//! Estimated by how many coordinates the operands hold for each turn of the loops
//! around: where one has many times those of another, leaps are worth their
//! comparisons, which nothing predicts. What is no intersection stays as it is.

use sparsec_graph::operand::{for_each_nested, level_at};

use crate::estimate::Estimate;
use crate::search::{Facts, Plan};
use crate::threads::marked;
use crate::waste::is_known;

/// How many times the coordinates of another an operand has over which it is worth
/// leaping.
const WORTH: f64 = 32.0;

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
    let mut plan = plan;
    for var in found {
        let name = &plan.concrete.vars[var].name;
        plan = marked(&plan, &format!("mergeby({name}, Gallop)")).unwrap_or(plan);
    }
    plan
}
