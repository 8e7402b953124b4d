//! How entries spread over the coordinates of each mode, and positions over
//! the levels.
//!
//! Coordinates of a mode are counted in an array where its extent is not far
//! beyond the number of entries, and otherwise sorted and counted in runs: a
//! mode of extent 2^40 takes no more than its entries do.

use std::sync::atomic::{AtomicU64, Ordering};

use sparsec_base::Result;
use sparsec_format::{Distribution, LevelKind};
use sparsec_parallel::{map, radix_sort, ranges};

use crate::alloc::{filled, with_room};
use crate::entries::Entries;
use crate::index::Index;
use crate::tensor::Tensor;
use crate::tuples::GRAIN;

/// Modes of at most this extent are counted in an array, however few entries
/// there are.
const SMALL_EXTENT: u64 = 1 << 16;

/// For each mode, how many entries each coordinate has.
pub(super) fn modes(entries: &Entries) -> Result<Vec<Distribution>> {
    let count = |mode: usize| {
        let extent = entries.extents[mode];
        if extent <= SMALL_EXTENT.max(4 * entries.len() as u64) {
            in_array(entries, mode, extent as usize)
        } else {
            in_runs(entries, mode, extent)
        }
    };
    (0..entries.order()).map(count).collect()
}

fn in_array(entries: &Entries, mode: usize, extent: usize) -> Result<Distribution> {
    let counts = filled(extent, || AtomicU64::new(0))?;
    map(ranges(entries.len(), GRAIN), |range| {
        for e in range {
            // Sums do not depend on the order in which threads add.
            counts[entries.coords(e).at(mode) as usize].fetch_add(1, Ordering::Relaxed);
        }
    });
    Ok(distribution(extent, |bin| {
        counts[bin].load(Ordering::Relaxed)
    }))
}

fn in_runs(entries: &Entries, mode: usize, extent: u64) -> Result<Distribution> {
    let mut coords = with_room(entries.len())?;
    coords.extend((0..entries.len()).map(|e| entries.coords(e).at(mode)));
    radix_sort(&mut coords, 0..u64::BITS - extent.leading_zeros())?;
    let mut all = Distribution::default();
    let mut occupied = 0;
    for run in coords.chunk_by(|a, b| a == b) {
        all.add(run.len() as u64, 1);
        occupied += 1;
    }
    all.add(0, extent - occupied);
    Ok(all)
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
