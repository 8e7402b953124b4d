//! Targets for programs: texts × formats × data, on two engines, against the oracle.
//!
//! | target     | an input is                                  | data                       |
//! |------------|----------------------------------------------|----------------------------|
//! | `filetest` | the head of a filetest, without its comments | drawn for its declarations |
//! | `program`  | decisions that make up the text of one       | the same                   |
//!
//! A program is right or refused: an engine may give up with a diagnostic, but its results agree
//! with the oracle's. The interpreter runs first: it checks every access and panics at one outside
//! of its array. So the kernel that Cranelift runs afterwards stays inside its arrays.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use sparsec::internals::index::{Program, TensorRole};
use sparsec::internals::{Compiled, Inputs, compile, generate, reference};
use sparsec::{
    Array, Backend, ElementType, MemoryLimit, Options, PackOptions, Result, Scalar, Session,
    Source, Tensor, code,
};
use sparsec_base::Kind;
use sparsec_testing::file::Filetest;

use crate::choices::Choices;
use crate::texts::{drawn, text_of};
use crate::written::Written;

/// The memory that results and workspaces of a program may take.
pub(crate) const MEMORY: MemoryLimit = MemoryLimit::Bytes(32 << 20);
/// The most points that the oracle visits for one statement.
pub(crate) const MOST_POINTS: u64 = 1 << 13;
/// The most entries that an operand may have if all are stored.
const MOST_PLACES: u64 = 1 << 12;

/// A program as the head of a filetest writes it: declarations, schedule, statements.
pub fn text(input: &[u8]) {
    run(&text_of(input));
}

/// A program whose text is made of decisions, so that most of them have a meaning.
pub fn program(input: &[u8]) {
    run(&Written::new(Choices::new(input)).program());
}

fn run(head: &str) {
    let text = format!("; An input.\ntest run\n{head}\n");
    let Some(file) = drawn(Filetest::parse("input", &text)) else {
        return;
    };
    let mut request = file.request;
    // In the order of the text, so that rounding is the oracle's.
    request.strict = true;
    let Some(planned) = drawn(compile(&request, &Inputs::new())) else {
        return;
    };
    let mut inputs = Inputs::new();
    for (_, data) in planned.resolved().tensors.iter() {
        if data.role != TensorRole::Input {
            continue;
        }
        let name = data.source_name();
        let spec = request.tensors.get(name);
        let extents: Vec<u64> = match spec.and_then(|spec| spec.extents.clone()) {
            Some(extents) => extents,
            None => data.extents.iter().map(|it| it.unwrap_or(3)).collect(),
        };
        let declared = spec.and_then(|spec| spec.format.as_ref());
        let format = match declared.map(|spec| spec.resolve(extents.len())) {
            Some(format) => format,
            None => Ok(planned.format(name).expect("an operand").clone()),
        };
        let tensor = format.and_then(|format| {
            let seed = inputs.len() as u64 + text.len() as u64;
            operand(&format, &extents, data.element, data.fill, seed)
        });
        match drawn(tensor) {
            Some(tensor) => inputs.insert(name.to_owned(), tensor),
            None => return,
        };
    }
    let Some(compiled) = drawn(compile(&request, &inputs)) else {
        return;
    };
    if let Err(fault) = judge(&compiled, &inputs) {
        panic!("{head}\n{fault}");
    }
}

/// An operand with about half of all entries, small integers.
pub(crate) fn operand(
    format: &sparsec::Format,
    extents: &[u64],
    element: ElementType,
    fill: Scalar,
    seed: u64,
) -> Result<Tensor> {
    let places = extents.iter().try_fold(1u64, |n, it| n.checked_mul(*it));
    let density = match places.is_some_and(|places| places <= MOST_PLACES) {
        true => "density=0.5",
        false => "nnz=3",
    };
    let spec = format!("random({density}, seed={seed}, values=int)");
    let drawn = generate(
        &Source::new("generator", spec),
        extents,
        None,
        ElementType::I64,
    )?;
    let mut entries = drawn.entries();
    let mut values = Array::zeroed(element, entries.len())?;
    for at in 0..values.len() {
        let value = entries.values.get(at).to_f64();
        let value = match element.kind() {
            Kind::Unsigned | Kind::Bool => value.abs(),
            _ => value,
        };
        let value = Scalar::F64(value).cast(element);
        values.set(at, value.expect("small integers"));
    }
    entries.values = values;
    let options = PackOptions {
        fill: Some(fill),
        memory: MEMORY,
        ..PackOptions::default()
    };
    Tensor::pack_entries(format, entries, options)
}

/// The sessions that programs run in, first the one that checks every access.
pub(crate) fn sessions() -> &'static [Session; 2] {
    static SESSIONS: OnceLock<[Session; 2]> = OnceLock::new();
    SESSIONS.get_or_init(|| {
        [Backend::Interpreter, Backend::Cranelift]
            .map(|backend| Session::new(Options::from_env().backend(backend).memory(MEMORY)))
    })
}

/// Runs a program on every engine and compares with the oracle.
///
/// # Errors
/// The first difference, in words.
pub(crate) fn judge(compiled: &Compiled, inputs: &Inputs) -> std::result::Result<(), String> {
    if !is_small(compiled.resolved()) || !is_small(compiled.program()) {
        return Ok(());
    }
    for session in sessions() {
        let Some(outcome) = drawn(session.run(compiled, inputs)) else {
            continue;
        };
        let results: BTreeMap<&str, &Tensor> = compiled
            .resolved()
            .statements
            .iter()
            .map(|statement| {
                let name = compiled.resolved().tensors[statement.lhs.tensor]
                    .name
                    .as_str();
                (name, outcome.value(name).expect("a run has every result"))
            })
            .collect();
        compare(compiled.resolved(), inputs, &results)
            .map_err(|why| format!("{:?}: {why}", session.backend()))?;
    }
    Ok(())
}

/// Compares results with the oracle's, statement by statement.
fn compare(
    program: &Program,
    inputs: &Inputs,
    results: &BTreeMap<&str, &Tensor>,
) -> std::result::Result<(), String> {
    let mut known: BTreeMap<String, &Tensor> = BTreeMap::new();
    for (_, data) in program.tensors.iter() {
        if let (TensorRole::Input, Some(given)) = (data.role, inputs.get(data.source_name())) {
            known.insert(data.name.clone(), given);
        }
    }
    for (number, statement) in program.statements.iter().enumerate() {
        let name = &program.tensors[statement.lhs.tensor].name;
        let found = results[name.as_str()];
        match reference::dense::evaluate_statement(program, number, &known) {
            Ok(expected) => {
                if let Some(difference) = reference::compare(&expected, found) {
                    return Err(format!("{name}: {difference}"));
                }
            }
            Err(wanted) if wanted.code() == code::TOO_MANY_POINTS => return Ok(()),
            Err(wanted) => {
                return Err(format!("{name} is computed, but the oracle says\n{wanted}"));
            }
        }
        known.insert(name.clone(), found);
    }
    Ok(())
}

/// Whether the oracle and the interpreter come to an end soon.
fn is_small(program: &Program) -> bool {
    let extents = program
        .vars
        .iter()
        .map(|(_, data)| data.extent.unwrap_or(1).max(1));
    extents.fold(1, u64::saturating_mul) <= MOST_POINTS
}
