//! The machine that plans are for, as far as estimates need it.
//!
//! Costs are in nanoseconds of one thread. Each figure is measured on x86-64 servers of the
//! last decade (`sparsec bench kernels`, loops of one kind beside each other); between them
//! they differ by less than two, and plans by more.

/// How long single steps take, and how large the caches are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Machine {
    /// A step along stored coordinates, or a turn of a loop that does not run along an
    /// array: a load that a multiplication waits for.
    pub(crate) step: f64,
    /// A turn of an innermost loop along arrays, several of which are computed at once.
    pub(crate) dense_step: f64,
    /// A further array that such a turn reads. Source: `networks/mttkrp/230/2`.
    pub(crate) operand_step: f64,
    /// A multiply-add of a dense product whose rows share a factor, several of which are in
    /// registers. Source: products of 6400 by 300 and 300 by 24 to 100 numbers, 0.016 to 0.022.
    pub(crate) tile_step: f64,
    /// Combining a value into an entry of an array, beside the step that found it.
    pub(crate) scatter: f64,
    /// A step of a merge of several operands, whose comparisons are guessed right.
    pub(crate) merge_step: f64,
    /// A wrong guess of a processor.
    pub(crate) wrong_guess: f64,
    /// A comparison of a leap ahead, which nothing predicts.
    pub(crate) leap: f64,
    /// Beginning a loop: its bounds are loaded, and its end is guessed wrong once.
    pub(crate) loop_entry: f64,
    /// Finding an entry in a hash table that lies in the cache.
    pub(crate) probe: f64,
    /// Sorting an entry of a list, for each time that the list would have to be halved to
    /// come to one entry.
    pub(crate) sort: f64,
    /// The first write to a page of fresh memory (3 GB/s).
    pub(crate) page: f64,
    /// Moving a byte between memory and the last cache (10 GB/s).
    pub(crate) byte: f64,
    /// Launching a kernel and allocating its results.
    pub(crate) launch: f64,
    /// The caches, the nearest first.
    pub(crate) caches: [Cache; 2],
    /// Arrays of more bytes than this are not asked for, however cheap they seem.
    pub(crate) most_bytes: f64,
}

/// A cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cache {
    /// How many bytes stay in it.
    pub(crate) bytes: f64,
    /// The part of [`Machine::byte`] that a byte takes that is not in it, for the way from
    /// the next cache, or from memory.
    pub(crate) miss: f64,
}

impl Machine {
    /// Bytes of a line of a cache: no less is moved.
    pub(crate) const LINE: f64 = 64.0;
    /// Bytes of a row that processors fetch while loops compute: they see where it goes on after
    /// some lines. Source: rows of 2 KiB in any order are read at the time of their
    /// multiply-adds, rows of 128 bytes at twice that (`networks/ttmc16/4/2`).
    pub(crate) const FORESEEN: f64 = 512.0;
    /// Bytes of a page of memory.
    pub(crate) const PAGE: f64 = 4096.0;
    /// Bytes of a page of a large array (`parallel`'s `mapping.rs` asks for such).
    pub(crate) const LARGE_PAGE: f64 = (2u64 << 20) as f64;

    /// A processor of middling size.
    pub(crate) const MIDDLING: Self = Self {
        step: 0.8,
        dense_step: 0.25,
        operand_step: 0.05,
        tile_step: 0.02,
        scatter: 0.4,
        merge_step: 1.2,
        wrong_guess: 4.0,
        leap: 4.0,
        loop_entry: 2.0,
        probe: 6.4,
        sort: 1.0,
        page: 1300.0,
        byte: 0.1,
        launch: 5e3,
        caches: [
            Cache {
                bytes: (1u64 << 20) as f64,
                miss: 0.2,
            },
            Cache {
                bytes: (16u64 << 20) as f64,
                miss: 1.0,
            },
        ],
        most_bytes: (16u64 << 30) as f64,
    };

    /// How long it takes to reach anywhere in an array of so many bytes: a line comes, and
    /// another has to go.
    pub(crate) fn anywhere(&self, bytes: f64) -> f64 {
        let [.., last] = self.caches;
        2.0 * Self::LINE * self.byte * last.missed(bytes)
    }
}

impl Cache {
    /// What share of accesses anywhere in so many bytes the cache does not hold.
    pub(crate) fn missed(&self, bytes: f64) -> f64 {
        1.0 - self.bytes / bytes.max(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_hold_as_much_as_they_are_large() {
        let cache = Machine::MIDDLING.caches[1];
        assert_eq!(cache.missed(1e3), 0.0);
        assert_eq!(cache.missed(4.0 * cache.bytes), 0.75);
    }
}
