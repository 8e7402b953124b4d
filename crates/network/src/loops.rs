//! Loops around statements.

use sparsec_base::arena::Id;

use crate::network::IndexVar;
use crate::set::Set;
use crate::tree::{StatementId, Tree};

/// A loop with its body, or a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A loop over an index variable.
    Loop(IndexVar, Vec<Item>),
    /// A statement of the tree.
    Statement(StatementId),
}

impl Item {
    /// `body` inside loops over `indices`, the first outermost.
    pub fn nest(indices: impl DoubleEndedIterator<Item = IndexVar>, body: Vec<Item>) -> Vec<Item> {
        indices
            .rev()
            .fold(body, |body, index| vec![Item::Loop(index, body)])
    }
}

/// For each statement, the loops around it from outside to inside.
///
/// # Panics
/// If a statement of the tree is not among the items.
pub fn paths(tree: &Tree, items: &[Item]) -> Vec<Vec<IndexVar>> {
    fn visit(items: &[Item], path: &mut Vec<IndexVar>, found: &mut [Option<Vec<IndexVar>>]) {
        for item in items {
            match item {
                Item::Loop(index, body) => {
                    path.push(*index);
                    visit(body, path, found);
                    path.pop();
                }
                Item::Statement(id) => found[id.index()] = Some(path.clone()),
            }
        }
    }
    let mut found = vec![None; tree.len()];
    visit(items, &mut Vec::new(), &mut found);
    let paths = found
        .into_iter()
        .map(|path| path.expect("every statement has a place"));
    paths.collect()
}

/// The statements in the order in which they run.
pub fn statement_order(items: &[Item]) -> Vec<StatementId> {
    let mut order = Vec::new();
    for item in items {
        match item {
            Item::Loop(_, body) => order.extend(statement_order(body)),
            Item::Statement(id) => order.push(*id),
        }
    }
    order
}

/// For each statement, the loops that it shares with its consumer: the same loops of the
/// program, not only loops over the same index variable. Empty for the last statement.
pub fn fused_loops(tree: &Tree, items: &[Item]) -> Vec<Set<IndexVar>> {
    fn visit(
        tree: &Tree,
        items: &[Item],
        around: Set<IndexVar>,
        fused: &mut [Set<IndexVar>],
    ) -> Set<StatementId> {
        let mut inside = Set::EMPTY;
        for item in items {
            match item {
                Item::Statement(id) => inside.insert(*id),
                Item::Loop(index, body) => {
                    let mut around = around;
                    around.insert(*index);
                    inside = inside.union(visit(tree, body, around, fused));
                }
            }
        }
        for id in inside.iter() {
            let consumer = tree.statement(id).consumer;
            // Loops further inside have set a larger set already.
            if consumer.is_some_and(|consumer| inside.contains(consumer))
                && fused[id.index()].is_subset(around)
            {
                fused[id.index()] = around;
            }
        }
        inside
    }
    let mut fused = vec![Set::EMPTY; tree.len()];
    visit(tree, items, Set::EMPTY, &mut fused);
    fused
}
