//! From a request to kernels: the one pipeline.
//!
//! ```text
//! parse ─► resolve ─► formats ─► plan ─► lower ─► passes ─► tiles
//! ```

use std::collections::{BTreeMap, BTreeSet};

use sparsec_base::{Diagnostic, Result, code};
use sparsec_format::{Format, Level, LevelKind};
use sparsec_graph::Formats;
use sparsec_index::{Program, Statement, TensorRole, TensorVar, gather};
use sparsec_loop::passes::Division;
use sparsec_loop::{Function, Var, passes};
use sparsec_notation::Notation;
use sparsec_plan::{Asked, Facts, Plan, plan_program};
use sparsec_schedule::ProgramSchedule;

use sparsec_tensor::Tensor;

use crate::checked::Signature;
use crate::conversion::costs;
use crate::extents::{self, Extents};
use crate::figures;
use crate::memory::argument_extent;
use crate::request::{Inputs, Operands, Request};
use crate::widths::{self, Chosen, Known};

/// A program with a kernel for each of its statements.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub(crate) notation: Notation,
    /// The program as the user wrote it, before statements were split.
    pub(crate) resolved: Program,
    pub(crate) program: Program,
    pub(crate) formats: Formats,
    pub(crate) statements: Vec<CompiledStatement>,
    /// The number of the statement that computes each result.
    numbers: BTreeMap<TensorVar, usize>,
}

/// The results of a run by name.
#[derive(Debug, Default)]
pub(crate) struct Named {
    /// The last value of each name that is assigned.
    pub(crate) last: BTreeMap<String, Tensor>,
    /// The values that names had before, as stages call them.
    pub(crate) earlier: BTreeMap<String, Tensor>,
}

/// One statement with its plan and its kernel.
#[derive(Clone, Debug)]
pub struct CompiledStatement {
    /// How the statement is computed.
    pub plan: Plan,
    /// The kernel as it was lowered.
    pub lowered: Function,
    /// The kernel after the passes that look at nothing else.
    pub untiled: Function,
    /// The kernel after all passes: with tiles for rows whose extents are known.
    pub function: Function,
    /// How its loops are divided among threads.
    pub division: Division,
    /// What its kernels may be launched on.
    pub(crate) signature: Signature,
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
    let mut compiled = compile_for(request, &operands(inputs), None)?;
    let extents = extents::known(&compiled.program);
    compiled.tile(&extents);
    Ok(compiled)
}

/// The same tensors, borrowed.
pub(crate) fn operands(inputs: &Inputs) -> Operands<'_> {
    let named = inputs.iter();
    named
        .map(|(name, tensor)| (name.as_str(), tensor))
        .collect()
}

/// What is settled before a program is compiled for operands that are not there.
#[derive(Debug)]
pub(crate) struct Fixed<'a> {
    /// The widths of index arrays, by the names of tensors in the program.
    pub(crate) widths: BTreeMap<String, Chosen>,
    /// The extents of operands, by their names in the source; none where kernels
    /// take extents as arguments.
    pub(crate) extents: BTreeMap<String, Vec<u64>>,
    /// What choices are made by; `None` for those of a kernel without operands.
    pub(crate) figures: Option<figures::Named<'a>>,
}

