//! Copies of tensors in the formats that kernels read, each made once.
//!
//! ```text
//! y(i) = A(i,j) * x(j)      reads A
//! z(j) = A(i,j) * w(i)      reads A_csc  ◄─ made in the first run, there in those after it
//! ```
//!
//! A copy is known by what it is a copy of and by its format, whichever statement
//! asks for it. Operands are borrowed for as long as they are bound, and so cannot
//! change: their copies stay for as long. Those of results belong to one run.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sparsec_base::Result;
use sparsec_format::Format;
use sparsec_tensor::Tensor;

/// Copies of tensors that do not change.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// By the names of the tensors that were copied, and the formats of the copies.
    copies: Mutex<HashMap<(String, Format), Arc<Tensor>>>,
    n_made: AtomicUsize,
}

impl Kept {
    /// The copy of the tensor `name` in `format`, which `make` makes if there is none yet.
    pub(crate) fn find(
        &self,
        name: &str,
        format: &Format,
        make: impl FnOnce() -> Result<Tensor>,
    ) -> Result<Arc<Tensor>> {
        let copies = || self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (name.to_owned(), format.clone());
        if let Some(known) = copies().get(&key) {
            return Ok(known.clone());
        }
        // Made outside of the lock: two threads may both do it, one stays.
        let made = Arc::new(make()?);
        self.n_made.fetch_add(1, Ordering::Relaxed);
        Ok(copies().entry(key).or_insert(made).clone())
    }

    /// How many copies were made.
    pub(crate) fn n_made(&self) -> usize {
        self.n_made.load(Ordering::Relaxed)
    }
}
