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

use sparsec_base::{Result, Scalar};
use sparsec_format::{Format, LevelMap, Mirrored};

use crate::alloc::with_room;
use crate::array::{Array, Element};
use crate::entries::Entries;
use crate::tensor::{LevelView, Tensor};
use crate::walk::{Walk, WalkLevel};
use crate::with_element;

pub(crate) mod build;
pub(crate) mod check;
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

/// Calls `visit` with every place in the last level of a part and its position
/// there.
pub(crate) fn walk_part(part: &Part, walk: &Walk<'_>, visit: &mut dyn FnMut(Visited<'_>, usize)) {
    walk_by(WalkLevel::for_each_child, part, walk, visit);
}

/// As [`walk_part`], with the first place of each run alone.
pub(crate) fn walk_begins(part: &Part, walk: &Walk<'_>, visit: &mut dyn FnMut(Visited<'_>, usize)) {
    walk_by(WalkLevel::for_each_begin, part, walk, visit);
}

/// Calls a function with the coordinates and positions of a level below a parent.
type ForEach<'a> = fn(&WalkLevel<'a>, usize, &mut dyn FnMut(u64, usize));

fn walk_by<'a>(
    for_each: ForEach<'a>,
    part: &Part,
    walk: &Walk<'a>,
    visit: &mut dyn FnMut(Visited<'_>, usize),
) {
    let n_levels = walk.levels().len();
    let mut levels = vec![0; n_levels];
    let (mut scratch, mut coords) = (vec![0; n_levels], vec![0; part.format.order()]);
    below(
        for_each,
        walk.levels(),
        0,
        &mut levels,
        &mut |levels, position| {
            visit(part.visited(levels, &mut scratch, &mut coords), position);
        },
    );
}

/// Visits the coordinates of all levels, and the position in the last, below a
/// position.
fn below<'a>(
    for_each: ForEach<'a>,
    levels: &[WalkLevel<'a>],
    parent: usize,
    coords: &mut Vec<u64>,
    visit: &mut dyn FnMut(&[u64], usize),
) {
    let number = coords.len() - levels.len();
    let Some((level, inner)) = levels.split_first() else {
        return visit(coords, parent);
    };
    for_each(level, parent, &mut |coord, position| {
        coords[number] = coord;
        below(for_each, inner, position, coords, visit);
    });
}

/// Takes the coordinates of an entry, a position among all values, and what the
/// entry is of the value there.
type Visit<'a> = dyn FnMut(&[u64], usize, Option<Mirrored>) + 'a;

impl Tensor {
    /// Calls `visit` with the coordinates of every stored entry, its position
    /// among all values, and what it is of the value there.
    fn visit_entries(&self, visit: &mut Visit<'_>) -> Result<()> {
        let mut n_values = 0;
        for part in parts(self.format(), self.extents())? {
            let extents = part.extents(|level| self.level(level));
            let walk = Walk::of_part(self, &part.format, part.first_level, &extents);
            let mut swapped = vec![0; self.order()];
            walk_part(&part, &walk, &mut |place, position| {
                let Visited::Entry(coords) = place else {
                    return;
                };
                visit(coords, n_values + position, None);
                let Some(mirror) = part.format.mirror() else {
                    return;
                };
                let [a, b] = mirror.modes;
                if coords[a] != coords[b] {
                    swapped.copy_from_slice(coords);
                    swapped.swap(a, b);
                    visit(&swapped, n_values + position, Some(mirror.of));
                }
            });
            n_values += match part.format.levels().len() {
                0 => 1,
                n => self.n_positions(part.first_level + n - 1),
            };
        }
        Ok(())
    }

    /// The stored entries of a tensor of any format.
    pub(crate) fn irregular_entries(&self) -> Result<Entries> {
        let mut coords = with_room(self.n_stored().saturating_mul(self.order()))?;
        let mut values: Vec<(usize, Option<Mirrored>)> = with_room(self.n_stored())?;
        self.visit_entries(&mut |entry, position, mirrored| {
            coords.extend_from_slice(entry);
            values.push((position, mirrored));
        })?;
        let values = with_element!(self.element(), T => {
            let from = self.vals().slice::<T>();
            let images = values.iter().map(|&(position, mirrored)| match mirrored {
                None => from[position],
                Some(mirrored) => image(mirrored, from[position]),
            });
            Array::from_vec(images.collect::<Vec<T>>())
        });
        Ok(Entries {
            extents: self.extents().to_vec(),
            coords: coords.into(),
            values,
        })
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
        self.repack(&Format::scoo(self.order()), self.irregular_entries()?)
    }
}

/// The value at exchanged coordinates.
pub(crate) fn image<T: Element>(mirrored: Mirrored, value: T) -> T {
    match mirrored {
        Mirrored::Symmetric => value,
        Mirrored::Hermitian => value.conj(),
        Mirrored::Skew => negated(value),
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
