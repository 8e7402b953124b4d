//! Tensors that a caller gives, with the facts known of them.

use crate::statistics::Statistics;

/// A tensor and the facts known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Its name.
    pub name: String,
    /// One extent for each mode.
    pub extents: Vec<u64>,
    /// How many entries are stored; `None` if all are.
    pub entries: Option<u64>,
    /// Whether every stored entry is one.
    pub mask: bool,
    /// The modes from the outermost level to the innermost, if the tensor is stored
    /// already; `None` if the plan may choose.
    pub layout: Option<Vec<usize>>,
    /// Facts about its projections.
    pub statistics: Statistics,
}

impl Tensor {
    /// A tensor of which every entry is stored and the layout may be chosen.
    pub fn dense(name: impl Into<String>, extents: &[u64]) -> Self {
        Self {
            name: name.into(),
            extents: extents.to_vec(),
            entries: None,
            mask: false,
            layout: None,
            statistics: Statistics::default(),
        }
    }

    /// A tensor with `entries` stored entries.
    pub fn sparse(name: impl Into<String>, extents: &[u64], entries: u64) -> Self {
        Self {
            entries: Some(entries),
            ..Self::dense(name, extents)
        }
    }

    /// How many modes it has.
    pub fn order(&self) -> usize {
        self.extents.len()
    }

    /// How many entries it would have if all were stored.
    pub fn size(&self) -> f64 {
        self.extents.iter().map(|&extent| extent as f64).product()
    }

    /// How many entries are stored.
    pub fn n_stored(&self) -> f64 {
        self.entries
            .map_or_else(|| self.size(), |entries| entries as f64)
    }
}
