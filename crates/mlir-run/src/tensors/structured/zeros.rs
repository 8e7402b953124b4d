//! Zeros of sparse results whose inputs are dense.

use sparsec_base::{Result, Scalar};
use sparsec_mlir::Operation;
use sparsec_tensor::Tensor;

use crate::datum::repacked;
use crate::structured::Structured;

/// A sparse result of dense inputs stores no zeros, unless sums are collected in a workspace.
pub(super) fn without_zeros(op: Operation<'_>, result: Tensor) -> Result<Tensor> {
    let types = op.operand_types("inputs");
    // Without inputs, a body may hand zeros on that its output stores.
    let is_dense =
        types.iter().all(|ty| ty.encoding().is_none()) && (!types.is_empty() || !reads_outputs(op));
    let has_sums = |it: Structured<'_>| it.reductions.contains(&true);
    if !is_dense || !result.format().has_sparse() || Structured::of(op)?.is_some_and(has_sums) {
        return Ok(result);
    }
    let vals = result.vals();
    if (0..vals.len()).all(|n| !vals.get(n).is_zero()) {
        return Ok(result);
    }
    let nonzero = |value: Scalar| (!value.is_zero()).then_some(value);
    repacked(&result, result.element(), result.format(), nonzero)
}

/// Whether the body of an operation without inputs reads an output.
fn reads_outputs(op: Operation<'_>) -> bool {
    let module = op.module();
    let Some(block) = op
        .data()
        .regions
        .first()
        .and_then(|it| module.region(*it).block)
    else {
        return true;
    };
    let arguments = &module.block(block).arguments;
    let inside = module.walk_from(op.id()).into_iter();
    let mut operands = inside.flat_map(|inner| &module.op(inner).data().operands);
    operands.any(|operand| arguments.contains(operand))
}
