//! The points that a set of stored entries has in the iteration space.
//!
//! ```text
//! A(i, k) stored at (0, 2), (1, 0)     k bound, i bound
//! b(k)    stored at 2, 3               k bound
//! A and b: a join on k                 (0, 2)
//! A or b : all loops of both           (0, 2), (0, 3), (1, 0), (1, 2), (1, 3)
//! ```

use std::collections::HashMap;

use sparsec_base::{Diagnostic, Result, code};
use sparsec_mlir::AffineMap;

use super::support::Set;
use crate::tensors::structured::MOST_POINTS;

/// Points, of which some loops have no coordinate yet.
pub(super) struct Points {
    bound: Vec<bool>,
    /// Coordinates of all loops, point by point; 0 for loops that are not bound.
    coords: Vec<u64>,
    len: usize,
}

/// The points of an operand: its stored coordinates, and its map.
pub(super) type Relation<'a> = dyn Fn(usize) -> (Vec<Vec<u64>>, &'a AffineMap) + 'a;

/// The refusal of so many points.
pub(super) fn too_many(n: impl std::fmt::Display) -> Diagnostic {
    let message = format!("a body that is evaluated at {n} points");
    Diagnostic::new(code::RUN_LIMIT, message)
}

impl Points {
    fn new(bound: Vec<bool>) -> Self {
        Self {
            bound,
            coords: Vec::new(),
            len: 0,
        }
    }

    fn push(&mut self, point: &[u64]) -> Result<()> {
        if self.len as u64 == MOST_POINTS {
            return Err(too_many("too many"));
        }
        let room = self.coords.try_reserve(point.len());
        room.map_err(|_| too_many(format!("more than {}", self.len)))?;
        self.coords.extend_from_slice(point);
        self.len += 1;
        Ok(())
    }

    fn at(&self, n: usize) -> &[u64] {
        let n_loops = self.bound.len();
        &self.coords[n * n_loops..(n + 1) * n_loops]
    }

    /// The points of a set; `None` for all of them.
    ///
    /// # Errors
    /// `E1064` for too many.
    pub(super) fn of(set: &Set, loops: &[u64], relation: &Relation<'_>) -> Result<Option<Self>> {
        Ok(match set {
            Set::All => None,
            Set::Stored(operand) => {
                let (entries, map) = relation(*operand);
                Self::entries(&entries, map, loops).map(Some)?
            }
            Set::And(a, b) => {
                let (a, b) = (Self::of(a, loops, relation)?, Self::of(b, loops, relation)?);
                match (a, b) {
                    (Some(a), Some(b)) => Some(a.joined(&b)?),
                    (a, b) => a.or(b),
                }
            }
            Set::Or(a, b) => {
                let (a, b) = (Self::of(a, loops, relation)?, Self::of(b, loops, relation)?);
                match (a, b) {
                    (Some(a), Some(b)) => {
                        let (mut a, b) = (a.complete(loops)?, b.complete(loops)?);
                        for n in 0..b.len {
                            a.push(b.at(n))?;
                        }
                        Some(a)
                    }
                    _ => None,
                }
            }
        })
    }

    /// Results of the map that are no dimension bind no loop: more points than those stored.
    fn entries(entries: &[Vec<u64>], map: &AffineMap, loops: &[u64]) -> Result<Self> {
        let dims: Vec<Option<usize>> = map.results.iter().map(|it| it.dimension()).collect();
        let bound = (0..loops.len()).map(|n| dims.contains(&Some(n)));
        let mut points = Self::new(bound.collect());
        for entry in entries {
            let mut point = vec![0; loops.len()];
            for (dim, at) in dims.iter().zip(entry) {
                if let Some(dim) = dim {
                    point[*dim] = *at;
                }
            }
            // A loop that the map has twice visits the diagonal.
            let mut places = dims.iter().zip(entry);
            if places.all(|(dim, at)| dim.is_none_or(|dim| point[dim] == *at)) {
                points.push(&point)?;
            }
        }
        Ok(points)
    }

    fn joined(&self, other: &Self) -> Result<Self> {
        let n_loops = self.bound.len();
        let shared: Vec<usize> = (0..n_loops)
            .filter(|n| self.bound[*n] && other.bound[*n])
            .collect();
        let key = |point: &[u64]| shared.iter().map(|n| point[*n]).collect::<Vec<_>>();
        let mut found: HashMap<Vec<u64>, Vec<usize>> = HashMap::new();
        for n in 0..other.len {
            found.entry(key(other.at(n))).or_default().push(n);
        }
        let bound = (0..n_loops).map(|n| self.bound[n] || other.bound[n]);
        let mut points = Self::new(bound.collect());
        for n in 0..self.len {
            let own = self.at(n);
            for matching in found.get(&key(own)).into_iter().flatten() {
                let both = own.iter().zip(other.at(*matching)).zip(&self.bound);
                let both = both.map(|((own, other), is_own)| if *is_own { *own } else { *other });
                points.push(&both.collect::<Vec<_>>())?;
            }
        }
        Ok(points)
    }

    /// The same points with every coordinate of the loops that are not bound.
    fn complete(self, loops: &[u64]) -> Result<Self> {
        let mut points = self;
        for (dim, extent) in loops.iter().enumerate() {
            if points.bound[dim] {
                continue;
            }
            let n = (points.len as u64).checked_mul(*extent);
            if n.is_none_or(|n| n > MOST_POINTS) {
                return Err(too_many(format!("{} times {extent}", points.len)));
            }
            let mut more = Self::new(points.bound.clone());
            more.bound[dim] = true;
            for n in 0..points.len {
                let mut point = points.at(n).to_vec();
                for at in 0..*extent {
                    point[dim] = at;
                    more.push(&point)?;
                }
            }
            points = more;
        }
        Ok(points)
    }

    /// The points in the order of loops, each once.
    ///
    /// # Errors
    /// `E1064` for too many.
    pub(super) fn in_order(self, loops: &[u64]) -> Result<Vec<Vec<u64>>> {
        let all = self.complete(loops)?;
        let mut points: Vec<Vec<u64>> = (0..all.len).map(|n| all.at(n).to_vec()).collect();
        points.sort_unstable();
        points.dedup();
        Ok(points)
    }
}
