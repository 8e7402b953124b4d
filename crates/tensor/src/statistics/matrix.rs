//! How the entries of a matrix lie: bandwidth, profile, diagonals, blocks, and
//! what the matrix has in common with its transpose.
//!
//! One list of the entries, row by row, is enough. Going through it, a mark for
//! each column, diagonal or column of blocks says what was met before:
//!
//! ```text
//!    . 2 .    column 1 is met first in row 0: one above the diagonal
//!    5 . 7    diagonal 1 is met again in (1,2)
//!    . 8 .    (1,0) and (2,1) have their images (0,1) and (1,2) above
//! ```
//!
//! The image of an entry below the diagonal lies in an earlier row. Rows come in
//! order, so the images that are looked for in a row come in order too: each row
//! remembers how far it was looked through. Rows are cut into bands, and entries
//! are first listed by the band of their image, so that what is looked through at
//! a time is in the cache.

use std::ops::Range;

use sparsec_base::Result;
use sparsec_format::{BlockFill, MatrixStatistics, Symmetry};
use sparsec_parallel::{map, ranges};

use super::places::Places;
use crate::alloc::filled;
use crate::array::Element;
use crate::coords::{CoordWord, with_words};
use crate::entries::Entries;
use crate::tuples::GRAIN;
use crate::with_element;

/// Bits of a row's number that say its band.
const BAND_BITS: u32 = 8;
/// Bands of rows.
const N_BANDS: usize = 1 << BAND_BITS;

/// Counts a matrix, given as its entries row by row.
pub(super) fn count(entries: &Entries) -> Result<MatrixStatistics> {
    with_words!(&entries.coords, words => {
        let matrix = Matrix {
            rows: entries.extents[0],
            columns: entries.extents[1],
            places: words.as_chunks().0,
        };
        matrix.count(entries)
    })
}

/// Where the entries of a matrix are.
struct Matrix<'a, C> {
    rows: u64,
    columns: u64,
    /// Row and column of each entry, ascending.
    places: &'a [[C; 2]],
}

/// One walk over the entries that counts something.
type Walk<'a> = Box<dyn Fn() -> Result<u64> + Send + 'a>;

