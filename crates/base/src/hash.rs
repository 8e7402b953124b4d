//! Tables of a power of two of slots, in which a number is looked for from the slot on that
//! its hash says: what formats, computations and kernels agree on.
//!
//! ```
//! use sparsec_base::hash::{first_slot, n_slots};
//! assert_eq!([0, 1, 2, 3].map(n_slots), [0, 2, 4, 8]);
//! assert!(first_slot(12345, 8) < 8);
//! ```

/// The number of slots in a hash table for `n` numbers; at most half of them fill.
pub fn n_slots(n: usize) -> usize {
    match n {
        0 => 0,
        n => (2 * n).next_power_of_two(),
    }
}

/// 2^64 over the golden ratio, and odd: the upper bits of a product with it
/// depend on all bits of a number.
pub const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// The slot, counted from the first of a table of `n_slots`, at which the search
/// for a number begins: the upper half of the product with [`MULTIPLIER`], as
/// a fraction of the table. Kernels compute the same.
pub fn first_slot(number: u64, n_slots: usize) -> usize {
    let upper = number.wrapping_mul(MULTIPLIER) >> 32;
    (upper.wrapping_mul(n_slots as u64) >> 32) as usize
}
