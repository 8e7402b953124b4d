//! How much there is to do, estimated: at how many points an expression is
//! computed, and what workspaces and conversions move.
//!
//! Operands are taken to store their entries independently of each other and
//! evenly, so that an expression has a value at a fraction of all points:
//!
//! | expression                       | fraction of the points              |
//! |----------------------------------|-------------------------------------|
//! | `A(i,k)`, `A` with stored levels | entries of `A` / (extent of `i` · extent of `k`) |
//! | `x(k)`, all levels full          | 1                                   |
//! | `f(a, b)`, each decides it       | fraction of `a` · fraction of `b`   |
//! | `f(a, b)` otherwise              | the sum of both, at most 1          |
//!
//! What is not known when a program is compiled is taken to be middling
//! ([`UNKNOWN_EXTENT`], [`UNKNOWN_FIBER`]). A wrong estimate costs time, never a
//! wrong result.
//!
//! Costs are in bytes moved. What a conversion moves follows from formulas of entries and extents that
//! the caller has ([`Facts::conversion`]). Other costs have these constants:
//!
//! | constant          | is what                                               |
//! |-------------------|-------------------------------------------------------|
//! | [`PROBE_BYTES`]   | finding an entry by hashing costs, in the cache       |
//! | [`SORT_BYTES`]    | sorting one entry of a workspace costs                |
//! | [`LINE_BYTES`]    | a miss of the cache moves, there and back             |
//! | [`PAGE_BYTES`]    | the first write to a page of fresh memory costs       |
//! | [`CACHE_BYTES`]   | stays in the cache                                    |

use sparsec_format::Format;
use sparsec_graph::Formats;
use sparsec_index::{Access, Concrete, Expr, IndexVar, Operator, TensorData, WorkspaceKind};

use crate::search::{Conversion, Facts, Plan};

/// The extent of a mode of which nothing is known.
pub(crate) const UNKNOWN_EXTENT: f64 = 10_000.0;
/// How many entries an operand of which nothing is known stores for each
/// coordinate of its first mode.
pub(crate) const UNKNOWN_FIBER: f64 = 10.0;
/// What finding an entry by hashing costs where the table is in the cache.
const PROBE_BYTES: f64 = 64.0;
/// What sorting one entry of a workspace costs.
const SORT_BYTES: f64 = 64.0;
/// What a miss of the cache moves.
const LINE_BYTES: f64 = 128.0;
/// What the first write to a page of fresh memory costs.
const PAGE_BYTES: f64 = 4096.0;
/// What stays in the cache.
const CACHE_BYTES: f64 = (16u64 << 20) as f64;
/// Arrays larger than this are not asked for, however cheap they seem.
const MOST_BYTES: f64 = (16u64 << 30) as f64;

/// How many entries a tensor stores that a statement reads, where that is known.
pub type Counts<'a> = &'a dyn Fn(&TensorData) -> Option<u64>;

/// A tensor that is stored in another format.
#[derive(Clone, Copy, Debug)]
pub struct Converting<'a> {
    /// Its format.
    pub from: &'a Format,
    /// The other one.
    pub to: &'a Format,
    /// Its extents, where they are known.
    pub extents: &'a [Option<u64>],
    /// About how many entries it stores.
    pub n_stored: f64,
}

/// A statement with what is known of its operands.
#[derive(Clone, Copy)]
pub(crate) struct Estimate<'a> {
    /// The statement.
    pub concrete: &'a Concrete,
    /// How its tensors are stored.
    pub formats: &'a Formats,
    /// How many entries they store.
    pub counts: Counts<'a>,
    /// How far index variables run of which the program does not say it.
    pub extents: &'a dyn Fn(&str) -> Option<u64>,
    /// Which tensors are others, seen by their levels.
    pub conversions: &'a [Conversion],
}

/// What is asked of a workspace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    /// How many coordinates its modes have together.
    pub positions: f64,
    /// Bytes of one value.
    pub value_bytes: f64,
    /// How often an entry is written or combined into.
    pub writes: f64,
    /// How often it begins anew.
    pub runs: f64,
}

impl<'a> Estimate<'a> {
    /// What is known of what a plan computes.
    pub(crate) fn of(plan: &'a Plan, facts: Facts<'a>) -> Self {
        Self {
            concrete: &plan.concrete,
            formats: &plan.formats,
            counts: facts.counts,
            extents: facts.extents,
            conversions: &plan.conversions,
        }
    }
}

