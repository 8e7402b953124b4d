//! What plans of a kernel go by: about how much its operands hold.
//!
//! A kernel is planned before there is data, and planned again for the operands that
//! are bound: which loops run on several threads, which workspaces there are and how
//! operands are merged depends on how many entries they have. So that operands that grow
//! by and by are not all planned for, figures are rounded up:
//!
//! ```text
//! entries            to a power of two; to 1024 where there are fewer
//! extents            to a power of four; below 1024 to a power of two where there are some
//!                    thousand entries, else to 1024
//! segments           to a power of two from 16 entries on, else to the nearest number
//! scatter, evenness  to a tenth; not looked at where there are few entries
//! mispredicted       to a twentieth, downwards; only of merges of many entries
//! degrees            to powers of two; only where three tensors or more are multiplied
//! ```
//!
//! Operands with equal figures share a plan. What is computed does not depend on it, but
//! for the order in which floating-point numbers are added.

use std::collections::BTreeMap;

use sparsec_base::arena::Id;
use sparsec_index::{Program, TensorRole};
use sparsec_network::{Projection, Statistics as Projections};
use sparsec_plan::Merge;
use sparsec_tensor::{Tensor, guesses};

use crate::extents::Extents;
use crate::facts::{self, Statistics};
use crate::request::Operands;

/// Below so many, all numbers are one.
const FEW: u64 = 1024;

/// From so many entries on it pays to plan for narrow operands: a kernel takes as long as some
/// hundred calls.
const SOME: u64 = 1 << 13;

/// From so many entries on it pays to look where they lie.
pub(crate) const MANY: u64 = 1 << 16;

/// About how much the operands of a program hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Figures {
    /// Of each operand by its name in the source.
    tensors: BTreeMap<String, Stored>,
    /// Of each merge of the kernel, in order, the share of its steps that is guessed wrong,
    /// in twentieths.
    mispredicted: Vec<Option<u8>>,
    /// How far each index variable runs.
    extents: Vec<Option<u64>>,
    /// The degrees of each operand by its name in the source, where plans go by them.
    degrees: BTreeMap<String, Vec<Rounded>>,
    /// Whether there are threads to share work with.
    threads: bool,
}

/// A projection of an operand, in powers of two.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Rounded {
    modes: Vec<usize>,
    tuples: u64,
    largest: u64,
    squares: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Stored {
    /// Entries stored.
    n_stored: u64,
    /// The entries of a segment on average.
    segment: Option<u64>,
    samples: Option<Samples>,
}

/// Where the entries of an operand lie, if they are many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Samples {
    /// The share of entries that lie apart, in tenths.
    scatter: Option<u8>,
    /// The share of segments as long as the one before, in tenths.
    evenness: Option<u8>,
}

impl Samples {
    pub(crate) fn of(tensor: &Tensor) -> Option<Self> {
        let tenths = |share: Option<f64>| share.map(|share| (share * 10.0).round() as u8);
        (tensor.n_stored() as u64 >= MANY).then(|| Self {
            scatter: tenths(tensor.scatter()),
            evenness: tenths(tensor.evenness()),
        })
    }
}

impl Figures {
    /// The figures of these operands, whose index variables run that far, and of the
    /// merges that a kernel has of them.
    pub(crate) fn of(
        program: &Program,
        merges: &[Merge],
        operands: &Operands<'_>,
        extents: &Extents,
    ) -> Self {
        let stored = |name: &str| {
            let tensor = operands.get(name)?;
            Some(Stored {
                n_stored: up_to_power(tensor.n_stored() as u64, 1),
                segment: tensor.segment().map(|mean| match mean.round() as u64 {
                    few @ 0..16 => few,
                    many => many.next_power_of_two(),
                }),
                samples: Samples::of(tensor),
            })
        };
        // Which loops are short, and which rows caches hold, matters where they run often.
        let some = operands.values().any(|it| it.n_stored() as u64 >= SOME);
        let extent = |extent: u64| match some && extent < FEW {
            true => extent.next_power_of_two(),
            false => up_to_power(extent, 2),
        };
        let inputs = || {
            let tensors = program.tensors.iter();
            let inputs = tensors.filter(|(_, data)| data.role == TensorRole::Input);
            inputs.map(|(_, data)| data.source_name())
        };
        let degrees = |name: &str| {
            let tensor = operands.get(name)?;
            let degrees = tensor.degrees(facts::sample(tensor))?;
            let rounded = degrees.degrees.iter().map(|degree| Rounded {
                modes: degree.modes.clone(),
                tuples: degree.tuples.next_power_of_two(),
                largest: degree.largest.next_power_of_two(),
                squares: (degree.squares as u64)
                    .checked_next_power_of_two()
                    .unwrap_or(u64::MAX),
            });
            Some(rounded.collect())
        };
        let counted = facts::has_network(program);
        Self {
            tensors: inputs()
                .filter_map(|name| Some((name.to_owned(), stored(name)?)))
                .collect(),
            degrees: inputs()
                .filter(|_| counted)
                .filter_map(|name| Some((name.to_owned(), degrees(name)?)))
                .collect(),
            mispredicted: merges
                .iter()
                .map(|merge| {
                    let tensors = merge.0.iter();
                    let tensors = tensors.filter_map(|it| operands.get(it.tensor.as_str()));
                    let n_stored: u64 = tensors.map(|it| it.n_stored() as u64).sum();
                    let share = || mispredicted(merge, operands);
                    let share = (n_stored >= MANY).then(share).flatten()?;
                    Some((share * 20.0) as u8)
                })
                .collect(),
            extents: extents.iter().map(|(_, it)| it.map(extent)).collect(),
            threads: sparsec_parallel::threads() > 1,
        }
    }
}

