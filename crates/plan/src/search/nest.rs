//! The best plan of one nest: in which order its loops go, which operands are
//! converted for that, and whether the result is assembled in another order than it is
//! stored in.
//!
//! A result in another order than that of the loops has a workspace that collects it,
//! or its entries come from loops that suit it. Neither does where places of an operand
//! say both of its coordinates together: row `i - j` of `A` is found from `j` and what
//! is stored, so the loop over `j` comes first, and the result by columns.
//!
//! ```text
//! forall i: forall j: C(i,j) = A(i - j,j)             10^12 rows and columns
//!
//!   convert(C, (i, j) -> (j : compressed, i : compressed))
//!   convert(A(i - j,j), (i, j) -> (j : compressed, i : compressed))
//!   reorder(j, i)
//! ```

use std::cell::RefCell;
use std::collections::BTreeMap;

use sparsec_format::Format;
use sparsec_graph::{Formats, path};
use sparsec_index::concrete::Stmt;
use sparsec_index::{Access, Concrete, IndexVar};
use sparsec_machine::Machine;
use sparsec_schedule::{Command, Schedule};

use super::{Asked, Plan, considered};
use crate::account::Account;
use crate::copies::arranged;
use crate::cost::Cost;
use crate::draft::{Draft, walked};
use crate::effort;
use crate::estimate::Estimate;
use crate::estimate::work::work;
use crate::order::{Orders, Searched};
use crate::unplanned::{Result, Unplanned};

/// The most operands of which every subset of that size is tried converted;
/// beyond, all are.
const MAX_CHOSEN: usize = 2;

pub(super) struct Search<'a> {
    start: Draft<'a>,
    asked: Asked<'a>,
    vars: Vec<IndexVar>,
    /// Accesses with walked levels.
    operands: Vec<Access>,
    /// Which of them may be converted: not what a command has converted already,
    /// or has seen by its levels, for then it need not have.
    convertible: Vec<usize>,
    /// At how many points the inside of loops over these variables runs, in any order.
    visited: RefCell<BTreeMap<Vec<IndexVar>, f64>>,
    effort: effort::Search<'a>,
    /// The least time of a step.
    least_step: f64,
}

impl<'a> Search<'a> {
    pub(super) fn new(start: Draft<'a>, asked: Asked<'a>) -> Self {
        let operands = sparse_operands(&start.concrete, &start.formats);
        let may_be_converted = |at: &usize| !start.is_converted(operands[*at].tensor);
        let vars = start.concrete.stmt.loops();
        let machine = Machine::MIDDLING;
        let is_full = |var: &&IndexVar| !operands.iter().any(|access| access.uses(**var));
        // Tiles are of three loops over all coordinates.
        let least_step = match vars.iter().filter(is_full).count() {
            ..3 => machine.dense_step,
            3.. => machine.tile_step,
        };
        Self {
            vars,
            least_step,
            convertible: (0..operands.len()).filter(may_be_converted).collect(),
            operands,
            effort: start.facts().effort.begin(),
            start,
            asked,
            visited: RefCell::default(),
        }
    }

    /// The best plan, with its cost and that of converting what kernels do not
    /// walk.
    pub(super) fn run(&self) -> Result<(Cost, Plan)> {
        let mut found = Found {
            less_than: self.asked.less_than.unwrap_or(f64::INFINITY),
            ..Found::default()
        };
        self.look(Assembly::Stored, &mut found)?;
        let may_turn = self.asked.may_turn_result && self.start.is_result_as_stored();
        if may_turn {
            self.look(Assembly::Turned, &mut found)?;
        }
        let Found {
            best,
            error,
            mut account,
            has_ended_early,
            ..
        } = found;
        match (best, error) {
            (Some((cost, mut plan)), _) => {
                if has_ended_early {
                    self.state_order(&mut plan.schedule);
                }
                Ok((cost, Plan { account, ..plan }))
            }
            (None, Some(error)) => Err(error),
            // No order suits what may not be converted: the naive one says why.
            (None, None) => {
                let naive = self.candidate(&self.vars, &[], Assembly::Stored, f64::INFINITY)?;
                let (cost, plan) = naive.expect("nothing costs less than infinity");
                account.add(considered(&plan, cost));
                Ok((cost, Plan { account, ..plan }))
            }
        }
    }

