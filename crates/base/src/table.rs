//! Arenas whose entries have names, found by name in constant time, free names too.
//!
//! Planning asks for the tensor of a name and for a name that no tensor has, statement
//! after statement. Looking through all tensors each time takes `n²` steps for a program
//! of `n` statements; trying `t1`, `t2`, … takes another factor `n`. So a [`Table`] maps
//! each name to its entry, and each stem to a number below which all names are taken:
//!
//! ```text
//! names    x   t1   t2   t3   t10   t1_2
//! untried  t: 4   t1_: 3                     fresh("t") = "t4"
//! ```
//!
//! Invariants: each name has the first entry that it was given to; the names `stem2` up
//! to `stem(n - 1)` are taken if the stem has the number `n`. Number 1 is tried each time,
//! since the names of loops go `i`, `i_2`. Clones share all but what changes.

use std::hash::BuildHasherDefault;
use std::ops::{Deref, Index, IndexMut};

use rpds::HashTrieMapSync;
use rustc_hash::FxHasher;

use crate::arena::{Arena, Id};

type Map<V> = HashTrieMapSync<String, V, BuildHasherDefault<FxHasher>>;

/// An entry of a [`Table`].
pub trait Named {
    /// Its name, which does not change while it is in a table.
    fn name(&self) -> &str;
}

/// An arena whose entries are found by their names.
#[derive(Clone, Debug)]
pub struct Table<I, T> {
    arena: Arena<I, T>,
    names: Map<I>,
    untried: Map<u64>,
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
            names: Map::default(),
            untried: Map::default(),
        }
    }

    /// Adds an entry and returns its id.
    pub fn push(&mut self, entry: T) -> I {
        let id = I::from_index(self.arena.len());
        if !self.names.contains_key(entry.name()) {
            self.names.insert_mut(entry.name().to_owned(), id);
            for (stem, number) in numbered(entry.name()) {
                if number == self.untried(stem) {
                    let is_taken = |n: &u64| self.names.contains_key(&format!("{stem}{n}"));
                    let free = (number + 1..).find(|n| !is_taken(n));
                    let free = free.expect("there are more numbers than names");
                    self.untried.insert_mut(stem.to_owned(), free);
                }
            }
        }
        self.arena.push(entry)
    }

    /// The first entry of this name.
    pub fn named(&self, name: &str) -> Option<I> {
        let found = *self.names.get(name)?;
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
        let numbers = (first..2).chain(self.untried(base).max(first)..);
        let mut names = numbers.map(|number| format!("{base}{number}"));
        let free = names.find(|name| !self.names.contains_key(name) && !is_taken(name));
        free.expect("there are more numbers than names")
    }

    /// No number from 2 to below this one makes a free name with the stem.
    fn untried(&self, stem: &str) -> u64 {
        self.untried.get(stem).copied().unwrap_or(2)
    }
}

/// The ways to read a name as a stem and the number behind it: `t12` as `t` and 12, and as
/// `t1` and 2. No number begins with 0, so that a stem and a number make one name. Most
/// numbers are 1, which is left out.
fn numbered(name: &str) -> impl Iterator<Item = (&str, u64)> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let splits = (stem.len()..name.len()).map(|at| name.split_at(at));
    let splits = splits.filter(|(_, digits)| !digits.starts_with('0') && *digits != "1");
    splits.filter_map(|(stem, digits)| Some((stem, digits.parse().ok()?)))
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

#[cfg(test)]
mod tests {
    use super::*;

    crate::define_id!(struct Entry, "e");

    impl Named for String {
        fn name(&self) -> &str {
            self
        }
    }

    #[test]
    fn names_are_those_that_trying_finds() {
        let mut table: Table<Entry, String> = Table::new();
        let stems = ["t", "t0", "t1", "", "0", "x_", "t00", "ß"];
        for n in 0..200 {
            let wanted = |name: &str| table.find(|known| known == name);
            for (stem, first) in stems.iter().zip([1, 2, 5].into_iter().cycle().skip(n)) {
                let mut tried = (first..).map(|number| format!("{stem}{number}"));
                let tried = tried.find(|name| name != "x_9" && wanted(name).is_none());
                let free = table.fresh_from(stem, first, |name| name == "x_9");
                assert_eq!(Some(free), tried, "{table:?}");
            }
            let stem = stems[n * 5 % 7];
            let name = match n % 4 {
                0 => format!("{stem}{}", n * 37 % 130),
                _ => table.fresh(stem),
            };
            assert_eq!(table.named(&name), wanted(&name));
            table.push(name);
        }
    }
}
