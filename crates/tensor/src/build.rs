//! Building the arrays of a format from entries in storage order.
//!
//! Each level turns the position that an entry has in the level above into its
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
//!
//! Positions are written down only where they follow from nothing else: below
//! leading dense levels they are computed from the coordinates, and where every
//! entry begins a position they are the numbers of the entries. `csr` needs no
//! list of them.

use std::ops::Range;

use sparsec_base::{Diagnostic, IndexWidth, Result, Scalar, code};
use sparsec_format::{Format, LevelKind, Role};
use sparsec_parallel::{MemoryLimit, map, parts_to_offsets, ranges, split_mut};

use crate::alloc::filled;
use crate::array::{Array, Element};
use crate::check::{dense_positions, name_of, sized, too_large};
use crate::sort::{Sorted, with_tuples};
use crate::tensor::Tensor;
use crate::tuples::{GRAIN, Tuples};
use crate::with_element;

/// Entries whose positions are computed at a time.
const BLOCK: usize = 256;

/// A tensor in `format` of these entries, sorted for it.
///
/// # Errors
/// `E0406` for an index width that is too narrow, `E0407` where memory is out
/// or a dense level has more positions than can be counted.
pub(crate) fn build(
    format: &Format,
    extents: &[u64],
    sorted: Sorted,
    memory: MemoryLimit,
    fill: Scalar,
) -> Result<Tensor> {
    let Sorted { list, values } = sorted;
    with_tuples!(list, tuples => {
        let mut builder = Builder {
            format,
            extents,
            memory,
            cuts: ranges(tuples.len(), GRAIN),
            tuples: &tuples,
            places: Places::Dense(Vec::new()),
            n_places: 1,
            arrays: Vec::new(),
            positions: Vec::new(),
        };
        builder.levels()?;
        builder.finish(values, fill)
    })
}

/// A tensor in the making: what the levels so far have made of the entries.
struct Builder<'a, T> {
    format: &'a Format,
    extents: &'a [u64],
    /// What an array may take.
    memory: MemoryLimit,
    tuples: &'a T,
    /// The ranges of entries that threads work on.
    cuts: Vec<Range<usize>>,
    /// The position of each entry in the level above.
    places: Places,
    /// How many positions the level above has.
    n_places: usize,
    arrays: Vec<Array>,
    positions: Vec<usize>,
}

/// The position of each entry in a level.
enum Places {
    /// Below these dense levels of such extents, and no other: computed from
    /// coordinates. Without levels, all entries are at position 0.
    Dense(Vec<(usize, usize)>),
    /// The number of the entry.
    Entry,
    /// Written down.
    Listed(Vec<usize>),
}

/// Runs an expression with the numbers of an index array and how to make one.
macro_rules! with_index {
    ($array:expr, $width:expr, $entries:ident, $narrow:ident => $body:expr) => {
        match $width {
            IndexWidth::W8 => with_index!(@ $array, u8, $entries, $narrow, $body),
            IndexWidth::W16 => with_index!(@ $array, u16, $entries, $narrow, $body),
            IndexWidth::W32 => with_index!(@ $array, i32, $entries, $narrow, $body),
            IndexWidth::W64 => with_index!(@ $array, i64, $entries, $narrow, $body),
        }
    };
    (@ $array:expr, $ty:ty, $entries:ident, $narrow:ident, $body:expr) => {{
        let $entries = $array.slice_mut::<$ty>();
        // The width was chosen, or checked, to hold every number.
        let $narrow = |number: u64| number as $ty;
        $body
    }};
}

