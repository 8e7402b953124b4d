//! Running a computation on files.

use std::collections::BTreeMap;
use std::path::Path;

use sparsec::computation::{Computation, DataSpace};
use sparsec::compute::{Given, compile_computation};
use sparsec::io::{self, ReadOptions};
use sparsec::runtime::Environment;
use sparsec::{Diagnostic, Format, Options, PackOptions, Result, Session, Tensor, code};

use crate::arguments::ComputeArguments;
use crate::call::{Call, Pair};
use crate::files;
use crate::problem::{bad_value, suggest};
use crate::run::{backend, summary};

/// Reads what is given, runs the kernel and writes what is asked for.
pub(super) fn run(
    call: &Call,
    arguments: &ComputeArguments,
    computation: &Computation,
) -> Result<BTreeMap<String, Tensor>> {
    let inputs = call.pairs("-i", "input", &arguments.inputs)?;
    let outputs = call.pairs("-o", "output", &arguments.outputs)?;
    for pair in inputs.iter().chain(&outputs) {
        call.file_type(&pair.value, pair.value_span)?;
    }
    files::check_distinct(call, &inputs, &outputs)?;
    for pair in &outputs {
        space(call, computation, pair, |space| space.role.is_live_out())?;
        let folder = files::check_folder(Path::new(&pair.value));
        folder.map_err(|error| call.about_file(pair.value_span, error))?;
    }
    let mut tensors = Vec::new();
    for pair in &inputs {
        let space = space(call, computation, pair, |space| space.role.is_given())?;
        tensors.push((pair, read(call, pair, space)?));
    }
    let mut given = Given::new();
    for pair in call.pairs("-d", "parameter", &arguments.parameters)? {
        let value: i64 = pair.value.parse().map_err(|_| {
            let message = format!("`{}` is no integer of 64 bits", pair.value);
            bad_value(call, &pair, message).help("write a number: `-d N=1000`")
        })?;
        given = given.parameter(pair.name, value);
    }
    for (pair, tensor) in &tensors {
        given = given.data(pair.name.clone(), tensor);
    }
    let compiled = compile_computation(computation)?;
    let session = Session::new(Options {
        backend: backend(call, &arguments.backend)?,
        environment: Environment::of_process(),
        ..Options::default()
    });
    let results = session.compute(&compiled, &given)?;
    let mut complete = Vec::new();
    for pair in &outputs {
        let tensor = &results[&pair.name];
        let staged = io::stage(Path::new(&pair.value), tensor, &io::WriteOptions::default());
        complete.push(staged.map_err(|error| call.about_file(pair.value_span, error))?);
    }
    complete.into_iter().try_for_each(io::Staged::commit)?;
    Ok(results)
}

/// The data that an option is about.
fn space<'c>(
    call: &Call,
    computation: &'c Computation,
    pair: &Pair,
    fits: impl Fn(&DataSpace) -> bool,
) -> Result<&'c DataSpace> {
    let all = || computation.spaces.iter().filter(|space| fits(space));
    all().find(|space| space.name == pair.name).ok_or_else(|| {
        let known: Vec<&str> = all().map(|space| space.name.as_str()).collect();
        let message = format!(
            "`{}` has no data `{}` for that",
            computation.name, pair.name
        );
        let error = Diagnostic::new(code::DOES_NOT_APPLY, message).at(
            call.source(),
            pair.name_span,
            "unknown here",
        );
        suggest(error, &pair.name, &known)
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

/// A result that has no file: all of it if it is short.
pub(super) fn shown(name: &str, tensor: &Tensor) -> String {
    const MOST: usize = 16;
    let values = tensor.vals();
    if tensor.order() == 0 || values.len() > MOST {
        return format!("{}\n", summary(name, tensor));
    }
    let entries: Vec<String> = (0..values.len())
        .map(|at| values.get(at).to_string())
        .collect();
    format!("{name} = [{}]\n", entries.join(", "))
}
