//! How often the loops of a function run, before it runs.
//!
//! ```text
//! for i in 0..A.n0                 1000 times
//!   for p in pos[i]..pos[i + 1]      an entry or more, unless there are none
//!     for k in 0..B.n1               500 times             1000 · 1 · 500 in all
//! ```
//!
//! Bounds that follow from extents are counted, and the chunks of a loop together, from
//! the first cut to the last. A loop over stored entries counts as one entry, or none where its operand stores none, and so does a `while`. So this
//! is no more than what a launch does, but for what a condition leaves out.

use std::collections::{HashMap, HashSet};

use sparsec_base::Scalar;

use crate::ir::{Block, Buffer, Expr, Function, Stmt, Var};
use crate::walk::for_each_stmt;
use crate::workspaces::{changed_vars, fixed_values, value_of};

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
    let mut chunks = HashMap::new();
    for_each_stmt(&function.body, &mut |stmt| {
        if let Stmt::For { var, hi, mark, .. } = stmt
            && mark.chunks
        {
            chunks.insert(*var, Chunks::of(function, hi, &known));
        }
    });
    Counter {
        known,
        changed: &changed_vars(function),
        chunks: &chunks,
        is_empty,
    }
    .of_block(&function.body)
}

/// A loop of chunks, which are counted as one: before a kernel cuts a loop, it counts how
/// many chunks are worth it, beginning with one.
#[derive(Default)]
struct Chunks {
    /// What is known where there is one chunk.
    known: HashMap<Var, i128>,
    /// The array with the cuts, and from where to where these go.
    cuts: Option<(Buffer, Expr, Expr)>,
}

impl Chunks {
    fn of(function: &Function, n: &Expr, known: &HashMap<Var, i128>) -> Self {
        let mut chunks = Self::default();
        let (mut counted, mut starts, mut end) = (Vec::new(), Vec::new(), None);
        for_each_stmt(&function.body, &mut |stmt| match stmt {
            Stmt::While { body, .. } => {
                let assigned = body.iter().filter_map(|stmt| match stmt {
                    Stmt::Assign { var, .. } => Some(*var),
                    _ => None,
                });
                let assigned: Vec<Var> = assigned.collect();
                if assigned.iter().any(|var| Expr::Var(*var) == *n) {
                    counted.extend(assigned);
                }
            }
            Stmt::Store {
                buffer,
                index,
                value,
                ..
            } => match index {
                Expr::Const(Scalar::I64(0)) => starts.push((*buffer, value.clone())),
                index if index == n => end = Some((*buffer, value.clone())),
                _ => {}
            },
            _ => {}
        });
        for_each_stmt(&function.body, &mut |stmt| {
            if let Stmt::Declare { var, value } = stmt
                && counted.contains(var)
            {
                chunks
                    .known
                    .extend(value_of(value, known).map(|value| (*var, value)));
            }
        });
        let start = |buffer| starts.into_iter().find(|(known, _)| *known == buffer);
        chunks.cuts = end.and_then(|(buffer, end)| Some((buffer, start(buffer)?.1, end)));
        chunks
    }
}

struct Counter<'a> {
    /// Variables with one value.
    known: HashMap<Var, i128>,
    /// Those that have several.
    changed: &'a HashSet<Var>,
    /// The loops of chunks, by the variables that number these.
    chunks: &'a HashMap<Var, Chunks>,
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
                if let Some(chunks) = self.chunks.get(var) {
                    return self.first(*var, 0, body, &chunks.known);
                }
                let (lo, hi) = self.whole(lo, hi);
                let bounds = (value_of(lo, &self.known), value_of(hi, &self.known));
                let (Some(lo), Some(hi)) = bounds else {
                    let mut work = self.of_block(body);
                    work.runs *= u128::from(!self.reads_empty(hi));
                    return work;
                };
                let mut work = self.first(*var, lo, body, &HashMap::new());
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

    /// What a loop does in its first turn, where its variable has this value and `more` is
    /// known; where that is nothing, in one of which nothing is known.
    fn first(&self, var: Var, value: i128, body: &Block, more: &HashMap<Var, i128>) -> Work {
        let mut known = self.known.clone();
        known.insert(var, value);
        known.extend(more);
        for stmt in body {
            if let Stmt::Declare { var, value } = stmt
                && !self.changed.contains(var)
            {
                known.extend(value_of(value, &known).map(|value| (*var, value)));
            }
        }
        let first = Counter { known, ..*self }.of_block(body);
        match first.runs {
            0 => self.of_block(body),
            _ => first,
        }
    }

    /// The bounds of all chunks together, for those of one.
    fn whole<'e>(&'e self, lo: &'e Expr, hi: &'e Expr) -> (&'e Expr, &'e Expr) {
        let Expr::Load { buffer, index } = lo else {
            return (lo, hi);
        };
        let Expr::Var(chunk) = **index else {
            return (lo, hi);
        };
        match self.chunks.get(&chunk).and_then(|it| it.cuts.as_ref()) {
            Some((cut, start, end)) if cut == buffer => (start, end),
            _ => (lo, hi),
        }
    }

    /// Whether an expression reads a buffer without entries.
    fn reads_empty(&self, expr: &Expr) -> bool {
        expr.any(&mut |part| matches!(part, Expr::Load { buffer, .. } if (self.is_empty)(*buffer)))
    }
}
