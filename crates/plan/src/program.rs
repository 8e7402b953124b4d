//! Planning all statements of a program, and splitting those that no schedule
//! makes lowerable ([`split`](crate::split)).

use sparsec_base::{Diagnostic, Result, code};
use sparsec_format::Format;
use sparsec_graph::Formats;
use sparsec_index::{Program, Schedule, Statement};

use crate::estimate::Counts;
use crate::formats::default_result_format;
use crate::once::take_fills_once;
use crate::search::{Conversions, Plan, apply, plan};
use crate::split::{first_reduction, split};

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

/// Plans a program whose inputs all have formats. Results without one get
/// that of [`default_result_format`]; `widths` then says how wide the index
/// arrays of a result are to be. `counts` knows how many entries operands store,
/// of which choices are made.
///
/// # Errors
/// Why a statement cannot be lowered, for the first that cannot; and `E0311`
/// for a schedule given to a program of several statements.
pub fn plan_program(
    mut program: Program,
    mut formats: Formats,
    schedule: Option<&Schedule>,
    widths: &dyn Fn(&Program, &Statement, &Format) -> Format,
    counts: Counts<'_>,
) -> Result<ProgramPlan> {
    if schedule.is_some() && program.statements.len() > 1 {
        return Err(Diagnostic::new(
            code::ILLEGAL_COMMAND,
            "a schedule is given for a program of several statements",
        )
        .at(
            &program.source,
            program.statements[1].span,
            "the second statement",
        )
        .help("compile each statement with a schedule of its own"));
    }
    let mut plans = Vec::new();
    while plans.len() < program.statements.len() {
        let number = plans.len();
        let written = program.statements[number].rhs.clone();
        take_fills_once(&mut program, number, &formats);
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
            let nearest = widths(&program, statement, &format.nearest());
            formats.set(result, format);
            formats.set_native(result, nearest);
        }
        if let Some(schedule) = schedule {
            let planned = apply(&program, number, &formats, schedule);
            plans.push(planned.or_else(|error| {
                // One that is not ours may be for the statement as it is written.
                program.statements[number].rhs = written;
                apply(&program, number, &formats, schedule).map_err(|_| error)
            })?);
            continue;
        }
        // A temporary costs what it holds, a conversion sorts an operand: a
        // reduction gets a statement of its own before operands are converted.
        let conversions = match first_reduction(&program.statements[number].rhs, true) {
            Some(_) => Conversions::None,
            None => Conversions::Any,
        };
        let planned = plan(&program, number, &formats, conversions, counts);
        match planned {
            Ok(plan) => plans.push(plan),
            Err(error) => split(&mut program, number, &mut formats).ok_or(error)?,
        }
    }
    Ok(ProgramPlan {
        program,
        formats,
        plans,
    })
}
