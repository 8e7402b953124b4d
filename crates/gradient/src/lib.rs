//! Derivatives of programs, as programs of index notation.
//!
//! A program computes `y` of an operand `A`. Its gradient takes the derivatives `d_y` of some
//! number by the entries of `y`, and computes those by the entries of `A`:
//!
//! ```text
//! C(i,j) = A(i,k) * B(k,j)         by A       d_A(i,k) = sum{j}(d_C(i,j) * B(k,j))
//!                                  by B       d_B(k,j) = sum{i}(d_C(i,j) * A(i,k))
//! ```
//!
//! The derivation goes from each result back to each access ([`derive`]):
//!
//! | at             | the derivative `d` of it becomes, for an argument or the body          |
//! |----------------|-----------------------------------------------------------------------|
//! | `f(a, b)`      | `d` times the partial derivative of `f` (`partial`)                  |
//! | `sum{k}(e)`    | `d`, for every `k`                                                    |
//! | `max{k}(e)`    | `d` divided among the entries that are the greatest                    |
//! | `A(i,k)`       | a term of `d_A(i,k)`, summed over all variables that it lacks          |
//!
//! What a statement reads of earlier ones has a derivative of its own, so programs of several
//! statements are derived from the last to the first. Statements whose values derivatives need
//! come before them.
//!
//! A sparse operand has a derivative at every coordinate, but only stored values can change.
//! [`Places::Stored`] asks for the derivatives of these, which are stored as the operand is.
//!
//! Not every program has a derivative here: not products as reductions, not complex numbers, not
//! functions of integers, and not assignments to parts.
//!
//! Source: Griewank and Walther, "Evaluating Derivatives", 2nd edition, SIAM 2008, chapter 3
//! (the reverse mode), <https://doi.org/10.1137/1.9780898717761>.

mod back;
mod derive;
mod partial;
mod write;

use std::collections::BTreeSet;

use sparsec_base::{Diagnostic, Result, code, suggest};
use sparsec_index::program::{TensorRole, Tensors};
use sparsec_index::{Expr, Operator, Program, TensorVar};

use crate::derive::Derivation;

/// Where the derivatives by an operand are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Places {
    /// At every coordinate.
    All,
    /// Where the operand stores an entry.
    Stored,
}

/// The program that computes the derivatives of the last result by an operand.
///
/// It reads `d_y`, the derivatives by the entries of the last result `y`, and those operands of
/// the program that it needs. Its last result is `d_A`, for an operand `A`.
///
/// # Errors
/// `E0207` for a name that the program does not have, `E0020` for one that it computes; `E0245` for
/// an expression that has no derivative, with its place.
///
/// ```
/// use sparsec_gradient::{Places, gradient};
/// use sparsec_index::{Operator, ProgramBuilder};
/// use sparsec_base::ElementType::F64;
/// let mut built = ProgramBuilder::new();
/// let y = built.result("y", 1)?;
/// let a = built.input("A", F64, &[None, None])?;
/// let x = built.input("x", F64, &[None])?;
/// let (i, j) = (built.var("i"), built.var("j"));
/// let product = built.apply(&Operator::Mul, [built.access(a, [i, j])?, built.access(x, [j])?])?;
/// let sum = built.reduce(&Operator::Add, [j], product)?;
/// built.assign(y, [i], sum)?;
/// let program = built.finish()?;
/// let by_x = gradient(&program, "x", Places::All)?;
/// assert_eq!(by_x.to_string(), "d_x(j) = sum{i}(d_y(i) * A(i,j))");
/// let by_a = gradient(&program, "A", Places::Stored)?;
/// assert_eq!(by_a.to_string(), "d_A(i,j) = select(isstored(A(i,j)), d_y(i) * x(j), 0.0)");
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn gradient(program: &Program, of: &str, places: Places) -> Result<Program> {
    let target = operand(program, of)?;
    let mut expanded = program.clone();
    for statement in &mut expanded.statements {
        statement.rhs = without_calls(&statement.rhs, &program.tensors);
    }
    let whole =
        Derivation::of(&expanded, target, places, None).map_err(|it| placed(program, it))?;
    let needed = needed(&expanded, &whole);
    Derivation::of(&expanded, target, places, Some(&needed))
}

/// An error of a statement that is too large to be written, at the program.
fn placed(program: &Program, error: Diagnostic) -> Diagnostic {
    if error.code() != code::STATEMENT_TOO_LARGE {
        return error;
    }
    let last = program
        .statements
        .last()
        .expect("a program has a statement");
    let message = "the derivative is too large for a statement";
    Diagnostic::new(code::NO_DERIVATIVE, message)
        .at(&program.source, last.span, "here")
        .help("give parts of the expression names, in statements of their own")
}

/// An expression with the bodies of functions of the user in place of their calls.
fn without_calls(expr: &Expr, tensors: &Tensors) -> Expr {
    expr.map_parts(&mut |part| match part {
        Expr::Apply {
            op: Operator::Defined(function),
            args,
        } => {
            let args: Vec<Expr> = args.iter().map(|it| without_calls(it, tensors)).collect();
            Some(without_calls(&function.expand(&args, tensors), tensors))
        }
        _ => None,
    })
}

/// The operand of a name.
fn operand(program: &Program, name: &str) -> Result<TensorVar> {
    let named = |role: TensorRole| {
        let mut tensors = program.tensors.iter();
        tensors.find(|(_, data)| data.source_name() == name && data.role == role)
    };
    if let Some((target, _)) = named(TensorRole::Input) {
        return Ok(target);
    }
    if let Some((_, data)) = named(TensorRole::Result) {
        let message = format!("`{name}` is computed by the program, which has no derivative by it");
        return Err(Diagnostic::new(code::NOT_AN_OPERAND, message)
            .at(&program.source, data.span, "computed here")
            .help("name an operand"));
    }
    let inputs = program.tensors.iter();
    let inputs = inputs.filter(|(_, data)| data.role == TensorRole::Input);
    let known: Vec<&str> = inputs.map(|(_, data)| data.source_name()).collect();
    let error = Diagnostic::new(
        code::UNUSED_NAME,
        format!("the program has no operand `{name}`"),
    );
    Err(match suggest::closest(name, known.iter().copied()) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error.help(format!("the operands are {}", known.join(", "))),
    })
}

/// The results of a program that its gradient reads, and those that these are computed from.
fn needed(program: &Program, gradient: &Program) -> BTreeSet<TensorVar> {
    let named = |tensor: TensorVar| program.tensors.named(&gradient.tensors[tensor].name);
    let mut needed = BTreeSet::new();
    for statement in &gradient.statements {
        if named(statement.lhs.tensor).is_none() {
            let read = statement.rhs.accesses().into_iter();
            needed.extend(read.filter_map(|access| named(access.tensor)));
        }
    }
    for statement in program.statements.iter().rev() {
        if needed.contains(&statement.lhs.tensor) {
            let read = statement.rhs.accesses().into_iter();
            needed.extend(read.map(|access| access.tensor));
        }
    }
    needed
}
