//! Operations whose operands and results have one type of entries, or one shape.

use sparsec_base::{Result, code};

use crate::module::Operation;
use crate::types::Type;

use super::Check;

/// Pairs of values with one type of entries.
const SAME_ELEMENTS: [(&str, &str, &str); 11] = [
    ("bufferization.to_tensor", "memref", "result"),
    ("bufferization.to_memref", "tensor", "memref"),
    ("tensor.reshape", "source", "result"),
    ("tensor.collapse_shape", "src", "result"),
    ("tensor.expand_shape", "src", "result"),
    ("tensor.extract_slice", "source", "result"),
    ("tensor.insert_slice", "source", "dest"),
    ("memref.subview", "source", "result"),
    ("memref.copy", "source", "target"),
    ("memref.realloc", "source", "result"),
    ("bufferization.materialize_in_destination", "source", "dest"),
];

/// Pairs of values with one shape, up to extents that the program computes.
const SAME_SHAPES: [(&str, &str, &str); 4] = [
    ("bufferization.to_tensor", "memref", "result"),
    ("bufferization.to_memref", "tensor", "memref"),
    ("memref.copy", "source", "target"),
    ("bufferization.materialize_in_destination", "source", "dest"),
];

/// Operations on numbers that give others of the same shape.
const CASTS: [&str; 12] = [
    "arith.extf",
    "arith.extsi",
    "arith.extui",
    "arith.truncf",
    "arith.trunci",
    "arith.sitofp",
    "arith.uitofp",
    "arith.fptosi",
    "arith.fptoui",
    "arith.index_cast",
    "arith.index_castui",
    "arith.bitcast",
];

impl Check<'_> {
    /// Checks the types of entries and the shapes of an operation.
    pub(super) fn same_types(&self, op: Operation<'_>) -> Result<()> {
        let name = op.meaning();
        let ty = |group: &str| self.type_of_group(op, group);
        let differ = |a: &Type, b: &Type, what: &str, help: &str| {
            let message = format!(
                "`{}` and `{}` have different {what}",
                self.text(a),
                self.text(b)
            );
            Err(self
                .of_op(op, code::TYPES_DIFFER, message)
                .help(help.to_owned()))
        };
        for (_, a, b) in SAME_ELEMENTS.iter().filter(|(known, ..)| *known == name) {
            if let (Some(a), Some(b)) = (ty(a), ty(b))
                && a.element() != b.element()
            {
                return differ(&a, &b, "types of entries", "keep the type of the entries");
            }
        }
        let fits = |(a, b): (&Option<u64>, &Option<u64>)| a.is_none() || b.is_none() || a == b;
        for (_, a, b) in SAME_SHAPES.iter().filter(|(known, ..)| *known == name) {
            if let (Some(a), Some(b)) = (ty(a), ty(b))
                && let (Some(from), Some(to)) = (a.shape(), b.shape())
                && (from.len() != to.len() || !from.iter().zip(&to).all(fits))
            {
                return differ(&a, &b, "shapes", "give both the same extents");
            }
        }
        if CASTS.contains(&name) {
            let data = op.data();
            let (a, b) = (
                self.module.ty(data.operands[0]),
                self.module.ty(data.results[0]),
            );
            let shapes = a.shape().zip(b.shape());
            let is_view = matches!(a, Type::MemRef(_))
                && shapes.is_some_and(|(a, b)| a.len() == b.len() && a.iter().zip(&b).all(fits));
            if a.shape() != b.shape() && !is_view {
                return differ(a, b, "shapes", "keep the shape");
            }
        }
        Ok(())
    }
}
