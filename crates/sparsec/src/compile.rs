//! From a program to kernels: the one pipeline.
//!
//! ```text
//! text ─► resolve ─┐
//! front ends ──────┴─► program ─► formats ─► plan ─► lower ─► passes ─► tiles
//! ```
//!
//! A [`Request`] is text, or a program that was built, with what is known of its tensors
//! by their names. [`compile_program`] is the same door for a program whose facts are data.

use std::collections::{BTreeMap, BTreeSet};

use sparsec_base::arena::Id;
use sparsec_base::{Diagnostic, Result, code};
use sparsec_format::{Format, Level, LevelKind};
use sparsec_graph::Formats;
use sparsec_index::{Program, Statement, TensorRole, TensorVar, gather};
use sparsec_loop::passes;
use sparsec_loop::passes::Division;
use sparsec_network::Answer;
use sparsec_plan::{Asked, Effort, Networks, Wanted, plan_program};
use sparsec_runtime::solver;
use sparsec_schedule::ProgramSchedule;

use crate::checked::Signature;
use crate::compiled::{Compiled, CompiledStatement};
use crate::conversion::costs;
use crate::extents;
use crate::facts::{self, Facts, Statistics};
use crate::figures;
use crate::request::{Inputs, Operands, Request};
use crate::widths::{self, Chosen, Known};

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
    compiled.tile(&extents, true);
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

/// What a caller decides in place of planning.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Commands to use in place of those that planning would choose; what they leave open
    /// is planned.
    pub schedule: Option<ProgramSchedule>,
    /// Whether floating-point numbers are computed with in the order of the program, as of
    /// [`Request::strict`].
    pub strict: bool,
    /// How much work makes a chunk of a parallel loop worth its while, as of
    /// [`Request::grain`].
    pub grain: u32,
    /// How often the kernels will run on the same operands, as of [`Request::runs`].
    pub runs: u32,
    /// The results that the caller reads, as of [`Request::results`].
    pub results: Option<BTreeSet<String>>,
    /// How products of several tensors are contracted.
    pub networks: Wanted,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            schedule: None,
            strict: false,
            grain: Division::default().grain,
            runs: 1,
            results: None,
            networks: Wanted::default(),
        }
    }
}

