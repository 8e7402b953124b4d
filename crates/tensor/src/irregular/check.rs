//! What must hold of the arrays of a tensor in any format.
//!
//! | kind               | beyond lengths and bounds                                  |
//! |--------------------|------------------------------------------------------------|
//! | `loose_compressed` | `pos(p) <= end(p) <= pos(p+1)`                              |
//! | `range`            | a run ends within the extent                               |
//! | `bitmap`           | bits are 0 or 1                                            |
//! | `hashed`           | a table is a power of two, has an empty slot unless it has none, and the search for each coordinate in it finds it |
//! | `run_length`       | bounds ascend from 0 to the extent                         |
//!
//! Coordinates ascend below each parent where the level is ordered; no entry is
//! stored twice unless the last level is nonunique; what is listed lies within
//! the extents, be it places on a curve or in blocks; and what belongs to no entry
//! is the fill.

use std::ops::Range;

use sparsec_base::{Diagnostic, Result, Scalar, code};
use sparsec_format::{Format, LevelKind, Role, level::hashed};

use super::order::{Coordinates, Order};
use super::{Part, Visited, parts, walk_part};
use crate::array::Array;
use crate::borrowed::TensorRef;
use crate::check::{Depth, name_of, too_large};
use crate::index::Index;
use crate::tensor::Tensor;
use crate::walk::Walk;

/// The number of positions of each level, if the arrays, whose number and types
/// were checked, are a tensor.
pub(crate) fn check(
    depth: Depth,
    format: &Format,
    extents: &[u64],
    fill: Scalar,
    arrays: &[Array],
) -> Result<Vec<usize>> {
    let specs = format.arrays();
    let find = |role: Role| {
        let place = specs.iter().position(|spec| spec.role == role);
        place.map(|place| &arrays[place])
    };
    let mut positions = Vec::new();
    let mut n_values = 0;
    let parts = parts(format, extents)?;
    for part in &parts {
        n_values += levels(part, format, extents, &find, &mut positions)?;
    }
    length(name_of(Role::Vals), &arrays[arrays.len() - 1], n_values)?;
    // What was checked so far is enough to walk.
    if depth == Depth::Levels {
        return Ok(positions);
    }
    let tensor = TensorRef::unchecked(format, extents, fill, arrays, &positions);
    entries(&tensor, &parts)?;
    Ok(positions)
}

fn length(name: String, array: &Array, wanted: usize) -> Result<()> {
    match array.len() == wanted {
        true => Ok(()),
        false => Err(Diagnostic::new(
            code::ARRAY_MISMATCH,
            format!("`{name}` has {} entries, not {wanted}", array.len()),
        )),
    }
}

