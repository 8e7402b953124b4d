//! Arenas whose entries have names, found by name in `O(log n)`, free names too.
//!
//! Planning asks for the tensor of a name and for a name that no tensor has, statement
//! after statement. Looking through all tensors each time takes `n²` steps for a program
//! of `n` statements; trying `t1`, `t2`, … takes another factor `n`. So a [`Table`] holds
//! its names in a balanced tree, ordered by stem and number:
//!
//! ```text
//! x   t1   t2   t3   t10        fresh("t") = "t4"
//!
//!                t2             1 + rank(t1): three names of the stem `t` begin at 1
//!              /    \           without a gap if rank(t4) - rank(t1) is 3
//!            t1      t10
//!                   /   \
//!                 t3     x
//! ```
//!
//! A name is a stem and the number behind it: `t10` is `t` and 10, `t` has no number, and
//! in `t01` the stem is `t0`, so that different names have different keys.
//!
//! Invariants: the trees below a node are balanced by weight, neither more than
//! [`DELTA`] times as large as the other; each name has the first entry that it was given
//! to. Clones share all nodes but those on the path to what was added.
//!
//! Source: Adams, "Efficient sets: a balancing act", JFP 1993; the two constants are those
//! of Hirai and Yamamoto, "Balancing weight-balanced trees", JFP 2011.

use std::cmp::Ordering;
use std::ops::{Deref, Index, IndexMut};
use std::sync::Arc;

use crate::arena::{Arena, Id};

/// An entry of a [`Table`].
pub trait Named {
    /// Its name, which does not change while it is in a table.
    fn name(&self) -> &str;
}

/// An arena whose entries are found by their names.
#[derive(Debug)]
pub struct Table<I, T> {
    arena: Arena<I, T>,
    names: Names,
}

impl<I, T> Clone for Table<I, T> {
    fn clone(&self) -> Self {
        Self {
            arena: self.arena.clone(),
            names: self.names.clone(),
        }
    }
}

/// Names follow from entries.
impl<I: PartialEq, T: PartialEq> PartialEq for Table<I, T> {
    fn eq(&self, other: &Self) -> bool {
        self.arena == other.arena
    }
}

impl<I: Id, T: Named> Table<I, T> {
    /// A table without entries.
    pub fn new() -> Self {
        Self {
            arena: Arena::new(),
            names: Names::default(),
        }
    }

    /// Adds an entry and returns its id.
    pub fn push(&mut self, entry: T) -> I {
        self.names.add(entry.name(), self.arena.len());
        self.arena.push(entry)
    }

    /// The first entry of this name.
    pub fn named(&self, name: &str) -> Option<I> {
        let found = I::from_index(self.names.find(name)?);
        debug_assert_eq!(self[found].name(), name, "names do not change");
        Some(found)
    }

    /// `base1`, `base2` or so on: the first that no entry is named.
    pub fn fresh(&self, base: &str) -> String {
        self.fresh_beside(base, |_| false)
    }

    /// As [`fresh`](Self::fresh), of names that are not taken otherwise.
    pub fn fresh_beside(&self, base: &str, is_taken: impl Fn(&str) -> bool) -> String {
        self.fresh_from(base, 1, is_taken)
    }

    /// As [`fresh_beside`](Self::fresh_beside), with numbers from `first` on.
    pub fn fresh_from(&self, base: &str, first: u64, is_taken: impl Fn(&str) -> bool) -> String {
        let mut number = first;
        loop {
            number = self.names.free(base, number);
            let name = format!("{base}{number}");
            if !is_taken(&name) {
                return name;
            }
            number += 1;
        }
    }
}

impl<I: Id, T: Named> Default for Table<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I, T> Deref for Table<I, T> {
    type Target = Arena<I, T>;
    fn deref(&self) -> &Arena<I, T> {
        &self.arena
    }
}

impl<I: Id, T> Index<I> for Table<I, T> {
    type Output = T;
    fn index(&self, id: I) -> &T {
        &self.arena[id]
    }
}

