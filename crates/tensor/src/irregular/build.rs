//! Packing into any format, part by part and level by level.
//!
//! Entries are combined, reduced to a triangle where the format mirrors it, and
//! given to the first part that takes them. Within a part each entry gets its
//! coordinates of the levels; sorted by these as any tuples are, the levels are
//! built one after the other, from the position of each entry in the level above
//! to that in this one. A level that puts positions in another order, as a hash
//! table does, lists the entries by their positions for the levels below.

use std::ops::Range;

use sparsec_base::cancel::{checkpoint, polled};
use sparsec_base::{Diagnostic, IndexWidth, Result, Scalar, code};
use sparsec_format::{Format, LevelKind, Role, level::hashed};
use sparsec_parallel::MemoryLimit;

use super::take::{take, triangle};
use super::{Part, parts};
use crate::alloc::{ask, filled, with_room};
use crate::array::{Array, Element};
use crate::check::{name_of, sized, too_large};
use crate::duplicates::Duplicates;
use crate::entries::Entries;
use crate::pack::PackOptions;
use crate::sort::{sort, with_tuples};
use crate::tensor::Tensor;
use crate::tuples::Tuples;
use crate::with_element;

/// A tensor in a format of any kind.
///
/// # Errors
/// Those of sorting entries and `E0406`, `E0407`; `E0134` for entries that are not
/// mirrored as the format says, `E0135` for one that no part takes, `E0136` for
/// more entries than a block has room for.
pub(crate) fn build(
    format: &Format,
    entries: Entries,
    options: PackOptions,
    fill: Scalar,
) -> Result<Tensor> {
    let extents = entries.extents.clone();
    let modes: Vec<usize> = (0..format.order()).collect();
    let mut rest = sort(entries, &modes, options.duplicates)?.into_entries(&extents, &modes)?;
    if format.mirror().is_some() {
        rest = triangle(format, &rest, fill)?;
    }
    let (mut arrays, mut positions) = (Vec::new(), Vec::new());
    let mut values = Vec::new();
    for part in parts(format, &extents)? {
        let taken = take(&part, rest)?;
        rest = taken.rest;
        let levels: Vec<usize> = (0..part.format.levels().len()).collect();
        let level_extents = taken.entries.extents.clone();
        let sorted = sort(taken.entries, &levels, Duplicates::Add)?;
        with_tuples!(sorted.list, tuples => {
            let mut builder = Builder {
                part: &part,
                format,
                mode_extents: &extents,
                memory: options.memory,
                extents: level_extents,
                places: filled(tuples.len(), || 0)?,
                tuples: &tuples,
                values: sorted.values,
                order: None,
                n_places: 1,
                arrays: Vec::new(),
                positions: Vec::new(),
            };
            values.push(builder.build(fill)?);
            arrays.append(&mut builder.arrays);
            positions.append(&mut builder.positions);
        });
    }
    if !rest.is_empty() {
        return Err(not_taken(format, &rest.coords(0).to_vec()));
    }
    arrays.push(joined(values)?);
    Ok(Tensor::trusted(
        format.clone(),
        extents,
        fill,
        arrays,
        positions,
    ))
}

fn not_taken(format: &Format, coords: &[u64]) -> Diagnostic {
    Diagnostic::new(
        code::OUTSIDE_REGION,
        format!("the format has no place for the entry at {coords:?}"),
    )
    .note(format!("the format is `{format}`"))
    .help("use a format for all entries, or add a part for the others: `… | coo`")
}

/// The values of all parts as one array.
fn joined(mut values: Vec<Array>) -> Result<Array> {
    if values.len() == 1 {
        return Ok(values.remove(0));
    }
    let element = values[0].element();
    Ok(with_element!(element, T => {
        let mut all: Vec<T> = with_room(values.iter().map(Array::len).sum())?;
        for part in &values {
            all.extend_from_slice(part.slice::<T>());
        }
        Array::from_vec(all)
    }))
}

/// Entries from one checkpoint to the next.
const POLLED: usize = 1 << 12;

/// A part in the making.
struct Builder<'a, T> {
    part: &'a Part,
    /// The whole format and the extents, for messages.
    format: &'a Format,
    mode_extents: &'a [u64],
    /// What an array may take.
    memory: MemoryLimit,
    /// The extent of each level.
    extents: Vec<u64>,
    /// The coordinates of the levels of each entry, in order.
    tuples: &'a T,
    values: Array,
    /// The entries by position in the level above, and there by coordinates, where
    /// that is not the order that they have.
    order: Option<Vec<usize>>,
    /// The position of each entry in the level above.
    places: Vec<usize>,
    n_places: usize,
    arrays: Vec<Array>,
    positions: Vec<usize>,
}

