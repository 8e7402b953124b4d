//! In which order a scan binds variables.
//!
//! 1. Operands of the term with entries are extended, the one with the fewest for what is
//!    bound first.
//! 2. Where an access such as `x(i + j)` has one variable left, its entries say
//!    which coordinates of that matter, if they are fewer than there are.
//! 3. What is left runs over its extent.

use super::{Formula, LookUp, Source, Step, StepKind, Vars};
use crate::rows::Table;

pub(super) struct Planner<'p, 'a> {
    pub(super) formula: &'p Formula<'a>,
    pub(super) term: &'p [usize],
    pub(super) vars: Vars<'p>,
    /// The variables bound so far, in order.
    pub(super) bound: Vec<usize>,
    /// The sources that are looked up or stepped through.
    pub(super) ready: Vec<usize>,
    pub(super) steps: Vec<Step>,
}

impl Planner<'_, '_> {
    fn is_bound(&self, var: usize) -> bool {
        self.bound.contains(&var)
    }

    /// The sources whose variables are bound by now; those that may end the
    /// branch first, those that take long last.
    pub(super) fn look_ups(&mut self) -> Vec<LookUp> {
        let all = self.vars.free.iter().chain(self.vars.inner);
        let open: Vec<usize> = all.copied().filter(|var| !self.is_bound(*var)).collect();
        let mut found: Vec<LookUp> = (0..self.formula.sources.len())
            .filter(|source| !self.ready.contains(source))
            .filter(|source| {
                !open
                    .iter()
                    .any(|var| self.formula.sources[*source].has(*var))
            })
            .map(|source| LookUp {
                source,
                required: self.term.contains(&source),
            })
            .collect();
        let is_slow = |n: usize| matches!(self.formula.sources[n], Source::Computed { .. });
        found.sort_by_key(|look_up| (!look_up.required, is_slow(look_up.source)));
        self.ready
            .extend(found.iter().map(|look_up| look_up.source));
        found
    }

    /// The operand of the term with the fewest entries for what is bound.
    pub(super) fn next(&self) -> Option<usize> {
        let waiting = self
            .term
            .iter()
            .filter(|source| !self.ready.contains(source))
            .filter(|source| matches!(self.formula.sources[**source], Source::Rows { .. }));
        let expected = |source: usize| match &self.formula.sources[source] {
            Source::Rows { vars, rows, .. } => {
                let bound = vars.iter().filter(|var| self.is_bound(**var));
                let each: f64 = bound.map(|var| self.vars.extents[*var] as f64).product();
                rows.len() as f64 / each.max(1.0)
            }
            _ => f64::INFINITY,
        };
        waiting
            .copied()
            .min_by(|a, b| expected(*a).total_cmp(&expected(*b)))
    }

    pub(super) fn extend(&mut self, source: usize) {
        let Source::Rows { vars, rows, .. } = &self.formula.sources[source] else {
            unreachable!("terms hold operands that do not store everything");
        };
        let rank = |var: usize| {
            let place = self.vars.free.iter().position(|free| *free == var);
            (!self.is_bound(var), place.unwrap_or(usize::MAX))
        };
        let mut order: Vec<usize> = (0..vars.len()).collect();
        order.sort_by_key(|column| rank(vars[*column]));
        let columns: Vec<usize> = order.iter().map(|column| vars[*column]).collect();
        let n_bound = columns.iter().filter(|var| self.is_bound(**var)).count();
        self.bound.extend(&columns[n_bound..]);
        self.ready.push(source);
        let kind = StepKind::Extend {
            source,
            table: Table::new(rows, &order),
            columns,
            n_bound,
        };
        let then = self.look_ups();
        self.steps.push(Step { kind, then });
    }

    /// A source of the term that says of its last open variable which of many
    /// coordinates matter.
    pub(super) fn solvable(&self) -> Option<(usize, usize)> {
        self.term.iter().find_map(|source| {
            let Source::Computed { vars, solved, .. } = &self.formula.sources[*source] else {
                return None;
            };
            let mut open = vars.iter().filter(|var| !self.is_bound(**var));
            let (var, None) = (*open.next()?, open.next()) else {
                return None;
            };
            let n = solved.as_ref()?.n_entries as u64;
            (n < self.vars.extents[var]).then_some((*source, var))
        })
    }

    pub(super) fn solve(&mut self, source: usize, var: usize) {
        self.bound.push(var);
        let then = self.look_ups();
        let kind = StepKind::Solve { source, var };
        self.steps.push(Step { kind, then });
    }

    pub(super) fn run_over(&mut self, var: usize) {
        if self.is_bound(var) {
            return;
        }
        self.bound.push(var);
        let extent = self.vars.extents[var];
        let then = self.look_ups();
        let kind = StepKind::Loop { var, extent };
        self.steps.push(Step { kind, then });
    }
}
