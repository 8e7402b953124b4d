//! The estimated time of a fused structure, and the choices that it leaves open.
//!
//! [`fuse`](crate::fuse) minimises a cost that is separable and monotone. The price is
//! neither: fewer fused loops may leave a dense product to a blocked kernel, and the order of
//! the loops inside a statement decides which operand is merged and which is streamed. So
//! candidates are priced one by one, as the sum over their statements of
//!
//! | term       | counts                                                                      |
//! |------------|-----------------------------------------------------------------------------|
//! | iterations | of each loop: dense, over one sparse operand, or a merge of several          |
//! | kernel     | the innermost loop: scalar, in vector lanes, or a blocked product of the rest |
//! | traffic    | each factor and the target, by the level that keeps what a reuse loop sweeps  |
//! | workspace  | clearing its touched entries; hashing, if it is large and sparse              |
//! | copies     | operands in another mode order, or stored dense                               |
//!
//! Loops that only one statement has are ordered here, by trying their orders
//! ([`MAX_ORDERS`]). The mode order of a workspace is the loop order of its producer, since
//! scattered additions cost more than scattered reads.

mod statement;

use sparsec_base::arena::Id;
use sparsec_machine::Machine;

use crate::estimate::Estimator;
use crate::fusion::Precedence;
use crate::loops::{Item, fused_loops, paths};
use crate::network::{IndexVar, Network, OperandId};
use crate::set::{Map, Set};
use crate::tree::{Factor, StatementId, Tree};

pub use statement::Kernel;
use statement::Site;

/// Orders of a statement's own loops that are tried: all of up to four loops.
pub const MAX_ORDERS: usize = 24;

/// Bytes of a value.
const VALUE: f64 = 8.0;
/// Bytes of an entry of a sparse tensor, its coordinate included.
const ENTRY: f64 = 12.0;
/// How often an entry is read and written while a tensor is sorted into another mode order:
/// by four passes over digits of its key.
const SORTED: f64 = 8.0;

/// How an intermediate is kept between its producer and its consumer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Workspace {
    /// Its index variables, from the outermost mode to the innermost: those that its
    /// producer and its consumer do not share loops over.
    pub modes: Vec<IndexVar>,
    /// How it stores them.
    pub kind: WorkspaceKind,
}

/// How a workspace stores its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WorkspaceKind {
    /// Every place; touched ones are cleared after use.
    Dense,
    /// Touched places, in a table.
    Hashed,
}

/// The price of one statement, in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementPrice {
    /// Its innermost loops.
    pub kernel: Kernel,
    /// Iterations and multiply-adds.
    pub steps: f64,
    /// Memory, its workspace included.
    pub traffic: f64,
}

/// The price of a structure.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// One for each statement.
    pub statements: Vec<StatementPrice>,
    /// Copies of operands to other mode orders and to dense storage.
    pub copies: f64,
    /// All of it, in nanoseconds.
    pub total: f64,
    /// Bytes of workspaces and copies.
    pub bytes: f64,
}

/// A structure that is complete: loops in order, workspaces, storage.
#[derive(Clone, Debug, PartialEq)]
pub struct Priced {
    /// Loops and statements.
    pub items: Vec<Item>,
    /// One for each statement but the last.
    pub workspaces: Vec<Option<Workspace>>,
    /// Operands that are stored dense.
    pub dense: Set<OperandId>,
    /// The price.
    pub price: Price,
}

/// Prices structures of one tree; statements that several structures share are priced once.
pub struct Pricer<'a> {
    estimator: &'a Estimator<'a>,
    machine: &'a Machine,
    tree: &'a Tree,
    precedence: &'a Precedence,
    converted: Set<OperandId>,
    /// Runs that share the copies.
    runs: f64,
    dense: Set<OperandId>,
    known: Map<Site, (Vec<IndexVar>, StatementPrice)>,
    tuples: Map<(Factor, Set<IndexVar>), f64>,
    /// By statement and open loops, how often their body runs.
    points: Map<(StatementId, Set<IndexVar>), f64>,
}

impl<'a> Pricer<'a> {
    /// A pricer for structures of `tree` that respect `precedence`, with the operands in
    /// `converted` copied to the mode order that their loops want. All copies serve `runs`
    /// runs.
    pub fn new(
        estimator: &'a Estimator<'a>,
        machine: &'a Machine,
        tree: &'a Tree,
        precedence: &'a Precedence,
        converted: Set<OperandId>,
        runs: f64,
    ) -> Self {
        Self {
            estimator,
            machine,
            tree,
            precedence,
            converted,
            runs,
            dense: stored_dense(estimator.network(), machine),
            known: Map::default(),
            tuples: Map::default(),
            points: Map::default(),
        }
    }