    /// States the order of loops that no command of a plan changes: a search that begins with its
    /// commands would look at other orders, and may have more time.
    fn state_order(&self, schedule: &mut Schedule) {
        let (loops, _) = self.start.concrete.stmt.nest();
        if loops.len() > 1 && schedule.0.iter().all(Command::is_mark) {
            let names: Vec<&str> = loops.iter().map(|var| self.start.name(*var)).collect();
            schedule.0.insert(0, Command::reorder(&names));
        }
    }

    /// Looks at the candidates that assemble the result so.
    ///
    /// # Errors
    /// `E0305`: neither another order nor a conversion merges less.
    fn look(&self, assembly: Assembly, found: &mut Found) -> Result<()> {
        let most_converted = self.convertible.len();
        let few = (0..=most_converted).filter(|n| *n <= MAX_CHOSEN);
        let all = (most_converted > MAX_CHOSEN).then_some(most_converted);
        for n_converted in few.chain(all) {
            for chosen in subsets(self.convertible.len(), n_converted) {
                let may_end = found.is_some() || self.asked.has_parts;
                let is_last_resort = !self.goes_on(found);
                if is_last_resort && (may_end || n_converted < most_converted) {
                    found.has_ended_early = true;
                    found.account.ran_out |= effort::may_save_more(found.least());
                    break;
                }
                // Bounds of the orders take as long as a candidate.
                self.effort.spend_on(&self.start.concrete);
                let converted: Vec<usize> = chosen.iter().map(|at| self.convertible[*at]).collect();
                let orders = Orders {
                    vars: &self.vars,
                    edges: &self.edges(&converted),
                    bound: &|begun| self.bound(begun),
                };
                let least = found.least();
                let searched = orders.search(least, &mut |order| {
                    let may_end = found.is_some() || self.asked.has_parts;
                    if may_end && !self.goes_on(found) {
                        found.has_ended_early = true;
                        found.account.ran_out |= effort::may_save_more(found.least());
                        return Ok(f64::NEG_INFINITY);
                    }
                    self.effort.spend_on_copies(converted.len());
                    let others = self.others(order, &converted)?;
                    if self.assembles(order, assembly)
                        && (is_last_resort || others.len() == converted.len())
                        && self.follows(order, found)
                    {
                        let least = found.least();
                        found.add(self.candidate(order, &others, assembly, least))?;
                    }
                    Ok(found.least())
                })?;
                found.has_ended_early |= searched == Searched::Some;
                found.account.ran_out |= searched == Searched::Some;
            }
        }
        Ok(())
    }

    /// Whether a further candidate is worth its time. If none can be lowered so far, and the
    /// statement cannot be planned in parts, those are looked at beyond that whose operands are
    /// converted wherever loops do not follow them.
    fn goes_on(&self, found: &Found) -> bool {
        match found.is_some() {
            true => self.effort.is_worth_more(found.least()),
            false => self.effort.is_worth_a_plan(),
        }
    }

    /// Whether loops in this order assemble the result so: in the order in which it is
    /// stored, or in another one.
    fn assembles(&self, order: &[IndexVar], assembly: Assembly) -> bool {
        assembly == Assembly::Stored || self.start.turns_result(order)
    }

