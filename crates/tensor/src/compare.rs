//! The first entry in which two tensors differ.
//!
//! Tensors are compared as functions of their coordinates: formats, storage
//! order and whether a fill value is stored make no difference.
//!
//! ```
//! use sparsec_format::Format;
//! use sparsec_tensor::Tensor;
//! let a = Tensor::pack(&Format::csr(), &[2, 3], &[0, 1, 1, 2], &[1.0, 5.0])?;
//! let b = Tensor::pack(&Format::dense(2), &[2, 3], &[0, 1, 1, 2], &[1.0, 6.0])?;
//! let difference = a.equal_within(&b, 1e-9).expect("they differ");
//! assert_eq!(difference.to_string(), "5.0 and 6.0 at [1, 2]");
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```

use std::cmp::Ordering;
use std::fmt;

use sparsec_base::{Diagnostic, ElementType, Result, Scalar};

use crate::duplicates::Duplicates;
use crate::entries::Entries;
use crate::sort::sort;
use crate::tensor::Tensor;

/// Where two tensors differ.
#[derive(Clone, Debug, PartialEq)]
pub enum Difference {
    /// They have other extents, or another order.
    Extents {
        /// The extents of the left tensor.
        left: Vec<u64>,
        /// The extents of the right tensor.
        right: Vec<u64>,
    },
    /// An entry has two values.
    Value {
        /// The coordinates of the entry, counted from 0.
        coords: Vec<u64>,
        /// Its value in the left tensor.
        left: Scalar,
        /// Its value in the right tensor.
        right: Scalar,
    },
    /// Neither stores every entry, and their fills differ.
    Fill {
        /// The fill of the left tensor.
        left: Scalar,
        /// The fill of the right tensor.
        right: Scalar,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Extents { left, right } => write!(f, "extents {left:?} and {right:?}"),
            Self::Value {
                coords,
                left,
                right,
            } => write!(f, "{left} and {right} at {coords:?}"),
            Self::Fill { left, right } => write!(f, "fills {left} and {right}"),
        }
    }
}

impl Tensor {
    /// The first entry, in lexicographic order, in which two tensors differ by
    /// more than `tolerance`; `None` where they are equal.
    ///
    /// Floats `a` and `b` are equal if `|a - b| <= tolerance * max(1, |a|, |b|)`,
    /// if both are NaN, or if they are the same infinity; complex numbers as well, where parts
    /// that are NaN or infinite are compared one by one. Integers and truth
    /// values are equal if they are the same.
    ///
    /// Sorts copies of both: `O(M log M)`, and memory for both as lists.
    pub fn equal_within(&self, other: &Self, tolerance: f64) -> Option<Difference> {
        if self.extents() != other.extents() {
            return Some(Difference::Extents {
                left: self.extents().to_vec(),
                right: other.extents().to_vec(),
            });
        }
        let (left, right) = match (listed(self), listed(other)) {
            (Ok(left), Ok(right)) => (left, right),
            (Err(fault), _) | (_, Err(fault)) => broken(&fault),
        };
        let pair = Pair {
            left: &left,
            right: &right,
            fills: (self.fill(), other.fill()),
            tolerance,
        };
        let value = pair.first();
        value.or_else(|| pair.fill(self.extents()))
    }

    /// Whether both have the same value at every coordinate.
    pub fn same_entries(&self, other: &Self) -> bool {
        self.equal_within(other, 0.0).is_none()
    }
}

fn listed(tensor: &Tensor) -> Result<Entries> {
    let modes: Vec<usize> = (0..tensor.order()).collect();
    sort(tensor.entries(), &modes, Duplicates::Add)?.into_entries(tensor.extents(), &modes)
}

fn broken(fault: &Diagnostic) -> ! {
    panic!("the entries of a checked tensor can be sorted: {fault}")
}

struct Pair<'a> {
    left: &'a Entries,
    right: &'a Entries,
    fills: (Scalar, Scalar),
    tolerance: f64,
}

impl Pair<'_> {
    fn first(&self) -> Option<Difference> {
        let (mut l, mut r) = (0, 0);
        while l < self.left.len() || r < self.right.len() {
            let order = match (l < self.left.len(), r < self.right.len()) {
                (true, true) => self.left.coords(l).cmp(&self.right.coords(r)),
                (true, false) => Ordering::Less,
                _ => Ordering::Greater,
            };
            let coords = match order {
                Ordering::Greater => self.right.coords(r),
                _ => self.left.coords(l),
            };
            let (mut left, mut right) = self.fills;
            if order.is_le() {
                left = self.left.values.get(l);
                l += 1;
            }
            if order.is_ge() {
                right = self.right.values.get(r);
                r += 1;
            }
            if !close(left, right, self.tolerance) {
                return Some(Difference::Value {
                    coords: coords.to_vec(),
                    left,
                    right,
                });
            }
        }
        None
    }

    /// Fills matter where there is a coordinate that neither stores. Every
    /// stored one was found equal, so a tensor that stores all settles it.
    fn fill(&self, extents: &[u64]) -> Option<Difference> {
        let (left, right) = self.fills;
        let all = extents
            .iter()
            .try_fold(1u64, |n, &extent| n.checked_mul(extent));
        let full = |list: &Entries| all == Some(list.len() as u64);
        if close(left, right, self.tolerance) || full(self.left) || full(self.right) {
            return None;
        }
        Some(Difference::Fill { left, right })
    }
}

fn close(left: Scalar, right: Scalar, tolerance: f64) -> bool {
    if left == right {
        return true;
    }
    let is_exact = |ty: ElementType| !ty.is_float() && !ty.is_complex();
    if is_exact(left.element()) && left.element() == right.element() {
        return false;
    }
    let (a, b) = (left.to_c128(), right.to_c128());
    let is_same = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan();
    is_same(a.re, b.re) && is_same(a.im, b.im)
        || a.is_finite()
            && b.is_finite()
            && (a - b).norm() <= tolerance * a.norm().max(b.norm()).max(1.0)
}
