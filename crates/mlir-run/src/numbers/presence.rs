//! Where operations have values: sums where one operand has, products where all have.

use sparsec_mlir::Operation;

/// Whether an operation has a value where one of its operands has, as a sum.
pub(crate) fn is_sum(op: Operation<'_>) -> bool {
    matches!(
        op.meaning(),
        "arith.addf"
            | "arith.addi"
            | "arith.subf"
            | "arith.subi"
            | "arith.ori"
            | "arith.xori"
            | "complex.add"
            | "complex.sub"
    )
}

/// Whether an operation is zero where one of its operands is, as a product.
pub(crate) fn is_product(op: Operation<'_>) -> bool {
    matches!(
        op.meaning(),
        "arith.mulf" | "arith.muli" | "arith.andi" | "complex.mul"
    )
}
