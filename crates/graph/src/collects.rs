//! Results that are added up into.

use std::collections::BTreeSet;

use sparsec_format::{Format, Level};
use sparsec_index::concrete::Nested;
use sparsec_index::expr::points;
use sparsec_index::{Concrete, IndexVar, TensorVar};

/// Whether an operator can accumulate into entries of a result in this format, in any
/// order: entries that are not stored hold the operator's identity. The loops over `open`
/// enclose the nest, so their coordinates do not change within it.
///
/// ```text
/// (i : dense, j : dense)                       every entry has its place; padding has the
///                                              fill, with which the operator then begins
/// (i : compressed, j : dense)     open: i      the row of i is there, with its fill
/// (i : dense, j : hashed)         open: i      what is not in the table of i has its fill
/// ```
///
/// Values that change what the operator begins with come to its fill all the same where
/// they wrap (`2^63 + 2^63`, `-1 * -1`): of these it takes a count of what is stored to
/// know whether an entry is.
pub fn collects(
    concrete: &Concrete,
    format: &Format,
    nested: Nested<'_, '_>,
    open: &[IndexVar],
) -> bool {
    let Nested { lhs, reduce, .. } = nested;
    let data = &concrete.tensors[lhs.tensor];
    let begins = reduce.map_or(Some(data.fill), |op| op.identity(data.element));
    let is_placed = |level: &Level| level.kind.capabilities().random_insert;
    let is_open = |level: &Level| {
        let var = lhs.var(level.mode());
        var.is_some_and(|var| open.contains(&var))
    };
    let levels = format.levels();
    let has_rows = levels.split_last().is_some_and(|(last, above)| {
        let is_probed = last.kind.capabilities().probing_insert;
        let is_kept = |level: &Level| is_open(level) || (is_placed(level) && !is_probed);
        (is_placed(last) || is_probed) && above.iter().all(is_kept)
    });
    let is_fill = begins == Some(data.fill);
    match format.is_all_dense() {
        true => is_fill || !has_padding(concrete, lhs.tensor),
        false => is_fill && (format.takes_any_order() || has_rows) && !wraps(concrete, nested),
    }
}

/// Whether a dense tensor may have places that hold no entry, and so its fill: blocks
/// that do not divide an extent and diagonals reach beyond the tensor that is seen by
/// its levels.
///
/// ```text
/// (i) -> (i floordiv 4 : dense, i mod 4 : dense)        8 places for 5 entries
/// ```
pub fn has_padding(concrete: &Concrete, tensor: TensorVar) -> bool {
    let levels = &concrete.tensors[tensor];
    let Some(of) = &levels.levels_of else {
        return false;
    };
    let count = |extents: &[Option<u64>]| {
        let mut extents = extents.iter();
        extents.try_fold(1_u128, |n, extent| n.checked_mul((*extent)?.into()))
    };
    let entries = count(&concrete.tensors[of.tensor].extents);
    entries.is_none() || entries != count(&levels.extents)
}

/// Whether values that are not stored, all of them reduced, come back to the identity of
/// an operator, and one of them does not keep it.
fn wraps(concrete: &Concrete, nested: Nested<'_, '_>) -> bool {
    let Nested {
        loops,
        lhs,
        reduce: Some(op),
        rhs,
        ..
    } = nested
    else {
        return false;
    };
    let Some(unstored) = rhs.fill(&concrete.tensors, &concrete.vars) else {
        return false;
    };
    let originals = loops.iter().flat_map(|var| concrete.originals(*var));
    let reduced: BTreeSet<IndexVar> = originals.filter(|var| !lhs.uses(*var)).collect();
    let reduced: Vec<IndexVar> = reduced.into_iter().collect();
    let identity = op.identity(unstored.element());
    let all = points(&concrete.vars, &reduced).and_then(|n| op.repeat(unstored, n));
    identity != Some(unstored) && identity.is_some() && all == identity
}
