//! Which entries a part of a format takes, and where its levels put them.
//!
//! ```text
//! entries ── one triangle, where the other mirrors it ──► those that stand for all
//!         ── region, ranks below their limit ──► those of the part, and the rest
//! ```

use std::cmp::Ordering;
use std::ops::Range;

use sparsec_base::{Diagnostic, Result, Scalar, code};
use sparsec_format::{Coordinate, Format, Mirror, Mirrored, Region};
use sparsec_parallel::{map, ranges, split_mut};

use super::{Part, image};
use crate::alloc::{filled, with_room};
use crate::array::{Array, Element};
use crate::coords::CoordWord;
use crate::duplicates::Duplicates;
use crate::entries::Entries;
use crate::sort::{sort, with_tuples};
use crate::tuples::{GRAIN, Tuples};
use crate::with_element;

/// The entries of the region that stands for all of them.
pub(super) fn triangle(format: &Format, entries: &Entries, fill: Scalar) -> Result<Entries> {
    let (Some(mirror), Some(region)) = (format.mirror(), format.region()) else {
        unreachable!("what is mirrored is a region");
    };
    let [a, b] = mirror.modes;
    let fault = |message: String| {
        Diagnostic::new(code::NOT_MIRRORED, message)
            .note(format!("the format is `{format}`"))
            .help("store all entries, without this clause")
    };
    if entries.extents[a] != entries.extents[b] {
        let (a, b) = (entries.extents[a], entries.extents[b]);
        return Err(fault(format!(
            "modes of extents {a} and {b} cannot mirror each other"
        )));
    }
    with_element!(entries.element(), T => triangle_of::<T>(entries, mirror, region, fill, &fault))
}

/// Merges the entries with their own list at exchanged coordinates, in which the
/// value at each place is the one that it has to mirror.
fn triangle_of<T: Element>(
    entries: &Entries,
    mirror: Mirror,
    region: Region,
    fill: Scalar,
    fault: &dyn Fn(String) -> Diagnostic,
) -> Result<Entries> {
    let [a, b] = mirror.modes;
    let n_modes = entries.order();
    let mut exchanged: Vec<usize> = (0..n_modes).collect();
    exchanged.swap(a, b);
    let mirrored = sort(entries.clone(), &exchanged, Duplicates::Add)?;
    let (values, images) = (entries.values.slice::<T>(), mirrored.values.slice::<T>());
    let fill = T::from_scalar(fill).unwrap_or(T::ZERO);
    let mut coords = with_room(entries.len().saturating_mul(n_modes))?;
    let mut kept = with_room(entries.len())?;
    let mut keep = |at: &[u64], value: T| {
        if region.holds(at) {
            coords.extend_from_slice(at);
            kept.push(value);
        }
    };
    let (mut here, mut there) = (vec![0; n_modes], vec![0; n_modes]);
    let mut next = 0;
    with_tuples!(mirrored.list, tuples => {
        let levels: Vec<_> = (0..n_modes).map(|level| tuples.coord(level)).collect();
        let exchange = |image: usize, to: &mut [u64]| {
            to.iter_mut().zip(&levels).for_each(|(to, coord)| *to = coord(image));
        };
        for (e, &value) in values.iter().enumerate() {
            here.iter_mut().zip(entries.coords(e).iter()).for_each(|(to, coord)| *to = coord);
            // A fill that is stored on one side is stored on both.
            let mut other = fill;
            while next < images.len() {
                exchange(next, &mut there);
                match there.cmp(&here) {
                    Ordering::Less => keep(&there, fill),
                    Ordering::Equal => other = images[next],
                    Ordering::Greater => break,
                }
                next += 1;
            }
            let expected = image(mirror.of.image(), value);
            // A NaN mirrors a NaN.
            if other != expected && !(is_nan(other) && is_nan(expected)) {
                there.copy_from_slice(&here);
                there.swap(a, b);
                let value = value.scalar();
                let message = match mirror.of {
                    Mirrored::Skew if here == there => format!(
                        "the entry at {here:?} is {value}, and a skew tensor has zeros on its diagonal"
                    ),
                    Mirrored::Hermitian if here == there => format!(
                        "the entry at {here:?} is {value}, and a hermitian tensor is real on its diagonal"
                    ),
                    Mirrored::Symmetric => format!(
                        "the entry at {here:?} is {value}, and the one at {there:?} is {}",
                        other.scalar()
                    ),
                    Mirrored::Skew | Mirrored::Hermitian => format!(
                        "the entry at {here:?} is {value}, and the one at {there:?} is {}, not {}",
                        other.scalar(),
                        expected.scalar()
                    ),
                };
                return Err(fault(message));
            }
            keep(&here, value);
        }
        for image in next..images.len() {
            exchange(image, &mut there);
            keep(&there, fill);
        }
    });
    Ok(Entries {
        extents: entries.extents.clone(),
        coords: coords.into(),
        values: Array::from_vec(kept),
    })
}

