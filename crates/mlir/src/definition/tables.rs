//! The definitions of all operations, a table for each dialect.

mod host;
mod linalg;
mod numbers;
mod sparse_tensor;
mod tensor;

/// Every table.
pub(super) const ALL: [&str; 5] = [
    sparse_tensor::TABLE,
    numbers::TABLE,
    tensor::TABLE,
    linalg::TABLE,
    host::TABLE,
];
