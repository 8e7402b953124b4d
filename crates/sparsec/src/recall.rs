//! Keeps the variant chosen for the last call, for operands with the same extents and array lengths.
//!
//! To choose a variant takes longer than a call on small operands: extents are spread over the
//! program, and figures and widths of each operand are compared with those of every variant. The
//! choice follows from a few facts about each operand, its **look**:
//!
//! ```text
//! extents, lengths and types of arrays,
//! where entries lie, by samples of many ──► variant, extents of index variables, bytes of a run
//! ```
//!
//! The last choice is kept, and made again for operands that look different. It is not kept for
//! merges of many entries, where the arrays of several operands are read together ([`figures`]), and
//! for networks, which count the degrees of their operands.

use std::sync::{Arc, Mutex, PoisonError};

use sparsec_base::ElementType;
use sparsec_index::Program;
use sparsec_plan::Merge;
use sparsec_tensor::Tensor;

use crate::extents::Extents;
use crate::facts;
use crate::figures::{self, Samples};
use crate::kernel::Variant;
use crate::request::Operands;

/// The variant for some operands, with the extents and the memory of a run.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) variant: Arc<Variant>,
    /// The extents of index variables.
    pub(crate) extents: Extents,
    /// How many bytes a run takes at least.
    pub(crate) bytes: u128,
}

/// The parts of an operand that are seen without reading its arrays.
#[derive(Debug)]
struct Look {
    name: String,
    extents: Vec<u64>,
    arrays: Vec<(ElementType, usize)>,
    /// How many entries lie apart, and how many segments are alike.
    samples: Option<Samples>,
}

#[derive(Debug)]
struct Seen {
    looks: Vec<Look>,
    /// Whether there were threads to share work with.
    threads: bool,
    found: Found,
}

/// The last choice.
#[derive(Debug, Default)]
pub(crate) struct Recall(Mutex<Option<Arc<Seen>>>);

impl Look {
    fn of(name: &str, tensor: &Tensor) -> Self {
        let arrays = tensor.arrays().iter();
        Self {
            name: name.to_owned(),
            extents: tensor.extents().to_vec(),
            arrays: arrays.map(|it| (it.element(), it.len())).collect(),
            samples: Samples::of(tensor),
        }
    }

    fn is_of(&self, name: &str, tensor: &Tensor) -> bool {
        let arrays = tensor.arrays().iter();
        self.name == name
            && self.extents == tensor.extents()
            && arrays
                .map(|it| (it.element(), it.len()))
                .eq(self.arrays.iter().copied())
            && self.samples == Samples::of(tensor)
    }
}

impl Recall {
    /// The last choice, if it was made for operands that look like these.
    pub(crate) fn find(&self, operands: &Operands<'_>) -> Option<Found> {
        let seen = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()?;
        let looks = seen.looks.iter();
        let is_same = seen.looks.len() == operands.len()
            && seen.threads == (sparsec_parallel::threads() > 1)
            && looks
                .zip(operands)
                .all(|(look, (name, tensor))| look.is_of(name, tensor));
        is_same.then(|| seen.found.clone())
    }

    /// Keeps a choice, if it follows from how the operands look.
    pub(crate) fn keep(
        &self,
        (program, merges): (&Program, &[Merge]),
        operands: &Operands<'_>,
        found: &Found,
    ) {
        let n_stored = operands.values().map(|it| it.n_stored() as u64);
        let reads_several = !merges.is_empty() && n_stored.sum::<u64>() >= figures::MANY;
        if reads_several || facts::has_network(program) {
            return;
        }
        let looks = operands.iter().map(|(name, it)| Look::of(name, it));
        let seen = Seen {
            looks: looks.collect(),
            threads: sparsec_parallel::threads() > 1,
            found: found.clone(),
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(seen));
    }
}
