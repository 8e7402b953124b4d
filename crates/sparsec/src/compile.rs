//! From a request to kernels: the one pipeline.
//!
//! ```text
//! parse ─► resolve ─► formats ─► plan ─► lower ─► passes
//! ```

use sparsec_base::{Diagnostic, Result, code};
use sparsec_format::Format;
use sparsec_graph::Formats;
use sparsec_index::{Notation, Program, Schedule, TensorRole, TensorVar};
use sparsec_loop::{Function, passes};
use sparsec_plan::{Plan, plan_program};

use crate::request::{Inputs, Request};
use crate::widths;

/// A program with a kernel for each of its statements.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub(crate) notation: Notation,
    /// The program as the user wrote it, before statements were split.
    pub(crate) resolved: Program,
    pub(crate) program: Program,
    pub(crate) formats: Formats,
    pub(crate) statements: Vec<CompiledStatement>,
}

/// One statement with its plan and its kernel.
#[derive(Clone, Debug)]
pub struct CompiledStatement {
    /// How the statement is computed.
    pub plan: Plan,
    /// The kernel as it was lowered.
    pub lowered: Function,
    /// The kernel after all passes.
    pub function: Function,
}

/// Compiles an expression for these inputs.
///
/// Without inputs, the request's formats and extents have to suffice: extents
/// that are not known stay arguments of the kernel, and index arrays are 32
/// bits wide where no width is declared.
///
/// Time: a few hundred microseconds for usual expressions; no C compiler runs.
///
/// # Errors
/// A diagnostic with its place in the expression, a format or the schedule.
pub fn compile(request: &Request, inputs: &Inputs) -> Result<Compiled> {
    let notation = Notation::parse(&request.expression)?;
    let schedule = request.schedule.as_ref().map(Schedule::parse).transpose()?;
    let program = notation.resolve(&request.declarations(&notation, inputs))?;
    let formats = given_formats(&program, request, inputs)?;
    let planned = plan_program(
        program.clone(),
        formats,
        schedule.as_ref(),
        &|program, statement, format| widths::of_result(program, statement, format, inputs),
    )?;
    let mut statements = Vec::new();
    for plan in planned.plans {
        let name = format!(
            "compute_{}",
            plan.concrete.tensors[plan.concrete.result].name
        );
        let lowered = sparsec_lower::lower(&name, &plan.concrete, &plan.formats)?;
        let function = passes::optimize(lowered.clone(), &mut |_, _| {});
        statements.push(CompiledStatement {
            plan,
            lowered,
            function,
        });
    }
    Ok(Compiled {
        notation,
        resolved: program,
        program: planned.program,
        formats: planned.formats,
        statements,
    })
}

/// The formats that the request states; for inputs, those of the tensors, with
/// the widths that their arrays have.
fn given_formats(program: &Program, request: &Request, inputs: &Inputs) -> Result<Formats> {
    let mut formats = Formats::new();
    for (tensor, data) in program.tensors.iter() {
        let spec = request
            .tensors
            .get(&data.name)
            .and_then(|spec| spec.format.as_ref());
        let asked = spec.map(|spec| spec.resolve(data.order())).transpose()?;
        let format = match (data.role, asked, inputs.get(&data.name)) {
            (TensorRole::Input, Some(asked), Some(input)) => widths::of_input(&asked, input),
            (TensorRole::Input, None, Some(input)) => widths::of_input(input.format(), input),
            (_, Some(asked), _) => asked,
            (TensorRole::Input, None, None) => default_input_format(data.order()),
            (_, None, _) => continue,
        };
        formats.set(tensor, format);
    }
    Ok(formats)
}

/// The format of an input of which nothing is said: a matrix is `csr`, a
/// tensor `csf`, a vector or scalar dense.
fn default_input_format(order: usize) -> Format {
    match order {
        0 | 1 => Format::dense(order),
        2 => Format::csr(),
        _ => Format::csf(order),
    }
}

impl Compiled {
    /// The program as it was written, before statements were split.
    pub fn resolved(&self) -> &Program {
        &self.resolved
    }

    /// The program, with a statement for every kernel.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The statements, in the order in which they run.
    pub fn statements(&self) -> &[CompiledStatement] {
        &self.statements
    }

    /// The names of the tensors that statements compute, in order.
    pub fn results(&self) -> Vec<&str> {
        let name = |tensor: TensorVar| self.program.tensors[tensor].name.as_str();
        self.program
            .statements
            .iter()
            .map(|statement| name(statement.lhs.tensor))
            .collect()
    }

    /// How the tensor `name` is stored, with the widths of its index arrays.
    pub fn format(&self, name: &str) -> Option<&Format> {
        let tensor = self.program.tensors.find(|data| data.name == name)?;
        self.formats.get(tensor)
    }

    /// The extents of every result, once those of all index variables are known.
    pub(crate) fn result_extents(&self, number: usize) -> Result<Vec<u64>> {
        let statement = &self.program.statements[number];
        let mut extents = Vec::new();
        for var in &statement.lhs.vars {
            let data = &self.program.vars[*var];
            extents.push(data.extent.ok_or_else(|| {
                Diagnostic::new(
                    code::MISSING_EXTENT,
                    format!("the extent of `{}` is not known", data.name),
                )
                .at(&self.program.source, statement.lhs.span, "needed here")
                .help(format!("say it: `-d {}=…`", data.name))
            })?);
        }
        Ok(extents)
    }
}
