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
use sparsec_graph::{Lattice, Operands, Scope, space};
use sparsec_index::concrete::Stmt;
use sparsec_index::{Access, IndexExpr, IndexVar, TensorRole};

use crate::estimate::{Estimate, is_known};
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
