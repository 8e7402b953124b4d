//! Where a tensor keeps its statistics once they were counted.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use sparsec_base::Result;

use super::Statistics;
use super::degrees::Degrees;

/// Statistics, or none yet. No part of what a tensor is: all are equal.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    statistics: OnceLock<Arc<Statistics>>,
    /// Of the pattern alone, so values do not change them.
    degrees: Mutex<Option<Arc<Degrees>>>,
    scatter: OnceLock<Option<f64>>,
    evenness: OnceLock<Option<f64>>,
}

impl Kept {
    /// The statistics, counted now if they are not kept yet. Several threads
    /// that ask at once may each count; they find the same.
    pub(crate) fn get_or_count(
        &self,
        count: impl FnOnce() -> Result<Statistics>,
    ) -> Result<&Statistics> {
        if let Some(kept) = self.statistics.get() {
            return Ok(kept);
        }
        let counted = Arc::new(count()?);
        Ok(self.statistics.get_or_init(|| counted))
    }

    /// The share of entries that lie apart, of the pattern alone.
    pub(crate) fn scatter(&self, sample: impl FnOnce() -> Option<f64>) -> Option<f64> {
        *self.scatter.get_or_init(sample)
    }

    /// The share of segments as long as the one before, of the pattern alone.
    pub(crate) fn evenness(&self, sample: impl FnOnce() -> Option<f64>) -> Option<f64> {
        *self.evenness.get_or_init(sample)
    }

    /// Forgets the statistics that values may have changed.
    pub(crate) fn clear(&mut self) {
        self.statistics.take();
    }

    /// The degrees, if some were counted.
    pub(crate) fn degrees(&self) -> Option<Arc<Degrees>> {
        let kept = self.degrees.lock();
        kept.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps degrees in place of those before.
    pub(crate) fn keep_degrees(&self, degrees: Arc<Degrees>) {
        let mut kept = self.degrees.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = Some(degrees);
    }
}

impl Clone for Kept {
    fn clone(&self) -> Self {
        Self {
            statistics: self.statistics.clone(),
            degrees: Mutex::new(self.degrees()),
            scatter: self.scatter.clone(),
            evenness: self.evenness.clone(),
        }
    }
}

impl PartialEq for Kept {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
