//! One program on every engine, against the oracle.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sparsec::internals::index::{Expr, Program, WorkspaceKind};
use sparsec::internals::schedule::{Command, ProgramSchedule, Schedule};
use sparsec::internals::{
    Compiled, CompiledStatement, Inputs, Outcome, Request, compile, reference,
};
use sparsec::{
    Backend, Diagnostic, ElementType, Options, Session, Source, Tensor, UserFunction, code,
    parse_function,
};
use sparsec_base::Kind;

use super::huge;
use super::program::{Case, FUNCTIONS};
use super::spelling;
use super::tally::Tally;
use crate::reschedule::reschedule;
use crate::stages;

/// What runs programs.
pub(crate) struct Engines {
    functions: Vec<UserFunction>,
    interpreter: Session,
    cranelift: Session,
    c: Session,
    _cache: tempfile::TempDir,
}

impl Engines {
    pub(crate) fn new() -> Self {
        let cache = tempfile::tempdir().expect("a scratch directory");
        let mut environment = sparsec::internals::runtime::Environment::of_process();
        environment.cache_dir = Some(cache.path().into());
        let functions = FUNCTIONS.map(|text| parse_function(text).expect(text));
        Self {
            functions: functions.to_vec(),
            interpreter: Session::interpreter(),
            cranelift: Session::new(
                Options::from_env()
                    .backend(Backend::Cranelift)
                    .environment(environment.clone()),
            ),
            c: Session::new(
                Options::from_env()
                    .backend(Backend::C)
                    .environment(environment),
            ),
            _cache: cache,
        }
    }

    /// The functions that every program may call.
    pub(crate) fn functions(&self) -> &[UserFunction] {
        &self.functions
    }

    /// What the interpreter makes of a program; it panics where loops break a rule,
    /// and whoever reads of it wants the schedule too.
    fn interpret(
        &self,
        compiled: &Compiled,
        inputs: &Inputs,
    ) -> Result<sparsec::Result<Outcome>, String> {
        let run = || self.interpreter.run(compiled, inputs);
        catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            text.unwrap_or_else(|| "the interpreter panicked".into())
        })
    }

    /// Runs a compiled program on the interpreter and as code in memory, and as C
    /// if asked for.
    fn run(
        &self,
        compiled: &Compiled,
        inputs: &Inputs,
        as_c: bool,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let interpreted = self.interpret(compiled, inputs)?;
        let generated = self.cranelift.run(compiled, inputs);
        same_bits(compiled, &interpreted, &generated)
            .map_err(|why| format!("by Cranelift: {why}"))?;
        agrees(compiled, inputs, interpreted, tally)?;
        if as_c {
            let ran = self.c.run(compiled, inputs);
            same_bits(compiled, &generated, &ran).map_err(|why| format!("as C: {why}"))?;
            agrees(compiled, inputs, ran, tally).map_err(|why| format!("as C: {why}"))?;
            tally.as_c += compiled.statements().len();
        }
        Ok(())
    }
}

