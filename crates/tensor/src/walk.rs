//! Walking over the stored positions of a tensor, in storage order.
//!
//! The positions of the last level are `0..n`, and those above each of them
//! follow: the parent of a dense position is a quotient, that of a compressed one
//! is the segment that it lies in. A [`Cursor`] finds the parents of its first
//! position by searching, and from then on goes to the next position by stepping
//! the levels that have come to the end of a segment:
//!
//! ```text
//!   level 0   0         1         2      parents move on when a segment ends,
//!            /|\        .        / \     past empty segments
//!   level 1 0 1 2               3   4    the cursor's own positions
//! ```
//!
//! So a walk can begin anywhere, and threads walk ranges of their own. Tensors
//! whose positions are not their entries are walked from the top instead; see
//! `irregular.rs`.

use std::ops::Range;

use sparsec_format::{Format, LevelKind};

use crate::irregular::parts;
use crate::tensor::{LevelView, Tensor};

/// The levels of one part of a tensor with their arrays at hand.
pub(crate) struct Walk<'a> {
    levels: Vec<WalkLevel<'a>>,
}

pub(crate) struct WalkLevel<'a> {
    pub(crate) kind: LevelKind,
    /// The mode that the level stores; of a level that stores another
    /// coordinate, which no [`Cursor`] meets, the number of the level.
    pub(crate) mode: usize,
    pub(crate) extent: u64,
    pub(crate) arrays: LevelView<'a>,
}

