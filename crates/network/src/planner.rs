//! From a network to a fused plan: trees, structures of each, prices, the best.
//!
//! ```text
//! network ─► trees (search) ─► structures (fusion) ─► prices ─► neighbours ─► plan
//!            the cheapest 8     conversions chosen              of the best 2
//! ```
//!
//! 1. The cheapest trees are found, or the given tree is taken.
//! 2. For each, the fusion with the least [`traffic`] is priced, with operands in the layouts
//!    that they have if loops can follow them all, and else with all of them copied.
//! 3. For the best `MAX_CONVERSIONS` of these, each operand is copied or read as it is, and a
//!    tensor that is used several times and has no layout gets each of its layouts, as long as
//!    a single change lowers the price.
//! 4. From the best `MAX_CLIMBS`, single changes are made as long as they lower the price:
//!    another order of fused loops, or one fused loop less, which runs once for each of the
//!    statements that it surrounded.
//!
//! Steps 1 and 2 are exact for their costs. Steps 3 and 4 are descents, since the price is
//! neither separable nor monotone: a plan is a local optimum of the price.
//!
//! With [`Objective::Order`] the plan is the paper's: the least order to which all
//! intermediates can be reduced, and the least sum of orders among these.

mod neighbours;
mod solver;

use std::cell::Cell;

use sparsec_base::arena::Id;
use sparsec_base::cancel::checkpoint;
use sparsec_base::{Diagnostic, Result, code};
use sparsec_machine::Machine;

use crate::estimate::Estimator;
use crate::fusion::{
    Fused, Layouts, Precedence, fuse, fuse_visiting, least_order, stated_layouts, within,
};
use crate::loops::paths;
use crate::network::{IndexVar, Network, OperandId};
use crate::plan::{Plan, PricedPlan};
use crate::price::{Priced, Pricer, stored_dense, traffic};
use crate::search::{self, Ranked, SearchOptions};
use crate::set::Set;
use crate::tree::{StatementId, Tree};

use neighbours::neighbours;
pub use solver::solve;

/// Trees of which conversions are chosen.
const MAX_CONVERSIONS: usize = 3;

/// Connected parts of trees that a step may visit: those of a complete binary tree of 15
/// statements, forty times. Further fusions cut the cheapest edges, and descents end.
const MAX_PARTS: usize = 1 << 15;

/// Pricing one statement takes as long as visiting so many connected parts.
/// Source: chains of 10 to 40 tensors.
const PARTS_A_STATEMENT: usize = 16;

/// Structures from which single changes are made.
const MAX_CLIMBS: usize = 2;

/// The objective of a plan.
#[derive(Clone, Debug, PartialEq)]
pub enum Objective {
    /// The estimated time on the machine.
    Time,
    /// The order of intermediates, as in the paper.
    Order {
        /// Intermediates may have this order; `None` for the least possible.
        at_most: Option<usize>,
    },
}

/// How to plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanOptions {
    /// The objective.
    pub objective: Objective,
    /// The machine whose time is estimated.
    pub machine: Machine,
    /// How to search for trees.
    pub search: SearchOptions,
    /// The tree to use, if it is given.
    pub tree: Option<Tree>,
    /// The order in which loops produce the result. A dense product in tiles may produce a
    /// dense result in another one.
    pub result_layout: Option<Vec<IndexVar>>,
    /// Whether the result is stored dense.
    pub is_result_dense: bool,
    /// How many runs share copies of operands.
    pub runs: f64,
    /// Bytes that workspaces and copies may take.
    pub memory: f64,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self {
            objective: Objective::Time,
            machine: Machine::MIDDLING,
            search: SearchOptions::default(),
            tree: None,
            result_layout: None,
            is_result_dense: false,
            runs: 1.0,
            memory: f64::INFINITY,
        }
    }
}

/// The plans that were found.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The plans, the best first.
    pub plans: Vec<PricedPlan>,
    /// Whether the fusion of each tree is the best for its separable cost.
    pub exact: bool,
    /// The highest order of an intermediate in the best plan.
    pub order: usize,
}