/// Runs one program everywhere.
///
/// # Errors
/// What went wrong, in words.
pub(crate) fn check(
    case: &Case,
    engines: &Engines,
    as_c: bool,
    tally: &mut Tally,
) -> Result<(), String> {
    if case.is_large() {
        tally.large += 1;
        return Ok(());
    }
    let (request, inputs) = case.request(&engines.functions);
    spelling::check_explicit(&case.written(), &request, &inputs)?;
    let compiled = match compile(&request, &inputs) {
        Ok(compiled) => compiled,
        Err(error) if error.code().as_str().starts_with("E03") => {
            return Err(format!("planning refuses it:\n{error}"));
        }
        Err(error) if error.code().as_str().starts_with("E02") => {
            tally.count(&error);
            tally.meaningless += 1;
            return Ok(());
        }
        Err(error) => return Err(error.to_string()),
    };
    if case.is_huge() && huge::visits_everything(&compiled) {
        tally.large += 1;
        return Ok(());
    }
    stages::schedule_suffices(&request, &inputs, &compiled)?;
    let kinds = [
        WorkspaceKind::Hashed,
        WorkspaceKind::Bitmap,
        WorkspaceKind::Marked,
    ];
    // Arrays over huge extents do not fit.
    let kinds = &kinds[..if case.is_huge() { 1 } else { kinds.len() }];
    let kinds = kinds.iter();
    let others = kinds.filter_map(|kind| with_workspaces(*kind, &request, &inputs, &compiled));
    let others: Vec<Compiled> = others.collect();
    tally.hashed += usize::from(!others.is_empty());
    for compiled in [&compiled].into_iter().chain(&others) {
        engines.run(compiled, &inputs, as_c, tally).map_err(|why| {
            let schedules = compiled.statements().iter();
            let schedules: Vec<String> = schedules.map(|it| it.plan.schedule.to_string()).collect();
            format!("planned as\n{}\n{why}", schedules.join("\n"))
        })?;
    }
    tally.agreed += 1;
    match case.is_huge() {
        // A changed plan may have loops and workspaces of any size.
        true => {
            tally.huge += 1;
            Ok(())
        }
        false => {
            let number = case.steps[0].0;
            spelling::check_respelled(number, &request, &inputs, &engines.interpreter)?;
            tally.respelled += 1;
            check_rescheduled(case, &compiled, engines, as_c, tally)
        }
    }
}

/// Runs a program once more by a plan that is changed, and by commands alone,
/// which planning completes.
fn check_rescheduled(
    case: &Case,
    planned: &Compiled,
    engines: &Engines,
    as_c: bool,
    tally: &mut Tally,
) -> Result<(), String> {
    let changed = with_plans(planned, &|number, statement| {
        let plan = &statement.plan;
        let naive = planned.naive(number);
        let start = plan.schedule.apply(&naive).ok()?;
        let result = plan.formats.of(plan.concrete.result);
        let steps = &case.steps[number % case.steps.len()..];
        reschedule(&plan.schedule, &start, result, steps)
    });
    let alone = with_plans(planned, &|number, statement| {
        let plan = &statement.plan;
        let naive = planned.naive(number);
        let result = plan.formats.of(plan.concrete.result);
        let steps = &case.steps[number % case.steps.len()..];
        let alone = reschedule(&Schedule::default(), &naive, result, steps);
        Some(alone.unwrap_or_default())
    });
    for schedule in [changed, alone].into_iter().flatten() {
        check_scheduled(case, &schedule, engines, as_c, tally)?;
    }
    Ok(())
}

/// The plan of a program with what `change` makes of the commands for statements;
/// `None` where that is the same.
fn with_plans(
    planned: &Compiled,
    change: &dyn Fn(usize, &CompiledStatement) -> Option<Schedule>,
) -> Option<String> {
    let named = || planned.schedules().into_iter();
    let text = |schedules: Vec<Schedule>| match planned.statements() {
        [_] => schedules[0].to_string(),
        _ => {
            let names = named().map(|(names, _)| names);
            ProgramSchedule::of_plans(names.zip(&schedules)).to_string()
        }
    };
    let known = named().map(|(_, schedule)| schedule.clone());
    let changed = planned.kernels().map(|number| {
        let statement = &planned.statements()[number];
        change(number, statement).unwrap_or_else(|| statement.plan.schedule.clone())
    });
    let (known, changed) = (text(known.collect()), text(changed.collect()));
    (known != changed).then_some(changed)
}

