//! Statements of operators, whose kernels are found without their texts.
//!
//! ```text
//! Statement("out(i) = a(i,j) * b(j)", ["a", "b"])(A, x)     kinds of A and x ──► Kernel
//! ```
//!
//! An operator has one statement for each number of modes, and calls it with operands alone. Names,
//! lists and the hash of a text would take as long as the kernel for some hundred entries.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use sparsec::Kernel;

use crate::evaluate::{self, Call};
use crate::session::State;
use crate::stored::Stored;

/// Kernels that a statement keeps; beyond, all are forgotten, and planned again in some
/// microseconds.
const MOST: usize = 32;

/// A statement over operands of these names, in order.
#[pyclass(frozen, module = "sparsec._sparsec")]
pub(crate) struct Statement {
    text: String,
    names: Vec<String>,
    /// That of the result, if the formats of operands do not say it.
    format: Option<String>,
    kernels: Mutex<Kernels>,
}

/// The kernels of a session by the kinds of operands.
#[derive(Default)]
struct Kernels {
    session: Weak<State>,
    known: Vec<(Vec<u64>, Kernel)>,
}

#[pymethods]
impl Statement {
    #[new]
    #[pyo3(signature = (text, names, format = None))]
    fn new(text: String, names: Vec<String>, format: Option<String>) -> Self {
        Self {
            text,
            names,
            format,
            kernels: Mutex::default(),
        }
    }

    /// The result for these operands.
    #[pyo3(signature = (*operands))]
    fn __call__(&self, operands: &Bound<'_, PyTuple>) -> PyResult<Stored> {
        let (py, state) = (operands.py(), State::get());
        let operands: Vec<Bound<'_, Stored>> = operands
            .iter()
            .map(|operand| Ok(operand.cast_into::<Stored>()?))
            .collect::<PyResult<_>>()?;
        let kernel = match self.known(&state, &operands) {
            Some(kernel) => kernel,
            None => {
                let named = self.names.iter().cloned().zip(operands.iter().cloned());
                let format = self.format.iter().map(|it| (String::new(), it.clone()));
                let formats = format.collect();
                let call = Call::new(self.text.clone(), named.collect(), formats, Vec::new());
                let kernel = call.kernel(py, &state)?;
                self.keep(&state, &operands, &kernel);
                kernel
            }
        };
        let named = self.names.iter().map(String::as_str).zip(&operands);
        let named: Vec<_> = named.collect();
        let made = evaluate::run(py, &state, &kernel, &named, |binding| binding.evaluate())?;
        Ok(made.into())
    }
}

impl Statement {
    fn known(&self, state: &Arc<State>, operands: &[Bound<'_, Stored>]) -> Option<Kernel> {
        let kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::ptr::eq(kernels.session.as_ptr(), Arc::as_ptr(state)) {
            return None;
        }
        let kinds = || operands.iter().map(|it| it.get().kind());
        let mut known = kernels.known.iter();
        let found = known.find(|(of, _)| of.iter().copied().eq(kinds()));
        found.map(|(_, kernel)| kernel.clone())
    }

    fn keep(&self, state: &Arc<State>, operands: &[Bound<'_, Stored>], kernel: &Kernel) {
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = std::ptr::eq(kernels.session.as_ptr(), Arc::as_ptr(state));
        if !is_same || kernels.known.len() >= MOST {
            *kernels = Kernels {
                session: Arc::downgrade(state),
                known: Vec::new(),
            };
        }
        let kinds = operands.iter().map(|it| it.get().kind()).collect();
        kernels.known.push((kinds, kernel.clone()));
    }
}
