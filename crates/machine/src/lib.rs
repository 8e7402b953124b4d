//! The machine that plans are for: every figure that a choice is weighed by, with its source.
//!
//! Times are nanoseconds of one thread. Each figure is measured on x86-64 servers of the last
//! decade (`sparsec bench kernels`, loops of one kind beside each other); between them they
//! differ by less than two, and plans by more.
//!
//! ```text
//! forall i: forall j: y(i) += A(i,j) * x(j)      10^6 rows of 10 entries
//!
//! loops      10^6 · loop_entry + 10^7 · step
//! x          10^7 touches of a line, of which caches miss a share: at_random
//! ```
//!
//! `network` prices trees and fused loops by it, `plan` prices loops, workspaces, conversions,
//! and the rewrites that come last. `examples/measure.rs` measures streams and accesses at
//! random places on the machine at hand.

/// How long single steps take, and how large the caches are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// A step along stored coordinates, or an iteration of a loop that does not go along an
    /// array: a load that a multiplication waits for.
    pub step: f64,
    /// An iteration of an innermost loop along arrays, several of which are computed at once.
    pub dense_step: f64,
    /// A further array that such an iteration reads. Source: `networks/mttkrp/230/2`.
    pub operand_step: f64,
    /// A multiply-add of a dense product whose rows share a factor, several of which are in
    /// registers. Source: products of 6400 by 300 and 300 by 24 to 100 numbers, 0.016 to 0.022.
    pub tile_step: f64,
    /// Combining a value into an entry of an array, beside the step that found it.
    pub scatter: f64,
    /// A step of a merge of several operands, whose comparisons are guessed right.
    pub merge_step: f64,
    /// A wrong guess of a processor.
    pub wrong_guess: f64,
    /// A comparison of a leap ahead, which nothing predicts.
    pub leap: f64,
    /// Beginning a loop: its bounds are loaded, and its end is guessed wrong once.
    pub loop_entry: f64,
    /// Finding an entry in a hash table that lies in the cache.
    pub probe: f64,
    /// Sorting an entry of a list, for each time that the list would have to be halved to
    /// come to one entry.
    pub sort: f64,
    /// The first write to a page of fresh memory (3 GB/s).
    pub page: f64,
    /// Moving a byte between memory and the last cache (10 GB/s).
    pub byte: f64,
    /// Launching a kernel and allocating its results.
    pub launch: f64,
    /// Counting the degree of an entry in one mode in a pass over all entries: a load and a
    /// store that caches hold.
    pub count: f64,
    /// As `count`, of entries taken here and there: two accesses that caches do not hold.
    pub count_apart: f64,
    /// The caches, the nearest first.
    pub caches: [Cache; 2],
    /// Arrays of more bytes than this are not asked for, however cheap they seem.
    pub most_bytes: f64,
    /// So many iterations of a loop are worth adding up lanes behind it.
    pub lane_iterations: f64,
    /// A merge waits for its comparisons, in place of guessing them, where at least this share
    /// of its steps is guessed wrong for each operand. Source: the table in the header of
    /// `plan`'s `merges.rs`.
    pub wrong_share: f64,
    /// Fetching early.
    pub fetch: Fetch,
}

/// A cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cache {
    /// How many bytes stay in it.
    pub bytes: f64,
    /// The part of [`Machine::byte`] that a byte takes that is not in it, for the way from
    /// the next cache, or from memory.
    pub miss: f64,
}

/// How far ahead loops fetch, and from which sizes on. Source: times of rows of equal length,
/// in the header of `plan`'s `prefetch.rs`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fetch {
    /// Bytes of values by which arrays are fetched ahead.
    pub stream: f64,
    /// Bytes by which entries that coordinates lead to are fetched ahead.
    pub leap: f64,
    /// Between how many entries that is.
    pub leaps: (f64, f64),
    /// Bytes that stay in the caches that a processor has to itself.
    pub near: f64,
    /// Bytes that stay in the caches that processors share.
    pub far: f64,
    /// From how many entries on, and up to how many bytes of values, segments have on average
    /// whose arrays are fetched early: less than two lines of a cache.
    pub short: (f64, f64),
    /// The share of entries that lie apart where coordinates lead anywhere.
    pub scattered: f64,
}

impl Machine {
    /// Bytes of a line of a cache: no less is moved.
    pub const LINE: f64 = 64.0;
    /// Bytes of a row that processors fetch while loops compute: they see where it goes on after
    /// some lines. Source: rows of 2 KiB in any order are read at the time of their
    /// multiply-adds, rows of 128 bytes at twice that (`networks/ttmc16/4/2`).
    pub const FORESEEN: f64 = 512.0;
    /// Bytes of a row of a tile: three of the widest registers, of a line each.
    const TILE: f64 = 3.0 * Self::LINE;
    /// Bytes of a page of memory.
    pub const PAGE: f64 = 4096.0;
    /// Bytes of a page of a large array (`parallel`'s `mapping.rs` asks for such).
    pub const LARGE_PAGE: f64 = (2u64 << 20) as f64;

    /// A processor of middling size.
    pub const MIDDLING: Self = Self {
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
        count: 4.0,
        count_apart: 60.0,
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
        lane_iterations: 32.0,
        wrong_share: 0.14,
        fetch: Fetch {
            stream: 4096.0,
            leap: 4096.0,
            leaps: (4.0, 64.0),
            near: (2u64 << 20) as f64,
            far: (8u64 << 20) as f64,
            short: (4.0, 112.0),
            scattered: 0.5,
        },
    };

