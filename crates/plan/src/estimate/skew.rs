//! Degrees that differ: loops come more often to coordinates that have more entries.
//!
//! ```text
//! t = A(i,j) * A(j,k) * A(i,k)
//!
//! forall i: forall j: forall k        row j is gone along once for each entry of column j: on
//!                                       average it has not as many entries as other rows, but
//!                                       `q` times as many, `q = n Σ d² / (Σ d)²`
//! ```
//!
//! `d` are the degrees of the `n` coordinates of a mode, so `q` is their mean square over the
//! square of their mean: 1 where all are alike, tens in graphs. If `r` accesses of one tensor have a
//! variable in common, there are `q^(r (r - 1) / 2)` times as many points as if their entries
//! were independent. That is so of two accesses, and of more where degrees are spread log-normally.
//!
//! Source: Chung and Lu, "The average distances in random graphs with given expected degrees",
//! 2002, <https://doi.org/10.1073/pnas.252631999>.

use std::collections::BTreeMap;

use sparsec_index::{Access, Expr, IndexVar, Operator, TensorRole, TensorVar};
use sparsec_network::Network;

use super::Estimate;

/// The sums of the squared degrees of tensors, by their names and modes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Squares(BTreeMap<(String, usize), f64>);

impl Squares {
    /// Those that are counted of the tensors of a network.
    pub(crate) fn of(network: &Network) -> Self {
        let mut squares = BTreeMap::new();
        for (_, tensor) in network.tensors() {
            for projection in tensor.statistics.projections() {
                if let [mode] = projection.modes[..] {
                    squares.insert((tensor.name.clone(), mode), projection.squares);
                }
            }
        }
        Self(squares)
    }

    /// That of a mode, where it is counted.
    pub(crate) fn get(&self, name: &str, mode: usize) -> Option<f64> {
        self.0.get(&(name.to_owned(), mode)).copied()
    }
}

impl Estimate<'_> {
    /// The share of the points of loops over `vars` at which an expression has a value, from
    /// that which it would have if entries of its operands were independent.
    pub(super) fn skewed(&self, share: f64, expr: &Expr, vars: &[IndexVar]) -> f64 {
        let Some(factors) = self.factors(expr) else {
            return share;
        };
        let skews = vars.iter().map(|var| {
            let mut met: BTreeMap<TensorVar, Vec<f64>> = BTreeMap::new();
            for access in &factors {
                if let Some((tensor, skew)) = self.skew(access, *var) {
                    met.entry(tensor).or_default().push(skew);
                }
            }
            let powers = met.values();
            let powers = powers.map(|met| power(met, met.len() * (met.len() - 1) / 2));
            powers.product::<f64>()
        });
        // No more than one of the factors has by itself.
        let of_each = factors.iter().map(|access| {
            let (all, _) = self.places(access, vars, &self.reached(access));
            self.prefixes(access, vars) / all
        });
        let most = of_each.fold(1.0, f64::min);
        (share * skews.product::<f64>()).min(most).max(share)
    }

    /// How many times as many entries an operand holds, in iterations of the loops over `vars`, as
    /// it would if these came to each of its coordinates as often.
    pub(crate) fn skew_of_rows(&self, access: &Access, vars: &[IndexVar]) -> f64 {
        if vars.iter().all(|var| self.skew(access, *var).is_none()) {
            return 1.0;
        }
        let mut most: f64 = 1.0;
        self.concrete.stmt.for_each_assign(&mut |_, _, rhs| {
            let factors = self.factors(rhs).filter(|all| all.contains(access));
            most = most.max(factors.map_or(1.0, |all| self.skew_among(access, &all, vars)));
        });
        most
    }

    /// As [`skew_of_rows`](Self::skew_of_rows), of one of these factors.
    fn skew_among(&self, access: &Access, factors: &[Access], vars: &[IndexVar]) -> f64 {
        let skews = vars.iter().filter_map(|var| {
            let (tensor, skew) = self.skew(access, *var)?;
            let weighs = |other: &&Access| {
                let mut others = other.vars().into_iter();
                *other != access
                    && self.skew(other, *var).is_some_and(|(of, _)| of == tensor)
                    && others.any(|other| other != *var && vars.contains(&other))
            };
            Some(power(&[skew], factors.iter().filter(weighs).count()))
        });
        skews.product()
    }

    /// The mean square of the degrees over the square of their mean, in the mode of an input
    /// that a variable is the coordinate of.
    fn skew(&self, access: &Access, var: IndexVar) -> Option<(TensorVar, f64)> {
        let mut tensor = access.tensor;
        while let Some(made) = self.conversions.iter().find(|it| it.to == tensor) {
            tensor = made.from;
        }
        let data = &self.concrete.tensors[tensor];
        let mode = (0..access.indices.len()).find(|mode| access.var(*mode) == Some(var))?;
        let squares = (self.squares)(data.source_name(), mode)?;
        let entries = self.n_stored(access);
        let extent = self.extent(var)? as f64;
        let is_input = data.role == TensorRole::Input;
        is_input.then(|| (tensor, (extent * squares / (entries * entries)).max(1.0)))
    }

    /// The distinct accesses of a product, those that its workspaces collect included; `None`
    /// of another expression.
    fn factors(&self, expr: &Expr) -> Option<Vec<Access>> {
        match expr {
            Expr::Literal(_) => Some(Vec::new()),
            Expr::Access(access) if self.is_workspace(access) => {
                let mut collected = Vec::new();
                let mut is_product = true;
                self.for_each_collected(access.tensor, &mut |nested, _| {
                    let own = nested.lhs.vars().into_iter().zip(access.vars());
                    let own: BTreeMap<IndexVar, IndexVar> = own.collect();
                    let read = nested
                        .rhs
                        .renamed(&|var| own.get(&var).copied().unwrap_or(var));
                    match self.factors(&read) {
                        Some(factors) => collected.extend(factors),
                        None => is_product = false,
                    }
                });
                is_product.then_some(collected)
            }
            Expr::Access(access) => Some(vec![access.clone()]),
            Expr::Apply {
                op: Operator::Mul,
                args,
            } => {
                let mut all: Vec<Access> = Vec::new();
                for arg in args {
                    for access in self.factors(arg)? {
                        if !all.contains(&access) {
                            all.push(access);
                        }
                    }
                }
                Some(all)
            }
            _ => None,
        }
    }
}

/// The geometric mean of some skews to a power.
fn power(skews: &[f64], exponent: usize) -> f64 {
    let mean = skews.iter().map(|skew| skew.ln()).sum::<f64>() / skews.len() as f64;
    (mean * exponent as f64).exp()
}
