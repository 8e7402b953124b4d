//! Reductions inside of expressions, as statements of their own.
//!
//! ```text
//! y(i) = b(i) + sum{j}(A(i,j) * x(j))        y_part(i) = sum{j}(A(i,j) * x(j))
//!                                            y(i) = b(i) + y_part(i)
//! ```

use std::collections::BTreeMap;

use sparsec_index::{
    Access, Expr, IndexVar, Operator, Program, Statement, TensorData, TensorRole, TensorVar,
};

/// The program with every reduction around the right side of a statement, and calls of functions of
/// the user as their bodies. New tensors are workspaces, and come after those of the program.
///
/// Cost: O(size of the program).
///
/// ```
/// use sparsec_base::ElementType::F64;
/// use sparsec_index::{Operator::{Add, Mul}, ProgramBuilder};
/// let mut built = ProgramBuilder::new();
/// let y = built.result("y", 1)?;
/// let [a, b] = [built.input("a", F64, &[None, None])?, built.input("b", F64, &[None])?];
/// let [i, j] = ["i", "j"].map(|name| built.var(name));
/// let sum = built.reduce(&Add, [j], built.access(a, [i, j])?)?;
/// let product = built.apply(&Mul, [built.access(b, [i])?, sum])?;
/// built.assign(y, [i], product)?;
/// let program = sparsec_codegen_linalg::apart(&built.finish()?);
/// assert_eq!(program.statement_text(0), "y_part1(i) = sum{j}(a(i,j))");
/// assert_eq!(program.statement_text(1), "y(i) = b(i) * y_part1(i)");
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn apart(program: &Program) -> Program {
    let mut apart = Program {
        statements: Vec::new(),
        ..program.clone()
    };
    for statement in &program.statements {
        let rhs = without_calls(&statement.rhs, program);
        let rhs = taken(&mut apart, statement, &rhs);
        apart.statements.push(Statement {
            rhs,
            ..statement.clone()
        });
    }
    apart
}

/// An expression with functions of the user as their bodies.
fn without_calls(expr: &Expr, program: &Program) -> Expr {
    expr.map_parts(&mut |part| match part {
        Expr::Apply {
            op: Operator::Defined(function),
            args,
        } => {
            let body = function.expand(args, &program.tensors);
            Some(without_calls(&body, program))
        }
        _ => None,
    })
}

/// A right side with no reduction but around it; those inside are statements of `program`.
fn taken(program: &mut Program, of: &Statement, rhs: &Expr) -> Expr {
    match rhs {
        Expr::Reduce { op, vars, body } => Expr::Reduce {
            op: op.clone(),
            vars: vars.clone(),
            body: Box::new(without_reductions(program, of, body)),
        },
        _ => without_reductions(program, of, rhs),
    }
}

fn without_reductions(program: &mut Program, of: &Statement, expr: &Expr) -> Expr {
    expr.map_parts(&mut |part| match part {
        Expr::Reduce { .. } => Some(Expr::Access(computed(program, of, part))),
        _ => None,
    })
}

/// The entries of a new statement that computes a reduction.
fn computed(program: &mut Program, of: &Statement, part: &Expr) -> Access {
    let bound = part.bound_vars();
    let mut free = part.vars();
    free.retain(|var| !bound.contains(var));
    let element = part.element(&program.tensors);
    let stem = format!("{}_part", program.tensors[of.lhs.tensor].name);
    let data = TensorData {
        name: program.tensors.fresh(&stem),
        earlier_of: None,
        element,
        extents: free.iter().map(|var| program.vars[*var].extent).collect(),
        fill: part.fill_of_temporary(&program.tensors, &program.vars),
        role: TensorRole::Workspace,
        span: of.span,
        levels_of: None,
    };
    let tensor: TensorVar = program.tensors.push(data);
    // Variables belong to one statement.
    let vars: BTreeMap<IndexVar, IndexVar> = free
        .iter()
        .map(|var| (*var, program.vars.push(program.vars[*var].clone())))
        .collect();
    let own = |var: IndexVar| vars.get(&var).copied().unwrap_or(var);
    let renamed = part.renamed(&own);
    let lhs: Vec<IndexVar> = free.iter().map(|var| vars[var]).collect();
    let rhs = taken(program, of, &renamed);
    program.statements.push(Statement {
        lhs: Access::plain(tensor, &lhs, of.span),
        rhs,
        before: None,
        reduce: None,
        span: of.span,
    });
    Access::plain(tensor, &free, of.span)
}
