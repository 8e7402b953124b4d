//! Packing: entries in any order to the arrays of a format.
//!
//! The entries are sorted into storage order and duplicates combined. Then
//! each level turns the position that an entry has in the level above into its
//! position in this one:
//!
//! | level      | position of an entry          | also writes                          |
//! |------------|-------------------------------|--------------------------------------|
//! | dense      | `parent * N + coordinate`     |                                      |
//! | compressed | a new one wherever the tuple down to the end of the level's chain changes | `crd`, and `pos` where the parent changes |
//! | singleton  | that of the level above       | `crd`                                |
//!
//! and the value goes to the entry's position in the last level. Entries are
//! in order, so positions ascend; the ranges of entries that threads work on
//! own disjoint stretches of every array.

use std::ops::Range;

use sparsec_base::{Diagnostic, ElementType, IndexWidth, Result, Scalar, code};
use sparsec_format::{Format, LevelKind};
use sparsec_parallel::{map, parts_to_offsets, ranges, split_mut};

use crate::array::{Array, Element};
use crate::check::{check_extents, dense_positions};
use crate::duplicates::Duplicates;
use crate::entries::Entries;
use crate::sort::{GRAIN, Sorted, sort};
use crate::tensor::Tensor;
use crate::with_element;

/// How entries are packed.
#[derive(Clone, Copy, Debug, Default)]
pub struct PackOptions {
    /// The value of entries that are not stored; zero if not given.
    pub fill: Option<Scalar>,
    /// What becomes of entries at equal coordinates.
    pub duplicates: Duplicates,
}

impl Tensor {
    /// Builds a tensor of `f64` in `format` from entries given in any order.
    ///
    /// Entries at equal coordinates are added; a sum of zero stays stored.
    ///
    /// * `extents`: `N` extents, one a mode, where `N` is the order.
    /// * `coords`: `M * N` coordinates counted from 0; entry `e` begins at `e * N`.
    /// * `values`: `M` values.
    ///
    /// Time `O(N M)` for each eight bits that a tuple of coordinates has, plus
    /// the size of the result; about five words an entry of scratch.
    ///
    /// # Errors
    /// * `E0402` where the three lists disagree with the order;
    /// * `E0401` for the first entry and mode outside its extent;
    /// * `E0406` for an index width that is too narrow for the data;
    /// * `E0407` where dense levels take more memory than there is.
    ///
    /// ```
    /// # use sparsec_format::Format;
    /// # use sparsec_tensor::Tensor;
    /// let a = Tensor::pack(&Format::csr(), &[4, 5], &[2, 4, 0, 1, 2, 0], &[5.0, 2.0, 3.0])?;
    /// assert_eq!(a.level(1).pos(), [0, 1, 1, 3, 3]);
    /// assert_eq!(a.level(1).crd(), [1, 0, 4]);
    /// assert_eq!(a.values::<f64>(), Some(&[2.0, 3.0, 5.0][..]));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    ///
    /// Source: Chou et al., OOPSLA 2018, <https://doi.org/10.1145/3276493>.
    pub fn pack(format: &Format, extents: &[u64], coords: &[u64], values: &[f64]) -> Result<Self> {
        let entries = Entries {
            extents: extents.to_vec(),
            coords: coords.to_vec(),
            values: Array::from_vec(values.to_vec()),
        };
        Self::pack_entries(format, entries, PackOptions::default())
    }

    /// Builds a tensor in `format` from entries of any type; see [`Tensor::pack`].
    ///
    /// # Errors
    /// As [`Tensor::pack`]; `E0403` for a fill of another type than the
    /// values, `E0408` for a duplicate where [`Duplicates::Refuse`] is asked for.
    pub fn pack_entries(format: &Format, entries: Entries, options: PackOptions) -> Result<Self> {
        check_extents(format, &entries.extents)?;
        let element = entries.element();
        let fill = options.fill.unwrap_or_else(|| element.zero());
        if fill.element() != element {
            return Err(Diagnostic::new(
                code::ARRAY_MISMATCH,
                format!(
                    "the fill `{fill}` is {}, the values are {element}",
                    fill.element()
                ),
            ));
        }
        options.duplicates.check(element)?;
        let extents = entries.extents.clone();
        let sorted = sort(entries, &format.level_order(), options.duplicates)?;
        Builder::new(format, &extents, sorted).build(fill)
    }
}

/// A tensor in the making: what the levels so far have made of the entries.
struct Builder<'a> {
    format: &'a Format,
    extents: &'a [u64],
    entries: Sorted,
    cuts: Vec<Range<usize>>,
    /// The position of each entry in the level above.
    parents: Vec<usize>,
    /// How many positions the level above has.
    n_parents: usize,
    arrays: Vec<Array>,
    positions: Vec<usize>,
}

