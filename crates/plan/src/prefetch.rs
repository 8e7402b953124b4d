//! What loops fetch before they need it.
//!
//! ```text
//! forall i: forall j: y(i) += A(i,j) * x(j)      prefetch(j, A, 512)
//!
//! forall i: forall j: forall k: C(i,k) += A(i,j) * B(j,k)      prefetch(j, B, 8)
//! ```
//!
//! Two things are worth it where operands exceed the cache:
//!
//! - the arrays of an operand in short segments, about [`Fetch::stream`] bytes ahead: processors
//!   fetch such arrays on their own, but not far enough across pages. In segments of two lines
//!   or more, of which one would be fetched, they do so better alone: rows of 6 to 12 equal
//!   entries take 0.75 to 0.85 of the time, those of 16 take 1.35 times as long;
//! - the rows of operands, and of a dense result, to which scattered coordinates lead, about
//!   [`Fetch::leap`] bytes ahead: a processor cannot know these addresses before it has loaded the
//!   coordinates. Rows of few bytes arrive in time without it, unless the arrays are late as well.
//!
//! If fibers of one entry add to rows of 320 bytes of a dense result, fetching takes 0.8 of the time
//! (`networks/mttkrp/1/1`). With rows of 2 KiB it takes longer (`networks/ttmc16/4/1`).
//!
//! Where coordinates follow one another, as in bands, the cache holds what they lead to
//! already. That, and how much operands hold, is taken from the operands ([`Facts`]);
//! of what is not known, nothing is fetched.

use sparsec_base::ElementType;
use sparsec_format::LevelKind;
use sparsec_graph::operand::level_at;
use sparsec_graph::{Lattice, Operands, Scope, space};
use sparsec_index::concrete::{Clause, Stmt};
use sparsec_index::{Access, IndexVar, TensorRole};
use sparsec_machine::{Fetch, Machine};
use sparsec_schedule::Command;

use crate::estimate::{Estimate, is_known};
use crate::search::{Facts, Plan};
use crate::threads::extended;

const FETCH: Fetch = Machine::MIDDLING.fetch;

/// The plan with operands fetched early where that is worth it.
pub(crate) fn prefetch(plan: Plan, facts: Facts<'_>) -> Plan {
    if !is_known(&plan, &plan.formats, facts) {
        return plan;
    }
    let mut found = Vec::new();
    let operands = Operands::of(&plan.concrete);
    let chooser = Chooser {
        plan: &plan,
        facts,
        operands: &operands,
        estimate: Estimate::of(&plan, facts),
    };
    chooser.stmt(&plan.concrete.stmt, &mut Vec::new(), &mut found);
    let mut plan = plan;
    for command in found {
        plan = extended(&plan, [command]).unwrap_or(plan);
    }
    plan
}

struct Chooser<'a> {
    plan: &'a Plan,
    facts: Facts<'a>,
    operands: &'a Operands,
    estimate: Estimate<'a>,
}

