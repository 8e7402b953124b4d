//! A map that keeps what was used last.
//!
//! What a session made is made once and looked up after that. A service that
//! meets new programs all day would keep all of them; so the map has a bound, and
//! what was not used for longest goes when it is reached.
//!
//! ```
//! use sparsec_base::Recent;
//! let mut squares = Recent::new(2);
//! squares.keep(2, 4);
//! squares.keep(3, 9);
//! assert_eq!(squares.get(&2), Some(4));
//! squares.keep(4, 16);
//! assert_eq!(squares.get(&3), None);
//! assert_eq!(squares.get(&2), Some(4));
//! ```

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// A map of at most so many entries; values are cheap to clone, such as `Arc`s.
///
/// A look-up takes constant time, an entry that displaces another time linear in
/// the bound.
#[derive(Clone, Debug)]
pub struct Recent<K, V> {
    most: usize,
    /// How often an entry was asked for or kept so far.
    n_uses: u64,
    /// Each value with the number of its last use.
    entries: HashMap<K, (u64, V)>,
}

impl<K: Hash + Eq + Clone, V: Clone> Recent<K, V> {
    /// An empty map that will hold at most `most` entries, and at least one.
    pub fn new(most: usize) -> Self {
        Self {
            most: most.max(1),
            n_uses: 0,
            entries: HashMap::new(),
        }
    }

    /// The value of `key`, which counts as used.
    pub fn get<Q>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.n_uses += 1;
        let (last, value) = self.entries.get_mut(key)?;
        *last = self.n_uses;
        Some(value.clone())
    }

    /// Keeps a value, unless there is one; the value that is kept.
    pub fn keep(&mut self, key: K, value: V) -> V {
        if let Some(known) = self.get(&key) {
            return known;
        }
        if self.entries.len() >= self.most {
            let oldest = self.entries.iter().min_by_key(|(_, (last, _))| *last);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                self.entries.remove(&oldest);
            }
        }
        self.entries.insert(key, (self.n_uses, value.clone()));
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_stays_and_the_bound_holds() {
        let mut map = Recent::new(3);
        assert_eq!(map.keep("a".to_owned(), 1), 1);
        assert_eq!(map.keep("a".to_owned(), 2), 1);
        for name in ["b", "c", "d", "e"] {
            map.keep(name.to_owned(), 0);
            assert_eq!(map.get("a"), Some(1), "used all the time");
        }
        assert_eq!(map.entries.len(), 3);
        assert_eq!([map.get("b"), map.get("c")], [None, None]);
        assert_eq!([map.get("d"), map.get("e")], [Some(0), Some(0)]);
    }
}
