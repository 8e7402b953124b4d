//! Unpacking: arrays back to entries, and one format to another.
//!
//! A walk visits every stored position, in storage order. Where a level is
//! dense that includes positions whose value is the fill and that nobody put
//! there: **padding**. [`Tensor::entries`] has it, [`Tensor::nonfill`] does not.

use std::ops::Range;

use sparsec_base::{Result, Scalar};
use sparsec_format::{Format, LevelKind};
use sparsec_parallel::{MemoryLimit, map, ranges, split_mut};

use crate::alloc::{filled, with_room};
use crate::array::{Array, Element};
use crate::coords::{self, CoordWord, Tuple};
use crate::duplicates::Duplicates;
use crate::entries::Entries;
use crate::pack::PackOptions;
use crate::sort::sort;
use crate::tensor::Tensor;
use crate::tuples::GRAIN;
use crate::walk::{Cursor, Walk};
use crate::with_element;

impl Tensor {
    /// Every stored entry, in storage order: padding of dense levels inside the
    /// extents included, mirror images too.
    ///
    /// # Panics
    /// If memory is out; [`Tensor::try_entries`] does not.
    ///
    /// ```
    /// # use sparsec_format::Format;
    /// # use sparsec_tensor::Tensor;
    /// let a = Tensor::pack(&Format::csc(), &[2, 2], &[0, 1, 1, 0], &[5.0, 7.0])?;
    /// assert_eq!(a.entries().coords, [1, 0, 0, 1]);
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn entries(&self) -> Entries {
        unwrapped(self.try_entries())
    }

    /// As [`Tensor::entries`].
    ///
    /// # Errors
    /// `E0407` when memory is out.
    pub fn try_entries(&self) -> Result<Entries> {
        if !self.format().is_regular() {
            return self.irregular_entries(true);
        }
        let is_narrow = self.extents().iter().all(|&extent| extent <= 1 << 32);
        let coords = match is_narrow {
            true => self.coords_as::<u32>()?,
            false => self.coords_as::<u64>()?,
        };
        Ok(Entries {
            extents: self.extents().to_vec(),
            coords,
            values: self.vals().try_clone()?,
        })
    }

    /// The coordinates of every stored entry, for regular formats.
    fn coords_as<C: CoordWord>(&self) -> Result<coords::Coords> {
        let (n, order) = (self.n_stored(), self.order());
        let mut coords = filled(n.saturating_mul(order), C::default)?;
        let cuts = ranges(n, GRAIN);
        let pieces = split_mut(&mut coords, cuts.iter().map(|cut| cut.len() * order));
        map(cuts.into_iter().zip(pieces).collect(), |(cut, piece)| {
            let mut cursor = Cursor::new(self, cut);
            for row in piece.chunks_exact_mut(order.max(1)) {
                if let Some((tuple, _)) = cursor.next() {
                    let to = row.iter_mut().zip(tuple);
                    to.for_each(|(to, &coord)| *to = C::of(coord));
                }
            }
        });
        Ok(C::list(coords))
    }

    /// The stored entries whose value is not the fill, in storage order. Values
    /// are told apart by their bits: `-0.0` is not a fill of `0.0`.
    ///
    /// # Panics
    /// If memory is out; [`Tensor::try_nonfill`] does not.
    pub fn nonfill(&self) -> Entries {
        unwrapped(self.try_nonfill())
    }

    /// As [`Tensor::nonfill`].
    ///
    /// # Errors
    /// `E0407` when memory is out.
    pub fn try_nonfill(&self) -> Result<Entries> {
        let fill = self.fill();
        if !self.format().is_regular() {
            return self.irregular_entries(false);
        }
        with_element!(self.element(), T => {
            let values = self.vals().slice::<T>();
            self.chosen(&|_, position| values[position].scalar() != fill)
        })
    }