    /// Whether the commands that come amid can be applied to loops in this order. What
    /// is converted changes no loop, so that one answer is for all candidates.
    fn follows(&self, order: &[IndexVar], found: &mut Found) -> bool {
        if self.asked.amid.is_empty() {
            return true;
        }
        if let Some(follows) = found.follows.get(order) {
            return *follows;
        }
        let mut draft = self.start.clone();
        let applied = draft.reorder(order);
        let applied = applied.and_then(|()| draft.commands(self.asked.amid));
        let illegal = applied.err().map(Unplanned::from);
        let illegal = illegal.filter(Unplanned::is_illegal_command);
        let follows = illegal.is_none();
        if let Some(error) = illegal {
            found.error.get_or_insert(error);
        }
        found.follows.insert(order.to_vec(), follows);
        follows
    }

    /// The edges that operands ask for, but for those to be converted.
    fn edges(&self, converted: &[usize]) -> Vec<(IndexVar, IndexVar)> {
        let kept = self
            .operands
            .iter()
            .enumerate()
            .filter(|(number, _)| !converted.contains(number));
        kept.flat_map(|(_, access)| path::edges(access, walked(&self.start.formats, access)))
            .map(|edge| (edge.before, edge.after))
            .chain(self.asked.ordered.iter().copied())
            .collect()
    }

    /// Those of some operands whose copies are stored otherwise than they are.
    fn others(&self, order: &[IndexVar], converted: &[usize]) -> Result<Vec<usize>> {
        let mut others = Vec::new();
        for number in converted {
            let access = &self.operands[*number];
            let format = walked(&self.start.formats, access);
            if self.copy(access, order)? != *format {
                others.push(*number);
            }
        }
        Ok(others)
    }

    /// The format of a copy that loops in this order can follow.
    fn copy(&self, access: &Access, order: &[IndexVar]) -> Result<Format> {
        let format = walked(&self.start.formats, access);
        let extents = &self.start.concrete.tensors[access.tensor].extents;
        Ok(arranged(format, access, extents, order)?)
    }

    /// The least cost of the last of these loops, inside of the others: a step is taken
    /// at each point that it comes to.
    fn bound(&self, begun: &[IndexVar]) -> f64 {
        let (_, Stmt::Assign { rhs, .. }) = self.start.concrete.stmt.nest() else {
            return 0.0;
        };
        let mut vars = begun.to_vec();
        vars.sort();
        let mut visited = self.visited.borrow_mut();
        let visited = visited
            .entry(vars)
            .or_insert_with_key(|vars| self.start.estimate().visited(rhs, vars));
        *visited * self.least_step
    }

    /// A plan with its cost; `None` where conversions alone cost no less than `least`.
    fn candidate(
        &self,
        order: &[IndexVar],
        converted: &[usize],
        assembly: Assembly,
        least: f64,
    ) -> Result<Option<(Cost, Plan)>> {
        self.effort.spend_on(&self.start.concrete);
        let mut draft = self.start.clone();
        if assembly == Assembly::Turned {
            draft.turn_result(order)?;
        }
        for number in converted {
            let access = &self.operands[*number];
            draft.convert(access, self.copy(access, order)?)?;
        }
        draft.convert_foreign()?;
        if draft.converted.nanoseconds() >= least {
            return Ok(None);
        }
        draft.reorder(order)?;
        draft.commands(self.asked.amid)?;
        let mut best = self.completed(draft.clone());
        // Where commands say what workspaces there are, these are all.
        if self.asked.amid.is_empty()
            && let Some(collected) = draft.with_result_collected()
        {
            self.effort.spend_on(&collected.concrete);
            let other = self.completed(collected.clone());
            if let Ok((cost, _)) = &other
                && best
                    .as_ref()
                    .map_or(true, |(known, _)| cost.is_less_than(known))
            {
                (draft, best) = (collected, other);
            }
        }
        let mut best = best?;
        while self.asked.amid.is_empty() {
            let mut kept = draft.with_row_kept();
            kept.extend(draft.with_factors_apart());
            let kept = kept.into_iter().filter_map(|kept| {
                self.effort.spend_on(&kept.concrete);
                let completed = self.completed(kept.clone()).ok()?;
                completed
                    .0
                    .is_less_than(&best.0)
                    .then_some((kept, completed))
            });
            let cheapest = kept.reduce(|a, b| match b.1.0.is_less_than(&a.1.0) {
                true => b,
                false => a,
            });
            let Some(cheapest) = cheapest else {
                break;
            };
            (draft, best) = cheapest;
        }
        Ok(Some(best))
    }