impl Estimate<'_> {
    /// How many points some loops have together.
    pub(crate) fn points(&self, vars: &[IndexVar]) -> f64 {
        product(vars.iter().map(|var| self.extent(*var)))
    }

    /// How far a variable runs, where that is known.
    pub(crate) fn extent(&self, var: IndexVar) -> Option<u64> {
        let vars = &self.concrete.vars;
        let of = |var: IndexVar| vars[var].extent.or_else(|| (self.extents)(&vars[var].name));
        self.concrete.extent_by(var, &of)
    }

    /// The extents of the modes that an access reads or writes, where they are known.
    pub(crate) fn extents(&self, access: &Access) -> Vec<Option<u64>> {
        let declared = self.concrete.tensors[access.tensor].extents.iter();
        let modes = declared.enumerate();
        modes
            .map(|(mode, extent)| extent.or_else(|| self.extent(access.var(mode)?)))
            .collect()
    }

    /// How many coordinates an access asks for along each mode, those outside of its tensor
    /// too; the extent, where it goes no further.
    pub(crate) fn reached(&self, access: &Access) -> Vec<Option<u64>> {
        let extent = |var| self.extent(var);
        let reached = self.extents(access).into_iter().zip(&access.indices);
        let reached = reached.map(|(bound, index)| {
            let (least, most) = index.range(&extent)?;
            Some(bound?.max(u64::try_from(most - least + 1).ok()?))
        });
        reached
            .zip(self.extents(access))
            .map(|(reached, bound)| reached.or(bound))
            .collect()
    }

    /// At how many points of these loops an expression is computed.
    pub(crate) fn computed(&self, expr: &Expr, vars: &[IndexVar]) -> f64 {
        self.fraction(expr) * self.points(vars)
    }

    /// How many entries an operand stores.
    pub(crate) fn n_stored(&self, access: &Access) -> f64 {
        let extents = self.extents(access);
        let all = product(extents.iter().copied());
        let is_full = self
            .formats
            .get(access.tensor)
            .is_none_or(|format| !format.has_sparse());
        if is_full {
            return all;
        }
        let first = product(extents.iter().copied().take(1));
        let mut counted = access.tensor;
        // A copy and a view store what they are copies and views of.
        while let Some(made) = self.conversions.iter().find(|it| it.to == counted) {
            counted = made.from;
        }
        let stored = match (self.counts)(&self.concrete.tensors[counted]) {
            Some(count) => count as f64,
            None => UNKNOWN_FIBER * first,
        };
        stored.min(all)
    }

    fn fraction(&self, expr: &Expr) -> f64 {
        match expr {
            Expr::Literal(_) => 0.0,
            Expr::Index(_) => 1.0,
            Expr::Access(access) => {
                self.n_stored(access) / product(self.reached(access).into_iter())
            }
            Expr::Cast(_, body) | Expr::Reduce { body, .. } => self.fraction(body),
            Expr::Apply { op, args } => self.combined(op, args, &|arg| self.fraction(arg)),
        }
    }

    /// The fraction of the points at which an operator has a value, from those of its
    /// arguments: where each of its decisions has an argument that is stored.
    pub(crate) fn combined(
        &self,
        op: &Operator,
        args: &[Expr],
        fraction: &dyn Fn(&Expr) -> f64,
    ) -> f64 {
        let Concrete { tensors, vars, .. } = self.concrete;
        let fills: Vec<_> = args.iter().map(|arg| arg.fill(tensors, vars)).collect();
        let decisions = op.decisions(&fills);
        let of_any = |of: &mut dyn Iterator<Item = &Expr>| of.map(fraction).sum::<f64>().min(1.0);
        if decisions.is_empty() {
            return of_any(&mut args.iter());
        }
        // Where fewer arguments decide already, more leave out nothing.
        let is_least = |number: &usize| {
            let own = &decisions[*number].args;
            let mut others = decisions.iter().enumerate().filter(|(at, _)| at != number);
            !others.any(|(at, it)| {
                let is_within = it.args.iter().all(|arg| own.contains(arg));
                is_within && (it.args.len() < own.len() || at < *number)
            })
        };
        let least = (0..decisions.len()).filter(is_least);
        let args_of = |number: usize| decisions[number].args.iter().map(|at| &args[*at]);
        least.map(|number| of_any(&mut args_of(number))).product()
    }
}

/// How many coordinates modes of these extents have together; at least one.
fn product(extents: impl Iterator<Item = Option<u64>>) -> f64 {
    let known = |extent: Option<u64>| extent.map_or(UNKNOWN_EXTENT, |known| known.max(1) as f64);
    extents.map(known).product()
}

/// The kind that serves best where a list of what was written is needed, with
/// what it moves.
pub(crate) fn best_with_list(used: Use) -> (WorkspaceKind, f64) {
    let (listed, hashed) = (listed(used), hashed(used));
    match listed <= hashed {
        true => (WorkspaceKind::Listed, listed),
        false => (WorkspaceKind::Hashed, hashed),
    }
}

fn listed(used: Use) -> f64 {
    // A value, a bit and an entry of the list.
    let all = used.positions * (used.value_bytes + 9.0);
    if all > MOST_BYTES {
        return f64::INFINITY;
    }
    let first = all.min(used.writes * PAGE_BYTES);
    first + used.writes * miss(all) + entries(used) * SORT_BYTES
}

fn hashed(used: Use) -> f64 {
    let entries = entries(used);
    // A key, an entry of the list, and two slots of the table.
    let one_run = entries / used.runs.max(1.0) * (used.value_bytes + 32.0);
    used.writes * (PROBE_BYTES + miss(one_run)) + entries * 2.0 * SORT_BYTES
}

/// How many entries all runs have together, at most.
fn entries(used: Use) -> f64 {
    used.writes.min(used.positions * used.runs.max(1.0))
}

/// What going anywhere in an array of so many bytes moves.
fn miss(bytes: f64) -> f64 {
    LINE_BYTES * (1.0 - CACHE_BYTES / bytes.max(CACHE_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(positions: f64, writes: f64, runs: f64) -> WorkspaceKind {
        let used = Use {
            positions,
            value_bytes: 8.0,
            writes,
            runs,
        };
        best_with_list(used).0
    }

    #[test]
    fn small_and_well_filled_workspaces_are_listed() {
        // Rows of a product of matrices of a million rows.
        assert_eq!(kind(1e6, 1e8, 1e6), WorkspaceKind::Listed);
        assert_eq!(kind(100.0, 1e3, 10.0), WorkspaceKind::Listed);
    }

    #[test]
    fn huge_or_nearly_empty_workspaces_are_hashed() {
        assert_eq!(kind(1e12, 1e6, 1.0), WorkspaceKind::Hashed);
        assert_eq!(kind(1e9, 1e3, 1.0), WorkspaceKind::Hashed);
    }
}