/// Checks the arrays of the levels of a part; returns how many values it has.
fn levels<'a>(
    part: &Part,
    format: &Format,
    mode_extents: &[u64],
    find: &dyn Fn(Role) -> Option<&'a Array>,
    positions: &mut Vec<usize>,
) -> Result<usize> {
    let mut parents = 1usize;
    for (number, level) in part.format.levels().iter().enumerate() {
        let role = |role: Role| role.after(part.first_level);
        let index = |wanted: Role| {
            let array = find(role(wanted)).expect("the format declares the arrays of its levels");
            (name_of(role(wanted)), array)
        };
        let extent = match part.map.extents()[number] {
            Some(extent) => extent,
            None => {
                let (name, size) = index(Role::Size(number));
                length(name.clone(), size, 1)?;
                match size.as_index().get(0) {
                    size if size >= 0 => size as u64,
                    size => return Err(bad(format!("`{name}[0]` is {size}, and no extent"))),
                }
            }
        };
        let times = |by: u64| {
            let n = usize::try_from(by)
                .ok()
                .and_then(|by| parents.checked_mul(by));
            n.filter(|&n| n < isize::MAX as usize)
                .ok_or_else(|| too_large(format, mode_extents))
        };
        let n = match level.kind {
            LevelKind::Dense | LevelKind::Batch => times(extent)?,
            LevelKind::Bitmap => {
                let n = times(extent)?;
                let (name, bits) = index(Role::Bits(number));
                length(name.clone(), bits, n)?;
                at_most(&name, bits.as_index(), 1)?;
                n
            }
            LevelKind::Singleton => {
                let (name, crd) = index(Role::Crd(number));
                length(name.clone(), crd, parents)?;
                match part.format.may_mark(number) {
                    true => at_most(&name, crd.as_index(), extent)?,
                    false => below(&name, crd.as_index(), extent)?,
                }
                parents
            }
            LevelKind::Structured { n, .. } => {
                let n = times(n.into())?;
                let (name, crd) = index(Role::Crd(number));
                length(name.clone(), crd, n)?;
                below(&name, crd.as_index(), extent)?;
                n
            }
            LevelKind::Compressed
            | LevelKind::LooseCompressed
            | LevelKind::Hashed
            | LevelKind::Range
            | LevelKind::RunLength => {
                let (name, pos) = index(Role::Pos(number));
                length(name.clone(), pos, parents + 1)?;
                let n = ascending(&name, pos.as_index())?;
                let pos = pos.as_index();
                match level.kind {
                    LevelKind::RunLength => {
                        let (name, bounds) = index(Role::Bounds(number));
                        length(name.clone(), bounds, n + parents)?;
                        runs(&name, pos, bounds.as_index(), extent)?;
                    }
                    LevelKind::Range => {
                        let (name, first) = index(Role::First(number));
                        length(name.clone(), first, parents)?;
                        for p in 0..parents {
                            let run = (pos.at(p + 1) - pos.at(p)) as u64;
                            let first = first.as_index().get(p);
                            let fits = u64::try_from(first).is_ok_and(|first| {
                                first.checked_add(run).is_some_and(|end| end <= extent)
                            });
                            if run > 0 && !fits {
                                let message = format!(
                                    "`{name}[{p}]` is {first}, and a run of {run} does not fit in extent {extent}"
                                );
                                return Err(bad(message));
                            }
                        }
                    }
                    _ => {
                        let (name, crd) = index(Role::Crd(number));
                        length(name.clone(), crd, n)?;
                        let crd = crd.as_index();
                        match level.kind {
                            LevelKind::Hashed => {
                                at_most(&name, crd, extent)?;
                                tables(&name, pos, crd, extent)?;
                            }
                            LevelKind::LooseCompressed => {
                                let (name, end) = index(Role::End(number));
                                length(name.clone(), end, parents)?;
                                for p in 0..parents {
                                    let at = end.as_index().get(p);
                                    if at < pos.get(p) || at > pos.get(p + 1) {
                                        return Err(Diagnostic::new(
                                            code::BAD_SEGMENTS,
                                            format!("`{name}[{p}]` is {at}, outside of its room"),
                                        ));
                                    }
                                    let crds = pos.at(p)..end.as_index().at(p);
                                    for q in crds {
                                        if crd.get(q) < 0 || crd.get(q) as u64 >= extent {
                                            return Err(outside(
                                                &name_of(role(Role::Crd(number))),
                                                q,
                                                crd.get(q),
                                                extent,
                                            ));
                                        }
                                    }
                                }
                            }
                            _ => below(&name, crd, extent)?,
                        }
                    }
                }
                n
            }
        };
        positions.push(n);
        parents = n;
    }
    Ok(parents)
}

pub(super) fn bad(message: String) -> Diagnostic {
    Diagnostic::new(code::BAD_COORDINATES, message)
}

fn outside(name: &str, at: usize, crd: i64, extent: u64) -> Diagnostic {
    Diagnostic::new(
        code::OUT_OF_BOUNDS,
        format!("`{name}[{at}]` is {crd}, but its level has extent {extent}"),
    )
}

fn below(name: &str, crd: Index<'_>, extent: u64) -> Result<()> {
    let mut entries = crd.iter().enumerate();
    match entries.find(|&(_, crd)| crd < 0 || crd as u64 >= extent) {
        Some((at, crd)) => Err(outside(name, at, crd, extent)),
        None => Ok(()),
    }
}

/// The extent itself marks what is not there.
fn at_most(name: &str, crd: Index<'_>, most: u64) -> Result<()> {
    let mut entries = crd.iter().enumerate();
    match entries.find(|&(_, crd)| crd < 0 || crd as u64 > most) {
        Some((at, crd)) => Err(outside(name, at, crd, most)),
        None => Ok(()),
    }
}

fn ascending(name: &str, pos: Index<'_>) -> Result<usize> {
    let fault = |message| Err(Diagnostic::new(code::BAD_SEGMENTS, message));
    if pos.get(0) != 0 {
        return fault(format!("`{name}[0]` is {}, not 0", pos.get(0)));
    }
    let mut steps = 1..pos.len();
    if let Some(at) = steps.find(|&at| pos.get(at) < pos.get(at - 1)) {
        let (here, before) = (pos.get(at), pos.get(at - 1));
        return fault(format!(
            "`{name}[{at}]` is {here}, smaller than {before} before it"
        ));
    }
    Ok(pos.at(pos.len() - 1))
}

fn runs(name: &str, pos: Index<'_>, bounds: Index<'_>, extent: u64) -> Result<()> {
    for p in 0..pos.len() - 1 {
        let own = pos.at(p) + p..pos.at(p + 1) + p;
        let ascends = own.clone().all(|at| bounds.get(at) < bounds.get(at + 1));
        let ends = (bounds.get(own.start), bounds.get(own.end));
        if !ascends || ends.0 != 0 || u64::try_from(ends.1) != Ok(extent) {
            return Err(Diagnostic::new(
                code::BAD_SEGMENTS,
                format!(
                    "the runs from `{name}[{}]` on do not ascend from 0 to {extent}",
                    own.start
                ),
            ));
        }
    }
    Ok(())
}

