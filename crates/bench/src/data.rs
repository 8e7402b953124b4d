//! What sparse operands are made of: a generator, or a file.
//!
//! ```text
//! spmv/band          A = ten diagonals
//! spmv/astro-ph      A = the matrix of astro-ph.mtx.gz
//! add/astro-ph       B = the same one column on, those of the last column first
//! ```
//!
//! A kernel of several sparse operands takes a file for all of them, each a coordinate
//! further on in the last mode: patterns like one another that meet in part. Values are
//! without their signs: some libraries leave out what cancels.

use std::path::{Path, PathBuf};

use sparsec::io::read_as;
use sparsec::{Diagnostic, ElementType, Format, PackOptions, Result, Tensor, code};

use crate::case::{Case, Pattern, Sizes, made};

/// The tensor of a file.
#[derive(Clone, Debug)]
pub struct Given {
    name: String,
    tensor: Tensor,
}

impl Given {
    /// Reads a matrix, or a tensor of order 3 or 4, as double precision.
    ///
    /// # Errors
    /// Those of reading it, and `E0004` for a tensor of another order.
    pub fn read(path: &Path) -> Result<Self> {
        let file = read_as(path, Some(ElementType::F64))?;
        let order = file.order();
        let format = match order {
            2 => Format::csr(),
            3 | 4 => Format::csf(order),
            _ => {
                let message = format!("the tensor of `{}` has order {order}", path.display());
                return Err(Diagnostic::new(code::BAD_OPTION_VALUE, message)
                    .help("kernels are measured on matrices, and on tensors of order 3 and 4"));
            }
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let stem = name.split('.').next().unwrap_or_default();
        Ok(Self {
            name: stem.to_owned(),
            tensor: file.into_tensor(&format, PackOptions::default())?,
        })
    }

    /// Its name: that of the file, without endings.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The tensor of the file.
    pub fn tensor(&self) -> &Tensor {
        &self.tensor
    }

    /// Whether a kernel has operands like it: of its order, and, where they are
    /// multiplied with one another, square.
    pub fn suits(&self, case: &Case) -> bool {
        let extents = self.tensor.extents();
        case.order() == extents.len() && (!case.is_chain || extents[0] == extents[1])
    }

    /// The same so many coordinates further on in the last mode, cyclically.
    fn shifted(&self, by: u64) -> Result<Tensor> {
        let extents = self.tensor.extents();
        let n = extents[extents.len() - 1];
        let (mut coords, mut values) = (Vec::new(), Vec::new());
        self.tensor.for_each_stored(|entry, value| {
            let (last, outer) = entry.split_last().expect("a mode at least");
            coords.extend_from_slice(outer);
            coords.push((last + by) % n);
            let value = value.to_f64().abs();
            values.push(if value > 0.0 { value } else { 1.0 });
        });
        Tensor::pack(self.tensor.format(), extents, &coords, &values)
    }
}

/// What the operands of a kernel are made of.
#[derive(Clone, Copy, Debug)]
pub struct Data<'a> {
    /// How large they are.
    pub sizes: &'a Sizes,
    /// Where their entries are.
    pub pattern: Pattern,
    /// What they are in place of that.
    pub given: Option<&'a Given>,
}

impl<'a> Data<'a> {
    /// Generated ones.
    pub fn generated(sizes: &'a Sizes, pattern: Pattern) -> Self {
        Self {
            sizes,
            pattern,
            given: None,
        }
    }

    /// The name of a kernel with them: `spmv/band`, `spmv/astro-ph`.
    pub fn name_of(&self, case: &Case) -> String {
        match self.given {
            Some(given) => format!("{}/{}", case.name, given.name),
            None => case.full_name(self.pattern),
        }
    }

    /// How many rows matrices have.
    pub(crate) fn rows(&self) -> u64 {
        self.given
            .map_or(self.sizes.rows, |it| it.tensor.extents()[0])
    }

    /// How many columns matrices have.
    pub(crate) fn columns(&self) -> u64 {
        self.given
            .map_or(self.sizes.rows, |it| it.tensor.extents()[1])
    }

    /// The extents of tensors of order 3.
    pub(crate) fn extents(&self) -> [u64; 3] {
        match self.given.map(|it| it.tensor.extents()) {
            Some(&[i, j, k]) => [i, j, k],
            _ => self.sizes.tensor_extents,
        }
    }

    /// A matrix, one for each seed from 1 on.
    pub(crate) fn matrix(&self, seed: u64) -> Result<Tensor> {
        self.square(self.sizes.rows, seed)
    }

    /// A matrix that is multiplied with another one.
    pub(crate) fn factor(&self, seed: u64) -> Result<Tensor> {
        self.square(self.sizes.product_rows, seed)
    }

    /// A square matrix with ten entries a row, unless one is given. With different
    /// seeds, bands have different widths, so that two of them meet in part.
    fn square(&self, rows: u64, seed: u64) -> Result<Tensor> {
        if let Some(given) = self.given {
            return given.shifted(seed - 1);
        }
        let spec = match self.pattern {
            Pattern::Band => format!("band(width={}, seed={seed})", 12 - 2 * seed),
            Pattern::Uniform => format!("random(nnz={}, seed={seed})", 10 * rows),
        };
        made(&spec, &[rows, rows], &Format::csr())
    }

    /// A tensor of order 3 with entries anywhere, unless one is given.
    pub(crate) fn tensor(&self, seed: u64) -> Result<Tensor> {
        if let Some(given) = self.given {
            return given.shifted(seed - 1);
        }
        let spec = format!("random(nnz={}, seed={seed})", self.sizes.tensor_stored);
        made(&spec, &self.sizes.tensor_extents, &Format::csf(3))
    }
}

/// The tensors of files.
///
/// # Errors
/// As of [`Given::read`].
pub(crate) fn read_all(paths: &[PathBuf]) -> Result<Vec<Given>> {
    paths.iter().map(|path| Given::read(path)).collect()
}
