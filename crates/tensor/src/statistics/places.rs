//! A value for each of many places: rows, columns, diagonals.
//!
//! Where there are not many more places than entries, the values are an array.
//! A mode of extent 2^40 has a table of the places that were asked for, so that
//! it takes no more memory than its entries do.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use sparsec_base::Result;
use sparsec_parallel::AllocError;

use super::groups::mixed;
use crate::alloc::filled;

/// So many places have an array, however few entries there are.
const SMALL: u64 = 1 << 16;

/// A value for each place, at first the default.
pub(super) enum Places<V> {
    Array(Vec<V>),
    Table(HashMap<u64, V, BuildHasherDefault<Mixing>>),
}

impl<V: Copy + Default> Places<V> {
    /// `n` places, of which `n_used` at most are asked for.
    ///
    /// # Errors
    /// `E0407` when memory is out.
    pub(super) fn new(n: u64, n_used: usize) -> Result<Self> {
        if n <= SMALL.max(4 * n_used as u64) {
            return Ok(Self::Array(filled(n as usize, V::default)?));
        }
        let mut table = HashMap::default();
        table.try_reserve(n_used).map_err(|_| AllocError {
            bytes: (size_of::<(u64, V)>() * n_used) as u64,
        })?;
        Ok(Self::Table(table))
    }

    /// The value of a place.
    #[inline]
    pub(super) fn at(&mut self, place: u64) -> &mut V {
        match self {
            Self::Array(values) => &mut values[place as usize],
            Self::Table(values) => values.entry(place).or_default(),
        }
    }

    /// The value of a place, if it can be other than the default.
    #[inline]
    pub(super) fn find(&mut self, place: u64) -> Option<&mut V> {
        match self {
            Self::Array(values) => values.get_mut(place as usize),
            Self::Table(values) => values.get_mut(&place),
        }
    }
}

/// Numbers are hashed by mixing their bits.
#[derive(Default)]
pub(super) struct Mixing(u64);

impl Hasher for Mixing {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = mixed(self.0 ^ word);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
