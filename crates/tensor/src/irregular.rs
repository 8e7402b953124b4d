//! Tensors whose positions are not their entries.
//!
//! In a plain format of dense and compressed levels the positions of the last
//! level are the entries. Elsewhere they are not: the last block of `bsr` reaches
//! beyond the matrix, slots of a hash table are empty, a run of one value is many
//! entries, an entry of a triangle stands for two, and a union has several lists.
//! Such a tensor is walked from the top:
//!
//! ```text
//! positions ── kind of each level ──► coordinates of levels
//!           ── expressions, solved ──► coordinates of modes      or padding
//!           ── region, mirror image ──► one entry or two
//! ```
//!
//! A place is padding where the coordinates of its levels belong to no entry:
//! outside the extents, outside the region, or such as no entry's expressions
//! give. What a level stores and no one put there, such as the rest of a dense
//! block inside the tensor, is an entry.

use std::borrow::Cow;
use std::ops::Range;

use sparsec_base::cancel::Steps;
use sparsec_base::{Result, Scalar};
use sparsec_format::{Format, LevelMap};
use sparsec_parallel::AllocError;
use sparsec_relation::Image;

use crate::array::{Array, Element};
use crate::coords::CoordWord;
use crate::entries::Entries;
use crate::tensor::{LevelView, Tensor};
use crate::walk::{Walk, WalkLevel};
use crate::with_element;

pub(crate) mod build;
pub(crate) mod check;
mod ends;
mod order;
mod take;

/// One part of a format, and where it stands in the tensor.
pub(crate) struct Part {
    pub(crate) format: Format,
    pub(crate) map: LevelMap,
    /// The number of its first level.
    pub(crate) first_level: usize,
}

/// The parts of a format, for modes of these extents.
///
/// # Errors
/// `E0406` where the coordinates of a level do not fit in 63 bits.
pub(crate) fn parts(format: &Format, extents: &[u64]) -> Result<Vec<Part>> {
    let mut first_level = 0;
    let mut parts = Vec::new();
    for part in format.parts() {
        let map = part.level_map(extents)?;
        let n_levels = part.levels().len();
        parts.push(Part {
            format: part,
            map,
            first_level,
        });
        first_level += n_levels;
    }
    Ok(parts)
}

impl Part {
    /// The extent of each level; `arrays` are those of a level of ranks.
    pub(crate) fn extents<'a>(&self, arrays: impl Fn(usize) -> LevelView<'a>) -> Vec<u64> {
        let levels = self.map.extents().iter().enumerate();
        let extent = |(number, extent): (usize, &Option<u64>)| match extent {
            Some(extent) => *extent,
            None => arrays(self.first_level + number).size.at(0) as u64,
        };
        levels.map(extent).collect()
    }

    /// What is at a place, and the coordinates of the modes there.
    fn visited<'c>(
        &self,
        levels: &[u64],
        scratch: &mut [u64],
        coords: &'c mut [u64],
    ) -> Visited<'c> {
        if !self.map.modes_of(levels, coords) {
            return Visited::Padding;
        }
        scratch.copy_from_slice(levels);
        self.map.levels_of(coords, scratch);
        match self.format.region() {
            _ if scratch != levels => Visited::Padding,
            Some(region) if !region.holds(coords) => Visited::Outside(coords),
            _ => Visited::Entry(coords),
        }
    }
}