impl<I: Id, T: Clone> IndexMut<I> for Table<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.arena[id]
    }
}

/// How much larger one of two trees below a node may be.
const DELTA: usize = 3;
/// Which of two rotations restores the balance.
const GAMMA: usize = 2;
/// Numbers from here on are part of the stem.
const MOST: u64 = 10u64.pow(15);

/// A name as stem and number; 0 where it has none.
type Key<'a> = (&'a str, u64);

fn key(name: &str) -> Key<'_> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = name[stem.len()..].trim_start_matches('0');
    match digits.parse() {
        Ok(number) if number < MOST => (&name[..name.len() - digits.len()], number),
        _ => (name, 0),
    }
}

/// Names, each with the place of the first entry that has it.
#[derive(Clone, Debug, Default)]
struct Names(Option<Arc<Node>>);

#[derive(Debug)]
struct Node {
    stem: Arc<str>,
    number: u64,
    place: usize,
    size: usize,
    below: Names,
    above: Names,
}

impl Names {
    fn size(&self) -> usize {
        self.0.as_ref().map_or(0, |node| node.size)
    }

    fn find(&self, name: &str) -> Option<usize> {
        let key = key(name);
        let mut names = self;
        loop {
            let node = names.0.as_ref()?;
            names = match key.cmp(&node.key()) {
                Ordering::Less => &node.below,
                Ordering::Equal => return Some(node.place),
                Ordering::Greater => &node.above,
            };
        }
    }

    /// How many names come before this one.
    fn rank(&self, key: Key<'_>) -> usize {
        let (mut names, mut rank) = (self, 0);
        while let Some(node) = &names.0 {
            names = match key <= node.key() {
                true => &node.below,
                false => {
                    rank += 1 + node.below.size();
                    &node.above
                }
            };
        }
        rank
    }

    /// The least number from `first` on that makes a name with `base` that is free.
    fn free(&self, base: &str, first: u64) -> u64 {
        let (stem, start) = key(base);
        // The numbers of as many digits are one range behind those of the base.
        let mut first = first;
        loop {
            let end = first
                .checked_ilog10()
                .map_or(1, |digits| 10u64.pow(digits + 1));
            let offset = start.checked_mul(end).filter(|offset| offset + end <= MOST);
            let Some(offset) = offset else {
                // Too long for a number of its own.
                let mut numbers = first..;
                let free = numbers.find(|n| self.find(&format!("{base}{n}")).is_none());
                return free.expect("there are more numbers than names");
            };
            let rank = |number: u64| self.rank((stem, offset + number)) as u64;
            let begin = rank(first);
            let is_full = |number: u64| rank(number) - begin == number - first;
            if !is_full(end) {
                // All below `full` are taken, and not all below `other`.
                let (mut full, mut other) = (first, end);
                while other - full > 1 {
                    let middle = full + (other - full) / 2;
                    match is_full(middle) {
                        true => full = middle,
                        false => other = middle,
                    }
                }
                return full;
            }
            first = end;
        }
    }

    /// Adds a name, unless it is there.
    fn add(&mut self, name: &str, place: usize) {
        if self.find(name).is_none() {
            let (stem, number) = key(name);
            *self = self.with((stem.into(), number), place);
        }
    }

    fn with(&self, key: (Arc<str>, u64), place: usize) -> Self {
        let Some(node) = &self.0 else {
            let (stem, number) = key;
            return Self(Some(Arc::new(Node {
                stem,
                number,
                place,
                size: 1,
                below: Self::default(),
                above: Self::default(),
            })));
        };
        match (&*key.0, key.1) < node.key() {
            true => node.between(node.below.with(key, place), node.above.clone()),
            false => node.between(node.below.clone(), node.above.with(key, place)),
        }
        .balanced()
    }

