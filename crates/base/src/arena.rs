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
#[derive(Clone, Debug, PartialEq)]
pub struct Arena<I, T> {
    entries: Vec<T>,
    ids: PhantomData<I>,
}

impl<I: Id, T> Arena<I, T> {
    /// An arena without entries.
    pub fn new() -> Self {
        Self {
            entries: Vec::new(),
            ids: PhantomData,
        }
    }

    /// Adds an entry and returns its id.
    pub fn push(&mut self, entry: T) -> I {
        self.entries.push(entry);
        I::from_index(self.entries.len() - 1)
    }

    /// All ids, in the order in which their entries were added.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + use<I, T> {
        (0..self.entries.len()).map(I::from_index)
    }

    /// All entries with their ids, in the order in which they were added.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (I, &T)> {
        let entries = self.entries.iter().enumerate();
        entries.map(|(n, entry)| (I::from_index(n), entry))
    }

    /// The first entry that fits `wanted`.
    pub fn find(&self, wanted: impl FnMut(&T) -> bool) -> Option<I> {
        self.entries.iter().position(wanted).map(I::from_index)
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
        &self.entries[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for Arena<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.entries[id.index()]
    }
}
