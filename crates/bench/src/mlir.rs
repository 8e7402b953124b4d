//! Kernels beside MLIR's `sparse_tensor` dialect, compiled by MLIR's own tools.
//!
//! ```text
//! spmv/band    ours  binding.evaluate()                        ─┐
//!              MLIR  mlir-opt --sparsifier │ mlir-cpu-runner -O3 ├─► results compared, then in turns
//! ```
//!
//! | row            | computes                          | in MLIR                     |
//! |----------------|-----------------------------------|-----------------------------|
//! | `spmv/P`       | the kernel of [`case`](mod@crate::case) | `linalg.generic`      |
//! | `csr:csc/P`    | compressed rows by columns        | `sparse_tensor.convert`     |
//! | `spgemm/P`, `sddmm/P`, `mttkrp/uniform` | the kernels of that name | `linalg.matmul`, `linalg.generic` |
//! | `first result` | a program of MLIR, from its text to its output | both tools, or `sparsec mlir --run` |
//!
//! Both sides have the operands in memory, with index arrays of the same width, and allocate their
//! results in every round. The program of MLIR stays for all rounds of a kernel; it takes its own
//! time, and waits for a line between rounds.

mod program;
mod row;
mod tools;

use std::path::Path;
use std::time::{Duration, Instant};

use sparsec::internals::Inputs;
use sparsec::internals::conversion::Converter;
use sparsec::internals::parallel::Pool;
use sparsec::{Array, Diagnostic, ElementType, FormatSpec, Program, Result, Session, Tensor, code};

use crate::case::{CASES, Case, Pattern, Sizes};
use crate::data::Data;
use crate::pair::{difference, median};
use program::{FIRST_RESULT, KERNELS, Kernel, Output};
pub use row::MlirRow;
use tools::{Running, Tools};

/// The least speed of a first result beside that of MLIR.
const FIRST_RESULT_BAR: f64 = 5.0;
/// Rounds of first results at most: MLIR takes half a second.
const FIRST_RESULT_ROUNDS: usize = 5;

/// The settings of a measurement.
pub(crate) struct Setting<'a> {
    pub(crate) session: &'a Session,
    /// One thread.
    pub(crate) pool: &'a Pool,
    pub(crate) sizes: &'a Sizes,
    pub(crate) rounds: usize,
    /// The program `sparsec`, for first results.
    pub(crate) program: Option<&'a Path>,
}

/// Measures all rows, or those that `only` names; none if there are no tools.
///
/// # Errors
/// `E0004` for a name that there is not, `E0515` if a result differs from that of MLIR, `E0010` if a
/// tool ends with an error; those of compiling and running.
pub(crate) fn measure(
    setting: &Setting<'_>,
    only: &[&str],
    print: &mut dyn FnMut(String) -> Result<()>,
) -> Result<Vec<MlirRow>> {
    let chosen = chosen(only)?;
    let tools = match Tools::find() {
        Ok(tools) => tools,
        Err(why) => {
            print(format!(
                "\nno MLIR to compare with: {why}; SPARSEC_MLIR_OPT, SPARSEC_MLIR_RUNNER and \
                 SPARSEC_MLIR_LIB name one, and Debian has mlir-19-tools, libmlir-19-dev and llvm-19\n"
            ))?;
            return Ok(Vec::new());
        }
    };
    print(format!("\n{}\n{}", tools.version, MlirRow::heading()))?;
    let mut rows = Vec::new();
    for (kernel, pattern) in chosen.kernels {
        let row = setting
            .pool
            .run(|| measured(setting, &tools, kernel, pattern))?;
        print(row.line())?;
        rows.push(row);
    }
    if let (true, Some(program)) = (chosen.has_first_result, setting.program) {
        let row = first_result(&tools, program, setting.rounds)?;
        print(row.line())?;
        rows.push(row);
    }
    Ok(rows)
}

/// The rows that are asked for.
struct Chosen {
    kernels: Vec<(&'static Kernel, Pattern)>,
    has_first_result: bool,
}

/// The name of the row of first results.
const FIRST: &str = "first";

fn chosen(only: &[&str]) -> Result<Chosen> {
    let is_chosen = |name: &str, pattern: Pattern| {
        only.is_empty() || only.contains(&name) || only.contains(&&*format!("{name}/{pattern}"))
    };
    let kernels: Vec<(&Kernel, Pattern)> = KERNELS
        .iter()
        .flat_map(|kernel| {
            kernel
                .patterns
                .iter()
                .map(move |&pattern| (kernel, pattern))
        })
        .collect();
    for wanted in only {
        let is_known = |(kernel, pattern): &(&Kernel, Pattern)| {
            *wanted == kernel.name || *wanted == format!("{}/{pattern}", kernel.name)
        };
        if *wanted != FIRST && !kernels.iter().any(is_known) {
            let names: Vec<&str> = KERNELS.iter().map(|kernel| kernel.name).collect();
            let message = format!("there is no benchmark `mlir/{wanted}`");
            return Err(Diagnostic::new(code::BAD_OPTION_VALUE, message)
                .help(format!("there are {}, {FIRST}", names.join(", "))));
        }
    }
    let kernels = kernels.into_iter();
    Ok(Chosen {
        kernels: kernels
            .filter(|(kernel, pattern)| is_chosen(kernel.name, *pattern))
            .collect(),
        has_first_result: only.is_empty() || only.contains(&FIRST),
    })
}

/// Our side of a kernel.
enum Ours<'a> {
    Kernel(Box<sparsec::Binding<'a>>),
    Conversion(Box<Converter>, &'a Tensor, &'a Session),
}

impl Ours<'_> {
    fn run(&self) -> Result<Tensor> {
        match self {
            Self::Kernel(binding) => binding.evaluate(),
            Self::Conversion(converter, tensor, session) => converter.run(session, tensor),
        }
    }
}