impl<'a> Builder<'a> {
    fn new(format: &'a Format, extents: &'a [u64], entries: Sorted) -> Self {
        Self {
            format,
            extents,
            cuts: ranges(entries.len(), GRAIN),
            parents: vec![0; entries.len()],
            entries,
            n_parents: 1,
            arrays: Vec::new(),
            positions: Vec::new(),
        }
    }

    fn build(mut self, fill: Scalar) -> Result<Tensor> {
        for (number, level) in self.format.levels().iter().enumerate() {
            match level.kind {
                LevelKind::Dense => self.dense(number)?,
                LevelKind::Compressed => self.compressed(number)?,
                LevelKind::Singleton => self.singleton(number)?,
            }
            self.positions.push(self.n_parents);
        }
        let values = self.values(fill)?;
        self.arrays.push(values);
        Ok(Tensor::trusted(
            self.format.clone(),
            self.extents.to_vec(),
            fill,
            self.arrays,
            self.positions,
        ))
    }

    fn extent(&self, level: usize) -> u64 {
        self.extents[self.format.levels()[level].mode]
    }

    fn dense(&mut self, level: usize) -> Result<()> {
        let extent = self.extent(level);
        self.n_parents = dense_positions(self.format, self.n_parents, extent)?;
        let entries = &self.entries;
        let pieces = split_mut(&mut self.parents, self.cuts.iter().map(Range::len));
        map(self.cuts.iter().zip(pieces).collect(), |(cut, parents)| {
            for (e, parent) in cut.clone().zip(parents) {
                // Below the product that was checked, so it does not overflow.
                *parent = *parent * extent as usize + entries.row(e)[level] as usize;
            }
        });
        Ok(())
    }

    fn compressed(&mut self, level: usize) -> Result<()> {
        let end = self.format.chain_end(level);
        let entries = &self.entries;
        let begins = |e: usize| e == 0 || entries.row(e)[..=end] != entries.row(e - 1)[..=end];
        // Entries are distinct: down to the last level, each has its position.
        let counts = if end + 1 == entries.order {
            self.cuts.iter().map(Range::len).collect()
        } else {
            map(self.cuts.clone(), |cut| cut.filter(|&e| begins(e)).count())
        };
        let (offsets, n) = parts_to_offsets(&counts);
        let widths = self.format.widths();
        let crd = self.crd(level, &counts, n, |e| end + 1 == entries.order || begins(e))?;
        let width = self.width("pos", level, widths.pos, n as u64)?;
        let mut pos = Array::zeroed(width.element(), self.n_parents.saturating_add(1))?;
        match width {
            IndexWidth::W8 => {
                self.segments(pos.slice_mut::<u8>(), &offsets, n, |q| q as u8, begins)
            }
            IndexWidth::W16 => {
                self.segments(pos.slice_mut::<u16>(), &offsets, n, |q| q as u16, begins)
            }
            IndexWidth::W32 => {
                self.segments(pos.slice_mut::<i32>(), &offsets, n, |q| q as i32, begins)
            }
            IndexWidth::W64 => {
                self.segments(pos.slice_mut::<i64>(), &offsets, n, |q| q as i64, begins)
            }
        }
        let entries = &self.entries;
        let pieces = split_mut(&mut self.parents, self.cuts.iter().map(Range::len));
        let work = self.cuts.iter().zip(pieces).zip(offsets).collect();
        map(work, |((cut, parents), offset)| {
            // Positions begun before the current entry, counted from the start.
            let mut begun = offset;
            for (e, parent) in cut.clone().zip(parents) {
                let new = end + 1 == entries.order
                    || e == 0
                    || entries.row(e)[..=end] != entries.row(e - 1)[..=end];
                begun += usize::from(new);
                *parent = begun - 1;
            }
        });
        self.n_parents = n;
        self.arrays.push(pos);
        self.arrays.push(crd);
        Ok(())
    }

    fn singleton(&mut self, level: usize) -> Result<()> {
        let parents = &self.parents;
        let begins = |e: usize| e == 0 || parents[e] != parents[e - 1];
        let counts = map(self.cuts.clone(), |cut| cut.filter(|&e| begins(e)).count());
        let crd = self.crd(level, &counts, self.n_parents, begins)?;
        self.arrays.push(crd);
        Ok(())
    }

