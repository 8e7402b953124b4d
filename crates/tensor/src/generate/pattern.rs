//! Where the entries of a generated tensor lie.
//!
//! | pattern  | entries                                                 | counted        |
//! |----------|---------------------------------------------------------|----------------|
//! | all      | every one                                               | product of extents |
//! | random   | so many of them, each as likely as any other            | as asked for   |
//! | band     | those of a matrix near its diagonal                     | row by row, summed in closed form |
//! | diagonal | those with equal coordinates                            | least extent   |
//!
//! How many there are is known before any is made, so that what memory cannot hold is
//! refused at once.

use sparsec_base::{Result, Scalar};

use super::call::Call;
use crate::alloc::with_room;
use crate::array::Array;
use crate::duplicates::Duplicates;
use crate::entries::Entries;
use crate::random::Random;
use crate::sort::sort;

/// Which entries there are.
pub(super) enum Pattern {
    All,
    Random {
        /// How many.
        n: u128,
    },
    Band {
        /// How many diagonals there are below the main one.
        lower: u64,
        /// And above it.
        upper: u64,
    },
    Diagonal,
}

impl Pattern {
    /// What a spec says, for a tensor of these extents.
    ///
    /// # Errors
    /// `E0410`.
    pub(super) fn of(call: &mut Call, extents: &[u64]) -> Result<Self> {
        match call.name.as_str() {
            "random" => {
                let n = call.stored(all(extents))?;
                Ok(Self::Random { n })
            }
            "band" => {
                if extents.len() != 2 {
                    let text = format!("fills matrices, not tensors of order {}", extents.len());
                    let fault = call.fault(call.name_span, text);
                    return Err(fault.help("use `random(nnz=10)`, or `dense:ones`"));
                }
                let width = call.width()?;
                Ok(Self::Band {
                    lower: width / 2,
                    upper: (width - 1) / 2,
                })
            }
            "identity" => Ok(Self::Diagonal),
            _ => Ok(Self::All),
        }
    }

    /// How many entries there are; [`u128::MAX`] for more than can be counted.
    pub(super) fn n_entries(&self, extents: &[u64]) -> u128 {
        match *self {
            Self::All => all(extents),
            Self::Random { n } => n,
            Self::Band { lower, upper } => {
                let [rows, columns] = [extents[0], extents[1]].map(i128::from);
                // Columns up to the last diagonal, less those before the first.
                clamped_sum(rows, i128::from(upper) + 1, columns)
                    - clamped_sum(rows, -i128::from(lower), columns)
            }
            Self::Diagonal => extents.iter().copied().min().unwrap_or(1).into(),
        }
    }

    /// Their coordinates in lexicographic order, where there are `n`.
    ///
    /// # Errors
    /// `E0407` when memory is out.
    pub(super) fn coords(
        &self,
        random: &mut Random,
        extents: &[u64],
        n: usize,
    ) -> Result<Vec<u64>> {
        match *self {
            Self::Random { .. } => distinct_coords(random, extents, n),
            Self::Band { lower, upper } => {
                let mut coords = with_room(n.saturating_mul(2))?;
                let [rows, columns] = [extents[0], extents[1]];
                // Rows further down have no column so near the diagonal.
                let rows = if n == 0 {
                    0
                } else {
                    rows.min(columns.saturating_add(lower))
                };
                for row in 0..rows {
                    let end = row.saturating_add(upper).saturating_add(1).min(columns);
                    for column in row.saturating_sub(lower)..end {
                        coords.extend([row, column]);
                    }
                }
                Ok(coords)
            }
            Self::All | Self::Diagonal => {
                let mut coords = with_room(n.saturating_mul(extents.len()))?;
                for number in 0..n as u64 {
                    match self {
                        Self::Diagonal => coords.extend(extents.iter().map(|_| number)),
                        _ => push_tuple(&mut coords, extents, number),
                    }
                }
                Ok(coords)
            }
        }
    }
}

/// How many entries a tensor has in all; [`u128::MAX`] for more than can be counted.
fn all(extents: &[u64]) -> u128 {
    let product = |n: u128, &extent: &u64| n.checked_mul(extent.into());
    // An extent of 0 beside others leaves none, however large these are.
    match extents.contains(&0) {
        true => 0,
        false => extents.iter().try_fold(1, product).unwrap_or(u128::MAX),
    }
}

/// The sum of `row + shift` over all rows, none of them below 0 or above `most`.
fn clamped_sum(rows: i128, shift: i128, most: i128) -> u128 {
    let first = (-shift).clamp(0, rows);
    let full = (most - shift).clamp(first, rows);
    let rising = match full > first {
        true => (first + shift + full - 1 + shift) as u128 * (full - first) as u128 / 2,
        false => 0,
    };
    rising + (rows - full) as u128 * most as u128
}

/// `n` distinct tuples of all that there are.
fn distinct_coords(random: &mut Random, extents: &[u64], n: usize) -> Result<Vec<u64>> {
    let all = all(extents);
    let mut coords = with_room(n.saturating_mul(extents.len().max(1)))?;
    if (n as u128).saturating_mul(3) < all {
        return by_rejection(random, extents, n, coords);
    }
    // So few that they can be counted: take each with the probability that
    // leaves `n` in the end.
    let mut wanted = n as u64;
    let all = all as u64;
    for number in 0..all {
        if random.below(all - number) < wanted {
            wanted -= 1;
            push_tuple(&mut coords, extents, number);
        }
    }
    Ok(coords)
}

/// Draws tuples until `n` are distinct.
fn by_rejection(
    random: &mut Random,
    extents: &[u64],
    n: usize,
    mut coords: Vec<u64>,
) -> Result<Vec<u64>> {
    let modes: Vec<usize> = (0..extents.len()).collect();
    let mut found = 0;
    while found < n {
        for _ in found..n {
            coords.extend(extents.iter().map(|&extent| random.below(extent)));
        }
        let entries = Entries {
            extents: extents.to_vec(),
            coords: coords.into(),
            values: Array::filled(Scalar::Bool(true), n)?,
        };
        let sorted = sort(entries, &modes, Duplicates::Add)?.into_entries(extents, &modes)?;
        found = sorted.len();
        coords = sorted.coords.wide().into_owned();
    }
    Ok(coords)
}

/// The coordinates of entry `number`, counted row by row.
fn push_tuple(coords: &mut Vec<u64>, extents: &[u64], number: u64) {
    let start = coords.len();
    let mut rest = number;
    for &extent in extents.iter().rev() {
        coords.push(rest % extent);
        rest /= extent;
    }
    coords[start..].reverse();
}
