//! Steps of loops that come to nothing: walks that meet no partner, again and again.
//!
//! An order of loops may suit all operands and still be a bad one. With `A` in `csr`
//! and `B` in `csc`, each pair of a row and a column is merged, most of them in vain:
//!
//! ```text
//! C(i,j) = A(i,k) * B(k,j)        10^3 rows and columns of 10 entries each
//!
//! reorder(i, j, k)                     10^6 pairs · (10 + 10) steps for 10^5 products
//! reorder(i, k, j), convert(B, csr)    10^4 entries of A · 10 of a row of B
//! ```
//!
//! How many steps a loop takes is estimated from how many coordinates the levels hold
//! below those of the loops around it, entries lying evenly; a merge takes the steps
//! of all that it merges. A loop over a variable that no level is at takes all steps
//! there are, as that over `r` outside of `i` in `z(r) = x(i) * y(r - i)`, of which no
//! more come to something than there are values. Where most of them are in vain they count as bytes moved,
//! which is what conversions and workspaces are weighed by. Others do not: plans of
//! like cost are told apart by better figures than estimates.

use sparsec_format::Format;
use sparsec_graph::operand::{Nested, for_each_nested, level_at};
use sparsec_graph::{Formats, Lattice, Operands, Scope, space};
use sparsec_index::concrete::Stmt;
use sparsec_index::{Access, Expr, IndexExpr, IndexVar, TensorRole, TensorVar};

use crate::estimate::Estimate;
use crate::search::{Facts, Plan};

/// What a step costs that comes to nothing: a coordinate, and a comparison that
/// nothing predicts.
const STEP_BYTES: f64 = 8.0;
/// Steps in vain are counted where they are so many times those that are not: nobody
/// can tell which they are, and each costs several of a loop that knows where it goes.
const MOST: f64 = 2.0;

/// A statement whose best plan moves more bytes than this in steps that come to nothing
/// is split, as one that has no plan: some ten seconds.
const MOST_WASTED: u64 = 1 << 36;

/// Whether a plan moves so much in steps that come to nothing that its statement had
/// better be in parts.
pub(crate) fn is_wasteful(plan: &Plan, facts: Facts<'_>) -> bool {
    wasted_bytes(plan, facts) > MOST_WASTED
}

/// What the steps move that come to nothing, where most do and what is stored is
/// counted; else 0.
pub(crate) fn wasted_bytes(plan: &Plan, facts: Facts<'_>) -> u64 {
    if !is_known(plan, &plan.formats, facts) || !plan.concrete.clauses.is_empty() {
        return 0;
    }
    let estimate = Estimate::of(plan, facts);
    let operands = Operands::of(&plan.concrete);
    let mut wasted = 0.0;
    for_each_nested(&plan.concrete.stmt, &mut |nested| {
        let accesses = nested.rhs.accesses();
        let is_plain = |access: &&Access| {
            let tensor = &plan.concrete.tensors[access.tensor];
            let format = plan.formats.walked(access.tensor);
            let is_affine = |index: &IndexExpr| {
                let vars = index.vars();
                vars.is_empty() || vars.iter().any(|var| index.linear_in(*var).is_some())
            };
            tensor.role != TensorRole::Workspace
                && access.indices.iter().all(is_affine)
                && format.is_some_and(Format::is_plain)
        };
        if accesses.iter().all(is_plain) {
            wasted += in_vain(&estimate, &operands, &nested);
        }
    });
    (wasted * STEP_BYTES) as u64
}

/// Whether the entries of all operands of the statement are counted, and the extents known.
pub(crate) fn is_known(plan: &Plan, formats: &Formats, facts: Facts<'_>) -> bool {
    let (tensors, result) = (&plan.concrete.tensors, plan.concrete.result);
    let is_counted = |tensor: TensorVar| {
        let data = &tensors[tensor];
        // Results of statements before are counted if the operands of those were.
        tensor == result
            || data.role == TensorRole::Workspace
            || plan.conversions.iter().any(|it| it.to == tensor)
            || (facts.counts)(data).is_some()
            || formats
                .get(tensor)
                .is_some_and(|format| !format.has_sparse())
    };
    let converted = plan.conversions.iter().map(|it| it.from);
    let mut used = plan.concrete.used_tensors().into_iter().chain(converted);
    used.all(is_counted) && has_extents(plan, facts)
}

/// Whether it is known how far every mode goes that is read or written.
fn has_extents(plan: &Plan, facts: Facts<'_>) -> bool {
    let estimate = Estimate::of(plan, facts);
    let is_known = |access: &Access| estimate.extents(access).iter().all(Option::is_some);
    let mut all = true;
    plan.concrete.stmt.for_each_assign(&mut |lhs, _, rhs| {
        all &= is_known(lhs) && rhs.accesses().into_iter().all(is_known);
    });
    all
}