/// Plans a network. See the [module](self).
///
/// # Errors
/// `E0902` if the result's layout or that of operands leaves no loop order to a statement of
/// the given tree, `E0908` if no plan fits in memory, `E0909` if no intermediates have the
/// order that [`Objective::Order`] asks for.
///
/// ```
/// use sparsec_network::{Estimator, Network, PlanOptions, planner::plan};
/// let network = Network::parse("
///     tensor I[175, 75, 75] entries 511075
///     tensor C[75, 25] entries 843
///     tensor P[75, 75]
///     E(K,i,m) = I(K,a,b) * C(a,i) * P(b,m)")?;
/// let planned = plan(&Estimator::new(&network), &PlanOptions::default())?;
/// assert_eq!(planned.plans[0].plan.print(&network), "\
/// store I dense
/// store C dense
/// workspace t0 dense
/// for K {
///   for b, a, i { t0[b,i] += I[K,b,a] * C[a,i] blocked }
///   for i, b, m { E[K,i,m] += t0[b,i] * P[b,m] blocked }
/// }
/// ");
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn plan(estimator: &Estimator<'_>, options: &PlanOptions) -> Result<Planned> {
    let trees = match &options.tree {
        Some(tree) => vec![Ranked {
            cost: tree.cost(estimator),
            tree: tree.clone(),
        }],
        None => search::trees(estimator, options.search),
    };
    let planner = Planner {
        estimator,
        machine: &options.machine,
        options,
        parts_left: Cell::new(MAX_PARTS),
    };
    let mut candidates: Vec<Candidate<'_>> = trees
        .iter()
        .filter_map(|ranked| planner.first(ranked))
        .collect();
    if candidates.is_empty() {
        return Err(planner.refuse(&trees));
    }
    sort(&mut candidates);
    if options.objective == Objective::Time {
        planner.parts_left.set(MAX_PARTS);
        for candidate in candidates.iter_mut().take(MAX_CONVERSIONS) {
            planner.choose_layouts(candidate);
        }
        sort(&mut candidates);
        // Who has other prices may prefer the structure from which the changes were made.
        let mut climbed: Vec<Candidate<'_>> = candidates.iter().take(MAX_CLIMBS).cloned().collect();
        for candidate in &mut climbed {
            planner.climb(candidate);
        }
        let changed = climbed.into_iter().zip(&candidates);
        let changed = changed.filter(|(to, from)| to.priced.price.total < from.priced.price.total);
        let changed: Vec<Candidate<'_>> = changed.map(|(to, _)| to).collect();
        candidates.extend(changed);
        sort(&mut candidates);
    }
    finish(candidates, options)
}

fn finish(mut candidates: Vec<Candidate<'_>>, options: &PlanOptions) -> Result<Planned> {
    let bytes = |candidate: &Candidate<'_>| candidate.priced.price.bytes;
    let least = candidates.iter().map(bytes).fold(f64::INFINITY, f64::min);
    candidates.retain(|candidate| bytes(candidate) <= options.memory);
    let Some(best) = candidates.first() else {
        return Err(Diagnostic::new(
            code::NETWORK_MEMORY,
            format!(
                "workspaces and copies take at least {least:.3e} bytes, more than the limit of {:.3e}",
                options.memory
            ),
        )
        .help("raise the limit, leave layouts of operands open, or state another tree"));
    };
    let spaces = best.priced.workspaces.iter().flatten();
    Ok(Planned {
        order: spaces.map(|space| space.modes.len()).max().unwrap_or(0),
        exact: candidates.iter().all(|candidate| candidate.exact),
        plans: candidates
            .iter()
            .map(|candidate| PricedPlan {
                plan: Plan::new(&candidate.ranked.tree, &candidate.priced),
                price: candidate.priced.price.clone(),
                tree_cost: candidate.ranked.cost,
            })
            .collect(),
    })
}

/// A structure with the layouts that it follows.
#[derive(Clone)]
struct Candidate<'a> {
    ranked: &'a Ranked,
    layouts: Layouts,
    converted: Set<OperandId>,
    precedence: Precedence,
    priced: Priced,
    exact: bool,
}