fn tables(name: &str, pos: Index<'_>, crd: Index<'_>, extent: u64) -> Result<()> {
    for p in 0..pos.len() - 1 {
        let (table, n_slots) = (pos.at(p), pos.at(p + 1) - pos.at(p));
        if n_slots == 0 {
            continue;
        }
        let at = |slot: usize| crd.get(table + slot) as u64;
        if !n_slots.is_power_of_two() || (0..n_slots).all(|slot| at(slot) != extent) {
            return Err(bad(format!(
                "the table of `{name}` from {table} on has {n_slots} slots, which are no power of two with an empty one"
            )));
        }
        for slot in (0..n_slots).filter(|&slot| at(slot) != extent) {
            let mut probe = hashed::first_slot(at(slot), n_slots);
            while at(probe) != at(slot) && at(probe) != extent {
                probe = (probe + 1) & (n_slots - 1);
            }
            if probe != slot {
                return Err(bad(format!(
                    "`{name}[{}]`: the search for {} does not find it here",
                    table + slot,
                    at(slot)
                )));
            }
        }
    }
    Ok(())
}

/// Order, uniqueness, and padding.
fn entries(tensor: &Tensor, parts: &[Part]) -> Result<()> {
    let mut all = Coordinates::new(tensor.extents());
    let mut n_values = 0;
    let is_unique = parts.iter().all(|part| part.format.is_unique());
    let is_distinct = matches!(parts, [part] if is_distinct_by_levels(part));
    for part in parts {
        let extents = part.extents(|level| tensor.level(level));
        let walk = Walk::of_part(tensor, &part.format, part.first_level, &extents);
        Order::of(part, walk.levels()).check()?;
        let places = n_values;
        n_values += match part.format.levels().len() {
            0 => 1,
            n => tensor.n_positions(part.first_level + n - 1),
        };
        if is_distinct && has_no_padding(part, tensor.extents()) {
            continue;
        }
        let mut wrong = None;
        let mut outside = None;
        let reaches_beyond = part.format.reaches_beyond();
        let mut beyond = None;
        let lists_entries = part.format.lists_entries();
        // Where coordinates are those of modes, runs lie within the tensor, and meet
        // others where they begin.
        let begins = parts.len() == 1 && part.format.is_plain();
        let chosen = |run: Range<u64>, _| match begins {
            true => run.start..run.start + 1,
            false => run,
        };
        walk_part(part, &walk, chosen, |place, position| match place {
            Visited::Entry(_) if is_distinct || !is_unique => {}
            Visited::Entry(coords) => all.push(coords),
            Visited::Outside(coords) if !reaches_beyond => {
                outside.get_or_insert_with(|| coords.to_vec());
            }
            Visited::Padding if lists_entries => _ = beyond.get_or_insert(position),
            Visited::Padding | Visited::Outside(_) => {
                let value = tensor.vals().get(places + position);
                if value != tensor.fill() && !(value.to_f64().is_nan()) {
                    wrong.get_or_insert((places + position, value));
                }
            }
        });
        if let Some(coords) = outside {
            let message = format!("{coords:?} is stored, which is outside of the region");
            return Err(Diagnostic::new(code::OUTSIDE_REGION, message)
                .note(format!("the format is `{}`", tensor.format()))
                .help("leave the entry out"));
        }
        if let Some(position) = beyond {
            return Err(bad(format!(
                "position {position} of the last level is that of no entry"
            ))
            .note(format!("the format is `{}`", tensor.format()))
            .help("list entries of the tensor alone: coordinates are below the extents"));
        }
        if let Some((at, value)) = wrong {
            return Err(Diagnostic::new(
                code::OUTSIDE_REGION,
                format!("`vals[{at}]` is {value} where no entry is"),
            )
            .note(format!("the format is `{}`", tensor.format()))
            .help("padding is the fill"));
        }
    }
    match all.repeated() {
        Some(coords) => Err(bad(format!("the entry at {coords:?} is stored twice"))
            .help("add up the duplicates, or make the last level `nonunique`")),
        None => Ok(()),
    }
}

/// Whether levels alone tell entries apart: no position below a parent repeats the
/// coordinates of another, as [`Order`] and [`tables`] have checked, and the coordinates of
/// all levels follow from those of modes.
fn is_distinct_by_levels(part: &Part) -> bool {
    let levels = part.format.levels().iter();
    let mut is_apart = levels.map(|level| level.is_ordered() || level.kind == LevelKind::Hashed);
    part.format.is_unique() && !part.format.has_ranks() && is_apart.all(|is_apart| is_apart)
}

/// Whether each place of the levels is that of an entry: there are as many places as
/// entries, and no two entries share one.
fn has_no_padding(part: &Part, extents: &[u64]) -> bool {
    let product = |mut extents: Box<dyn Iterator<Item = Option<u64>> + '_>| {
        extents.try_fold(1_u128, |n, extent| n.checked_mul(extent?.into()))
    };
    let places = product(Box::new(part.map.extents().iter().copied()));
    let entries = product(Box::new(extents.iter().copied().map(Some)));
    part.format.region().is_none() && places.is_some() && places == entries
}
