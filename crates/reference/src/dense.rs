//! The evaluator that visits every point: short and slow.
//!
//! Loops over every coordinate of every index variable, and asks at each point
//! what the table of the [crate's documentation](crate) says. Time is the
//! product of all extents of a statement; for tests, on small tensors.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use sparsec_base::Result;
use sparsec_index::{Expr, IndexVar, Program};
use sparsec_tensor::Tensor;

use crate::coordinate_map::CoordinateMap;
use crate::point::{Entry, Failure, Fold, apply, repeated};
use crate::program::{Context, body_of, for_each_point, run, run_statement};
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
    run_statement(program, number, inputs, statement)
}

fn statement(context: &Context<'_>) -> Result<CoordinateMap> {
    let vars = &context.statement.lhs.vars();
    let mut rows = Rows::new(vars.len());
    let mut unstored = Err(Failure::DivisionByZero);
    for_each_point(&context.extents_of(vars), &mut |coords| {
        let point = bind(&Point::new(), vars, coords);
        let entry = entry_at(context, &context.statement.rhs, &point);
        match entry.stored {
            true => rows.push(coords, entry),
            false => unstored = entry.value,
        }
    });
    context.result(rows, unstored)
}

fn bind(point: &Point, vars: &[IndexVar], coords: &[u64]) -> Point {
    let mut point = point.clone();
    point.extend(vars.iter().copied().zip(coords.iter().copied()));
    point
}

fn entry_at(context: &Context<'_>, expr: &Expr, point: &Point) -> Entry {
    match expr {
        Expr::Literal(value) => Entry::unstored(Ok(*value)),
        Expr::Access(access) => {
            let operand = &context.operands[&access.tensor];
            let coords = access.indices.iter().zip(operand.extents());
            let coords: Option<Vec<u64>> = coords
                .map(|(index, extent)| {
                    let coord = u64::try_from(index.evaluate(&|var| point[&var])?).ok()?;
                    (coord < *extent).then_some(coord)
                })
                .collect();
            match coords {
                Some(coords) => operand.entry(&coords),
                // Nothing is stored outside of a tensor.
                None => Entry::unstored(Ok(operand.fill())),
            }
        }
        Expr::Cast(element, body) => entry_at(context, body, point).cast(*element),
        Expr::Apply { op, args } => {
            let body = body_of(op, args, context);
            let args = args.iter().map(|arg| entry_at(context, arg, point));
            apply(op, body.as_ref(), &args.collect::<Vec<_>>())
        }
        Expr::Reduce { op, vars, body } => {
            let mut fold = Fold::new(op, body.element(&context.program.tensors));
            let (mut n, mut last) = (0, None);
            for_each_point(&context.extents_of(vars), &mut |coords| {
                let entry = entry_at(context, body, &bind(point, vars, coords));
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
