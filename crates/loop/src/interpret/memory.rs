//! One buffer with what is known of each of its entries.

use std::cell::Cell;
use std::ops::Range;

use sparsec_base::{ElementType, Scalar};

use super::entries::Entries;
use crate::ir::Access;

/// The entries of a buffer, and which of them were stored.
#[derive(Debug)]
pub(super) struct Memory {
    entries: Entries,
    /// `None` where every entry is defined.
    defined: Option<Vec<bool>>,
    /// The final length, once it is said.
    pub(super) resized: Option<usize>,
    /// Whether a workspace is allocated.
    pub(super) allocated: bool,
    /// While chunks run: the last to touch each entry.
    touched: Option<Vec<Touched>>,
}

/// Where in a chunk: in its turn, before, or behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    #[default]
    Before,
    Turn,
    Passed,
}

/// Who touches an entry: a chunk. No chunk is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Toucher {
    /// Counted from 1.
    pub(super) chunk: u32,
    pub(super) phase: Phase,
}

impl Toucher {
    /// Whether nothing but chance says that this comes before `other`, which runs now:
    /// from a chunk's turn on, all chunks before have passed theirs on.
    fn races(self, other: Self) -> bool {
        let both = self.chunk != 0 && other.chunk != 0;
        let is_ordered = self.phase != Phase::Passed && other.phase != Phase::Before;
        both && self.chunk != other.chunk && !is_ordered
    }
}

/// The last that read and wrote an entry.
#[derive(Clone, Debug, Default)]
struct Touched {
    read: Cell<Toucher>,
    written: Cell<Toucher>,
}

impl Memory {
    /// `None` if there is no memory to note what is defined.
    pub(super) fn new(access: Access, mut entries: Entries) -> Option<Self> {
        let defined = match access {
            Access::Read | Access::Workspace | Access::Own => None,
            Access::Write => {
                let mut defined = with_room(entries.len())?;
                defined.resize(entries.len(), false);
                Some(defined)
            }
            Access::Grow => {
                entries.truncate(0);
                Some(Vec::new())
            }
        };
        Some(Self {
            entries,
            defined,
            resized: None,
            allocated: !access.is_allocated(),
            touched: None,
        })
    }

    /// No entries, nor any to come.
    pub(super) fn empty(element: ElementType) -> Self {
        Self {
            entries: Entries::empty(element),
            defined: None,
            resized: None,
            allocated: false,
            touched: None,
        }
    }

    /// Begins or ends to watch which chunks touch which entries.
    pub(super) fn watch(&mut self, watch: bool) {
        self.touched = watch.then(|| vec![Touched::default(); self.len()]);
    }

    /// Notes that `who` reads entry `at`; whether no other wrote it.
    pub(super) fn reads(&self, at: usize, who: Toucher) -> bool {
        let Some(touched) = &self.touched else {
            return true;
        };
        touched[at].read.set(who);
        !touched[at].written.get().races(who)
    }

    /// Notes that `who` writes entry `at`; whether no other touched it.
    pub(super) fn writes(&self, at: usize, who: Toucher) -> bool {
        let Some(touched) = &self.touched else {
            return true;
        };
        let before = touched[at].written.replace(who);
        !before.races(who) && !touched[at].read.get().races(who)
    }

    /// Makes the entries zeros, as an allocation does.
    pub(super) fn clear(&mut self) {
        let len = self.len();
        self.entries.truncate(0);
        self.entries.extend_to(len);
    }

    pub(super) fn into_entries(mut self) -> Entries {
        if let Some(len) = self.resized {
            self.entries.truncate(len);
        }
        self.entries
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The place of entry `index`, if there is one.
    pub(super) fn place(&self, index: i64) -> Option<usize> {
        usize::try_from(index).ok().filter(|&at| at < self.len())
    }

    /// The entry at `at`, if it was ever stored.
    pub(super) fn get(&self, at: usize) -> Option<Scalar> {
        match &self.defined {
            Some(defined) if !defined[at] => None,
            _ => Some(self.entries.get(at)),
        }
    }

    pub(super) fn set(&mut self, at: usize, value: Scalar) {
        self.entries.set(at, value);
        if let Some(defined) = &mut self.defined {
            defined[at] = true;
        }
    }

    /// The first entry of `range` that was never stored.
    pub(super) fn first_undefined(&self, range: Range<usize>) -> Option<usize> {
        let defined = self.defined.as_ref()?;
        let start = range.start;
        defined[range]
            .iter()
            .position(|defined| !defined)
            .map(|n| start + n)
    }

    /// What room for `len` entries takes that there is none for yet.
    pub(super) fn bytes_to_extend(&self, len: usize) -> u64 {
        let entry = self.entries.element().size() + usize::from(self.defined.is_some());
        len.saturating_sub(self.len()).saturating_mul(entry) as u64
    }

    /// Makes room for `len` entries; `false` if there is no memory.
    pub(super) fn extend_to(&mut self, len: usize) -> bool {
        if !self.entries.extend_to(len) {
            return false;
        }
        let len = self.len();
        if let Some(touched) = &mut self.touched {
            touched.resize(len, Touched::default());
        }
        let Some(defined) = &mut self.defined else {
            return true;
        };
        let room = defined.try_reserve(len - defined.len()).is_ok();
        if room {
            defined.resize(len, false);
        }
        room
    }

    /// The places within `range` of its entries in ascending order; `None` if
    /// there is no memory for them.
    pub(super) fn order(&self, range: Range<usize>) -> Option<Vec<usize>> {
        let start = range.start;
        let mut order = with_room(range.len())?;
        order.extend(0..range.len());
        // With the places, equal entries differ, and no sort has to be stable.
        order.sort_unstable_by_key(|&at| (self.entries.integer(start + at), at));
        Some(order)
    }

    /// Moves the entry at `order[n]` of `range` to place `n` of it; `None` if
    /// there is no memory for that.
    pub(super) fn permute(&mut self, range: Range<usize>, order: &[usize]) -> Option<()> {
        let start = range.start;
        let mut moved: Vec<Scalar> = with_room(order.len())?;
        moved.extend(order.iter().map(|at| self.entries.get(start + at)));
        for (at, value) in range.zip(moved) {
            self.entries.set(at, value);
        }
        Some(())
    }
}

/// A vector with room for `len` entries, if there is memory.
fn with_room<T>(len: usize) -> Option<Vec<T>> {
    let mut vector = Vec::new();
    vector.try_reserve_exact(len).ok()?;
    Some(vector)
}
