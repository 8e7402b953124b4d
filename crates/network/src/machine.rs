//! The cost of steps and bytes: every constant of the prices, each with its source.

/// A level of memory: a cache, or main memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryLevel {
    /// Working sets of at most this many bytes stay in it.
    pub bytes: f64,
    /// Nanoseconds for a byte of a stream.
    pub stream: f64,
    /// Nanoseconds that an access at a random place waits.
    pub random: f64,
}

/// A machine, as prices see it. Times are nanoseconds on one thread.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Levels of memory, the smallest first; the last has no bound.
    pub levels: Vec<MemoryLevel>,
    /// A multiply-add in a loop over the entries of one sparse operand.
    pub step: f64,
    /// A multiply-add in a loop that vectors run, over dense and contiguous operands.
    pub lane: f64,
    /// A multiply-add of a blocked dense product, which keeps tiles in registers.
    pub blocked: f64,
    /// A step of a loop that merges the entries of two sparse operands.
    pub merge: f64,
    /// Entering a loop.
    pub entry: f64,
    /// An access to a hashed workspace.
    pub hash: f64,
    /// Copying an entry of a sparse tensor to another mode order.
    pub convert: f64,
    /// Bytes of a value.
    pub value_bytes: f64,
    /// Bytes of an entry of a sparse tensor, its coordinate included.
    pub entry_bytes: f64,
    /// A tensor is stored dense if at least this share of its entries is stored.
    pub dense_from: f64,
    /// Dense workspaces of sparse intermediates are at most this large.
    pub dense_workspace_bytes: f64,
}

impl Default for Machine {
    /// One core of a server of 2023 (EPYC, 1 MiB of second-level cache, 32 MiB shared).
    ///
    /// * Levels: `examples/machine.rs`.
    /// * `step`, `lane`, `blocked`: the three-index integrals of CoNST's medium benchmark, 5.4e9
    ///   multiply-adds: 2.2 s over sparse rows, 0.8 s over dense rows, 0.57 s blocked, compiled
    ///   by gcc 12. `merge`: the same by merges, 29.2 s for 1.1e10 of their steps.
    /// * `dense_from`: `lane / step`; below it, fewer sparse steps are faster.
    /// * `convert`: sorting 64 bytes an entry through memory.
    /// * `hash`: two accesses to a table outside of the second-level cache.
    fn default() -> Self {
        Self {
            levels: vec![
                MemoryLevel {
                    bytes: 1024.0 * 1024.0,
                    stream: 0.012,
                    random: 0.0,
                },
                MemoryLevel {
                    bytes: 16.0 * 1024.0 * 1024.0,
                    stream: 0.1,
                    random: 6.0,
                },
                MemoryLevel {
                    bytes: f64::INFINITY,
                    stream: 0.15,
                    random: 35.0,
                },
            ],
            step: 0.41,
            lane: 0.13,
            blocked: 0.06,
            merge: 2.4,
            entry: 1.5,
            hash: 12.0,
            convert: 10.0,
            value_bytes: 8.0,
            entry_bytes: 12.0,
            dense_from: 0.32,
            dense_workspace_bytes: 16.0 * 1024.0 * 1024.0,
        }
    }
}

impl Machine {
    /// The level that keeps a working set of `bytes`.
    pub fn level(&self, bytes: f64) -> MemoryLevel {
        let holds = |level: &&MemoryLevel| bytes <= level.bytes;
        let last = self.levels[self.levels.len() - 1];
        self.levels.iter().find(holds).copied().unwrap_or(last)
    }
}