    /// The coordinates of a level at the entries that begin a position, of
    /// which each cut has `counts`, and all have `n`.
    fn crd(
        &self,
        level: usize,
        counts: &[usize],
        n: usize,
        begins: impl Fn(usize) -> bool + Sync,
    ) -> Result<Array> {
        let largest = self.extent(level).saturating_sub(1);
        let width = self.width("crd", level, self.format.widths().crd, largest)?;
        let mut crd = Array::zeroed(width.element(), n)?;
        match width {
            IndexWidth::W8 => {
                self.coordinates(crd.slice_mut::<u8>(), counts, level, |c| c as u8, begins)
            }
            IndexWidth::W16 => {
                self.coordinates(crd.slice_mut::<u16>(), counts, level, |c| c as u16, begins)
            }
            IndexWidth::W32 => {
                self.coordinates(crd.slice_mut::<i32>(), counts, level, |c| c as i32, begins)
            }
            IndexWidth::W64 => {
                self.coordinates(crd.slice_mut::<i64>(), counts, level, |c| c as i64, begins)
            }
        }
        Ok(crd)
    }

    fn coordinates<T: Element>(
        &self,
        crd: &mut [T],
        counts: &[usize],
        level: usize,
        narrow: impl Fn(u64) -> T + Sync,
        begins: impl Fn(usize) -> bool + Sync,
    ) {
        let pieces = split_mut(crd, counts.iter().copied());
        map(self.cuts.iter().zip(pieces).collect(), |(cut, crd)| {
            let firsts = cut.clone().filter(|&e| begins(e));
            for (crd, e) in crd.iter_mut().zip(firsts) {
                *crd = narrow(self.entries.row(e)[level]);
            }
        });
    }

    /// Writes a `pos` array: `pos[p]` is how many positions begin at entries
    /// whose parent is below `p`. A cut writes from after the parent of the
    /// entry before it up to the parent of its last entry.
    fn segments<T: Element>(
        &self,
        pos: &mut [T],
        offsets: &[usize],
        n: usize,
        narrow: impl Fn(usize) -> T + Sync,
        begins: impl Fn(usize) -> bool + Sync,
    ) {
        let before = |cut: &Range<usize>| match cut.start {
            0 => 0,
            start => self.parents[start - 1],
        };
        let lengths = self
            .cuts
            .iter()
            .map(|cut| self.parents[cut.end - 1] - before(cut));
        let last = self.parents.last().copied().unwrap_or(0);
        let (body, tail) = pos[1..].split_at_mut(last);
        let pieces = split_mut(body, lengths);
        let work = self.cuts.iter().zip(pieces).zip(offsets).collect();
        map(work, |((cut, pos), &offset)| {
            let mut begun = offset;
            let mut at = pos.iter_mut();
            let mut parent = before(cut);
            for e in cut.clone() {
                let passed = self.parents[e] - parent;
                if passed > 0 {
                    at.by_ref().take(passed).for_each(|p| *p = narrow(begun));
                    parent = self.parents[e];
                }
                begun += usize::from(begins(e));
            }
        });
        tail.fill(narrow(n));
    }

    fn width(
        &self,
        part: &str,
        level: usize,
        declared: Option<IndexWidth>,
        largest: u64,
    ) -> Result<IndexWidth> {
        let needed = IndexWidth::holding(largest);
        match declared {
            Some(width) if width.max() < largest => Err(Diagnostic::new(
                code::INDEX_WIDTH_OVERFLOW,
                format!(
                    "`{level}.{part}` is declared with {} bits but has to hold {largest}",
                    width.bits()
                ),
            )
            .note(format!("the format is `{}`", self.format))
            .help(format!("declare `{part} = {}`, or no width", needed.bits()))),
            Some(width) => Ok(width),
            None => Ok(needed),
        }
    }

    fn values(&mut self, fill: Scalar) -> Result<Array> {
        let n = self.n_parents;
        // Distinct entries with as many positions: entry `e` has position `e`.
        if n == self.entries.len() {
            return Ok(std::mem::replace(
                &mut self.entries.values,
                Array::new(ElementType::Bool, sparsec_parallel::Memory::new()),
            ));
        }
        let mut values = Array::filled(fill, n)?;
        with_element!(fill.element(), T => {
            let from = self.entries.values.slice::<T>();
            // Each cut owns the positions up to its last entry's.
            let starts = self.cuts.iter().map(|cut| match cut.start {
                0 => 0,
                start => self.parents[start - 1] + 1,
            });
            let starts: Vec<usize> = starts.collect();
            let ends = self.cuts.iter().map(|cut| self.parents[cut.end - 1] + 1);
            let lengths: Vec<usize> = ends.zip(&starts).map(|(end, start)| end - start).collect();
            let pieces = split_mut(values.slice_mut::<T>(), lengths);
            let work = self.cuts.iter().zip(pieces).zip(starts).collect();
            map(work, |((cut, piece), start)| {
                for e in cut.clone() {
                    piece[self.parents[e] - start] = from[e];
                }
            });
        });
        Ok(values)
    }
}