/// The steps of some loops that come to nothing, if they are most.
fn in_vain(estimate: &Estimate<'_>, operands: &Operands, nested: &Nested<'_, '_>) -> f64 {
    let (accesses, rhs, loops) = (nested.rhs.accesses(), nested.rhs, nested.loops);
    let (mut steps, mut useful) = (0.0, 0.0);
    let mut runs = 1.0;
    let values = estimate.visited(rhs, loops);
    for (depth, var) in loops.iter().enumerate() {
        let (outer, within) = (&loops[..depth], &loops[..=depth]);
        let walked = accesses.iter().filter_map(|access| {
            let operand = operands.find(access)?;
            operands.walked_level(operand, *var, estimate.formats)?;
            Some(estimate.prefixes(access, within) / estimate.prefixes(access, outer))
        });
        let walked: f64 = walked.sum();
        let each = match walked > 0.0 && !is_over_everything(estimate, operands, nested, *var) {
            true => walked,
            false => estimate.points(&[*var]),
        };
        steps += runs * each;
        let inside = estimate.visited(rhs, within);
        // Where no level is at the variable, no operand says which turns are in vain.
        let format = |access: &Access| estimate.formats.of(access.tensor);
        let is_led = |access: &&Access| level_at(access, *var, format(access)).is_some();
        let most = match accesses.iter().any(is_led) {
            true => runs * each,
            false => values.min(runs * each),
        };
        useful += inside.min(most);
        // What is rarely come to may be come to once.
        runs = inside.max(1.0);
    }
    let stored = accesses.iter().map(|access| estimate.n_stored(access));
    let stored: f64 = stored.sum();
    let wasted = steps - useful;
    match wasted > MOST * (useful + stored) {
        true => wasted,
        false => 0.0,
    }
}

/// Whether a loop visits every coordinate, whatever it walks beside: what it adds, say,
/// is searched.
fn is_over_everything(
    estimate: &Estimate<'_>,
    operands: &Operands,
    nested: &Nested<'_, '_>,
    var: IndexVar,
) -> bool {
    let scope = Scope {
        concrete: estimate.concrete,
        formats: estimate.formats,
        operands,
    };
    let assign = Stmt::Assign {
        lhs: nested.lhs.clone(),
        reduce: nested.reduce.cloned(),
        rhs: nested.rhs.clone(),
    };
    Lattice::of(&space(scope, &assign, var)).everything
}

impl Estimate<'_> {
    /// How many coordinates an operand holds in the modes that these variables say.
    pub(crate) fn prefixes(&self, access: &Access, vars: &[IndexVar]) -> f64 {
        let extents = self.extents(access);
        let (all, is_full) = self.places(access, vars, &extents);
        if is_full {
            return all;
        }
        // Those below which there is an entry, of so many in so many places.
        let (points, _) = self.places(access, &access.vars(), &extents);
        let share = (self.n_stored(access) / points).min(1.0);
        let is_hit = -(points / all * (-share).ln_1p()).exp_m1();
        (all * is_hit).max(1.0)
    }

    /// How many coordinates there are in the modes that these variables say, of such
    /// extents, and whether levels of those hold all.
    fn places(&self, access: &Access, vars: &[IndexVar], extents: &[Option<u64>]) -> (f64, bool) {
        let (mut all, mut is_full) = (1.0, true);
        for level in self.formats.of(access.tensor).levels() {
            let mode = level.mode();
            if access.indices[mode]
                .vars()
                .iter()
                .all(|var| vars.contains(var))
            {
                all *= extents[mode].map_or(1.0, |extent| extent.max(1) as f64);
                is_full &= level.is_full();
            }
        }
        (all, is_full)
    }

    /// At how many points of these loops those inside of them are run.
    pub(crate) fn visited(&self, expr: &Expr, vars: &[IndexVar]) -> f64 {
        self.share(expr, vars) * self.points(vars)
    }

    /// The fraction of the points of some loops at which an expression may have a
    /// value further in.
    fn share(&self, expr: &Expr, vars: &[IndexVar]) -> f64 {
        match expr {
            Expr::Literal(_) => 0.0,
            Expr::Index(_) => 1.0,
            Expr::Access(access) => {
                let (all, _) = self.places(access, vars, &self.reached(access));
                self.prefixes(access, vars) / all
            }
            Expr::Cast(_, body) | Expr::Reduce { body, .. } => self.share(body, vars),
            Expr::Apply { op, args } => self.combined(op, args, &|arg| self.share(arg, vars)),
        }
    }
}
