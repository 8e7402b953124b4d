//! Tensors of parts, and runs of a tensor along its outermost level.
//!
//! ```text
//! rows 1..3 of    pos  0 2 3 6      pos  0 1 4         the run of each array, positions from 0
//!                 crd  0 4 1 0 2 3  crd  1 0 2 3
//! ```
//!
//! Entries below neighbouring coordinates of the outermost level are neighbours in every array.
//! So a range of its coordinates is a run of each array, and parts that follow one another are
//! runs one behind the other ([`Tensor::chained`]): both are copied, where other slices and
//! parts are packed again.
//!
//! Invariant: runs are only taken of levels whose segments are neighbours without gaps: `dense`,
//! `compressed` and `singleton`, the outermost one in order.

use std::ops::Range;

use sparsec_base::{Diagnostic, Result, code};
use sparsec_format::{Format, LevelKind, Widths};

use crate::alloc::with_room;
use crate::array::Array;
use crate::check::{check_extents, shape};
use crate::duplicates::Duplicates;
use crate::entries::{Entries, plural};
use crate::index::{Index, IndexInteger};
use crate::pack::PackOptions;
use crate::tensor::Tensor;
use crate::walk::{Walk, WalkLevel};
use crate::with_element;

/// A range of an index array, and the offset that is added to each number.
type Run<'a> = (Index<'a>, Range<usize>, i64);