    /// The same names, with trees below the root that differ by no more than they may.
    fn balanced(self) -> Self {
        let Some(node) = &self.0 else {
            return self;
        };
        let weight = |names: &Self| names.size() + 1;
        let (below, above) = (weight(&node.below), weight(&node.above));
        match (&node.below.0, &node.above.0) {
            (_, Some(right)) if above > DELTA * below => {
                let right = match weight(&right.below) < GAMMA * weight(&right.above) {
                    true => Arc::clone(right),
                    false => right.turned_right(),
                };
                let left = node.between(node.below.clone(), right.below.clone());
                right.between(left, right.above.clone())
            }
            (Some(left), _) if below > DELTA * above => {
                let left = match weight(&left.above) < GAMMA * weight(&left.below) {
                    true => Arc::clone(left),
                    false => left.turned_left(),
                };
                let right = node.between(left.above.clone(), node.above.clone());
                left.between(left.below.clone(), right)
            }
            _ => self,
        }
    }
}

impl Node {
    fn key(&self) -> Key<'_> {
        (&self.stem, self.number)
    }

    /// The same name between other trees.
    fn between(&self, below: Names, above: Names) -> Names {
        Names(Some(Arc::new(Self {
            stem: Arc::clone(&self.stem),
            size: below.size() + 1 + above.size(),
            below,
            above,
            ..*self
        })))
    }

    /// The node below as the root.
    fn turned_right(&self) -> Arc<Self> {
        let root = self.below.0.as_ref().expect("the larger tree has a root");
        let right = self.between(root.above.clone(), self.above.clone());
        let turned = root.between(root.below.clone(), right).0;
        turned.expect("a node is between trees")
    }

    /// The node above as the root.
    fn turned_left(&self) -> Arc<Self> {
        let root = self.above.0.as_ref().expect("the larger tree has a root");
        let left = self.between(self.below.clone(), root.below.clone());
        let turned = root.between(left, root.above.clone()).0;
        turned.expect("a node is between trees")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::define_id!(struct Entry, "e");

    impl Named for String {
        fn name(&self) -> &str {
            self
        }
    }

    fn table(names: impl IntoIterator<Item = String>) -> Table<Entry, String> {
        let mut table = Table::new();
        for name in names {
            table.push(name);
        }
        table
    }

    /// The first free name, found by trying.
    fn tried(names: &[String], base: &str) -> String {
        let mut tried = (1..).map(|n| format!("{base}{n}"));
        let free = tried.find(|name| !names.contains(name));
        free.expect("there are more numbers than names")
    }

    fn depth(names: &Names) -> usize {
        let node = names.0.as_ref();
        node.map_or(0, |node| 1 + depth(&node.below).max(depth(&node.above)))
    }

    #[test]
    fn free_names_are_those_that_trying_finds() {
        let stems = [
            "t",
            "t0",
            "t1",
            "",
            "0",
            "x_",
            "t00",
            "999999999999999",
            "ß",
        ];
        let mut names: Vec<String> = Vec::new();
        let mut state = 7u64;
        for round in 0..600 {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let stem = stems[(state >> 33) as usize % stems.len()];
            let name = match round % 4 {
                0 => format!("{stem}{}", (state >> 40) % 130),
                _ => tried(&names, stem),
            };
            names.push(name);
            if round % 20 == 0 {
                let table = table(names.iter().cloned());
                for stem in stems {
                    assert_eq!(table.fresh(stem), tried(&names, stem), "{names:?}");
                }
            }
        }
        let table = table(names.iter().cloned());
        for name in &names {
            let first = names.iter().position(|known| known == name);
            assert_eq!(table.named(name).map(Id::index), first);
        }
        assert_eq!(table.named("none"), None);
        let taken = |name: &str| name == "y1" || name == "y2";
        assert_eq!(table.fresh_beside("y", taken), "y3");
        assert_eq!(table.fresh_from("y", 5, taken), "y5");
    }

    #[test]
    fn trees_stay_shallow_in_every_order() {
        for step in [1usize, 4095, 2049, 1365] {
            let names = (0..4096usize).map(|n| format!("t{}", n * step % 4096));
            let table = table(names);
            assert!(depth(&table.names) <= 25, "{step}: {}", depth(&table.names));
            assert_eq!(table.names.size(), 4096);
            assert_eq!(table.fresh("t"), "t4096");
        }
    }
}
