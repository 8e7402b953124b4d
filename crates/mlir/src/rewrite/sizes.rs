//! Steps of storage specifiers.

use sparsec_base::Result;

use crate::attribute::Attribute;
use crate::definition::Definition;
use crate::module::Op;
use crate::types::Type;

use super::Rewrite;

/// The sizes in a storage specifier, in release 16 and later.
const SIZES: [(&str, &str); 4] = [
    ("dim_sz", "lvl_sz"),
    ("ptr_mem_sz", "pos_mem_sz"),
    ("idx_mem_sz", "crd_mem_sz"),
    ("val_mem_sz", "val_mem_sz"),
];

/// Release 16 has sizes of an integer type, which follows from the widths; later ones have indices.
pub(super) fn sizes_of_levels(
    rewrite: &mut Rewrite,
    op: Op,
    to: &'static Definition,
) -> Result<()> {
    retyped(rewrite, op, Type::Index);
    rewrite.rename_attribute(op, "dim", "level");
    renamed_sizes(rewrite, op, |(old, new)| (old, new));
    rewrite.rename(op, to);
    Ok(())
}

pub(super) fn sizes_of_dimensions(
    rewrite: &mut Rewrite,
    op: Op,
    to: &'static Definition,
) -> Result<()> {
    if let Some(Attribute::Word(word @ ("dim_offset" | "dim_stride"))) =
        rewrite.attribute(op, "specifierKind")
    {
        let message = format!("release {} has no `{word}`", rewrite.dialect);
        return Err(rewrite
            .refuse(op, message)
            .help("choose release 17 or a later one"));
    }
    if let Type::Specifier(encoding) = rewrite.module.op(op).operand_type("specifier") {
        let ty = encoding.size_type();
        retyped(rewrite, op, ty);
    }
    rewrite.rename_attribute(op, "level", "dim");
    renamed_sizes(rewrite, op, |(old, new)| (new, old));
    rewrite.rename(op, to);
    Ok(())
}

/// Casts the size that an operation takes or gives.
fn retyped(rewrite: &mut Rewrite, op: Op, ty: Type) {
    match rewrite.module.ops[op].operands.get(1).copied() {
        Some(size) => {
            let cast = rewrite.new_cast(op, size, ty, false);
            rewrite.module.ops[op].operands[1] = cast;
        }
        None => {
            // The uses of the size become uses of the cast.
            let size = rewrite.module.ops[op].results[0];
            let before = rewrite.module.ty(size).clone();
            let found = rewrite.new_result(op, ty);
            rewrite.module.ops[op].results[0] = found;
            let cast = rewrite.new_cast(op, found, before, true);
            rewrite.moved_result(cast, size);
        }
    }
}

fn renamed_sizes(
    rewrite: &mut Rewrite,
    op: Op,
    direction: fn((&'static str, &'static str)) -> (&'static str, &'static str),
) {
    for (name, value) in &mut rewrite.module.ops[op].attributes {
        let Attribute::Word(word) = value else {
            continue;
        };
        let mut sizes = SIZES.map(direction).into_iter();
        if name == "specifierKind"
            && let Some((_, to)) = sizes.find(|(from, _)| from == word)
        {
            *word = to;
        }
    }
}
