//! Unpacking: arrays back to entries, and one format to another.
//!
//! A walk goes down the levels and visits every stored position, in storage
//! order. Where a level is dense that includes positions whose value is the
//! fill and that nobody put there: **padding**. [`Tensor::entries`] has it,
//! [`Tensor::nonfill`] does not.

use sparsec_base::{Result, Scalar};
use sparsec_format::{Format, LevelKind};

use crate::array::{Array, Element, Index};
use crate::duplicates::Duplicates;
use crate::entries::Entries;
use crate::pack::PackOptions;
use crate::sort::sort;
use crate::tensor::Tensor;
use crate::with_element;

impl Tensor {
    /// Every stored entry, padding of dense levels included, in storage order.
    ///
    /// ```
    /// # use sparsec_format::Format;
    /// # use sparsec_tensor::Tensor;
    /// let a = Tensor::pack(&Format::csc(), &[2, 2], &[0, 1, 1, 0], &[5.0, 7.0])?;
    /// assert_eq!(a.entries().coords, [1, 0, 0, 1]);
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn entries(&self) -> Entries {
        let mut coords = Vec::with_capacity(self.n_stored() * self.order());
        self.for_each_stored(|tuple, _| coords.extend_from_slice(tuple));
        Entries {
            extents: self.extents().to_vec(),
            coords,
            values: self.vals().clone(),
        }
    }

    /// The stored entries whose value is not the fill, in storage order. Values
    /// are told apart by their bits: `-0.0` is not a fill of `0.0`.
    pub fn nonfill(&self) -> Entries {
        let fill = self.fill();
        let mut coords = Vec::new();
        let values = with_element!(self.element(), T => {
            let from = self.vals().slice::<T>();
            let mut values: Vec<T> = Vec::new();
            self.for_each_stored(|tuple, position| {
                let value = from[position];
                if value.scalar() != fill {
                    coords.extend_from_slice(tuple);
                    values.push(value);
                }
            });
            Array::from_vec(values)
        });
        Entries {
            extents: self.extents().to_vec(),
            coords,
            values,
        }
    }

    /// Calls `visit` with the coordinates, in mode order, and the position of
    /// every stored value, in storage order.
    pub fn for_each_stored(&self, mut visit: impl FnMut(&[u64], usize)) {
        let walk = Walk::new(self);
        let mut coords = vec![0; self.order()];
        walk.level(0, 0, &mut coords, &mut visit);
    }

    /// Whether stored positions may hold fill that nobody put there: where the
    /// last level is dense, and in a tensor of order 0.
    pub fn has_padding(&self) -> bool {
        let last = self.format().levels().last();
        last.is_none_or(|level| level.is_full())
    }

    /// The same tensor in another format of its order. Padding is left behind;
    /// every other stored entry stays stored.
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
        let entries = if self.has_padding() {
            self.nonfill()
        } else {
            self.entries()
        };
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
        let entries = if self.has_padding() {
            self.nonfill()
        } else {
            self.entries()
        };
        let extents = entries.extents.clone();
        sort(entries, modes, Duplicates::Add)?.into_entries(&extents, modes)
    }

    /// The value at these coordinates, or the fill where none is stored. Takes
    /// time linear in the positions of compressed segments; for looking at
    /// single entries.
    ///
    /// # Panics
    /// If there is not one coordinate a mode.
    pub fn get(&self, coords: &[u64]) -> Scalar {
        assert_eq!(coords.len(), self.order(), "one coordinate a mode");
        let walk = Walk::new(self);
        let mut found: Option<Scalar> = None;
        walk.find(0, 0, coords, &mut |position| {
            let value = self.vals().get(position);
            // Where the format lets tuples repeat, they add up.
            found = Some(match found {
                None => value,
                Some(sum) => plus(sum, value),
            });
        });
        found.unwrap_or_else(|| self.fill())
    }
}

pub(crate) fn plus(a: Scalar, b: Scalar) -> Scalar {
    with_element!(a.element(), T => match (T::from_scalar(a), T::from_scalar(b)) {
        (Some(a), Some(b)) => a.plus(b).scalar(),
        _ => a,
    })
}

/// The levels of a tensor with their arrays at hand.
pub(crate) struct Walk<'a> {
    levels: Vec<WalkLevel<'a>>,
}

pub(crate) struct WalkLevel<'a> {
    pub(crate) kind: LevelKind,
    pub(crate) mode: usize,
    pub(crate) extent: u64,
    pub(crate) pos: Index<'a>,
    pub(crate) crd: Index<'a>,
}

impl WalkLevel<'_> {
    /// The positions below `parent`.
    pub(crate) fn positions(&self, parent: usize) -> std::ops::Range<usize> {
        match self.kind {
            LevelKind::Dense => {
                let extent = self.extent as usize;
                parent * extent..(parent + 1) * extent
            }
            LevelKind::Compressed => self.pos.at(parent)..self.pos.at(parent + 1),
            LevelKind::Singleton => parent..parent + 1,
        }
    }

    /// The coordinate at `position`, which is below `parent`.
    pub(crate) fn coord(&self, parent: usize, position: usize) -> u64 {
        match self.kind {
            LevelKind::Dense => (position - parent * self.extent as usize) as u64,
            LevelKind::Compressed | LevelKind::Singleton => self.crd.at(position) as u64,
        }
    }
}

impl<'a> Walk<'a> {
    pub(crate) fn new(tensor: &'a Tensor) -> Self {
        let levels = tensor.format().levels().iter().enumerate();
        let levels = levels.map(|(number, level)| {
            let arrays = tensor.level(number);
            WalkLevel {
                kind: level.kind,
                mode: level.mode,
                extent: tensor.extents()[level.mode],
                pos: arrays.pos,
                crd: arrays.crd,
            }
        });
        Self {
            levels: levels.collect(),
        }
    }

    pub(crate) fn levels(&self) -> &[WalkLevel<'a>] {
        &self.levels
    }

    fn level(
        &self,
        number: usize,
        parent: usize,
        coords: &mut [u64],
        visit: &mut impl FnMut(&[u64], usize),
    ) {
        let Some(level) = self.levels.get(number) else {
            return visit(coords, parent);
        };
        let last = number + 1 == self.levels.len();
        for position in level.positions(parent) {
            coords[level.mode] = level.coord(parent, position);
            if last {
                visit(coords, position);
            } else {
                self.level(number + 1, position, coords, visit);
            }
        }
    }

    fn find(&self, number: usize, parent: usize, coords: &[u64], found: &mut impl FnMut(usize)) {
        let Some(level) = self.levels.get(number) else {
            return found(parent);
        };
        let wanted = coords[level.mode];
        if level.kind == LevelKind::Dense {
            if wanted < level.extent {
                let position = parent * level.extent as usize + wanted as usize;
                self.find(number + 1, position, coords, found);
            }
            return;
        }
        for position in level.positions(parent) {
            if level.coord(parent, position) == wanted {
                self.find(number + 1, position, coords, found);
            }
        }
    }
}
