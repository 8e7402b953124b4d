//! The compiled part of the Python package `sparsec`: stored tensors and kernels.
//!
//! ```text
//! python/sparsec/*.py      names, docstrings, operators, SciPy ──► sparsec._sparsec
//! crates/python            NumPy arrays ──lent──► Stored ──evaluate──► Stored ──view──► NumPy arrays
//! ```
//!
//! | module       | holds                                                            |
//! |--------------|------------------------------------------------------------------|
//! | `element`  | types and values of NumPy as those of tensors, and back           |
//! | `error`    | diagnostics as Python exceptions                                  |
//! | `format`   | formats as texts                                                 |
//! | `lent`     | arrays of NumPy that tensors use where they lie, frozen meanwhile |
//! | `view`     | arrays of tensors as arrays of NumPy                              |
//! | `stored`   | the class `Stored`: a tensor                                      |
//! | `build`    | its constructors                                                  |
//! | `held`     | arrays that are checked when they are first read                  |
//! | `evaluate` | programs to kernels, kept by text, formats and types              |
//! | `statement` | statements of operators, whose kernels are found by operands alone |
//! | `files`    | reading and writing                                               |
//! | `session`  | the session, its options, and the kernels that it keeps           |
//!
//! Kernels, conversions and files run without the interpreter's lock. Unsafe code is in
//! `lent` and `view`, where arrays cross between the two languages.
//!
//! The module needs the lock in interpreters that can do without: `lent` counts references to
//! arrays before it freezes them, and another thread could make one in between.

use pyo3::prelude::*;

mod build;
mod element;
mod error;
mod evaluate;
mod files;
mod format;
mod held;
mod lent;
mod session;
mod statement;
mod stored;
mod view;

#[pymodule(gil_used = true)]
mod _sparsec {
    #[pymodule_export]
    use super::error::explanation;
    #[pymodule_export]
    use super::evaluate::{
        einsum_text, estimated, evaluate, evaluate_all, explain, shardable, sharded, typed,
    };
    #[pymodule_export]
    use super::files::{read, write};
    #[pymodule_export]
    use super::format::format;
    #[pymodule_export]
    use super::session::{configuration, configure, forked, version};
    #[pymodule_export]
    use super::statement::Statement;
    #[pymodule_export]
    use super::stored::Stored;
}
