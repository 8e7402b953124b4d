//! Ids as newtypes and the arenas that they index.
//!
//! An id is four bytes, cheap to copy, and belongs to one kind of thing: a
//! level cannot be passed where an index variable is wanted. An [`Arena`] only
//! grows, so an id stays valid for as long as its arena lives.
//!
//! ```
//! use sparsec_base::{Arena, define_id};
//! define_id!(pub struct Knight, "k");
//! let mut table: Arena<Knight, &str> = Arena::new();
//! let gawain = table.push("Gawain");
//! assert_eq!(table[gawain], "Gawain");
//! assert_eq!(gawain.to_string(), "k0");
//! ```

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use rpds::VectorSync;

/// What an [`Arena`] needs of an id. Implemented by [`define_id!`](crate::define_id).
pub trait Id: Copy + Eq {
    /// The id of the `n`th entry.
    fn from_index(n: usize) -> Self;
    /// The place of this id's entry in its arena.
    fn index(self) -> usize;
}

/// Declares an id type that prints as a prefix and a number, as in `b3`.
#[macro_export]
macro_rules! define_id {
    ($(#[$meta:meta])* $vis:vis struct $name:ident, $prefix:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $vis struct $name(u32);

        impl $crate::arena::Id for $name {
            fn from_index(n: usize) -> Self {
                Self(u32::try_from(n).expect("an arena holds fewer than 2^32 entries"))
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                write!(f, "{}{}", $prefix, self.0)
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(self, f)
            }
        }
    };
}

/// A list that only grows and is indexed by ids of type `I`.
///
/// Clones share their entries, and once one of them changes all but those that change:
/// each statement of a program has the tensors of all statements, and planning clones a
/// statement many times and adds workspaces to it ([`VectorSync`]).
#[derive(Debug, PartialEq)]
pub struct Arena<I, T> {
    entries: VectorSync<T>,
    ids: PhantomData<I>,
}

impl<I, T> Clone for Arena<I, T> {
    fn clone(&self) -> Self {
        Self {
            entries: self.entries.clone(),
            ids: PhantomData,
        }
    }
}

impl<I: Id, T> Arena<I, T> {
    /// An arena without entries.
    pub fn new() -> Self {
        Self {
            entries: VectorSync::new_sync(),
            ids: PhantomData,
        }
    }

    /// Adds an entry and returns its id.
    pub fn push(&mut self, entry: T) -> I {
        self.entries.push_back_mut(entry);
        I::from_index(self.entries.len() - 1)
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
        (0..self.entries.len()).map(I::from_index)
    }

    /// The ids of all but the first `n` entries.
    pub fn ids_from(&self, n: usize) -> impl DoubleEndedIterator<Item = I> + use<I, T> {
        (n..self.entries.len()).map(I::from_index)
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
}

impl<I: Id, T> Default for Arena<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Id, T> Index<I> for Arena<I, T> {
    type Output = T;
    fn index(&self, id: I) -> &T {
        let entry = self.entries.get(id.index());
        entry.expect("an id is of an entry of its arena")
    }
}

impl<I: Id, T: Clone> IndexMut<I> for Arena<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        let entry = self.entries.get_mut(id.index());
        entry.expect("an id is of an entry of its arena")
    }
}

#[cfg(test)]
mod tests {
    use super::Arena;

    crate::define_id!(struct Entry, "e");

    #[test]
    fn clones_share_their_entries_until_one_changes() {
        let mut arena: Arena<Entry, String> = Arena::new();
        let first = arena.push("first".to_owned());
        let mut other = arena.clone();
        assert!(
            std::ptr::eq(&arena[first], &other[first]),
            "nothing is copied"
        );
        let second = other.push("second".to_owned());
        other[first].push('!');
        assert_eq!((arena.len(), other.len()), (1, 2));
        assert_eq!(
            (&*arena[first], &*other[first], &*other[second]),
            ("first", "first!", "second")
        );
        let before = other.clone();
        other.push("third".to_owned());
        assert!(
            std::ptr::eq(&before[second], &other[second]),
            "a list that grows copies no entry"
        );
    }
}
