//! What is looked at once for all runs on the same operands.
//!
//! ```text
//! bind ──► memory, steps, formats: Ready ──► run ──► run ──► …
//! ```
//!
//! Operands are borrowed for as long as they are bound, so that what was found out of
//! them stays true. What may change between runs, as how much memory there is, is left to
//! the runs.

use std::borrow::Cow;
use std::collections::BTreeMap;

use sparsec_base::{Diagnostic, Result, code};
use sparsec_index::{Program, TensorData, TensorRole};
use sparsec_tensor::Tensor;

use crate::compiled::Compiled;
use crate::extents::Extents;
use crate::memory;
use crate::request::Operands;
use crate::session::Session;
use crate::widths;
use crate::work;

/// The operands of a compiled program as its kernels read them, and what was looked
/// at once for all runs on them.
#[derive(Debug)]
pub(crate) struct Ready<'a> {
    pub(crate) operands: BTreeMap<String, Cow<'a, Tensor>>,
    /// How many bytes a run takes at least.
    pub(crate) bytes: u128,
}

/// How many bytes a run on these operands takes at least.
///
/// # Errors
/// `E0508` if more memory is needed than there is, `E0517` for a computation that does not end.
pub(crate) fn check(
    compiled: &Compiled,
    extents: &Extents,
    given: &Operands<'_>,
    session: &Session,
) -> Result<u128> {
    let bytes = memory::check(compiled, extents, session.memory())?;
    work::check(compiled, extents, given)?;
    Ok(bytes)
}

/// The fault of an operand that nobody gave.
pub(crate) fn missing(program: &Program, data: &TensorData) -> Diagnostic {
    let name = data.source_name();
    let message = format!("there is no tensor for `{name}`");
    Diagnostic::new(code::MISSING_INPUT, message)
        .at(&program.source, data.span, "read here")
        .help(format!("give `{name}` its data"))
}

impl<'a> Ready<'a> {
    /// Puts every operand into the format that kernels read, for a run that takes so many `bytes`
    /// at least.
    ///
    /// # Errors
    /// `E0314` for an operand that is missing; those of converting.
    pub(crate) fn new(
        compiled: &Compiled,
        given: &BTreeMap<&str, &'a Tensor>,
        session: &Session,
        bytes: u128,
    ) -> Result<Self> {
        let mut operands = BTreeMap::new();
        for (id, data) in compiled.program.tensors.iter() {
            if data.role != TensorRole::Input {
                continue;
            }
            let name = data.source_name();
            let Some(&tensor) = given.get(name) else {
                return Err(missing(&compiled.program, data));
            };
            let format = compiled.formats.of(id);
            let tensor = if widths::is_stored_as(tensor, format) {
                Cow::Borrowed(tensor)
            } else {
                let converted = session.convert(tensor, format);
                Cow::Owned(converted.map_err(|error| {
                    error.or_at(&compiled.program.source, data.span, "converted")
                })?)
            };
            operands.insert(data.name.clone(), tensor);
        }
        Ok(Self { operands, bytes })
    }
}