impl<C: CoordWord> Matrix<'_, C> {
    fn count(&self, entries: &Entries) -> Result<MatrixStatistics> {
        let square = self.rows == self.columns;
        let mut all = self.bands(square);
        let blocks: [(u64, Walk<'_>); 5] = [
            (2, Box::new(|| self.blocks::<2>())),
            (3, Box::new(|| self.blocks::<3>())),
            (4, Box::new(|| self.blocks::<4>())),
            (6, Box::new(|| self.blocks::<6>())),
            (8, Box::new(|| self.blocks::<8>())),
        ];
        let (sizes, mut walks): (Vec<u64>, Vec<Walk<'_>>) = blocks.into_iter().unzip();
        walks.push(Box::new(|| self.upper_profile()));
        walks.push(Box::new(|| self.diagonals()));
        let mut counts = map(walks, |walk| walk()).into_iter();
        for (size, n_blocks) in sizes.into_iter().zip(&mut counts) {
            all.blocks.push(BlockFill::new(size, size, n_blocks?));
        }
        all.upper_profile = counts.next().transpose()?.unwrap_or_default();
        all.n_diagonals = counts.next().transpose()?.unwrap_or_default();
        if square {
            all.symmetry = self.symmetry(entries, all.n_on_diagonal)?;
        }
        Ok(all)
    }

    #[inline]
    fn place(&self, e: usize) -> (u64, u64) {
        let [i, j] = self.places[e];
        (i.into(), j.into())
    }

    fn each(&self) -> impl Iterator<Item = (u64, u64)> {
        self.places.iter().map(|&[i, j]| (i.into(), j.into()))
    }

    /// What rows tell: the bandwidths, the lower profile, the diagonal.
    fn bands(&self, square: bool) -> MatrixStatistics {
        let mut all = MatrixStatistics::empty(square);
        for part in map(ranges(self.places.len(), GRAIN), |range| self.band(range)) {
            all.lower_bandwidth = all.lower_bandwidth.max(part.lower_bandwidth);
            all.upper_bandwidth = all.upper_bandwidth.max(part.upper_bandwidth);
            all.lower_profile = all.lower_profile.saturating_add(part.lower_profile);
            all.n_on_diagonal += part.n_on_diagonal;
        }
        all
    }

    fn band(&self, range: Range<usize>) -> MatrixStatistics {
        let mut part = MatrixStatistics::empty(false);
        for e in range {
            let (i, j) = self.place(e);
            part.lower_bandwidth = part.lower_bandwidth.max(i.saturating_sub(j));
            part.upper_bandwidth = part.upper_bandwidth.max(j.saturating_sub(i));
            part.n_on_diagonal += u64::from(i == j);
            if e == 0 || self.place(e - 1).0 != i {
                part.lower_profile = part.lower_profile.saturating_add(i.saturating_sub(j));
            }
        }
        part
    }

    /// How far the first entries of columns are above the diagonal, in all.
    fn upper_profile(&self) -> Result<u64> {
        let mut seen = Places::<bool>::new(self.columns, self.places.len())?;
        let above = self.each().filter(|(i, j)| i < j);
        let first = above.filter(|&(_, j)| !std::mem::replace(seen.at(j), true));
        Ok(first.fold(0, |sum: u64, (i, j)| sum.saturating_add(j - i)))
    }

    /// How many values `j - i` has.
    fn diagonals(&self) -> Result<u64> {
        // i64 holds every extent, so the sum fits.
        let possible = self.rows + self.columns;
        let mut seen = Places::<bool>::new(possible, self.places.len())?;
        let numbers = self.each().map(|(i, j)| self.rows - 1 - i + j);
        let first = numbers.filter(|&number| !std::mem::replace(seen.at(number), true));
        Ok(first.count() as u64)
    }

    /// How many blocks of this size have an entry.
    fn blocks<const SIZE: u64>(&self) -> Result<u64> {
        // The number, from 1, of the last row of blocks with an entry here.
        let mut last = Places::<usize>::new(self.columns.div_ceil(SIZE), self.places.len())?;
        let (mut number, mut row, mut n_blocks) = (0, None, 0);
        for (i, j) in self.each() {
            if row != Some(i / SIZE) {
                row = Some(i / SIZE);
                number += 1;
            }
            let before = std::mem::replace(last.at(j / SIZE), number);
            n_blocks += u64::from(before != number);
        }
        Ok(n_blocks)
    }

    fn symmetry(&self, entries: &Entries, n_on_diagonal: u64) -> Result<Symmetry> {
        let n = self.places.len();
        let shift = (u64::BITS - self.rows.leading_zeros()).saturating_sub(BAND_BITS);
        let lists = map(ranges(n, GRAIN), |range| self.by_band(range, shift));
        let lists = lists.into_iter().collect::<Result<Vec<_>>>()?;
        let parts = with_element!(entries.element(), T => {
            let values = entries.values.slice::<T>();
            map((0..N_BANDS).collect(), |band| {
                let first = (band as u64) << shift;
                let start = |row| self.places.partition_point(|&[i, _]| i.into() < row);
                let part = start(first)..start(first.saturating_add(1 << shift));
                let wanted = lists.iter().flat_map(|list| list.of(band));
                self.images(part, wanted.copied(), values)
            })
        });
        let mut all = Symmetry::all(true);
        for part in parts {
            let part = part?;
            all.n_mirrored += part.n_mirrored;
            all.symmetric &= part.symmetric;
            all.skew &= part.skew;
            all.hermitian &= part.hermitian;
        }
        all.pattern = all.n_mirrored + n_on_diagonal == n as u64;
        // Values were compared where there are images.
        all.symmetric &= all.pattern;
        all.skew &= all.pattern;
        all.hermitian &= all.pattern;
        Ok(all)
    }

    /// The entries of a range that are not above the diagonal, by the band of
    /// rows that their images are in.
    fn by_band(&self, range: Range<usize>, shift: u32) -> Result<ByBand<C>> {
        let lower = || {
            let places = range.clone().zip(&self.places[range.clone()]);
            places.filter(|(_, [i, j])| j <= i)
        };
        let band = |j: C| (j.into() >> shift) as usize;
        let mut ends = [0; N_BANDS + 1];
        lower().for_each(|(_, &[_, j])| ends[band(j) + 1] += 1);
        for band in 0..N_BANDS {
            ends[band + 1] += ends[band];
        }
        let mut entries = filled(ends[N_BANDS], || ([C::default(); 2], 0))?;
        // The end of a band so far is where the next one begins at last.
        ends.copy_within(..N_BANDS, 1);
        ends[0] = 0;
        for (e, &place) in lower() {
            let end = &mut ends[band(place[1]) + 1];
            entries[*end] = (place, e);
            *end += 1;
        }
        Ok(ByBand { ends, entries })
    }

    /// Compares entries with their images, which lie in a part of whole rows.
    fn images<T: Element>(
        &self,
        part: Range<usize>,
        wanted: impl Iterator<Item = ([C; 2], usize)>,
        values: &[T],
    ) -> Result<Symmetry> {
        let mut found = Symmetry::all(true);
        if part.is_empty() {
            return Ok(found);
        }
        let mut compare = |a: T, image: T| {
            found.symmetric &= a == image;
            found.skew &= a.plus(image) == T::ZERO;
            found.hermitian &= a == image.conj();
        };
        let (first, last) = (self.place(part.start).0, self.place(part.end - 1).0);
        // Where to look on in each row, from 1: 0 in a row without entries.
        let mut looked = Places::<usize>::new(last - first + 1, part.len())?;
        for e in part.clone() {
            if e == part.start || self.places[e - 1][0] != self.places[e][0] {
                *looked.at(self.place(e).0 - first) = e + 1;
            }
        }
        let mut n_mirrored = 0;
        for ([i, j], e) in wanted {
            let row: u64 = j.into();
            if i == j {
                compare(values[e], values[e]);
                continue;
            }
            if !(first..=last).contains(&row) {
                continue;
            }
            let Some(from) = looked.find(row - first).filter(|from| **from > 0) else {
                continue;
            };
            let passed = self.places[*from - 1..part.end].iter();
            *from += passed.take_while(|place| **place < [j, i]).count();
            let image = *from - 1;
            if image < part.end && self.places[image] == [j, i] {
                n_mirrored += 2;
                compare(values[e], values[image]);
            }
        }
        found.n_mirrored = n_mirrored;
        Ok(found)
    }
}

/// Entries by the band of rows that their images are in: ascending in each.
struct ByBand<C> {
    /// Where each band ends, the one before the first included.
    ends: [usize; N_BANDS + 1],
    /// Row and column of an entry, and which one it is.
    entries: Vec<([C; 2], usize)>,
}

impl<C> ByBand<C> {
    fn of(&self, band: usize) -> &[([C; 2], usize)] {
        &self.entries[self.ends[band]..self.ends[band + 1]]
    }
}
