//! Results that are added up into.

use sparsec_format::{Format, Level};
use sparsec_index::{Access, Concrete, IndexVar, Operator};

/// Whether entries of a result in this format can be come back to by an operator, in
/// any order: those that are not stored hold what the operator begins with. The
/// loops over `open` are around all of it: what they are at stays where it is.
///
/// ```text
/// (i : dense, j : dense)                       every entry has its place
/// (i : compressed, j : dense)     open: i      the row of i is there, with its fill
/// (i : dense, j : hashed)         open: i      what is not in the table of i has its fill
/// ```
pub fn collects(
    concrete: &Concrete,
    format: &Format,
    lhs: &Access,
    reduce: Option<&Operator>,
    open: &[IndexVar],
) -> bool {
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
    format.is_all_dense() || (begins == Some(data.fill) && (format.takes_any_order() || has_rows))
}
