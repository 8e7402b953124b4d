//! Fused plans: everything that a program for a contraction tree has to know.
//!
//! ```text
//! store P dense
//! workspace t0 dense
//! for K {
//!   for i, a, b { t0[i,b] += I[K,a,b] * C[i,a] }
//!   for i, b, m { E[K,i,m] += t0[i,b] * P[b,m] blocked }
//! }
//! ```
//!
//! A reference lists the modes of its tensor from the outermost level to the innermost:
//! `C[i,a]` wants `C(a,i)` with mode 1 outside. Modes are in the order of the loops around
//! the statement, except those of a dense tensor whose layout is stated. An intermediate lacks the loops that its producer and its consumer share;
//! each of these loops starts with an empty workspace. `+=` adds over the loops that the
//! target lacks.
//!
//! | line                        | says                                                     |
//! |-----------------------------|----------------------------------------------------------|
//! | `store P dense`             | store every place of this tensor                         |
//! | `workspace t dense`         | store every place of the intermediate, and clear those touched |
//! | `workspace t hashed`        | store touched places in a table                          |
//! | `… blocked`                 | run the statement's own loops as a dense product in blocks |
//!
//! Invariants: each statement of the tree is there once, after those that it reads, inside
//! one loop for each of its index variables.

mod text;

use sparsec_base::arena::Id;

use crate::loops::{Item, fused_loops, paths, statement_order};
use crate::network::{IndexVar, Network, OperandId};
use crate::price::{Kernel, Price, Priced, Workspace};
use crate::set::Set;
use crate::tree::{Factor, StatementId, Tree};

/// A fused plan. See the [module](self).
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The tree that the plan computes.
    pub tree: Tree,
    /// Loops and statements.
    pub items: Vec<Item>,
    /// By statement, where its intermediate is kept; `None` for the result.
    pub workspaces: Vec<Option<Workspace>>,
    /// Operands that are stored dense.
    pub dense: Set<OperandId>,
    /// Statements whose own loops run as a dense product in blocks.
    pub blocked: Set<StatementId>,
}

impl Plan {
    /// The plan that a priced structure of `tree` is.
    pub fn new(tree: &Tree, priced: &Priced) -> Self {
        let blocked = tree
            .statements()
            .map(|(id, _)| id)
            .filter(|id| priced.price.statements[id.index()].kernel == Kernel::Blocked);
        Self {
            tree: tree.clone(),
            items: priced.items.clone(),
            workspaces: priced.workspaces.clone(),
            dense: priced.dense,
            blocked: blocked.collect(),
        }
    }

    /// For each statement, the loops around it from outside to inside.
    pub fn paths(&self) -> Vec<Vec<IndexVar>> {
        paths(&self.tree, &self.items)
    }

    /// The statements in the order in which they run.
    pub fn order(&self) -> Vec<StatementId> {
        statement_order(&self.items)
    }

    /// The modes of a factor of `statement`, or of its target if `None`, as the plan's
    /// reference lists them.
    pub fn modes(
        &self,
        network: &Network,
        statement: StatementId,
        factor: Option<Factor>,
    ) -> Vec<IndexVar> {
        let path = &self.paths()[statement.index()];
        let in_path_order = |set: Set<IndexVar>| {
            let own = path.iter().copied().filter(|&index| set.contains(index));
            own.collect()
        };
        let workspace = |producer: StatementId| {
            self.workspaces[producer.index()]
                .as_ref()
                .map(|space| space.modes.clone())
        };
        match factor {
            Some(Factor::Operand(operand)) => in_path_order(network.operand(operand).index_set()),
            Some(Factor::Statement(producer)) => workspace(producer).unwrap_or_default(),
            None => workspace(statement)
                .unwrap_or_else(|| in_path_order(self.tree.statement(statement).kept)),
        }
    }

