//! Programs of index notation, run on stored tensors.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use sparsec::internals::Notation;
use sparsec::internals::notation::Einsum;
use sparsec::{Binding, Described, Diagnostic, Kernel, Program, Session, Source, Stage, code};

use crate::element;
use crate::error::OrRaise;
use crate::session::{self, Key, State};
use crate::stored::Stored;

/// What a call of Python asks for.
struct Call<'py> {
    text: String,
    operands: Vec<(String, Bound<'py, Stored>)>,
    /// Of tensors that the program computes; without a name, of the last result.
    formats: Vec<(String, String)>,
    /// Of index variables that no operand has.
    extents: Vec<(String, u64)>,
}

impl Call<'_> {
    fn kernel(&self, state: &State) -> sparsec::Result<Kernel> {
        let operands = self.operands.iter();
        let key = Key {
            text: self.text.clone(),
            operands: operands
                .map(|(name, stored)| (name.clone(), stored.get().kind()))
                .collect(),
            formats: self.formats.clone(),
            extents: self.extents.clone(),
        };
        state.kernel(key, |session| self.planned(session))
    }

    fn planned(&self, session: &Session) -> sparsec::Result<Kernel> {
        session.plan(&self.program()?)
    }

    /// The program with the formats, types and fills of the operands.
    fn program(&self) -> sparsec::Result<Program> {
        let mut program = Program::parse(&self.text)?;
        for (name, stored) in &self.operands {
            let tensor = stored.get().held();
            program = program
                .format(name, session::arrangement(tensor.format()))?
                .element(name, tensor.element())?
                .fill(name, tensor.fill())?;
        }
        for (name, format) in &self.formats {
            let name = match name.is_empty() {
                true => last_result(&self.text)?,
                false => name.clone(),
            };
            program = program.format(&name, format.as_str())?;
        }
        for (name, extent) in &self.extents {
            program = program.extent(name, *extent);
        }
        Ok(program)
    }

    /// Runs `work` on the bound kernel, without the interpreter's lock.
    fn run<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Binding<'_>) -> sparsec::Result<R> + Send,
    ) -> PyResult<R> {
        let state = State::get();
        let kernel = self.kernel(&state).or_raise(py)?;
        let operands = self.operands.iter();
        let operands: PyResult<Vec<_>> = operands
            .map(|(name, stored)| Ok((name.as_str(), stored.get().tensor(py)?)))
            .collect();
        let operands = operands?;
        let n_entries = operands.iter().map(|(_, it)| it.n_stored()).sum();
        state.run_until(py, n_entries, move |cancel| {
            let mut binding = kernel.binding().until(cancel);
            for (name, tensor) in operands {
                binding = binding.bind(name, tensor)?;
            }
            work(&binding)
        })
    }
}

/// The name of the tensor that the last statement of a program computes.
fn last_result(text: &str) -> sparsec::Result<String> {
    let notation = Notation::parse(&Source::new("expression", text))?;
    let last = notation.statements.last();
    Ok(last.map_or_else(String::new, |statement| statement.lhs.name.text.clone()))
}

