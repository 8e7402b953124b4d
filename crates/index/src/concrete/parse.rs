//! wip
use super::Concrete;
use crate::program::{TensorData, TensorVar};
use sparsec_base::{Arena, Result, Source};
impl Concrete {
    /// Reads a statement of concrete notation over these tensors.
    pub fn parse(source: &Source, tensors: &Arena<TensorVar, TensorData>) -> Result<Self> {
        let _ = (source, tensors);
        unimplemented!()
    }
}
