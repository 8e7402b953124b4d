//! Steps of operations that later releases give other operands.

use sparsec_base::Result;

use crate::definition::Definition;
use crate::module::Op;
use crate::types::{TensorType, Type};

use super::Rewrite;

pub(super) fn no_open_extents(
    rewrite: &mut Rewrite,
    op: Op,
    to: &'static Definition,
) -> Result<()> {
    rewrite.module.ops[op].operand_groups.push(0);
    rewrite.rename(op, to);
    Ok(())
}

pub(super) fn drop_open_extents(
    rewrite: &mut Rewrite,
    op: Op,
    to: &'static Definition,
) -> Result<()> {
    if rewrite.module.ops[op].operand_groups[1] > 0 {
        let message = "`tensor.splat` to extents that the program computes".to_owned();
        return Err(rewrite
            .refuse(op, message)
            .help("choose release 18 or a later one, or `tensor.generate`"));
    }
    rewrite.remove_operands(op, 1);
    rewrite.rename(op, to);
    Ok(())
}

/// The memrefs of `sparse_tensor.tensor`, values last, as tensors: values first.
pub(super) fn tensors_of_memrefs(
    rewrite: &mut Rewrite,
    op: Op,
    to: &'static Definition,
) -> Result<()> {
    let result = rewrite.module.op(op).result_type("result");
    if result.n_dynamic() > 0 {
        let message = "`sparse_tensor.tensor` of open extents".to_owned();
        return Err(rewrite
            .refuse(op, message)
            .help("write the extents in its type"));
    }
    let encoding = result.encoding();
    let arrays = encoding.map_or_else(Vec::new, |encoding| encoding.arrays());
    let n = rewrite.module.ops[op].operands.len();
    if arrays.len() != n {
        let message = format!("{n} memrefs of a tensor with {} arrays", arrays.len());
        let arrays = arrays.join(", ");
        return Err(rewrite.refuse(op, message).help(format!("give {arrays}")));
    }
    let mut tensors = Vec::new();
    for memref in rewrite.module.ops[op].operands.clone() {
        let Type::MemRef(memory) = rewrite.module.ty(memref) else {
            return Err(rewrite
                .refuse(op, "a tensor of no memref".to_owned())
                .help("give memrefs"));
        };
        let tensor = TensorType {
            shape: memory.shape.clone(),
            element: memory.element.clone(),
            encoding: None,
        };
        let ty = Type::Tensor(tensor.into());
        let first = if rewrite.dialect.release() < 20 {
            14
        } else {
            20
        };
        let definition = super::find("bufferization.to_tensor", first);
        let cast = rewrite.new_op(definition, vec![memref], Vec::new(), op, false);
        let value = rewrite.new_result(cast, ty);
        rewrite.module.ops[cast].results.push(value);
        tensors.push(value);
    }
    tensors.rotate_right(1);
    let data = &mut rewrite.module.ops[op];
    data.operand_groups = vec![1, tensors.len() - 1];
    data.operands = tensors;
    rewrite.rename(op, to);
    Ok(())
}
