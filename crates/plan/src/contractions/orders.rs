//! Better orders of the loops of a contraction in parts.
//!
//! A network's prices choose the loops that statements share, and an order for the others. Here
//! the estimate of all plans has the last word: one loop after the other of each nest goes to a
//! better place.

use sparsec_index::IndexVar;

use crate::cost::Cost;
use crate::draft::{Draft, nests};
use crate::effort::Search;
use crate::estimate::Estimate;
use crate::estimate::work::work;
use crate::search::Plan;

/// The plan with one loop of a nest after the other at a better place, until none costs less.
pub(super) fn reordered(
    (mut draft, cost, plan): (Draft<'_>, Cost, Plan),
    effort: Search<'_>,
) -> (Cost, Plan) {
    let mut best = (cost, plan);
    for nest in nests(&draft.concrete.stmt) {
        let start = draft.clone();
        let mut order = nest.clone();
        loop {
            let mut cheapest: Option<Vec<IndexVar>> = None;
            for other in neighbours(&order) {
                if !effort.is_worth_more(best.0.nanoseconds()) {
                    break;
                }
                effort.spend_on(&start.concrete);
                let mut moved = start.clone();
                if moved.reorder_nest(&nest, &other).is_ok()
                    && let Some(reordered) = priced(&moved)
                    && reordered.0.is_less_than(&best.0)
                {
                    (best, draft) = (reordered, moved);
                    cheapest = Some(other);
                }
            }
            match cheapest {
                Some(better) => order = better,
                None => break,
            }
        }
    }
    best
}

/// The orders of loops in which one of them is at another place.
fn neighbours(order: &[IndexVar]) -> Vec<Vec<IndexVar>> {
    let mut found: Vec<Vec<IndexVar>> = Vec::new();
    for from in 0..order.len() {
        let mut rest = order.to_vec();
        let moved = rest.remove(from);
        for to in 0..order.len() {
            let mut other = rest.clone();
            other.insert(to, moved);
            if other != order && !found.contains(&other) {
                found.push(other);
            }
        }
    }
    found
}

/// The plan of a draft, with its cost: with a workspace that collects entries of the result,
/// where the loops come back to them.
pub(super) fn priced(draft: &Draft<'_>) -> Option<(Cost, Plan)> {
    let plan = draft.clone().finish().or_else(|_| {
        let mut collecting = draft.clone();
        collecting.add_temporaries()?;
        collecting.finish()
    });
    let plan = plan.ok()?;
    let cost = draft.converted + work(Estimate::of(&plan, draft.facts()));
    Some((cost, plan))
}
