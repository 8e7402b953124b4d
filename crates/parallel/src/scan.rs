//! Prefix sums: counts to offsets.
//!
//! ```
//! use sparsec_parallel::parts_to_offsets;
//! let (offsets, total) = parts_to_offsets(&[3, 0, 2]);
//! assert_eq!((offsets, total), (vec![0, 3, 3], 5));
//! ```

/// Where each part begins when parts of these lengths stand one after another,
/// and how long they are together.
pub fn parts_to_offsets(lengths: &[usize]) -> (Vec<usize>, usize) {
    let mut offsets = lengths.to_vec();
    let total = counts_to_offsets(&mut offsets);
    (offsets, total)
}

/// Replaces each count by the sum of those before it; returns the sum of all.
///
/// # Panics
/// In debug builds, if the sum overflows.
pub fn counts_to_offsets(counts: &mut [usize]) -> usize {
    let mut total = 0;
    for count in counts {
        total += std::mem::replace(count, total);
    }
    total
}
