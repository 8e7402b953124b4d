//! Programs of index notation, run on stored tensors.

use std::collections::BTreeMap;
use std::sync::Arc;

use pyo3::prelude::*;
use sparsec::internals::Notation;
use sparsec::internals::notation::Einsum;
use sparsec::{
    Binding, Described, Diagnostic, FormatSpec, Kernel, Program, Source, Stage, Tensor, code,
};

use crate::build;
use crate::element;
use crate::error::OrRaise;
use crate::held::Held;
use crate::session::{self, Key, State};
use crate::stored::Stored;

/// What a call of Python asks for.
pub(crate) struct Call<'py> {
    text: String,
    operands: Vec<(String, Bound<'py, Stored>)>,
    /// Of tensors that the program computes; without a name, of the last result.
    formats: Vec<(String, String)>,
    /// Those of them that are relations: kernels compute levels, which are converted.
    relations: Vec<(String, FormatSpec)>,
    /// Of index variables that no operand has.
    extents: Vec<(String, u64)>,
}

impl<'py> Call<'py> {
    pub(crate) fn new(
        text: String,
        operands: Vec<(String, Bound<'py, Stored>)>,
        formats: Vec<(String, String)>,
        extents: Vec<(String, u64)>,
    ) -> Self {
        let mut relations = Vec::new();
        let formats = formats.into_iter().filter_map(|(name, format)| {
            match format.parse::<FormatSpec>() {
                Ok(spec) if spec.is_relation() => {
                    relations.push((name, spec));
                    None
                }
                // What is wrong with a text is said with the program.
                _ => Some((name, format)),
            }
        });
        Self {
            formats: formats.collect(),
            text,
            operands,
            relations,
            extents,
        }
    }

    /// The kernel, planned if none is kept.
    pub(crate) fn kernel(&self, py: Python<'_>, state: &Arc<State>) -> PyResult<Kernel> {
        let operands = self.operands.iter();
        let key = Key {
            text: self.text.clone(),
            operands: operands
                .map(|(name, stored)| (name.clone(), stored.get().kind()))
                .collect(),
            formats: self.formats.clone(),
            extents: self.extents.clone(),
        };
        if let Some(kernel) = state.kernel(&key) {
            return Ok(kernel);
        }
        let program = self.program().or_raise(py)?;
        let kernel = state.watched(py, (), move |state, _, ()| state.session.plan(&program))?;
        state.keep(key, &kernel);
        Ok(kernel)
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
            program = program.format(&self.named(name)?, format.as_str())?;
        }
        for (name, extent) in &self.extents {
            program = program.extent(name, *extent);
        }
        Ok(program)
    }

    /// A name, or that of the last result.
    fn named(&self, name: &str) -> sparsec::Result<String> {
        match name.is_empty() {
            true => last_result(&self.text),
            false => Ok(name.to_owned()),
        }
    }

    /// Runs `work` on the bound kernel, without the interpreter's lock.
    fn run<R: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Binding<'_>) -> sparsec::Result<R> + Send + 'static,
    ) -> PyResult<R> {
        let state = State::get();
        let kernel = self.kernel(py, &state)?;
        let operands = self.operands.iter();
        let operands: Vec<_> = operands.map(|(name, it)| (name.as_str(), it)).collect();
        run(py, &state, &kernel, &operands, work)
    }

    /// The relation as which a result is to be stored.
    fn wanted(&self, name: &str) -> sparsec::Result<Option<&FormatSpec>> {
        for (wanted, format) in &self.relations {
            if self.named(wanted)? == name {
                return Ok(Some(format));
            }
        }
        Ok(None)
    }

    /// A result in the format that the call asks for.
    fn stored(&self, py: Python<'_>, name: &str, made: Tensor) -> PyResult<Stored> {
        let Some(format) = self.wanted(name).or_raise(py)? else {
            return Ok(made.into());
        };
        let storage = format.storage(made.order()).or_raise(py)?;
        let n_entries = made.n_stored();
        let made = State::get().run_over(py, n_entries, (), move |state, cancel, ()| {
            build::stored_as(&state.session.until(cancel), made, &storage)
        })?;
        Ok(Stored::from(Held::from(made)))
    }
}

