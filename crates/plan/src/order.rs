//! Candidate orders of loops.
//!
//! All orders that keep every edge of the iteration graph forward, those near
//! the naive order first, up to a bound: a statement of many free loops has
//! more orders than are worth a look.

use sparsec_index::IndexVar;

/// The most orders that are looked at.
const MAX_ORDERS: usize = 720;

/// Orders of loops.
#[derive(Debug)]
pub struct Orders {
    /// The orders, those near the naive one first.
    pub orders: Vec<Vec<IndexVar>>,
    /// Whether no order is left out.
    pub is_all: bool,
}

/// Orders of `vars` in which `before` comes before `after` for each edge.
///
/// There are none if the edges form a cycle.
pub fn orders(vars: &[IndexVar], edges: &[(IndexVar, IndexVar)]) -> Orders {
    let mut orders = Vec::new();
    // Beginnings of an order that has no end are many.
    if !go_round(vars, edges) {
        extend(&mut Vec::new(), vars, edges, &mut orders);
    }
    let is_all = orders.len() <= MAX_ORDERS;
    orders.truncate(MAX_ORDERS);
    Orders { orders, is_all }
}

/// Whether some of `vars` wait for one another.
fn go_round(vars: &[IndexVar], edges: &[(IndexVar, IndexVar)]) -> bool {
    let mut left = vars.to_vec();
    loop {
        let n = left.len();
        let waits = |var: &IndexVar, left: &[IndexVar]| {
            let mut before = edges.iter().filter(|(_, after)| after == var);
            before.any(|(before, _)| left.contains(before))
        };
        let all = left.clone();
        left.retain(|var| waits(var, &all));
        if left.len() == n {
            return n > 0;
        }
    }
}

fn extend(
    so_far: &mut Vec<IndexVar>,
    vars: &[IndexVar],
    edges: &[(IndexVar, IndexVar)],
    found: &mut Vec<Vec<IndexVar>>,
) {
    // One more tells that there are more.
    if found.len() > MAX_ORDERS {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn vars(n: usize) -> Vec<IndexVar> {
        let mut arena = sparsec_base::Arena::new();
        (0..n).map(|_| arena.push(())).collect()
    }

    #[test]
    fn edges_stay_forward() {
        let v = vars(3);
        let found = orders(&v, &[(v[2], v[0])]).orders;
        let all = [[1, 2, 0], [2, 0, 1], [2, 1, 0]];
        assert_eq!(found, all.map(|order| order.map(|at| v[at]).to_vec()));
    }

    #[test]
    fn circles_have_no_orders_however_many_loops_are_free() {
        let v = vars(30);
        assert!(
            orders(&v, &[(v[28], v[29]), (v[29], v[28])])
                .orders
                .is_empty()
        );
        let found = orders(&v, &[]);
        assert_eq!((found.orders.len(), found.is_all), (MAX_ORDERS, false));
        // Six loops have 720 orders.
        assert!(orders(&v[..6], &[]).is_all);
    }
}
