//! Candidate orders of loops.
//!
//! All orders that keep every edge of the iteration graph forward, those near
//! the naive order first, up to a bound: a statement of many free loops has
//! more orders than are worth a look.

use sparsec_index::IndexVar;

/// The most orders that are looked at.
const MAX_ORDERS: usize = 720;

/// Orders of `vars` in which `before` comes before `after` for each edge.
///
/// Empty if the edges go round in a circle.
pub fn orders(vars: &[IndexVar], edges: &[(IndexVar, IndexVar)]) -> Vec<Vec<IndexVar>> {
    let mut found = Vec::new();
    extend(&mut Vec::new(), vars, edges, &mut found);
    found
}

fn extend(
    so_far: &mut Vec<IndexVar>,
    vars: &[IndexVar],
    edges: &[(IndexVar, IndexVar)],
    found: &mut Vec<Vec<IndexVar>>,
) {
    if found.len() == MAX_ORDERS {
        return;
    }
    if so_far.len() == vars.len() {
        found.push(so_far.clone());
        return;
    }
    for var in vars {
        let waits = edges.iter().any(|(before, after)| {
            after == var && vars.contains(before) && !so_far.contains(before)
        });
        if so_far.contains(var) || waits {
            continue;
        }
        so_far.push(*var);
        extend(so_far, vars, edges, found);
        so_far.pop();
    }
}
