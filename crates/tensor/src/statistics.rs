//! Statistics of a tensor's entries, counted when first asked for and then kept.
//!
//! | module    | counts                                                          |
//! |-----------|-----------------------------------------------------------------|
//! | `spread`  | entries of each row, column, and coordinate of any mode; positions of levels |
//! | `groups`  | distinct tuples of some modes                                   |
//! | `matrix`  | bandwidth, profile, diagonals, blocks, symmetry                 |
//! | `degrees` | entries with each coordinate of a mode and each prefix, exact or sampled |
//! | `choice`  | the format that suits the entries                               |
//! | `places`  | a value for each row, column or diagonal                        |
//!
//! What the numbers mean stands where they are kept as plain data:
//! [`sparsec_format::statistics`]. Everything is counted from one list of the
//! entries in storage order without padding, in parallel, with results that do
//! not depend on the number of threads.

mod choice;
mod degrees;
mod groups;
mod kept;
mod matrix;
mod places;
mod spread;

pub use sparsec_format::statistics::*;

pub use degrees::{Degree, Degrees};
pub(crate) use kept::Kept;

use sparsec_base::Result;

use crate::entries::bytes_of;
use crate::tensor::Tensor;

impl Tensor {
    /// What is known of the entries: how they spread over modes and levels, and
    /// for a matrix how they lie. Counted when first asked for and then kept
    /// with the tensor and its clones, until values are changed.
    ///
    /// Takes a list of the entries, in the order of the modes, and for matrices
    /// about ten walks over it.
    ///
    /// # Errors
    /// `E0407` when memory is out.
    ///
    /// ```
    /// # use sparsec_format::Format;
    /// # use sparsec_tensor::Tensor;
    /// let coords = [0, 0, 0, 3, 1, 1, 3, 0, 3, 2];
    /// let a = Tensor::pack(&Format::csr(), &[4, 4], &coords, &[4.0, 1.0, 5.0, 2.0, 6.0])?;
    /// let statistics = a.statistics()?;
    /// assert_eq!(statistics.n_entries, 5);
    /// assert_eq!((statistics.modes[0].max, statistics.modes[0].n_empty), (2, 1));
    /// let matrix = statistics.matrix.as_ref().expect("of order 2");
    /// assert_eq!((matrix.lower_bandwidth, matrix.upper_bandwidth), (3, 3));
    /// assert_eq!((matrix.n_diagonals, matrix.symmetry.pattern), (4, false));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn statistics(&self) -> Result<&Statistics> {
        self.kept().get_or_count(|| count(self))
    }

    /// How many bytes the stored entries take as a list with coordinates of 64 bits: what limits
    /// of memory for another format are measured by
    /// ([`MemoryLimit::growing_from`](sparsec_parallel::MemoryLimit::growing_from)).
    pub fn bytes_of_entries(&self) -> u64 {
        bytes_of(self.n_stored() as u64, self.order(), self.element())
    }

    /// How many bytes each array takes.
    pub fn footprint(&self) -> Footprint {
        let specs = self.format().arrays().into_iter();
        let bytes = self.arrays().iter().map(|array| array.bytes() as u64);
        Footprint::new(specs.zip(bytes).collect())
    }
}

fn count(tensor: &Tensor) -> Result<Statistics> {
    let order: Vec<usize> = (0..tensor.order()).collect();
    let entries = tensor.sorted_entries(&order)?;
    let mut statistics = Statistics::empty(tensor.extents());
    statistics.n_entries = entries.len() as u64;
    statistics.modes = spread::modes(&entries)?;
    statistics.levels = spread::levels(tensor);
    statistics.groups = groups::count(&entries)?;
    if tensor.order() == 2 {
        statistics.matrix = Some(matrix::count(&entries)?);
    }
    Ok(statistics)
}
