//! Scattered stores: the loop fetches the place of a later point before it stores there.
//!
//! ```text
//! for q in pos[i]..pos[i + 1] {            for q in pos[i]..pos[i + 1] {
//!   let next = f[crd[q]]                     prefetch y[f[crd[min(q + 64, pos[N] - 1)]]]
//!   f[crd[q]] = next + 1                     let next = f[crd[q]]
//!   y[next] = x[q]                           f[crd[q]] = next + 1
//! }                                          y[next] = x[q] }
//! ```
//!
//! If keys come in any order, neighbouring points store far from one another. Memory answers too late:
//! a processor executes only a few points ahead. The count of a point's group is the place where the
//! point will be stored. Read early, it may be a few places too low, since points in between may belong
//! to the same group.
//!
//! The loop visits each point up to `end` unconditionally. So each entry that is loaded ahead exists:
//! the loop loads it again later.

use std::collections::{BTreeMap, HashMap, HashSet};

use sparsec_base::arena::Id;
use sparsec_loop::{BinaryOp, Block, Buffer, Expr, Function, Stmt, Var};
use sparsec_relation::Variable;

use super::emit::Emitter;

/// How many points ahead. Source: C by hand, ms without and with: 10,000,000 entries at random, ten a
/// row, rows to columns, 105 and 67, at half the distance 73; 11,500,000 of a mesh of six unknowns a
/// node, 43 and 36; 5,000,000 on five diagonals, 11.6 and 11.4; 200,000 at random, 0.3 and 0.3.
const AHEAD: i64 = 64;

/// The loops that may fetch ahead, and the numbers by which points store.
#[derive(Default)]
pub(super) struct Scattered {
    /// The loops that may fetch ahead.
    pub(super) runs: BTreeMap<Variable, Run>,
    /// Variables that hold the number of a point, taken from the count of its group.
    pub(super) numbers: Vec<Var>,
}

/// The points that a loop visits in all its runs: those of all segments, if it runs over one of them.
#[derive(Clone)]
pub(super) struct Run {
    /// Where the last segment ends.
    end: Expr,
    /// How many variables there are around the loop.
    n_around: usize,
}

impl Emitter<'_> {
    /// Lets the outermost loop over points fetch ahead; `end` is where its points end.
    pub(super) fn note_run(&mut self, variable: Variable, end: Expr) {
        if self.scattered.runs.is_empty() {
            let n_around = self.builder.function().vars.iter().count();
            self.scattered.runs.insert(variable, Run { end, n_around });
        }
    }

    /// The body of a loop over `var`, preceded by fetches of the places where a later point is stored.
    pub(super) fn fetch_scattered(&mut self, variable: Variable, var: Var, body: Block) -> Block {
        let Some(run) = self.scattered.runs.get(&variable).cloned() else {
            return body;
        };
        let function = self.builder.function();
        let taken = Taken::of(
            function,
            var,
            (&self.scattered.numbers, run.n_around),
            &body,
        );
        let Some(taken) = taken.filter(|taken| !taken.stored.is_empty()) else {
            return body;
        };
        let last = self.builder.let_("last", run.end.binary(BinaryOp::Sub, 1));
        self.written(|this| {
            let later = Expr::Var(var).add(AHEAD).binary(BinaryOp::Min, last);
            let later = this.builder.let_("later", later);
            let mut group = taken.group;
            group.rewrite(&mut |part| {
                if *part == Expr::Var(var) {
                    *part = Expr::Var(later);
                }
            });
            let next = Expr::load(taken.counts, group);
            let next = Expr::Var(this.builder.let_("next_later", next));
            for buffer in taken.stored {
                let range = next.clone()..next.clone().add(1);
                this.builder.prefetch(buffer, range);
            }
            this.builder.extend(body);
        })
    }
}

/// A count of a group that each point of a loop takes as its number.
struct Taken {
    counts: Buffer,
    /// The group, by the loop variable.
    group: Expr,
    /// The arrays that points store to at their numbers.
    stored: Vec<Buffer>,
}

impl Taken {
    /// The first count that each point of a loop over `var` takes into one of the variables `numbers`.
    /// `None` if the group of a point depends on more than `var`, the first `n_around` variables of the
    /// function and arrays that the loop does not write.
    fn of(
        function: &Function,
        var: Var,
        (numbers, n_around): (&[Var], usize),
        body: &Block,
    ) -> Option<Self> {
        let mut written = HashSet::new();
        for stmt in body {
            stmt.for_each(&mut |inner| written.extend(inner.stored_buffers()));
        }
        let mut values: HashMap<Var, Expr> = HashMap::new();
        for (at, stmt) in body.iter().enumerate() {
            let (declared, value) = match stmt {
                Stmt::Declare { var, value } => (*var, value),
                Stmt::Store { .. } | Stmt::Comment(_) => continue,
                _ => return None,
            };
            let mut value = value.clone();
            value.rewrite(&mut |part| {
                if let Expr::Var(it) = part
                    && let Some(value) = values.get(it)
                {
                    *part = value.clone();
                }
            });
            if let Expr::Load { buffer, index } = &value
                && numbers.contains(&declared)
            {
                let is_known = |it: Var| {
                    let is_fixed = !function.vars[it].mutable;
                    it == var || is_fixed && it.index() < n_around
                };
                let changes = index.any(&mut |part| match part {
                    Expr::Var(it) => !is_known(*it),
                    Expr::Load { buffer, .. } => written.contains(buffer),
                    _ => function.own_failure(part).is_some(),
                });
                let mut same = HashSet::from([declared]);
                let mut stored = Vec::new();
                for stmt in &body[at..] {
                    match stmt {
                        Stmt::Declare { var, value } if is_one(value, &same) => {
                            _ = same.insert(*var)
                        }
                        Stmt::Store { buffer, index, .. } if is_one(index, &same) => {
                            stored.push(*buffer)
                        }
                        _ => {}
                    }
                }
                return (!changes).then(|| Self {
                    counts: *buffer,
                    group: (**index).clone(),
                    stored,
                });
            }
            if !function.vars[declared].mutable {
                values.insert(declared, value);
            }
        }
        None
    }
}

/// Whether an expression is one of some variables.
fn is_one(e: &Expr, of: &HashSet<Var>) -> bool {
    matches!(e, Expr::Var(it) if of.contains(it))
}
