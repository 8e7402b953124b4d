//! Which entries a part of a format takes, and where its levels put them.
//!
//! ```text
//! entries ── one triangle, where the other mirrors it ──► those that stand for all
//!         ── region, ranks below their limit ──► those of the part, and the rest
//! ```

use std::cmp::Ordering;

use sparsec_base::{Diagnostic, Result, Scalar, code};
use sparsec_format::{Coordinate, Format, Mirror, Region};

use super::{Part, image};
use crate::alloc::{filled, with_room};
use crate::array::{Array, Element};
use crate::coords::Tuple;
use crate::entries::Entries;
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

fn triangle_of<T: Element>(
    entries: &Entries,
    mirror: Mirror,
    region: Region,
    fill: Scalar,
    fault: &dyn Fn(String) -> Diagnostic,
) -> Result<Entries> {
    let [a, b] = mirror.modes;
    let mut kept = Vec::new();
    let values = entries.values.slice::<T>();
    let fill = T::from_scalar(fill).unwrap_or(T::ZERO);
    let (all, order) = (entries.coords.wide(), entries.order());
    for (e, &value) in values.iter().enumerate() {
        let coords = &all[e * order..][..order];
        let mut swapped = coords.to_vec();
        swapped.swap(a, b);
        let other = find(entries, &swapped);
        let there = other.map_or(fill, |e| values[e]);
        let expected = image(mirror.of, value);
        // A NaN mirrors a NaN.
        let is_same = there == expected || (is_nan(there) && is_nan(expected));
        if !is_same {
            return Err(fault(format!(
                "the entry at {coords:?} is {}, and the one at {swapped:?} is {}",
                value.scalar(),
                there.scalar()
            )));
        }
        if region.holds(coords) {
            kept.push((coords.to_vec(), value));
        } else if other.is_none() {
            // A fill that is stored on one side is stored on both.
            kept.push((swapped, there));
        }
    }
    kept.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(Entries {
        extents: entries.extents.clone(),
        coords: kept
            .iter()
            .flat_map(|(coords, _)| coords.iter().copied())
            .collect(),
        values: Array::from_vec(kept.iter().map(|(_, value)| *value).collect::<Vec<T>>()),
    })
}

fn is_nan<T: Element>(value: T) -> bool {
    value.scalar().to_c128().is_nan()
}

/// The number of an entry, of entries in order.
fn find(entries: &Entries, coords: &[u64]) -> Option<usize> {
    let (mut low, mut high) = (0, entries.len());
    while low < high {
        let middle = low + (high - low) / 2;
        match entries.coords(middle).cmp(&Tuple::Wide(coords)) {
            Ordering::Equal => return Some(middle),
            Ordering::Less => low = middle + 1,
            Ordering::Greater => high = middle,
        }
    }
    None
}

/// What a part takes of the entries, and what is left.
pub(super) struct Taken {
    pub(super) entries: Entries,
    /// The coordinates of the levels, entry by entry.
    pub(super) levels: Vec<u64>,
    pub(super) rest: Entries,
}

/// Gives a part the entries that it stores.
pub(super) fn take(part: &Part, entries: Entries) -> Result<Taken> {
    let n_levels = part.format.levels().len();
    let mut levels = filled(entries.len().saturating_mul(n_levels), || 0)?;
    let mut takes = filled(entries.len(), || true)?;
    let region = part.format.region();
    let (coords, order) = (entries.coords.wide(), part.format.order());
    for e in 0..entries.len() {
        let coords = &coords[e * order..][..order];
        part.map
            .levels_of(coords, &mut levels[e * n_levels..][..n_levels]);
        takes[e] = region.is_none_or(|region| region.holds(coords));
    }
    rank(part, &entries, &mut levels, &mut takes)?;
    let chosen = |wanted: bool| entries.chosen(|e| takes[e] == wanted);
    let (kept, rest) = (chosen(true)?, chosen(false)?);
    let rows = (0..entries.len()).filter(|&e| takes[e]);
    let levels = rows.flat_map(|e| levels[e * n_levels..][..n_levels].iter().copied());
    Ok(Taken {
        entries: kept,
        levels: levels.collect(),
        rest,
    })
}

/// Fills in ranks: entries are counted in the order of the other levels, and
/// those beyond the limit of a rank are not taken.
fn rank(part: &Part, entries: &Entries, levels: &mut [u64], takes: &mut [bool]) -> Result<()> {
    let n_levels = part.format.levels().len();
    for (number, level) in part.format.levels().iter().enumerate() {
        let Coordinate::Rank { of, below } = &level.coordinate else {
            continue;
        };
        let mut order: Vec<usize> = with_room(entries.len())?;
        order.extend((0..entries.len()).filter(|&e| takes[e]));
        let group = |e: usize| of.iter().map(move |&mode| entries.coords(e).at(mode));
        order.sort_by(|&a, &b| {
            let row = |e: usize| &levels[e * n_levels..][..n_levels];
            group(a).cmp(group(b)).then_with(|| row(a).cmp(row(b)))
        });
        let mut rank = 0;
        for at in 0..order.len() {
            let is_new = at == 0 || !group(order[at - 1]).eq(group(order[at]));
            rank = if is_new { 0 } else { rank + 1 };
            levels[order[at] * n_levels + number] = rank;
            takes[order[at]] = below.is_none_or(|below| rank < below);
        }
    }
    Ok(())
}
