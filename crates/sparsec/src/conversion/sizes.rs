//! The sizes that a conversion knows of its two formats before it runs.

use std::collections::BTreeMap;

use sparsec_relation::Expression;
use sparsec_tensor::Format;

use super::sides;

/// The extents of modes and of levels, by the names that they have in a conversion.
pub(super) fn sizes(
    source: &Format,
    destination: &Format,
    extents: &[u64],
) -> BTreeMap<String, i64> {
    let modes = extents.iter().enumerate();
    let mut sizes: BTreeMap<String, i64> = modes
        .map(|(mode, extent)| (format!("N{mode}"), *extent as i64))
        .collect();
    for (format, side) in [(source, "A"), (destination, "B")] {
        sizes.extend(sizes_of(format, side, extents));
    }
    sizes
}

/// The extents of the levels of one side.
pub(crate) fn sizes_of(
    format: &Format,
    side: &str,
    extents: &[u64],
) -> impl Iterator<Item = (String, i64)> {
    let known: Vec<Option<u64>> = extents.iter().copied().map(Some).collect();
    sides(format, side)
        .into_iter()
        .flat_map(move |(prefix, part)| {
            let levels = part.level_extents(&known).into_iter().enumerate();
            levels.filter_map(move |(level, extent)| {
                Some((format!("{prefix}_L{level}"), extent? as i64))
            })
        })
}

/// The value of an expression of sizes.
pub(super) fn size(e: &Expression, of: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
    match e {
        Expression::Integer(n) => Some(*n),
        Expression::Constant(name) => of(name),
        Expression::Negate(a) => size(a, of)?.checked_neg(),
        Expression::Add(a, b) => size(a, of)?.checked_add(size(b, of)?),
        Expression::Subtract(a, b) => size(a, of)?.checked_sub(size(b, of)?),
        Expression::Multiply(a, b) => size(a, of)?.checked_mul(size(b, of)?),
        _ => None,
    }
}
