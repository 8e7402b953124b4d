//! Results that take the place of others: whether their structure is the same.

use sparsec_tensor::{Array, Tensor, with_element};

/// Puts another result in the place of one; whether its structure is the same.
pub(super) fn replaced(result: &mut Tensor, by: Tensor) -> bool {
    let is_same = has_structure_of(&by, result);
    *result = by;
    is_same
}

/// Writes the values of another dense result over those of one.
pub(super) fn overwritten(result: &mut Tensor, by: Tensor) -> bool {
    if !has_structure_of(&by, result) {
        return replaced(result, by);
    }
    with_element!(by.element(), T => {
        if let (Some(to), Some(from)) = (result.values_mut::<T>(), by.values::<T>()) {
            to.copy_from_slice(from);
        }
    });
    true
}

/// Whether two tensors store entries at the same places of the same arrays.
/// Arrays that are one and the same are not looked at.
pub(crate) fn has_structure_of(a: &Tensor, b: &Tensor) -> bool {
    let indices = |tensor: &Tensor| tensor.arrays().len() - 1;
    let is_same = |a: &Array, b: &Array| {
        (a.as_ptr(), a.len(), a.element()) == (b.as_ptr(), b.len(), b.element())
    };
    a.format().arranges_like(b.format())
        && a.extents() == b.extents()
        && a.element() == b.element()
        && a.arrays()[..indices(a)]
            .iter()
            .zip(&b.arrays()[..indices(b)])
            .all(|(a, b)| is_same(a, b) || a == b)
}
