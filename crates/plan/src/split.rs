//! Splitting a statement that no schedule makes lowerable.
//!
//! Part of its right side gets a name: the part becomes a statement of its own,
//! which computes a temporary tensor.
//!
//! ```text
//! y(i) = sum{j}(A(i,j) * x(j)) + z(i)          A : csc, so j is outside i
//!
//! t1(i) = sum{j}(A(i,j) * x(j))                reduces in A's order
//! y(i) = t1(i) + z(i)
//! ```
//!
//! Which part, in this order:
//!
//! 1. a reduction inside the right side;
//! 2. an operand of a sum that is reduced, once the sum is taken apart:
//!    `sum{j}(A(i,j) + B(i,j))` is `sum{j}(A(i,j)) + sum{j}(B(i,j))`;
//! 3. the largest argument of the outermost operator, inside a reduction as well;
//! 4. an argument of it that reads one tensor at computed coordinates: `T(i, i % 3)`
//!    is looked for at two levels in one loop, its temporary over `i` at one.
//!
//! The temporary has to store what its part makes stored and no more, so its
//! modes are compressed; only where it is added up into a dense result, which
//! stores everything anyway, are they dense as the result's are.

use std::collections::BTreeMap;

use sparsec_format::{Format, Level, LevelKind};
use sparsec_graph::Formats;
use sparsec_index::{
    Access, Expr, IndexVar, Operator, Program, Statement, TensorData, TensorRole, TensorVar,
};

/// Splits statement `number`; `None` if it has no part worth a name.
pub(crate) fn split(program: &mut Program, number: usize, formats: &mut Formats) -> Option<()> {
    let statement = program.statements[number].clone();
    let reduction = first_reduction(&statement.rhs, true);
    if reduction.is_none()
        && let Some(rhs) = distributed(&statement.rhs, program)
    {
        program.statements[number].rhs = rhs;
        return Some(());
    }
    let part = reduction
        .or_else(|| largest_argument(&statement.rhs))
        .or_else(|| computed_argument(&statement.rhs))?
        .clone();
    let mut free = free_vars(&part);
    let lhs = statement.lhs.vars();
    let in_lhs = |var: &IndexVar| lhs.iter().position(|known| known == var);
    free.sort_by_key(|var| in_lhs(var).unwrap_or(usize::MAX));
    let temporary = program.tensors.push(TensorData {
        name: fresh_name(program),
        earlier_of: None,
        element: part.element(&program.tensors),
        extents: free.iter().map(|var| program.vars[*var].extent).collect(),
        fill: part.fill_of_temporary(&program.tensors, &program.vars),
        role: TensorRole::Result,
        span: program.tensors[statement.lhs.tensor].span,
        levels_of: None,
    });
    let format = format_of(
        program,
        &statement,
        &part,
        &free,
        formats.of(statement.lhs.tensor),
    );
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
        rhs: part.renamed(&rename),
        before: None,
        reduce: None,
        span,
    }
}

/// The first reduction that is not the whole expression.
pub(crate) fn first_reduction(expr: &Expr, is_root: bool) -> Option<&Expr> {
    match expr {
        Expr::Literal(_) | Expr::Access(_) | Expr::Index(_) => None,
        Expr::Reduce { body, .. } if is_root => first_reduction(body, false),
        // A scalar is in nobody's way, and as a tensor it would be stored
        // whatever there is to reduce.
        Expr::Reduce { body, .. } if free_vars(expr).is_empty() => first_reduction(body, false),
        Expr::Reduce { .. } => Some(expr),
        Expr::Apply { args, .. } => args.iter().find_map(|arg| first_reduction(arg, false)),
        Expr::Cast(_, body) => first_reduction(body, false),
    }
}

/// The largest argument of the outermost operator with several operands. What
/// is reduced may have far more entries than the result, but no more than its
/// operands together. A scalar is stored whatever there is to compute it from,
/// so it is looked into.
fn largest_argument(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Literal(_) | Expr::Access(_) | Expr::Index(_) => None,
        Expr::Cast(_, body) | Expr::Reduce { body, .. } => largest_argument(body),
        Expr::Apply { args, .. } => {
            let size = |arg: &&Expr| arg.accesses().len();
            let mut args: Vec<&Expr> = args.iter().filter(|arg| size(arg) > 1).collect();
            args.sort_by_key(|arg| std::cmp::Reverse(size(arg)));
            args.into_iter()
                .find_map(|arg| match free_vars(arg).is_empty() {
                    true => largest_argument(arg),
                    false => Some(arg),
                })
        }
    }
}

/// The first argument of the outermost operator with several arguments that reads one
/// tensor, and not with a variable of its own at each mode.
fn computed_argument(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Literal(_) | Expr::Access(_) | Expr::Index(_) => None,
        Expr::Cast(_, body) | Expr::Reduce { body, .. } => computed_argument(body),
        Expr::Apply { args, .. } if args.len() == 1 => computed_argument(&args[0]),
        Expr::Apply { args, .. } => args.iter().find(|arg| {
            let accesses = arg.accesses();
            let is_computed = |access: &&Access| access.plain_vars().is_none();
            accesses.iter().any(is_computed) && !free_vars(arg).is_empty()
        }),
    }
}

/// A reduction of a sum as the sum of reductions, if that is the same.
pub(crate) fn distributed(expr: &Expr, program: &Program) -> Option<Expr> {
    match expr {
        Expr::Cast(element, body) => {
            Some(Expr::Cast(*element, Box::new(distributed(body, program)?)))
        }
        Expr::Reduce { op, vars, body } => {
            let Expr::Apply { op: of, args } = &**body else {
                return None;
            };
            let adds = matches!(of, Operator::Sub | Operator::Neg) && *op == Operator::Add;
            let is_same = of == op && op.is_associative() && op.is_commutative();
            // What does not depend on a variable is added once for each value of it.
            let has_all = |arg: &Expr| {
                let free = free_vars(arg);
                vars.iter().all(|var| free.contains(var))
            };
            if !(adds || is_same) || args.len() < 2 || !args.iter().all(has_all) {
                return None;
            }
            // One argument that is not stored may decide, as an infinity does.
            let fills = args
                .iter()
                .map(|arg| arg.fill(&program.tensors, &program.vars));
            let decisions = of.decisions(&fills.collect::<Vec<_>>());
            if decisions
                .iter()
                .any(|decision| decision.args.len() < args.len())
            {
                return None;
            }
            let reduced = |arg: &Expr| Expr::Reduce {
                op: op.clone(),
                vars: vars.clone(),
                body: Box::new(arg.clone()),
            };
            Some(Expr::Apply {
                op: of.clone(),
                args: args.iter().map(reduced).collect(),
            })
        }
        _ => None,
    }
}

/// The variables of an expression that no reduction in it binds, in order.
fn free_vars(expr: &Expr) -> Vec<IndexVar> {
    let bound = bound_vars(expr);
    let mut free = expr.vars();
    free.retain(|var| !bound.contains(var));
    free
}

fn bound_vars(expr: &Expr) -> Vec<IndexVar> {
    match expr {
        Expr::Literal(_) | Expr::Access(_) | Expr::Index(_) => Vec::new(),
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
fn format_of(
    program: &Program,
    statement: &Statement,
    part: &Expr,
    vars: &[IndexVar],
    result: &Format,
) -> Format {
    let fill = part.fill(&program.tensors, &program.vars);
    let may_be_dense = result.is_all_dense()
        && fill.is_some_and(|fill| fill.is_zero())
        && is_term(&statement.rhs, part);
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
    program.tensors.fresh("t")
}
