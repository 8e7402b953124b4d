//! Zeros of sparse results whose inputs are dense.

use std::collections::BTreeSet;

use sparsec_base::{Result, Scalar};
use sparsec_mlir::{Operation, Value};
use sparsec_tensor::Tensor;

use crate::body::{definer, yielded};
use crate::datum::repacked;
use crate::structured::Structured;

/// A sparse result of dense inputs stores no zeros, unless sums are collected in a workspace. Inputs
/// that the result does not depend on do not count.
pub(super) fn without_zeros(op: Operation<'_>, result: Tensor) -> Result<Tensor> {
    let types = op.operand_types("inputs");
    let read = read_arguments(op);
    let is_read = |n: usize| read.as_ref().is_none_or(|read| read.contains(&n));
    let mut inputs = types.iter().enumerate();
    // Without inputs, a body may hand zeros on that its output stores.
    let is_dense = inputs.all(|(n, ty)| ty.encoding().is_none() || !is_read(n))
        && (!types.is_empty() || read.is_some_and(|read| read.is_empty()));
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

/// The arguments of the body that its results depend on, by their numbers; `None` without a body.
fn read_arguments(op: Operation<'_>) -> Option<BTreeSet<usize>> {
    let module = op.module();
    let region = op.data().regions.first()?;
    let block = module.region(*region).block?;
    let arguments = &module.block(block).arguments;
    let (mut seen, mut read) = (BTreeSet::new(), BTreeSet::new());
    let mut asked: Vec<Value> = yielded(module, block).to_vec();
    while let Some(value) = asked.pop() {
        if let Some(n) = arguments.iter().position(|it| *it == value) {
            read.insert(n);
        }
        if let Some(by) = definer(module, value)
            && seen.insert(by.id())
        {
            let inside = module.walk_from(by.id()).into_iter();
            asked.extend(inside.flat_map(|inner| module.op(inner).data().operands.clone()));
        }
    }
    Some(read)
}