impl<T: Tuples> Builder<'_, T> {
    /// Builds all levels, and gives the values.
    fn build(&mut self, fill: Scalar) -> Result<Array> {
        let levels = self.part.format.levels().to_vec();
        for (number, level) in levels.iter().enumerate() {
            if level.has_size() {
                let size = self.extents[number];
                self.push_index(Role::Size(number), &[size], size)?;
            }
            if level.kind == LevelKind::RunLength {
                return self.runs(number, fill);
            }
            match level.kind {
                LevelKind::Dense | LevelKind::Batch | LevelKind::Bitmap => self.full(number)?,
                LevelKind::Compressed | LevelKind::LooseCompressed => self.segments(number)?,
                LevelKind::Singleton => self.singleton(number)?,
                LevelKind::Structured { n, .. } => self.structured(number, n as usize)?,
                LevelKind::Range => self.range(number)?,
                LevelKind::Hashed => self.hashed(number)?,
                LevelKind::RunLength => unreachable!("built above"),
            }
            self.positions.push(self.n_places);
        }
        let n = self.n_places;
        let values = Array::filled_within(self.memory, fill, n);
        let mut values = values.map_err(|fault| sized(fault, self.format, self.mode_extents))?;
        with_element!(fill.element(), V => {
            let (from, to) = (self.values.slice::<V>(), values.slice_mut::<V>());
            for (&place, &value) in polled(self.places.iter().zip(from)) {
                to[place] = value;
            }
        });
        Ok(values)
    }

    /// The entry at this place of the order by positions in the level above.
    fn entry(&self, at: usize) -> usize {
        self.order.as_ref().map_or(at, |order| order[at])
    }

    /// The places from `at` on of entries that have the same position above, and
    /// that position; `None` behind the last.
    fn group(&self, at: usize) -> Option<(Range<usize>, usize)> {
        let n = self.places.len();
        let parent = (at < n).then(|| self.places[self.entry(at)])?;
        let same = |&next: &usize| self.places[self.entry(next)] == parent;
        let end = at + 1 + (at + 1..n).take_while(same).count();
        if at / POLLED != end / POLLED {
            checkpoint();
        }
        Some((at..end, parent))
    }

    fn multiplied(&self, by: u64) -> Result<usize> {
        let n = usize::try_from(by)
            .ok()
            .and_then(|by| self.n_places.checked_mul(by));
        let n = n.filter(|&n| n < isize::MAX as usize);
        n.ok_or_else(|| too_large(self.format, self.mode_extents))
    }

    fn list<V: Clone>(&self, len: usize, value: V) -> Result<Vec<V>> {
        let bytes = (len as u64).saturating_mul(size_of::<V>() as u64);
        let list = ask(self.memory, bytes).and_then(|()| filled(len, || value.clone()));
        list.map_err(|fault| sized(fault, self.format, self.mode_extents))
    }

    fn full(&mut self, number: usize) -> Result<()> {
        let n = self.multiplied(self.extents[number])?;
        let extent = self.extents[number] as usize;
        let coord = self.tuples.coord(number);
        for (e, place) in polled(self.places.iter_mut().enumerate()) {
            *place = *place * extent + coord(e) as usize;
        }
        self.n_places = n;
        if self.part.format.levels()[number].kind == LevelKind::Bitmap {
            let mut bits = self.list(n, 0u8)?;
            self.places.iter().for_each(|&place| bits[place] = 1);
            self.arrays.push(Array::from_vec(bits));
        }
        Ok(())
    }

    fn segments(&mut self, number: usize) -> Result<()> {
        let end = self.part.format.chain_end(number);
        let is_loose = self.part.format.levels()[number].kind == LevelKind::LooseCompressed;
        let coord = self.tuples.coord(number);
        let chain: Vec<_> = (number..=end).map(|at| self.tuples.coord(at)).collect();
        let mut pos = self.list(self.n_places.saturating_add(1), 0u64)?;
        let mut crd = with_room(self.places.len())?;
        let mut next = 0;
        while let Some((group, parent)) = self.group(next) {
            next = group.end;
            let begun = crd.len();
            let mut before = None;
            for at in group {
                let e = self.entry(at);
                let is_new = before.is_none_or(|before| chain.iter().any(|c| c(before) != c(e)));
                if is_new {
                    crd.push(coord(e));
                }
                before = Some(e);
                self.places[e] = crd.len() - 1;
            }
            pos[parent + 1] = (crd.len() - begun) as u64;
        }
        counts_to_bounds(&mut pos);
        self.n_places = crd.len();
        let largest = self.extents[number].saturating_sub(1);
        let ends = is_loose.then(|| pos[1..].to_vec());
        self.push_index(Role::Pos(number), &pos, crd.len() as u64)?;
        if let Some(ends) = ends {
            self.push_index(Role::End(number), &ends, crd.len() as u64)?;
        }
        self.push_index(Role::Crd(number), &crd, largest)
    }

    fn singleton(&mut self, number: usize) -> Result<()> {
        // Where no entry is, below ranks, the extent says so.
        let mut crd = self.list(self.n_places, self.extents[number])?;
        let coord = self.tuples.coord(number);
        for (e, &place) in polled(self.places.iter().enumerate()) {
            crd[place] = coord(e);
        }
        let is_full = self.places.len() >= self.n_places && !crd.contains(&self.extents[number]);
        let largest = self.extents[number] - u64::from(is_full && self.extents[number] > 0);
        self.push_index(Role::Crd(number), &crd, largest)
    }

    fn structured(&mut self, number: usize, n: usize) -> Result<()> {
        let extent = self.extents[number];
        // What is left of a block are coordinates that no entry has.
        let n_positions = self.multiplied(n as u64)?;
        let mut crd = self.list(n_positions, 0u64)?;
        let mut is_empty = self.list(self.n_places, true)?;
        let coord = self.tuples.coord(number);
        let (mut taken, mut all): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
        let mut next = 0;
        while let Some((group, parent)) = self.group(next) {
            next = group.end;
            is_empty[parent] = false;
            taken.clear();
            for at in group.clone() {
                let e = self.entry(at);
                if taken.last() == Some(&coord(e)) {
                    continue;
                }
                if taken.len() == n {
                    return Err(self.too_full(number, e));
                }
                taken.push(coord(e));
            }
            let free = (0..extent).filter(|i| !taken.contains(i));
            all.clear();
            all.extend(free.take(n - taken.len()));
            all.extend_from_slice(&taken);
            all.sort_unstable();
            for at in group {
                let e = self.entry(at);
                let slot = all.binary_search(&coord(e));
                self.places[e] = parent * n + slot.expect("every coordinate has a slot");
            }
            crd[parent * n..][..n].copy_from_slice(&all);
        }
        for (parent, _) in is_empty
            .iter()
            .enumerate()
            .filter(|(_, is_empty)| **is_empty)
        {
            for (slot, to) in crd[parent * n..][..n].iter_mut().enumerate() {
                *to = slot as u64;
            }
        }
        self.n_places = n_positions;
        self.push_index(Role::Crd(number), &crd, extent.saturating_sub(1))
    }

    /// The diagnostic for entry `e`, for which its block has no room.
    fn too_full(&self, number: usize, e: usize) -> Diagnostic {
        let kind = self.part.format.levels()[number].kind.text();
        let n_levels = self.extents.len();
        let levels: Vec<u64> = (0..n_levels).map(|l| self.tuples.coord(l)(e)).collect();
        let mut coords = vec![0; self.mode_extents.len()];
        let in_extents = self.part.map.modes_of(&levels, &mut coords);
        debug_assert!(in_extents, "coordinates of an entry");
        Diagnostic::new(
            code::BLOCK_TOO_FULL,
            format!("the entry at {coords:?} is one more than `{kind}` stores of its block"),
        )
        .note(format!("the format is `{}`", self.format))
        .help("prune the tensor, or make the level `compressed`")
    }

    fn range(&mut self, number: usize) -> Result<()> {
        let mut pos = self.list(self.n_places.saturating_add(1), 0u64)?;
        let mut first = self.list(self.n_places, 0u64)?;
        let coord = self.tuples.coord(number);
        let mut n: u64 = 0;
        let mut next = 0;
        while let Some((group, parent)) = self.group(next) {
            next = group.end;
            let low = coord(self.entry(group.start));
            let high = coord(self.entry(group.end - 1));
            first[parent] = low;
            pos[parent + 1] = high - low + 1;
            for at in group {
                let e = self.entry(at);
                self.places[e] = (n + coord(e) - low) as usize;
            }
            n = n.saturating_add(high - low + 1);
        }
        counts_to_bounds(&mut pos);
        self.n_places =
            usize::try_from(n).map_err(|_| too_large(self.format, self.mode_extents))?;
        self.push_index(Role::Pos(number), &pos, n)?;
        let largest = self.extents[number].saturating_sub(1);
        self.push_index(Role::First(number), &first, largest)
    }

    fn hashed(&mut self, number: usize) -> Result<()> {
        let empty = self.extents[number];
        let mut pos = self.list(self.n_places.saturating_add(1), 0u64)?;
        let mut crd: Vec<u64> = Vec::new();
        let coord = self.tuples.coord(number);
        let mut next = 0;
        while let Some((group, parent)) = self.group(next) {
            next = group.end;
            let mut before = None;
            let is_new = |&at: &usize| {
                let here = Some(coord(self.entry(at)));
                std::mem::replace(&mut before, here) != here
            };
            let n_slots = hashed::n_slots(group.clone().filter(is_new).count());
            let table = crd.len();
            crd.resize(table + n_slots, empty);
            pos[parent + 1] = n_slots as u64;
            for at in group {
                let e = self.entry(at);
                let coord = coord(e);
                let mut slot = hashed::first_slot(coord, n_slots);
                while crd[table + slot] != coord && crd[table + slot] != empty {
                    slot = (slot + 1) & (n_slots - 1);
                }
                crd[table + slot] = coord;
                self.places[e] = table + slot;
            }
        }
        counts_to_bounds(&mut pos);
        self.n_places = crd.len();
        // Positions follow the slots now, not the coordinates.
        if number + 1 < self.extents.len() {
            let places = &self.places;
            let mut order = self
                .order
                .take()
                .unwrap_or_else(|| (0..places.len()).collect());
            order.sort_by_key(|&e| places[e]);
            self.order = Some(order);
        }
        self.push_index(Role::Pos(number), &pos, crd.len() as u64)?;
        self.push_index(Role::Crd(number), &crd, empty)
    }

    /// A last level of runs, and their values.
    fn runs(&mut self, number: usize, fill: Scalar) -> Result<Array> {
        with_element!(fill.element(), V => self.runs_of::<V>(number, fill))
    }

    fn runs_of<V: Element>(&mut self, number: usize, fill: Scalar) -> Result<Array> {
        let extent = self.extents[number];
        let mut pos = self.list(self.n_places.saturating_add(1), 0u64)?;
        let mut bounds: Vec<u64> = Vec::new();
        let coord = self.tuples.coord(number);
        let from = self.values.slice::<V>();
        let fill = V::from_scalar(fill).unwrap_or(V::ZERO);
        let mut values: Vec<V> = Vec::new();
        let mut next = 0;
        for parent in 0..self.n_places {
            bounds.push(0);
            let (mut at, begun) = (0, values.len());
            let mut run = |upto: u64, value: V, values: &mut Vec<V>| {
                if upto == at {
                    return;
                }
                at = upto;
                // Bits decide: a zero is not its negative.
                match values[begun..].last() {
                    Some(last) if last.scalar() == value.scalar() => {
                        *bounds.last_mut().expect("a run has bounds") = upto;
                    }
                    _ => {
                        values.push(value);
                        bounds.push(upto);
                    }
                }
            };
            while next < self.places.len() && self.places[self.entry(next)] == parent {
                let e = self.entry(next);
                next += 1;
                run(coord(e), fill, &mut values);
                run(coord(e) + 1, from[e], &mut values);
            }
            run(extent, fill, &mut values);
            pos[parent + 1] = (values.len() - begun) as u64;
        }
        counts_to_bounds(&mut pos);
        self.n_places = values.len();
        self.positions.push(self.n_places);
        self.push_index(Role::Pos(number), &pos, values.len() as u64)?;
        self.push_index(Role::Bounds(number), &bounds, extent)?;
        Ok(Array::from_vec(values))
    }

    /// Adds an index array whose entries are at most `largest`.
    fn push_index(&mut self, role: Role, entries: &[u64], largest: u64) -> Result<()> {
        let needed = IndexWidth::holding(largest);
        let declared = self.part.format.declared_width(role);
        let width = declared.unwrap_or(needed);
        if width.max() < largest {
            let fault = Diagnostic::new(
                code::INDEX_WIDTH_OVERFLOW,
                format!(
                    "`{}` is declared with {} bits but has to hold {largest}",
                    name_of(role.after(self.part.first_level)),
                    width.bits()
                ),
            );
            let fault = match role {
                Role::Crd(level) if largest == self.extents[level] => {
                    fault.note(format!("places that hold no entry say {largest}"))
                }
                _ => fault,
            };
            return Err(fault
                .note(format!("the format is `{}`", self.format))
                .help(format!("declare {} bits, or no width", needed.bits())));
        }
        self.arrays.push(match width {
            IndexWidth::W8 => Array::from_vec(entries.iter().map(|&n| n as u8).collect::<Vec<_>>()),
            IndexWidth::W16 => {
                Array::from_vec(entries.iter().map(|&n| n as u16).collect::<Vec<_>>())
            }
            IndexWidth::W32 => {
                Array::from_vec(entries.iter().map(|&n| n as i32).collect::<Vec<_>>())
            }
            IndexWidth::W64 => {
                Array::from_vec(entries.iter().map(|&n| n as i64).collect::<Vec<_>>())
            }
        });
        Ok(())
    }
}

/// From how many each parent has, after a leading zero, to where they begin.
fn counts_to_bounds(pos: &mut [u64]) {
    let mut sum = 0;
    for bound in pos {
        sum += *bound;
        *bound = sum;
    }
}
