//! Fused loops: in which order the statements of a tree run, and which loops they share.
//!
//! ```text
//! for i, j, r                              X(i,j,q,r) = A(i,p,q) * B(j,p,r)
//!   for q                                  Y(i,j,k,r) = X(i,j,q,r) * C(k,q,r)
//!     for p                                R(i,j,k) = Y(i,j,k,r) * D(j,k,r)
//!       X += A[i,q,p] * B[j,r,p]
//!     for k                                Loops that surround both the producer and
//!       Y[k] += X * C[r,q,k]               the consumer of an intermediate are not
//!   for k                                  among its modes: X is a number, Y a
//!     R[i,j,k] += Y[k] * D[j,r,k]          vector.
//! ```
//!
//! A fused structure is a topological order of the statements and a loop order of each. The
//! *fused loops* `F(T)` of an intermediate `T` are those that its producer, its consumer and
//! all statements between them have as a common prefix. The cost is `Σ c(T, F(T))`, where
//! `c` is any function that does not grow when `F` does: the order that remains, the bytes
//! of the slice, `∞` if an order is too high.
//!
//! **Theorem.** Let `open(G)`, for a set `G` of statements, be the index variables that all
//! of them have and whose predecessors in every fixed layout are in `open(G)` too. The
//! cheapest cost `f(G)` of a connected part `G` of the tree over all topological orders and
//! all loop orders is 0 for one statement, and else
//!
//! ```text
//! f(G) = min over v in G but its root:  c(T(v), open(G)) + f(below(v)) + f(G − below(v))
//! ```
//!
//! where `below(v)` are the statements of `G` that `v` needs, and `v`.
//!
//! *Not less:* in any structure for `G`, the common prefix `P` of all statements lies in
//! `open(G)`. Between two neighbours in the order the common prefix is exactly `P`. An
//! intermediate that crosses this place has `F = P` and so costs at least its
//! `c(·, open(G))`; one of them, `v`, exists since `G` is connected. Removing statements
//! from a structure only lengthens common prefixes, so `below(v)` and the rest cost at least
//! their `f`. *Not more:* run the best structure of `below(v)`, then the best of the rest,
//! both inside loops over `open(G)`, which each of the two opens first.
//!
//! So [`fuse`] is exact over all topological orders, not only over those that keep
//! subtrees together: there are trees on which the latter lose (see the tests). It visits
//! the connected parts of the tree: `O(m²)` of a chain of `m` statements, 750 of a complete
//! binary tree of 15. Beyond [`MAX_PARTS`] parts it cuts the cheapest edge at once, and the
//! result says that it is not exact.
//!
//! Intermediates are kept in workspaces that can be read in any order, so their mode order
//! constrains nothing (paper, end of §3.2.4). Fixed layouts of operands do.
//!
//! Source: Raje et al., "CoNST", 2024, §3, <https://arxiv.org/abs/2401.04836>, which asks a
//! solver for the same structures.

use sparsec_base::arena::Id;
use sparsec_base::cancel::checkpoint;

use crate::loops::Item;
use crate::network::{IndexVar, Network, OperandId};
use crate::set::{Map, Set};
use crate::tree::{Factor, Statement, StatementId, Tree};

/// Connected parts that one search may visit: five times those of a
/// complete binary tree of 15 statements.
pub const MAX_PARTS: usize = 1 << 12;

/// Which index variables have to be opened before which, by statement.
#[derive(Clone, Debug)]
pub struct Precedence {
    /// By statement, the index variables of each fixed layout from outside to inside.
    chains: Vec<Vec<Vec<IndexVar>>>,
    /// The layout of a dense result, which is written along its rows.
    preferred: Vec<IndexVar>,
}

/// Whether all variables before `index` in a layout are opened.
fn follows(layout: &[IndexVar], index: IndexVar, opened: Set<IndexVar>) -> bool {
    let place = layout.iter().position(|&own| own == index);
    place.is_none_or(|place| {
        layout[..place]
            .iter()
            .all(|&before| opened.contains(before))
    })
}

impl Precedence {
    /// No layout is fixed.
    pub fn none(tree: &Tree) -> Self {
        Self {
            chains: vec![Vec::new(); tree.len()],
            preferred: Vec::new(),
        }
    }

    /// These layouts of the network's tensors are fixed, but for operands in `free`: those
    /// that are copied to the layout that loops want, or stored dense and so read in any order.
    pub fn of(network: &Network, tree: &Tree, layouts: &Layouts, free: Set<OperandId>) -> Self {
        let mut precedence = Self::none(tree);
        for (id, statement) in tree.statements() {
            for &factor in &statement.factors {
                let Factor::Operand(operand) = factor else {
                    continue;
                };
                let read = network.operand(operand);
                match &layouts[read.tensor.index()] {
                    Some(layout) if !free.contains(operand) => {
                        let layout = layout.iter().map(|&mode| read.indices[mode]);
                        precedence.fix(id, layout.collect());
                    }
                    _ => {}
                }
            }
        }
        precedence
    }