    /// The time of a write to a random place of an array of `bytes` bytes: one line of the cache
    /// is read, and another is written back.
    ///
    /// ```
    /// use sparsec_machine::Machine;
    /// assert_eq!(Machine::MIDDLING.anywhere(1e3), 0.0);
    /// assert!(Machine::MIDDLING.anywhere(1e9) > 10.0);
    /// ```
    pub fn anywhere(&self, bytes: f64) -> f64 {
        let [.., last] = self.caches;
        2.0 * Self::LINE * self.byte * last.missed(bytes)
    }

    /// The average time of an access to a random place of an array of `bytes` bytes.
    ///
    /// ```
    /// use sparsec_machine::Machine;
    /// let machine = Machine::MIDDLING;
    /// assert!(machine.at_random(1e9) > machine.at_random(4e6));
    /// ```
    pub fn at_random(&self, bytes: f64) -> f64 {
        let caches = self.caches.iter();
        let missed = caches.map(|cache| cache.miss * cache.missed(bytes));
        Self::LINE * self.byte * missed.sum::<f64>()
    }

    /// The time of each byte that loops read from an array of `bytes` bytes, if they go through
    /// the whole array repeatedly: a cache that is smaller than the array holds none of it when
    /// the loops return to its beginning.
    ///
    /// ```
    /// use sparsec_machine::Machine;
    /// assert_eq!(Machine::MIDDLING.in_stream(1e3), 0.0);
    /// ```
    pub fn in_stream(&self, bytes: f64) -> f64 {
        let lost = self.caches.iter().filter(|cache| bytes > cache.bytes);
        self.byte * lost.map(|cache| cache.miss).sum::<f64>()
    }

    /// A tensor is worth storing dense if at least this share of its places is stored: below it,
    /// steps along stored entries take less time than iterations along arrays.
    pub fn dense_from(&self) -> f64 {
        self.dense_step / self.step
    }

    /// The time of a multiply-add in each of so many columns of a dense product whose rows share a
    /// factor. Columns that do not fill the last tile take up to half as long again as those of a
    /// whole one: compilers make vectors of registers, hardly of their parts.
    ///
    /// ```
    /// use sparsec_machine::Machine;
    /// let machine = Machine::MIDDLING;
    /// assert!(machine.in_tiles(75.0, 8.0) > machine.in_tiles(96.0, 8.0));
    /// assert!(machine.in_tiles(16.0, 8.0) < machine.in_tiles(13.0, 8.0));
    /// ```
    ///
    /// Source: products of 1600 by 300 and 300 by `n` numbers, in tiles of 24 columns: a rest of 4
    /// or 8 takes 0.4 of a tile's time, 12 0.8, 16 0.7, 20 1.4, 6 0.8 to 1.1, 3 and 7 1.2 to 1.9.
    pub fn in_tiles(&self, columns: f64, bytes: f64) -> f64 {
        let width = Self::TILE / bytes;
        let whole = (columns / width).floor() * width;
        let left = columns - whole;
        let fills = |part: f64| left * bytes % part == 0.0;
        let left = if left <= 0.0 {
            0.0
        } else if fills(Self::LINE) {
            left.max(0.4 * width)
        } else if fills(Self::LINE / 2.0) {
            1.5 * left + width / 6.0
        } else if fills(Self::LINE / 4.0) {
            width
        } else {
            1.4 * width
        };
        (whole + left) * self.tile_step
    }

    /// How long it takes to go through so many coordinates of each operand, side by side, of
    /// `extent` coordinates. A processor guesses at each step which operands are there, and is
    /// wrong where they mostly are and sometimes are not, or the other way round.
    ///
    /// ```
    /// use sparsec_machine::Machine;
    /// let machine = Machine::MIDDLING;
    /// // Entries of one operand take a step each.
    /// assert_eq!(machine.merged(&[10.0], 100.0), 10.0 * machine.step);
    /// // Operands that agree nearly everywhere are guessed right.
    /// let wrong = machine.merged(&[50.0, 50.0], 100.0);
    /// assert!(machine.merged(&[99.0, 99.0], 100.0) < wrong);
    /// ```
    pub fn merged(&self, held: &[f64], extent: f64) -> f64 {
        if held.len() < 2 {
            return held.iter().sum::<f64>() * self.step;
        }
        let shares = held.iter().map(|held| (held / extent).min(1.0));
        let none = shares.map(|share| 1.0 - share).product::<f64>();
        let steps = (extent * (1.0 - none)).max(held.iter().copied().fold(1.0, f64::max));
        let wrong = held.iter().map(|held| {
            let share = (held / steps).min(1.0);
            share.min(1.0 - share)
        });
        steps * (self.merge_step + wrong.sum::<f64>() * self.wrong_guess)
    }

    /// How long it takes to leap from one entry of the operand with the fewest to the next in
    /// those with more.
    pub fn leaps(&self, held: &[f64]) -> f64 {
        let least = held.iter().copied().fold(f64::INFINITY, f64::min).max(1.0);
        // Doubling the leap, halving the part that it went too far, and the comparison at its
        // end.
        let each = held
            .iter()
            .map(|of| 2.0 * (of / least).max(1.0).log2() + 2.0);
        least * each.sum::<f64>() * self.leap
    }
}

impl Cache {
    /// The share of accesses anywhere in so many bytes that the cache does not hold.
    ///
    /// ```
    /// use sparsec_machine::Machine;
    /// let cache = Machine::MIDDLING.caches[1];
    /// assert_eq!(cache.missed(1e3), 0.0);
    /// assert_eq!(cache.missed(4.0 * cache.bytes), 0.75);
    /// ```
    pub fn missed(&self, bytes: f64) -> f64 {
        1.0 - self.bytes / bytes.max(self.bytes)
    }
}
