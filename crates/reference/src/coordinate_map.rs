//! Tensors without a format: stored coordinates, their values, and a fill.

use std::fmt;
use std::sync::Arc;

use sparsec_base::{ElementType, Result, Scalar};
use sparsec_index::Operator;
use sparsec_tensor::{Entries, Format, PackOptions, Tensor};

use crate::point::{Entry, apply};
use crate::rows::Rows;
use crate::values::array_of;

/// The entries that a tensor stores, whatever its format: a map from
/// coordinates to values, in lexicographic order of the coordinates.
///
/// ```
/// use sparsec_base::Scalar;
/// use sparsec_reference::CoordinateMap;
/// use sparsec_tensor::{Format, Tensor};
/// let a = Tensor::pack(&Format::csc(), &[2, 2], &[1, 0, 0, 1], &[5.0, 7.0])?;
/// let map = CoordinateMap::of(&a);
/// assert_eq!(map.to_string(), "{(0,1): 7.0, (1,0): 5.0}");
/// assert_eq!(map.get(&[1, 0]), Some(Scalar::F64(5.0)));
/// assert_eq!(map.get(&[1, 1]), None);
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
#[derive(Clone, Debug)]
pub struct CoordinateMap {
    pub(crate) extents: Vec<u64>,
    pub(crate) fill: Scalar,
    /// The entries; every one has a value.
    pub(crate) rows: Arc<Rows>,
}

impl CoordinateMap {
    /// What a tensor stores, the padding of its dense levels included. Where
    /// its format lets coordinates repeat, their values are added.
    ///
    /// Time `O(M log M)` for `M` entries, linear where they are stored in
    /// lexicographic order.
    pub fn of(tensor: &Tensor) -> Self {
        let mut rows = Rows::new(tensor.order());
        tensor.for_each_stored(|coords, value| {
            rows.push(coords, Entry::stored(value));
        });
        rows.sort(|sum, entry| {
            *sum = apply(&Operator::Add, &[*sum, entry]);
        });
        Self {
            extents: tensor.extents().to_vec(),
            fill: tensor.fill(),
            rows: Arc::new(rows),
        }
    }

    /// The tensor that stores these entries in a format.
    ///
    /// ```
    /// use sparsec_reference::CoordinateMap;
    /// use sparsec_tensor::{Format, PackOptions, Tensor};
    /// let a = Tensor::pack(&Format::csc(), &[2, 2], &[1, 0, 0, 1], &[5.0, 7.0])?;
    /// let rows = CoordinateMap::of(&a).to_tensor(&Format::csr(), PackOptions::default())?;
    /// assert_eq!(rows.values::<f64>(), Some(&[7.0, 5.0][..]));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    ///
    /// # Errors
    /// As [`Tensor::pack_entries`].
    pub fn to_tensor(&self, format: &Format, options: PackOptions) -> Result<Tensor> {
        let entries = Entries {
            extents: self.extents.clone(),
            coords: self
                .iter()
                .flat_map(|(coords, _)| coords.iter().copied())
                .collect::<Vec<_>>()
                .into(),
            values: array_of(self.element(), self.iter().map(|(_, value)| value)),
        };
        let options = PackOptions {
            fill: Some(self.fill),
            ..options
        };
        Tensor::pack_entries(format, entries, options)
    }

    /// One extent a mode.
    pub fn extents(&self) -> &[u64] {
        &self.extents
    }

    /// The type of the values.
    pub fn element(&self) -> ElementType {
        self.fill.element()
    }

    /// The value of every entry that is not stored.
    pub fn fill(&self) -> Scalar {
        self.fill
    }

    /// How many entries are stored.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether no entry is stored.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The stored value at these coordinates. Time `O(log M)`.
    pub fn get(&self, coords: &[u64]) -> Option<Scalar> {
        let row = self.rows.find(coords)?;
        self.rows.values[row].ok()
    }

    /// The entries, as coordinates and value, in lexicographic order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u64], Scalar)> {
        (0..self.len()).filter_map(|n| Some((self.rows.row(n), self.rows.values[n].ok()?)))
    }

    /// Whether every coordinate is stored.
    pub(crate) fn is_full(&self) -> bool {
        let n = self.extents.iter().try_fold(1u64, |n, &e| n.checked_mul(e));
        n == Some(self.len() as u64)
    }
}

/// As in `{(0,1): 7.0, (1,0): 5.0}`.
impl fmt::Display for CoordinateMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (n, (coords, value)) in self.iter().enumerate() {
            let comma = if n > 0 { ", " } else { "" };
            let coords: Vec<String> = coords.iter().map(u64::to_string).collect();
            write!(f, "{comma}({}): {value}", coords.join(","))?;
        }
        f.write_str("}")
    }
}
