//! The converters that a session keeps.
//!
//! To derive a conversion and to make its kernel takes as long as packing half a million entries. So
//! kernels are made when they pay, and kept:
//!
//! | the kernel of a pair | a tensor of it is                                                 |
//! |----------------------|-------------------------------------------------------------------|
//! | is kept              | converted by it, if it takes less time than packing               |
//! | is not there         | packed, and the time that a kernel would have saved is added up    |
//! |                      | until it reaches that of making one, which is then made            |
//! | cannot be derived    | packed                                                            |
//!
//! So a program spends at most twice the time that it would if it knew beforehand how many
//! tensors it converts.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sparsec_base::{Diagnostic, Recent};
use sparsec_computation::cost::Work;
use sparsec_format::Format;
use sparsec_relation::{Expression, remembering};
use sparsec_tensor::Tensor;

use super::converter::{Converter, Derived, Ownership, Padding, Pair};
use super::costs;

/// The most pairs that a session keeps.
const MOST: usize = 64;
/// The most converters of a pair: for short and for long tables.
const MOST_OF_PAIR: usize = 4;

/// Converters by the pairs that they are of.
#[derive(Debug)]
pub(crate) struct Converters(Mutex<Recent<Pair, Arc<Mutex<Known>>>>);

/// What is known of a pair.
#[derive(Debug, Default)]
struct Known {
    /// The bytes of the arrays and the work of the kernel, where a table or a derivation has
    /// told them.
    formulas: Option<Arc<(Expression, Work)>>,
    converters: Vec<Arc<Converter>>,
    /// Whether there is no derivation.
    has_none: bool,
    /// How many nanoseconds packing has taken that a kernel would have saved.
    lost: f64,
}

impl Default for Converters {
    fn default() -> Self {
        Self(Mutex::new(Recent::new(MOST)))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Converters {
    /// The converter for a tensor, if it takes less time than packing.
    pub(super) fn find(
        &self,
        tensor: &Tensor,
        destination: &Format,
        how: (Padding, Ownership),
    ) -> Option<Arc<Converter>> {
        let pair = Pair::of(tensor, destination, how);
        let known = {
            let mut pairs = lock(&self.0);
            match pairs.get(&pair) {
                Some(known) => known,
                None => {
                    let formulas = costs::formulas(&pair.source, &pair.destination);
                    let known = Known {
                        formulas: formulas.map(Arc::new),
                        ..Known::default()
                    };
                    pairs.keep(pair.clone(), Arc::new(Mutex::new(known)))
                }
            }
        };
        let saved = {
            let known = &mut *lock(&known);
            if known.has_none {
                return None;
            }
            let saved = known.saved(tensor, &pair);
            if saved <= 0.0 {
                return None;
            }
            let mut converters = known.converters.iter();
            if let Some(found) = converters.find(|it| it.suits(tensor, &pair)) {
                return Some(Arc::clone(found));
            }
            known.lost += saved;
            if known.lost < costs::making(tensor.order()) {
                return None;
            }
            saved
        };
        // Made outside of the lock: two threads may both do it.
        let made = remembering(|| {
            let derived = Derived::new(tensor, pair.clone())?;
            let cost = derived.computation().cost();
            let formulas = cost.map(|cost| (cost.arrays.clone(), cost.total()));
            Ok::<_, Diagnostic>((formulas, Arc::new(derived.compiled()?)))
        });
        let known = &mut *lock(&known);
        let Ok((formulas, converter)) = made else {
            known.has_none = true;
            return None;
        };
        known.lost = 0.0;
        if known.formulas.is_none() {
            known.formulas = formulas.map(Arc::new);
        }
        if known.converters.len() >= MOST_OF_PAIR {
            known.converters.remove(0);
        }
        known.converters.push(Arc::clone(&converter));
        // The cost of pairs that no table has is known only now.
        (saved.min(known.saved(tensor, &pair)) > 0.0).then_some(converter)
    }
}

impl Known {
    /// How many nanoseconds a kernel that is there saves beside packing.
    fn saved(&self, tensor: &Tensor, pair: &Pair) -> f64 {
        let n_entries = tensor.most_entries() as f64;
        let extents: Vec<Option<u64>> = tensor.extents().iter().copied().map(Some).collect();
        let kernel = self.formulas.as_deref().and_then(|(arrays, work)| {
            let formats = [&pair.source, &pair.destination];
            let of = |name: &str| costs::figure(formats, &extents, n_entries, name);
            costs::nanoseconds(arrays, work, &of)
        });
        costs::packing(n_entries) - kernel.unwrap_or(0.0)
    }
}
