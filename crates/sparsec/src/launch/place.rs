//! Tensors of the caller that results are written into.

use sparsec_base::{Diagnostic, Result, code};
use sparsec_tensor::Tensor;

use super::Run;

impl Run<'_> {
    /// Whether the result of statement `number` is dense, and is written into the memory of a tensor.
    ///
    /// # Errors
    /// `E0021` with what the tensor is and the result is not.
    pub(crate) fn takes_place(&self, number: usize, place: &Tensor) -> Result<bool> {
        let plan = &self.compiled.statements[number].plan;
        let format = match (&plan.converts_result, &plan.levels_of_result) {
            (Some(format), _) | (None, Some(format)) => format,
            (None, None) => plan.formats.of(plan.concrete.result),
        };
        if !format.is_all_dense() {
            return Ok(false);
        }
        let fill = plan.concrete.tensors[plan.concrete.result].fill;
        let extents = self.compiled.result_extents(number, self.extents)?;
        let name = self.name_of(number);
        let refuse = |what: &str, has: String, given: String| {
            let message = format!(
                "the result `{name}` has {what} {has}, and the tensor given for it has {given}"
            );
            Err(Diagnostic::new(code::NOT_AS_PLANNED, message)
                .help("give `evaluate_into` a tensor like the result"))
        };
        if !place.format().arranges_like(format) {
            return refuse("the format", format.to_string(), place.format().to_string());
        }
        if place.extents() != extents {
            let given = format!("{:?}", place.extents());
            return refuse("the extents", format!("{extents:?}"), given);
        }
        if place.element() != fill.element() {
            let given = place.element().to_string();
            return refuse("the type", fill.element().to_string(), given);
        }
        if place.fill() != fill {
            return refuse("the fill", fill.to_string(), place.fill().to_string());
        }
        Ok(true)
    }
}
