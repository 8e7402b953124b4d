//! Errors of values that kernels cannot tell to be needed.
//!
//! An integer division by zero is an error where a stored entry of a result needs the value.
//! A kernel knows that of its own temporaries. Two cases are beyond it:
//!
//! * a statement was split, and the kernel of a part fails: a later kernel has the entries
//!   that may need the value;
//! * a result has no fill, since the value of its right side fails where nothing is stored,
//!   and it does not store every entry.
//!
//! The reference evaluator decides: it computes the statement as it was written.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use sparsec_base::{Diagnostic, Result, code};
use sparsec_index::TensorRole;
use sparsec_reference as reference;
use sparsec_tensor::{PackOptions, Tensor};

use super::Run;

/// The result of a statement that the reference evaluator computed.
pub(super) struct Settled {
    /// The statement. Nothing reads the results of its parts any more.
    number: usize,
    tensor: Tensor,
}

impl Run<'_> {
    /// The result of statement `number`, if there is no kernel to run for it.
    pub(super) fn settled(&self, number: usize) -> Option<Tensor> {
        let settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        let settled = settled.as_ref().filter(|settled| number <= settled.number);
        settled.map(|settled| settled.tensor.clone())
    }

    /// Whether some results are no tensors that later kernels could compute values of.
    pub(crate) fn is_settled(&self) -> bool {
        let settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        settled.is_some()
    }

    /// The result of a kernel, unless the reference evaluator has to decide.
    pub(super) fn settle(
        &self,
        number: usize,
        result: Result<Tensor>,
        results: &[Tensor],
    ) -> Result<Tensor> {
        match result {
            Ok(tensor) if !self.lacks_entries(number, &tensor) => Ok(tensor),
            Ok(_) => self.decide(number, None, results),
            Err(error) => self.decide(number, Some(error), results),
        }
    }

    /// The result in place of the one whose values a kernel `computed`, if there is another.
    pub(super) fn settle_values(
        &self,
        number: usize,
        computed: Result<()>,
        result: &Tensor,
        results: &[Tensor],
    ) -> Result<Option<Tensor>> {
        match computed {
            Ok(()) if !self.lacks_entries(number, result) => Ok(None),
            Ok(()) => self.decide(number, None, results).map(Some),
            Err(error) => self.decide(number, Some(error), results).map(Some),
        }
    }

    /// What the reference evaluator computes in place of a result that lacks entries, or of an
    /// error that may be that of a value which nothing needs.
    fn decide(
        &self,
        number: usize,
        error: Option<Diagnostic>,
        results: &[Tensor],
    ) -> Result<Tensor> {
        let is_due = |error: &Diagnostic| !is_of_value(error) || self.is_written(number);
        if let Some(error) = error.clone().filter(is_due) {
            return Err(error);
        }
        match (self.decided(number, results), error) {
            (Ok(settled), _) => {
                let tensor = settled.tensor.clone();
                let mut place = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
                *place = Some(settled);
                Ok(tensor)
            }
            (Err(too_many), Some(error)) if too_many.code() == code::TOO_MANY_POINTS => Err(error
                .note(
                    "this is a part of the statement that is computed apart; whether an entry of \
                     the result needs the value takes too long to find out",
                )),
            (Err(error), _) => Err(error),
        }
    }

    /// Whether statement `number` computes a tensor that the source names.
    fn is_written(&self, number: usize) -> bool {
        let program = &self.compiled.program;
        let name = &program.tensors[program.statements[number].lhs.tensor].name;
        self.compiled.resolved.tensors.named(name).is_some()
    }

    /// Whether a result has no fill, and does not store every entry.
    fn lacks_entries(&self, number: usize, tensor: &Tensor) -> bool {
        if !self.compiled.statements[number].lacks_fill {
            return false;
        }
        let extents = tensor.extents().iter();
        let n = extents.fold(1u64, |n, extent| n.saturating_mul(*extent));
        (tensor.n_stored() as u64) < n
    }

    /// The result of the statement that statement `number` is, or is a part of.
    fn decided(&self, number: usize, results: &[Tensor]) -> Result<Settled> {
        let compiled = self.compiled;
        let (program, resolved) = (&compiled.program, &compiled.resolved);
        let mut numbers = number..program.statements.len();
        let number = numbers
            .find(|number| self.is_written(*number))
            .expect("a part comes before its statement");
        let result = program.statements[number].lhs.tensor;
        let name = &program.tensors[result].name;
        let mut known: BTreeMap<String, &Tensor> = BTreeMap::new();
        for (_, data) in resolved.tensors.iter() {
            let mut names = vec![data.name.as_str()];
            if data.role == TensorRole::Input {
                names.push(data.source_name());
            }
            if let Some(tensor) = names.into_iter().find_map(|name| self.find(name, results)) {
                known.insert(data.name.clone(), tensor);
            }
        }
        let mut written = resolved.statements.iter();
        let written = written
            .position(|statement| resolved.tensors[statement.lhs.tensor].name == *name)
            .expect("the source names it");
        let map = reference::evaluate_statement(resolved, written, &known)?;
        let options = PackOptions {
            memory: self.session.memory(),
            ..PackOptions::default()
        };
        let tensor = map.to_tensor(compiled.formats.of(result), options)?;
        Ok(Settled { number, tensor })
    }
}

/// Whether an error is that of a value, rather than of a structure.
fn is_of_value(error: &Diagnostic) -> bool {
    let codes = [
        code::NEGATIVE_POWER,
        code::DIVISION_BY_ZERO,
        code::CAST_OUT_OF_RANGE,
    ];
    codes.contains(&error.code())
}
