//! Statements that assign part of a tensor, as statements that assign all of it.
//!
//! A left side with other indices than one variable a mode names some entries and
//! leaves the others as they were. Each entry is computed from where it comes from:
//! the left side is solved for its variables.
//!
//! ```text
//! A(2*i + 1, j) = b(j) * 3          t(i,j,0) = b(j) * 3
//!                                   A(r,j) = select(r is odd and …,
//!                                       t((r - 1) // 2, j, (r - 1) % 2), A_1(r,j))
//!
//! h(v // 8) += x(v)                 h(r) = h_0(r) + sum{k}(x(8*r + k))
//! c(i + j) += a(i) * b(j)           t(i,j) = a(i) * b(j);  c(r) = sum{i}(t(i, r - i))
//! ```
//!
//! What is assigned is a tensor over the variables of the left side (the right
//! side itself, where it is one), read at what they are solved to. Where no entry
//! is assigned, those coordinates lie outside of it, and nothing is stored there:
//! what has to be zero, as `(r - 1) % 2`, is the coordinate of a mode of extent 1.
//! So loops visit what is assigned and what was stored before, and the pattern of
//! the result is both.
//!
//! Invariant: afterwards the left side of every statement has a variable of its own
//! at each mode, and neither [`Statement::before`] nor [`Statement::reduce`].

mod solve;

use sparsec_base::{Diagnostic, Result, Scalar, Span, code};

use crate::expr::{Access, Expr};
use crate::index_expr::IndexExpr;
use crate::operator::Operator;
use crate::program::{
    IndexVar, IndexVarData, Program, Statement, TensorData, TensorRole, TensorVar,
};
use solve::{Solution, solve};

/// The program with every statement assigning a whole tensor, and the temporaries
/// that were added, each with the tensor whose part it is.
///
/// # Errors
/// `E0225` for a left side that cannot be solved, `E0227` for one that assigns an
/// entry repeatedly, `E0313` for extents that are not known.
pub fn gather(program: &Program) -> Result<(Program, Vec<(TensorVar, TensorVar)>)> {
    let mut gathered = Program {
        statements: Vec::new(),
        ..program.clone()
    };
    let mut temporaries = Vec::new();
    for statement in &program.statements {
        match statement.is_partial() {
            true => add(&mut gathered, statement, &mut temporaries)?,
            false => gathered.statements.push(statement.clone()),
        }
    }
    Ok((gathered, temporaries))
}

/// Adds the statements that a partial one is.
fn add(
    program: &mut Program,
    statement: &Statement,
    temporaries: &mut Vec<(TensorVar, TensorVar)>,
) -> Result<()> {
    let lhs = &statement.lhs;
    for var in lhs.vars() {
        if program.vars[var].extent.is_none() {
            let name = &program.vars[var].name;
            let message = format!("the extent of `{name}` is not known");
            return Err(Diagnostic::new(code::MISSING_EXTENT, message)
                .at(&program.source, lhs.span, "needed to assign a part")
                .help(format!(
                    "say it (`.extent(\"{name}\", …)`), or give the operands"
                )));
        }
    }
    let modes = result_vars(program, lhs);
    let solution = solve(program, statement, &modes)?;
    let unassigned = match &statement.reduce {
        Some(op) => op
            .identity(statement.rhs.element(&program.tensors))
            .expect("the operator reduces"),
        None => program.tensors[lhs.tensor].fill,
    };
    let assigned = Assigned {
        solution: &solution,
        modes: &modes,
        unassigned,
    };
    let assigned = assigned.read(program, statement, temporaries);
    let whole = Access::plain(lhs.tensor, &modes, lhs.span);
    let before = statement.before.map(|tensor| {
        Expr::Access(Access {
            tensor,
            ..whole.clone()
        })
    });
    let rhs = match &statement.reduce {
        Some(op) => combined(program, lhs.tensor, op, before, assigned, solution.free),
        None => match before {
            Some(before) => Expr::Apply {
                op: Operator::Select,
                args: vec![condition(program, &solution, &modes), assigned, before],
            },
            None => assigned,
        },
    };
    program.statements.push(Statement {
        lhs: whole,
        rhs,
        before: None,
        reduce: None,
        span: statement.span,
    });
    Ok(())
}

