//! The points at which a body is evaluated, in the order of the loops.

use crate::memory::{advance, count};
use crate::tensors::structured::MOST_POINTS;

use super::stored::{Place, Stored, coordinates, place_of};

/// The most points of stored entries: a list of them takes 1 GiB.
const MOST_LISTED: u128 = 1 << 26;

pub(super) enum Points {
    /// This many points, from the first on.
    All(usize),
    /// Points as numbers, ascending.
    Listed(Vec<Place>),
}

impl Points {
    /// All points; `None` if they are too many.
    pub(super) fn all(extents: &[u64]) -> Option<Self> {
        let n = count(extents).ok()?;
        (n as u64 <= MOST_POINTS).then_some(Self::All(n))
    }

    /// The points at which an operand is stored, at any coordinate of the loops that the operand
    /// lacks. `None` if an operand is dense or not at plain coordinates, or if the points are too
    /// many.
    pub(super) fn of_entries<'t>(
        extents: &[u64],
        tensors: impl Iterator<Item = &'t Stored>,
    ) -> Option<Self> {
        let size = extents
            .iter()
            .try_fold(1u128, |size, extent| size.checked_mul(u128::from(*extent)));
        size?;
        let mut found = Vec::new();
        let mut n_listed = 0u128;
        for tensor in tensors {
            let places = tensor.places()?;
            let loops = tensor.map.projection()?;
            let mut others = extents.to_vec();
            for n in &loops {
                others[*n] = 1;
            }
            let repeats = others
                .iter()
                .try_fold(1u128, |n, extent| n.checked_mul(u128::from(*extent)))?;
            n_listed = n_listed.checked_add(repeats.checked_mul(places.len() as u128)?)?;
            if n_listed > MOST_LISTED {
                return None;
            }
            let mut at = vec![0u64; loops.len()];
            for place in places {
                coordinates(place, &tensor.extents, &mut at);
                // A coordinate behind the extent of its loop is not visited.
                if loops.iter().zip(&at).any(|(n, at)| *at >= extents[*n]) {
                    continue;
                }
                let mut point = vec![0i64; extents.len()];
                for _ in 0..repeats {
                    let mut full: Vec<u64> = point.iter().map(|at| *at as u64).collect();
                    for (n, at) in loops.iter().zip(&at) {
                        full[*n] = *at;
                    }
                    found.push(place_of(full.into_iter(), extents));
                    advance(&mut point, &others);
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Some(Self::Listed(found))
    }

    pub(super) fn into_iter(self, extents: &[u64]) -> Visit<'_> {
        Visit {
            points: self,
            extents,
            next: 0,
            point: vec![0; extents.len()],
        }
    }
}

/// The points, one after the other.
pub(super) struct Visit<'a> {
    points: Points,
    extents: &'a [u64],
    next: usize,
    point: Vec<i64>,
}

impl Visit<'_> {
    pub(super) fn next_point(&mut self) -> Option<&[i64]> {
        let next = self.next;
        self.next += 1;
        match &self.points {
            Points::All(n) => {
                if next >= *n {
                    return None;
                }
                if next > 0 {
                    advance(&mut self.point, self.extents);
                }
            }
            Points::Listed(list) => {
                let mut at = vec![0u64; self.extents.len()];
                coordinates(*list.get(next)?, self.extents, &mut at);
                self.point = at.into_iter().map(|at| at as i64).collect();
            }
        }
        Some(&self.point)
    }
}
