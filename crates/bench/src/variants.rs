//! Our kernel once more: as machine code made in memory, and on several threads.
//!
//! ```text
//!                  ┌─► C ─────────► one thread ───┐
//! loop IR, plan ───┼─► Cranelift ─► one thread ───┼─► the same bits ─► timed in turns
//!   for N threads ─┴─► C ─────────► N threads ────┘
//! ```
//!
//! Results have to be the same to the bit: neither back ends nor threads may change
//! any. Threads are timed by wall clock, since a thread that waits for another
//! costs time as well; on a machine with other work that says little.

use std::time::Duration;

use sparsec::internals::Inputs;
use sparsec::internals::parallel::Pool;
use sparsec::internals::runtime::{Kernel, OutputTensor};
use sparsec::{Array, Diagnostic, Result, code};

use crate::bandwidth::{self, Gain};
use crate::case::Case;
use crate::clock::{self, Clock};
use crate::pair::{Turns, difference, launch, median};

/// What kernels on irregular data may take in memory-made code, over C.
const IRREGULAR: f64 = 1.15;

/// The same where inner loops are dense, of which C makes vectors.
const DENSE: f64 = 4.0;

/// Work that several threads are to gain by.
const WORTH: Duration = Duration::from_millis(10);

/// The gain of two threads that is asked for at most, and for sparse results.
const GAIN: f64 = 1.8;
const SPARSE_GAIN: f64 = 1.4;

/// The share of what memory gains by threads that kernels gain at least.
const OF_BANDWIDTH: f64 = 0.85;

/// Our kernel made in another way.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// `cranelift`, `2 threads`.
    pub name: String,
    /// The median time.
    pub time: Duration,
    /// The median over rounds of its time over that of C on one thread, or for
    /// threads the other way round.
    pub ratio: f64,
    /// What the ratio has to be.
    pub bar: Bar,
    /// For threads: what memory gave to them meanwhile.
    pub memory: Option<Gain>,
}

/// What a ratio has to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bar {
    /// At most this: times.
    AtMost(f64),
    /// At least this: gains.
    AtLeast(f64),
    /// At least this, or memory gives no more: a kernel that reads so large a share as
    /// fast as can be.
    OrOfRead {
        /// The ratio.
        least: f64,
        /// The share that is as good.
        share: f64,
        /// The share that there is.
        of_read: f64,
    },
    /// Anything, where there is too little work.
    Free,
}

impl Bar {
    /// What the ratio to C as TACO generates it has to be for a kernel that reaches this
    /// share of the speed of reading.
    pub(crate) fn of_case(case: &Case, of_read: f64) -> Self {
        let least = case.plain_bar;
        match case.read_bar {
            Some(share) => Self::OrOfRead {
                least,
                share,
                of_read,
            },
            None => Self::AtLeast(least),
        }
    }
}

impl Variant {
    /// Whether the ratio is as good as it has to be.
    pub fn keeps_bar(&self) -> bool {
        match self.bar {
            Bar::AtMost(most) => self.ratio <= most,
            Bar::AtLeast(least) => self.ratio >= least,
            Bar::OrOfRead {
                least,
                share,
                of_read,
            } => self.ratio >= least || of_read >= share,
            Bar::Free => true,
        }
    }
}

/// Several threads, and what they gain where only memory counts.
#[derive(Clone, Debug)]
pub struct Threads {
    /// How many.
    pub number: usize,
    /// How much faster they read and copy than one, as they began.
    pub gain: Gain,
    bytes: usize,
    pub(crate) one: Pool,
    pub(crate) many: Pool,
}

impl Threads {
    /// Starts them, and has them read `bytes` bytes.
    pub fn start(number: usize, bytes: usize) -> Self {
        let many = Pool::new(number);
        Self {
            number,
            gain: bandwidth::gain(&many, number, bytes),
            bytes,
            one: Pool::new(1),
            many,
        }
    }

    /// What memory gives to them now: other guests of a machine take from that.
    pub(crate) fn memory(&self) -> Gain {
        bandwidth::gain(&self.many, self.number, self.bytes)
    }

    /// The gain that is asked of work that writes as much as it reads.
    pub(crate) fn least_of_copies(one: Duration, memory: Gain) -> Option<f64> {
        (one >= WORTH).then(|| GAIN.min(OF_BANDWIDTH * memory.copy))
    }

    /// The gain that is asked for where one thread takes so long, and memory gives so much.
    fn bar(one: Duration, is_sparse: bool, memory: Gain) -> Bar {
        match (one >= WORTH, is_sparse) {
            (false, _) => Bar::Free,
            (true, true) => Bar::AtLeast(SPARSE_GAIN),
            (true, false) => Bar::AtLeast(GAIN.min(OF_BANDWIDTH * memory.read)),
        }
    }
}

