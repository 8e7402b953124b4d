//! Sets of ids, at most 128, as bits.
//!
//! A network has at most [`MAX_MEMBERS`] operands and as many index variables, so a set of
//! either is one `u128`, and searches over subsets pay one instruction for a union.
//!
//! ```
//! use sparsec_base::arena::Id;
//! use sparsec_network::{IndexVar, Set};
//! let set: Set<IndexVar> = [3, 0].into_iter().map(IndexVar::from_index).collect();
//! assert_eq!(set.len(), 2);
//! assert_eq!(set.iter().map(Id::index).collect::<Vec<_>>(), [0, 3]);
//! ```

use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use rustc_hash::FxBuildHasher;
use sparsec_base::arena::Id;

/// A map whose keys are sets and ids, which nobody chooses to collide.
pub(crate) type Map<K, V> = HashMap<K, V, FxBuildHasher>;

/// How many members a set may have.
pub const MAX_MEMBERS: usize = 128;

/// A set of ids of type `I`.
pub struct Set<I> {
    bits: u128,
    ids: PhantomData<I>,
}

impl<I: Id> Set<I> {
    /// The empty set.
    pub const EMPTY: Self = Self::from_bits(0);

    /// The set whose members are the positions of the ones in `bits`.
    pub const fn from_bits(bits: u128) -> Self {
        Self {
            bits,
            ids: PhantomData,
        }
    }

    /// The members as bits.
    pub const fn bits(self) -> u128 {
        self.bits
    }

    /// The set of one member.
    pub fn of(id: I) -> Self {
        Self::from_bits(1 << id.index())
    }

    /// The first `n` ids.
    pub fn first_n(n: usize) -> Self {
        Self::from_bits(match n {
            0 => 0,
            _ => u128::MAX >> (MAX_MEMBERS - n),
        })
    }

    /// How many members it has.
    pub fn len(self) -> usize {
        self.bits.count_ones() as usize
    }

    /// Whether it has none.
    pub fn is_empty(self) -> bool {
        self.bits == 0
    }

    /// Whether `id` is a member.
    pub fn contains(self, id: I) -> bool {
        self.bits >> id.index() & 1 == 1
    }

    /// Adds `id`.
    pub fn insert(&mut self, id: I) {
        self.bits |= 1 << id.index();
    }

    /// Members of either.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self::from_bits(self.bits | other.bits)
    }

    /// Members of both.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        Self::from_bits(self.bits & other.bits)
    }

    /// Members of this set that `other` lacks.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self::from_bits(self.bits & !other.bits)
    }

    /// Whether `other` has all members of this set.
    pub fn is_subset(self, other: Self) -> bool {
        self.bits & !other.bits == 0
    }

    /// Whether the two have a member in common.
    pub fn meets(self, other: Self) -> bool {
        self.bits & other.bits != 0
    }

    /// The members in ascending order.
    pub fn iter(self) -> impl Iterator<Item = I> {
        let mut bits = self.bits;
        std::iter::from_fn(move || {
            let next = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
            bits &= bits - 1;
            Some(I::from_index(next))
        })
    }
}

impl<I: Id> FromIterator<I> for Set<I> {
    fn from_iter<T: IntoIterator<Item = I>>(members: T) -> Self {
        let mut set = Self::EMPTY;
        for id in members {
            set.insert(id);
        }
        set
    }
}

impl<I: Id> Default for Set<I> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<I> Copy for Set<I> {}

impl<I> Clone for Set<I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I> PartialEq for Set<I> {
    fn eq(&self, other: &Self) -> bool {
        self.bits == other.bits
    }
}

impl<I> Eq for Set<I> {}

impl<I> Hash for Set<I> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bits.hash(state);
    }
}

impl<I: Id + fmt::Display> fmt::Debug for Set<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.iter().map(|id| id.to_string()))
            .finish()
    }
}
