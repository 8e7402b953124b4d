//! Tests of numbers before the loop whose iterations make them.
//!
//! A number that does not fit an array of 32 bits ends the kernel. A test in each iteration keeps
//! C compilers from vectorizing a loop of copies. If the number grows with the loop variable, that of
//! the last iteration is the largest. If no iteration changes it, one test is enough:
//!
//! ```text
//!                                                  if lo < hi and hi > 2147483647 {
//!                                                    fail cast_out_of_range
//!                                                  }
//! for q in lo..hi {                                for q in lo..hi {
//!   let value: i64 = q + 1                    ──►    let value: i64 = q + 1
//!   if value > 2147483647 { fail … }                 pos[row[q] + 1] = value
//!   pos[row[q] + 1] = value                          crd[q] = col[q]
//!   crd[q] = col[q]                                }
//! }
//! ```
//!
//! A kernel that fails leaves nothing that anybody reads, so it may as well fail before it stores. If
//! it has two reasons to fail, it may give the other one.

use std::collections::{HashMap, HashSet};

use sparsec_base::Scalar;

use crate::ir::{BinaryOp, Block, Expr, Failure, Function, Stmt, Var};
use crate::mark::Mark;

/// Moves tests of numbers before loops; see the module's text in the source for which.
pub fn fail_early(function: &mut Function) {
    let mut body = std::mem::take(&mut function.body);
    in_block(function, &mut body);
    function.body = body;
}

fn in_block(function: &Function, block: &mut Block) {
    let mut at = 0;
    while at < block.len() {
        for inner in block[at].blocks_mut() {
            in_block(function, inner);
        }
        let tests = before_loop(function, &mut block[at]);
        let n = tests.len();
        block.splice(at..at, tests);
        at += n + 1;
    }
}

/// The tests of a loop's iterations, for before the loop.
fn before_loop(function: &Function, stmt: &mut Stmt) -> Block {
    let mut written = HashSet::new();
    stmt.for_each(&mut |inner| written.extend(inner.written_var()));
    let Stmt::For {
        var,
        lo,
        hi,
        mark,
        body,
    } = stmt
    else {
        return Block::new();
    };
    let is_safe = |e: &Expr| !function.can_fail(e);
    if *mark != Mark::default() || !is_safe(lo) || !is_safe(hi) {
        return Block::new();
    }
    let runs = lo.clone().less(hi.clone());
    let mut sums: HashMap<Var, i64> = HashMap::from([(*var, 0)]);
    let mut tests = Block::new();
    body.retain(|stmt| {
        if let Stmt::Declare { var, value } = stmt
            && let Some(sum) = sum_of(value, &sums)
            && !function.vars[*var].mutable
        {
            sums.insert(*var, sum);
        }
        let Some((number, most, failure)) = test_of(stmt) else {
            return true;
        };
        let is_beyond = match sum_of(number, &sums) {
            // The last iteration has the variable `hi - 1`.
            Some(sum) => match most.checked_add(1 - sum) {
                Some(most) => Expr::int(most).less(hi.clone()),
                None => return true,
            },
            None => match number {
                Expr::Var(other) if !written.contains(other) => Expr::int(most).less(*other),
                _ => return true,
            },
        };
        tests.push(Stmt::If {
            condition: runs.clone().and(is_beyond),
            then: vec![Stmt::Fail(failure)],
            otherwise: Block::new(),
        });
        false
    });
    tests
}

/// By how much a number is more than the loop variable, if that is 0 or 1: it wraps in no iteration.
fn sum_of(value: &Expr, sums: &HashMap<Var, i64>) -> Option<i64> {
    let sum = match value {
        Expr::Var(var) => *sums.get(var)?,
        Expr::Binary(BinaryOp::Add, a, b) => match (&**a, &**b) {
            (Expr::Var(var), Expr::Const(Scalar::I64(more)))
            | (Expr::Const(Scalar::I64(more)), Expr::Var(var)) => {
                sums.get(var)?.checked_add(*more)?
            }
            _ => return None,
        },
        _ => return None,
    };
    (0..=1).contains(&sum).then_some(sum)
}

/// A test that does no more than to fail if a number is more than a constant.
fn test_of(stmt: &Stmt) -> Option<(&Expr, i64, Failure)> {
    let Stmt::If {
        condition: Expr::Binary(op, left, right),
        then,
        otherwise,
    } = stmt
    else {
        return None;
    };
    let ([Stmt::Fail(failure)], []) = (&then[..], &otherwise[..]) else {
        return None;
    };
    match (op, &**left, &**right) {
        (BinaryOp::Gt, number, Expr::Const(Scalar::I64(most)))
        | (BinaryOp::Lt, Expr::Const(Scalar::I64(most)), number) => Some((number, *most, *failure)),
        _ => None,
    }
}
