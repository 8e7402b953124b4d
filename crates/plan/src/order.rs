//! Orders of loops, as a tree that is searched by branch and bound.
//!
//! A node of the tree is a beginning of an order; its children go on with each of the loops
//! that may come next, for the edges of the iteration graph stay forward. A beginning whose
//! bound is no less than the cost of a whole order that is known is left out with all that
//! begins so.
//!
//! ```text
//! y(i) = A(i,k) * B(k,l) * c(l)        no edges          20 ms known
//!
//! ├─ i ── k ── l    20 ms
//! │       └─ …
//! └─ l ── i         bound 31 ms: l, i, k is not looked at
//! ```
//!
//! Few orders come near the naive one first, which wins among equals. Where there are many,
//! the child with the least bound comes first, and the search ends after [`MAX_ORDERS`].

use sparsec_base::cancel::checkpoint;
use sparsec_index::IndexVar;

use crate::unplanned::Result;

/// The most orders that are looked at.
const MAX_ORDERS: usize = 720;
/// The most beginnings that are looked at: all, where there are no more orders.
const MAX_BEGUN: usize = 4 * MAX_ORDERS;

/// The orders of some loops.
pub(crate) struct Orders<'a> {
    pub(crate) vars: &'a [IndexVar],
    /// Pairs of loops, the first of which comes before the second.
    pub(crate) edges: &'a [(IndexVar, IndexVar)],
    /// The least cost of the last of these loops, inside of those before it.
    pub(crate) bound: &'a dyn Fn(&[IndexVar]) -> f64,
}

/// How far a search of orders went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Searched {
    /// Every order was looked at, or is no better than one that was.
    All,
    /// There are others.
    Some,
}

impl Orders<'_> {
    /// Calls `visit` with orders; it returns the least cost that is known by then. There are
    /// none if the edges form a cycle.
    ///
    /// # Errors
    /// Those of `visit`, which end the search.
    pub(crate) fn search(
        &self,
        least: f64,
        visit: &mut dyn FnMut(&[IndexVar]) -> Result<f64>,
    ) -> Result<Searched> {
        // Beginnings of an order that has no end are many.
        if self.go_round() {
            return Ok(Searched::All);
        }
        let mut walk = Walk {
            orders: self,
            least_bound_first: self.are_many(),
            least,
            n_left: MAX_ORDERS,
            n_begun_left: MAX_BEGUN,
            visit,
        };
        walk.below(&mut Vec::new(), 0.0)
    }

    /// Whether some of the loops wait for one another.
    fn go_round(&self) -> bool {
        let mut left = self.vars.to_vec();
        loop {
            let n = left.len();
            let all = left.clone();
            left.retain(|var| self.waits(*var, &|before| all.contains(&before)));
            if left.len() == n {
                return n > 0;
            }
        }
    }

    /// Whether a loop has to wait for one of those that are left.
    fn waits(&self, var: IndexVar, is_left: &dyn Fn(IndexVar) -> bool) -> bool {
        let mut before = self.edges.iter().filter(|(_, after)| *after == var);
        before.any(|(before, _)| is_left(*before))
    }

    /// Whether there are more orders than are looked at.
    fn are_many(&self) -> bool {
        let mut n = 0;
        self.count(&mut Vec::new(), &mut n);
        n > MAX_ORDERS
    }

    fn count(&self, so_far: &mut Vec<IndexVar>, n: &mut usize) {
        *n += usize::from(so_far.len() == self.vars.len());
        for var in self.next(so_far) {
            // One more tells that there are many.
            if *n > MAX_ORDERS {
                return;
            }
            so_far.push(var);
            self.count(so_far, n);
            so_far.pop();
        }
    }

    /// The loops that may come next.
    fn next(&self, so_far: &[IndexVar]) -> Vec<IndexVar> {
        let is_left = |var: IndexVar| self.vars.contains(&var) && !so_far.contains(&var);
        let vars = self.vars.iter().copied();
        let next = vars.filter(|var| is_left(*var) && !self.waits(*var, &is_left));
        next.collect()
    }
}