    /// Adds that `statement` visits `layout` in this order.
    pub fn fix(&mut self, statement: StatementId, layout: Vec<IndexVar>) {
        self.chains[statement.index()].push(layout);
    }

    /// Adds that the last statement visits its dense result in this order, unless it is a dense
    /// product in tiles.
    pub fn prefer(&mut self, layout: Vec<IndexVar>) {
        self.preferred = layout;
    }

    /// Whether `index` may be the next loop of `statement` inside loops over `opened`.
    pub fn allows(&self, statement: StatementId, index: IndexVar, opened: Set<IndexVar>) -> bool {
        let is_last = statement.index() + 1 == self.chains.len();
        self.allows_in_tiles(statement, index, opened)
            && (!is_last || follows(&self.preferred, index, opened))
    }

    /// The same for the loops of a dense product in tiles, which writes a dense result in any
    /// order.
    pub(crate) fn allows_in_tiles(
        &self,
        statement: StatementId,
        index: IndexVar,
        opened: Set<IndexVar>,
    ) -> bool {
        let mut chains = self.chains[statement.index()].iter();
        chains.all(|chain| follows(chain, index, opened))
    }

    /// The index variables that loops around all of `statements` can be opened for, in an
    /// order in which they can be.
    pub fn open(&self, tree: &Tree, statements: Set<StatementId>) -> Vec<IndexVar> {
        let common = statements
            .iter()
            .map(|id| tree.statement(id).loops)
            .reduce(Set::intersection)
            .unwrap_or(Set::EMPTY);
        let mut opened = Set::EMPTY;
        let mut order = Vec::new();
        loop {
            let before = order.len();
            for index in common.without(opened).iter() {
                if statements
                    .iter()
                    .all(|statement| self.allows(statement, index, opened))
                {
                    opened.insert(index);
                    order.push(index);
                }
            }
            if order.len() == before {
                return order;
            }
        }
    }

    /// Whether loops around the statements follow all layouts. `paths` has, by statement, the
    /// loops from outside to inside.
    pub fn is_followed(&self, tree: &Tree, paths: &[Vec<IndexVar>]) -> bool {
        tree.statements().all(|(id, _)| {
            let mut opened = Set::EMPTY;
            paths[id.index()].iter().all(|&index| {
                let allowed = self.allows(id, index, opened);
                opened.insert(index);
                allowed
            })
        })
    }

    /// A statement that reads tensors whose layouts no loop order can follow.
    pub fn conflict(&self, tree: &Tree) -> Option<StatementId> {
        let conflicts = |&(id, statement): &(StatementId, &Statement)| {
            self.open(tree, Set::of(id)).len() < statement.loops.len()
        };
        tree.statements().find(conflicts).map(|(id, _)| id)
    }
}

/// By tensor, its modes from the outermost level to the innermost, if they are fixed.
pub type Layouts = Vec<Option<Vec<usize>>>;

/// The layouts that a network states.
pub fn stated_layouts(network: &Network) -> Layouts {
    let layouts = network.tensors().map(|(_, tensor)| tensor.layout.clone());
    layouts.collect()
}

/// A fused structure with its cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Fused {
    /// The loops and statements.
    pub items: Vec<Item>,
    /// The sum of the costs of all intermediates.
    pub cost: f64,
    /// Whether no structure costs less.
    pub exact: bool,
    /// How many connected parts of the tree were visited.
    pub n_parts: usize,
}

/// The cheapest fused structure of `tree`, if layouts allow one.
///
/// `cost(v, F)` is the cost of the intermediate that statement `v` computes if its producer
/// and its consumer share loops over `F`. It must not grow when `F` does.
///
/// ```
/// use sparsec_network::{Network, Tree, fusion::{Precedence, fuse}};
/// let network = Network::parse("tensor A[9,9,9]\n tensor B[9,9,9]\n tensor C[9,9,9]
///     tensor D[9,9,9]\n R(i,j,k) = A(i,p,q) * B(j,p,r) * C(k,q,r) * D(j,k,r)")?;
/// let tree = Tree::parse(&network, "X(i,j,q,r) = A(i,p,q) * B(j,p,r)
///     Y(i,j,k,r) = X(i,j,q,r) * C(k,q,r)\n R(i,j,k) = Y(i,j,k,r) * D(j,k,r)")?;
/// let order = |v, fused| tree.statement(v).kept.without(fused).len() as f64;
/// let fused = fuse(&tree, &Precedence::none(&tree), order).unwrap();
/// assert_eq!((fused.cost, fused.exact), (1.0, true));
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn fuse(
    tree: &Tree,
    precedence: &Precedence,
    cost: impl Fn(StatementId, Set<IndexVar>) -> f64,
) -> Option<Fused> {
    fuse_visiting(MAX_PARTS, tree, precedence, cost)
}