fn check_scheduled(
    case: &Case,
    schedule: &str,
    engines: &Engines,
    as_c: bool,
    tally: &mut Tally,
) -> Result<(), String> {
    let (mut request, inputs) = case.request(&engines.functions);
    request.schedule = Some(Source::new("schedule", schedule));
    let fail = |why: String| format!("scheduled by\n{schedule}\n{why}");
    let compiled = match compile(&request, &inputs) {
        Ok(compiled) => compiled,
        Err(error) if error.code().as_str().starts_with("E03") => {
            tally.count(&error);
            tally.unscheduled += 1;
            return Ok(());
        }
        Err(error) => return Err(fail(error.to_string())),
    };
    stages::schedule_suffices(&request, &inputs, &compiled).map_err(fail)?;
    engines.run(&compiled, &inputs, as_c, tally).map_err(fail)?;
    tally.rescheduled += 1;
    Ok(())
}

/// The same program with the plan that it got, but for workspaces, which are of this kind
/// wherever they can be.
fn with_workspaces(
    wanted: WorkspaceKind,
    request: &Request,
    inputs: &Inputs,
    compiled: &Compiled,
) -> Option<Compiled> {
    let schedule = with_plans(compiled, &|_, statement| {
        let mut schedule = statement.plan.schedule.clone();
        for command in &mut schedule.0 {
            if let Command::Precompute { vars, kind, .. } = command
                && !vars.is_empty()
            {
                *kind = Some(wanted);
            }
        }
        Some(schedule)
    });
    let mut request = request.clone();
    request.schedule = Some(Source::new("schedule", schedule?));
    compile(&request, inputs).ok()
}

/// Compares a run with the oracle, statement by statement: a temporary is read
/// as it was stored, padding included.
fn agrees(
    compiled: &Compiled,
    inputs: &Inputs,
    ran: sparsec::Result<Outcome>,
    tally: &mut Tally,
) -> Result<(), String> {
    let program = compiled.resolved();
    let mut known = Inputs::new();
    for (_, data) in program.tensors.iter() {
        if let Some(given) = inputs.get(data.source_name()) {
            known.insert(data.name.clone(), given.clone());
        }
    }
    for (number, statement) in program.statements.iter().enumerate() {
        let name = &program.tensors[statement.lhs.tensor].name;
        let expected = match is_huge(program) {
            true => {
                reference::evaluate_statement_within(program, number, &known, huge::MOST_POINTS)
            }
            false => reference::dense::evaluate_statement(program, number, &known),
        };
        let tensor = match (&ran, expected) {
            (Ok(outcome), Ok(expected)) => {
                let tensor = outcome.value(name).expect("a run has every result");
                let difference = match is_exact(program) && !is_huge(program) {
                    true => reference::compare_exact(&expected, tensor),
                    false => reference::compare(&expected, tensor),
                };
                if let Some(difference) = difference {
                    return Err(format!("{name}: {difference}"));
                }
                tensor
            }
            (Err(found), Err(wanted)) if fail_alike(found, &wanted) => {
                tally.count(found);
                tally.stopped += 1;
                return Ok(());
            }
            (Err(found), Ok(expected)) if overflows(found, expected.extents()) => {
                tally.count(found);
                tally.stopped += 1;
                return Ok(());
            }
            // There the kernel looks at fewer points than the oracle.
            (_, Err(wanted)) if wanted.code() == code::TOO_MANY_POINTS => return Ok(()),
            (Ok(_), Err(wanted)) if may_be_decided(program, &wanted) => {
                tally.count(&wanted);
                tally.stopped += 1;
                return Ok(());
            }
            (Ok(_), Err(wanted)) => return Err(format!("ran, but the oracle says\n{wanted}")),
            // A later statement may be what failed.
            (Err(_), Ok(_)) if number + 1 < program.statements.len() => return Ok(()),
            (Err(found), _) => return Err(found.to_string()),
        };
        known.insert(name.clone(), tensor.clone());
    }
    Ok(())
}

/// Whether a value that fails may be one that nothing needs: an infinity that is not stored decides
/// a sum whatever the rest is. The oracle looks at the rest if its fill fails too.
fn may_be_decided(program: &Program, wanted: &Diagnostic) -> bool {
    let fills = program.tensors.iter().map(|(_, data)| data.fill);
    let mut floats = fills.filter(|fill| fill.element().is_float());
    is_of_values(wanted) && floats.any(|fill| fill.to_f64().is_infinite())
}

