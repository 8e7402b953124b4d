//! Sweeps in runs ([`in_runs`](crate::scan::in_runs)), in shares.
//!
//! A share has whole runs, and marks of its own. The sweep that counts the numbers gives those of
//! a share from 0 on. Once all shares have counted, each adds the numbers of those before it; the
//! sweep that stores at the numbers begins with them:
//!
//! ```text
//! for c in 0..shares chunks {                      for c in 0..shares chunks {
//!   before = 0                                       before = totals[c]
//!   for each run of c {                              for each run of c {
//!     …                                                …
//!     pos[group + 1] max= before }                     for each point { vals[number] = … } } }
//!   totals[c + 1] = before }
//! for c in 0..shares { totals[c + 1] += totals[c] }
//! for c in 0..shares chunks {
//!   for x in the groups of c {
//!     if pos[x + 1] > 0 { pos[x + 1] += totals[c] } } }
//! ```

use sparsec_base::ElementType;
use sparsec_base::arena::Id;
use sparsec_computation::{Key, Update};
use sparsec_loop::{Access as BufferAccess, BinaryOp, Buffer, Expr, Stmt, Var};
use sparsec_relation::{Expression, Set};

use super::{MOST_SHARES, Shape, Shared, Shares, Sweep};
use crate::bisect::integer;
use crate::scan::emit::{Emitter, Point};
use crate::scan::in_runs::{Counted, visited};
use crate::scan::run::FirstKey;
use crate::scan::window::Visiting;

/// How many entries a share has for each other key: a mark, and a place in the list of a run.
const COPIES: i64 = 2;

/// The shares of sweeps that go by the runs of one statement.
#[derive(Clone, Debug)]
pub(in crate::scan) struct RunShares {
    pub(in crate::scan) shares: Shares,
    /// How many numbers the shares before each one give.
    pub(in crate::scan) totals: Buffer,
    of: Ranked,
}

/// Two sweeps that agree in these have the same shares.
#[derive(Clone, Debug, PartialEq)]
struct Ranked {
    points: Set,
    keys: Vec<Key>,
    shape: Shape,
}