/// The result of the last statement.
#[pyfunction]
pub(crate) fn evaluate(
    py: Python<'_>,
    text: String,
    operands: Vec<(String, Bound<'_, Stored>)>,
    formats: Vec<(String, String)>,
    extents: Vec<(String, u64)>,
) -> PyResult<Stored> {
    let call = Call {
        text,
        operands,
        formats,
        extents,
    };
    call.run(py, |binding| binding.evaluate()).map(Stored::from)
}

/// The results of all statements, by name.
#[pyfunction]
pub(crate) fn evaluate_all(
    py: Python<'_>,
    text: String,
    operands: Vec<(String, Bound<'_, Stored>)>,
    formats: Vec<(String, String)>,
    extents: Vec<(String, u64)>,
) -> PyResult<BTreeMap<String, Stored>> {
    let call = Call {
        text,
        operands,
        formats,
        extents,
    };
    let results = call.run(py, |binding| binding.evaluate_all())?;
    let stored = results.into_iter();
    Ok(stored.map(|(name, it)| (name, it.into())).collect())
}

/// The type of the result of the last statement, by NumPy's name.
#[pyfunction]
pub(crate) fn typed(
    py: Python<'_>,
    text: String,
    operands: Vec<(String, Bound<'_, Stored>)>,
    extents: Vec<(String, u64)>,
) -> PyResult<&'static str> {
    let call = Call {
        text,
        operands,
        formats: Vec::new(),
        extents,
    };
    let kernel = call.kernel(&State::get()).or_raise(py)?;
    let last = kernel
        .results()
        .last()
        .and_then(|name| kernel.element(name));
    Ok(element::numpy_name(last.expect("a program has a result")))
}

/// The variables by which a program can be cut into shards.
#[pyfunction]
pub(crate) fn shardable(
    py: Python<'_>,
    text: String,
    operands: Vec<(String, Bound<'_, Stored>)>,
    formats: Vec<(String, String)>,
    extents: Vec<(String, u64)>,
) -> PyResult<Vec<String>> {
    let call = Call {
        text,
        operands,
        formats,
        extents,
    };
    let names = call.program().and_then(|program| program.shardable());
    names.or_raise(py)
}

/// An operand of a shard: its name, that of the whole operand, and for each mode the number of
/// the variable that it is cut by.
type ShardOperand = (String, String, Vec<Option<usize>>);

/// The program of a shard, its operands, the mode of the result along which each variable lies,
/// and the program that combines two results.
type Sharded = (
    String,
    Vec<ShardOperand>,
    Vec<Option<usize>>,
    Option<String>,
);

/// A program cut by these variables.
#[pyfunction]
pub(crate) fn sharded(
    py: Python<'_>,
    text: String,
    operands: Vec<(String, Bound<'_, Stored>)>,
    formats: Vec<(String, String)>,
    extents: Vec<(String, u64)>,
    vars: Vec<String>,
) -> PyResult<Sharded> {
    let call = Call {
        text,
        operands,
        formats,
        extents,
    };
    let vars: Vec<&str> = vars.iter().map(String::as_str).collect();
    let made = call.program().and_then(|program| program.sharded(&vars));
    let made = made.or_raise(py)?;
    let operands = made.operands.into_iter();
    let operands = operands.map(|it| (it.name, it.of, it.cut)).collect();
    Ok((made.program, operands, made.modes, made.combination))
}

/// How many entries the last result is estimated to have, its shape, how it is stored, and its
/// fill.
///
/// Operands that are `described`, by their extents and entries, are elsewhere: of these `operands`
/// has tensors of the same format, type and fill, whose entries and extents do not matter.
#[pyfunction]
pub(crate) fn estimated<'py>(
    py: Python<'py>,
    text: String,
    operands: Vec<(String, Bound<'py, Stored>)>,
    formats: Vec<(String, String)>,
    extents: Vec<(String, u64)>,
    described: BTreeMap<String, (Vec<u64>, u64)>,
) -> PyResult<(f64, Vec<u64>, String, Bound<'py, PyAny>)> {
    let call = Call {
        text,
        operands,
        formats,
        extents,
    };
    let state = State::get();
    let kernel = call.kernel(&state).or_raise(py)?;
    let known = call.operands.iter().map(|(name, stored)| {
        Ok(match described.get(name) {
            Some((extents, n_stored)) => (name.as_str(), Described::counts(extents, *n_stored)),
            None => (name.as_str(), Described::Tensor(stored.get().tensor(py)?)),
        })
    });
    let known: Vec<_> = known.collect::<PyResult<_>>()?;
    let result = state.run(py, || kernel.estimated(&known))?;
    let fill = element::to_python(py, result.fill)?;
    let format = result.format.to_string();
    Ok((result.entries, result.extents, format, fill))
}

/// A stage between the program and its kernel, as text.
#[pyfunction]
pub(crate) fn explain(
    py: Python<'_>,
    text: String,
    operands: Vec<(String, Bound<'_, Stored>)>,
    formats: Vec<(String, String)>,
    extents: Vec<(String, u64)>,
    stage: &str,
) -> PyResult<String> {
    let parsed = Stage::parse(stage).ok_or_else(|| {
        let names = Stage::NAMES.map(|(name, _)| name);
        Diagnostic::new(
            code::BAD_OPTION_VALUE,
            format!("there is no stage `{stage}`"),
        )
        .help(format!("the stages are {}", names.join(", ")))
    });
    let parsed = parsed.or_raise(py)?;
    let call = Call {
        text,
        operands,
        formats,
        extents,
    };
    call.run(py, |binding| binding.emit(&parsed))
}

/// An einsum as index notation: operands are `operand0`, `operand1`, …, the result is `out`.
#[pyfunction]
pub(crate) fn einsum_text(py: Python<'_>, text: &str, orders: Vec<usize>) -> PyResult<String> {
    let einsum = Einsum::parse(text, orders.len()).or_raise(py)?;
    einsum.check_orders(orders).or_raise(py)?;
    Ok(einsum.to_string())
}
