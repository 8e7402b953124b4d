//! The evaluator that visits every point: short and slow.
//!
//! Loops over every coordinate of every index variable, and asks at each point
//! what the table of the [crate's documentation](crate) says. Time is the
//! product of all extents of a statement; for tests, on small tensors.

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};

use sparsec_base::Result;
use sparsec_index::{Expr, IndexVar, Program};
use sparsec_tensor::Tensor;

use crate::coordinate_map::CoordinateMap;
use crate::placed;
use crate::point::{Applied, Entry, Failure, Fold, Value, repeated};
use crate::program::{Context, MOST_POINTS, body_of, for_each_point, run, run_statement};
use crate::rows::Rows;

/// One coordinate for each index variable in scope.
type Point = BTreeMap<IndexVar, u64>;

/// The result of every statement, by the name of its tensor, as
/// [`evaluate`](crate::evaluate) gives it.
///
/// # Errors
/// As of [`evaluate`](crate::evaluate).
pub fn evaluate<T: Borrow<Tensor>>(
    program: &Program,
    inputs: &BTreeMap<String, T>,
) -> Result<BTreeMap<String, CoordinateMap>> {
    run(program, inputs, statement)
}

/// The result of one statement, as
/// [`evaluate_statement`](crate::evaluate_statement) gives it.
///
/// # Errors
/// As of [`evaluate`](crate::evaluate).
///
/// # Panics
/// If the program has no statement of this number.
pub fn evaluate_statement<T: Borrow<Tensor>>(
    program: &Program,
    number: usize,
    inputs: &BTreeMap<String, T>,
) -> Result<CoordinateMap> {
    run_statement(program, number, inputs, MOST_POINTS, statement)
}

fn statement(context: &Context<'_>) -> Result<CoordinateMap> {
    let vars = &context.statement.lhs.vars();
    let mut rows = Rows::new(vars.len());
    let mut known = Known::new();
    let unstored = unstored(context, &context.statement.rhs, &mut known);
    for_each_point(&context.extents_of(vars), &mut |coords| {
        let point = bind(&Point::new(), vars, coords);
        let entry = entry_at(context, &known, &context.statement.rhs, &point);
        if entry.stored {
            rows.push(coords, entry);
        }
    });
    match context.statement.is_partial() {
        true => context.part(&rows, unstored),
        false => context.result(rows, unstored),
    }
}

fn bind(point: &Point, vars: &[IndexVar], coords: &[u64]) -> Point {
    let mut point = point.clone();
    point.extend(vars.iter().copied().zip(coords.iter().copied()));
    point
}

fn entry_at(context: &Context<'_>, known: &Known, expr: &Expr, point: &Point) -> Entry {
    match expr {
        Expr::Literal(value) => Entry::unstored(Ok(*value)),
        Expr::Access(access) => {
            let operand = &context.operands[&access.tensor];
            placed::entry_at(operand, access, &|var| point[&var])
        }
        Expr::Index(index) => placed::index_at(index, &|var| point[&var]),
        Expr::Cast(element, body) => entry_at(context, known, body, point).cast(*element),
        Expr::Apply { args, .. } => {
            let applied = &known[&std::ptr::from_ref(expr)];
            let args = args.iter().map(|arg| entry_at(context, known, arg, point));
            applied.to(&args.collect::<Vec<_>>())
        }
        Expr::Reduce { op, vars, body } => {
            let mut fold = Fold::new(op, body.element(&context.program.tensors));
            let (mut n, mut last) = (0, None);
            for_each_point(&context.extents_of(vars), &mut |coords| {
                let entry = entry_at(context, known, body, &bind(point, vars, coords));
                fold.add(op, entry);
                (n, last) = (n + 1, Some(entry.value));
            });
            match (last, fold.entry().stored) {
                // Nothing is stored, so all values are one: rounded once.
                (Some(value), false) => repeated(op, value, n),
                _ => fold.entry(),
            }
        }
    }
}

/// Every operator in an expression with what is known of its arguments, by the
/// address of its part, which does not move.
type Known = HashMap<*const Expr, Applied>;

/// What an expression is where nothing of it is stored; adds what its operators
/// are applied to.
fn unstored(context: &Context<'_>, expr: &Expr, known: &mut Known) -> Value {
    match expr {
        Expr::Literal(value) => Ok(*value),
        Expr::Access(access) => Ok(context.operands[&access.tensor].fill()),
        Expr::Index(_) => Err(Failure::NeverUnstored),
        Expr::Cast(element, body) => {
            let body = Entry::unstored(unstored(context, body, known));
            body.cast(*element).value
        }
        Expr::Apply { op, args } => {
            let fills = args.iter().map(|arg| unstored(context, arg, known));
            let applied = Applied {
                op: op.clone(),
                fills: fills.collect(),
                body: body_of(op, args, context),
            };
            let value = applied.unstored();
            known.insert(std::ptr::from_ref(expr), applied);
            value
        }
        Expr::Reduce { op, vars, body } => {
            let value = unstored(context, body, known);
            match context
                .extents_of(vars)
                .into_iter()
                .map(u128::from)
                .product()
            {
                0 => {
                    let element = body.element(&context.program.tensors);
                    Fold::new(op, element).entry().value
                }
                n => repeated(op, value, n).value,
            }
        }
    }
}
