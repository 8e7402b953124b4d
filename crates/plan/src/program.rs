//! Planning all statements of a program, and splitting those that no schedule
//! makes lowerable ([`split`](crate::split)).

use std::collections::{BTreeMap, BTreeSet};

use sparsec_base::{Diagnostic, Result, code};
use sparsec_format::{Format, Widths};
use sparsec_graph::Formats;
use sparsec_index::{Expr, Program, Statement, TensorData, TensorRole, concretize};
use sparsec_schedule::{ProgramSchedule, Schedule};

use crate::fills::Fills;
use crate::formats::default_result_format;
use crate::lanes::lanes;
use crate::merges::{gallop, select};
use crate::prefetch::prefetch;
use crate::refused;
use crate::search::{Conversions, Facts, Plan, Size, plan};
use crate::split::{first_reduction, split};
use crate::threads::parallelize;
use crate::unroll::unroll;
use crate::waste::is_wasteful;
use crate::ways::Ways;
use crate::wishes::Wishes;

/// A program with a plan for each of its statements.
#[derive(Clone, Debug)]
pub struct ProgramPlan {
    /// The program, with statements split where that was needed.
    pub program: Program,
    /// The format of every tensor of the program.
    pub formats: Formats,
    /// The plan of each statement.
    pub plans: Vec<Plan>,
}

/// What is asked of a plan, and what it has to go by.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The commands of the user; what they leave open is planned.
    pub schedule: Option<&'a ProgramSchedule>,
    /// How wide the index arrays of a result are to be.
    pub widths: &'a dyn Fn(&Program, &Statement, &Format) -> Format,
    /// What choices are made by.
    pub facts: Facts<'a>,
}

/// Plans a program whose inputs all have formats. Results without one get
/// that of [`default_result_format`].
///
/// A statement of the user that has to be split keeps the commands that name what
/// is left in it; a part of it gets those that name what went there.
///
/// # Errors
/// Why a statement cannot be lowered, for the first that cannot, at the command of the
/// schedule that is the reason; `E0310` and `E0360` for a schedule that does not say for
/// which statements its commands are.
pub fn plan_program(program: Program, formats: Formats, asked: Asked<'_>) -> Result<ProgramPlan> {
    let Some(schedule) = asked.schedule else {
        return planned(program, formats, asked);
    };
    planned(program.clone(), formats.clone(), asked).map_err(|error| {
        let loops = program.vars.iter().map(|(_, data)| data.name.as_str());
        let loops: Vec<&str> = loops.collect();
        refused::explained(error, schedule, &loops, &|other| {
            let asked = Asked {
                schedule: Some(other),
                ..asked
            };
            planned(program.clone(), formats.clone(), asked).is_ok()
        })
    })
}