impl<T: Tuples> Builder<'_, T> {
    fn levels(&mut self) -> Result<()> {
        for (number, level) in self.format.levels().iter().enumerate() {
            match level.kind {
                LevelKind::Compressed => self.compressed(number)?,
                LevelKind::Singleton => self.singleton(number)?,
                // Of a regular format, all others are full.
                _ => self.dense(number)?,
            }
            self.positions.push(self.n_places);
        }
        Ok(())
    }

    fn extent(&self, level: usize) -> u64 {
        self.extents[self.format.levels()[level].mode()]
    }

    fn zeroed(&self, width: IndexWidth, len: usize) -> Result<Array> {
        self.filled(width.element().zero(), len)
    }

    fn filled(&self, value: Scalar, len: usize) -> Result<Array> {
        let array = Array::filled_within(self.memory, value, len);
        array.map_err(|fault| sized(fault, self.format, self.extents))
    }

    /// The position of an entry in the level above.
    fn place(&self, e: usize) -> usize {
        let mut place = [0];
        self.places_of(e..e + 1, &mut place);
        place[0]
    }

    /// The positions of entries in the level above.
    fn places_of(&self, entries: Range<usize>, to: &mut [usize]) {
        match &self.places {
            Places::Entry => to.iter_mut().zip(entries).for_each(|(to, e)| *to = e),
            Places::Listed(list) => to.copy_from_slice(&list[entries]),
            Places::Dense(levels) => {
                to.fill(0);
                for &(level, extent) in levels {
                    let coord = self.tuples.coord(level);
                    // Below the product of the extents, which was checked.
                    for (to, e) in to.iter_mut().zip(entries.clone()) {
                        *to = *to * extent + coord(e) as usize;
                    }
                }
            }
        }
    }

    fn dense(&mut self, level: usize) -> Result<()> {
        let extent = self.extent(level);
        self.n_places = dense_positions(self.format, self.extents, level, self.n_places)?;
        if let Places::Dense(levels) = &mut self.places {
            levels.push((level, extent as usize));
            return Ok(());
        }
        let coord = self.tuples.coord(level);
        let list = self.list(|_, range, list| {
            self.places_of(range.clone(), list);
            for (e, to) in range.zip(list) {
                *to = *to * extent as usize + coord(e) as usize;
            }
        })?;
        self.places = Places::Listed(list);
        Ok(())
    }

    /// A list of positions, each cut of which is written by `write`, given the
    /// number of the cut.
    fn list(&self, write: impl Fn(usize, Range<usize>, &mut [usize]) + Sync) -> Result<Vec<usize>> {
        let mut list = filled(self.tuples.len(), || 0)?;
        let pieces = split_mut(&mut list, self.cuts.iter().map(Range::len));
        let work = self.cuts.iter().cloned().zip(pieces).enumerate().collect();
        map(work, |(number, (cut, piece))| write(number, cut, piece));
        Ok(list)
    }

    fn compressed(&mut self, level: usize) -> Result<()> {
        let end = self.format.chain_end(level);
        // Entries are distinct: down to the last level, each has its position.
        if end + 1 == self.format.levels().len() {
            let counts: Vec<usize> = self.cuts.iter().map(Range::len).collect();
            self.segments(level, &counts, |_| true)?;
            self.places = Places::Entry;
            return Ok(());
        }
        let differs = self.tuples.differs(end);
        let begins = |e: usize| e == 0 || differs(e);
        let counts = map(self.cuts.clone(), |cut| cut.filter(|&e| begins(e)).count());
        self.segments(level, &counts, begins)?;
        let (offsets, _) = parts_to_offsets(&counts);
        let list = self.list(|cut, range, list| {
            // Positions begun up to the current entry.
            let mut begun = offsets[cut];
            for (e, to) in range.zip(list) {
                begun += usize::from(begins(e));
                *to = begun - 1;
            }
        })?;
        self.places = Places::Listed(list);
        Ok(())
    }

    /// Writes `pos` and `crd` of a compressed level, where `begins` says at
    /// which entries a position begins, and `counts` how many do in each cut.
    fn segments(
        &mut self,
        level: usize,
        counts: &[usize],
        begins: impl Fn(usize) -> bool + Sync,
    ) -> Result<()> {
        let (offsets, n) = parts_to_offsets(counts);
        let crd = self.crd(level, counts, n, &begins)?;
        let width = self.width(Role::Pos(level), n as u64)?;
        let len = self.n_places.checked_add(1);
        let len = len.ok_or_else(|| too_large(self.format, self.extents))?;
        let mut pos = self.zeroed(width, len)?;
        with_index!(pos, width, pos, narrow => {
            self.write_pos(pos, &offsets, n, narrow, begins);
        });
        self.n_places = n;
        self.arrays.push(pos);
        self.arrays.push(crd);
        Ok(())
    }

    fn singleton(&mut self, level: usize) -> Result<()> {
        let crd = if let Places::Entry = self.places {
            let counts: Vec<usize> = self.cuts.iter().map(Range::len).collect();
            self.crd(level, &counts, self.n_places, |_| true)?
        } else {
            let begins = |e: usize| e == 0 || self.place(e) != self.place(e - 1);
            let counts = map(self.cuts.clone(), |cut| cut.filter(|&e| begins(e)).count());
            self.crd(level, &counts, self.n_places, begins)?
        };
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
        let width = self.width(Role::Crd(level), largest)?;
        let coord = self.tuples.coord(level);
        let mut crd = self.zeroed(width, n)?;
        with_index!(crd, width, crd, narrow => {
            let pieces = split_mut(crd, counts.iter().copied());
            map(self.cuts.iter().cloned().zip(pieces).collect(), |(cut, crd)| {
                if crd.len() == cut.len() {
                    for (crd, e) in crd.iter_mut().zip(cut) {
                        *crd = narrow(coord(e));
                    }
                    return;
                }
                let firsts = cut.filter(|&e| begins(e));
                for (crd, e) in crd.iter_mut().zip(firsts) {
                    *crd = narrow(coord(e));
                }
            });
        });
        Ok(crd)
    }

    /// Writes a `pos` array: `pos[p]` is how many positions begin at entries
    /// whose parent is below `p`. A cut writes from after the parent of the
    /// entry before it up to the parent of its last entry.
    fn write_pos<I: Element>(
        &self,
        pos: &mut [I],
        offsets: &[usize],
        n: usize,
        narrow: impl Fn(u64) -> I + Sync,
        begins: impl Fn(usize) -> bool + Sync,
    ) {
        let before = |cut: &Range<usize>| match cut.start {
            0 => 0,
            start => self.place(start - 1),
        };
        let lengths = self.cuts.iter();
        let lengths = lengths.map(|cut| self.place(cut.end - 1) - before(cut));
        let last = self.cuts.last().map_or(0, |cut| self.place(cut.end - 1));
        let (body, tail) = pos[1..].split_at_mut(last);
        let pieces = split_mut(body, lengths);
        let work = self.cuts.iter().zip(pieces).zip(offsets).collect();
        map(work, |((cut, pos), &offset)| {
            let mut begun = offset;
            let mut at = 0;
            let mut above = before(cut);
            let mut places = [0; BLOCK];
            for start in cut.clone().step_by(BLOCK) {
                let block = start..cut.end.min(start + BLOCK);
                let places = &mut places[..block.len()];
                self.places_of(block.clone(), places);
                for (e, &mut place) in block.zip(places) {
                    let passed = place - above;
                    if passed > 0 {
                        pos[at..at + passed].fill(narrow(begun as u64));
                        at += passed;
                        above += passed;
                    }
                    begun += usize::from(begins(e));
                }
            }
        });
        tail.fill(narrow(n as u64));
    }

    fn width(&self, role: Role, largest: u64) -> Result<IndexWidth> {
        let needed = IndexWidth::holding(largest);
        let part = match role {
            Role::Pos(_) => "pos",
            _ => "crd",
        };
        match self.format.declared_width(role) {
            Some(width) if width.max() < largest => Err(Diagnostic::new(
                code::INDEX_WIDTH_OVERFLOW,
                format!(
                    "`{}` is declared with {} bits but has to hold {largest}",
                    name_of(role),
                    width.bits()
                ),
            )
            .note(format!("the format is `{}`", self.format))
            .help(format!("declare `{part} = {}`, or no width", needed.bits()))),
            Some(width) => Ok(width),
            None => Ok(needed),
        }
    }

    fn finish(mut self, values: Array, fill: Scalar) -> Result<Tensor> {
        let values = self.values(values, fill)?;
        self.arrays.push(values);
        Ok(Tensor::trusted(
            self.format.clone(),
            self.extents.to_vec(),
            fill,
            self.arrays,
            self.positions,
        ))
    }

    fn values(&self, given: Array, fill: Scalar) -> Result<Array> {
        let n = self.n_places;
        // Distinct entries with as many positions: entry `e` has position `e`.
        if n == given.len() {
            return Ok(given);
        }
        let computed;
        let places = match &self.places {
            Places::Listed(list) => list,
            _ => {
                computed = self.list(|_, range, list| self.places_of(range, list))?;
                &computed
            }
        };
        let values = self.filled(fill, n)?;
        scattered(&given, places, &self.cuts, values)
    }
}

/// Puts each value at its place, which ascend, in an array that holds fill.
fn scattered(
    given: &Array,
    places: &[usize],
    cuts: &[Range<usize>],
    mut values: Array,
) -> Result<Array> {
    // Each cut owns the positions up to its last entry's.
    let starts = cuts.iter().map(|cut| match cut.start {
        0 => 0,
        start => places[start - 1] + 1,
    });
    let starts: Vec<usize> = starts.collect();
    let ends = cuts.iter().map(|cut| places[cut.end - 1] + 1);
    let lengths: Vec<usize> = ends.zip(&starts).map(|(end, start)| end - start).collect();
    with_element!(given.element(), V => {
        let from = given.slice::<V>();
        let pieces = split_mut(values.slice_mut::<V>(), lengths);
        let work = cuts.iter().zip(pieces).zip(starts).collect();
        map(work, |((cut, piece), start): ((&Range<usize>, &mut [V]), usize)| {
            for e in cut.clone() {
                piece[places[e] - start] = from[e];
            }
        });
    });
    Ok(values)
}
