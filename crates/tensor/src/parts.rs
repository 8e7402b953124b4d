//! The arrays of one part of a union, where they lie.
//!
//! ```text
//! A     1.pos  1.crd  │  2.pos  2.crd  3.crd  │  vals
//!       └─ part 0 ─┘     └──── part 1 ────┘      └ 0 ┘└─ 1 ─┘
//! ```
//!
//! The values of all parts are one array, those of the first part first.

use sparsec_format::Format;

use crate::borrowed::ArrayRef;
use crate::tensor::Tensor;
use crate::with_element;

impl Tensor {
    /// The arrays of a part of a union, in the order of [`Format::arrays`] for that
    /// part; of a tensor that is no union, its only part is all of it.
    ///
    /// # Panics
    /// If there is no such part.
    ///
    /// ```
    /// # use sparsec_format::FormatSpec;
    /// # use sparsec_tensor::Tensor;
    /// let msr = "msr".parse::<FormatSpec>()?.resolve(2)?;
    /// let a = Tensor::pack(&msr, &[2, 2], &[0, 0, 1, 0], &[5.0, 7.0])?;
    /// let rest = a.part(1);
    /// assert_eq!(rest[0].as_index(), [0, 0, 1]);
    /// assert_eq!(rest[2].as_slice::<f64>(), Some(&[7.0][..]));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn part(&self, number: usize) -> Vec<ArrayRef<'_>> {
        let parts = self.format().parts();
        let n_arrays = |part: &Format| part.arrays().len() - 1;
        let first: usize = parts[..number].iter().map(n_arrays).sum();
        let mut n_levels = 0;
        let mut ends = vec![0];
        for part in &parts {
            n_levels += part.levels().len();
            let n_values = match part.levels().len() {
                0 => 1,
                _ => self.n_positions(n_levels - 1),
            };
            ends.push(ends[ends.len() - 1] + n_values);
        }
        let own = &self.arrays()[first..first + n_arrays(&parts[number])];
        let values = ends[number]..ends[number + 1];
        let mut arrays: Vec<ArrayRef<'_>> = own.iter().map(ArrayRef::from).collect();
        let vals = self.vals();
        arrays.push(with_element!(vals.element(), T => vals.slice::<T>()[values].into()));
        arrays
    }
}
