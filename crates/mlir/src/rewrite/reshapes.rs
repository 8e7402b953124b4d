//! The shape of `tensor.expand_shape`, which releases from 19 on state.
//!
//! ```text
//! expand_shape %a [[0, 1]] : tensor<?xf64>       %n = tensor.dim %a, %c0
//!   into tensor<?x10xf64>                        %m = arith.divui %n, %c10
//!                                                expand_shape %a [[0, 1]] output_shape [%m, 10]
//! ```

use sparsec_base::Result;

use crate::attribute::Attribute;
use crate::definition::Definition;
use crate::module::{Op, Value};
use crate::types::Type;

use super::Rewrite;
use super::steps::sizes;

/// Adds the shape of the result. At most one extent of a group is open: the extent of its mode
/// divided by those that are known.
pub(super) fn shape_from_type(
    rewrite: &mut Rewrite,
    op: Op,
    to: &'static Definition,
) -> Result<()> {
    let result = rewrite.module.ops[op].results[0];
    let source = rewrite.module.ops[op].operands[0];
    let shape = rewrite.module.ty(result).shape().unwrap_or_default();
    let groups = match rewrite.attribute(op, "reassociation") {
        Some(Attribute::Array(groups)) => groups,
        _ => Vec::new(),
    };
    let mut open = Vec::new();
    for (mode, group) in groups.iter().enumerate() {
        let own = group.integers().unwrap_or_default().into_iter();
        let own: Vec<Option<u64>> = own.map(|n| shape[n as usize]).collect();
        match own.iter().filter(|extent| extent.is_none()).count() {
            0 => continue,
            1 => {}
            _ => {
                let message = "`tensor.expand_shape` of a mode to two open extents".to_owned();
                return Err(rewrite
                    .refuse(op, message)
                    .help("write one of the extents in the type"));
            }
        }
        let mut extents = own.iter().flatten();
        let known = extents.try_fold(1u64, |known, extent| known.checked_mul(*extent));
        let Some(known) = known.filter(|known| *known > 0) else {
            let message = "an open extent beside extents that multiply to no number".to_owned();
            return Err(rewrite
                .refuse(op, message)
                .help("write the extent in the type"));
        };
        open.push(quotient(rewrite, op, source, mode as u64, known));
    }
    let data = &mut rewrite.module.ops[op];
    data.operand_groups.push(open.len());
    let span = data.span;
    data.operand_spans.extend(open.iter().map(|_| span));
    data.operands.extend(open);
    data.attributes
        .push(("static_output_shape".to_owned(), sizes(&shape)));
    rewrite.rename(op, to);
    Ok(())
}

/// The extent of a mode, divided by a number.
fn quotient(rewrite: &mut Rewrite, at: Op, tensor: Value, mode: u64, by: u64) -> Value {
    let number = rewrite.new_constant(at, mode);
    let extent = rewrite.computed("tensor.dim", &[tensor, number], Type::Index, at);
    if by == 1 {
        return extent;
    }
    let by = rewrite.new_constant(at, by);
    rewrite.computed("arith.divui", &[extent, by], Type::Index, at)
}

/// Leaves the shape to the type.
pub(super) fn drop_shape(rewrite: &mut Rewrite, op: Op, to: &'static Definition) -> Result<()> {
    rewrite.remove_operands(op, 1);
    rewrite.remove_attribute(op, "static_output_shape");
    rewrite.rename(op, to);
    Ok(())
}
