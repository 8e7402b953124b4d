//! Tensors seen by their levels: the same arrays, with the extents of the levels.
//!
//! An array that keeps the extent of ranks, as `ell` has one, is an extent there.

use sparsec_format::{Format, Role};
use sparsec_tensor::ArrayRef;

/// The extents of the tensor of the levels of another, given those of its ranks that
/// the format does not say.
pub(crate) fn level_extents(format: &Format, extents: &[u64], sizes: &[u64]) -> Vec<u64> {
    let known: Vec<Option<u64>> = extents.iter().copied().map(Some).collect();
    let mut sizes = sizes.iter().copied();
    let of_levels = format.level_extents(&known).into_iter();
    let known = of_levels.map(|extent| extent.or_else(|| sizes.next()));
    let known = known.map(|extent| extent.expect("levels of a checked tensor have extents"));
    known.collect()
}

/// Takes the arrays that hold the extents of ranks out of those of a checked tensor.
pub(crate) fn sizes_of_ranks(format: &Format, arrays: &mut Vec<ArrayRef<'_>>) -> Vec<u64> {
    let mut sizes = Vec::new();
    let specs = format.arrays();
    let mut specs = specs.iter();
    arrays.retain(|array| {
        let spec = specs.next().expect("an array has a role");
        let is_size = matches!(spec.role, Role::Size(_));
        if is_size {
            sizes.push(array.as_index().get(0) as u64);
        }
        !is_size
    });
    sizes
}
