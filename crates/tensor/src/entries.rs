//! Coordinates and values in any order: what files hold and tensors are made of.

use sparsec_base::cancel::polled;
use sparsec_base::{Diagnostic, ElementType, Result, Scalar, code};

use crate::alloc::with_room;
use crate::array::Array;
use crate::coords::{Coords, Tuple};
use crate::with_element;

/// A tensor as a list of entries, in any order, maybe with duplicates.
///
/// `coords` holds the coordinates of entry `e`, counted from 0, from `e * order`
/// on. An entry that is not in the list is not stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Entries {
    /// One extent a mode.
    pub extents: Vec<u64>,
    /// The coordinates, entry by entry.
    pub coords: Coords,
    /// The values, one an entry.
    pub values: Array,
}

/// How many bytes so many entries take with coordinates of 64 bits.
pub(crate) fn bytes_of(n_entries: u64, order: usize, element: ElementType) -> u64 {
    n_entries.saturating_mul(8 * order as u64 + element.size() as u64)
}

impl Entries {
    /// No entries yet.
    pub fn empty(extents: &[u64], element: ElementType) -> Self {
        Self {
            extents: extents.to_vec(),
            coords: Coords::default(),
            values: Array::new(element, sparsec_parallel::Memory::new()),
        }
    }

    /// How many modes there are.
    pub fn order(&self) -> usize {
        self.extents.len()
    }

    /// The type of the values.
    pub fn element(&self) -> ElementType {
        self.values.element()
    }

    /// How many entries there are, duplicates counted.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// How many bytes they take with coordinates of 64 bits.
    pub(crate) fn bytes(&self) -> u64 {
        bytes_of(self.len() as u64, self.order(), self.element())
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The coordinates of entry `e`.
    ///
    /// # Panics
    /// If there is no such entry.
    #[inline]
    pub fn coords(&self, e: usize) -> Tuple<'_> {
        let order = self.order();
        self.coords.tuple(e * order, order)
    }

    /// The entries, as coordinates and value.
    pub fn iter(&self) -> impl Iterator<Item = (Tuple<'_>, Scalar)> {
        (0..self.len()).map(|e| (self.coords(e), self.values.get(e)))
    }

    /// The entries of which `keep` says so, given their number.
    ///
    /// # Errors
    /// `E0407` when memory is out.
    pub(crate) fn chosen(&self, keep: impl Fn(usize) -> bool) -> Result<Self> {
        self.numbered(
            &polled(0..self.len())
                .filter(|&e| keep(e))
                .collect::<Vec<usize>>(),
        )
    }

    /// The entries in another order: at each place the one that `number` says.
    ///
    /// # Errors
    /// `E0407` when memory is out.
    pub(crate) fn in_order(&self, number: impl Fn(usize) -> usize) -> Result<Self> {
        self.numbered(&polled(0..self.len()).map(number).collect::<Vec<usize>>())
    }

    fn numbered(&self, numbers: &[usize]) -> Result<Self> {
        let coords = self.coords.numbered(self.order(), numbers)?;
        let values = with_element!(self.element(), T => {
            let from = self.values.slice::<T>();
            let mut values: Vec<T> = with_room(numbers.len())?;
            values.extend(polled(numbers).map(|&e| from[e]));
            Array::from_vec(values)
        });
        Ok(Self {
            extents: self.extents.clone(),
            coords,
            values,
        })
    }

    /// Checks that the lists fit together.
    pub(crate) fn check_lengths(&self) -> Result<()> {
        let wanted = self.len().checked_mul(self.order());
        if wanted == Some(self.coords.len()) {
            return Ok(());
        }
        Err(Diagnostic::new(
            code::LENGTH_MISMATCH,
            format!(
                "{} coordinates for {} of a tensor of order {}",
                self.coords.len(),
                plural(self.len(), "value"),
                self.order()
            ),
        )
        .help("give one coordinate a mode and one value an entry"))
    }
}

/// A count with its noun: `1 value`, `2 values`.
pub(crate) fn plural(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}