    /// Orders the loops that only one statement has, and prices the structure.
    pub fn price(&mut self, items: &[Item]) -> Priced {
        let fused = fused_loops(self.tree, items);
        let paths = paths(self.tree, items);
        let shared = shared_depths(self.tree, items);
        let mut workspaces: Vec<Option<Workspace>> = vec![None; self.tree.len()];
        let mut orders = vec![Vec::new(); self.tree.len()];
        let mut statements = Vec::new();
        for (id, statement) in self.tree.statements() {
            let (prefix, own) = paths[id.index()].split_at(shared[id.index()]);
            let site = Site {
                statement: id,
                prefix: prefix.to_vec(),
                own: own.iter().copied().collect(),
                fused: fused[id.index()],
                factors: statement
                    .factors
                    .iter()
                    .map(|&factor| match factor {
                        Factor::Statement(producer) => workspaces[producer.index()].clone(),
                        Factor::Operand(_) => None,
                    })
                    .collect(),
            };
            let (order, price) = self.best_order(site);
            if statement.consumer.is_some() {
                workspaces[id.index()] = Some(self.workspace(id, fused[id.index()], &order));
            }
            orders[id.index()] = order[prefix.len()..].to_vec();
            statements.push(price);
        }
        let items = with_orders(items, &orders);
        let (copies, copied_bytes) = self.copies();
        let bytes = workspaces.iter().flatten().map(|space| self.bytes(space));
        let sum: f64 = statements.iter().map(|one| one.steps + one.traffic).sum();
        Priced {
            price: Price {
                copies,
                total: sum + copies,
                bytes: copied_bytes + bytes.sum::<f64>(),
                statements,
            },
            items,
            workspaces,
            dense: self.dense,
        }
    }

    /// The workspace of the tensor that `statement` computes in loops of this order.
    fn workspace(
        &self,
        statement: StatementId,
        fused: Set<IndexVar>,
        order: &[IndexVar],
    ) -> Workspace {
        let kept = self.tree.statement(statement).kept.without(fused);
        let modes: Vec<IndexVar> = order
            .iter()
            .copied()
            .filter(|&index| kept.contains(index))
            .collect();
        Workspace {
            modes,
            kind: workspace_kind(self.estimator, self.machine, self.tree, statement, fused),
        }
    }

    fn bytes(&self, workspace: &Workspace) -> f64 {
        let places = self
            .estimator
            .network()
            .size_of(workspace.modes.iter().copied().collect());
        places * VALUE
    }

    fn best_order(&mut self, site: Site) -> (Vec<IndexVar>, StatementPrice) {
        if let Some(known) = self.known.get(&site) {
            return known.clone();
        }
        let mut orders = Vec::new();
        let mut order = site.prefix.clone();
        self.extend(&site, &mut order, &mut orders);
        let mut best: Option<(Vec<IndexVar>, StatementPrice)> = None;
        for order in orders {
            let price = self.statement(&site, &order);
            let total = price.steps + price.traffic;
            let is_better = best
                .as_ref()
                .is_none_or(|(_, least)| total < least.steps + least.traffic);
            if is_better {
                best = Some((order, price));
            }
        }
        let mut best = best.expect("a statement without conflicts has a loop order");
        if best.1.kernel == Kernel::Blocked {
            best.0 = self.tiled_order(&site).unwrap_or(best.0);
        }
        self.known.insert(site, best.clone());
        best
    }

    /// The loops of a blocked product, `C(b,i,j) += A(b,i,k) * B(b,k,j)`, in the order in which
    /// tiles hold several rows: `b`, then the rows `i`, the sums `k` and the columns `j`. `None` if
    /// layouts forbid it.
    fn tiled_order(&self, site: &Site) -> Option<Vec<IndexVar>> {
        let network = self.estimator.network();
        let target = self.tree.target_indices(network, site.statement);
        let kept: Set<IndexVar> = target.iter().copied().collect();
        let summed = site.own.without(kept);
        let own = target.into_iter().filter(|&index| site.own.contains(index));
        let mut own: Vec<IndexVar> = own.collect();
        let column = own.pop()?;
        let factors = self.tree.statement(site.statement).factors.iter();
        let mut indices = factors.map(|&factor| self.tree.factor_indices(network, factor));
        let shared = indices.find(|indices| indices.contains(column))?;
        // Stable: the order of the target otherwise.
        own.sort_by_key(|&index| !shared.contains(index));
        let mut order = site.prefix.clone();
        for index in own.into_iter().chain(summed.iter()).chain([column]) {
            let opened = order.iter().copied().collect();
            if !self
                .precedence
                .allows_in_tiles(site.statement, index, opened)
            {
                return None;
            }
            order.push(index);
        }
        Some(order)
    }

    /// Collects loop orders that layouts allow. Loops over few coordinates are tried inside
    /// first, as the paper's artifact sorts them.
    fn extend(&self, site: &Site, order: &mut Vec<IndexVar>, found: &mut Vec<Vec<IndexVar>>) {
        let opened: Set<IndexVar> = order.iter().copied().collect();
        let mut left: Vec<IndexVar> = site.own.without(opened).iter().collect();
        if left.is_empty() {
            found.push(order.clone());
            return;
        }
        left.sort_by_key(|&index| {
            std::cmp::Reverse(self.estimator.network().variable(index).extent)
        });
        for index in left {
            if found.len() < MAX_ORDERS && self.precedence.allows(site.statement, index, opened) {
                order.push(index);
                self.extend(site, order, found);
                order.pop();
            }
        }
    }