impl Tensor {
    /// The tensor of parts that lie side by side: entry `c` of a part at offset `o` becomes
    /// entry `o + c`. Coordinates outside all parts are not stored.
    ///
    /// * `extents`: those of the result, one a mode.
    /// * `parts`: tensors of one type and fill, in any formats, each with an offset for each mode.
    ///
    /// Time about that of packing the entries of all parts; nothing becomes dense. Joining
    /// consecutive parts costs one copy of their arrays: parts in the format of the result that
    /// follow one another along the mode of its outermost level.
    ///
    /// # Errors
    /// `E0402` for extents, offsets and parts of another order than the format; `E0403` for parts
    /// of different types or fills; `E0413` for no parts, and for a part that reaches beyond the
    /// extents; `E0408` for parts that overlap where both store an entry; `E0407` when memory is
    /// out.
    ///
    /// ```
    /// # use sparsec_format::Format;
    /// # use sparsec_tensor::Tensor;
    /// let a = Tensor::pack(&Format::csr(), &[1, 2], &[0, 1], &[5.0])?;
    /// let b = Tensor::join(&Format::csr(), &[2, 2], &[(&[0, 0], &a), (&[1, 0], &a)])?;
    /// assert_eq!((b.level(1).crd().to_vec(), b.n_stored()), (vec![1, 1], 2));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn join(format: &Format, extents: &[u64], parts: &[(&[u64], &Self)]) -> Result<Self> {
        let Some((_, like)) = parts.first() else {
            return Err(
                Diagnostic::new(code::BAD_SELECTION, "no tensors to join").help("give one or more")
            );
        };
        check_extents(format, extents)?;
        let (element, fill) = (like.element(), like.fill());
        for (number, (offset, part)) in parts.iter().enumerate() {
            if (part.element(), part.fill()) != (element, fill) {
                let message = format!(
                    "part {number} stores {} with fill {}, and part 0 {element} with fill {fill}",
                    part.element(),
                    part.fill()
                );
                return Err(Diagnostic::new(code::ARRAY_MISMATCH, message)
                    .help("give parts of one type and fill"));
            }
            if [offset.len(), part.order()] != [extents.len(); 2] {
                let message = format!(
                    "part {number} of {} at an offset of {}, in a result of {}",
                    plural(part.order(), "mode"),
                    plural(offset.len(), "number"),
                    plural(extents.len(), "mode")
                );
                return Err(Diagnostic::new(code::LENGTH_MISMATCH, message)
                    .help("give parts of the result's order, each with a number for each mode"));
            }
            let mut ends = offset.iter().zip(part.extents()).zip(extents);
            let lies_inside = ends.all(|((&from, &own), &extent)| {
                from.checked_add(own).is_some_and(|end| end <= extent)
            });
            if !lies_inside {
                let message = format!(
                    "part {number} of extents {} at offset {} is not inside of extents {}",
                    shape(part.extents()),
                    shape(offset),
                    shape(extents)
                );
                return Err(Diagnostic::new(code::BAD_SELECTION, message)
                    .help("give each part an offset that its extents leave room behind"));
            }
        }
        if let Some(mode) = follow(format, extents, parts) {
            return Self::chained(format, extents, parts, mode);
        }
        let lists: Result<Vec<Entries>> = parts.iter().map(|(_, part)| part.unpadded()).collect();
        let lists = lists?;
        let n: usize = lists.iter().map(Entries::len).sum();
        let mut coords = with_room(n.saturating_mul(extents.len()))?;
        for ((offset, _), list) in parts.iter().zip(&lists) {
            let offsets = offset.iter().cycle();
            coords.extend(list.coords.iter().zip(offsets).map(|(c, from)| c + from));
        }
        let values = with_element!(element, T => {
            let mut values: Vec<T> = with_room(n)?;
            for list in &lists {
                values.extend_from_slice(list.values.slice::<T>());
            }
            Array::from_vec(values)
        });
        drop(lists);
        let entries = Entries {
            extents: extents.to_vec(),
            coords: coords.into(),
            values,
        };
        let options = PackOptions {
            fill: Some(fill),
            duplicates: Duplicates::Refuse,
            ..PackOptions::default()
        };
        Self::pack_entries(format, entries, options)
    }

    /// The mode of the outermost level, if ranges of its coordinates are runs of the arrays.
    pub(crate) fn runs_of(&self) -> Option<usize> {
        runs_of(self.format())
    }

    /// The entries at a range of coordinates of the outermost level's mode.
    pub(crate) fn run(&self, mode: usize, range: Range<u64>) -> Result<Self> {
        let walk = Walk::new(self);
        let (mut arrays, mut counts) = (Vec::new(), Vec::new());
        let mut parents = 0..1;
        for (number, level) in walk.levels().iter().enumerate() {
            let (crd, pos) = (level.arrays.crd(), level.arrays.pos());
            let positions = match (number, level.kind) {
                (0, LevelKind::Dense) => range.start as usize..range.end as usize,
                (0, _) => below(crd, range.start)..below(crd, range.end),
                _ => children(level, &parents),
            };
            if level.kind == LevelKind::Compressed {
                let segments = match number {
                    0 => vec![0, positions.len() as i64],
                    _ => Vec::new(),
                };
                let run = match number {
                    0 => (Index::W64(&segments), 0..2, 0),
                    _ => (
                        pos,
                        parents.start..parents.end + 1,
                        -(positions.start as i64),
                    ),
                };
                arrays.push(chain(&[run], positions.len() as u64)?);
            }
            if level.kind != LevelKind::Dense {
                let by = if number == 0 { range.start as i64 } else { 0 };
                arrays.push(chain(&[(crd, positions.clone(), -by)], level.extent)?);
            }
            counts.push(positions.len());
            parents = positions;
        }
        arrays.push(with_element!(self.element(), T => {
            let mut values: Vec<T> = with_room(parents.len())?;
            values.extend_from_slice(&self.vals().slice::<T>()[parents]);
            Array::from_vec(values)
        }));
        let mut extents = self.extents().to_vec();
        extents[mode] = range.end - range.start;
        let format = self.format().clone();
        Ok(Self::trusted(format, extents, self.fill(), arrays, counts))
    }

    /// The tensor of parts that [`follow`] one another.
    fn chained(
        format: &Format,
        extents: &[u64],
        parts: &[(&[u64], &Self)],
        mode: usize,
    ) -> Result<Self> {
        let (_, like) = parts[0];
        let walks: Vec<Walk<'_>> = parts.iter().map(|(_, part)| Walk::new(part)).collect();
        let (mut arrays, mut counts) = (Vec::new(), Vec::new());
        for (number, level) in format.levels().iter().enumerate() {
            let n: usize = parts.iter().map(|(_, part)| part.n_positions(number)).sum();
            let levels = walks.iter().map(|walk| &walk.levels()[number]);
            let levels = levels.zip(parts);
            if level.kind == LevelKind::Compressed {
                let segments = [0, n as i64];
                let (mut runs, mut before) = (Vec::new(), 0);
                for (at, (level, (_, part))) in levels.clone().enumerate() {
                    let pos = level.arrays.pos();
                    // Where a segment begins, the one before ends.
                    runs.push((pos, usize::from(at > 0)..pos.len(), before));
                    before += part.n_positions(number) as i64;
                }
                if number == 0 {
                    runs = vec![(Index::W64(&segments), 0..2, 0)];
                }
                arrays.push(chain(&runs, n as u64)?);
            }
            if level.kind != LevelKind::Dense {
                let runs = levels.map(|(level, (offset, _))| {
                    let crd = level.arrays.crd();
                    let by = if number == 0 { offset[mode] as i64 } else { 0 };
                    (crd, 0..crd.len(), by)
                });
                let runs: Vec<Run<'_>> = runs.collect();
                arrays.push(chain(&runs, extents[level.mode()])?);
            }
            counts.push(n);
        }
        arrays.push(with_element!(like.element(), T => {
            let n = parts.iter().map(|(_, part)| part.vals().len()).sum();
            let mut values: Vec<T> = with_room(n)?;
            for (_, part) in parts {
                values.extend_from_slice(part.vals().slice::<T>());
            }
            Array::from_vec(values)
        }));
        let extents = extents.to_vec();
        Ok(Self::trusted(
            format.clone(),
            extents,
            like.fill(),
            arrays,
            counts,
        ))
    }
}