/// A variable for each mode of the result, named after those of its index.
fn result_vars(program: &mut Program, lhs: &Access) -> Vec<IndexVar> {
    let inner = lhs.vars();
    let mut names: Vec<String> = inner
        .iter()
        .map(|it| program.vars[*it].name.clone())
        .collect();
    let extents = program.tensors[lhs.tensor].extents.clone();
    let mut found = Vec::new();
    for (index, extent) in lhs.indices.iter().zip(extents) {
        let mut base = "r".to_owned();
        if let Some(first) = index.vars().first() {
            base.clone_from(&program.vars[*first].name);
        }
        let numbered = (1..).map(|n| format!("{base}{n}"));
        let mut free = numbered.filter(|name| !names.contains(name));
        let name = free.next().expect("there are more names than variables");
        names.push(name.clone());
        found.push(program.vars.push(IndexVarData { name, extent }));
    }
    found
}

/// What is assigned to an entry of the result.
struct Assigned<'a> {
    solution: &'a Solution,
    /// The modes of the result.
    modes: &'a [IndexVar],
    /// What is not stored is worth so much where nothing is assigned.
    unassigned: Scalar,
}

impl Assigned<'_> {
    fn read(
        self,
        program: &mut Program,
        statement: &Statement,
        temporaries: &mut Vec<(TensorVar, TensorVar)>,
    ) -> Expr {
        let Self {
            solution,
            modes: modes_of_result,
            unassigned,
        } = self;
        let span = statement.span;
        let of_var = |program: &Program, var: &IndexVar| {
            let value = solution.values[var].clone();
            at_mode(program, value, program.vars[*var].extent)
        };
        let vars = statement.lhs.vars();
        if let Expr::Access(access) = &statement.rhs
            && let Some(read) = access.plain_vars()
            && read.len() == vars.len()
            && vars.iter().all(|var| read.contains(var))
            && program.tensors[access.tensor].fill == unassigned
            && solution.zero.is_empty()
        {
            return Expr::Access(Access {
                indices: read.iter().map(|var| of_var(program, var)).collect(),
                ..access.clone()
            });
        }
        let fill = statement.rhs.fill(&program.tensors, &program.vars);
        let is_dense = fill.is_some_and(|fill| fill != unassigned);
        let mut zero = solution.zero.clone();
        if is_dense && vars.is_empty() && zero.is_empty() {
            zero.push(IndexExpr::constant(0));
        }
        let units = (0..zero.len()).map(|number| {
            let name = fresh_var(program, &vars, &format!("u{number}"));
            let extent = Some(1);
            program.vars.push(IndexVarData { name, extent })
        });
        let units: Vec<IndexVar> = units.collect();
        // Loops over the result know its coordinates one after the other, and so the
        // temporary has its modes in the order in which theirs are known.
        let values = vars.iter().map(|var| of_var(program, var));
        let zeros = zero.into_iter().map(|zero| at_mode(program, zero, Some(1)));
        let indices = values.chain(zeros);
        let mut read: Vec<(IndexVar, IndexExpr)> =
            vars.iter().copied().chain(units).zip(indices).collect();
        let known_at = |index: &IndexExpr| {
            let of_result = index.vars().into_iter();
            of_result
                .filter_map(|var| modes_of_result.iter().position(|mode| *mode == var))
                .max()
        };
        read.sort_by_key(|(_, index)| known_at(index));
        let (modes, indices): (Vec<IndexVar>, Vec<IndexExpr>) = read.into_iter().unzip();
        let temporary = program.tensors.push(TensorData {
            name: fresh_tensor(program),
            earlier_of: None,
            element: statement.rhs.element(&program.tensors),
            extents: modes.iter().map(|var| program.vars[*var].extent).collect(),
            fill: unassigned,
            role: TensorRole::Result,
            span: program.tensors[statement.lhs.tensor].span,
            levels_of: None,
        });
        temporaries.push((temporary, statement.lhs.tensor));
        // What is assigned where the right side is not stored has to be stored here: a
        // coordinate has no fill, so a choice by one is computed everywhere.
        let rhs = match modes.first().filter(|_| is_dense) {
            Some(mode) => Expr::Apply {
                op: Operator::Select,
                args: vec![
                    apply(
                        Operator::Ge,
                        Expr::Index((*mode).into()),
                        Expr::Literal(Scalar::I64(0)),
                    ),
                    statement.rhs.clone(),
                    Expr::Literal(unassigned),
                ],
            },
            None => statement.rhs.clone(),
        };
        program.statements.push(Statement {
            lhs: Access::plain(temporary, &modes, span),
            rhs,
            before: None,
            reduce: None,
            span,
        });
        Expr::Access(Access {
            tensor: temporary,
            indices,
            span,
        })
    }
}

