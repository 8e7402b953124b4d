//! wip
use crate::notation::Notation;
use crate::program::Program;
use sparsec_base::{ElementType, Result, Scalar};
use std::collections::BTreeMap;

/// What is known of a tensor before its program is read.
#[derive(Clone, Debug, Default)]
pub struct Declaration {
    /// The type of the entries; `f64` for an operand if not given, the type of
    /// the right side for a result.
    pub element: Option<ElementType>,
    /// One extent a mode.
    pub extents: Option<Vec<u64>>,
    /// The value of entries that are not stored; zero if not given.
    pub fill: Option<Scalar>,
    /// How many modes there are, where no extents are given.
    pub order: Option<usize>,
    /// Where this is known from, in words for a diagnostic, such as "read from
    /// `web.mtx`"; may be empty.
    pub origin: String,
}

/// What is known of tensors and index variables, by name.
#[derive(Clone, Debug, Default)]
pub struct Declarations {
    tensors: BTreeMap<String, Declaration>,
    extents: BTreeMap<String, u64>,
}

impl Declarations {
    /// Nothing known yet.
    pub fn new() -> Self {
        Self::default()
    }
    /// Says what is known of a tensor.
    pub fn declare(&mut self, name: impl Into<String>, declaration: Declaration) {
        self.tensors.insert(name.into(), declaration);
    }
    /// Gives an index variable its extent.
    pub fn set_extent(&mut self, var: impl Into<String>, extent: u64) {
        self.extents.insert(var.into(), extent);
    }
    /// What is known of a tensor.
    pub fn get(&self, name: &str) -> Option<&Declaration> {
        self.tensors.get(name)
    }
}

impl Notation {
    /// Gives the notation its meaning.
    pub fn resolve(&self, declarations: &Declarations) -> Result<Program> {
        let _ = &declarations.extents;
        unimplemented!()
    }
}
