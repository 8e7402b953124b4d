//! How far index variables run, for the operands at hand.
//!
//! A kernel is planned before its operands are known and takes their extents as
//! arguments. When they are bound, their extents [spread](sparsec_index::extents) over the
//! program. Resolving a program of text for these operands says the same at more length.

use sparsec_index::extents::{self, Clash};
use sparsec_index::{Program, TensorRole};

use crate::request::Operands;

pub(crate) use sparsec_index::extents::{Extents, known};

/// The extents that follow from those of the operands that are bound.
pub(crate) fn of_operands(program: &Program, operands: &Operands<'_>) -> Result<Extents, Clash> {
    let mut tensors = extents::of_tensors(program);
    for (tensor, data) in program.tensors.iter() {
        if let (TensorRole::Input, Some(given)) = (data.role, operands.get(data.source_name())) {
            tensors[tensor] = given.extents().iter().copied().map(Some).collect();
        }
    }
    extents::spread(program, tensors).map(|spread| spread.vars)
}
