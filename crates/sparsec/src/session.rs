//! Running what was compiled.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sparsec_base::{Diagnostic, Result, code};
use sparsec_format::Format;
use sparsec_index::TensorRole;
use sparsec_loop::{Function, Role, passes};
use sparsec_reference as reference;
use sparsec_runtime::{Environment, Kernel, KernelArgument, Origin, OutputTensor};
use sparsec_tensor::{PackOptions, Tensor};

use crate::compile::{Compiled, CompiledStatement};
use crate::request::Inputs;

/// Which engine runs kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// The fastest engine of this machine.
    #[default]
    Auto,
    /// C through the system's compiler.
    C,
    /// The checked interpreter, which needs no compiler and is slow.
    Interpreter,
}

/// How kernels are run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which engine runs them.
    pub backend: Backend,
    /// Whether sparse results are assembled by one kernel and computed by
    /// another, so that each can be timed, and values computed again.
    pub apart: bool,
    /// How often values are computed; more than once for timing.
    pub repeat: usize,
    /// The variables that choose compiler and cache.
    pub environment: Environment,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            backend: Backend::Auto,
            apart: false,
            repeat: 1,
            environment: Environment::of_process(),
        }
    }
}

/// Runs compiled programs; keeps the kernels that it made.
#[derive(Debug)]
pub struct Session {
    options: Options,
    runtime: sparsec_runtime::Session,
}

/// What a run gives.
#[derive(Debug)]
pub struct Outcome {
    /// Every tensor that a statement of the program computes, by name.
    pub tensors: BTreeMap<String, Tensor>,
    /// Where the time went.
    pub timings: Timings,
}

/// Where the time of a run went.
#[derive(Clone, Debug, Default)]
pub struct Timings {
    /// Converting operands to the formats that kernels read.
    pub convert: Duration,
    /// Making kernels ready.
    pub compile: Duration,
    /// Where each kernel came from.
    pub origins: Vec<Origin>,
    /// Allocating results, and assembling and checking sparse ones.
    pub assemble: Duration,
    /// Computing; each time that values were computed.
    pub compute: Vec<Duration>,
}

impl Session {
    /// A session; looks for a compiler when the first kernel asks for one.
    pub fn new(options: Options) -> Self {
        Self {
            runtime: sparsec_runtime::Session::new(options.environment.clone()),
            options,
        }
    }

    /// A session whose kernels are interpreted.
    pub fn interpreter() -> Self {
        Self::new(Options {
            backend: Backend::Interpreter,
            ..Options::default()
        })
    }

    /// The compiler and the cache that this session uses.
    pub fn runtime(&self) -> &sparsec_runtime::Session {
        &self.runtime
    }

    /// Runs every statement on these inputs, which hold each tensor that the
    /// program reads and does not compute.
    ///
    /// # Errors
    /// `E0314` for an input that is missing, the diagnostic of a
    /// conversion, a compile, or a kernel that gave up.
    pub fn run(&self, compiled: &Compiled, inputs: Inputs) -> Result<Outcome> {
        let mut timings = Timings::default();
        let mut tensors = inputs;
        self.convert_inputs(compiled, &mut tensors, &mut timings)?;
        let mut results = BTreeMap::new();
        for (number, statement) in compiled.statements.iter().enumerate() {
            let started = Instant::now();
            let converted = conversions(statement, &tensors)?;
            timings.convert += started.elapsed();
            let find = |name: &str| converted.get(name).or_else(|| tensors.get(name));
            let result = self.run_statement(compiled, number, statement, &find, &mut timings)?;
            let name = compiled.results()[number].to_owned();
            results.insert(name.clone(), ());
            tensors.insert(name, result);
        }
        let named = compiled.notation.tensor_names();
        let is_named = |name: &str| named.iter().any(|known| known.name == name);
        Ok(Outcome {
            tensors: tensors
                .into_iter()
                .filter(|(name, _)| results.contains_key(name) && is_named(name))
                .collect(),
            timings,
        })
    }