impl WalkLevel<'_> {
    /// The positions below `parent`, those that nothing is stored at included.
    pub(crate) fn positions(&self, parent: usize) -> Range<usize> {
        let segment = |arrays: LevelView<'_>| arrays.pos.at(parent)..arrays.pos.at(parent + 1);
        match self.kind {
            LevelKind::Dense | LevelKind::Batch | LevelKind::Bitmap => {
                let extent = self.extent as usize;
                parent * extent..(parent + 1) * extent
            }
            LevelKind::Structured { n, .. } => parent * n as usize..(parent + 1) * n as usize,
            LevelKind::LooseCompressed => self.arrays.pos.at(parent)..self.arrays.end.at(parent),
            LevelKind::Compressed | LevelKind::Hashed | LevelKind::Range | LevelKind::RunLength => {
                segment(self.arrays)
            }
            LevelKind::Singleton => parent..parent + 1,
        }
    }

    /// The position above `position`, in a level that has no runs; some position where
    /// nothing is stored in a segment with room behind it.
    pub(crate) fn parent(&self, position: usize) -> usize {
        match self.kind {
            LevelKind::Compressed
            | LevelKind::LooseCompressed
            | LevelKind::Hashed
            | LevelKind::Range
            | LevelKind::RunLength => self.arrays.pos.segment_of(position),
            LevelKind::Singleton => position,
            LevelKind::Structured { n, .. } => position / n as usize,
            LevelKind::Dense | LevelKind::Batch | LevelKind::Bitmap => {
                position / self.extent as usize
            }
        }
    }

    /// The coordinate at `position`, which is below `parent`, in a level that has no
    /// runs; the extent where nothing is stored.
    pub(crate) fn coord(&self, parent: usize, position: usize) -> u64 {
        match self.kind {
            LevelKind::Compressed
            | LevelKind::LooseCompressed
            | LevelKind::Singleton
            | LevelKind::Structured { .. }
            | LevelKind::Hashed => self.arrays.crd.at(position) as u64,
            LevelKind::Range => {
                let within = position - self.arrays.pos.at(parent);
                (self.arrays.first.at(parent) + within) as u64
            }
            LevelKind::RunLength => self.arrays.bounds.at(position + parent) as u64,
            LevelKind::Dense | LevelKind::Batch | LevelKind::Bitmap => {
                (position - parent * self.extent as usize) as u64
            }
        }
    }

    /// The coordinates stored at `position`, which is below `parent`: several in a level
    /// of runs, none if the position holds no entry.
    pub(crate) fn run(&self, parent: usize, position: usize) -> Range<u64> {
        let coord = self.coord(parent, position);
        let end = match self.kind {
            LevelKind::RunLength => self.arrays.bounds.at(position + parent + 1) as u64,
            LevelKind::Bitmap if self.arrays.bits.at(position) != 1 => coord,
            // The extent itself marks a place where nothing is.
            _ if self.kind != LevelKind::Range && coord >= self.extent => coord,
            _ => coord + 1,
        };
        coord..end
    }

    /// Calls `visit` with each run of coordinates that is stored below `parent`, and
    /// its position, in the order of positions. Only a level of runs has runs of more
    /// than one coordinate.
    #[inline]
    pub(crate) fn for_each_run(&self, parent: usize, mut visit: impl FnMut(Range<u64>, usize)) {
        let positions = self.positions(parent);
        let mut one = |i: u64, q| visit(i..i + 1, q);
        match self.kind {
            LevelKind::Dense | LevelKind::Batch => {
                (0..self.extent).zip(positions).for_each(|(i, q)| one(i, q));
            }
            LevelKind::Bitmap => {
                let stored = (0..self.extent).zip(positions);
                let stored = stored.filter(|&(_, q)| self.arrays.bits.at(q) == 1);
                stored.for_each(|(i, q)| one(i, q));
            }
            LevelKind::Range => {
                if !positions.is_empty() {
                    let first = self.arrays.first.at(parent) as u64;
                    (first..).zip(positions).for_each(|(i, q)| one(i, q));
                }
            }
            LevelKind::RunLength => {
                let bound = |at| self.arrays.bounds.at(at) as u64;
                positions
                    .into_iter()
                    .for_each(|q| visit(bound(q + parent)..bound(q + parent + 1), q));
            }
            // The extent itself marks a place where nothing is.
            _ => {
                let stored = positions.map(|q| (self.arrays.crd.at(q) as u64, q));
                let stored = stored.filter(|&(i, _)| i < self.extent);
                stored.for_each(|(i, q)| one(i, q));
            }
        }
    }

    /// As [`for_each_run`](Self::for_each_run), with each coordinate of a run.
    #[inline]
    pub(crate) fn for_each_child(&self, parent: usize, mut visit: impl FnMut(u64, usize)) {
        self.for_each_run(parent, |run, position| {
            run.for_each(|coord| visit(coord, position));
        });
    }
}

impl Tensor {
    /// Visits the children of positions: the stored positions of level `l` below each of `parents`,
    /// which are positions of the level above. The first level has one parent, 0.
    ///
    /// `visit` takes the number of the parent in `parents`, the coordinate of the child, and its
    /// position. Children come in storage order.
    ///
    /// Takes time in proportion to the number of children and of levels.
    ///
    /// # Panics
    /// If a parent is no position, or the format is a union, whose parts have levels of their own.
    ///
    /// ```
    /// use sparsec_format::Format;
    /// use sparsec_tensor::Tensor;
    /// let a = Tensor::pack(&Format::csr(), &[2, 4], &[0, 3, 1, 0, 1, 2], &[1.0, 2.0, 3.0])?;
    /// let mut found = Vec::new();
    /// a.for_each_child(1, &[1, 0], |n, j, position| found.push((n, j, position)));
    /// assert_eq!(found, [(0, 0, 1), (0, 2, 2), (1, 3, 0)]);
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn for_each_child(
        &self,
        l: usize,
        parents: &[usize],
        mut visit: impl FnMut(usize, u64, usize),
    ) {
        let parts = parts(self.format(), self.extents());
        let parts = parts.expect("a tensor's coordinates can be counted");
        let [part] = &parts[..] else {
            panic!("a union has several parts");
        };
        let extents = part.extents(|level| self.level(level));
        let walk = Walk::of_part(self, &part.format, 0, &extents);
        for (n, parent) in parents.iter().enumerate() {
            walk.levels()[l].for_each_child(*parent, |coord, position| visit(n, coord, position));
        }
    }
}