/// The least total first, the least order among equal ones.
fn sort(candidates: &mut [Candidate<'_>]) {
    let total = |candidate: &Candidate<'_>| candidate.priced.price.total;
    candidates.sort_by(|a, b| total(a).total_cmp(&total(b)));
}

struct Planner<'a> {
    estimator: &'a Estimator<'a>,
    machine: &'a Machine,
    options: &'a PlanOptions,
    /// How many connected parts of trees this step may still visit.
    parts_left: Cell<usize>,
}

impl<'a> Planner<'a> {
    fn network(&self) -> &'a Network {
        self.estimator.network()
    }

    /// Why no tree has a structure.
    fn refuse(&self, trees: &[Ranked]) -> Diagnostic {
        let least = trees.iter().filter_map(|ranked| {
            let none = Precedence::none(&ranked.tree);
            least_order(&ranked.tree, &none)
        });
        match (&self.options.objective, least.min()) {
            (
                Objective::Order {
                    at_most: Some(limit),
                },
                Some(least),
            ) if *limit < least => Diagnostic::new(
                code::NETWORK_ORDER,
                format!("intermediates cannot all have order {limit}; the least is {least}"),
            )
            .help(format!("allow order {least}, or state another tree")),
            _ => Diagnostic::new(
                code::NETWORK_TREE,
                "no loops follow all fixed layouts of a statement and produce its result in order",
            )
            .help("leave the layout of the result open, or convert the result afterwards"),
        }
    }

    /// The structure of a tree in the stated layouts, or with all operands copied.
    fn first<'r>(&self, ranked: &'r Ranked) -> Option<Candidate<'r>> {
        let layouts = stated_layouts(self.network());
        self.candidate(ranked, &layouts, Set::EMPTY)
            .or_else(|| self.candidate(ranked, &layouts, self.constrained(&layouts)))
    }

    fn candidate<'r>(
        &self,
        ranked: &'r Ranked,
        layouts: &Layouts,
        converted: Set<OperandId>,
    ) -> Option<Candidate<'r>> {
        checkpoint();
        let tree = &ranked.tree;
        let free = converted.union(stored_dense(self.network(), self.machine));
        let mut precedence = Precedence::of(self.network(), tree, layouts, free);
        if let Some(layout) = &self.options.result_layout {
            match self.options.is_result_dense {
                true => precedence.prefer(layout.clone()),
                false => precedence.fix(StatementId::from_index(tree.len() - 1), layout.clone()),
            }
        }
        let fused = self.fuse(tree, &precedence)?;
        let priced = self
            .pricer(tree, &precedence, converted)
            .price(&fused.items);
        Some(Candidate {
            ranked,
            layouts: layouts.clone(),
            converted,
            precedence,
            priced,
            exact: fused.exact,
        })
    }

    fn fuse(&self, tree: &Tree, precedence: &Precedence) -> Option<Fused> {
        match self.options.objective {
            Objective::Time => {
                let left = self.parts_left.get();
                let cost = traffic(self.estimator, self.machine, tree);
                let fused = fuse_visiting(left, tree, precedence, cost)?;
                let n_parts = fused.n_parts + tree.len() * PARTS_A_STATEMENT;
                self.parts_left.set(left.saturating_sub(n_parts));
                Some(fused)
            }
            Objective::Order { at_most } => {
                let least = least_order(tree, precedence)?;
                let limit = at_most.unwrap_or(least);
                let fused = fuse(tree, precedence, within(tree, limit.max(least)));
                fused.filter(|_| limit >= least)
            }
        }
    }

    fn pricer<'p>(
        &'p self,
        tree: &'p Tree,
        precedence: &'p Precedence,
        converted: Set<OperandId>,
    ) -> Pricer<'p> {
        let runs = self.options.runs;
        Pricer::new(
            self.estimator,
            self.machine,
            tree,
            precedence,
            converted,
            runs,
        )
    }

    /// Operands that a fixed layout constrains.
    fn constrained(&self, layouts: &Layouts) -> Set<OperandId> {
        let dense = stored_dense(self.network(), self.machine);
        let constrained = self.network().operands().filter(|(id, operand)| {
            operand.indices.len() > 1
                && layouts[operand.tensor.index()].is_some()
                && !dense.contains(*id)
        });
        constrained.map(|(id, _)| id).collect()
    }

    /// Copies an operand or not, and gives layouts to tensors that are used several times, as
    /// long as one such change lowers the price.
    fn choose_layouts<'r>(&self, best: &mut Candidate<'r>) {
        let repeated = self.repeated();
        for &tensor in &repeated {
            let order = self
                .network()
                .tensors()
                .nth(tensor)
                .map_or(0, |(_, t)| t.order());
            best.layouts[tensor] = Some((0..order).collect());
        }
        if !repeated.is_empty() {
            let layouts = best.layouts.clone();
            let all = self.constrained(&layouts);
            let start = self
                .candidate(best.ranked, &layouts, Set::EMPTY)
                .or_else(|| self.candidate(best.ranked, &layouts, all));
            if let Some(start) = start {
                *best = start;
            }
        }
        loop {
            let mut changes: Vec<(Layouts, Set<OperandId>)> = Vec::new();
            for operand in self.constrained(&best.layouts).iter() {
                let one = Set::of(operand);
                let converted = match best.converted.contains(operand) {
                    true => best.converted.without(one),
                    false => best.converted.union(one),
                };
                changes.push((best.layouts.clone(), converted));
            }
            for &tensor in &repeated {
                for layout in permutations(best.layouts[tensor].clone().unwrap_or_default()) {
                    let mut layouts = best.layouts.clone();
                    layouts[tensor] = Some(layout);
                    changes.push((layouts, best.converted));
                }
            }
            let mut found: Option<Candidate<'r>> = None;
            for (layouts, converted) in changes {
                if self.parts_left.get() == 0 {
                    break;
                }
                let least = found
                    .as_ref()
                    .map_or(best.priced.price.total, |found| found.priced.price.total);
                let candidate = self.candidate(best.ranked, &layouts, converted);
                if let Some(candidate) = candidate
                    && candidate.priced.price.total < least
                {
                    found = Some(candidate);
                }
            }
            match found {
                Some(found) => *best = found,
                None => return,
            }
        }
    }

    /// Tensors without a layout that several operands of order 2 to 4 use, and that are
    /// stored sparse.
    fn repeated(&self) -> Vec<usize> {
        let network = self.network();
        let dense = stored_dense(network, self.machine);
        let tensors = network.tensors().filter(|(id, tensor)| {
            let uses = network
                .operands()
                .filter(|(operand, read)| read.tensor == *id && !dense.contains(*operand));
            tensor.layout.is_none() && (2..=4).contains(&tensor.order()) && uses.count() > 1
        });
        tensors.map(|(id, _)| id.index()).collect()
    }

    /// Changes single loops as long as this lowers the price.
    fn climb(&self, best: &mut Candidate<'_>) {
        let tree = &best.ranked.tree;
        let mut pricer = self.pricer(tree, &best.precedence, best.converted);
        loop {
            let mut found: Option<Priced> = None;
            for items in neighbours(&best.priced.items) {
                checkpoint();
                if !best.precedence.is_followed(tree, &paths(tree, &items)) {
                    continue;
                }
                let priced = pricer.price(&items);
                let least = found
                    .as_ref()
                    .map_or(best.priced.price.total, |found| found.price.total);
                if priced.price.total < least * (1.0 - 1e-9) {
                    found = Some(priced);
                }
            }
            match found {
                Some(found) => best.priced = found,
                None => return,
            }
        }
    }
}

/// All orders of up to four numbers.
fn permutations(numbers: Vec<usize>) -> Vec<Vec<usize>> {
    if numbers.len() < 2 {
        return vec![numbers];
    }
    let mut found = Vec::new();
    for (place, &first) in numbers.iter().enumerate() {
        let mut rest = numbers.clone();
        rest.remove(place);
        for mut order in permutations(rest) {
            order.insert(0, first);
            found.push(order);
        }
    }
    found
}

#[cfg(test)]
mod tests;
