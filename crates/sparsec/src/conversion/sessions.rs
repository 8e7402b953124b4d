//! Conversions that a session runs: by kernels that it keeps, or by packing.

use std::sync::Arc;
use std::time::Instant;

use sparsec_base::Result;
use sparsec_base::code::{self, Code};
use sparsec_tensor::{Format, Tensor};

use super::converter::{Converter, Ownership, Padding};
use super::refusals::keeps_fill;
use crate::options::Backend;
use crate::session::Session;

impl Session {
    /// A tensor in another format of its order; all stored entries but padding stay stored.
    ///
    /// Large tensors are converted by a [`Converter`], if there is one between the two
    /// formats; others by [`Tensor::convert`], which needs no kernel.
    ///
    /// # Errors
    /// As [`Tensor::convert`]; `E0407` where an array takes more than
    /// [`Options::memory`](crate::Options) allows; `E0218` for a format that declares another fill.
    ///
    /// ```
    /// use sparsec::{Format, Session, Tensor};
    /// let a = Tensor::pack(&Format::csr(), &[2, 3], &[0, 2, 1, 0], &[7.0, 5.0])?;
    /// let by_columns = Session::interpreter().convert(&a, &Format::csc())?;
    /// assert_eq!(by_columns.level(1).pos(), [0, 1, 1, 2]);
    /// # Ok::<(), sparsec::Diagnostic>(())
    /// ```
    pub fn convert(&self, tensor: &Tensor, destination: &Format) -> Result<Tensor> {
        keeps_fill(destination, tensor.fill())?;
        self.convert_by(tensor, destination, Padding::LeftBehind, || {
            tensor.convert_within(destination, self.memory())
        })
    }

    /// As [`convert`](Self::convert), of a tensor that the caller gives away: arrays that both
    /// formats have are not copied.
    ///
    /// # Errors
    /// As [`convert`](Self::convert).
    ///
    /// ```
    /// use sparsec::{Format, Session, Tensor};
    /// let a = Tensor::pack(&Format::csr(), &[2, 3], &[0, 2, 1, 0], &[7.0, 5.0])?;
    /// let list = Session::interpreter().convert_owned(a, &Format::coo(2))?;
    /// assert_eq!(list.values::<f64>(), Some(&[7.0, 5.0][..]));
    /// # Ok::<(), sparsec::Diagnostic>(())
    /// ```
    pub fn convert_owned(&self, tensor: Tensor, destination: &Format) -> Result<Tensor> {
        keeps_fill(destination, tensor.fill())?;
        let how = (Padding::LeftBehind, Ownership::Given);
        let (tensor, error) = match self.converter(&tensor, destination, how) {
            None => (tensor, None),
            Some(converter) => match converter.run_owned(self, tensor) {
                Ok(converted) => return Ok(converted),
                Err(refused) => {
                    let (error, tensor) = *refused;
                    (tensor, Some(error))
                }
            },
        };
        match error {
            // Packing says which entry the destination cannot hold, and which array is too large.
            Some(error) if !PACKED_INSTEAD.contains(&error.code()) => Err(error),
            _ => tensor.convert_within(destination, self.memory()),
        }
    }

    /// A tensor in another format: by a [derived](Self::derived) kernel, else by `pack`.
    pub(crate) fn convert_by(
        &self,
        tensor: &Tensor,
        destination: &Format,
        padding: Padding,
        pack: impl FnOnce() -> Result<Tensor>,
    ) -> Result<Tensor> {
        if self.cancel().is_set() {
            return Err(sparsec_runtime::cancelled());
        }
        let started = Instant::now();
        let derived = self.derived(tensor, destination, padding);
        let by_kernel = derived.is_some();
        let converted = derived.unwrap_or_else(pack)?;
        tracing::debug!(
            from = %tensor.format(),
            to = %destination,
            entries = tensor.n_stored(),
            by_kernel,
            time = ?started.elapsed(),
            "converted"
        );
        Ok(converted)
    }

    /// A tensor in another format by a conversion that is derived, if there is one, and if its
    /// kernel takes less time than packing, and making it less than packing has so far.
    pub(crate) fn derived(
        &self,
        tensor: &Tensor,
        destination: &Format,
        padding: Padding,
    ) -> Option<Result<Tensor>> {
        let converter = self.converter(tensor, destination, (padding, Ownership::Lent))?;
        match converter.run(self, tensor) {
            // Packing says which entry the destination cannot hold, and which array is too large.
            Err(error) if PACKED_INSTEAD.contains(&error.code()) => None,
            converted => Some(converted),
        }
    }
}

impl Session {
    /// The converter for a tensor, if its kernel takes less time than packing.
    fn converter(
        &self,
        tensor: &Tensor,
        destination: &Format,
        how: (Padding, Ownership),
    ) -> Option<Arc<Converter>> {
        if self.backend() == Backend::Interpreter
            || tensor.order() != destination.order()
            || tensor.most_entries() < FEWEST
        {
            return None;
        }
        self.converters().find(tensor, destination, how)
    }
}

/// Failures of a kernel that packing says more about.
const PACKED_INSTEAD: [Code; 3] = [
    code::NOT_AS_DECLARED,
    code::KERNEL_OUT_OF_MEMORY,
    code::WIDTH_OVERFLOW,
];

/// Tensors of fewer entries are packed before a kernel would be found and launched.
/// Source: packing takes 40 ns an entry, and launching a kernel that is kept some 20 µs.
const FEWEST: u64 = 512;