    /// Compares an outcome with the reference evaluator.
    ///
    /// # Errors
    /// `E0515` with the first entry that differs.
    pub fn check(&self, compiled: &Compiled, inputs: &Inputs, outcome: &Outcome) -> Result<()> {
        let mut known = inputs.clone();
        for (number, statement) in compiled.resolved.statements.iter().enumerate() {
            let name = &compiled.resolved.tensors[statement.lhs.tensor].name;
            let expected = reference::evaluate_statement(&compiled.resolved, number, &known)?;
            let tensor = &outcome.tensors[name];
            if let Some(difference) = reference::compare(&expected, tensor) {
                return Err(Diagnostic::new(
                    code::WRONG_RESULT,
                    format!("`{name}` is not what the reference evaluator computes"),
                )
                .note(difference.to_string())
                .help("this is a fault of sparsec; please report it with the expression"));
            }
            known.insert(name.clone(), tensor.clone());
        }
        Ok(())
    }

    /// Puts every input into the format that kernels read.
    fn convert_inputs(
        &self,
        compiled: &Compiled,
        tensors: &mut Inputs,
        timings: &mut Timings,
    ) -> Result<()> {
        let started = Instant::now();
        for (id, data) in compiled.program.tensors.iter() {
            if data.role != TensorRole::Input {
                continue;
            }
            let tensor = tensors.get_mut(&data.name).ok_or_else(|| {
                Diagnostic::new(
                    code::MISSING_INPUT,
                    format!("there is no tensor for `{}`", data.name),
                )
                .at(&compiled.program.source, data.span, "read here")
                .help(format!(
                    "give it a file with `-i {0}=…` or a generator with `-g {0}=…`",
                    data.name
                ))
            })?;
            let format = compiled.formats.of(id);
            if !is_stored_as(tensor, format) {
                *tensor = tensor.convert(format)?;
            }
        }
        timings.convert += started.elapsed();
        Ok(())
    }

    fn run_statement<'t>(
        &self,
        compiled: &Compiled,
        number: usize,
        statement: &CompiledStatement,
        find: &dyn Fn(&str) -> Option<&'t Tensor>,
        timings: &mut Timings,
    ) -> Result<Tensor> {
        let function = &statement.function;
        let result = function
            .arguments
            .iter()
            .find(|argument| argument.role == Role::Out)
            .expect("every kernel has a result");
        let data = &statement.plan.concrete.tensors[statement.plan.concrete.result];
        let format = statement
            .plan
            .formats
            .of(statement.plan.concrete.result)
            .clone();
        let kernels = self.kernels(function, timings)?;
        let apart = kernels.len() > 1;

        let started = Instant::now();
        let extents = compiled.result_extents(number)?;
        check_coordinate_width(&data.name, &format, &extents)?;
        let first = kernels[0].function();
        let mut output = OutputTensor::new(
            first,
            argument_of(first, &result.name),
            format,
            extents,
            data.fill,
        )?;
        timings.assemble += started.elapsed();
        for (at, kernel) in kernels.iter().enumerate() {
            let assembles = apart && at == 0;
            let times = if assembles || !(apart || output.format.is_all_dense()) {
                1
            } else {
                self.options.repeat.max(1)
            };
            for _ in 0..times {
                let started = Instant::now();
                launch(kernel, find, &mut output)?;
                if assembles {
                    output.allocate_values()?;
                    timings.assemble += started.elapsed();
                } else {
                    timings.compute.push(started.elapsed());
                }
            }
        }
        let started = Instant::now();
        let tensor = output.finish()?;
        timings.assemble += started.elapsed();
        Ok(tensor)
    }

    /// The kernel of a function, or the two that assemble and compute.
    fn kernels(&self, function: &Function, timings: &mut Timings) -> Result<Vec<Arc<Kernel>>> {
        let result = function
            .arguments
            .iter()
            .find(|argument| argument.role == Role::Out);
        let is_sparse = result.is_some_and(|argument| argument.buffers.len() > 1);
        let apart = self.options.apart && is_sparse;
        let slices = apart.then(|| passes::slice_values(function)).flatten();
        let functions = match slices {
            Some(compute) => vec![passes::slice_structure(function), compute],
            None => vec![function.clone()],
        };
        let started = Instant::now();
        let kernels = functions
            .iter()
            .map(|function| {
                let kernel = self.kernel(function)?;
                timings.origins.push(kernel.build().origin);
                Ok(kernel)
            })
            .collect();
        timings.compile += started.elapsed();
        kernels
    }

    /// A function made ready for the engine of this session.
    ///
    /// # Errors
    /// `E0501` to `E0504` where there is no C compiler, or it fails.
    pub fn kernel(&self, function: &Function) -> Result<Arc<Kernel>> {
        match self.options.backend {
            Backend::Interpreter => Ok(Arc::new(Kernel::interpreter(function))),
            Backend::Auto | Backend::C => {
                let text = sparsec_codegen_c::emit_unit(function);
                let entry = sparsec_codegen_c::launch_name(function);
                Ok(self.runtime.compile_c(function, &text, &entry)?.0)
            }
        }
    }
}

