//! What the memory of this machine gives to one thread, and to several.
//!
//! A kernel that moves its bytes as fast as a plain loop over an array does
//! cannot be made much faster in one thread; the part of that speed which it
//! reaches says how far it is from there. Since caches hold small arrays, and rows that
//! coordinates lead to are no array, each kernel is measured against reading what it
//! reads as well, in its order (`pattern`).

use std::fmt;
use std::hint::black_box;
use std::time::{Duration, Instant};

use sparsec::internals::parallel::{Memory, Pool, map};

use crate::clock;
use crate::pair::median;

/// Bytes a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bandwidth {
    /// Summing the integers of an array.
    pub read: f64,
    /// Copying an array; each byte counts twice, as read and as written.
    pub copy: f64,
    /// How large the array was.
    pub bytes: usize,
}

impl fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "memory: reads {:.1} GB/s, copies {:.1} GB/s ({} MiB, one thread)\n",
            self.read / 1e9,
            self.copy / 1e9,
            self.bytes >> 20
        )
    }
}

/// How often each is measured.
const ROUNDS: usize = 7;

/// Integers summed side by side, so that additions do not wait for each other.
const LANES: usize = 8;

/// Measures with arrays of `bytes` bytes.
pub fn measure(bytes: usize) -> Bandwidth {
    let from = array(bytes);
    let mut to = from.clone();
    let copy = middle(|| {
        black_box(&mut to).copy_from_slice(black_box(&from));
    });
    Bandwidth {
        read: bytes as f64 / read(bytes).as_secs_f64(),
        copy: 2.0 * bytes as f64 / copy.as_secs_f64(),
        bytes,
    }
}

/// How much faster several threads are than one where only memory counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gain {
    /// Summing the integers of an array.
    pub read: f64,
    /// Copying an array.
    pub copy: f64,
}

impl fmt::Display for Gain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "read {:.2} and copy {:.2}", self.read, self.copy)
    }
}

/// How much faster the threads of `pool`, of which there are `threads`, read and copy
/// together than one does alone: wall clock, `bytes` bytes in all.
pub fn gain(pool: &Pool, threads: usize, bytes: usize) -> Gain {
    let mut parts: Vec<Part> = (0..threads).map(|_| Part::new(bytes / threads)).collect();
    Gain {
        read: ratio(pool, &mut parts, |part| {
            black_box(sum(black_box(&part.from)));
        }),
        copy: ratio(pool, &mut parts, |part| {
            black_box(&mut part.to).copy_from_slice(black_box(&part.from));
        }),
    }
}

/// What one of several threads reads and writes.
struct Part {
    from: Vec<u64>,
    to: Vec<u64>,
}

impl Part {
    fn new(bytes: usize) -> Self {
        Self {
            from: array(bytes),
            to: array(bytes),
        }
    }
}

/// How much faster the threads of `pool` do `work` for all parts than one does.
fn ratio(pool: &Pool, parts: &mut [Part], work: fn(&mut Part)) -> f64 {
    let (mut alone, mut together) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        alone.push(clock::wall(&mut || parts.iter_mut().for_each(work)).0);
        let mut all = || _ = map(parts.iter_mut().collect(), work);
        together.push(pool.run(|| clock::wall(&mut all).0));
    }
    let [alone, together] = [alone, together].map(|times| median(times, Duration::cmp));
    alone.as_secs_f64() / together.as_secs_f64()
}

/// The time of reading an array of `bytes` bytes once.
fn read(bytes: usize) -> Duration {
    let from = array(bytes);
    middle(|| {
        black_box(sum(black_box(&from)));
    })
}

fn array(bytes: usize) -> Vec<u64> {
    (0..bytes as u64 / 8).collect()
}

fn sum(list: &[u64]) -> u64 {
    let mut sums = [0u64; LANES];
    for chunk in list.chunks_exact(LANES) {
        for (sum, entry) in sums.iter_mut().zip(chunk) {
            *sum = sum.wrapping_add(*entry);
        }
    }
    sums.iter().fold(0, |all, sum| all.wrapping_add(*sum))
}

fn middle(mut work: impl FnMut()) -> Duration {
    let times = (0..ROUNDS).map(|_| clock::time(&mut work).0).collect();
    median(times, Duration::cmp)
}

/// Bytes a second at which fresh memory is written for the first time.
pub(crate) fn first_touch(bytes: usize) -> f64 {
    let times = (0..3).map(|_| {
        let start = Instant::now();
        let touched = Memory::zeroed(bytes).map(|mut memory| memory.as_mut_slice::<u8>().fill(1));
        black_box(touched.is_ok());
        start.elapsed()
    });
    bytes as f64 / median(times.collect(), Duration::cmp).as_secs_f64()
}