    /// The operand's layout: its modes from the outermost level to the innermost.
    ///
    /// # Panics
    /// If the network has no such operand.
    pub fn layout(&self, network: &Network, operand: OperandId) -> Vec<usize> {
        let own = &network.operand(operand).indices;
        let reads = |statement: &crate::tree::Statement| {
            statement.factors.contains(&Factor::Operand(operand))
        };
        let (id, _) = self
            .tree
            .statements()
            .find(|(_, statement)| reads(statement))
            .expect("a tree uses each operand");
        let modes = self.modes(network, id, Some(Factor::Operand(operand)));
        let places = modes
            .iter()
            .map(|index| own.iter().position(|own| own == index));
        places
            .map(|place| place.expect("a mode of its own"))
            .collect()
    }

    /// The layout of each tensor that most of its operands read, or the one that it has.
    pub fn layouts(&self, network: &Network) -> Vec<Vec<usize>> {
        let layouts = network.tensors().map(|(id, tensor)| {
            let read: Vec<Vec<usize>> = network
                .operands()
                .filter(|(_, operand)| operand.tensor == id)
                .map(|(operand, _)| self.layout(network, operand))
                .collect();
            let uses = |layout: &Vec<usize>| read.iter().filter(|other| *other == layout).count();
            let most = read
                .iter()
                .rev()
                .max_by_key(|&layout| uses(layout))
                .cloned();
            let any = || (0..tensor.order()).collect();
            tensor.layout.clone().or(most).unwrap_or_else(any)
        });
        layouts.collect()
    }

    /// Operands that the plan reads in another mode order than the one of
    /// [`layouts`](Self::layouts), and so have to be copied.
    pub fn converted(&self, network: &Network) -> Set<OperandId> {
        let layouts = self.layouts(network);
        let differs = |id: &OperandId| {
            let tensor = network.operand(*id).tensor;
            !self.dense.contains(*id) && layouts[tensor.index()] != self.layout(network, *id)
        };
        network
            .operands()
            .map(|(id, _)| id)
            .filter(differs)
            .collect()
    }

    /// Checks the invariants of the [module](self).
    pub(crate) fn check(&self, network: &Network) -> Result<(), (StatementId, String)> {
        let paths = paths(&self.tree, &self.items);
        let fused = fused_loops(&self.tree, &self.items);
        let mut done: Set<StatementId> = Set::EMPTY;
        for id in self.order() {
            let statement = self.tree.statement(id);
            let path = &paths[id.index()];
            let around: Set<IndexVar> = path.iter().copied().collect();
            let name = |index: IndexVar| network.variable(index).name.clone();
            if let Some(index) = statement.loops.without(around).iter().next() {
                return Err((
                    id,
                    format!("no loop over `{}` is around this statement", name(index)),
                ));
            }
            if around != statement.loops || path.len() != around.len() {
                let extra = around.without(statement.loops).iter().next();
                let extra = extra.or(path.last().copied()).map_or(String::new(), name);
                return Err((
                    id,
                    format!("a loop too many over `{extra}` is around this statement"),
                ));
            }
            for factor in &statement.factors {
                if let Factor::Statement(producer) = factor
                    && !done.contains(*producer)
                {
                    let name = &self.tree.statement(*producer).name;
                    return Err((id, format!("`{name}` is read before it is computed")));
                }
            }
            if statement.consumer.is_some() {
                let wanted = statement.kept.without(fused[id.index()]);
                let modes = self.workspaces[id.index()]
                    .iter()
                    .flat_map(|space| &space.modes);
                if modes.copied().collect::<Set<IndexVar>>() != wanted {
                    let wanted: Vec<IndexVar> = wanted.iter().collect();
                    let wanted = crate::reference::names(network, &wanted, ", ");
                    return Err((
                        id,
                        format!(
                            "`{}` has the modes {{{wanted}}}: those without a loop around its consumer",
                            statement.name
                        ),
                    ));
                }
            }
            done.insert(id);
        }
        Ok(())
    }
}

/// A plan with its price.
#[derive(Clone, Debug, PartialEq)]
pub struct PricedPlan {
    /// The plan.
    pub plan: Plan,
    /// Its price.
    pub price: Price,
    /// Steps and written entries of its tree, without fusion.
    pub tree_cost: f64,
}
