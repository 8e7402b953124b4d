//! Tensor files: Matrix Market and FROSTT, plain and gzipped.
