//! The parameters and data that a computation is run with.

use std::collections::BTreeMap;

use sparsec_computation::Computation;
use sparsec_runtime::MemoryLimit;
use sparsec_tensor::Tensor;

/// The parameters and arrays that a computation runs on.
#[derive(Clone, Debug, Default)]
pub struct Given<'a> {
    pub(super) parameters: BTreeMap<String, i64>,
    pub(super) data: BTreeMap<String, &'a Tensor>,
    /// How much memory the run may take, where that is another limit than the session's.
    pub(super) memory: Option<MemoryLimit>,
}

impl<'a> Given<'a> {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// With a limit of memory that is not the session's.
    pub(crate) fn within(mut self, memory: MemoryLimit) -> Self {
        self.memory = Some(memory);
        self
    }

    /// With a value for a parameter.
    #[must_use]
    pub fn parameter(mut self, name: impl Into<String>, value: i64) -> Self {
        self.parameters.insert(name.into(), value);
        self
    }

    /// With a dense tensor for given data.
    #[must_use]
    pub fn data(mut self, name: impl Into<String>, tensor: &'a Tensor) -> Self {
        self.data.insert(name.into(), tensor);
        self
    }

    pub(crate) fn tensor(&self, name: &str) -> Option<&'a Tensor> {
        self.data.get(name).copied()
    }

    pub(crate) fn value(&self, parameter: &str) -> Option<i64> {
        self.parameters.get(parameter).copied()
    }

    pub(crate) fn parameters(&self) -> impl Iterator<Item = (&str, i64)> {
        let all = self.parameters.iter();
        all.map(|(name, value)| (name.as_str(), *value))
    }

    /// The part of these that a computation names.
    pub(crate) fn for_computation(&self, computation: &Computation) -> Self {
        let mut part = self.clone();
        part.parameters
            .retain(|name, _| computation.parameters.contains(name));
        part.data
            .retain(|name, _| computation.space(name).is_some());
        part
    }

    /// The first name that is none of these.
    pub(crate) fn other_than(&self, known: &[&str]) -> Option<&str> {
        let mut names = self.parameters.keys().chain(self.data.keys());
        let other = names.find(|name| !known.contains(&name.as_str()));
        other.map(String::as_str)
    }
}
