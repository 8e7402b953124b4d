//! Where a tensor keeps its statistics once they were counted.

use std::sync::{Arc, OnceLock};

use sparsec_base::Result;

use super::Statistics;

/// Statistics, or none yet. No part of what a tensor is: all are equal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept(OnceLock<Arc<Statistics>>);

impl Kept {
    /// The statistics, counted now if they are not kept yet. Several threads
    /// that ask at once may each count; they find the same.
    pub(crate) fn get_or_count(
        &self,
        count: impl FnOnce() -> Result<Statistics>,
    ) -> Result<&Statistics> {
        if let Some(kept) = self.0.get() {
            return Ok(kept);
        }
        let counted = Arc::new(count()?);
        Ok(self.0.get_or_init(|| counted))
    }

    /// Forgets what was counted.
    pub(crate) fn clear(&mut self) {
        self.0.take();
    }
}

impl PartialEq for Kept {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