/// The mode of the outermost level, if ranges of its coordinates are runs of the arrays, and
/// index arrays may be as wide as they have to.
fn runs_of(format: &Format) -> Option<usize> {
    let levels = format.levels();
    let first = levels.first()?;
    let has_runs = format.is_regular()
        && format.widths() == Widths::default()
        && (first.kind == LevelKind::Dense
            || (first.kind == LevelKind::Compressed && first.ordered))
        && levels.iter().all(|level| {
            let (is_kept, is_any) = (level.widths == Widths::default(), level.kind);
            is_kept
                && matches!(
                    is_any,
                    LevelKind::Dense | LevelKind::Compressed | LevelKind::Singleton
                )
        });
    has_runs.then(|| first.mode())
}

/// The mode along which parts follow one another, in the format of the whole: that of its
/// outermost level. Below a dense level they leave no gap.
fn follow(format: &Format, extents: &[u64], parts: &[(&[u64], &Tensor)]) -> Option<usize> {
    let mode = runs_of(format)?;
    let is_dense = format.levels()[0].kind == LevelKind::Dense;
    let mut end = 0;
    for (offset, part) in parts {
        let is_alike = runs_of(part.format()).is_some() && part.format().arranges_like(format);
        let others = (0..extents.len()).filter(|other| *other != mode);
        let mut whole = others.map(|other| (offset[other], part.extents()[other], extents[other]));
        let is_next = offset[mode] == end || (!is_dense && offset[mode] > end);
        if !is_alike || !is_next || whole.any(|(at, own, extent)| at != 0 || own != extent) {
            return None;
        }
        end = offset[mode] + part.extents()[mode];
    }
    (!is_dense || end == extents[mode]).then_some(mode)
}

/// The positions of a level below these of the level above it.
fn children(level: &WalkLevel<'_>, parents: &Range<usize>) -> Range<usize> {
    let extent = level.extent as usize;
    match level.kind {
        LevelKind::Dense => parents.start * extent..parents.end * extent,
        LevelKind::Compressed => {
            let pos = level.arrays.pos();
            pos.at(parents.start)..pos.at(parents.end)
        }
        _ => parents.clone(),
    }
}

/// How many of these coordinates in order are below a bound.
fn below(crd: Index<'_>, bound: u64) -> usize {
    let (mut low, mut high) = (0, crd.len());
    while low < high {
        let middle = low.midpoint(high);
        match crd.unsigned(middle) < bound {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}

/// Runs one behind the other, in the narrower of 32 and 64 bits that holds `most`.
fn chain(runs: &[Run<'_>], most: u64) -> Result<Array> {
    match i32::try_from(most) {
        Ok(_) => chain_as(runs, |number| number as i32),
        Err(_) => chain_as(runs, |number| number),
    }
}

fn chain_as<I: IndexInteger>(runs: &[Run<'_>], narrow: impl Fn(i64) -> I) -> Result<Array> {
    let n = runs.iter().map(|(_, range, _)| range.len()).sum();
    let mut all: Vec<I> = with_room(n)?;
    for (from, range, by) in runs {
        let range = range.clone();
        match from {
            Index::W8(from) => all.extend(from[range].iter().map(|&it| narrow(i64::from(it) + by))),
            Index::W16(from) => {
                all.extend(from[range].iter().map(|&it| narrow(i64::from(it) + by)));
            }
            Index::W32(from) => {
                all.extend(from[range].iter().map(|&it| narrow(i64::from(it) + by)));
            }
            Index::W64(from) => all.extend(from[range].iter().map(|&it| narrow(it + by))),
        }
    }
    Ok(Array::from_index_vec(all))
}