/// As [`plan_program`], with errors as the statement that cannot be lowered has them.
fn planned(mut program: Program, mut formats: Formats, asked: Asked<'_>) -> Result<ProgramPlan> {
    let Asked {
        schedule,
        widths,
        facts,
    } = asked;
    let said = schedule.map(|schedule| schedule.deal(&program));
    let mut wishes = Wishes::new(&program, said.transpose()?);
    // Those to come, apart: a statement that is split moves none of them.
    let mut to_come = std::mem::take(&mut program.statements).into_iter();
    let mut plans = Vec::new();
    let given = facts;
    // How many entries results are thought to store, where operands are counted.
    let mut stored: BTreeMap<String, u64> = BTreeMap::new();
    // The right side whose sum was taken apart when it could not be planned, and of
    // which statement.
    let mut is_apart: Option<(usize, Expr)> = None;
    loop {
        let number = plans.len();
        if number == program.statements.len() {
            let Some(next) = to_come.next() else { break };
            program.statements.push(next);
            wishes.begin_next();
        }
        if let Some(plan) = plans.last().filter(|plan: &&Plan| plan.account.is_counted) {
            let result = program.statements[number - 1].lhs.tensor;
            let name = program.tensors[result].name.clone();
            stored.insert(name, plan.account.entries.ceil() as u64);
        }
        let counts = |tensor: &TensorData| match tensor.role {
            TensorRole::Input => (given.counts)(tensor),
            TensorRole::Result => stored.get(&tensor.name).copied(),
            TensorRole::Workspace => None,
        };
        let facts = Facts {
            counts: &counts,
            ..given
        };
        let written = program.statements[number].rhs.clone();
        let fills = fills_of(&program, &formats, facts);
        // Nobody who schedules the statement as a whole has its parts in mind.
        let names_none = wishes.commands(number).is_some() && wishes.part(number).is_none();
        let wants_names = !names_none && fills.wants_names(number);
        let taken = fills.taken(&written);
        let statement = &program.statements[number];
        let result = statement.lhs.tensor;
        let format = match formats.get(result) {
            Some(format) => format.clone(),
            None => default_result_format(&program, statement, &formats),
        };
        if format.is_assembled() {
            formats.set(result, widths(&program, statement, &format));
        } else {
            // Widths of what the kernel assembles; the conversion chooses others.
            let nearest = format.nearest().with_widths(Widths::default());
            let nearest = widths(&program, statement, &nearest);
            // Later statements may read its arrays as they are.
            let format = match format.is_native() {
                true => widths(&program, statement, &format),
                false => format,
            };
            formats.set(result, format);
            formats.set_native(result, nearest);
        }
        if !wants_names {
            program.statements[number].rhs.clone_from(&taken);
        }
        if let Some(part) = wishes.part(number) {
            let part = match split(&mut program, number, &mut formats) {
                Some(()) => wishes.split_as_said(&program, number),
                None => Err(part.clone()),
            };
            if let Err(part) = part {
                program.statements.extend(to_come);
                return Err(part.unknown(&program));
            }
            continue;
        }
        if wants_names && split(&mut program, number, &mut formats).is_some() {
            wishes.split(&program, number);
            continue;
        }
        program.statements[number].rhs.clone_from(&taken);
        let wished = wishes.commands(number).map(|wish| match wish.is_whole {
            true => (wish.commands.clone(), None),
            false => {
                let (fitting, used) = fitting(&program, number, wish.commands);
                (fitting, Some(used))
            }
        });
        // A part that no command is for is planned as if nothing were said.
        if let Some((fitting, used)) = wished.filter(|(fitting, _)| !fitting.0.is_empty()) {
            let whole = is_apart.as_ref().filter(|(of, _)| *of == number);
            let ways = Ways::of(
                fills_of(&program, &formats, facts),
                whole.map(|(_, rhs)| rhs),
                &taken,
                &written,
            );
            let planned = ways.plan(&mut program, number, &formats, &fitting, facts);
            match planned {
                Ok(plan) => {
                    wishes.fulfilled(number, used);
                    let naive = concretize(&program, number);
                    plans.push(plan.with_estimates(&naive, facts));
                }
                Err(error) if !may_split(&error) => return Err(error),
                Err(error) => {
                    program.statements[number].rhs = taken;
                    let error = wishes.refused(number, error);
                    part(&mut program, number, &mut formats, &mut is_apart).ok_or(error)?;
                    wishes.split(&program, number);
                }
            }
            continue;
        }
        // A temporary costs what it holds, a conversion sorts an operand: a
        // reduction gets a statement of its own before operands are converted.
        let conversions = match first_reduction(&program.statements[number].rhs, true) {
            Some(_) => Conversions::None,
            None => Conversions::Any,
        };
        let small = |conversions| plan(&program, number, &formats, conversions, Size::Small, facts);
        let cost = |plan: &Plan| plan.account.considered.first().map(|it| it.cost);
        let planned = match small(conversions) {
            // Unless loops go a long way for nothing.
            Ok(kept) if cost(&kept).is_some_and(|cost| cost.traffic > 0) => {
                let converted = small(Conversions::Any);
                let better = converted.ok().filter(|it| cost(it) < cost(&kept));
                better.unwrap_or(kept)
            }
            Ok(plan) => plan,
            Err(error) => {
                if part(&mut program, number, &mut formats, &mut is_apart).is_some() {
                    wishes.split(&program, number);
                    continue;
                }
                if error.code() != code::MERGE_TOO_LARGE {
                    return Err(error);
                }
                plan(&program, number, &formats, conversions, Size::Any, facts)?
            }
        };
        if is_wasteful(&planned, facts)
            && part(&mut program, number, &mut formats, &mut is_apart).is_some()
        {
            wishes.split(&program, number);
            continue;
        }
        // What its parts are converted to may be all that the whole was lacking.
        let planned = match is_apart.as_ref().filter(|(of, _)| *of == number) {
            None => planned,
            Some((_, whole)) => {
                let ways = Ways::of(
                    fills_of(&program, &formats, facts),
                    Some(whole),
                    &taken,
                    &written,
                );
                let again = ways.plan(&mut program, number, &formats, &planned.schedule, facts);
                again.unwrap_or_else(|_| {
                    program.statements[number].rhs = taken;
                    planned
                })
            }
        };
        let planned = lanes(parallelize(gallop(planned, facts), facts), facts);
        let planned = unroll(prefetch(select(planned, facts), facts), facts);
        let naive = concretize(&program, number);
        plans.push(planned.with_estimates(&naive, facts));
    }
    wishes.all_fulfilled()?;
    Ok(ProgramPlan {
        program,
        formats,
        plans,
    })
}

fn fills_of<'a>(program: &'a Program, formats: &'a Formats, facts: Facts<'_>) -> Fills<'a> {
    Fills {
        program,
        formats,
        strict: facts.strict,
    }
}

/// Splits a statement, and keeps its right side where only the sum in it is taken apart.
fn part(
    program: &mut Program,
    number: usize,
    formats: &mut Formats,
    is_apart: &mut Option<(usize, Expr)>,
) -> Option<()> {
    let n_statements = program.statements.len();
    let whole = program.statements[number].rhs.clone();
    split(program, number, formats)?;
    if program.statements.len() == n_statements {
        *is_apart = Some((number, whole));
    }
    Some(())
}

/// Whether a statement that cannot be planned for this reason might be in parts.
fn may_split(error: &Diagnostic) -> bool {
    [
        code::MERGE_TOO_LARGE,
        code::LOOP_ORDER,
        code::RESULT_ORDER,
        code::WORKSPACE_MODES,
        code::SPARSE_REDUCTION,
    ]
    .contains(&error.code())
}

/// The commands that can be applied to a part of a statement, in their order, and
/// which those are.
fn fitting(program: &Program, number: usize, schedule: &Schedule) -> (Schedule, BTreeSet<usize>) {
    let mut concrete = concretize(program, number);
    let mut fitting = Schedule::default();
    let mut used = BTreeSet::new();
    for (at, command) in schedule.0.iter().enumerate() {
        if let Ok(applied) = command.apply(&concrete) {
            concrete = applied;
            fitting.0.push(command.clone());
            used.insert(at);
        }
    }
    (fitting, used)
}