/// Runs `work` on a kernel with these operands, without the interpreter's lock.
pub(crate) fn run<R: Send + 'static>(
    py: Python<'_>,
    state: &Arc<State>,
    kernel: &Kernel,
    operands: &[(&str, &Bound<'_, Stored>)],
    work: impl FnOnce(&Binding<'_>) -> sparsec::Result<R> + Send + 'static,
) -> PyResult<R> {
    let tensors = operands.iter();
    let tensors: PyResult<Vec<_>> = tensors
        .map(|(name, stored)| Ok((*name, stored.get().tensor(py)?)))
        .collect();
    let tensors = tensors?;
    let n_entries = tensors.iter().map(|(_, it)| it.n_stored()).sum();
    let mut work = Some(work);
    if !State::is_long(n_entries) {
        let made = state.run(py, || {
            let binding = bound(kernel.binding(), tensors)?;
            // A few entries may be a long computation.
            let work = work.take_if(|_| binding.estimated_time().is_ok_and(State::is_short));
            work.map(|work| work(&binding)).transpose()
        })?;
        if let Some(made) = made {
            return Ok(made);
        }
    }
    let held = operands.iter();
    let held: Vec<(String, Py<Stored>)> = held
        .map(|(name, stored)| ((*name).to_owned(), (*stored).clone().unbind()))
        .collect();
    let kernel = kernel.clone();
    state.watched(py, held, move |_, cancel, held| {
        let operands = held.iter().map(|(name, stored)| {
            let tensor = stored.get().held().known();
            (name.as_str(), tensor.expect("it was checked"))
        });
        let work = work.expect("it did not run");
        work(&bound(kernel.binding().until(cancel), operands)?)
    })
}

fn bound<'a>(
    mut binding: Binding<'a>,
    operands: impl IntoIterator<Item = (&'a str, &'a Tensor)>,
) -> sparsec::Result<Binding<'a>> {
    for (name, tensor) in operands {
        binding = binding.bind(name, tensor)?;
    }
    Ok(binding)
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
    let call = Call::new(text, operands, formats, extents);
    let made = call.run(py, |binding| binding.evaluate())?;
    match call.relations.is_empty() {
        true => Ok(made.into()),
        false => call.stored(py, &last_result(&call.text).or_raise(py)?, made),
    }
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
    let call = Call::new(text, operands, formats, extents);
    let results = call.run(py, |binding| binding.evaluate_all())?;
    let stored = results.into_iter().map(|(name, it)| {
        let it = call.stored(py, &name, it)?;
        Ok((name, it))
    });
    stored.collect()
}

/// The type of the result of the last statement, by NumPy's name.
#[pyfunction]
pub(crate) fn typed(
    py: Python<'_>,
    text: String,
    operands: Vec<(String, Bound<'_, Stored>)>,
    extents: Vec<(String, u64)>,
) -> PyResult<&'static str> {
    let call = Call::new(text, operands, Vec::new(), extents);
    let kernel = call.kernel(py, &State::get())?;
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
    let call = Call::new(text, operands, formats, extents);
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
    let call = Call::new(text, operands, formats, extents);
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
    let call = Call::new(text, operands, formats, extents);
    let state = State::get();
    let kernel = call.kernel(py, &state)?;
    let known = call.operands.iter().map(|(name, stored)| {
        Ok(match described.get(name) {
            Some((extents, n_stored)) => (name.as_str(), Described::counts(extents, *n_stored)),
            None => (name.as_str(), Described::Tensor(stored.get().tensor(py)?)),
        })
    });
    let known: Vec<_> = known.collect::<PyResult<_>>()?;
    let result = state.run(py, || kernel.estimated(&known))?;
    let fill = element::to_python(py, result.fill)?;
    let format = match call
        .wanted(&last_result(&call.text).or_raise(py)?)
        .or_raise(py)?
    {
        Some(relation) => relation.to_string(),
        None => result.format.to_string(),
    };
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
    let call = Call::new(text, operands, formats, extents);
    call.run(py, move |binding| binding.emit(&parsed))
}

/// An einsum as index notation: operands are `operand0`, `operand1`, …, the result is `out`.
#[pyfunction]
pub(crate) fn einsum_text(py: Python<'_>, text: &str, shapes: Vec<Vec<u64>>) -> PyResult<String> {
    let einsum = Einsum::parse(text, shapes.len()).or_raise(py)?;
    let orders = shapes.iter().map(Vec::len);
    einsum.check_orders(orders).or_raise(py)?;
    Ok(einsum.broadcast(&shapes).to_string())
}