impl Chooser<'_> {
    fn stmt(&self, stmt: &Stmt, outer: &mut Vec<IndexVar>, found: &mut Vec<Command>) {
        match stmt {
            Stmt::Forall { var, body } => {
                let scope = Scope {
                    concrete: &self.plan.concrete,
                    formats: &self.plan.formats,
                    operands: self.operands,
                };
                if let Some(walked) = walked_alone(scope, *var, body) {
                    self.of_loop(&walked, *var, body, outer, found);
                }
                outer.push(*var);
                self.stmt(body, outer, found);
                outer.pop();
            }
            Stmt::Where { consumer, producer } => {
                self.stmt(producer, outer, found);
                self.stmt(consumer, outer, found);
            }
            Stmt::Sequence(stmts) => stmts.iter().for_each(|stmt| self.stmt(stmt, outer, found)),
            Stmt::Assign { .. } => {}
        }
    }

    /// Notes what the loop over `var` along `walked` fetches early.
    fn of_loop(
        &self,
        walked: &Access,
        var: IndexVar,
        body: &Stmt,
        outer: &[IndexVar],
        found: &mut Vec<Command>,
    ) {
        let concrete = &self.plan.concrete;
        let command = |access: &Access, ahead: u32| {
            Command::from(Clause::Prefetch {
                var: concrete.vars[var].name.as_str(),
                tensor: concrete.tensors[access.tensor].name.as_str(),
                ahead,
            })
        };
        let format = self.plan.formats.of(walked.tensor);
        let Some((number, level)) = level_at(walked, var, format) else {
            return;
        };
        if level.kind != LevelKind::Compressed {
            return;
        }
        let is_last = number + 1 == format.levels().len();
        let is_innermost = matches!(body, Stmt::Assign { .. });
        let within: Vec<IndexVar> = outer.iter().copied().chain([var]).collect();
        let segment =
            self.estimate.prefixes(walked, &within) / self.estimate.prefixes(walked, outer);
        let data = &concrete.tensors[walked.tensor];
        let known =
            (data.role == TensorRole::Input).then(|| (self.facts.segment)(data.source_name()));
        let segment = known.flatten().unwrap_or(segment);
        let size = self.element(walked).size();
        let (fewest, most_bytes) = FETCH.short;
        let is_short = segment >= fewest && segment * size as f64 <= most_bytes;
        if is_last && is_innermost && is_short && self.bytes(walked) > FETCH.far {
            found.push(command(walked, (FETCH.stream / size as f64) as u32));
        }
        if !self.is_scattered(walked) {
            return;
        }
        let mut used: Vec<&Access> = Vec::new();
        body.for_each_assign(&mut |lhs, _, rhs| {
            rhs.for_each_access(&mut |access| used.push(access));
            // Coordinates of an outermost level ascend, and so do the rows of a result.
            if number > 0 {
                used.push(lhs);
            }
        });
        let mut led_to: Vec<&Access> = Vec::new();
        for access in used {
            let is_new = led_to.iter().all(|known| known.tensor != access.tensor);
            if is_new && access.tensor != walked.tensor && self.is_found_by(access, var) {
                led_to.push(access);
            }
        }
        for access in led_to {
            let row = self.bytes(access) / self.estimate.points(&[var]);
            let leap = (FETCH.leap / row.max(1.0)).clamp(FETCH.leaps.0, FETCH.leaps.1);
            // Of long rows processors fetch the rest while loops add to the beginning.
            let is_added_to = access.tensor == concrete.result;
            let is_foreseen = is_added_to && row > Machine::FORESEEN;
            if self.bytes(access) > FETCH.near && !is_foreseen {
                found.push(command(access, leap as u32));
            }
        }
    }

    /// Whether an operand, or the row of a dense result, is found in one step where `var` is
    /// known.
    fn is_found_by(&self, access: &Access, var: IndexVar) -> bool {
        let concrete = &self.plan.concrete;
        let is_kept = concrete.tensors[access.tensor].role != TensorRole::Workspace;
        let format = is_kept.then(|| self.plan.formats.of(access.tensor));
        format.is_some_and(|format| {
            let kinds = || format.levels().iter().map(|level| level.kind);
            let is_first = level_at(access, var, format).is_some_and(|(number, _)| number == 0);
            let is_dense = kinds().all(|kind| kind == LevelKind::Dense);
            let is_rows = is_dense
                || (access.tensor != concrete.result
                    && kinds().eq([LevelKind::Dense, LevelKind::Compressed]));
            is_first && is_rows
        })
    }

    fn element(&self, access: &Access) -> ElementType {
        self.plan.concrete.tensors[access.tensor].element
    }

    /// How many bytes an operand takes, positions left out.
    fn bytes(&self, access: &Access) -> f64 {
        let n_stored = self.estimate.n_stored(access);
        let format = self.plan.formats.of(access.tensor);
        let crd = if format.has_sparse() { 4.0 } else { 0.0 };
        n_stored * (self.element(access).size() as f64 + crd)
    }

    fn is_scattered(&self, access: &Access) -> bool {
        let data = &self.plan.concrete.tensors[access.tensor];
        let is_input = data.role == TensorRole::Input;
        let scatter = is_input.then(|| (self.facts.scatter)(data.source_name()));
        scatter
            .flatten()
            .is_some_and(|share| share >= FETCH.scattered)
    }
}

/// The operand whose entries the loop over `var` goes over, if it is the only one.
pub(crate) fn walked_alone(scope: Scope<'_>, var: IndexVar, body: &Stmt) -> Option<Access> {
    let lattice = Lattice::of(&space(scope, body, var));
    let mut walked = lattice.operands().into_iter();
    let access = scope.operands.access(walked.next()?).clone();
    let is_alone = !lattice.everything && walked.next().is_none();
    let role = scope.concrete.tensors[access.tensor].role;
    (is_alone && role != TensorRole::Workspace).then_some(access)
}
