//! Intermediate results that one later statement reads, inside of that statement.
//!
//! ```text
//! B(i,j) = A(i,k) * A(j,k)
//! t = A(i,j) * B(i,j)             t = A(i,j) * sum{k}(A(i,k) * A(j,k))
//! ```
//!
//! | statements                                 | so that                                     |
//! |--------------------------------------------|---------------------------------------------|
//! | are one product                            | it may be contracted in any order           |
//! | the first one has no sums                  | its entries are computed where they are read |
//! | the second one has no variables of its own | each sum is computed once                   |
//!
//! A result stays a statement of its own if the caller reads it or says how it is stored, or if
//! there may be no value for an entry of it, as of integers that are divided by zero.

use std::collections::{BTreeMap, BTreeSet};

use sparsec_base::{ElementType, Kind};
use sparsec_graph::Formats;
use sparsec_index::{Access, Expr, IndexVar, Operator, Program, TensorVar};

use crate::contractions;

/// The program with the result of statement `number` computed inside of the statement that
/// reads it, and the result of that; `None` where it is not the same, or where sums would be computed
/// repeatedly.
pub(crate) fn joined(
    program: &Program,
    formats: &Formats,
    number: usize,
) -> Option<(Program, TensorVar)> {
    let statement = &program.statements[number];
    let result = statement.lhs.tensor;
    let is_whole = statement.before.is_none() && statement.reduce.is_none();
    let modes = distinct(&statement.lhs).filter(|_| is_whole)?;
    if formats.get(result).is_some()
        || statement.rhs.element(&program.tensors) != program.tensors[result].element
    {
        return None;
    }
    let (reader, access) = only_read(program, result)?;
    let has_values = |rhs| has_values(rhs, program);
    if !has_values(&statement.rhs) || !has_values(&program.statements[reader].rhs) {
        return None;
    }
    let read = distinct(access)?;
    let mut joined = program.clone();
    // Variables belong to one statement, and names in it are distinct.
    let other = &program.statements[reader];
    let used: BTreeSet<IndexVar> = other
        .lhs
        .vars()
        .into_iter()
        .chain(other.rhs.vars())
        .collect();
    let mut names: BTreeSet<String> = used
        .iter()
        .map(|var| program.vars[*var].name.clone())
        .collect();
    for var in statement.rhs.vars() {
        if !modes.contains(&var) {
            let name = program.vars[var].name.clone();
            let numbered = (1..).map(|n| format!("{name}{n}"));
            let mut free = std::iter::once(name.clone())
                .chain(numbered)
                .filter(|name| !names.contains(name));
            joined.vars[var].name = free.next().expect("there are names without end");
            names.insert(joined.vars[var].name.clone());
        }
    }
    let own: BTreeMap<IndexVar, IndexVar> = modes.into_iter().zip(read).collect();
    let part = statement
        .rhs
        .renamed(&|var| own.get(&var).copied().unwrap_or(var));
    let rhs = other
        .rhs
        .map_accesses(&mut |access| (access.tensor == result).then(|| part.clone()));
    let has_sums = !statement.rhs.bound_vars().is_empty();
    if has_sums && used.len() > own.len() {
        contractions::flattened(&rhs, &joined, false)?;
    }
    joined.statements[reader].rhs = rhs;
    joined.statements.remove(number);
    Some((joined, other.lhs.tensor))
}

/// Whether an expression has a value wherever its operands have, and asks for no entries by whether
/// they are stored.
pub(crate) fn has_values(expr: &Expr, program: &Program) -> bool {
    let is_total = |element: ElementType| matches!(element.kind(), Kind::Float | Kind::Complex);
    match expr {
        Expr::Literal(_) | Expr::Access(_) | Expr::Index(_) => true,
        // Integers wrap, and floating-point numbers that no integer holds have no value.
        Expr::Cast(element, body) => {
            let from = body.element(&program.tensors);
            (is_total(*element) || !is_total(from)) && has_values(body, program)
        }
        Expr::Reduce { op, body, .. } => always(op) && has_values(body, program),
        Expr::Apply { op, args } => {
            let mut elements = args.iter().map(|arg| arg.element(&program.tensors));
            let is_known = !matches!(op, Operator::Defined(_) | Operator::IsStored);
            (always(op) || is_known && elements.all(is_total))
                && args.iter().all(|arg| has_values(arg, program))
        }
    }
}

fn always(op: &Operator) -> bool {
    use Operator::{Add, And, Max, Min, Mul, Neg, Or, Select, Sub};
    matches!(op, Add | And | Max | Min | Mul | Neg | Or | Select | Sub)
}

/// The variables of an access with one of its own in each mode.
fn distinct(access: &Access) -> Option<Vec<IndexVar>> {
    let vars = access.plain_vars()?;
    let distinct: BTreeSet<IndexVar> = vars.iter().copied().collect();
    (distinct.len() == vars.len()).then_some(vars)
}

/// The statement that reads a tensor, and where, if there is one such place.
fn only_read(program: &Program, tensor: TensorVar) -> Option<(usize, &Access)> {
    let statements = program.statements.iter().enumerate();
    let mut reads = statements.flat_map(|(number, statement)| {
        let accesses: Vec<&Access> = statement.rhs.accesses();
        let before = statement.before.filter(|before| *before == tensor);
        let accesses = accesses.into_iter().filter(|it| it.tensor == tensor);
        let reads = accesses.map(Some).chain(before.map(|_| None));
        reads
            .map(move |access| (number, access))
            .collect::<Vec<_>>()
    });
    let (number, access) = reads.next()?;
    reads.next().is_none().then_some((number, access?))
}
