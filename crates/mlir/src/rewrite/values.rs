//! Steps of operations that later releases give more values.

use sparsec_base::Result;

use crate::definition::Definition;
use crate::module::Op;

use super::Rewrite;

/// Releases up to 18 yield one value.
pub(super) fn at_most_one(rewrite: &mut Rewrite, op: Op, to: &'static Definition) -> Result<()> {
    let n = rewrite.module.ops[op].operands.len();
    if n > 1 {
        let message = format!("release {} yields one value, not {n}", rewrite.dialect);
        return Err(rewrite
            .refuse(op, message)
            .help("choose release 19 or a later one"));
    }
    rewrite.rename(op, to);
    Ok(())
}

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
