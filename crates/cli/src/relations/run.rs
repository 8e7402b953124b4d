//! Running a computation on files.

use std::collections::BTreeMap;
use std::path::Path;

use sparsec::internals::Notation;
use sparsec::internals::computation::{Computation, DataSpace, Role};
use sparsec::internals::compute::{Given, compile_computation};
use sparsec::io::{self, ReadOptions};
use sparsec::{
    Diagnostic, ElementType, Format, Options, PackOptions, Result, Session, Tensor, code,
};

use super::Executed;
use crate::arguments::RelationsArguments;
use crate::call::Call;
use crate::files;
use crate::pairs::Pair;
use crate::problem::{bad_value, suggest};
use crate::progress::Progress;
use crate::run::backend;
use crate::screen::Screen;
use crate::tensors;

/// The results of a run, the files that they were written to, and the session, which may
/// still compile kernels for later runs.
#[derive(Default)]
pub(super) struct Ran {
    pub(super) session: Option<Session>,
    pub(super) results: BTreeMap<String, Tensor>,
    pub(super) outputs: Vec<Pair>,
    pub(super) is_stdout_taken: bool,
}

type Run<'a> = dyn Fn(&Session, &Given<'_>) -> Result<BTreeMap<String, Tensor>> + 'a;

/// What is run: what it is given and gives, and how.
pub(super) struct Work<'a> {
    pub(super) name: &'a str,
    pub(super) given: Vec<&'a DataSpace>,
    pub(super) results: Vec<&'a str>,
    pub(super) run: &'a Run<'a>,
}

/// Runs a computation.
pub(super) fn run(
    call: &Call,
    screen: &Screen,
    arguments: &RelationsArguments,
    computation: &Computation,
) -> Result<Ran> {
    let spaces = || computation.spaces.iter();
    let live_out = spaces().filter(|space| space.role.is_live_out());
    run_work(
        call,
        screen,
        arguments,
        &Work {
            name: &format!("`{}`", computation.name),
            given: spaces().filter(|space| space.role.is_given()).collect(),
            results: live_out.map(|space| space.name.as_str()).collect(),
            run: &|session, given| session.compute(&compile_computation(computation)?, given),
        },
    )
}

/// Runs an expression on copies of operands.
pub(super) fn run_copied(
    call: &Call,
    screen: &Screen,
    arguments: &RelationsArguments,
    executed: &Executed,
) -> Result<Ran> {
    let names = Notation::parse(&executed.expression)?.tensor_names();
    let copied = executed.copies.iter();
    let spaces = copied.flat_map(|copied| &copied.computation.spaces);
    let mut given: Vec<DataSpace> = spaces.filter(|it| it.role.is_given()).cloned().collect();
    for name in names.iter().filter(|name| name.may_be_input) {
        if !executed.operands.contains_key(&name.name) {
            let element = executed.types.get(&name.name).copied();
            given.push(DataSpace {
                name: name.name.clone(),
                element: element.unwrap_or(ElementType::F64),
                extents: Vec::new(),
                role: Role::Given,
            });
        }
    }
    let written = names.iter().filter(|name| name.written);
    let Executed {
        expression,
        operands,
        types,
        ..
    } = executed;
    run_work(
        call,
        screen,
        arguments,
        &Work {
            name: "the expression",
            given: given.iter().collect(),
            results: written.map(|name| name.name.as_str()).collect(),
            run: &|session, given| session.execute(expression, operands, types, given),
        },
    )
}

/// Reads what is given, runs the kernels and writes what is asked for.
pub(super) fn run_work(
    call: &Call,
    screen: &Screen,
    arguments: &RelationsArguments,
    work: &Work<'_>,
) -> Result<Ran> {
    let inputs = call.inputs(&arguments.inputs)?;
    let outputs = call.outputs(&arguments.outputs, &work.results)?;
    for pair in &inputs {
        call.file_type(&pair.value, pair.value_span)?;
    }
    files::check_distinct(call, &inputs, &outputs)?;
    for pair in &outputs {
        known(call, work, pair, &work.results)?;
        files::check_output(call, &pair.value, pair.value_span)?;
    }
    let is_stdout_taken = files::takes_stdout(call, screen, &outputs)?;
    let mut tensors = Vec::new();
    for pair in &inputs {
        let names: Vec<&str> = work.given.iter().map(|space| &*space.name).collect();
        let space = work.given[known(call, work, pair, &names)?];
        tensors.push((pair, read(call, pair, space)?));
    }
    let mut given = Given::new();
    let parameters = call.pairs("-d", "parameter", &arguments.parameters)?;
    for pair in &parameters {
        let value: i64 = pair.value.parse().map_err(|_| {
            let message = format!("`{}` is no integer of 64 bits", pair.value);
            bad_value(call, pair, message).help("write a number: `-d N=1000`")
        })?;
        given = given.parameter(pair.name.clone(), value);
    }
    for (pair, tensor) in &tensors {
        given = given.data(pair.name.clone(), tensor);
    }
    let session = Session::new(Options::from_env().backend(backend(call, &arguments.backend)?));
    let results = (work.run)(&session, &given).map_err(|error| {
        // `relations` has no option for memory, and a computation no windows.
        if error.code() == code::KERNEL_OUT_OF_MEMORY {
            let place = call.find_last_word(&arguments.file).unwrap_or(call.end());
            return error
                .also(call.source(), place, "computed by this")
                .help("give smaller parameters or data, or run it where more memory is free");
        }
        let is_named = |pair: &&Pair| error.message().contains(&format!("`{}`", pair.name));
        match parameters.iter().find(is_named) {
            Some(pair) if error.labels().is_empty() => {
                error.at(call.source(), pair.name_span, "given here")
            }
            _ => error,
        }
    })?;
    let progress = Progress::new(outputs.len(), true);
    let tensor = |name: &str| &results[name];
    tensors::write(call, &outputs, tensor, &BTreeMap::new(), &progress)?;
    Ok(Ran {
        session: Some(session),
        results,
        outputs,
        is_stdout_taken,
    })
}

/// Which of these names an option is about.
fn known(call: &Call, work: &Work<'_>, pair: &Pair, names: &[&str]) -> Result<usize> {
    let found = names.iter().position(|name| *name == pair.name);
    found.ok_or_else(|| {
        let message = format!("{} has no data `{}` for that", work.name, pair.name);
        let error = Diagnostic::new(code::DOES_NOT_APPLY, message).at(
            call.source(),
            pair.name_span,
            "unknown here",
        );
        suggest(error, &pair.name, names)
    })
}

/// Reads a file as a dense tensor of the type that the text says.
fn read(call: &Call, pair: &Pair, space: &DataSpace) -> Result<Tensor> {
    let options = ReadOptions {
        element: Some(space.element),
        ..ReadOptions::default()
    };
    let at = |error| call.about_file(pair.value_span, error);
    let file = io::read(Path::new(&pair.value), &options).map_err(at)?;
    let format = Format::dense(file.order());
    file.into_tensor(&format, PackOptions::default())
        .map_err(at)
}
