//! Contraction orders: the cheapest trees of a network, and the next cheapest.
//!
//! The cost of a tree is the sum over its statements of the steps of the nest and of the
//! entries that it writes, as [`Estimator`] has them. Both depend on sets of operands alone,
//! so the cheapest tree of a set consists of cheapest trees of its parts. A statement is one
//! of
//!
//! | statement      | factors                                                            |
//! |----------------|--------------------------------------------------------------------|
//! | sum            | one operand with index variables that nothing else has             |
//! | product        | two subtrees; an outer product if they share nothing               |
//! | masked product | two subtrees, and an operand whose index variables they have       |
//! | nest           | 3 to [`MAX_NEST`] operands, joined one after another                |
//!
//! To [`MAX_EXACT`] operands the search is **exact**: no tree of these statements costs less
//! whose intermediates fall into at most two connected parts each (parts of the network by
//! themselves not counted), and the `keep` trees returned are the cheapest, among those that
//! cost at most [`SLACK`] times a greedy tree. An outer product of three pays for tensors that
//! one nest multiplies as well. The bound also prunes: a set whose cheapest tree exceeds it is in no
//! tree worth keeping, which removes most outer products before they are combined. At worst
//! the search visits `3ⁿ / 2` splits.
//!
//! Beyond that it is greedy, with seeded restarts; each tree is then improved by exact search
//! in windows of [`WINDOW`] subtrees. The same seed gives the same trees.
//!
//! Source: Pfeifer, Haegeman, Verstraete, "Faster identification of optimal contraction
//! sequences for tensor networks", 2014, <https://doi.org/10.1103/PhysRevE.90.033315> (bounds);
//! Gray, Kourtis, "Hyper-optimized tensor network contraction", Quantum 2021,
//! <https://doi.org/10.22331/q-2021-03-15-410> (restarts, windows).

mod exact;
mod greedy;
mod shape;

use crate::estimate::{Estimator, Part};
use crate::network::Network;
use crate::tree::Tree;

use shape::Shape;

/// Up to this many operands the search is exact. Source: `examples/planning.rs` prints 5 to
/// 25 ms of search for networks of 15, and 160 ms for one whose extents are all below 10, where
/// bounds prune nothing. Each further operand triples it.
pub const MAX_EXACT: usize = 15;

/// How many operands one nest may have.
pub const MAX_NEST: usize = 6;

/// Trees that cost more than this many times a greedy tree are not kept: fusion and dense
/// kernels make a step at most 16 times cheaper ([`Machine`](crate::Machine)), and seldom
/// of one tree alone.
pub const SLACK: f64 = 4.0;

/// How many subtrees a window of the improvement has.
pub const WINDOW: usize = 8;

/// Options of the search for trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchOptions {
    /// How many trees to keep.
    pub keep: usize,
    /// The seed of the restarts.
    pub seed: u64,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self { keep: 8, seed: 1 }
    }
}

/// A tree with its cost.
#[derive(Clone, Debug)]
pub struct Ranked {
    /// The tree.
    pub tree: Tree,
    /// Its cost in steps.
    pub cost: f64,
}

/// The cheapest trees of a network, at least one, cheapest first, all different.
///
/// ```
/// use sparsec_network::{Estimator, Network, SearchOptions, search};
/// let network = Network::parse("
///     tensor I[700, 300, 300] entries 21470400
///     tensor C[300, 100] entries 7032
///     tensor P[300, 300] entries 89820
///     tensor L[700, 100] entries 3220 mask
///     E(K,i,m) = I(K,a,b) * C(a,i) * P(b,m) * L(K,i)")?;
/// let trees = search::trees(&Estimator::new(&network), SearchOptions::default());
/// let best = trees[0].tree.print_estimates(&Estimator::new(&network));
/// assert_eq!(best, "\
/// t0(K,b,i) = I(K,a,b) * C(a,i) * L(K,i)  ; 966000 entries, 2.34e7 steps
/// E(K,i,m) = t0(K,b,i) * P(b,m)           ; 966000 entries, 2.89e8 steps
/// ");
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn trees(estimator: &Estimator<'_>, options: SearchOptions) -> Vec<Ranked> {
    let network = estimator.network();
    let parts: Vec<Part> = network
        .operands()
        .map(|(id, _)| estimator.operand(id))
        .collect();
    let keep = options.keep.max(1);
    let shapes = match parts.len() <= MAX_EXACT {
        true => {
            let (_, cost) = greedy::shape(estimator, &parts, &mut greedy::Noise::none());
            exact::shapes(estimator, &parts, keep, cost * SLACK)
        }
        false => greedy::shapes(estimator, &parts, keep, options.seed),
    };
    let mut ranked: Vec<Ranked> = Vec::new();
    for (shape, cost) in shapes {
        let tree = to_tree(network, &shape);
        if ranked.iter().all(|other| other.tree != tree) {
            ranked.push(Ranked { tree, cost });
        }
    }
    ranked.truncate(keep);
    ranked
}

fn to_tree(network: &Network, shape: &Shape) -> Tree {
    let mut products = Vec::new();
    shape.products(&mut products);
    Tree::new(network, products)
        .expect("a shape uses each operand once")
        .canonical(network)
}

#[cfg(test)]
mod tests;
