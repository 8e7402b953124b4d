//! Lists of entries while a text file is read.
//!
//! The threads of a wave fill [`Piece`]s, whose memory stays in the cache from
//! one wave to the next; [`Found`] is what becomes of them all.

use sparsec_base::Result;
use sparsec_parallel::append;
use sparsec_parallel::memory::prefer_huge_pages;
use sparsec_tensor::CoordWord;

use crate::number::Value;

/// Entries that a piece has room for at first.
const FIRST_ROOM: usize = 1 << 11;

/// The entries so far.
pub(crate) struct Found<T, C> {
    pub(crate) coords: Vec<C>,
    pub(crate) values: Vec<T>,
}

impl<T, C> Default for Found<T, C> {
    fn default() -> Self {
        Self {
            coords: Vec::new(),
            values: Vec::new(),
        }
    }
}

impl<T: Value, C: CoordWord> Found<T, C> {
    /// Appends the entries of every piece, which are `share` of those to come.
    pub(crate) fn append(
        &mut self,
        pieces: &[Piece<T, C>],
        order: usize,
        share: f64,
    ) -> Result<()> {
        let coords: Vec<&[C]> = pieces.iter().map(|p| &p.coords[..p.n * order]).collect();
        let values: Vec<&[T]> = pieces.iter().map(|p| &p.values[..p.n]).collect();
        append_all(&mut self.coords, &coords, share)?;
        append_all(&mut self.values, &values, share)
    }
}

/// Appends pieces. A list that has to move takes room for all that is to come,
/// if the next lines are like these; what is too much of that is never touched.
fn append_all<T: Copy + Send + Sync>(list: &mut Vec<T>, pieces: &[&[T]], share: f64) -> Result<()> {
    let more: usize = pieces.iter().map(|piece| piece.len()).sum();
    if list.capacity() - list.len() < more {
        let all = (more as f64 / share * 1.03) as usize;
        if list.try_reserve_exact(all.max(more)).is_ok() {
            prefer_huge_pages(list.spare_capacity_mut());
        }
    }
    append(list, pieces)?;
    Ok(())
}

/// Entries of a range of lines, in memory that the next range uses again.
pub(crate) struct Piece<T, C> {
    /// Room for the coordinates of as many entries as there is for values.
    pub(crate) coords: Vec<C>,
    /// Room for values.
    pub(crate) values: Vec<T>,
    /// How many entries there are.
    pub(crate) n: usize,
}

impl<T, C> Default for Piece<T, C> {
    fn default() -> Self {
        Self {
            coords: Vec::new(),
            values: Vec::new(),
            n: 0,
        }
    }
}

impl<T: Value, C: CoordWord> Piece<T, C> {
    /// Makes room for more entries of this order.
    pub(crate) fn grow(&mut self, order: usize) {
        let room = (2 * self.values.len()).max(FIRST_ROOM);
        self.coords.resize(room * order, C::default());
        self.values.resize(room, T::ZERO);
    }
}
