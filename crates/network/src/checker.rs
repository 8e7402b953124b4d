//! An independent judge of fused structures, by simulation instead of formulas.
//!
//! A [`Solution`] is what the search and a solver both find: an order of the statements, the
//! loops around each, the mode order of each tensor. [`judge`] runs through it as a machine
//! would: it writes the loops that neighbouring statements have in common once, looks which
//! of them are still the same loop when an intermediate is read, walks each stored tensor
//! level by level, and says which order each intermediate is left with. It shares nothing
//! with [`fusion`](crate::fusion) and [`constraints`](crate::constraints) but the tree.

use std::collections::BTreeMap;

use sparsec_base::arena::Id;

use crate::constraints::{Model, SystemOptions, uses};
use crate::loops::Item;
use crate::network::{IndexVar, Network};
use crate::tree::{Factor, StatementId, Tree};

/// A structure as variables of the paper's system have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// The statements in the order in which they run.
    pub order: Vec<StatementId>,
    /// By statement, the loops around it from outside to inside.
    pub loops: Vec<Vec<IndexVar>>,
    /// By the name of a tensor, its modes from the outermost level to the innermost.
    pub layouts: BTreeMap<String, Vec<usize>>,
}

impl Solution {
    /// The solution that a model of the tree's system states: things are sorted by their
    /// variables, so a model that gives two of them one value is judged, not refused.
    ///
    /// # Panics
    /// If the model lacks a variable of the system.
    pub fn of_model(network: &Network, tree: &Tree, model: &Model) -> Self {
        let mut order: Vec<StatementId> = tree.statements().map(|(id, _)| id).collect();
        order.sort_by_key(|id| model[&format!("ap_{}", id.index())]);
        let loops = tree.statements().map(|(id, statement)| {
            let mut loops: Vec<IndexVar> = statement.loops.iter().collect();
            loops.sort_by_key(|&index| {
                model[&format!("lp_{}_{}", id.index(), network.variable(index).name)]
            });
            loops
        });
        let mut layouts = BTreeMap::new();
        let loops = loops.collect();
        for read in uses(network, tree) {
            let mut modes: Vec<usize> = (0..read.indices.len()).collect();
            modes.sort_by_key(|mode| model[&format!("dp_{}_{mode}", read.tensor)]);
            layouts.insert(read.tensor, modes);
        }
        Self {
            order,
            loops,
            layouts,
        }
    }

    /// The loops that these orders make: neighbouring statements share their common outermost
    /// loops.
    pub fn items(&self) -> Vec<Item> {
        fn build(statements: &[StatementId], loops: &[Vec<IndexVar>], depth: usize) -> Vec<Item> {
            let mut items = Vec::new();
            let mut from = 0;
            while from < statements.len() {
                let at = |n: usize| loops[statements[n].index()].get(depth).copied();
                let mut to = from + 1;
                match at(from) {
                    None => items.push(Item::Statement(statements[from])),
                    Some(index) => {
                        while to < statements.len() && at(to) == Some(index) {
                            to += 1;
                        }
                        let body = build(&statements[from..to], loops, depth + 1);
                        items.push(Item::Loop(index, body));
                    }
                }
                from = to;
            }
            items
        }
        build(&self.order, &self.loops, 0)
    }
}

/// The order that each intermediate is left with, by statement; 0 for the result.
///
/// # Errors
/// The fault of a solution, in words.
pub fn judge(
    network: &Network,
    tree: &Tree,
    options: &SystemOptions,
    solution: &Solution,
) -> Result<Vec<usize>, String> {
    let mut done: Vec<StatementId> = Vec::new();
    for &id in &solution.order {
        let statement = tree.statement(id);
        if done.contains(&id) {
            return Err(format!("`{}` runs twice", statement.name));
        }
        for factor in &statement.factors {
            if let Factor::Statement(producer) = factor
                && !done.contains(producer)
            {
                let read = &tree.statement(*producer).name;
                return Err(format!(
                    "`{}` reads `{read}` before it exists",
                    statement.name
                ));
            }
        }
        let mut loops = solution.loops[id.index()].clone();
        loops.sort_unstable();
        if !loops.into_iter().eq(statement.loops.iter()) {
            return Err(format!(
                "`{}` lacks a loop, or has one too many",
                statement.name
            ));
        }
        done.push(id);
    }
    if done.len() != tree.len() {
        return Err("a statement does not run".to_owned());
    }
    for (place, (_, tensor)) in network.tensors().enumerate() {
        let fixed = options.layouts.get(place).cloned().flatten();
        let stored = solution.layouts.get(&tensor.name);
        if let (Some(fixed), Some(stored)) = (fixed, stored)
            && fixed != *stored
        {
            return Err(format!("`{}` has another layout", tensor.name));
        }
    }
    for read in uses(network, tree) {
        let any_order = match read.operand {
            Some(operand) => options.free.contains(operand),
            None => read.is_intermediate && !options.ordered_intermediates,
        };
        if any_order {
            continue;
        }
        // Levels of a fiber tree can be entered from outside to inside only.
        let layout = &solution.layouts[&read.tensor];
        let mut levels = layout.iter().map(|&mode| read.indices[mode]);
        let mut next = levels.next();
        for &index in &solution.loops[read.statement.index()] {
            if Some(index) == next {
                next = levels.next();
            } else if read.indices.contains(&index) {
                let name = &tree.statement(read.statement).name;
                return Err(format!(
                    "loops of `{name}` enter `{}` at an inner level",
                    read.tensor
                ));
            }
        }
    }
    let orders = left_orders(tree, solution);
    match orders.iter().position(|&order| order > options.limit) {
        Some(place) => Err(format!(
            "`{}` is left with order {}",
            tree.statement(StatementId::from_index(place)).name,
            orders[place]
        )),
        None => Ok(orders),
    }
}

/// Runs through the loops with a number for each loop that is opened, and compares the
/// numbers around producer and consumer.
fn left_orders(tree: &Tree, solution: &Solution) -> Vec<usize> {
    let mut open: Vec<(IndexVar, usize)> = Vec::new();
    let mut n_opened = 0;
    let mut around: Vec<Vec<(IndexVar, usize)>> = vec![Vec::new(); tree.len()];
    for &id in &solution.order {
        let loops = &solution.loops[id.index()];
        let common = open.iter().zip(loops).take_while(|(a, b)| a.0 == **b);
        let common = common.count();
        open.truncate(common);
        for &index in &loops[common..] {
            open.push((index, n_opened));
            n_opened += 1;
        }
        around[id.index()] = open.clone();
    }
    let orders = tree.statements().map(|(id, statement)| {
        let Some(consumer) = statement.consumer else {
            return 0;
        };
        let shared = around[id.index()]
            .iter()
            .filter(|own| around[consumer.index()].contains(own));
        let shared: Vec<IndexVar> = shared.map(|(index, _)| *index).collect();
        let left = statement
            .kept
            .iter()
            .filter(|index| !shared.contains(index));
        left.count()
    });
    orders.collect()
}
