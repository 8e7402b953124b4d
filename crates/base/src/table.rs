//! Lists of things with names, found by name in constant time, free names too.
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
//! since the names of loops go `i`, `i_2`.

use std::hash::BuildHasherDefault;
use std::ops::{Index, IndexMut};

use rpds::{HashTrieMapSync, VectorSync};
use rustc_hash::FxHasher;

use crate::arena::Id;

type Map<V> = HashTrieMapSync<String, V, BuildHasherDefault<FxHasher>>;

/// An entry of a [`Table`].
pub trait Named {
    /// Its name, which does not change while it is in a table.
    fn name(&self) -> &str;
}

/// A list that only grows, is indexed by ids of type `I` and finds entries by their names.
///
/// Clones share their entries, and once one of them changes all but those that change:
/// each statement of a program has the tensors of all statements, and planning clones a
/// statement many times and adds workspaces to it.
#[derive(Clone, Debug)]
pub struct Table<I, T> {
    entries: VectorSync<T>,
    names: Map<I>,
    untried: Map<u64>,
}

/// Names follow from entries.
impl<I: PartialEq, T: PartialEq> PartialEq for Table<I, T> {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

impl<I: Id, T: Named> Table<I, T> {
    /// A table without entries.
    pub fn new() -> Self {
        Self {
            entries: VectorSync::new_sync(),
            names: Map::default(),
            untried: Map::default(),
        }
    }

    /// Adds an entry and returns its id.
    pub fn push(&mut self, entry: T) -> I {
        let id = I::from_index(self.entries.len());
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
        self.entries.push_back_mut(entry);
        id
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All ids, in the order in which their entries were added.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + use<I, T> {
        self.ids_from(0)
    }

    /// The ids of all but the first `n` entries.
    pub fn ids_from(&self, n: usize) -> impl DoubleEndedIterator<Item = I> + use<I, T> {
        (n..self.len()).map(I::from_index)
    }

    /// All entries with their ids, in the order in which they were added. Iterators of
    /// [`VectorSync`] allocate, which costs more than looking up each entry of a few.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (I, &T)> {
        self.ids().map(|id| (id, &self[id]))
    }

    /// The first entry that fits `wanted`.
    pub fn find(&self, mut wanted: impl FnMut(&T) -> bool) -> Option<I> {
        self.ids().find(|id| wanted(&self[*id]))
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

impl<I: Id, T> Index<I> for Table<I, T> {
    type Output = T;
    fn index(&self, id: I) -> &T {
        &self.entries[id.index()]
    }
}

impl<I: Id, T: Clone> IndexMut<I> for Table<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.entries[id.index()]
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

    #[test]
    fn clones_share_their_entries_until_one_changes() {
        let mut table: Table<Entry, String> = Table::new();
        let ids = ["x", "y"].map(|name| table.push(name.to_owned()));
        let mut other = table.clone();
        other.push("z".to_owned());
        other[ids[0]].shrink_to_fit();
        assert_eq!((table.len(), other.len()), (2, 3));
        let shared = ids.map(|id| std::ptr::eq(&table[id], &other[id]));
        assert_eq!(shared, [false, true]);
    }
}