/// Compiles a program that a front end made, for tensors in these formats.
///
/// An input without a format is dense if it is a vector, `csr` if it is a matrix, and `csf`
/// if it has more modes. The format of a result follows from those of the operands where it
/// is not stated. Extents that the program does not know stay arguments of the kernels.
/// Facts that are missing are planned without.
///
/// ```
/// use std::collections::BTreeMap;
/// use sparsec::ElementType::F64;
/// use sparsec::internals::facts::{Facts, TensorFacts};
/// use sparsec::internals::index::Operator::{Add, Mul};
/// use sparsec::internals::index::ProgramBuilder;
/// use sparsec::internals::{Inputs, Policy, compile_program};
/// use sparsec::{Format, Session, Tensor};
///
/// let mut program = ProgramBuilder::new();
/// let y = program.result("y", 1)?;
/// let a = program.input("A", F64, &[None, None])?;
/// let x = program.input("x", F64, &[None])?;
/// let [i, j] = ["i", "j"].map(|name| program.var(name));
/// let product = [program.access(a, [i, j])?, program.access(x, [j])?];
/// let product = program.apply(&Mul, product)?;
/// let sum = program.reduce(&Add, [j], product)?;
/// program.assign(y, [i], sum)?;
///
/// let formats = BTreeMap::from([(a, Format::csr()), (y, Format::dense(1))]);
/// let mut facts = Facts::default();
/// facts.tensors.insert(a, TensorFacts { n_stored: Some(2), ..TensorFacts::default() });
/// let compiled = compile_program(&program.finish()?, &formats, &facts, &Policy::default())?;
///
/// let a = Tensor::builder("csr", &[2, 2])?.push([0, 1], 2.0).push([1, 0], 3.0).build()?;
/// let x = Tensor::dense(&[2], [10.0, 1.0])?;
/// let inputs = Inputs::from([("A".to_owned(), a), ("x".to_owned(), x)]);
/// let outcome = Session::interpreter().run(&compiled, &inputs)?;
/// assert_eq!(outcome.tensors["y"].values::<f64>(), Some(&[2.0, 30.0][..]));
/// # Ok::<(), sparsec::Error>(())
/// ```
///
/// # Errors
/// What [`Program::verify`](sparsec_index::Program::verify) says of the program, `E0202` for
/// a format of another order than its tensor, `E0207` for a format or facts of a tensor that
/// the program does not have; those of planning, with places in the program's text. A
/// program without text has that which it prints as.
pub fn compile_program(
    program: &Program,
    formats: &BTreeMap<TensorVar, Format>,
    facts: &Facts,
    policy: &Policy,
) -> Result<Compiled> {
    let mut resolved = program.clone();
    resolved.settle()?;
    for tensor in formats.keys().chain(facts.tensors.keys()) {
        if resolved.tensors.ids().all(|known| known != *tensor) {
            let message = format!("the program has no tensor `{tensor}`");
            return Err(Diagnostic::new(code::UNUSED_NAME, message)
                .help("state formats and facts of the program's own tensors"));
        }
    }
    for (tensor, format) in formats {
        let data = &resolved.tensors[*tensor];
        if format.order() != data.order() {
            let (name, order) = (&data.name, data.order());
            let message = format!(
                "`{name}` has order {order}, and its format {}",
                format.order()
            );
            return Err(Diagnostic::new(code::WRONG_ORDER, message)
                .at(&resolved.source, data.span, format!("of order {order}"))
                .help("state a format of the tensor's order"));
        }
    }
    let n_resolved = resolved.tensors.len();
    let stated = |program: &Program, tensor: TensorVar| {
        let own = formats.get(&tensor);
        // A temporary is a value of the result that it is a part of.
        let is_added = tensor.index() >= n_resolved;
        let whole = || program.tensors.named(program.tensors[tensor].source_name());
        let added = || formats.get(&whole()?);
        Ok(own.or_else(|| is_added.then(added).flatten()).cloned())
    };
    let statistics = facts::Named::new(&resolved, facts);
    let mut compiled = compile_task(&Task {
        resolved: &resolved,
        formats: &|program| {
            given_formats(
                program,
                &|tensor| stated(program, tensor),
                &Operands::new(),
                None,
            )
        },
        widths: &|program, statement, format| {
            let known = Known {
                extent: &|var| program.vars[var].extent,
                n_stored: &|name| statistics.most_entries(name),
            };
            widths::of_result(program, statement, format, known)
        },
        statistics: &statistics,
        policy,
    })?;
    let extents = extents::known(&compiled.program);
    compiled.tile(&extents, true);
    Ok(compiled)
}

/// As [`compile`], with what is settled already.
pub(crate) fn compile_for(
    request: &Request,
    inputs: &Operands<'_>,
    fixed: Option<&Fixed<'_>>,
) -> Result<Compiled> {
    let chosen = fixed.map(|fixed| &fixed.widths);
    let figures = fixed.and_then(|fixed| fixed.figures);
    let front = request.resolve(inputs, fixed.map(|it| &it.extents))?;
    let stated = |program: &Program, tensor: TensorVar| {
        // What is said of a name holds of every value that it gets.
        let data = &program.tensors[tensor];
        let spec = request.tensors.get(data.source_name());
        let spec = spec.and_then(|spec| spec.format.as_ref());
        spec.map(|spec| spec.levels(data.order())).transpose()
    };
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
    let given = facts::Stated { request, inputs };
    compile_task(&Task {
        resolved: &front.program,
        formats: &|program| {
            given_formats(program, &|tensor| stated(program, tensor), inputs, chosen)
        },
        widths: &widths,
        statistics: match &figures {
            Some(figures) => figures as &dyn Statistics,
            None => &given,
        },
        policy: &front.policy,
    })
}