    fn copies(&self) -> (f64, f64) {
        let (mut time, mut bytes) = (0.0, 0.0);
        let network = self.estimator.network();
        for (id, _) in network.operands() {
            let tensor = network.tensor_of(id);
            let is_dense = self.dense.contains(id);
            if is_dense && tensor.n_stored() < tensor.size() {
                let size = tensor.size() * VALUE;
                time += size * self.machine.byte;
                bytes += size;
            } else if self.converted.contains(id) && !is_dense {
                let size = tensor.n_stored() * ENTRY;
                time += size * SORTED * self.machine.byte;
                bytes += size;
            }
        }
        (time / self.runs.max(1.0), bytes)
    }
}

/// The operands that are worth storing dense.
pub fn stored_dense(network: &Network, machine: &Machine) -> Set<OperandId> {
    let dense = network.operands().filter(|(id, _)| {
        let tensor = network.tensor_of(*id);
        tensor.n_stored() >= machine.dense_from() * tensor.size()
    });
    dense.map(|(id, _)| id).collect()
}

/// Whether the intermediate of a statement is kept in a dense or a hashed workspace.
pub(crate) fn workspace_kind(
    estimator: &Estimator<'_>,
    machine: &Machine,
    tree: &Tree,
    statement: StatementId,
    fused: Set<IndexVar>,
) -> WorkspaceKind {
    let node = tree.statement(statement);
    let network = estimator.network();
    let bytes = network.size_of(node.kept.without(fused)) * VALUE;
    let entries = estimator.summed(node.operands).entries;
    let is_full = entries >= machine.dense_from() * network.size_of(node.kept);
    match is_full || bytes <= machine.caches[1].bytes {
        true => WorkspaceKind::Dense,
        false => WorkspaceKind::Hashed,
    }
}

/// The separable and monotone part of the price: what storing an intermediate and reading it
/// back costs if producer and consumer share loops over `fused`.
pub fn traffic<'a>(
    estimator: &'a Estimator<'a>,
    machine: &'a Machine,
    tree: &'a Tree,
) -> impl Fn(StatementId, Set<IndexVar>) -> f64 + 'a {
    let entries: Vec<f64> = tree
        .statements()
        .map(|(_, statement)| estimator.summed(statement.operands).entries)
        .collect();
    move |statement, fused| {
        let left = tree.statement(statement).kept.without(fused);
        let bytes = estimator.network().size_of(left) * VALUE;
        // Written, read and cleared; one of them where no prefetcher helps.
        let dense =
            machine.dense_step + 3.0 * VALUE * machine.in_stream(bytes) + machine.at_random(bytes);
        let access = match workspace_kind(estimator, machine, tree, statement, fused) {
            WorkspaceKind::Dense => dense,
            WorkspaceKind::Hashed => dense.max(2.0 * machine.probe),
        };
        // A shorter order breaks ties.
        entries[statement.index()] * access + 1e-3 * left.len() as f64
    }
}

/// For each statement, how many of the loops around it surround another one too.
fn shared_depths(tree: &Tree, items: &[Item]) -> Vec<usize> {
    fn visit(items: &[Item], depth: usize, found: &mut [usize]) -> Vec<StatementId> {
        let mut inside = Vec::new();
        for item in items {
            match item {
                Item::Statement(id) => inside.push(*id),
                Item::Loop(_, body) => {
                    let below = visit(body, depth + 1, found);
                    if below.len() > 1 {
                        for id in &below {
                            found[id.index()] = found[id.index()].max(depth + 1);
                        }
                    }
                    inside.extend(below);
                }
            }
        }
        inside
    }
    let mut found = vec![0; tree.len()];
    visit(items, 0, &mut found);
    found
}

/// The items with the loops that only one statement has in the given orders.
fn with_orders(items: &[Item], orders: &[Vec<IndexVar>]) -> Vec<Item> {
    fn only_statement(item: &Item) -> Option<StatementId> {
        match item {
            Item::Statement(id) => Some(*id),
            Item::Loop(_, body) => match body.as_slice() {
                [item] => only_statement(item),
                _ => None,
            },
        }
    }
    let mut ordered = Vec::new();
    for item in items {
        match (only_statement(item), item) {
            (Some(id), _) => {
                let own = orders[id.index()].iter().copied();
                ordered.extend(Item::nest(own, vec![Item::Statement(id)]));
            }
            (None, Item::Loop(index, body)) => {
                ordered.push(Item::Loop(*index, with_orders(body, orders)));
            }
            (None, Item::Statement(_)) => unreachable!("a statement is its only statement"),
        }
    }
    ordered
}