fn measured(
    setting: &Setting<'_>,
    tools: &Tools,
    kernel: &'static Kernel,
    pattern: Pattern,
) -> Result<MlirRow> {
    let case = case_of(kernel);
    let inputs = case.inputs(&Data::generated(setting.sizes, pattern))?;
    let operands = kernel.operands.map_while(&inputs);
    let ours = ours(setting.session, kernel, case, &inputs, operands[0].1)?;
    let expected = ours.run()?;
    let mut running = Running::start(tools, kernel, &operands, &expected)?;
    let name = format!("{}/{pattern}", kernel.name);
    compare(&name, &running, &expected)?;
    drop(expected);

    let (mut our_times, mut their_times, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..setting.rounds.max(1) {
        let ours = || -> Result<Duration> {
            let started = Instant::now();
            let result = ours.run()?;
            let time = started.elapsed();
            drop(result);
            Ok(time)
        };
        // In turns: neither side is always the first.
        let (our_time, their_time) = match round % 2 {
            0 => (ours()?, running.round()?),
            _ => {
                let theirs = running.round()?;
                (ours()?, theirs)
            }
        };
        ratios.push(their_time.as_secs_f64() / our_time.as_secs_f64());
        our_times.push(our_time);
        their_times.push(their_time);
    }
    Ok(MlirRow {
        name,
        ours: median(our_times, Duration::cmp),
        theirs: median(their_times, Duration::cmp),
        ratio: median(ratios, f64::total_cmp),
        bar: kernel.bar,
    })
}

fn case_of(kernel: &Kernel) -> &'static Case {
    let mut cases = CASES.iter();
    let case = cases.find(|case| case.name == kernel.case);
    case.expect("each kernel has the operands of a case")
}

fn ours<'a>(
    session: &'a Session,
    kernel: &Kernel,
    case: &Case,
    inputs: &'a Inputs,
    first: &'a Tensor,
) -> Result<Ours<'a>> {
    if let Output::Converted(to) = kernel.output {
        let format = to.parse::<FormatSpec>()?.resolve(first.order())?;
        let converter = Converter::new(first, &format)?;
        return Ok(Ours::Conversion(Box::new(converter), first, session));
    }
    let mut program = Program::parse(case.expression)?;
    for (name, format) in case.formats {
        program = program.format(name, *format)?;
    }
    for (name, tensor) in inputs {
        program = program.like(name, tensor)?;
    }
    let mut binding = session.plan(&program)?.binding();
    for (name, tensor) in inputs {
        binding = binding.bind(name, tensor)?;
    }
    Ok(Ours::Kernel(Box::new(binding)))
}

/// Compares the arrays that the program wrote with ours.
fn compare(name: &str, running: &Running, ours: &Tensor) -> Result<()> {
    for (number, array) in ours.arrays().iter().enumerate() {
        let bytes = running.result(number)?;
        let theirs = match array.element() {
            ElementType::I32 => Array::from_vec(entries(&bytes, i32::from_ne_bytes)),
            _ => Array::from_vec(entries(&bytes, f64::from_ne_bytes)),
        };
        if let Some(difference) = difference(array, &theirs) {
            let message = format!("`{name}` is not what MLIR computes");
            return Err(Diagnostic::new(code::WRONG_RESULT, message)
                .note(difference)
                .help("this is a fault of sparsec, or of MLIR; please report it"));
        }
    }
    Ok(())
}

fn entries<T, const N: usize>(bytes: &[u8], of: fn([u8; N]) -> T) -> Vec<T> {
    let (chunks, _) = bytes.as_chunks::<N>();
    chunks.iter().map(|chunk| of(*chunk)).collect()
}

/// A small program from its text to its output, each round with an empty cache.
fn first_result(tools: &Tools, program: &Path, rounds: usize) -> Result<MlirRow> {
    let folder = tools::folder()?;
    let file = folder.path().join("first.mlir");
    let matrix = folder.path().join("matrix.mtx");
    tools::write(&file, FIRST_RESULT.as_bytes())?;
    tools::write(&matrix, program::matrix(100).as_bytes())?;
    let (mut our_times, mut their_times, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds.clamp(1, FIRST_RESULT_ROUNDS) {
        let cache = folder.path().join(format!("cache{round}"));
        let started = Instant::now();
        let ours = tools::ours(program, &file, &matrix, &cache)?;
        let our_time = started.elapsed();
        let started = Instant::now();
        let theirs = tools.output(&file, &matrix)?;
        let their_time = started.elapsed();
        if ours != theirs {
            let message = "the first result is not what MLIR prints";
            return Err(Diagnostic::new(code::WRONG_RESULT, message)
                .note(format!("{ours} and {theirs}"))
                .help("this is a fault of sparsec, or of MLIR; please report it"));
        }
        ratios.push(their_time.as_secs_f64() / our_time.as_secs_f64());
        our_times.push(our_time);
        their_times.push(their_time);
    }
    Ok(MlirRow {
        name: "first result".to_owned(),
        ours: median(our_times, Duration::cmp),
        theirs: median(their_times, Duration::cmp),
        ratio: median(ratios, f64::total_cmp),
        bar: FIRST_RESULT_BAR,
    })
}