/// A program, and what it is compiled by.
struct Task<'a> {
    resolved: &'a Program,
    /// The formats of tensors of the program whose statements assign whole tensors.
    formats: &'a dyn Fn(&Program) -> Result<Formats>,
    /// A result's format with widths.
    widths: &'a dyn Fn(&Program, &Statement, &Format) -> Format,
    statistics: &'a dyn Statistics,
    policy: &'a Policy,
}

/// The one pipeline behind every door.
fn compile_task(task: &Task<'_>) -> Result<Compiled> {
    let Policy {
        schedule,
        strict,
        grain,
        runs,
        results,
        networks: wanted,
    } = task.policy;
    let statistics = task.statistics;
    let resolved = task.resolved.clone();
    let (program, temporaries) = gather(&resolved)?;
    let mut formats = (task.formats)(&program)?;
    add_temporaries(&program, &temporaries, &mut formats);
    let known = costs::Known::default();
    let planned = plan_program(
        program,
        formats,
        Asked {
            schedule: schedule.as_ref(),
            reads: &|name| results.as_ref().is_none_or(|read| read.contains(name)),
            widths: task.widths,
            facts: sparsec_plan::Facts {
                assumed: &|_| None,
                counts: &|input| statistics.n_stored(input.source_name()),
                conversion: &|it| known.bytes_moved(it.from, it.to, it.extents, it.n_stored),
                scatter: &|name| statistics.scatter(name),
                mispredicted: &|merge| statistics.mispredicted(merge),
                evenness: &|name| statistics.evenness(name),
                segment: &|name| statistics.segment(name),
                squares: &|_, _| None,
                extents: &|name| statistics.extent(name),
                networks: Networks {
                    degrees: &|name, most| statistics.degrees(name, most),
                    wanted,
                    solver: &|system| Answer::parse(system, &solver::z3(&system.smt2())?),
                },
                strict: *strict,
                threads: &sparsec_parallel::threads,
                grain: *grain,
                effort: &Effort::default(),
                runs: *runs,
            },
        },
    )?;
    let division = Division {
        strict: *strict,
        grain: *grain,
    };
    let mut statements: Vec<CompiledStatement> = Vec::new();
    let results = planned.program.statements.iter().enumerate();
    let numbers: BTreeMap<TensorVar, usize> = results
        .map(|(number, it)| (it.lhs.tensor, number))
        .collect();
    for (number, plan) in planned.plans.into_iter().enumerate() {
        if let Some(first) = plan.computed_with {
            let first = statements[numbers[&first]].clone();
            statements.push(CompiledStatement { plan, ..first });
            continue;
        }
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
            lacks_fill: lacks_fill(&planned.program, number),
            plan,
            lowered,
            untiled: function.clone(),
            function,
            division,
        });
    }
    let mut compiled = Compiled {
        numbers,
        resolved,
        program: planned.program,
        formats: planned.formats,
        statements,
    };
    compiled.poll(&extents::known(&compiled.program));
    Ok(compiled)
}

/// The formats that are `stated`; for inputs, those of the tensors, with the widths that
/// their arrays have.
fn given_formats(
    program: &Program,
    stated: &dyn Fn(TensorVar) -> Result<Option<Format>>,
    inputs: &Operands<'_>,
    chosen: Option<&BTreeMap<String, Chosen>>,
) -> Result<Formats> {
    let mut formats = Formats::new();
    for (tensor, data) in program.tensors.iter() {
        let is_input = data.role == TensorRole::Input;
        let asked = stated(tensor)?;
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

/// Whether a statement computes the whole of a result that has no fill.
fn lacks_fill(program: &Program, number: usize) -> bool {
    let statement = &program.statements[number];
    let is_whole =
        statement.before.is_none() && statement.reduce.is_none() && !statement.is_partial();
    is_whole
        && statement
            .rhs
            .fill(&program.tensors, &program.vars)
            .is_none()
}