    /// A 1 for each value that is not the fill, and a 0 for each that is, as bytes in the
    /// order of the values. As for [`Tensor::nonfill`], values are told apart by their bits.
    ///
    /// # Errors
    /// `E0407` when memory is out.
    ///
    /// ```
    /// # use sparsec_format::Format;
    /// # use sparsec_tensor::Tensor;
    /// let dense = Tensor::pack(&Format::dense(1), &[3], &[1], &[5.0])?;
    /// assert_eq!(dense.nonfill_mask()?.as_slice::<u8>(), Some(&[0, 1, 0][..]));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn nonfill_mask(&self) -> Result<Array> {
        let fill = self.fill();
        let mut mask = filled(self.vals().len(), u8::default)?;
        let cuts = ranges(mask.len(), GRAIN);
        let pieces = split_mut(&mut mask, cuts.iter().map(ExactSizeIterator::len));
        with_element!(self.element(), T => {
            let values = self.vals().slice::<T>();
            map(cuts.into_iter().zip(pieces).collect(), |(cut, piece)| {
                for (stored, value) in piece.iter_mut().zip(&values[cut]) {
                    *stored = u8::from(value.scalar() != fill);
                }
            });
        });
        Ok(Array::from_vec(mask))
    }

    /// The stored entries without padding, in storage order.
    pub(crate) fn unpadded(&self) -> Result<Entries> {
        if self.has_padding() {
            self.try_nonfill()
        } else {
            self.try_entries()
        }
    }

    /// The stored entries for which `keep`, given coordinates and position, says
    /// so, in storage order. It may change the coordinates. For regular formats.
    pub(crate) fn chosen(
        &self,
        keep: &(dyn Fn(&mut [u64], usize) -> bool + Sync),
    ) -> Result<Entries> {
        let parts = map(ranges(self.n_stored(), GRAIN), |cut| {
            let mut cursor = Cursor::new(self, cut);
            let (mut coords, mut positions) = (Vec::new(), Vec::new());
            let mut row = vec![0; self.order()];
            while let Some((tuple, position)) = cursor.next() {
                row.copy_from_slice(tuple);
                if keep(&mut row, position) {
                    coords.extend_from_slice(&row);
                    positions.push(position);
                }
            }
            (coords, positions)
        });
        let n = parts
            .iter()
            .map(|(_, positions)| positions.len())
            .sum::<usize>();
        let mut coords = with_room(n.saturating_mul(self.order()))?;
        let mut positions = with_room(n)?;
        for (part_coords, part_positions) in parts {
            coords.extend(part_coords);
            positions.extend(part_positions);
        }
        let values = with_element!(self.element(), T => {
            let from = self.vals().slice::<T>();
            let mut values: Vec<T> = with_room(n)?;
            values.extend(positions.iter().map(|&position| from[position]));
            Array::from_vec(values)
        });
        Ok(Entries {
            extents: self.extents().to_vec(),
            coords: coords.into(),
            values,
        })
    }

    /// Calls `visit` with the coordinates, in mode order, and the value of every
    /// stored entry, in storage order.
    ///
    /// # Panics
    /// If memory is out, which formats need whose positions are not their entries.
    pub fn for_each_stored(&self, mut visit: impl FnMut(&[u64], Scalar)) {
        if !self.format().is_regular() {
            let entries = unwrapped(self.irregular_entries(true));
            let (coords, order) = (entries.coords.wide(), self.order());
            for e in 0..entries.len() {
                visit(&coords[e * order..][..order], entries.values.get(e));
            }
            return;
        }
        let mut cursor = Cursor::new(self, 0..self.n_stored());
        while let Some((tuple, position)) = cursor.next() {
            visit(tuple, self.vals().get(position));
        }
    }

    /// Calls `visit` with the coordinates, in mode order, and the position of the
    /// values at some positions: threads may share the work.
    ///
    /// # Panics
    /// If there are no such positions, and for formats whose positions are not
    /// their entries; see [`Tensor::regular`].
    pub fn for_each_stored_in(
        &self,
        positions: Range<usize>,
        mut visit: impl FnMut(&[u64], usize),
    ) {
        assert!(
            self.format().is_regular(),
            "`{}` has other positions",
            self.format()
        );
        let mut cursor = Cursor::new(self, positions);
        while let Some((tuple, position)) = cursor.next() {
            visit(tuple, position);
        }
    }

    /// The stored entries, padding of dense levels included, in storage order,
    /// as coordinates in mode order and value.
    ///
    /// Makes a list of coordinates for each entry; [`Tensor::for_each_stored`]
    /// and [`Tensor::iter_as`] do not.
    ///
    /// ```
    /// # use sparsec_base::Scalar;
    /// # use sparsec_format::Format;
    /// # use sparsec_tensor::Tensor;
    /// let a = Tensor::pack(&Format::csr(), &[2, 3], &[1, 2, 0, 1], &[7.0, 5.0])?;
    /// let entries: Vec<_> = a.iter().collect();
    /// assert_eq!(entries[1], (vec![1, 2], Scalar::F64(7.0)));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Vec<u64>, Scalar)> {
        Stored::of(self).map(|tuple: Vec<u64>, values, at| (tuple, values.get(at)))
    }

    /// As [`Tensor::iter`], for a known order and type; `None` where the tensor
    /// has another.
    ///
    /// ```
    /// # use sparsec_format::Format;
    /// # use sparsec_tensor::Tensor;
    /// let a = Tensor::pack(&Format::csr(), &[2, 3], &[1, 2, 0, 1], &[7.0, 5.0])?;
    /// let entries = a.iter_as::<2, f64>().expect("a matrix of f64");
    /// assert_eq!(entries.collect::<Vec<_>>(), [([0, 1], 5.0), ([1, 2], 7.0)]);
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn iter_as<const N: usize, T: Element>(
        &self,
    ) -> Option<impl ExactSizeIterator<Item = ([u64; N], T)>> {
        let fits = self.order() == N && self.values::<T>().is_some();
        let stored = fits.then(|| Stored::of(self))?;
        Some(stored.map(|tuple: [u64; N], values, at| (tuple, values.slice::<T>()[at])))
    }

    /// Whether stored positions may hold fill that nobody put there: where the
    /// last level of a part is dense or a range, and in a tensor of order 0.
    pub fn has_padding(&self) -> bool {
        self.format().may_pad()
    }

    /// The same tensor in another format of its order. Padding is left behind;
    /// every other stored entry stays stored, with the bits that it has.
    ///
    /// # Errors
    /// `E0402` for a format of another order, `E0406` for an index width that
    /// is too narrow, `E0407` where memory is out.
    ///
    /// ```
    /// # use sparsec_format::Format;
    /// # use sparsec_tensor::Tensor;
    /// let dense = Tensor::pack(&Format::dense(2), &[2, 3], &[1, 2], &[5.0])?;
    /// let csc = dense.convert(&Format::csc())?;
    /// assert_eq!((dense.n_stored(), csc.n_stored()), (6, 1));
    /// assert_eq!(csc.level(1).pos(), [0, 0, 0, 1]);
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn convert(&self, format: &Format) -> Result<Self> {
        self.convert_within(format, MemoryLimit::default())
    }

    /// As [`convert`](Self::convert), where arrays take no more bytes than a limit says.
    ///
    /// # Errors
    /// As there; `E0407` also where an array takes more.
    ///
    /// ```
    /// # use sparsec_format::Format;
    /// # use sparsec_parallel::MemoryLimit;
    /// # use sparsec_tensor::Tensor;
    /// let scattered = Tensor::pack(&Format::csr(), &[40_000, 40_000], &[7, 9], &[5.0])?;
    /// let refused = scattered.convert(&Format::dense(2)).unwrap_err();
    /// assert!(refused.message().contains("12.8 GB"), "{refused}");
    /// assert!(scattered.convert_within(&Format::csc(), MemoryLimit::Bytes(1 << 20)).is_ok());
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn convert_within(&self, format: &Format, memory: MemoryLimit) -> Result<Self> {
        let options = PackOptions {
            fill: Some(self.fill()),
            memory,
            ..PackOptions::default()
        };
        Self::pack_entries(format, self.unpadded()?, options)
    }

    /// A tensor of these entries with the fill of this one.
    pub(crate) fn repack(&self, format: &Format, entries: Entries) -> Result<Self> {
        let options = PackOptions {
            fill: Some(self.fill()),
            ..PackOptions::default()
        };
        Self::pack_entries(format, entries, options)
    }

    /// The stored entries without padding, each tuple once, sorted by these
    /// modes, first one first.
    ///
    /// # Errors
    /// `E0407` where memory is out.
    pub(crate) fn sorted_entries(&self, modes: &[usize]) -> Result<Entries> {
        let sorted = sort(self.unpadded()?, modes, Duplicates::Add)?;
        sorted.into_entries(self.extents(), modes)
    }

    /// The value at these coordinates, or the fill where none is stored, as outside
    /// of the extents. Takes
    /// time linear in the positions of compressed segments, and in all entries of
    /// formats whose positions are not their entries; for looking at single ones.
    ///
    /// # Panics
    /// If there is not one coordinate a mode.
    pub fn get(&self, coords: &[u64]) -> Scalar {
        assert_eq!(coords.len(), self.order(), "one coordinate a mode");
        if !self.format().is_regular() {
            let entries = unwrapped(self.irregular_entries(true));
            let found = entries.iter().filter(|(at, _)| *at == *coords);
            let sum = found.map(|(_, value)| value).reduce(plus);
            return sum.unwrap_or_else(|| self.fill());
        }
        let walk = Walk::new(self);
        let mut found: Option<Scalar> = None;
        find(&walk, 0, 0, coords, &mut |position| {
            let value = self.vals().get(position);
            // Where the format lets tuples repeat, they add up.
            found = Some(match found {
                None => value,
                Some(sum) => plus(sum, value),
            });
        });
        found.unwrap_or_else(|| self.fill())
    }

    /// As [`Tensor::get`], for a known type; `None` where the tensor has another.
    ///
    /// ```
    /// # use sparsec_format::Format;
    /// # use sparsec_tensor::Tensor;
    /// let a = Tensor::pack(&Format::csr(), &[2, 3], &[1, 2, 0, 1], &[7.0, 5.0])?;
    /// assert_eq!((a.get_as(&[1, 2]), a.get_as(&[0, 0])), (Some(7.0), Some(0.0)));
    /// assert_eq!(a.get_as::<i64>(&[1, 2]), None);
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    ///
    /// # Panics
    /// As there.
    pub fn get_as<T: Element>(&self, coords: &[u64]) -> Option<T> {
        T::from_scalar(self.get(coords))
    }
}

