//! Planning all statements of a program, and splitting those that no schedule
//! makes lowerable.
//!
//! A statement is split by giving part of its right side a name: the part
//! becomes a statement of its own, which computes a temporary tensor.
//!
//! ```text
//! y(i) = sum{j}(A(i,j) * x(j)) + z(i)          A : csc, so j is outside i
//!
//! t1(i) = sum{j}(A(i,j) * x(j))                reduces in A's order
//! y(i) = t1(i) + z(i)
//! ```
//!
//! The temporary has to store what its part makes stored and no more, so its
//! modes are compressed; only where it is added up into a dense result, which
//! stores everything anyway, are they dense as the result's are.

use std::collections::BTreeMap;

use sparsec_base::{Diagnostic, Result, code};
use sparsec_format::{Format, Level, LevelKind};
use sparsec_graph::Formats;
use sparsec_index::{
    Access, Expr, IndexVar, Operator, Program, Schedule, Statement, TensorData, TensorRole,
    TensorVar,
};

use crate::formats::default_result_format;
use crate::search::{Conversions, Plan, apply, plan};

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
/// arrays of a result are to be.
///
/// # Errors
/// Why a statement cannot be lowered, for the first that cannot; and `E0311`
/// for a schedule given to a program of several statements.
pub fn plan_program(
    mut program: Program,
    mut formats: Formats,
    schedule: Option<&Schedule>,
    widths: &dyn Fn(&Program, &Statement, &Format) -> Format,
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
        let statement = &program.statements[number];
        let result = statement.lhs.tensor;
        let format = match formats.get(result) {
            Some(format) => format.clone(),
            None => default_result_format(&program, statement, &formats),
        };
        formats.set(result, widths(&program, statement, &format));
        if let Some(schedule) = schedule {
            plans.push(apply(&program, number, &formats, schedule)?);
            continue;
        }
        // A temporary costs what it holds, a conversion sorts an operand: a
        // reduction gets a statement of its own before operands are converted.
        let planned = plan(&program, number, &formats, Conversions::None).or_else(|error| {
            match first_reduction(&program.statements[number].rhs, true) {
                Some(_) => Err(error),
                None => plan(&program, number, &formats, Conversions::Any),
            }
        });
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

/// Splits statement `number`; `None` if it has no part worth a name.
fn split(program: &mut Program, number: usize, formats: &mut Formats) -> Option<()> {
    let statement = program.statements[number].clone();
    let part = part_to_split(&statement.rhs)?.clone();
    let mut free = free_vars(&part);
    let lhs = statement.lhs.vars();
    let in_lhs = |var: &IndexVar| lhs.iter().position(|known| known == var);
    free.sort_by_key(|var| in_lhs(var).unwrap_or(usize::MAX));
    let temporary = program.tensors.push(TensorData {
        name: fresh_name(program),
        element: part.element(&program.tensors),
        extents: free.iter().map(|var| program.vars[*var].extent).collect(),
        fill: part
            .fill(&program.tensors, &program.vars)
            .unwrap_or(part.element(&program.tensors).zero()),
        role: TensorRole::Result,
        span: program.tensors[statement.lhs.tensor].span,
    });
    let format = format_of(&statement, &part, &free, formats.of(statement.lhs.tensor));
    formats.set(temporary, format);
    let span = statement.span;
    let read = Expr::Access(Access::plain(temporary, &free, span));
    let mut replaced = false;
    program.statements[number].rhs = statement.rhs.map_parts(&mut |candidate| {
        let is_part = !replaced && *candidate == part;
        replaced |= is_part;
        is_part.then(|| read.clone())
    });
    let computed = renamed(program, temporary, &free, &part, span);
    program.statements.insert(number, computed);
    Some(())
}

/// The statement that computes the temporary, over index variables of its own.
fn renamed(
    program: &mut Program,
    temporary: TensorVar,
    free: &[IndexVar],
    part: &Expr,
    span: sparsec_base::Span,
) -> Statement {
    let own: BTreeMap<IndexVar, IndexVar> = free
        .iter()
        .map(|var| {
            let data = program.vars[*var].clone();
            (*var, program.vars.push(data))
        })
        .collect();
    let rename = |var: IndexVar| own.get(&var).copied().unwrap_or(var);
    Statement {
        lhs: Access::plain(temporary, free, span).renamed(&rename),
        rhs: part.map_accesses(&mut |access| Some(Expr::Access(access.renamed(&rename)))),
        span,
    }
}

/// The first reduction that is not the whole expression; else the largest
/// argument of the outermost operator that has several operands.
fn part_to_split(rhs: &Expr) -> Option<&Expr> {
    first_reduction(rhs, true).or_else(|| largest_argument(rhs))
}

fn first_reduction(expr: &Expr, is_root: bool) -> Option<&Expr> {
    match expr {
        Expr::Literal(_) | Expr::Access(_) => None,
        Expr::Reduce { body, .. } if is_root => first_reduction(body, false),
        // A scalar is in nobody's way, and as a tensor it would be stored
        // whatever there is to reduce.
        Expr::Reduce { body, .. } if free_vars(expr).is_empty() => first_reduction(body, false),
        Expr::Reduce { .. } => Some(expr),
        Expr::Apply { args, .. } => args.iter().find_map(|arg| first_reduction(arg, false)),
        Expr::Cast(_, body) => first_reduction(body, false),
    }
}

fn largest_argument(expr: &Expr) -> Option<&Expr> {
    match expr {
        // A part of a reduced expression would have a mode for each variable
        // that is reduced, and far more entries than the result.
        Expr::Literal(_) | Expr::Access(_) | Expr::Reduce { .. } => None,
        Expr::Cast(_, body) => largest_argument(body),
        Expr::Apply { args, .. } => {
            let size = |arg: &&Expr| arg.accesses().len();
            let largest = args.iter().rev().max_by_key(size)?;
            (size(&largest) > 1).then_some(largest)
        }
    }
}

/// The variables of an expression that no reduction in it binds, in order.
fn free_vars(expr: &Expr) -> Vec<IndexVar> {
    let bound = bound_vars(expr);
    let mut free: Vec<IndexVar> = Vec::new();
    expr.for_each_access(&mut |access| {
        for var in access.vars() {
            if !bound.contains(&var) && !free.contains(&var) {
                free.push(var);
            }
        }
    });
    free
}

fn bound_vars(expr: &Expr) -> Vec<IndexVar> {
    match expr {
        Expr::Literal(_) | Expr::Access(_) => Vec::new(),
        Expr::Apply { args, .. } => args.iter().flat_map(bound_vars).collect(),
        Expr::Cast(_, body) => bound_vars(body),
        Expr::Reduce { vars, body, .. } => {
            let mut found = bound_vars(body);
            found.extend(vars);
            found
        }
    }
}

/// The format of the temporary of `part`, over `vars`.
fn format_of(statement: &Statement, part: &Expr, vars: &[IndexVar], result: &Format) -> Format {
    let may_be_dense = result.is_all_dense() && is_term(&statement.rhs, part);
    let kind = |var: &IndexVar| match statement.lhs.uses(*var) && may_be_dense {
        true => LevelKind::Dense,
        false => LevelKind::Compressed,
    };
    let levels = vars
        .iter()
        .enumerate()
        .map(|(mode, var)| Level::new(mode, kind(var)));
    Format::from_levels(levels.collect()).expect("dense and compressed levels stand in any order")
}

/// Whether `part` is added or subtracted in `expr`, so that it does not matter
/// whether a zero of it is stored.
fn is_term(expr: &Expr, part: &Expr) -> bool {
    match expr {
        _ if expr == part => true,
        Expr::Apply {
            op: Operator::Add | Operator::Sub | Operator::Neg,
            args,
        } => args.iter().any(|arg| is_term(arg, part)),
        Expr::Cast(_, body) => is_term(body, part),
        _ => false,
    }
}

fn fresh_name(program: &Program) -> String {
    (1..)
        .map(|n| format!("t{n}"))
        .find(|name| program.tensors.find(|data| data.name == *name).is_none())
        .expect("there are more names than tensors")
}
