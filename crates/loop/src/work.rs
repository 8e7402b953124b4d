//! How often the loops of a function run, before it runs.
//!
//! ```text
//! for i in 0..A.n0                 1000 times
//!   for p in pos[i]..pos[i + 1]      an entry or more, unless there are none
//!     for k in 0..B.n1               500 times             1000 · 1 · 500 in all
//! ```
//!
//! Bounds that follow from extents are counted. A loop over stored entries counts as
//! one entry, or none where its operand stores none, and so does a `while`. So this
//! is no more than what a launch does, but for what a condition leaves out.

use std::collections::HashMap;

use crate::ir::{Block, Buffer, Expr, Function, Stmt, Var};
use crate::workspaces::{fixed_values, value_of};

/// The loops that do most of the work of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// How often the innermost of them runs.
    pub runs: u128,
    /// Those over extents, outermost first, and how often each runs.
    pub loops: Vec<(Var, u128)>,
}

/// The loops within one another that run most often; `extent` has the extents that
/// are known, `is_empty` says of which buffers it is known that they have no entry.
///
/// ```
/// use sparsec_base::Source;
/// use sparsec_loop::{Function, most_work};
/// let kernel = Function::parse(&Source::new("kernel", r#"
///     fn kernel(out y "(i, j) -> (i : dense, j : dense)" {
///       extent y.n0, extent y.n1, write y.vals: f64
///     }) {
///       for i in 0..y.n0 { for j in 0..y.n1 { y.vals[i * y.n1 + j] = 1.0 } }
///     }"#))?;
/// let work = most_work(&kernel, &|_| Some(1 << 40), &|_| false);
/// assert_eq!((work.runs, work.loops.len()), (1 << 80, 2));
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn most_work(
    function: &Function,
    extent: &dyn Fn(Var) -> Option<u64>,
    is_empty: &dyn Fn(Buffer) -> bool,
) -> Work {
    let known = fixed_values(function, extent);
    Counter { known, is_empty }.of_block(&function.body)
}

struct Counter<'a> {
    /// Variables with one value.
    known: HashMap<Var, i128>,
    is_empty: &'a dyn Fn(Buffer) -> bool,
}

impl Counter<'_> {
    fn of_block(&self, block: &Block) -> Work {
        let once = Work {
            runs: 1,
            loops: Vec::new(),
        };
        let all = block.iter().map(|stmt| self.of_stmt(stmt));
        all.fold(once, |most, work| match work.runs > most.runs {
            true => work,
            false => most,
        })
    }

    fn of_stmt(&self, stmt: &Stmt) -> Work {
        match stmt {
            Stmt::For {
                var, lo, hi, body, ..
            } => {
                let mut work = self.of_block(body);
                let bounds = (value_of(lo, &self.known), value_of(hi, &self.known));
                let (Some(lo), Some(hi)) = bounds else {
                    work.runs *= u128::from(!self.reads_empty(hi));
                    return work;
                };
                let runs = u128::try_from(hi.saturating_sub(lo)).unwrap_or(0);
                work.runs = work.runs.saturating_mul(runs);
                work.loops.insert(0, (*var, runs));
                work
            }
            Stmt::While { condition, body } => {
                let mut work = self.of_block(body);
                work.runs *= u128::from(!self.reads_empty(condition));
                work
            }
            Stmt::If {
                then, otherwise, ..
            } => {
                let (then, otherwise) = (self.of_block(then), self.of_block(otherwise));
                match then.runs < otherwise.runs {
                    true => otherwise,
                    false => then,
                }
            }
            _ => Work::default(),
        }
    }

    /// Whether an expression reads a buffer without entries.
    fn reads_empty(&self, expr: &Expr) -> bool {
        expr.any(&mut |part| matches!(part, Expr::Load { buffer, .. } if (self.is_empty)(*buffer)))
    }
}
