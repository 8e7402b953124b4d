//! A tensor read under another format: the same arrays, nothing copied.
//!
//! ```text
//! A : bsr(4,4), 8x12     1.pos 1.crd vals      A(i,j)
//!                          │     │    │
//! alias of its levels    1.pos 1.crd vals      A_levels(ib,jb,ii,jj), 2x3x4x4
//! ```
//!
//! Kernels walk levels. If levels store expressions over the modes (blocks, diagonals), a
//! kernel reads the tensor of the levels. If a tensor is a union of parts, or stores one
//! half of a symmetric matrix, it reads one piece at a time.
//!
//! Invariant: an alias is made only from a checked tensor, and its format and extents follow
//! from that tensor. So its arrays need no check of their own.

use sparsec_format::{Format, Role};

use crate::borrowed::ArrayRef;
use crate::tensor::Tensor;

/// The arrays of a tensor under another format; see the [module](self).
#[derive(Debug)]
pub struct TensorAlias<'a> {
    origin: &'a Tensor,
    format: Format,
    extents: Vec<u64>,
    arrays: Vec<ArrayRef<'a>>,
}

impl<'a> TensorAlias<'a> {
    /// A tensor under its own format.
    pub fn of(origin: &'a Tensor) -> Self {
        Self {
            origin,
            format: origin.format().clone(),
            extents: origin.extents().to_vec(),
            arrays: origin.arrays().iter().map(ArrayRef::from).collect(),
        }
    }

    /// Piece `number` of a tensor, as [`Format::pieces`] counts them.
    ///
    /// # Panics
    /// If the tensor has no such piece.
    ///
    /// ```
    /// use sparsec_format::FormatSpec;
    /// use sparsec_tensor::{Tensor, TensorAlias};
    /// let msr = "msr".parse::<FormatSpec>()?.resolve(2)?;
    /// let a = Tensor::pack(&msr, &[2, 2], &[0, 0, 1, 0], &[5.0, 7.0])?;
    /// let rest = TensorAlias::piece(&a, 1);
    /// assert_eq!(rest.format().to_string(), "(i, j) -> (i : dense, j : compressed)");
    /// assert_eq!(rest.arrays()[2].as_slice::<f64>(), Some(&[7.0][..]));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn piece(origin: &'a Tensor, number: usize) -> Self {
        let pieces = origin.format().pieces();
        let piece = pieces.and_then(|mut pieces| {
            let is_there = number < pieces.len();
            is_there.then(|| pieces.swap_remove(number))
        });
        let Some(piece) = piece else {
            panic!("a tensor in {} has no piece {number}", origin.format());
        };
        let extents = piece.modes.iter().map(|mode| origin.extents()[*mode]);
        Self {
            extents: extents.collect(),
            format: piece.format,
            arrays: origin.part(number),
            origin,
        }
    }

    /// The tensor of the levels of this one. An array that holds the extent of a slot
    /// (`ell`) becomes an extent.
    ///
    /// # Panics
    /// If the format has no [level space](Format::level_space).
    pub fn levels(mut self) -> Self {
        let Some(levels) = self.format.level_space() else {
            panic!("levels of {} are its modes", self.format);
        };
        let specs = self.format.arrays();
        let mut specs = specs.iter();
        let mut sizes = Vec::new();
        self.arrays.retain(|array| {
            let spec = specs.next().expect("an array has a role");
            let is_size = matches!(spec.role, Role::Size(_));
            if is_size {
                sizes.push(array.as_index().get(0) as u64);
            }
            !is_size
        });
        self.extents = level_extents(&self.format, &self.extents, &sizes);
        self.format = levels;
        self
    }

    /// The tensor that has the arrays.
    pub fn origin(&self) -> &'a Tensor {
        self.origin
    }

    /// The format that the arrays are read under.
    pub fn format(&self) -> &Format {
        &self.format
    }

    /// One extent a mode of [`format`](Self::format).
    pub fn extents(&self) -> &[u64] {
        &self.extents
    }

    /// The arrays, in the order of [`Format::arrays`].
    pub fn arrays(&self) -> &[ArrayRef<'a>] {
        &self.arrays
    }
}

/// The extents of the levels of a tensor with these extents. `sizes` holds, in order, the
/// extents of levels that the format and the extents leave open: those of slots.
///
/// # Panics
/// If there are fewer `sizes` than open levels.
pub fn level_extents(format: &Format, extents: &[u64], sizes: &[u64]) -> Vec<u64> {
    let known: Vec<Option<u64>> = extents.iter().copied().map(Some).collect();
    let mut sizes = sizes.iter().copied();
    let of_levels = format.level_extents(&known).into_iter();
    let known = of_levels.map(|extent| extent.or_else(|| sizes.next()));
    let known = known.map(|extent| extent.expect("levels of a checked tensor have extents"));
    known.collect()
}
