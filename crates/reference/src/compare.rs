//! A result beside what was expected.
//!
//! ```
//! use sparsec_reference::{CoordinateMap, compare, compare_exact};
//! use sparsec_tensor::{Format, Tensor};
//! let dense = Tensor::pack(&Format::dense(1), &[3], &[1], &[5.0])?;
//! let sparse = Tensor::pack(&Format::csf(1), &[3], &[1], &[5.5])?;
//! let expected = CoordinateMap::of(&sparse);
//! let difference = compare(&expected, &dense).expect("they differ");
//! assert_eq!(difference.to_string(), "expected 5.5 and found 5.0 at (1)");
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```

use std::cmp::Ordering;
use std::fmt;

use sparsec_base::{ElementType, Scalar};
use sparsec_tensor::Tensor;

use crate::coordinate_map::CoordinateMap;
use crate::point::same;
use crate::rounding::unit;

/// The first way in which a tensor is not what was expected.
#[derive(Clone, Debug, PartialEq)]
pub enum Difference {
    /// It has other extents, or another order.
    Extents {
        /// The extents expected.
        expected: Vec<u64>,
        /// The extents found.
        found: Vec<u64>,
    },
    /// Its entries have another type.
    Element {
        /// The type expected.
        expected: ElementType,
        /// The type found.
        found: ElementType,
    },
    /// An entry has another value.
    Value {
        /// The coordinates of the entry, counted from 0.
        coords: Vec<u64>,
        /// The value expected.
        expected: Scalar,
        /// The value found.
        found: Scalar,
    },
    /// What is not stored has another value.
    Fill {
        /// The fill expected.
        expected: Scalar,
        /// The fill found.
        found: Scalar,
    },
    /// An entry is not stored and should be.
    NotStored {
        /// The coordinates of the entry, counted from 0.
        coords: Vec<u64>,
        /// The value expected.
        expected: Scalar,
    },
    /// An entry is stored and should not be.
    Stored {
        /// The coordinates of the entry, counted from 0.
        coords: Vec<u64>,
        /// The value found.
        found: Scalar,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |coords: &[u64]| {
            let coords: Vec<String> = coords.iter().map(u64::to_string).collect();
            format!("({})", coords.join(","))
        };
        match self {
            Self::Extents { expected, found } => {
                write!(f, "expected extents {expected:?} and found {found:?}")
            }
            Self::Element { expected, found } => {
                write!(f, "expected entries of {expected} and found {found}")
            }
            Self::Value {
                coords,
                expected,
                found,
            } => write!(f, "expected {expected} and found {found} at {}", at(coords)),
            Self::Fill { expected, found } => {
                write!(f, "expected fill {expected} and found {found}")
            }
            Self::NotStored { coords, expected } => {
                write!(
                    f,
                    "expected {expected} at {}, where nothing is stored",
                    at(coords)
                )
            }
            Self::Stored { coords, found } => {
                write!(
                    f,
                    "expected nothing stored at {} and found {found}",
                    at(coords)
                )
            }
        }
    }
}

/// The first difference in value, in lexicographic order of coordinates; `None`
/// where there is none. What is not stored has the value of the fill, so it
/// makes no difference which of equal values are stored.
///
/// Values may be as far apart as rounding in another order of operations takes
/// them: a small part (1e-10 for f64 and c128, 1e-4 for f32 and c64, a few units
/// in the last place for halves) of every number that was computed on the way,
/// in the type it was computed in. So integers and truth values are to be the
/// same, save where they were cast or compared from floats that are uncertain
/// by so much. `NaN` is the same as `NaN`.
///
/// Time `O(M log M)` for `M` stored entries, linear where `actual` stores them
/// in lexicographic order.
pub fn compare(expected: &CoordinateMap, actual: &Tensor) -> Option<Difference> {
    Comparison { is_exact: false }.run(expected, actual)
}

/// The first difference in value or in what is stored; `None` where there is
/// none. All values are to be the same to the last bit, except that zeros of
/// either sign and all `NaN`s are.
///
/// Every expected entry is to be stored, and no other, save that formats whose
/// last level is dense may store fill in addition.
pub fn compare_exact(expected: &CoordinateMap, actual: &Tensor) -> Option<Difference> {
    Comparison { is_exact: true }.run(expected, actual)
}

struct Comparison {
    is_exact: bool,
}

impl Comparison {
    fn run(&self, expected: &CoordinateMap, actual: &Tensor) -> Option<Difference> {
        if expected.extents() != actual.extents() {
            return Some(Difference::Extents {
                expected: expected.extents().to_vec(),
                found: actual.extents().to_vec(),
            });
        }
        if expected.element() != actual.element() {
            return Some(Difference::Element {
                expected: expected.element(),
                found: actual.element(),
            });
        }
        let found = CoordinateMap::of(actual);
        let padding = actual.has_padding().then_some(actual.fill());
        self.entries(expected, &found, padding)
            .or_else(|| self.fills(expected, &found))
    }

    fn entries(
        &self,
        expected: &CoordinateMap,
        actual: &CoordinateMap,
        padding: Option<Scalar>,
    ) -> Option<Difference> {
        let (left, right) = (&expected.rows, &actual.rows);
        let value = |map: &CoordinateMap, n: usize| map.rows.values[n].unwrap_or(map.fill);
        let (mut l, mut r) = (0, 0);
        while l < left.len() || r < right.len() {
            let order = match (l < left.len(), r < right.len()) {
                (true, true) => left.row(l).cmp(right.row(r)),
                (true, false) => Ordering::Less,
                _ => Ordering::Greater,
            };
            let difference = match order {
                Ordering::Less if self.is_exact => Some(Difference::NotStored {
                    coords: left.row(l).to_vec(),
                    expected: value(expected, l),
                }),
                Ordering::Greater
                    if self.is_exact && !padding.is_some_and(|p| same(p, value(actual, r))) =>
                {
                    Some(Difference::Stored {
                        coords: right.row(r).to_vec(),
                        found: value(actual, r),
                    })
                }
                Ordering::Less => {
                    let slack = left.slacks[l];
                    self.value(left.row(l), value(expected, l), actual.fill, slack)
                }
                Ordering::Equal => {
                    let slack = left.slacks[l];
                    self.value(left.row(l), value(expected, l), value(actual, r), slack)
                }
                Ordering::Greater => self.value(right.row(r), expected.fill, value(actual, r), 0.0),
            };
            if difference.is_some() {
                return difference;
            }
            l += usize::from(order.is_le());
            r += usize::from(order.is_ge());
        }
        None
    }

    fn value(
        &self,
        coords: &[u64],
        expected: Scalar,
        found: Scalar,
        slack: f64,
    ) -> Option<Difference> {
        (!self.agree(expected, found, slack)).then(|| Difference::Value {
            coords: coords.to_vec(),
            expected,
            found,
        })
    }

    /// Fills matter where there is a coordinate that neither stores.
    fn fills(&self, expected: &CoordinateMap, actual: &CoordinateMap) -> Option<Difference> {
        if self.agree(expected.fill, actual.fill, 0.0) || expected.is_full() || actual.is_full() {
            return None;
        }
        Some(Difference::Fill {
            expected: expected.fill,
            found: actual.fill,
        })
    }

    /// Whether two values are as near as they should be, where another right
    /// evaluation may be `slack` away from what is expected.
    fn agree(&self, expected: Scalar, found: Scalar, slack: f64) -> bool {
        if same(expected, found) || self.is_exact {
            return same(expected, found);
        }
        if slack.is_infinite() {
            return true;
        }
        // The least positive numbers are as far apart as they are large.
        let least = match (expected.element(), unit(expected.element()) > 0.0) {
            (ElementType::F16, _) => 2f64.powi(-24),
            (_, true) => f64::MIN_POSITIVE,
            (_, false) => 0.0,
        };
        let (a, b) = (expected.to_c128(), found.to_c128());
        let tolerance = slack + unit(expected.element()) * a.norm().max(b.norm()) + least;
        tolerance > 0.0 && a.is_finite() && b.is_finite() && (a - b).norm() <= tolerance
    }
}