/// A coordinate at a mode of this extent.
fn at_mode(program: &Program, coordinate: IndexExpr, extent: Option<u64>) -> IndexExpr {
    match coordinate.as_var() {
        Some(var) if program.vars[var].extent != extent => coordinate.apart(),
        _ => coordinate,
    }
}

/// `before op reduced`, as the type of the result.
fn combined(
    program: &Program,
    result: TensorVar,
    op: &Operator,
    before: Option<Expr>,
    assigned: Expr,
    free: Vec<IndexVar>,
) -> Expr {
    let cast = |to, expr: Expr| match expr.element(&program.tensors) == to {
        true => expr,
        false => Expr::Cast(to, Box::new(expr)),
    };
    let computed = assigned.element(&program.tensors);
    let reduced = match free.is_empty() {
        true => assigned,
        false => Expr::Reduce {
            op: op.clone(),
            vars: free,
            body: Box::new(assigned),
        },
    };
    let value = match before {
        Some(before) => Expr::Apply {
            op: op.clone(),
            args: vec![cast(computed, before), reduced],
        },
        None => reduced,
    };
    cast(program.tensors[result].element, value)
}

/// Whether an entry of the result is assigned.
fn condition(program: &Program, solution: &Solution, modes: &[IndexVar]) -> Expr {
    let number = |value: u64| Expr::Literal(Scalar::I64(value as i64));
    let mut tests: Vec<Expr> = Vec::new();
    let extent = |var: IndexVar| program.vars[var].extent;
    let within = |value: &IndexExpr, n: u64| {
        let range = value.range(&extent);
        let above = range.is_none_or(|(least, _)| least < 0);
        let below = range.is_none_or(|(_, most)| most >= i128::from(n));
        let test = |op, bound| apply(op, Expr::Index(value.clone()), number(bound));
        let above = above.then(|| test(Operator::Ge, 0));
        above
            .into_iter()
            .chain(below.then(|| test(Operator::Lt, n)))
    };
    for (var, value) in &solution.values {
        match solution.lists.get(var) {
            None => tests.extend(within(value, extent(*var).expect("extents are known"))),
            Some((at, list)) => {
                let among = list
                    .iter()
                    .map(|coord| apply(Operator::Eq, Expr::Index(at.clone()), number(*coord)));
                tests.extend(among.reduce(|a, b| apply(Operator::Or, a, b)));
            }
        }
    }
    for zero in &solution.zero {
        tests.push(apply(Operator::Eq, Expr::Index(zero.clone()), number(0)));
    }
    // Of entries that are all assigned too, those stored before stay stored: a test
    // that is known to hold would leave them out.
    let is_there = || {
        apply(
            Operator::Ge,
            Expr::Index(IndexExpr::from(modes[0])),
            number(0),
        )
    };
    let all = tests.into_iter().reduce(|a, b| apply(Operator::And, a, b));
    all.unwrap_or_else(is_there)
}

fn apply(op: Operator, left: Expr, right: Expr) -> Expr {
    Expr::Apply {
        op,
        args: vec![left, right],
    }
}

fn fresh_tensor(program: &Program) -> String {
    program.tensors.fresh("t")
}

/// A name that none of `vars` has.
fn fresh_var(program: &Program, vars: &[IndexVar], base: &str) -> String {
    let mut name = base.to_owned();
    while vars.iter().any(|var| program.vars[*var].name == name) {
        name.push('_');
    }
    name
}

/// Refuses a left side.
fn refused(program: &Program, span: Span, message: String, label: &str, help: &str) -> Diagnostic {
    Diagnostic::new(code::PARTIAL_RESULT, message)
        .at(&program.source, span, label)
        .help(help)
}