/// Refuses a result whose coordinates do not fit the width declared for them.
fn check_coordinate_width(name: &str, format: &Format, extents: &[u64]) -> Result<()> {
    let Some(width) = format.widths().crd else {
        return Ok(());
    };
    let walked = format.levels().iter().filter(|level| !level.is_full());
    match walked.map(|level| extents[level.mode]).max() {
        Some(extent) if extent > width.max() => Err(Diagnostic::new(
            code::INDEX_WIDTH_OVERFLOW,
            format!(
                "coordinates of `{name}` go up to {}, which {} bits do not hold",
                extent - 1,
                width.bits(),
            ),
        )
        .help("declare `crd = 64`, or no width")),
        _ => Ok(()),
    }
}

fn argument_of<'f>(function: &'f Function, name: &str) -> &'f sparsec_loop::Argument {
    function
        .arguments
        .iter()
        .find(|argument| argument.name == name)
        .expect("slices keep their arguments")
}

fn launch<'t>(
    kernel: &Kernel,
    find: &dyn Fn(&str) -> Option<&'t Tensor>,
    output: &mut OutputTensor,
) -> Result<()> {
    let mut output = Some(output);
    let mut arguments: Vec<KernelArgument<'_>> = kernel
        .function()
        .arguments
        .iter()
        .map(|argument| match argument.role {
            Role::In => KernelArgument::In(find(&argument.name).expect("inputs were looked up")),
            Role::Out => KernelArgument::Out(output.take().expect("a kernel has one result")),
        })
        .collect();
    kernel.launch(&mut arguments)
}

/// The operands that a statement reads in another format, converted.
fn conversions(statement: &CompiledStatement, tensors: &Inputs) -> Result<Inputs> {
    let names = &statement.plan.concrete.tensors;
    let mut converted = Inputs::new();
    for conversion in &statement.plan.conversions {
        let from = &tensors[&names[conversion.from].name];
        // What is stored stays stored, zeros too: an entry that is not stored
        // annihilates, and a stored zero does not.
        let options = PackOptions {
            fill: Some(from.fill()),
            ..PackOptions::default()
        };
        let to = Tensor::pack_entries(&conversion.format, from.entries(), options)?;
        converted.insert(names[conversion.to].name.clone(), to);
    }
    Ok(converted)
}

/// Whether a tensor's arrays are those of `format`, widths included.
fn is_stored_as(tensor: &Tensor, format: &Format) -> bool {
    let wanted = |role| match role {
        sparsec_format::Role::Pos(_) => format.widths().pos,
        sparsec_format::Role::Crd(_) => format.widths().crd,
        sparsec_format::Role::Vals => None,
    };
    // Not `stores_like`: that compares declared widths, and a tensor that
    // declares none has arrays of some width all the same.
    tensor.format().levels() == format.levels()
        && format
            .arrays()
            .iter()
            .zip(tensor.arrays())
            .all(|(spec, array)| {
                wanted(spec.role).is_none_or(|width| width.element() == array.element())
            })
}
