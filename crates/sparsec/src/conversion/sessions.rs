//! Conversions that a session runs: by kernels that it keeps, or by packing.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use sparsec_base::code::{self, Code};
use sparsec_base::{Diagnostic, Result};
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
        self.converted(Cow::Borrowed(tensor), destination)
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
        self.converted(Cow::Owned(tensor), destination)
    }

    fn converted(&self, tensor: Cow<'_, Tensor>, destination: &Format) -> Result<Tensor> {
        keeps_fill(destination.fill(), tensor.fill())?;
        self.convert_by(tensor, destination, Padding::LeftBehind, |tensor| {
            tensor.convert_within(destination, self.memory())
        })
    }

    /// A tensor in another format: by a derived kernel, else by `pack`. Arrays of an owned tensor move.
    pub(crate) fn convert_by(
        &self,
        tensor: Cow<'_, Tensor>,
        destination: &Format,
        padding: Padding,
        pack: impl FnOnce(&Tensor) -> Result<Tensor>,
    ) -> Result<Tensor> {
        self.watched(|| self.convert_now(tensor, destination, padding, pack))
    }

    fn convert_now(
        &self,
        tensor: Cow<'_, Tensor>,
        destination: &Format,
        padding: Padding,
        pack: impl FnOnce(&Tensor) -> Result<Tensor>,
    ) -> Result<Tensor> {
        let started = Instant::now();
        let (from, entries) = (tensor.format().clone(), tensor.n_stored());
        let (converted, by_kernel) = match self.by_kernel(tensor, destination, padding) {
            Outcome::Converted(converted) => (converted, true),
            Outcome::Left(tensor) => (pack(&tensor)?, false),
            Outcome::Failed(error) => return Err(error),
        };
        tracing::debug!(
            %from,
            to = %destination,
            entries,
            by_kernel,
            time = ?started.elapsed(),
            "converted"
        );
        Ok(converted)
    }

    /// A tensor in another format by a conversion that is derived, if there is one, and if its
    /// kernel takes less time than packing, and making it less than packing has so far.
    fn by_kernel<'t>(
        &self,
        tensor: Cow<'t, Tensor>,
        destination: &Format,
        padding: Padding,
    ) -> Outcome<'t> {
        let ownership = match tensor {
            Cow::Borrowed(_) => Ownership::Lent,
            Cow::Owned(_) => Ownership::Given,
        };
        let Some(converter) = self.converter(&tensor, destination, (padding, ownership)) else {
            return Outcome::Left(tensor);
        };
        let (error, tensor) = match tensor {
            Cow::Borrowed(tensor) => match converter.run(self, tensor) {
                Ok(converted) => return Outcome::Converted(converted),
                Err(error) => (error, Cow::Borrowed(tensor)),
            },
            Cow::Owned(tensor) => match converter.run_owned(self, tensor) {
                Ok(converted) => return Outcome::Converted(converted),
                Err(refused) => {
                    let (error, tensor) = *refused;
                    (error, Cow::Owned(tensor))
                }
            },
        };
        // Packing says which entry the destination cannot hold, and which array is too large.
        match PACKED_INSTEAD.contains(&error.code()) {
            true => Outcome::Left(tensor),
            false => Outcome::Failed(error),
        }
    }

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

/// How a conversion by a kernel ended.
enum Outcome<'t> {
    Converted(Tensor),
    /// The tensor is to be packed.
    Left(Cow<'t, Tensor>),
    Failed(Diagnostic),
}

/// Failures of a kernel that packing says more about.
const PACKED_INSTEAD: [Code; 4] = [
    code::NOT_AS_DECLARED,
    code::GIVEN_MISFIT,
    code::KERNEL_OUT_OF_MEMORY,
    code::WIDTH_OVERFLOW,
];

/// Tensors of fewer entries are packed before a kernel would be found and launched.
/// Source: packing takes 40 ns an entry, and launching a kernel that is kept some 20 µs.
const FEWEST: u64 = 512;
