//! Diagnostics as Python exceptions.
//!
//! Which class of exception a code becomes stands in `sparsec/_errors.py`.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use sparsec::{Diagnostic, code};

/// Names of the Rust library, each with its words in Python.
const WORDS: &[(&str, &str)] = &[
    ("`Options::memory`", "`sparsec.configure(memory=…)`"),
    (
        "`Backend::Cranelift`",
        "`sparsec.configure(backend=\"cranelift\")`",
    ),
    ("`Stage::Mlir`", "`stage=\"mlir\"`"),
    ("`Backend::C`", "`sparsec.configure(backend=\"c\")`"),
    (
        "`Backend::Interpreter`",
        "`sparsec.configure(backend=\"interp\")`",
    ),
    ("`sparsec explain {}`", "`error.explanation`"),
    ("`.extent(\"{}\", {})`", "`extents={\"{}\": {}}`"),
    ("`.format(\"{}\", \"{}\")`", "`{}` in format `\"{}\"`"),
];

/// `sparsec._errors.of_diagnostic`.
static OF_DIAGNOSTIC: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// The exception that carries a diagnostic: its code, its message, and the whole text with
/// the source line and the caret.
pub(crate) fn exception(py: Python<'_>, error: &Diagnostic) -> PyErr {
    let made = OF_DIAGNOSTIC
        .import(py, "sparsec._errors", "of_diagnostic")
        .and_then(|of| {
            let error = error.clone().in_words(WORDS);
            let code = error.code().to_string();
            of.call1((code, error.message(), error.to_string()))
        });
    match made {
        Ok(made) => PyErr::from_value(made),
        Err(failed) => failed,
    }
}

/// The long form of a code; empty for a code that is not known.
#[pyfunction]
pub(crate) fn explanation(code: &str) -> String {
    let known = code::all().find(|it| it.code.as_str() == code);
    known.map_or_else(String::new, |it| {
        format!("{}: {}\n\n{}", code, it.title, it.text)
    })
}

/// The result of a function that Python calls.
pub(crate) trait OrRaise<T> {
    /// The value, or the diagnostic as an exception.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for sparsec::Result<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| exception(py, &error))
    }
}