/// As [`compile`], with what is settled already.
pub(crate) fn compile_for(
    request: &Request,
    inputs: &Operands<'_>,
    fixed: Option<&Fixed<'_>>,
) -> Result<Compiled> {
    let chosen = fixed.map(|fixed| &fixed.widths);
    let figures = fixed.and_then(|fixed| fixed.figures);
    let notation = request.notation()?;
    let schedule = request.schedule.as_ref();
    let functions = notation.functions();
    let schedule = schedule.map(|text| ProgramSchedule::parse_with(text, &functions));
    let schedule = schedule.transpose()?;
    let declarations = request.declarations(&notation, inputs, fixed.map(|it| &it.extents));
    let resolved = notation.resolve(&declarations)?;
    let (program, temporaries) = gather(&resolved)?;
    let mut formats = given_formats(&program, request, inputs, chosen)?;
    add_temporaries(&program, &temporaries, &mut formats);
    let widths = |program: &Program, statement: &Statement, format: &Format| match chosen {
        Some(chosen) => {
            let name = &program.tensors[statement.lhs.tensor].name;
            chosen.get(name).map_or(format.clone(), |widths| {
                format.clone().with_widths(widths.own)
            })
        }
        None => {
            let known = Known {
                extent: &|var| program.vars[var].extent,
                n_stored: &|name| inputs.get(name).map(|tensor| tensor.most_entries()),
            };
            widths::of_result(program, statement, format, known)
        }
    };
    let known = costs::Known::default();
    let planned = plan_program(
        program,
        formats,
        Asked {
            schedule: schedule.as_ref(),
            widths: &widths,
            facts: Facts {
                counts: &|input| match figures {
                    Some(figures) => figures.n_stored(input.source_name()),
                    None => {
                        let tensor = inputs.get(input.source_name());
                        tensor.map(|tensor| tensor.n_stored() as u64)
                    }
                },
                conversion: &|it| known.bytes_moved(it.from, it.to, it.extents, it.n_stored),
                scatter: &|name| match figures {
                    Some(figures) => figures.scatter(name),
                    None => inputs.get(name)?.scatter(),
                },
                mispredicted: &|merge| match figures {
                    Some(figures) => figures.mispredicted(merge),
                    None => figures::mispredicted(merge, inputs),
                },
                evenness: &|name| match figures {
                    Some(figures) => figures.evenness(name),
                    None => inputs.get(name)?.evenness(),
                },
                segment: &|name| match figures {
                    Some(figures) => figures.segment(name),
                    None => inputs.get(name)?.segment(),
                },
                extents: &|name| figures?.extent(name),
                strict: request.strict,
                threads: &sparsec_parallel::threads,
                grain: request.grain,
            },
        },
    )?;
    let division = Division {
        strict: request.strict,
        grain: request.grain,
    };
    let mut statements = Vec::new();
    for (number, plan) in planned.plans.into_iter().enumerate() {
        let name = format!(
            "compute_{}",
            plan.concrete.tensors[plan.concrete.result].name
        );
        let lowered = sparsec_lower::lower(&name, &plan.concrete, &plan.formats)?;
        let mut function = passes::optimize(lowered.clone(), &mut |_, _| {});
        passes::divide(&mut function, division);
        if !division.strict {
            passes::lanes(&mut function);
        }
        statements.push(CompiledStatement {
            signature: Signature::of(&planned.program, number, &plan, &lowered),
            plan,
            lowered,
            untiled: function.clone(),
            function,
            division,
        });
    }
    let results = planned.program.statements.iter().enumerate();
    let mut compiled = Compiled {
        numbers: results
            .map(|(number, it)| (it.lhs.tensor, number))
            .collect(),
        notation,
        resolved,
        program: planned.program,
        formats: planned.formats,
        statements,
    };
    compiled.poll(&extents::known(&compiled.program));
    Ok(compiled)
}

/// The formats that the request states; for inputs, those of the tensors, with
/// the widths that their arrays have.
fn given_formats(
    program: &Program,
    request: &Request,
    inputs: &Operands<'_>,
    chosen: Option<&BTreeMap<String, Chosen>>,
) -> Result<Formats> {
    let mut formats = Formats::new();
    for (tensor, data) in program.tensors.iter() {
        // What is said of a name holds of every value that it gets.
        let is_input = data.role == TensorRole::Input;
        let spec = request.tensors.get(data.source_name());
        let spec = spec.and_then(|spec| spec.format.as_ref());
        let asked = spec.map(|spec| spec.levels(data.order())).transpose()?;
        let input = inputs.get(data.source_name()).filter(|_| is_input);
        let format = match (is_input, asked, input) {
            (true, Some(asked), Some(input)) => widths::of_input(&asked, input),
            (true, None, Some(input)) => widths::of_input(input.format(), input),
            (_, Some(asked), _) => asked,
            (true, None, None) => default_input_format(data.order()),
            (false, None, _) => continue,
        };
        let chosen = chosen.and_then(|chosen| chosen.get(&data.name).copied());
        if format.is_native() {
            formats.set(
                tensor,
                match chosen {
                    Some(widths) => format.with_widths(widths.own),
                    None => format,
                },
            );
            continue;
        }
        // Kernels see another tensor, whose widths are its own.
        let entries = input.map(|input| widths::of_entries(input));
        let widths = chosen.map(|widths| widths.nearest).or(entries);
        let nearest = format.nearest().with_widths(widths.unwrap_or_default());
        let format = match chosen {
            Some(widths) if widths::is_read(&format) => format.with_widths(widths.own),
            _ => format,
        };
        formats.set(tensor, format);
        formats.set_native(tensor, nearest);
    }
    Ok(formats)
}