/// The kernel `of` that is measured, its operands, and the result that all write.
pub(crate) struct Measured<'a> {
    pub(crate) name: &'a str,
    pub(crate) ours: &'a Kernel,
    pub(crate) inputs: &'a Inputs,
    pub(crate) output: &'a mut OutputTensor,
    pub(crate) rounds: usize,
}

impl Measured<'_> {
    /// Beside machine code made in memory.
    ///
    /// # Errors
    /// `E0609` where that cannot be made, `E0515` if it computes something else.
    pub(crate) fn in_memory(&mut self, is_dense: bool) -> Result<Variant> {
        let made = Kernel::generate(self.ours.function())?;
        let one = Pool::new(1);
        let (c, memory) = self.in_turns("cranelift", [&one; 2], &made, clock::time)?;
        Ok(Variant {
            name: "cranelift".to_owned(),
            ratio: ratio(&memory, &c),
            time: median(memory, Duration::cmp),
            bar: Bar::AtMost(if is_dense { DENSE } else { IRREGULAR }),
            memory: None,
        })
    }

    /// Beside `many`, which is planned for several threads, on them.
    ///
    /// # Errors
    /// `E0515` if it computes something else.
    pub(crate) fn on(&mut self, threads: &Threads, many: &Kernel) -> Result<Variant> {
        let name = format!("{} threads", threads.number);
        let pools = [&threads.one, &threads.many];
        let (one, many) = self.in_turns(&name, pools, many, clock::wall)?;
        let gain = ratio(&one, &many);
        let memory = threads.memory();
        let is_sparse = self.output.arrays().len() > 1;
        Ok(Variant {
            name,
            ratio: gain,
            time: median(many, Duration::cmp),
            bar: Threads::bar(median(one, Duration::cmp), is_sparse, memory),
            memory: Some(memory),
        })
    }

    /// Compares the results of `ours` and `other`, each on its pool, and times both
    /// in turns.
    fn in_turns(
        &mut self,
        name: &str,
        pools: [&Pool; 2],
        other: &Kernel,
        clock: Clock<Result<()>>,
    ) -> Result<(Vec<Duration>, Vec<Duration>)> {
        let kernels = [self.ours, other];
        let run = |which: usize, output: &mut OutputTensor| {
            let (kernel, inputs) = (kernels[which], self.inputs);
            pools[which].run(|| launch(kernel, inputs, output, clock))
        };
        run(0, self.output)?;
        let expected: Vec<Array> = self.output.arrays().to_vec();
        run(1, self.output)?;
        for (one, other) in expected.iter().zip(self.output.arrays()) {
            if one != other {
                let message = format!("`{}` by {name} differs from C on one thread", self.name);
                let note = difference(one, other).unwrap_or_else(|| "in the last bits".to_owned());
                return Err(Diagnostic::new(code::WRONG_RESULT, message)
                    .note(note)
                    .help("this is a fault of sparsec; please report it"));
            }
        }
        let mut turns = Turns::new(self.rounds);
        while turns.goes_on() {
            turns.both(|which| run(which, self.output))?;
        }
        Ok(turns.times())
    }
}

/// The median over rounds of `over / under`.
pub(crate) fn ratio(over: &[Duration], under: &[Duration]) -> f64 {
    let rounds = over.iter().zip(under);
    let ratios = rounds.map(|(over, under)| over.as_secs_f64() / under.as_secs_f64());
    median(ratios.collect(), f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_are_asked_of_long_work_and_no_more_than_memory_gives() {
        let long = Duration::from_millis(20);
        let bar = |read: f64, is_sparse: bool| {
            let memory = Gain { read, copy: 1.0 };
            Threads::bar(long, is_sparse, memory)
        };
        assert_eq!(bar(2.0, true), Bar::AtLeast(1.4));
        assert_eq!(bar(2.0, false), Bar::AtLeast(0.85 * 2.0));
        assert_eq!(bar(4.0, false), Bar::AtLeast(1.8));
        let memory = Threads::start(2, 1 << 16).memory();
        assert!(memory.read > 0.0 && memory.copy > 0.0);
        let short = Duration::from_millis(9);
        assert_eq!(Threads::bar(short, false, memory), Bar::Free);
        assert_eq!(Threads::least_of_copies(short, memory), None);
        let copy = |copy| Threads::least_of_copies(long, Gain { read: 1.0, copy });
        assert_eq!([copy(1.2), copy(4.0)], [Some(0.85 * 1.2), Some(1.8)]);
    }
}
