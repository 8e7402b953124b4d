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
    let known: Vec<Option<u64>> = extents.iter().copied().map(Some).collect();
    let parts = [(source, "A"), (destination, "B")].map(|(format, side)| sides(format, side));
    for (prefix, part) in parts.into_iter().flatten() {
        for (level, extent) in part.level_extents(&known).into_iter().enumerate() {
            if let Some(extent) = extent {
                sizes.insert(format!("{prefix}_L{level}"), extent as i64);
            }
        }
    }
    sizes
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
