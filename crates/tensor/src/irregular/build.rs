//! Packing into any format, part by part and level by level.
//!
//! Entries are combined, reduced to a triangle where the format mirrors it, and
//! given to the first part that takes them. Within a part each entry gets its
//! coordinates of the levels; sorted by these, the levels are built one after
//! the other, from the position of each entry in the level above to that in this
//! one. A level that puts positions in another order, as a hash table does,
//! sorts the entries again by their positions.

use sparsec_base::{Diagnostic, IndexWidth, Result, Scalar, code};
use sparsec_format::{Format, LevelKind, Role, level::hashed};

use super::take::{take, triangle};
use super::{Part, parts};
use crate::alloc::{filled, with_room};
use crate::array::{Array, Element};
use crate::check::{name_of, sized, too_large};
use crate::duplicates::Duplicates;
use crate::entries::Entries;
use crate::sort::sort;
use crate::tensor::Tensor;
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
    duplicates: Duplicates,
    fill: Scalar,
) -> Result<Tensor> {
    let extents = entries.extents.clone();
    let modes: Vec<usize> = (0..format.order()).collect();
    let mut rest = sort(entries, &modes, duplicates)?.into_entries(&extents, &modes)?;
    if format.mirror().is_some() {
        rest = triangle(format, &rest, fill)?;
    }
    let (mut arrays, mut positions) = (Vec::new(), Vec::new());
    let mut values = Vec::new();
    for part in parts(format, &extents)? {
        let taken = take(&part, rest)?;
        rest = taken.rest;
        let mut builder = Builder::new(&part, format, &extents, taken.entries, taken.levels)?;
        values.push(builder.build(fill)?);
        arrays.append(&mut builder.arrays);
        positions.append(&mut builder.positions);
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

/// A part in the making.
struct Builder<'a> {
    part: &'a Part,
    /// The whole format and the extents, for messages.
    format: &'a Format,
    mode_extents: &'a [u64],
    /// The extent of each level.
    extents: Vec<u64>,
    /// The coordinates of the levels, entry by entry.
    levels: Vec<u64>,
    values: Array,
    /// The entries by position in the level above, and there by coordinates.
    order: Vec<usize>,
    /// The position of each entry in the level above.
    places: Vec<usize>,
    n_places: usize,
    arrays: Vec<Array>,
    positions: Vec<usize>,
}

impl<'a> Builder<'a> {
    fn new(
        part: &'a Part,
        format: &'a Format,
        mode_extents: &'a [u64],
        entries: Entries,
        levels: Vec<u64>,
    ) -> Result<Self> {
        let n_levels = part.format.levels().len();
        let n = entries.len();
        let extents = part.map.extents().iter().enumerate();
        let extents = extents.map(|(number, extent)| {
            // Ranks count up from 0.
            let ranks = || (0..n).map(|e| levels[e * n_levels + number] + 1).max();
            extent.unwrap_or_else(|| ranks().unwrap_or(0))
        });
        let mut order: Vec<usize> = with_room(n)?;
        order.extend(0..n);
        order.sort_by(|&a, &b| {
            let row = |e: usize| &levels[e * n_levels..][..n_levels];
            row(a).cmp(row(b))
        });
        Ok(Self {
            part,
            format,
            mode_extents,
            extents: extents.collect(),
            places: filled(n, || 0)?,
            n_places: 1,
            order,
            values: entries.values,
            levels,
            arrays: Vec::new(),
            positions: Vec::new(),
        })
    }

    /// Builds all levels, and gives the values.
    fn build(&mut self, fill: Scalar) -> Result<Array> {
        let levels = self.part.format.levels().to_vec();
        for (number, level) in levels.iter().enumerate() {
            if level.has_size() {
                let size = vec![self.extents[number]];
                self.push_index(Role::Size(number), size, self.extents[number])?;
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
        let values = Array::filled(fill, n);
        let mut values = values.map_err(|fault| sized(fault, self.format, self.mode_extents))?;
        with_element!(fill.element(), T => {
            let (from, to) = (self.values.slice::<T>(), values.slice_mut::<T>());
            for (e, &value) in from.iter().enumerate() {
                to[self.places[e]] = value;
            }
        });
        Ok(values)
    }

    fn coord(&self, number: usize, e: usize) -> u64 {
        self.levels[e * self.part.format.levels().len() + number]
    }

    /// The groups of entries that have the same position above, in order, each
    /// as a range of `order`.
    fn groups(&self) -> Vec<std::ops::Range<usize>> {
        let mut groups: Vec<std::ops::Range<usize>> = Vec::new();
        for at in 0..self.order.len() {
            match groups.last_mut() {
                Some(group)
                    if self.places[self.order[group.start]] == self.places[self.order[at]] =>
                {
                    group.end = at + 1;
                }
                _ => groups.push(at..at + 1),
            }
        }
        groups
    }

    fn multiplied(&self, by: u64) -> Result<usize> {
        let n = usize::try_from(by)
            .ok()
            .and_then(|by| self.n_places.checked_mul(by));
        let n = n.filter(|&n| n < isize::MAX as usize);
        n.ok_or_else(|| too_large(self.format, self.mode_extents))
    }

    fn list<T: Clone>(&self, len: usize, value: T) -> Result<Vec<T>> {
        let list = filled(len, || value.clone());
        list.map_err(|fault| sized(fault, self.format, self.mode_extents))
    }

    fn full(&mut self, number: usize) -> Result<()> {
        let n = self.multiplied(self.extents[number])?;
        let extent = self.extents[number] as usize;
        for e in 0..self.places.len() {
            self.places[e] = self.places[e] * extent + self.coord(number, e) as usize;
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
        let n_levels = self.part.format.levels().len();
        let is_loose = self.part.format.levels()[number].kind == LevelKind::LooseCompressed;
        let mut pos = self.list(self.n_places.saturating_add(1), 0u64)?;
        let mut crd = Vec::new();
        for group in self.groups() {
            let parent = self.places[self.order[group.start]];
            for at in group.clone() {
                let e = self.order[at];
                let row = |e: usize| &self.levels[e * n_levels + number..=e * n_levels + end];
                if at == group.start || row(self.order[at - 1]) != row(e) {
                    crd.push(self.coord(number, e));
                    pos[parent + 1] += 1;
                }
                self.places[e] = crd.len() - 1;
            }
        }
        counts_to_bounds(&mut pos);
        self.n_places = crd.len();
        let largest = self.extents[number].saturating_sub(1);
        let ends = is_loose.then(|| pos[1..].to_vec());
        self.push_index(Role::Pos(number), pos, crd.len() as u64)?;
        if let Some(ends) = ends {
            self.push_index(Role::End(number), ends, crd.len() as u64)?;
        }
        self.push_index(Role::Crd(number), crd, largest)
    }

    fn singleton(&mut self, number: usize) -> Result<()> {
        // Where no entry is, below ranks, the extent says so.
        let mut crd = self.list(self.n_places, self.extents[number])?;
        for e in 0..self.places.len() {
            crd[self.places[e]] = self.coord(number, e);
        }
        let is_full = self.places.len() >= self.n_places && !crd.contains(&self.extents[number]);
        let largest = self.extents[number] - u64::from(is_full && self.extents[number] > 0);
        self.push_index(Role::Crd(number), crd, largest)
    }

    fn structured(&mut self, number: usize, n: usize) -> Result<()> {
        let extent = self.extents[number];
        // What is left of a block are coordinates that no entry has.
        let n_positions = self.multiplied(n as u64)?;
        let mut crd = self.list(n_positions, 0u64)?;
        let mut is_empty = self.list(self.n_places, true)?;
        for group in self.groups() {
            let parent = self.places[self.order[group.start]];
            is_empty[parent] = false;
            let mut taken: Vec<u64> = group
                .clone()
                .map(|at| self.coord(number, self.order[at]))
                .collect();
            taken.dedup();
            if taken.len() > n {
                return Err(self.too_full(number, taken.len()));
            }
            let free = (0..extent).filter(|i| !taken.contains(i));
            let mut all: Vec<u64> = free
                .take(n - taken.len())
                .chain(taken.iter().copied())
                .collect();
            all.sort_unstable();
            for at in group {
                let e = self.order[at];
                let slot = all.binary_search(&self.coord(number, e));
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
        self.push_index(Role::Crd(number), crd, extent.saturating_sub(1))
    }

    fn too_full(&self, number: usize, n: usize) -> Diagnostic {
        let level = &self.part.format.levels()[number];
        Diagnostic::new(
            code::BLOCK_TOO_FULL,
            format!(
                "a block has {n} entries, more than `{}` stores",
                level.kind.text()
            ),
        )
        .note(format!("the format is `{}`", self.format))
        .help("prune the tensor, or make the level `compressed`")
    }

    fn range(&mut self, number: usize) -> Result<()> {
        let mut pos = self.list(self.n_places.saturating_add(1), 0u64)?;
        let mut first = self.list(self.n_places, 0u64)?;
        let mut n: u64 = 0;
        for group in self.groups() {
            let parent = self.places[self.order[group.start]];
            let low = self.coord(number, self.order[group.start]);
            let high = self.coord(number, self.order[group.end - 1]);
            first[parent] = low;
            pos[parent + 1] = high - low + 1;
            for at in group {
                let e = self.order[at];
                self.places[e] = (n + self.coord(number, e) - low) as usize;
            }
            n = n.saturating_add(high - low + 1);
        }
        counts_to_bounds(&mut pos);
        self.n_places =
            usize::try_from(n).map_err(|_| too_large(self.format, self.mode_extents))?;
        self.push_index(Role::Pos(number), pos, n)?;
        self.push_index(
            Role::First(number),
            first,
            self.extents[number].saturating_sub(1),
        )
    }

    fn hashed(&mut self, number: usize) -> Result<()> {
        let empty = self.extents[number];
        let mut pos = self.list(self.n_places.saturating_add(1), 0u64)?;
        let mut crd: Vec<u64> = Vec::new();
        for group in self.groups() {
            let parent = self.places[self.order[group.start]];
            let mut distinct: Vec<u64> = group
                .clone()
                .map(|at| self.coord(number, self.order[at]))
                .collect();
            distinct.dedup();
            let n_slots = hashed::n_slots(distinct.len());
            let table = crd.len();
            crd.resize(table + n_slots, empty);
            pos[parent + 1] = n_slots as u64;
            for at in group {
                let e = self.order[at];
                let coord = self.coord(number, e);
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
        let places = &self.places;
        self.order.sort_by_key(|&e| places[e]);
        self.push_index(Role::Pos(number), pos, crd.len() as u64)?;
        self.push_index(Role::Crd(number), crd, empty)
    }

    /// A last level of runs, and their values.
    fn runs(&mut self, number: usize, fill: Scalar) -> Result<Array> {
        with_element!(fill.element(), T => self.runs_of::<T>(number, fill))
    }

    fn runs_of<T: Element>(&mut self, number: usize, fill: Scalar) -> Result<Array> {
        let extent = self.extents[number];
        let mut pos = self.list(self.n_places.saturating_add(1), 0u64)?;
        let mut bounds: Vec<u64> = Vec::new();
        let values = {
            let from = self.values.slice::<T>();
            let fill = T::from_scalar(fill).unwrap_or(T::ZERO);
            let mut values: Vec<T> = Vec::new();
            let groups = self.groups();
            let mut groups = groups.into_iter().peekable();
            for parent in 0..self.n_places {
                bounds.push(0);
                let (mut at, begun) = (0, values.len());
                let mut run = |upto: u64, value: T, values: &mut Vec<T>| {
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
                let is_here =
                    |group: &std::ops::Range<usize>| self.places[self.order[group.start]] == parent;
                if let Some(group) = groups.next_if(is_here) {
                    for at in group {
                        let e = self.order[at];
                        let coord = self.coord(number, e);
                        run(coord, fill, &mut values);
                        run(coord + 1, from[e], &mut values);
                    }
                }
                run(extent, fill, &mut values);
                pos[parent + 1] = (values.len() - begun) as u64;
            }
            Array::from_vec(values)
        };
        counts_to_bounds(&mut pos);
        self.n_places = values.len();
        self.positions.push(self.n_places);
        self.push_index(Role::Pos(number), pos, values.len() as u64)?;
        self.push_index(Role::Bounds(number), bounds, extent)?;
        Ok(values)
    }

    /// Adds an index array whose entries are at most `largest`.
    fn push_index(&mut self, role: Role, entries: Vec<u64>, largest: u64) -> Result<()> {
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