/// The stored entries of a tensor.
enum Stored<'a> {
    /// Those of a regular format, as a walk over its positions.
    Walked(Cursor<'a>, &'a Array),
    Listed(Entries),
}

impl<'a> Stored<'a> {
    fn of(tensor: &'a Tensor) -> Self {
        match tensor.format().is_regular() {
            true => Self::Walked(Cursor::new(tensor, 0..tensor.n_stored()), tensor.vals()),
            false => Self::Listed(unwrapped(tensor.irregular_entries(true))),
        }
    }

    /// What `entry` makes of the coordinates of each, an array of values, and the
    /// place of its own there.
    fn map<C: OfTuple, R>(
        mut self,
        entry: impl Fn(C, &Array, usize) -> R,
    ) -> impl ExactSizeIterator<Item = R> {
        let n = match &self {
            Self::Walked(cursor, _) => cursor.remaining(),
            Self::Listed(entries) => entries.len(),
        };
        (0..n).map(move |e| match &mut self {
            Self::Walked(cursor, values) => match cursor.next() {
                Some((tuple, position)) => entry(C::of(Tuple::Wide(tuple)), values, position),
                None => unreachable!("a cursor has as many positions as it says"),
            },
            Self::Listed(entries) => entry(C::of(entries.coords(e)), &entries.values, e),
        })
    }
}

