//! Mappings that were given back, kept for who wants as much again.
//!
//! The first touch of a fresh page costs more than most kernels spend on it: the
//! system has to find the page and to clear it. A program that computes the same
//! statement again and again drops a result as large as the one it makes next, so
//! a few mappings are kept, oldest first out:
//!
//! ```text
//! drop C.pos, C.crd, C.vals   ─►  | pos | crd | vals |  ─►  C.pos: as long as it gets, so the smallest that fits
//!                                    at most 64 MiB         C.vals, C.crd: outgrew the heap, so the largest
//! ```
//!
//! The first request of an array mostly states its final length. An array that has outgrown its
//! memory will grow further, and nobody knows how far; of several such arrays, the one with the
//! widest entries comes first, and needs most.
//!
//! They hold the bytes of earlier results. Arrays that grow are written before they are read,
//! results of fixed length are written in full, and workspaces are filled with zeros first.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::mapping::Mapping;

/// So many bytes are kept at most, as C libraries keep about as many.
const MOST_BYTES: usize = 64 << 20;

static KEPT: Mutex<Kept> = Mutex::new(Kept {
    mappings: VecDeque::new(),
    bytes: 0,
});

struct Kept {
    /// In the order in which they were given back.
    mappings: VecDeque<Mapping>,
    bytes: usize,
}

impl Kept {
    /// Keeps a mapping; the older ones that there is no room for then.
    fn keep(&mut self, mapping: Mapping) -> Vec<Mapping> {
        let mut gone = Vec::new();
        if mapping.capacity() > MOST_BYTES {
            gone.push(mapping);
            return gone;
        }
        self.bytes += mapping.capacity();
        self.mappings.push_back(mapping);
        while self.bytes > MOST_BYTES
            && let Some(oldest) = self.mappings.pop_front()
        {
            self.bytes -= oldest.capacity();
            gone.push(oldest);
        }
        gone
    }

    /// One of at least `least` bytes.
    fn take(&mut self, least: usize, need: Need) -> Option<Mapping> {
        let sizes = self.mappings.iter().map(Mapping::capacity).enumerate();
        let fitting = sizes.filter(|&(_, size)| size >= least);
        let (at, _) = match need {
            Need::Whole { most } => fitting
                .filter(|&(_, size)| size <= most)
                .min_by_key(|&(_, size)| size),
            // The first of equals, which is the oldest.
            Need::Beginning => fitting.max_by_key(|&(at, size)| (size, Reverse(at))),
        }?;
        let found = self.mappings.remove(at)?;
        self.bytes -= found.capacity();
        Some(found)
    }
}

/// What bytes that somebody asks for are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// All that it takes, as far as is known; mappings of more than `most` bytes stay for others.
    Whole { most: usize },
    /// The first of more.
    Beginning,
}

/// Keeps a mapping, and lets older ones go where there would be too many.
pub(crate) fn keep(mapping: Mapping) {
    let gone = kept(|kept| kept.keep(mapping));
    // Unmapped here, where nobody waits for the lock.
    drop(gone);
}

/// A mapping of at least `least` bytes, if one is kept: the smallest, or the largest
/// where more will be needed.
pub(crate) fn take(least: usize, need: Need) -> Option<Mapping> {
    kept(|kept| kept.take(least, need))
}

fn kept<T>(with: impl FnOnce(&mut Kept) -> T) -> T {
    with(&mut KEPT.lock().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(bytes: usize) -> Mapping {
        Mapping::new(bytes).expect("there are addresses")
    }

    #[test]
    fn what_is_taken_depends_on_whether_more_is_needed() {
        let mut kept = Kept {
            mappings: VecDeque::new(),
            bytes: 0,
        };
        for pages in [1, 4, 2, 3, 7] {
            assert!(kept.keep(mapping(pages << 16)).is_empty());
        }
        assert_eq!(kept.bytes, 17 << 16);
        let whole = Need::Whole { most: usize::MAX };
        let mut taken = |pages: usize, need| {
            let found = kept.take(pages << 16, need);
            found.map(|mapping| mapping.capacity() >> 16)
        };
        assert_eq!(taken(5, whole), Some(7));
        assert_eq!(taken(2, whole), Some(2));
        assert_eq!(taken(1, Need::Beginning), Some(4));
        assert_eq!(taken(4, Need::Beginning), None);
        assert_eq!(taken(1, Need::Whole { most: 1 << 15 }), None);
        assert_eq!(taken(1, whole), Some(1));
        assert_eq!(taken(1, whole), Some(3));
        assert_eq!(kept.bytes, 0);
    }

    #[test]
    fn no_more_is_kept_than_that() {
        let mut kept = Kept {
            mappings: VecDeque::new(),
            bytes: 0,
        };
        assert_eq!(kept.keep(mapping(MOST_BYTES + (1 << 16))).len(), 1);
        assert!(kept.keep(mapping(MOST_BYTES / 2)).is_empty());
        assert!(kept.keep(mapping(MOST_BYTES / 2)).is_empty());
        assert_eq!(kept.keep(mapping(1 << 16)).len(), 1);
        assert_eq!(kept.bytes, MOST_BYTES / 2 + (1 << 16));
    }
}
