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
//! So a walk can begin anywhere, and threads walk ranges of their own.

use std::ops::Range;

use sparsec_format::LevelKind;

use crate::index::Index;
use crate::tensor::Tensor;

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
    pub(crate) fn positions(&self, parent: usize) -> Range<usize> {
        match self.kind {
            LevelKind::Dense => {
                let extent = self.extent as usize;
                parent * extent..(parent + 1) * extent
            }
            LevelKind::Compressed => self.pos.at(parent)..self.pos.at(parent + 1),
            LevelKind::Singleton => parent..parent + 1,
        }
    }

    /// The position above `position`.
    fn parent(&self, position: usize) -> usize {
        match self.kind {
            LevelKind::Dense => position / self.extent as usize,
            LevelKind::Compressed => self.pos.segment_of(position),
            LevelKind::Singleton => position,
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
                mode: level.mode(),
                extent: tensor.extents()[level.mode()],
                pos: arrays.pos(),
                crd: arrays.crd(),
            }
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
