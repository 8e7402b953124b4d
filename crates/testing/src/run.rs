//! `run` lines on every engine, against the oracle.

use std::collections::BTreeMap;

use sparsec::Tensor;
use sparsec::internals::index::Program;
use sparsec::internals::reference::CoordinateMap;
use sparsec::internals::{Compiled, Inputs, Outcome, Repeats, compile, reference};
use sparsec::{Backend, Options, Session};

use sparsec_runtime::Environment;

use crate::data::{Case, Data, Expected, cases};
use crate::file::Filetest;
use crate::stages::Check;

/// The most points that the dense oracle visits.
const MOST_POINTS: u64 = 1 << 20;

/// The engines that cases run on.
#[derive(Debug)]
pub struct Engines(Vec<(&'static str, Session, Repeats)>);

impl Engines {
    /// The interpreter, the interpreter with assembly apart, Cranelift, and C with the
    /// compiler and the cache of `environment`.
    pub fn new(environment: Environment) -> Self {
        let engine = |name, backend, apart| {
            let options = Options::new().environment(environment.clone());
            let session = Session::new(options.backend(backend));
            (name, session, Repeats { apart, times: 1 })
        };
        Self(vec![
            engine("interpreter", Backend::Interpreter, false),
            engine("interpreter, assembly apart", Backend::Interpreter, true),
            engine("Cranelift", Backend::Cranelift, false),
            engine("C", Backend::C, false),
        ])
    }
}

/// The cases of a file that have inputs: the program compiled for them, and them.
///
/// # Errors
/// If there is no section `run`, or something is wrong with it.
pub fn inputs(file: &Filetest) -> Check<Vec<(Compiled, Inputs)>> {
    let compiled = compile(&file.request, &Inputs::new()).map_err(|error| error.render(false))?;
    let given = |case: &Case| {
        let inputs = given(file, &compiled, case)?;
        let compiled = compile(&file.request, &inputs).map_err(|error| error.render(false))?;
        Ok((compiled, inputs))
    };
    cases_of(file, &compiled)?.iter().map(given).collect()
}

/// Runs every case of a file.
///
/// # Errors
/// The first case that goes wrong, with its line and engine.
pub fn check(file: &Filetest, compiled: &Compiled, engines: &Engines) -> Check {
    for case in &cases_of(file, compiled)? {
        check_case(file, compiled, engines, case)
            .map_err(|error| format!("{}:{}: {error}", file.name, case.line))?;
    }
    Ok(())
}

/// The cases of a file, of which it has to have one.
fn cases_of(file: &Filetest, compiled: &Compiled) -> Check<Vec<Case>> {
    let section = file
        .section("run")
        .ok_or("there is no section `run`; it is written by hand")?;
    let element_of = |name: &str| {
        let program = compiled.resolved();
        let found = program.tensors.named(name);
        found.map(|id| program.tensors[id].element)
    };
    let cases = cases(&file.name, &section.text, section.line + 1, &element_of)
        .map_err(|error| error.render(false))?;
    if cases.is_empty() {
        return Err(format!("{}:{}: there is no case", file.name, section.line));
    }
    Ok(cases)
}

/// The tensors that a case gives.
fn given(file: &Filetest, compiled: &Compiled, case: &Case) -> Check<Inputs> {
    let mut inputs = Inputs::new();
    for (name, data) in &case.given {
        inputs.insert(name.clone(), input(file, compiled, name, data)?);
    }
    Ok(inputs)
}

fn check_case(file: &Filetest, compiled: &Compiled, engines: &Engines, case: &Case) -> Check {
    let inputs = given(file, compiled, case)?;
    let compiled = compile(&file.request, &inputs).map_err(|error| error.render(false))?;
    for (engine, session, repeats) in &engines.0 {
        let outcome = session.run_timed(&compiled, &inputs, *repeats);
        check_outcome(file, &compiled, &inputs, case, outcome)
            .map_err(|error| format!("{engine}: {error}"))?;
    }
    Ok(())
}

fn check_outcome(
    file: &Filetest,
    compiled: &Compiled,
    inputs: &Inputs,
    case: &Case,
    outcome: sparsec::Result<Outcome>,
) -> Check {
    let (results, outcome) = match (&case.expected, outcome) {
        (Expected::Results(results), Ok(outcome)) => (results, outcome),
        (Expected::Error(code), Err(error)) if error.code().as_str() == code => return Ok(()),
        (Expected::Error(code), Ok(_)) => return Err(format!("did not fail with {code}")),
        (_, Err(error)) => return Err(error.render(false)),
    };
    for (name, data) in results {
        let found = outcome
            .tensors
            .get(name)
            .ok_or_else(|| format!("`{name}` is not a result"))?;
        data.compare(found)
            .map_err(|error| format!("`{name}`: {error}"))?;
    }
    let expected = oracle(compiled.resolved(), inputs)
        .map_err(|error| format!("the oracle: {}", error.render(false)))?;
    for (name, found) in &outcome.tensors {
        if let Some(difference) = reference::compare_exact(&expected[name], found) {
            return Err(format!("`{name}`: the oracle disagrees: {difference}"));
        }
        check_format(file, name, found)?;
    }
    Ok(())
}

/// The evaluator that visits every point, where there are not too many of them.
fn oracle(program: &Program, inputs: &Inputs) -> sparsec::Result<BTreeMap<String, CoordinateMap>> {
    let extents = program
        .vars
        .iter()
        .map(|(_, data)| data.extent.unwrap_or(1));
    match extents.fold(1, u64::saturating_mul) <= MOST_POINTS {
        true => reference::dense::evaluate(program, inputs),
        false => reference::evaluate(program, inputs),
    }
}

/// A result has the format that the file declares.
fn check_format(file: &Filetest, name: &str, found: &Tensor) -> Check {
    let spec = file.request.tensors.get(name);
    let Some(format) = spec.and_then(|spec| spec.format.as_ref()) else {
        return Ok(());
    };
    let declared = format
        .resolve(found.order())
        .map_err(|error| error.render(false))?;
    match declared.arranges_like(found.format()) {
        true => Ok(()),
        false => Err(format!(
            "`{name}` is stored as {}, not {declared}",
            found.format()
        )),
    }
}

fn input(file: &Filetest, compiled: &Compiled, name: &str, data: &Data) -> Check<Tensor> {
    let program = compiled.resolved();
    let declared = program.tensors.named(name);
    let spec = file.request.tensors.get(name);
    let (Some(tensor), Some(format)) = (declared, compiled.format(name)) else {
        return Err(format!("`{name}` is not a tensor of the program"));
    };
    let tensor = &program.tensors[tensor];
    let extents = match (spec.and_then(|spec| spec.extents.clone()), data) {
        (Some(extents), _) => extents,
        (None, Data::All { extents, .. }) => extents.clone(),
        (None, Data::Stored(_)) => return Err(format!("`{name}` is declared without extents")),
    };
    let fill = spec.and_then(|spec| spec.fill).unwrap_or(tensor.fill);
    // Widths follow from the data, as they do for files.
    let format = match spec.and_then(|spec| spec.format.as_ref()) {
        Some(format) => format
            .resolve(extents.len())
            .map_err(|error| error.render(false))?,
        None => format.clone(),
    };
    data.tensor(&format, &extents, fill)
        .map_err(|error| format!("`{name}`: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsec::internals::Request;
    use sparsec::{Format, Source, code};

    fn vector(values: &[f64]) -> Inputs {
        let extents = [values.len() as u64];
        let coords: Vec<u64> = (0..extents[0]).collect();
        let tensor = Tensor::pack(&Format::dense(1), &extents, &coords, values).unwrap();
        Inputs::from([("x".to_owned(), tensor)])
    }

    fn doubled(inputs: &Inputs) -> Compiled {
        let request = Request::new(Source::new("expression", "y(i) = 2 * x(i)"));
        compile(&request, inputs).unwrap()
    }

    #[test]
    fn a_result_of_other_data_is_wrong() {
        let (inputs, others) = (vector(&[1.0, 2.0]), vector(&[1.0, 3.0]));
        let compiled = doubled(&inputs);
        let session = Session::interpreter();
        let outcome = session.run(&compiled, &inputs).unwrap();
        assert!(session.check(&compiled, &inputs, &outcome).is_ok());
        let error = session.check(&compiled, &others, &outcome).unwrap_err();
        assert_eq!(error.code(), code::WRONG_RESULT);
    }
}
