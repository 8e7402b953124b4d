//! Steps of buffers and their tensors.

use sparsec_base::Result;

use crate::definition::Definition;
use crate::module::Op;

use super::Rewrite;

/// Releases up to 19 infer the type of the tensor from that of the memref.
pub(super) fn one_type(rewrite: &mut Rewrite, op: Op, to: &'static Definition) -> Result<()> {
    let operation = rewrite.module.op(op);
    let types = [
        rewrite.module.ty(operation.data().operands[0]),
        rewrite.module.ty(operation.data().results[0]),
    ];
    if types[0].shape() != types[1].shape() {
        let message = format!(
            "`{}` between other extents, which release {} does not say",
            operation.name(),
            rewrite.dialect
        );
        return Err(rewrite
            .refuse(op, message)
            .help("write the same extents, and `tensor.cast` or `memref.cast` beside it"));
    }
    rewrite.rename(op, to);
    Ok(())
}

/// Release 14 releases sparse tensors alone; it frees dense ones by itself.
pub(super) fn release_of_sparse(
    rewrite: &mut Rewrite,
    op: Op,
    to: &'static Definition,
) -> Result<()> {
    let tensor = rewrite.module.op(op).operand_type("tensor");
    if tensor.encoding().is_none()
        && let Some(block) = rewrite.module.ops[op].block
    {
        let ops = &mut rewrite.module.blocks[block].ops;
        ops.retain(|other| *other != op);
        rewrite.module.ops[op].block = None;
    }
    rewrite.rename(op, to);
    Ok(())
}