    /// The plan of a draft whose loops are ordered, with its cost.
    fn completed(&self, mut draft: Draft<'_>) -> Result<(Cost, Plan)> {
        draft.add_temporaries()?;
        draft.commands(self.asked.last)?;
        // Commands may ask for what kernels cannot read.
        draft.convert_foreign()?;
        let converted = draft.converted;
        let facts = draft.facts();
        let plan = draft.finish()?;
        Ok((converted + work(Estimate::of(&plan, facts)), plan))
    }
}

/// The order in which a candidate assembles the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Assembly {
    /// That in which it is stored.
    Stored,
    /// That of the loops; it is converted from there.
    Turned,
}

/// What has come of candidates so far.
#[derive(Default)]
struct Found {
    /// The cheapest of those that can be lowered, the first of equals.
    best: Option<(Cost, Plan)>,
    /// What they have to cost less than.
    less_than: f64,
    /// Why the first one that cannot be lowered cannot.
    error: Option<Unplanned>,
    account: Account,
    /// Whether candidates were left out since they were not worth the time.
    has_ended_early: bool,
    /// Which orders of loops commands can be applied to.
    follows: BTreeMap<Vec<IndexVar>, bool>,
}

impl Found {
    /// Whether one of them can be lowered.
    fn is_some(&self) -> bool {
        self.best.is_some() || self.less_than.is_finite()
    }

    /// The least cost so far.
    fn least(&self) -> f64 {
        let best = self.best.as_ref();
        best.map_or(self.less_than, |(cost, _)| {
            cost.nanoseconds().min(self.less_than)
        })
    }

    /// Takes in a candidate.
    ///
    /// # Errors
    /// `E0305`, where there is no other so far: others mostly merge as much.
    fn add(&mut self, candidate: Result<Option<(Cost, Plan)>>) -> Result<()> {
        self.account.n_looked += 1;
        match candidate {
            Ok(None) => {}
            Ok(Some((cost, plan))) => {
                self.account.add(considered(&plan, cost));
                let best = self.best.as_ref();
                if best.is_none_or(|(least, _)| cost.is_less_than(least)) {
                    self.best = Some((cost, plan));
                }
            }
            Err(error) if error.is_too_large() && self.best.is_none() => {
                return Err(error);
            }
            Err(error) => _ = self.error.get_or_insert(error),
        }
        Ok(())
    }
}

/// Distinct accesses of the right sides that have walked levels.
fn sparse_operands(concrete: &Concrete, formats: &Formats) -> Vec<Access> {
    let mut found: Vec<Access> = Vec::new();
    concrete.stmt.for_each_assign(&mut |_, _, rhs| {
        for access in rhs.accesses() {
            let is_sparse = formats
                .walked(access.tensor)
                .is_some_and(Format::has_sparse);
            if is_sparse && !found.contains(access) {
                found.push(access.clone());
            }
        }
    });
    found
}

/// All sets of `size` numbers below `n`, in order.
fn subsets(n: usize, size: usize) -> Vec<Vec<usize>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    // A smaller last number leaves too few below it: asking for these would take time
    // exponential in `n`.
    (size - 1..n)
        .flat_map(|last| {
            subsets(last, size - 1).into_iter().map(move |mut subset| {
                subset.push(last);
                subset
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::subsets;

    #[test]
    fn subsets_are_found_without_detours() {
        assert_eq!(subsets(3, 2), [[0, 1], [0, 2], [1, 2]]);
        assert_eq!(subsets(3, 0), [[]; 1]);
        assert!(subsets(2, 3).is_empty());
        // One of sixty: it would not end if the others were looked for.
        assert_eq!(subsets(60, 60).len(), 1);
    }
}
