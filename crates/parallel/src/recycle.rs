//! Mappings that were given back, kept for who wants as much again.
//!
//! The first touch of a fresh page costs more than most kernels spend on it: the
//! system has to find the page and to clear it. A program that computes the same
//! statement again and again drops a result as large as the one it makes next, so
//! a few mappings are kept, oldest first out:
//!
//! ```text
//! drop C.pos, C.crd, C.vals   ─►  | pos | crd | vals |  ─►  grow C.pos, C.crd, C.vals
//!                                    at most 64 MiB
//! ```
//!
//! What they hold is what was there before, so they serve only who writes before
//! reading: arrays that grow, not workspaces, which begin with zeros.

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

    /// The oldest of at least `least` bytes.
    fn take(&mut self, least: usize) -> Option<Mapping> {
        let fits = |mapping: &Mapping| mapping.capacity() >= least;
        let at = self.mappings.iter().position(fits)?;
        let found = self.mappings.remove(at)?;
        self.bytes -= found.capacity();
        Some(found)
    }
}

/// Keeps a mapping, and lets older ones go where there would be too many.
pub(crate) fn keep(mapping: Mapping) {
    let gone = kept(|kept| kept.keep(mapping));
    // Unmapped here, where nobody waits for the lock.
    drop(gone);
}

/// The oldest mapping of at least `least` bytes, if one is kept.
pub(crate) fn take(least: usize) -> Option<Mapping> {
    kept(|kept| kept.take(least))
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
    fn the_oldest_that_fits_is_taken() {
        let mut kept = Kept {
            mappings: VecDeque::new(),
            bytes: 0,
        };
        for pages in [1, 3, 2] {
            assert!(kept.keep(mapping(pages << 16)).is_empty());
        }
        assert_eq!(kept.bytes, 6 << 16);
        assert_eq!(kept.take(2 << 16).expect("one fits").capacity(), 3 << 16);
        assert_eq!(kept.take(2 << 16).expect("one fits").capacity(), 2 << 16);
        assert!(kept.take(2 << 16).is_none());
        assert_eq!(kept.bytes, 1 << 16);
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