/// Whether two runs end for one reason: where several values fail, the order of the loops
/// says which one is met first.
pub(super) fn fail_alike(one: &Diagnostic, other: &Diagnostic) -> bool {
    one.code() == other.code() || is_of_values(one) && is_of_values(other)
}

/// Whether an error is one of values, which kernels leave with.
fn is_of_values(error: &Diagnostic) -> bool {
    let of_values = [
        code::NEGATIVE_POWER,
        code::DIVISION_BY_ZERO,
        code::CAST_OUT_OF_RANGE,
    ];
    of_values.contains(&error.code())
}

/// Whether a result of these extents may be more than narrow index arrays hold,
/// and that is the error.
fn overflows(found: &Diagnostic, extents: &[u64]) -> bool {
    let is_width = [code::INDEX_WIDTH_OVERFLOW, code::WIDTH_OVERFLOW].contains(&found.code());
    is_width && extents.iter().product::<u64>() > 255
}

/// Whether two engines gave the same arrays or failed alike.
fn same_bits(
    compiled: &Compiled,
    one: &sparsec::Result<Outcome>,
    other: &sparsec::Result<Outcome>,
) -> Result<(), String> {
    let (one, other) = match (one, other) {
        (Ok(one), Ok(other)) => (one, other),
        (Err(one), Err(other)) if one.code() == other.code() => return Ok(()),
        (_, Err(error)) => return Err(error.to_string()),
        (Err(error), _) => return Err(format!("ran, where the interpreter says\n{error}")),
    };
    let program = compiled.resolved();
    for statement in &program.statements {
        let name = &program.tensors[statement.lhs.tensor].name;
        let [one, other] = [one, other].map(|outcome| outcome.value(name));
        let arrays = [one, other].map(|tensor| tensor.map_or(&[][..], Tensor::arrays));
        if arrays[0].len() != arrays[1].len() {
            return Err(format!("{name} has other arrays"));
        }
        for (place, (a, b)) in arrays[0].iter().zip(arrays[1]).enumerate() {
            let differs = |at: &usize| {
                let (a, b) = (a.get(*at), b.get(*at));
                let (x, y) = (a.to_c128(), b.to_c128());
                let same = |x: f64, y: f64| x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan();
                let has_nan = x.re.is_nan() || x.im.is_nan();
                a != b && !(has_nan && same(x.re, y.re) && same(x.im, y.im))
            };
            // Only of one NaN or another IEEE leaves open which it is.
            let first = match a == b {
                true => None,
                false => (0..a.len().min(b.len())).find(differs),
            };
            if a.len() != b.len() || first.is_some() {
                return Err(format!(
                    "array {place} of {name} is {b:?}, which the interpreter has as {a:?}"
                ));
            }
        }
    }
    Ok(())
}

/// Whether some variable has an extent that the dense oracle would never come
/// to the end of.
fn is_huge(program: &Program) -> bool {
    let mut extents = program.vars.iter().map(|(_, data)| data.extent);
    extents.any(|extent| extent.is_some_and(|extent| extent >= huge::FROM))
}

/// Whether no engine rounds, so that all have the same bits: not where integers
/// that wrapped below zero become large floats.
fn is_exact(program: &Program) -> bool {
    let mut elements: Vec<ElementType> = Vec::new();
    elements.extend(program.tensors.iter().map(|(_, data)| data.element));
    for statement in &program.statements {
        let _ = statement.rhs.map_parts(&mut |part| {
            elements.extend(match part {
                Expr::Cast(element, _) => Some(*element),
                _ => None,
            });
            None
        });
    }
    let is_unsigned = |element: &ElementType| element.kind() == Kind::Unsigned;
    !elements.iter().any(is_unsigned) || elements.iter().all(is_unsigned)
}
