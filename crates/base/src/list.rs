//! Lists whose clones share what does not change.
//!
//! Each statement of a program holds the tensors of all statements, and planning clones a
//! statement and adds to it many times. A vector would be copied each time, which makes a
//! program of `n` statements take `n²`. A [`List`] is a tree with 32 entries in each leaf
//! and 32 children in each inner node:
//!
//! ```text
//!            clone, then push                 root ──┬── leaf 0..32    shared by both
//!                                                    ├── leaf 32..64   shared by both
//!   copies the root and the last leaf       root' ───┴── leaf 64..65   its own
//! ```
//!
//! Invariants: all leaves are at one depth, and all nodes but the last of each depth are
//! full. So entry `n` is found by the digits of `n` in base 32, and equal lists have equal
//! trees. Reading, adding and changing an entry take `O(log n)`; a list with one owner
//! copies nothing.
//!
//! Source: Bagwell and Rompf, "RRB-Trees: Efficient Immutable Vectors", EPFL 2011, §2;
//! we need no concatenation, and so no relaxed nodes.

use std::sync::Arc;

/// Bits of one digit of a place.
const BITS: u32 = 5;
/// Entries of a leaf, and children of an inner node.
const WIDTH: usize = 1 << BITS;

/// A list that only grows, and whose clones share their entries.
#[derive(Clone, Debug, PartialEq)]
pub struct List<T> {
    root: Arc<Node<T>>,
    /// How many levels of inner nodes there are above the leaves.
    height: u32,
    len: usize,
}

#[derive(Clone, Debug, PartialEq)]
enum Node<T> {
    Leaf(Vec<T>),
    Inner(Vec<Arc<Node<T>>>),
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self {
            root: Arc::new(Node::Leaf(Vec::new())),
            height: 0,
            len: 0,
        }
    }
}

impl<T> List<T> {
    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Entry `n`, if there are more than `n`.
    pub fn get(&self, n: usize) -> Option<&T> {
        if n >= self.len {
            return None;
        }
        let (mut node, mut height) = (&*self.root, self.height);
        loop {
            match node {
                Node::Leaf(entries) => return entries.get(n % WIDTH),
                Node::Inner(children) => node = &children[digit(n, height)],
            }
            height -= 1;
        }
    }

    /// All entries in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator {
        (0..self.len).map(|n| self.get(n).expect("there are more than that"))
    }
}

impl<T: Clone> List<T> {
    /// Adds an entry behind the others.
    pub fn push(&mut self, entry: T) {
        if self.len == WIDTH << (BITS * self.height) {
            self.root = Arc::new(Node::Inner(vec![Arc::clone(&self.root)]));
            self.height += 1;
        }
        let mut node = Arc::make_mut(&mut self.root);
        for height in (1..=self.height).rev() {
            let Node::Inner(children) = node else {
                unreachable!("leaves are below all inner nodes");
            };
            let at = digit(self.len, height);
            if at == children.len() {
                children.push(Arc::new(match height {
                    1 => Node::Leaf(Vec::new()),
                    _ => Node::Inner(Vec::new()),
                }));
            }
            node = Arc::make_mut(&mut children[at]);
        }
        let Node::Leaf(entries) = node else {
            unreachable!("inner nodes are above all leaves");
        };
        entries.push(entry);
        self.len += 1;
    }

    /// Entry `n` to change, if there are more than `n`.
    pub fn get_mut(&mut self, n: usize) -> Option<&mut T> {
        if n >= self.len {
            return None;
        }
        let (mut node, mut height) = (Arc::make_mut(&mut self.root), self.height);
        loop {
            match node {
                Node::Leaf(entries) => return entries.get_mut(n % WIDTH),
                Node::Inner(children) => node = Arc::make_mut(&mut children[digit(n, height)]),
            }
            height -= 1;
        }
    }
}

/// Which child of an inner node that high above the leaves holds entry `n`.
fn digit(n: usize, height: u32) -> usize {
    (n >> (BITS * height)) % WIDTH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_those_of_a_vector() {
        let mut list = List::default();
        let mut before = list.clone();
        for n in 0..40_000usize {
            assert_eq!((list.len(), list.get(n)), (n, None));
            list.push(n);
            before.push(n);
            if n % 1000 == 0 {
                before = list.clone();
            }
        }
        assert!(list.iter().copied().eq(0..40_000));
        assert_eq!(list, before);
        assert_eq!(list.get(usize::MAX), None);
        *before.get_mut(33).expect("is there") = 7;
        assert_eq!((list.get(33), before.get(33)), (Some(&33), Some(&7)));
        assert_eq!(before.get_mut(40_000), None);
    }

    #[test]
    fn clones_share_all_but_the_path_to_what_changes() {
        let mut list = List::default();
        (0..32 * 32).for_each(|n| list.push(n));
        let mut other = list.clone();
        other.push(0);
        *other.get_mut(100).expect("is there") = 7;
        let shared = (0..list.len()).filter(|n| {
            let [a, b] = [&list, &other].map(|list| list.get(*n).expect("is there"));
            std::ptr::eq(a, b)
        });
        assert_eq!(shared.count(), 32 * 32 - 32, "one leaf is copied");
    }
}