impl<'a> Walk<'a> {
    /// The levels of the first part.
    pub(crate) fn new(tensor: &'a Tensor) -> Self {
        let extents = tensor.extents();
        let levels = tensor.format().levels().iter().enumerate();
        let levels = levels.map(|(number, level)| {
            let mode = level.mode();
            WalkLevel {
                kind: level.kind,
                mode,
                extent: extents[mode],
                arrays: tensor.level(number),
            }
        });
        Self {
            levels: levels.collect(),
        }
    }

    /// Levels of these extents, the first of which is level `from` of the tensor.
    pub(crate) fn of_part(tensor: &'a Tensor, part: &Format, from: usize, extents: &[u64]) -> Self {
        let levels = part.levels().iter().zip(extents).enumerate();
        let levels = levels.map(|(number, (level, &extent))| WalkLevel {
            kind: level.kind,
            mode: number,
            extent,
            arrays: tensor.level(from + number),
        });
        Self {
            levels: levels.collect(),
        }
    }

    pub(crate) fn levels(&self) -> &[WalkLevel<'a>] {
        &self.levels
    }
}

/// A place in a walk over some of the positions of the last level.
pub(crate) struct Cursor<'a> {
    walk: Walk<'a>,
    /// The position in each level, and where its segment ends.
    places: Vec<Place>,
    coords: Vec<u64>,
    /// The positions still to come.
    rest: Range<usize>,
    /// Whether `places` stand at the position before `rest`.
    started: bool,
}

#[derive(Clone, Copy, Default)]
struct Place {
    position: usize,
    end: usize,
}

impl<'a> Cursor<'a> {
    /// A walk over these positions of the last level.
    pub(crate) fn new(tensor: &'a Tensor, positions: Range<usize>) -> Self {
        let walk = Walk::new(tensor);
        Self {
            places: vec![Place::default(); walk.levels.len()],
            coords: vec![0; tensor.order()],
            walk,
            rest: positions,
            started: false,
        }
    }

    /// How many positions are still to come.
    pub(crate) fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// The coordinates, in mode order, and the number of the next position.
    pub(crate) fn next(&mut self) -> Option<(&[u64], usize)> {
        let position = self.rest.next()?;
        if !self.started {
            self.started = true;
            self.seek(position);
        } else if let Some(last) = self.places.len().checked_sub(1) {
            self.step(last);
        }
        Some((&self.coords, position))
    }

    /// The coordinates, in mode order, at any position of the last level, from where the walk
    /// goes on. Time: a search in each level that lists segments.
    pub(crate) fn at(&mut self, position: usize) -> &[u64] {
        self.rest.start = position + 1;
        self.started = true;
        self.seek(position);
        &self.coords
    }

    /// Stands at this position of the last level.
    fn seek(&mut self, position: usize) {
        let mut position = position;
        for (level, place) in self.walk.levels.iter().zip(&mut self.places).rev() {
            let parent = level.parent(position);
            *place = Place {
                position,
                end: level.positions(parent).end,
            };
            self.coords[level.mode] = level.coord(parent, position);
            position = parent;
        }
    }

    /// Goes to the next position of a level, which there is.
    fn step(&mut self, number: usize) {
        self.places[number].position += 1;
        let position = self.places[number].position;
        while position >= self.places[number].end {
            self.step(number - 1);
            let parent = self.places[number - 1].position;
            self.places[number].end = self.walk.levels[number].positions(parent).end;
        }
        let level = &self.walk.levels[number];
        let parent = match number {
            0 => 0,
            _ => self.places[number - 1].position,
        };
        self.coords[level.mode] = level.coord(parent, position);
    }
}