/// Coordinates that are handed out.
trait OfTuple {
    fn of(tuple: Tuple<'_>) -> Self;
}

impl OfTuple for Vec<u64> {
    fn of(tuple: Tuple<'_>) -> Self {
        tuple.to_vec()
    }
}

impl<const N: usize> OfTuple for [u64; N] {
    fn of(tuple: Tuple<'_>) -> Self {
        std::array::from_fn(|mode| tuple.at(mode))
    }
}

fn unwrapped(entries: Result<Entries>) -> Entries {
    match entries {
        Ok(entries) => entries,
        Err(fault) => panic!("{fault}"),
    }
}

pub(crate) fn plus(a: Scalar, b: Scalar) -> Scalar {
    with_element!(a.element(), T => match (T::from_scalar(a), T::from_scalar(b)) {
        (Some(a), Some(b)) => a.plus(b).scalar(),
        _ => a,
    })
}

fn find(
    walk: &Walk<'_>,
    number: usize,
    parent: usize,
    coords: &[u64],
    found: &mut impl FnMut(usize),
) {
    let Some(level) = walk.levels().get(number) else {
        return found(parent);
    };
    let wanted = coords[level.mode];
    if matches!(level.kind, LevelKind::Dense | LevelKind::Batch) {
        if wanted < level.extent {
            let position = parent * level.extent as usize + wanted as usize;
            find(walk, number + 1, position, coords, found);
        }
        return;
    }
    for position in level.positions(parent) {
        if level.coord(parent, position) == wanted {
            find(walk, number + 1, position, coords, found);
        }
    }
}