impl Emitter<'_> {
    /// The shares of a sweep that counts or uses the numbers of runs, if it has any.
    pub(in crate::scan) fn shares_of_runs(
        &mut self,
        (number, keys): (usize, &[Key]),
        sweep: &Sweep<'_>,
        counts: Option<&[Counted]>,
        n_keys: Var,
    ) -> Option<RunShares> {
        self.grain?;
        let is_assigned = matches!(self.visiting, Visiting::Assign) && self.held.is_none();
        if !self.is_outermost || self.within.is_some() || !is_assigned {
            return None;
        }
        let tuple = visited(sweep.body, number)?;
        let of = Ranked {
            points: self.computation.statements[number].space.clone(),
            keys: keys.to_vec(),
            shape: sweep.shape(tuple)?,
        };
        let Some(counts) = counts else {
            let mut counted = self.arrays.runs.iter();
            let counted = counted.find(|counted| counted.of == of)?.clone();
            return self.uses_apart((number, keys), sweep).then_some(counted);
        };
        let target = |(number, _): &Counted| &self.computation.statements[*number].target.space;
        let counts_apart = counts.iter().enumerate().all(|(at, counted)| {
            let is_alone = || counts[..at].iter().all(|it| target(it) != target(counted));
            is_alone() && self.counts_apart(*counted, keys)
        });
        if !counts_apart || !self.reads_its_own(number, &sweep.visits()) {
            return None;
        }
        let run = self.in_terms_of(&keys[0].value.rewritten(&Point(tuple)), sweep)?;
        let copied = Expr::Var(n_keys).mul(COPIES);
        let shares = self.cut(sweep, Some(copied), Some(&run));
        let totals = self.workspace("totals");
        self.alloc(totals, MOST_SHARES + 1);
        let made = RunShares { shares, totals, of };
        self.arrays.runs.push(made.clone());
        Some(made)
    }

    /// Whether shares can count at an entry: all combine into it, or each run has its own, which
    /// holds 0 before.
    fn counts_apart(&self, (number, _): (usize, &[Expression]), keys: &[Key]) -> bool {
        let target = &self.computation.statements[number].target;
        let mut steps = self.loops.body.iter();
        let counting = steps.position(|step| visited(std::slice::from_ref(step), number).is_some());
        let before = &self.loops.body[..counting.unwrap_or(0)];
        let mut writers = self.computation.writers(&target.space);
        let is_first = writers.all(|other| visited(before, other.index()).is_none());
        let is_carried = self.carries.iter().any(|it| it.name == target.space);
        let is_own = || behind_key(&target.indices, keys).is_some();
        target.indices.is_empty() || is_own() && is_first && !is_carried
    }

    /// Whether runs write different entries, and read none that another one writes.
    fn uses_apart(&self, (number, keys): (usize, &[Key]), sweep: &Sweep<'_>) -> bool {
        let ranked = &self.computation.statements[number];
        let visits = sweep.visits();
        visits.iter().enumerate().all(|(at, &(visited, tuple))| {
            let statement = &self.computation.statements[visited];
            let target = &statement.target;
            let is_numbered = |index: &Expression| {
                let entries = self.entries_for(statement, index, ranked);
                entries.is_some() && statement.update == Update::Assign
            };
            let is_own = match &target.indices[..] {
                _ if self.locals.contains(&target.space) => true,
                _ if self.in_variables.contains(&target.space) => visited == number,
                [index] if is_numbered(index) => true,
                _ if self.counts_by_run((visited, number), keys) => {
                    behind_key(&target.indices, keys).is_some()
                }
                _ => self.is_apart((visited, tuple), sweep, &visits),
            };
            let mut shared = Shared::default();
            let is_placed = visited == number
                || matches!(
                    self.number_in_shares((visited, tuple), sweep, &mut shared),
                    Some(()) if shared.numbering.is_none()
                );
            let alike = visits[..at].iter().all(|&(other, other_at)| {
                let other_statement = &self.computation.statements[other];
                let pair = ((statement, tuple), (other_statement, other_at));
                other != visited && super::able::writes_alike(pair.0, pair.1)
            });
            is_own && is_placed && alike && self.reads_its_own(visited, &visits)
        })
    }

    /// Adds the numbers of earlier shares to what each share counted.
    pub(in crate::scan) fn add_up_runs(
        &mut self,
        of: &RunShares,
        (first_key, keys): (&FirstKey, &[Key]),
        counts: &[Counted],
    ) {
        let (shares, totals) = (of.shares, of.totals);
        self.add_up(totals, shares.count);
        let all = Expr::load(totals, shares.count);
        let all = self.builder.let_("n_numbers", all);
        let (whole, each): (Vec<Counted>, Vec<Counted>) = counts.iter().partition(|(number, _)| {
            let target = &self.computation.statements[*number].target;
            target.indices.is_empty()
        });
        let stores = self.written(|this| {
            for (number, tuple) in whole {
                let target = this.computation.statements[number]
                    .target
                    .rewritten(&Point(tuple));
                this.store_at(&target, all.into(), Some(BinaryOp::Max));
            }
        });
        self.branch(Expr::int(0).less(all), stores, true);
        if each.is_empty() {
            return;
        }
        self.for_each_share(shares, |this, share, first, behind| {
            let before = Expr::load(totals, share);
            let before = this.builder.let_("before", before);
            let is_there = first.clone().less(behind.clone());
            let groups = this.written(|this| {
                let lo = this.key_at(first_key, first);
                let last = behind.binary(BinaryOp::Sub, 1);
                let hi = this.key_at(first_key, last).add(1);
                this.for_each_at(lo, hi, |this, group| {
                    for (number, _) in each {
                        let target = &this.computation.statements[number].target;
                        let shift = behind_key(&target.indices, keys).expect("asked before");
                        let buffer = this.arrays.spaces[&target.space];
                        let at = this.builder.let_("at", Expr::Var(group).add(shift));
                        let end = integer(this.builder, buffer, at);
                        let end = this.builder.let_("end", end);
                        let store = this.written(|this| {
                            let end = Expr::Var(end).add(before);
                            this.store_entry(target, at.into(), end, None);
                        });
                        this.branch(Expr::int(0).less(end), store, true);
                    }
                });
            });
            this.branch(is_there, groups, true);
        });
    }

    /// A workspace of 32-bit numbers that each thread has for itself.
    pub(in crate::scan) fn narrow_of_thread(&mut self, name: &str) -> Buffer {
        let (storage, loaded) = (ElementType::I32, ElementType::I64);
        self.builder
            .buffer(name, storage, loaded, BufferAccess::Own)
    }

    /// Sets a thread's marks to 0: an earlier share of the thread may have set them.
    pub(in crate::scan) fn clear_marks(&mut self, marks: Buffer, n_keys: Var) {
        self.builder.push(Stmt::Fill {
            buffer: marks,
            lo: Expr::int(0),
            hi: n_keys.into(),
            value: Expr::int(0),
        });
    }
}

/// By how many entries an entry lies behind that of the first key.
fn behind_key(indices: &[Expression], keys: &[Key]) -> Option<i64> {
    let key = &keys[0].value;
    match indices {
        [index] if index == key => Some(0),
        [Expression::Add(index, n)] => match **n {
            Expression::Integer(n) if **index == *key => Some(n),
            _ => None,
        },
        _ => None,
    }
}
