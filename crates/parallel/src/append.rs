//! Appending pieces to a list, in parallel.
//!
//! Threads that find an unknown number of items each keep them in lists of
//! their own; here these become one. The memory is not cleared first, and the
//! thread that copies a piece is the one that touches its pages.

#![expect(
    unsafe_code,
    reason = "says how long a list is whose memory was written"
)]

use crate::error::AllocError;
use crate::fault::{self, Fault};
use crate::pool::{map, split_mut};

/// Appends every piece to `list`, in order.
///
/// Cost: one copy of the items.
///
/// # Errors
/// Where memory is out; then `list` is as it was.
///
/// ```
/// let mut list = vec![1, 2];
/// sparsec_parallel::append(&mut list, &[&[3], &[], &[4, 5]])?;
/// assert_eq!(list, [1, 2, 3, 4, 5]);
/// # Ok::<(), sparsec_parallel::AllocError>(())
/// ```
pub fn append<T: Copy + Send + Sync>(list: &mut Vec<T>, pieces: &[&[T]]) -> Result<(), AllocError> {
    let more = pieces.iter().map(|piece| piece.len()).sum();
    let bytes = (size_of::<T>() as u64).saturating_mul((list.len() + more) as u64);
    let reserved = list.try_reserve(more);
    if reserved.is_err() || fault::strikes(Fault::Memory) {
        return Err(AllocError { bytes });
    }
    let room = &mut list.spare_capacity_mut()[..more];
    let rooms = split_mut(room, pieces.iter().map(|piece| piece.len()));
    map(rooms.into_iter().zip(pieces).collect(), |(room, piece)| {
        for (place, &item) in room.iter_mut().zip(*piece) {
            place.write(item);
        }
    });
    // SAFETY: the pieces have `more` items in all, and each was written to the
    // room of its piece; `map` returns when all are.
    unsafe { list.set_len(list.len() + more) };
    Ok(())
}
