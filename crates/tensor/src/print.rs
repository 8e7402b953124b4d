//! A tensor as text, the way NumPy and SciPy print theirs.
//!
//! ```text
//! f64[2, 3], dense, 6 stored        f64[1024, 1024], csr, 4992 stored
//! [[ 1.0  0.25 -3.0 ]                 (   0,    0)   4.0
//!  [ 0.0 12.5   inf ]]                (   0,    1)  -1.0
//!                                     ...
//!                                     (1023, 1023)   4.0
//! ```
//!
//! | tensor                         | is printed as                                       |
//! |--------------------------------|-----------------------------------------------------|
//! | of order 0                     | its value                                           |
//! | dense                          | nested brackets; the edges of each mode if large     |
//! | with a level that is not dense | one stored entry a line; the first and last if many  |
//!
//! Numbers are the shortest text that reads back as the same value, aligned at the
//! decimal point. Coordinates count from 0. If one triangle is stored, the mirror images of
//! its entries are printed too. The time depends on the length of the text, not on the
//! number of stored entries; a search for entries among padding is bounded.
//!
//! `{}` prints this with a headline, `{:#}` the tree of the levels and the arrays:
//!
//! ```
//! # use sparsec_format::Format;
//! # use sparsec_tensor::Tensor;
//! let x = Tensor::dense(&[2, 3], [1.0, 0.25, -3.0, 0.0, 12.5, 0.0])?;
//! assert_eq!(x.to_string(), "\
//! f64[2, 3], dense, 6 stored
//! [[ 1.0   0.25 -3.0 ]
//!  [ 0.0  12.5   0.0 ]]");
//! assert_eq!(x.convert(&Format::csr())?.to_string(), "\
//! f64[2, 3], csr, 4 stored
//!   (0, 0)   1.0
//!   (0, 1)   0.25
//!   (0, 2)  -3.0
//!   (1, 1)  12.5");
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```

use std::fmt;

use crate::tensor::Tensor;

mod cell;
mod entries;
mod grid;
mod tree;

pub(crate) use entries::{Ends, Entry};

/// How much of a tensor is printed, and how wide.
///
/// ```
/// use sparsec_tensor::{PrintOptions, Tensor};
/// let x = Tensor::dense(&[2000], vec![0.5; 2000])?;
/// assert_eq!(
///     x.values_text(PrintOptions::default()),
///     "[0.5 0.5 0.5 ... 0.5 0.5 0.5]",
/// );
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintOptions {
    /// Characters on a line, beyond which a row of a dense tensor is wrapped.
    pub width: usize,
    /// Values of a dense tensor that are printed whole, as NumPy's `threshold`.
    pub most_values: usize,
    /// Coordinates shown at each end of a mode of a larger one, as NumPy's `edgeitems`.
    pub edge_values: usize,
    /// Entries of a sparse tensor that are printed whole.
    pub most_entries: usize,
    /// Entries shown at each end of a longer list.
    pub edge_entries: usize,
}

impl Default for PrintOptions {
    fn default() -> Self {
        Self {
            width: 80,
            most_values: 1000,
            edge_values: 3,
            most_entries: 50,
            edge_entries: 5,
        }
    }
}

impl Tensor {
    /// A line about the tensor: element type, extents, format, the number of stored
    /// entries, and the fill if it is not zero.
    pub fn headline(&self) -> String {
        // The fill stands at the end, whether the format declares it or not.
        let format = self.format().clone().without_fill();
        headline(self, &format.arrangement())
    }

    /// The values as text, without a line break at the end: the value of a scalar, the
    /// array of a dense tensor, the stored entries of any other. Empty if a sparse tensor
    /// has no entries.
    pub fn values_text(&self, options: PrintOptions) -> String {
        if self.order() == 0 {
            return self.get(&[]).to_string();
        }
        grid::text(self, options).unwrap_or_else(|| entries::text(self, options))
    }
}

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            return self.write_tree(f);
        }
        let values = self.values_text(PrintOptions::default());
        match (self.order(), values.is_empty()) {
            (0, _) => f.write_str(&values),
            (_, true) => f.write_str(&self.headline()),
            (_, false) => write!(f, "{}\n{values}", self.headline()),
        }
    }
}

fn headline(tensor: &Tensor, format: &str) -> String {
    let extents: Vec<String> = tensor.extents().iter().map(u64::to_string).collect();
    let fill = match tensor.fill().is_zero() {
        true => String::new(),
        false => format!(", fill {}", tensor.fill()),
    };
    format!(
        "{}[{}], {format}, {} stored{fill}",
        tensor.element(),
        extents.join(", "),
        tensor.n_filled(),
    )
}

#[cfg(test)]
mod tests;