fn is_nan<T: Element>(value: T) -> bool {
    value.scalar().to_c128().is_nan()
}

/// What a part takes of the entries, and what is left.
pub(super) struct Taken {
    /// The entries by the coordinates of the levels, in an order of no meaning.
    pub(super) entries: Entries,
    pub(super) rest: Entries,
}

/// Gives a part the entries that it stores, of entries in order.
pub(super) fn take(part: &Part, entries: Entries) -> Result<Taken> {
    let is_narrow = part.map.extents().iter().all(|extent| {
        // Ranks are below the number of the entries.
        extent.unwrap_or(entries.len() as u64) <= 1 << 32
    });
    match is_narrow {
        true => take_in::<u32>(part, entries),
        false => take_in::<u64>(part, entries),
    }
}

fn take_in<C: CoordWord>(part: &Part, entries: Entries) -> Result<Taken> {
    let n_levels = part.format.levels().len();
    let mut levels = filled(entries.len().saturating_mul(n_levels), C::default)?;
    let mut takes = filled(entries.len(), || true)?;
    let cuts = ranges(entries.len(), GRAIN);
    let levels_of = split_mut(&mut levels, cuts.iter().map(|cut| cut.len() * n_levels));
    let takes_of = split_mut(&mut takes, cuts.iter().map(Range::len));
    let work = cuts.into_iter().zip(levels_of).zip(takes_of).collect();
    let region = part.format.region();
    map(
        work,
        |((cut, levels), takes): ((Range<usize>, &mut [C]), &mut [bool])| {
            let (mut modes, mut row) = (vec![0; entries.order()], vec![0; n_levels]);
            for (at, (e, takes)) in cut.zip(takes).enumerate() {
                modes
                    .iter_mut()
                    .zip(entries.coords(e).iter())
                    .for_each(|(to, coord)| *to = coord);
                part.map.levels_of(&modes, &mut row);
                let to = levels[at * n_levels..].iter_mut();
                to.zip(&row).for_each(|(to, &coord)| *to = C::of(coord));
                *takes = region.is_none_or(|region| region.holds(&modes));
            }
        },
    );
    rank(part, &entries, &mut levels, &mut takes)?;
    let extents = part.map.extents().iter().enumerate();
    let extents = extents.map(|(number, extent)| {
        // Ranks count up from 0.
        let ranks = || levels.iter().skip(number).step_by(n_levels);
        extent.unwrap_or_else(|| ranks().max().map_or(0, |&rank| rank.into() + 1))
    });
    let extents = extents.collect();
    let takes_all = takes.iter().all(|&takes| takes);
    let rest = match takes_all {
        true => Entries::empty(&entries.extents, entries.element()),
        false => entries.chosen(|e| !takes[e])?,
    };
    let taken = Entries {
        extents,
        coords: C::list(levels),
        values: entries.values,
    };
    Ok(Taken {
        entries: match takes_all {
            true => taken,
            false => taken.chosen(|e| takes[e])?,
        },
        rest,
    })
}

/// Fills in ranks: entries are counted in the order of the other levels, and
/// those beyond the limit of a rank are not taken.
fn rank<C: CoordWord>(
    part: &Part,
    entries: &Entries,
    levels: &mut [C],
    takes: &mut [bool],
) -> Result<()> {
    let n_levels = part.format.levels().len();
    for (number, level) in part.format.levels().iter().enumerate() {
        let Coordinate::Rank { of, below } = &level.coordinate else {
            continue;
        };
        let Some(last) = of.len().checked_sub(1) else {
            continue;
        };
        let counted: Vec<i64> = (0..entries.len())
            .filter(|&e| takes[e])
            .map(|e| e as i64)
            .collect();
        // Ranks that are not known yet are all the same, and no entry has the levels
        // of another beside them.
        let mut coords: Vec<u64> = with_room(counted.len() * (of.len() + n_levels))?;
        for &e in &counted {
            let (tuple, row) = (entries.coords(e as usize), &levels[e as usize * n_levels..]);
            coords.extend(of.iter().map(|&mode| tuple.at(mode)));
            coords.extend(row[..n_levels].iter().map(|&coord| coord.into()));
        }
        let sorted = sort(
            Entries {
                extents: vec![u64::MAX; of.len() + n_levels],
                coords: coords.into(),
                values: Array::from_vec(counted),
            },
            &(0..of.len() + n_levels).collect::<Vec<_>>(),
            Duplicates::First,
        )?;
        let numbers = sorted.values.slice::<i64>();
        with_tuples!(sorted.list, tuples => {
            let differs = tuples.differs(last);
            let mut rank = 0;
            for (at, &e) in numbers.iter().enumerate() {
                rank = if at == 0 || differs(at) { 0 } else { rank + 1 };
                levels[e as usize * n_levels + number] = C::of(rank);
                takes[e as usize] = below.is_none_or(|below| rank < below);
            }
        });
    }
    Ok(())
}
