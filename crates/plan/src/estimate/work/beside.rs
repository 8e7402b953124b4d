//! What nests in the same loops know of one another.
//!
//! ```text
//! forall i: sequence(                         of row i, the second nest finds in a cache what the
//!   forall j: r(i) += A(i,j) * x(j),          first has read
//!   forall j: c(j) += A(i,j) * y(i))          but every row comes back to x and c, and the cache
//!                                             has to hold both
//! ```

use std::collections::BTreeMap;

use sparsec_index::concrete::{Stmt, for_each_nested};
use sparsec_index::{Access, IndexExpr, TensorVar};

use super::Loops;

impl Loops<'_> {
    /// The loops around several nests.
    pub(super) fn shared(&self) -> Self {
        Self {
            n_shared: self.vars.len(),
            ..self.clone()
        }
    }

    /// Takes in what a nest inside of these loops reads.
    pub(super) fn read_before(&mut self, nest: &Stmt) {
        let depth = self.vars.len();
        if depth > 0 {
            nest.for_each_assign(&mut |_, _, rhs| {
                let accesses = rhs.accesses().into_iter();
                self.read
                    .extend(accesses.map(|access| (access.clone(), depth)));
            });
        }
    }

    /// The number of loops around both this access and one of an earlier nest that reads the same part
    /// of the tensor in each iteration of these loops.
    pub(super) fn read_at(&self, access: &Access) -> Option<usize> {
        let mut read = self.read.iter().rev();
        let same = read.find(|(other, depth)| {
            let bound = self.work.estimate.concrete.bound_in(&self.vars[..*depth]);
            let chosen = |index: &IndexExpr| bound.iter().any(|var| index.uses(*var));
            other.tensor == access.tensor
                && std::iter::zip(&other.indices, &access.indices)
                    .all(|(a, b)| a == b || !chosen(a) && !chosen(b))
                && access.indices.iter().any(chosen)
        });
        same.map(|(_, depth)| *depth)
    }

    /// For each of several nests in these loops, the bytes of arrays that others of them come back
    /// to. Nests that no loop is around run one after the other.
    pub(super) fn beside(&self, nests: &[Stmt]) -> Vec<f64> {
        if self.vars.is_empty() {
            return vec![0.0; nests.len()];
        }
        let kept: Vec<BTreeMap<TensorVar, f64>> = nests.iter().map(|it| self.kept(it)).collect();
        let mut all = BTreeMap::new();
        kept.iter().for_each(|of_nest| all.extend(of_nest));
        let of_others = kept.iter().map(|own| {
            let others = all.iter().filter(|(tensor, _)| !own.contains_key(tensor));
            others.map(|(_, bytes)| *bytes).sum()
        });
        of_others.collect()
    }

    /// The arrays that a nest comes back to, each with its bytes.
    fn kept(&self, nest: &Stmt) -> BTreeMap<TensorVar, f64> {
        let estimate = self.work.estimate;
        let mut kept = BTreeMap::new();
        for_each_nested(nest, &mut |nested| {
            let mut inner = self.clone();
            inner.vars.extend(nested.loops);
            let accesses = nested.rhs.accesses().into_iter().chain([nested.lhs]);
            for access in accesses {
                let Some(moving) = inner.moving(access) else {
                    continue;
                };
                let bound = estimate.concrete.bound_in(&inner.vars[..moving]);
                let places = estimate.n_places(access);
                if estimate.visited(nested.rhs, &bound) > places {
                    kept.insert(access.tensor, places * self.entry_bytes(access.tensor));
                }
            }
        });
        kept
    }
}
