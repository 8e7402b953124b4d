//! How entries spread over the coordinates of each mode, and positions over
//! the levels.
//!
//! The entries come in the order of the modes, so those of a row stand together.
//! For every other mode there is a count for each coordinate.

use sparsec_base::Result;
use sparsec_format::{Distribution, LevelKind};
use sparsec_parallel::{map, ranges};

use super::places::Places;
use crate::coords::{CoordWord, with_words};
use crate::entries::Entries;
use crate::index::Index;
use crate::tensor::Tensor;
use crate::tuples::GRAIN;

/// For each mode, how many entries each coordinate has.
pub(super) fn modes(entries: &Entries) -> Result<Vec<Distribution>> {
    let modes = (0..entries.order()).collect();
    let counted = with_words!(&entries.coords, words => map(modes, |mode| {
        let coords = words.iter().skip(mode).step_by(entries.order()).copied();
        match mode {
            0 => Ok(in_runs(coords, entries.extents[mode])),
            _ => in_places(coords, entries.extents[mode]),
        }
    }));
    counted.into_iter().collect()
}

/// Of coordinates that ascend.
fn in_runs<C: CoordWord>(coords: impl Iterator<Item = C>, extent: u64) -> Distribution {
    let mut all = Distribution::default();
    let (mut run, mut n_occupied) = (None, 0);
    let mut end = |run: Option<(C, u64)>| {
        if let Some((_, n)) = run {
            all.add(n, 1);
            n_occupied += 1;
        }
    };
    for coord in coords {
        match &mut run {
            Some((of, n)) if *of == coord => *n += 1,
            _ => end(run.replace((coord, 1))),
        }
    }
    end(run);
    all.add(0, extent - n_occupied);
    all
}

fn in_places<C: CoordWord>(
    coords: impl ExactSizeIterator<Item = C>,
    extent: u64,
) -> Result<Distribution> {
    let mut counts = Places::<u64>::new(extent, coords.len())?;
    coords.for_each(|coord| *counts.at(coord.into()) += 1);
    Ok(match counts {
        Places::Array(counts) => distribution(counts.len(), |bin| counts[bin]),
        Places::Table(counts) => {
            let mut all = Distribution::default();
            counts.values().for_each(|&n| all.add(n, 1));
            all.add(0, extent - counts.len() as u64);
            all
        }
    })
}

/// For each level, how many positions there are below each position above.
pub(super) fn levels(tensor: &Tensor) -> Vec<Distribution> {
    let mut all = Vec::new();
    let parts = tensor.format().parts();
    let kinds = parts.iter().flat_map(|part| {
        let levels = part.levels().iter().enumerate();
        levels.map(|(number, level)| (number == 0, level.kind))
    });
    for (number, (is_first, kind)) in kinds.enumerate() {
        let parents = match is_first {
            true => 1,
            false => tensor.n_positions(number - 1),
        };
        let (positions, arrays) = (tensor.n_positions(number) as u64, tensor.level(number));
        let mut level_has = Distribution::default();
        match kind {
            LevelKind::Compressed | LevelKind::Hashed | LevelKind::Range | LevelKind::RunLength => {
                level_has = segments(arrays.pos())
            }
            LevelKind::LooseCompressed => {
                let (pos, end) = (arrays.pos(), arrays.end());
                level_has = distribution(parents, |p| (end.at(p) - pos.at(p)) as u64);
            }
            // As many below every parent.
            _ if parents > 0 => level_has.add(positions / parents as u64, parents as u64),
            _ => {}
        }
        all.push(level_has);
    }
    all
}

fn segments(pos: Index<'_>) -> Distribution {
    distribution(pos.len() - 1, |p| (pos.at(p + 1) - pos.at(p)) as u64)
}

/// Bins `0..n` with so many items each.
fn distribution(n: usize, items: impl Fn(usize) -> u64 + Sync) -> Distribution {
    let parts = map(ranges(n, GRAIN), |range| {
        let mut part = Distribution::default();
        range.for_each(|bin| part.add(items(bin), 1));
        part
    });
    let mut all = Distribution::default();
    parts.iter().for_each(|part| all.merge(part));
    all
}