/// As [`fuse`], visiting at most about `most_parts` connected parts of the tree.
pub(crate) fn fuse_visiting(
    most_parts: usize,
    tree: &Tree,
    precedence: &Precedence,
    cost: impl Fn(StatementId, Set<IndexVar>) -> f64,
) -> Option<Fused> {
    if precedence.conflict(tree).is_some() {
        return None;
    }
    let below = tree
        .statements()
        .fold(Vec::new(), |mut below, (id, statement)| {
            let producers = statement.factors.iter().filter_map(|&factor| match factor {
                Factor::Statement(producer) => Some(below[producer.index()]),
                Factor::Operand(_) => None,
            });
            let set = producers.fold(Set::of(id), Set::union);
            below.push(set);
            below
        });
    let mut search = Search {
        tree,
        precedence,
        cost,
        below,
        best: Map::default(),
        costs: Map::default(),
        most_parts,
        exact: true,
    };
    let all = tree.statement_set();
    let total = search.value(all);
    let mut items = Vec::new();
    search.build(all, Set::EMPTY, &mut items);
    Some(Fused {
        items,
        cost: total,
        exact: search.exact,
        n_parts: search.best.len(),
    })
}

/// The least order to which all intermediates can be reduced at once: the paper's `l`.
pub fn least_order(tree: &Tree, precedence: &Precedence) -> Option<usize> {
    let highest = tree.statements().map(|(_, statement)| statement.kept.len());
    (0..=highest.max().unwrap_or(0)).find(|&limit| {
        fuse(tree, precedence, within(tree, limit)).is_some_and(|fused| fused.cost.is_finite())
    })
}

/// The cost of the paper's objective with `--max-order limit`: the order of each
/// intermediate, and `∞` if it is higher than `limit`.
pub fn within(tree: &Tree, limit: usize) -> impl Fn(StatementId, Set<IndexVar>) -> f64 {
    move |statement, fused| {
        let order = tree.statement(statement).kept.without(fused).len();
        match order <= limit {
            true => order as f64,
            false => f64::INFINITY,
        }
    }
}

struct Search<'a, C> {
    tree: &'a Tree,
    precedence: &'a Precedence,
    cost: C,
    /// By statement, the statements that it needs, and itself.
    below: Vec<Set<StatementId>>,
    /// By connected part, its cost and the edge to cut.
    best: Map<Set<StatementId>, (f64, StatementId)>,
    /// The costs that were asked for: many parts open the same loops.
    costs: Map<(StatementId, Set<IndexVar>), f64>,
    most_parts: usize,
    exact: bool,
}

impl<C: Fn(StatementId, Set<IndexVar>) -> f64> Search<'_, C> {
    fn value(&mut self, part: Set<StatementId>) -> f64 {
        if part.len() == 1 {
            return 0.0;
        }
        if let Some(&(cost, _)) = self.best.get(&part) {
            return cost;
        }
        checkpoint();
        let fused = self.precedence.open(self.tree, part).into_iter().collect();
        let mut producers = self.producers(part);
        if self.best.len() >= self.most_parts {
            self.exact = false;
            producers.sort_by(|&a, &b| {
                let (a, b) = (self.cost_of(a, fused), self.cost_of(b, fused));
                a.total_cmp(&b)
            });
            producers.truncate(1);
        }
        let mut best: Option<(f64, StatementId)> = None;
        for producer in producers {
            let own = self.cost_of(producer, fused);
            // Costs are not negative, so this one cannot win.
            if best.is_some_and(|(least, _)| own > least) {
                continue;
            }
            let first = part.intersection(self.below[producer.index()]);
            let total = own + self.value(first) + self.value(part.without(first));
            if best.is_none_or(|(least, _)| total < least) {
                best = Some((total, producer));
            }
        }
        let best = best.expect("a part of several statements has a producer");
        self.best.insert(part, best);
        best.0
    }

    fn cost_of(&mut self, producer: StatementId, fused: Set<IndexVar>) -> f64 {
        let cost = || (self.cost)(producer, fused);
        *self.costs.entry((producer, fused)).or_insert_with(cost)
    }

    /// The statements of a connected part but its root, the last one.
    fn producers(&self, part: Set<StatementId>) -> Vec<StatementId> {
        let mut statements: Vec<StatementId> = part.iter().collect();
        statements.pop();
        statements
    }

    fn build(&mut self, part: Set<StatementId>, opened: Set<IndexVar>, items: &mut Vec<Item>) {
        let order = self.precedence.open(self.tree, part);
        let mut body = Vec::new();
        let all = order.iter().copied().collect();
        if part.len() == 1 {
            body.extend(part.iter().map(Item::Statement));
        } else {
            self.value(part);
            let (_, producer) = self.best[&part];
            let first = part.intersection(self.below[producer.index()]);
            self.build(first, all, &mut body);
            self.build(part.without(first), all, &mut body);
        }
        let new = order.into_iter().filter(|&index| !opened.contains(index));
        items.extend(Item::nest(new, body));
    }
}

#[cfg(test)]
pub(crate) mod tests;