/// Gives each temporary with what is assigned to part of a result a format: where the
/// result is sparse, one that stores what is assigned and no more.
fn add_temporaries(
    program: &Program,
    temporaries: &[(TensorVar, TensorVar)],
    formats: &mut Formats,
) {
    let is_sparse = |value| formats.get(value).is_some_and(|it| !it.is_all_dense());
    let values = program.tensors.iter();
    let sparse = values.filter(|(value, _)| is_sparse(*value));
    let mut sparse: BTreeSet<&str> = sparse.map(|(_, data)| data.source_name()).collect();
    for &(temporary, result) in temporaries {
        if !sparse.contains(program.tensors[result].source_name()) {
            continue;
        }
        sparse.insert(program.tensors[temporary].source_name());
        let order = program.tensors[temporary].order();
        let levels = (0..order).map(|mode| Level::new(mode, LevelKind::Compressed));
        let format = Format::from_levels(levels.collect());
        formats.set(
            temporary,
            format.expect("compressed levels stand in any order"),
        );
    }
}

/// The format of an input of which nothing is said: a matrix is `csr`, a
/// tensor `csf`, a vector or scalar dense.
pub(crate) fn default_input_format(order: usize) -> Format {
    match order {
        0 | 1 => Format::dense(order),
        2 => Format::csr(),
        _ => Format::csf(order),
    }
}

impl Compiled {
    /// The widths of the tiles that [`Compiled::tile`] would give rows, statement after
    /// statement.
    pub(crate) fn tile_widths(&self, extents: &Extents) -> Vec<Option<i64>> {
        let mut widths = Vec::new();
        for (number, statement) in self.statements.iter().enumerate() {
            for (var, element) in passes::tiled_rows(&statement.untiled) {
                let extent = self.row_extent(number, extents, var);
                widths.push(extent.and_then(|extent| passes::tile_width(extent, element)));
            }
        }
        widths
    }

    /// Keeps rows in tiles where it is known how far index variables run. Kernels stay
    /// right for operands of other extents.
    pub(crate) fn tile(&mut self, extents: &Extents) {
        for number in 0..self.statements.len() {
            let mut function = self.statements[number].untiled.clone();
            passes::tile(&mut function, &|var| self.row_extent(number, extents, var));
            self.statements[number].function = function;
        }
        self.poll(extents);
    }

    /// Has long loops ask whether anybody still waits, where index variables run that far.
    fn poll(&mut self, extents: &Extents) {
        for number in 0..self.statements.len() {
            let mut function = self.statements[number].function.clone();
            passes::polls(&mut function, &|var| {
                argument_extent(self, number, extents, var)
            });
            self.statements[number].function = function;
        }
    }

    /// How far the index variable runs that a mode of an argument is accessed with.
    fn row_extent(&self, number: usize, extents: &Extents, var: Var) -> Option<u64> {
        let mut arguments = self.statements[number].untiled.arguments.iter();
        let (argument, mode) = arguments.find_map(|argument| {
            let mode = argument.extents.iter().position(|extent| *extent == var)?;
            Some((argument, mode))
        })?;
        let statement = &self.program.statements[number];
        let mut accesses = statement.rhs.accesses();
        accesses.push(&statement.lhs);
        // A tensor that is seen as that of its levels has other modes.
        accesses.retain(|access| {
            let name = &self.program.tensors[access.tensor].name;
            *name == argument.name && access.indices.len() == argument.extents.len()
        });
        accesses
            .iter()
            .find_map(|access| extents[access.indices[mode].as_var()?])
    }

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

    /// The number of the statement that computes the tensor `name`.
    pub(crate) fn computed_by(&self, name: &str) -> Option<usize> {
        let tensor = self.program.tensors.named(name)?;
        self.numbers.get(&tensor).copied()
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
        let tensor = self.program.tensors.named(name)?;
        self.formats.get(tensor)
    }

    /// Results in the order of statements by name: the last value of each name
    /// that the source assigns, and the earlier ones; temporaries are left out.
    pub(crate) fn named(&self, results: Vec<Tensor>) -> Named {
        let mut named = Named::default();
        for (name, tensor) in self.results().into_iter().zip(results) {
            let Some(written) = self.resolved.tensors.named(name) else {
                continue;
            };
            let values = match self.resolved.tensors[written].earlier_of {
                Some(_) => &mut named.earlier,
                None => &mut named.last,
            };
            values.insert(name.to_owned(), tensor);
        }
        named
    }

    /// The extents of a statement's result, given those of the index variables.
    pub(crate) fn result_extents(&self, number: usize, extents: &Extents) -> Result<Vec<u64>> {
        let statement = &self.program.statements[number];
        let mut found = Vec::new();
        for var in statement.lhs.vars() {
            found.push(extents[var].ok_or_else(|| {
                let name = &self.program.vars[var].name;
                Diagnostic::new(
                    code::MISSING_EXTENT,
                    format!("the extent of `{name}` is not known"),
                )
                .at(&self.program.source, statement.lhs.span, "needed here")
                .help(format!(
                    "say it: `.extent(\"{name}\", …)` in Rust, `-d {name}=…` on the command line"
                ))
            })?);
        }
        Ok(found)
    }
}