/// Figures by the names that a program has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named<'a> {
    pub(crate) figures: &'a Figures,
    /// What they are figures of.
    pub(crate) program: &'a Program,
    /// The merges that they are of.
    pub(crate) merges: &'a [Merge],
}

impl Named<'_> {
    fn stored(&self, name: &str) -> Option<Stored> {
        self.figures.tensors.get(name).copied()
    }
}

/// Figures are round, so answers are about right.
impl Statistics for Named<'_> {
    fn n_stored(&self, name: &str) -> Option<u64> {
        Some(self.stored(name)?.n_stored)
    }

    fn scatter(&self, name: &str) -> Option<f64> {
        Some(f64::from(self.stored(name)?.samples?.scatter?) / 10.0)
    }

    fn evenness(&self, name: &str) -> Option<f64> {
        Some(f64::from(self.stored(name)?.samples?.evenness?) / 10.0)
    }

    fn segment(&self, name: &str) -> Option<f64> {
        Some(self.stored(name)?.segment? as f64)
    }

    fn mispredicted(&self, merge: &Merge) -> Option<f64> {
        let mut merges = self.merges.iter().zip(&self.figures.mispredicted);
        let (_, twentieths) = merges.find(|(known, _)| *known == merge)?;
        Some(f64::from((*twentieths)?) / 20.0)
    }

    fn degrees(&self, name: &str, _: usize) -> Option<Projections> {
        let rounded = self.figures.degrees.get(name)?.iter();
        Some(Projections::new(rounded.map(|it| Projection {
            modes: it.modes.clone(),
            tuples: it.tuples,
            largest: it.largest,
            squares: it.squares as f64,
        })))
    }

    fn extent(&self, var: &str) -> Option<u64> {
        let var = self.program.vars.named(var)?;
        *self.figures.extents.get(var.index())?
    }
}

/// Which share of the steps of a merge of these operands a processor would guess wrong.
pub(crate) fn mispredicted(merge: &Merge, operands: &Operands<'_>) -> Option<f64> {
    let merged = merge.0.iter().map(|merged| {
        Some(guesses::Merged {
            tensor: operands.get(merged.tensor.as_str())?,
            part: merged.part,
            vars: &merged.vars,
        })
    });
    guesses::mispredicted(&merged.collect::<Option<Vec<_>>>()?)
}

/// The next power of two whose exponent is a multiple of this.
fn up_to_power(n: u64, exponents: u32) -> u64 {
    let bits = n.max(FEW).checked_next_power_of_two();
    let bits = bits.map_or(u64::BITS, u64::trailing_zeros);
    1u64.checked_shl(bits.next_multiple_of(exponents))
        .unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::up_to_power;

    #[test]
    fn figures_are_rounded_up() {
        let sizes = [0, 1024, 1025, 4096, 4097, 1 << 62];
        let fours = [1024, 1024, 4096, 4096, 16384, 1 << 62];
        assert_eq!(sizes.map(|size| up_to_power(size, 2)), fours);
        let twos = [1024, 1024, 2048, 4096, 8192, 1 << 62];
        assert_eq!(sizes.map(|size| up_to_power(size, 1)), twos);
        assert_eq!(up_to_power((1 << 62) + 1, 1), 1 << 63);
        assert_eq!(up_to_power((1 << 62) + 1, 2), u64::MAX);
        assert_eq!(up_to_power(u64::MAX, 1), u64::MAX);
    }
}
