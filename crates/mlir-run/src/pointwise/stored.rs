//! Operands and results of a body: dense ones as arrays, sparse ones as maps of stored entries.

use std::collections::HashMap;

use sparsec_base::{Result, Scalar};
use sparsec_format::Format;
use sparsec_index::Operator;
use sparsec_mlir::AffineMap;
use sparsec_tensor::{Array, Entries, Tensor};

use crate::datum::{array_of, dense, pack, repacked};
use crate::memory::count;

/// A value at a point: the number, and whether it is stored; `None` for a constant.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    pub(super) value: Scalar,
    pub(super) is_stored: Option<bool>,
    /// Whether the value is the same at all points without stored entries.
    pub(super) is_known: bool,
    /// The output that the value is, if no operation changed it.
    pub(super) output: Option<usize>,
}

impl At {
    /// A value that no entry determines.
    pub(super) fn constant(value: Scalar) -> Self {
        Self {
            value,
            is_stored: None,
            is_known: true,
            output: None,
        }
    }

    /// Whether the value is a zero that no entry stores.
    pub(super) fn is_implicit_zero(&self) -> bool {
        let is_zero = self.value.is_zero();
        self.is_known && self.is_stored == Some(false) && is_zero
    }

    /// The value of an entry.
    pub(super) fn entry(value: Scalar, is_stored: bool) -> Self {
        Self {
            is_stored: Some(is_stored),
            ..Self::constant(value)
        }
    }
}

/// A place of an operand: its coordinates as one number, the last mode counting by one.
pub(super) type Place = u128;

/// The entries of an operand.
pub(super) struct Stored {
    pub(super) map: AffineMap,
    pub(super) extents: Vec<u64>,
    values: Values,
}

enum Values {
    Dense(Array),
    Sparse {
        entries: HashMap<Place, Scalar>,
        /// The array that has the type of the values, without entries.
        empty: Array,
    },
}

impl Stored {
    pub(super) fn of(tensor: &Tensor, map: &AffineMap) -> Result<Self> {
        let extents = tensor.extents().to_vec();
        let element = tensor.element();
        let mut values = match tensor.format().has_sparse() {
            true => Values::Sparse {
                entries: HashMap::new(),
                empty: Array::zeroed(element, 0)?,
            },
            false => Values::Dense(Array::zeroed(element, count(&extents)?)?),
        };
        tensor.for_each_stored(|at, value| {
            let place = place_of(at.iter().copied(), &extents);
            match &mut values {
                Values::Dense(array) => array.set(place as usize, value),
                // Values of one place are added.
                Values::Sparse { entries, .. } => {
                    let sum = |old: &Scalar| Operator::Add.evaluate(&[*old, value])?.cast(element);
                    let value = entries.get(&place).and_then(sum).unwrap_or(value);
                    entries.insert(place, value);
                }
            }
        });
        Ok(Self {
            map: map.clone(),
            extents,
            values,
        })
    }

    /// The stored places, in no order; `None` if all places are stored.
    pub(super) fn places(&self) -> Option<impl ExactSizeIterator<Item = Place>> {
        match &self.values {
            Values::Dense(_) => None,
            Values::Sparse { entries, .. } => Some(entries.keys().copied()),
        }
    }

    /// The place of a point; `None` outside of the operand.
    pub(super) fn place(&self, point: &[i64]) -> Option<Place> {
        let mut place = 0;
        for (result, extent) in self.map.results.iter().zip(&self.extents) {
            let at = u64::try_from(result.value(point, &[])?).ok()?;
            if at >= *extent {
                return None;
            }
            place = place * Place::from(*extent) + Place::from(at);
        }
        Some(place)
    }

    /// An entry that is not stored; for a dense operand, one of value zero.
    pub(super) fn implicit(&self) -> At {
        match &self.values {
            Values::Dense(array) => At {
                is_known: false,
                ..At::entry(array.element().zero(), true)
            },
            Values::Sparse { empty, .. } => At::entry(empty.element().zero(), false),
        }
    }

    pub(super) fn at(&self, place: Place) -> At {
        match &self.values {
            Values::Dense(array) => At::entry(array.get(place as usize), true),
            Values::Sparse { entries, .. } => match entries.get(&place) {
                Some(value) => At::entry(*value, true),
                None => self.implicit(),
            },
        }
    }

    /// Gives a place a value. A zero that is not stored leaves an implicit entry.
    pub(super) fn set(&mut self, place: Place, at: At) {
        match &mut self.values {
            Values::Dense(array) => array.set(place as usize, at.value),
            Values::Sparse { entries, .. } => {
                let is_stored = at.is_stored.unwrap_or(true) || entries.contains_key(&place);
                if is_stored || !at.value.is_zero() {
                    entries.insert(place, at.value);
                }
            }
        }
    }

    /// Gives each place of a dense tensor the start of a reduction, and takes all entries out of a
    /// sparse one.
    pub(super) fn begin_with(&mut self, value: Scalar) {
        match &mut self.values {
            Values::Dense(array) => (0..array.len()).for_each(|n| array.set(n, value)),
            Values::Sparse { entries, .. } => entries.clear(),
        }
    }

    /// The tensor in a format.
    pub(super) fn into_tensor(self, format: &Format) -> Result<Tensor> {
        let (entries, empty) = match self.values {
            Values::Dense(array) => {
                let plain = dense(self.extents, array)?;
                return match plain.format() == format {
                    true => Ok(plain),
                    false => repacked(&plain, plain.element(), format, Some),
                };
            }
            Values::Sparse { entries, empty } => (entries, empty),
        };
        let mut entries: Vec<(Place, Scalar)> = entries.into_iter().collect();
        entries.sort_unstable_by_key(|(place, _)| *place);
        let mut coords = Vec::new();
        let mut at = vec![0u64; self.extents.len()];
        for (place, _) in &entries {
            coordinates(*place, &self.extents, &mut at);
            coords.extend_from_slice(&at);
        }
        let values: Vec<Scalar> = entries.into_iter().map(|(_, value)| value).collect();
        let entries = Entries {
            coords: coords.into(),
            values: array_of(empty.element(), &values)?,
            extents: self.extents,
        };
        pack(format, entries)
    }
}

/// The place of coordinates.
pub(super) fn place_of(at: impl Iterator<Item = u64>, extents: &[u64]) -> Place {
    at.zip(extents).fold(0, |place, (at, extent)| {
        place * Place::from(*extent) + Place::from(at)
    })
}

/// The coordinates of a place.
pub(super) fn coordinates(mut place: Place, extents: &[u64], at: &mut [u64]) {
    for (at, extent) in at.iter_mut().zip(extents).rev() {
        let extent = Place::from((*extent).max(1));
        *at = (place % extent) as u64;
        place /= extent;
    }
}