/// A search under way.
struct Walk<'a> {
    orders: &'a Orders<'a>,
    least_bound_first: bool,
    /// The least cost that is known.
    least: f64,
    n_left: usize,
    n_begun_left: usize,
    visit: &'a mut dyn FnMut(&[IndexVar]) -> Result<f64>,
}

impl Walk<'_> {
    /// Goes on from a beginning that costs at least `begun`.
    fn below(&mut self, so_far: &mut Vec<IndexVar>, begun: f64) -> Result<Searched> {
        checkpoint();
        if so_far.len() == self.orders.vars.len() {
            if self.n_left == 0 {
                return Ok(Searched::Some);
            }
            self.n_left -= 1;
            self.least = (self.visit)(so_far)?;
            return Ok(Searched::All);
        }
        let next = self.orders.next(so_far).into_iter();
        let mut next: Vec<(f64, IndexVar)> = next
            .map(|var| {
                so_far.push(var);
                let bound = begun + (self.orders.bound)(so_far);
                so_far.pop();
                (bound, var)
            })
            .collect();
        if self.least_bound_first {
            next.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        }
        for (bound, var) in next {
            if bound >= self.least {
                continue;
            }
            if self.n_begun_left == 0 {
                return Ok(Searched::Some);
            }
            self.n_begun_left -= 1;
            so_far.push(var);
            let searched = self.below(so_far, bound)?;
            so_far.pop();
            if searched == Searched::Some {
                return Ok(searched);
            }
        }
        Ok(Searched::All)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vars(n: usize) -> Vec<IndexVar> {
        let mut arena = sparsec_base::Arena::new();
        (0..n).map(|_| arena.push(())).collect()
    }

    fn all(
        vars: &[IndexVar],
        edges: &[(IndexVar, IndexVar)],
        bound: &dyn Fn(&[IndexVar]) -> f64,
        cost: &dyn Fn(&[IndexVar]) -> f64,
    ) -> (Vec<Vec<IndexVar>>, Searched) {
        let (mut found, mut least) = (Vec::new(), f64::INFINITY);
        let orders = Orders { vars, edges, bound };
        let searched = orders.search(least, &mut |order| {
            found.push(order.to_vec());
            least = least.min(cost(order));
            Ok(least)
        });
        (found, searched.expect("no visit fails"))
    }

    #[test]
    fn edges_stay_forward() {
        let v = vars(3);
        let (found, _) = all(&v, &[(v[2], v[0])], &|_| 0.0, &|_| 1.0);
        let expect = [[1, 2, 0], [2, 0, 1], [2, 1, 0]];
        assert_eq!(found, expect.map(|order| order.map(|at| v[at]).to_vec()));
    }

    #[test]
    fn circles_have_no_orders_however_many_loops_are_free() {
        let v = vars(30);
        let circle = [(v[28], v[29]), (v[29], v[28])];
        assert!(all(&v, &circle, &|_| 0.0, &|_| 1.0).0.is_empty());
        let (found, searched) = all(&v, &[], &|_| 0.0, &|_| 1.0);
        assert_eq!((found.len(), searched), (MAX_ORDERS, Searched::Some));
        // Six loops have 720 orders.
        assert_eq!(all(&v[..6], &[], &|_| 0.0, &|_| 1.0).1, Searched::All);
    }

    #[test]
    fn beginnings_that_cost_more_are_left_out() {
        // Twelve loops, the longest first: a turn of each costs one.
        let v = vars(12);
        let extent = |var: &IndexVar| {
            let number = v.iter().position(|known| known == var);
            (14 - number.expect("one of them")) as f64
        };
        let turns = |order: &[IndexVar]| order.iter().map(extent).product::<f64>();
        let cost = |order: &[IndexVar]| {
            let begun = (1..=order.len()).map(|n| turns(&order[..n]));
            begun.sum::<f64>()
        };
        let (found, _) = all(&v, &[], &turns, &cost);
        let least = found
            .iter()
            .map(|order| cost(order))
            .fold(f64::INFINITY, f64::min);
        let shortest_first: Vec<IndexVar> = v.iter().rev().copied().collect();
        assert_eq!(least, cost(&shortest_first));
    }
}
