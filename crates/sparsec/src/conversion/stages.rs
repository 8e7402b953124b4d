//! The stages of a conversion, derived or stated, as text.

use sparsec_base::Result;
use sparsec_computation::Computation;
use sparsec_relation::Relation;

use super::{Assembled, Conversion, Optimisation};

/// A conversion that is derived, or of which a format states a part.
pub trait Stages {
    /// Which tuples of both sides have the same coordinates.
    fn relations(&self) -> &[Relation];
    /// How each unknown is found, as a table.
    fn cases(&self) -> String;
    /// The obligations with their proofs.
    ///
    /// # Errors
    /// As [`Conversion::certificate`].
    fn certificate(&self) -> Result<String>;
    /// The cost of the computation up to a step.
    ///
    /// # Errors
    /// As [`Conversion::cost`].
    fn cost(&self, so_far: Optimisation) -> Result<String>;
    /// The computation up to a step; without one, as the certificate speaks of it.
    ///
    /// # Errors
    /// As [`Conversion::optimised`].
    fn computation(&self, so_far: Option<Optimisation>) -> Result<Computation>;
}

impl Stages for Conversion {
    fn relations(&self) -> &[Relation] {
        &self.relations
    }

    fn cases(&self) -> String {
        self.table()
    }

    fn certificate(&self) -> Result<String> {
        Ok(Conversion::certificate(self)?.to_string())
    }

    fn cost(&self, so_far: Optimisation) -> Result<String> {
        Ok(Conversion::cost(self, so_far, &|_| true)?.to_string())
    }

    fn computation(&self, so_far: Option<Optimisation>) -> Result<Computation> {
        match so_far {
            Some(so_far) => self.optimised(so_far, &|_| true),
            None => Ok(self.computation.clone()),
        }
    }
}

impl Stages for Assembled {
    fn relations(&self) -> &[Relation] {
        &self.relations
    }

    fn cases(&self) -> String {
        self.table()
    }

    fn certificate(&self) -> Result<String> {
        Assembled::certificate(self)
    }

    fn cost(&self, so_far: Optimisation) -> Result<String> {
        Ok(Assembled::cost(self, so_far)?.to_string())
    }

    fn computation(&self, so_far: Option<Optimisation>) -> Result<Computation> {
        Assembled::computation(self, so_far)
    }
}