/// A place in the last level of a part.
pub(crate) enum Visited<'a> {
    /// That of an entry.
    Entry(&'a [u64]),
    /// That of none, with coordinates that are outside of the region.
    Outside(&'a [u64]),
    /// That of none.
    Padding,
}

/// Calls `visit` with places in the last level of a part, and the position of each
/// there. A run of coordinates at one position is cut to those that `chosen` gives:
/// all of them, the first, or none.
pub(crate) fn walk_part(
    part: &Part,
    walk: &Walk<'_>,
    chosen: impl Fn(Range<u64>, usize) -> Range<u64>,
    mut visit: impl FnMut(Visited<'_>, usize),
) {
    let n_levels = walk.levels().len();
    let (mut scratch, mut modes) = (vec![0; n_levels], vec![0; part.format.order()]);
    let mut steps = Steps::default();
    let mut visit_run = |coords: &mut [u64], run: Range<u64>, position: usize| {
        steps.step();
        for coord in chosen(run, position) {
            if let Some(last) = coords.last_mut() {
                *last = coord;
            }
            visit(part.visited(coords, &mut scratch, &mut modes), position);
        }
    };
    let mut coords = vec![0; n_levels];
    match n_levels {
        0 => visit_run(&mut coords, 0..1, 0),
        _ => below(walk.levels(), 0, 0, &mut coords, &mut visit_run),
    }
}

/// Visits the runs of the last level below a position of the level above `number`,
/// with the coordinates of the levels outside.
fn below(
    levels: &[WalkLevel<'_>],
    number: usize,
    parent: usize,
    coords: &mut [u64],
    visit: &mut impl FnMut(&mut [u64], Range<u64>, usize),
) {
    if number + 1 == levels.len() {
        return levels[number].for_each_run(parent, |run, position| visit(coords, run, position));
    }
    levels[number].for_each_child(parent, |coord, position| {
        coords[number] = coord;
        below(levels, number + 1, position, coords, visit);
    });
}

/// Entries in the making. Their number is known when they all are there, so that
/// memory may be out with any of them.
struct Listed<C, T> {
    coords: Vec<C>,
    values: Vec<T>,
    fault: Option<AllocError>,
}

impl<C: CoordWord, T: Element> Listed<C, T> {
    fn push(&mut self, coords: &[u64], value: T) {
        if self.coords.try_reserve(coords.len()).is_err() || self.values.try_reserve(1).is_err() {
            self.fault.get_or_insert(AllocError {
                bytes: 2 * (self.coords.len() * size_of::<C>()) as u64,
            });
            return;
        }
        self.coords.extend(coords.iter().map(|&coord| C::of(coord)));
        self.values.push(value);
    }
}

impl Tensor {
    /// The stored entries of a tensor of any format, padding included or what is
    /// the fill left out. Runs of the fill take no time then.
    pub(crate) fn irregular_entries(&self, with_fill: bool) -> Result<Entries> {
        let is_narrow = self.extents().iter().all(|&extent| extent <= 1 << 32);
        with_element!(self.element(), T => match is_narrow {
            true => self.listed::<u32, T>(with_fill),
            false => self.listed::<u64, T>(with_fill),
        })
    }

    /// How many places in the last level hold an entry, for any format.
    pub(crate) fn n_filled_places(&self) -> Result<usize> {
        let mut n = 0;
        for part in parts(self.format(), self.extents())? {
            let extents = part.extents(|level| self.level(level));
            let walk = Walk::of_part(self, &part.format, part.first_level, &extents);
            let first = |run: Range<u64>, _| run.start..run.end.min(run.start + 1);
            walk_part(&part, &walk, first, |place, _| {
                n += usize::from(matches!(place, Visited::Entry(_)));
            });
        }
        Ok(n)
    }

    fn listed<C: CoordWord, T: Element>(&self, with_fill: bool) -> Result<Entries> {
        let (all, fill) = (self.vals().slice::<T>(), self.fill());
        let mut listed = Listed {
            coords: Vec::<C>::new(),
            values: Vec::<T>::new(),
            fault: None,
        };
        let mut n_values = 0;
        for part in parts(self.format(), self.extents())? {
            let extents = part.extents(|level| self.level(level));
            let walk = Walk::of_part(self, &part.format, part.first_level, &extents);
            let n_positions = match part.format.levels().len() {
                0 => 1,
                n => self.n_positions(part.first_level + n - 1),
            };
            let values = &all[n_values..n_values + n_positions];
            n_values += n_positions;
            let mut swapped = vec![0; self.order()];
            let mirror = part.format.mirror();
            let keeps = |value: T| with_fill || value.scalar() != fill;
            let chosen = |run: Range<u64>, position: usize| {
                let value = values[position];
                match keeps(value) || mirror.is_some_and(|it| keeps(image(it.of.image(), value))) {
                    true => run,
                    false => 0..0,
                }
            };
            walk_part(&part, &walk, chosen, |place, position| {
                let Visited::Entry(coords) = place else {
                    return;
                };
                let value = values[position];
                if keeps(value) {
                    listed.push(coords, value);
                }
                let Some(mirror) = mirror else {
                    return;
                };
                let ([a, b], value) = (mirror.modes, image(mirror.of.image(), value));
                if coords[a] != coords[b] && keeps(value) {
                    swapped.copy_from_slice(coords);
                    swapped.swap(a, b);
                    listed.push(&swapped, value);
                }
            });
        }
        match listed.fault {
            Some(fault) => Err(fault.into()),
            None => Ok(Entries {
                extents: self.extents().to_vec(),
                coords: C::list(listed.coords),
                values: Array::from_vec(listed.values),
            }),
        }
    }

    /// The same stored entries in a format whose positions are its entries: the
    /// tensor itself where it is in one.
    ///
    /// # Errors
    /// `E0407` when memory is out.
    ///
    /// ```
    /// # use sparsec_format::FormatSpec;
    /// # use sparsec_tensor::Tensor;
    /// let blocks = "bsr(2, 2)".parse::<FormatSpec>()?.resolve(2)?;
    /// let a = Tensor::pack(&blocks, &[3, 3], &[2, 2], &[5.0])?;
    /// // Four places in the block, one of them in the matrix.
    /// assert_eq!((a.n_stored(), a.regular()?.n_stored()), (4, 1));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn regular(&self) -> Result<Cow<'_, Self>> {
        match self.format().is_regular() {
            true => Ok(Cow::Borrowed(self)),
            false => self.as_regular().map(Cow::Owned),
        }
    }

    /// The same entries in a format whose positions are its entries.
    pub(crate) fn as_regular(&self) -> Result<Self> {
        self.repack(&Format::scoo(self.order()), self.irregular_entries(true)?)
    }
}

/// The value at exchanged coordinates.
pub(crate) fn image<T: Element>(image: Image, value: T) -> T {
    match image {
        Image::Same => value,
        Image::Conjugate => value.conj(),
        Image::Negative => negated(value),
    }
}

/// The negative; integers wrap, and a truth value is its own.
fn negated<T: Element>(value: T) -> T {
    let negative = match value.scalar() {
        Scalar::Bool(it) => Scalar::Bool(it),
        Scalar::I8(it) => Scalar::I8(it.wrapping_neg()),
        Scalar::I16(it) => Scalar::I16(it.wrapping_neg()),
        Scalar::I32(it) => Scalar::I32(it.wrapping_neg()),
        Scalar::I64(it) => Scalar::I64(it.wrapping_neg()),
        Scalar::U8(it) => Scalar::U8(it.wrapping_neg()),
        Scalar::U16(it) => Scalar::U16(it.wrapping_neg()),
        Scalar::U32(it) => Scalar::U32(it.wrapping_neg()),
        Scalar::U64(it) => Scalar::U64(it.wrapping_neg()),
        Scalar::F16(it) => Scalar::F16(-it),
        Scalar::Bf16(it) => Scalar::Bf16(-it),
        Scalar::F32(it) => Scalar::F32(-it),
        Scalar::F64(it) => Scalar::F64(-it),
        Scalar::C64(it) => Scalar::C64(-it),
        Scalar::C128(it) => Scalar::C128(-it),
    };
    T::from_scalar(negative).unwrap_or(value)
}
