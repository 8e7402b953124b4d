//! Our thread pool, and maps over ranges whose results come in order.
//!
//! Everything runs on one pool of threads; [`set_threads`] says how many before
//! the first use. Work is cut by [`ranges`], whose cuts depend on the length and
//! the grain alone, so results are the same at every number of threads:
//!
//! ```
//! use sparsec_parallel::{map, ranges};
//! let squares: Vec<u64> = (0..1000).map(|i| i * i).collect();
//! let sums = map(ranges(squares.len(), 100), |range| squares[range].iter().sum::<u64>());
//! assert_eq!(sums.iter().sum::<u64>(), squares.iter().sum());
//! ```
//!
//! Rayon makes the pool, but it is not rayon's global pool, which belongs to the program
//! around us. Work runs on our threads only:
//!
//! | called on               | runs on                                                |
//! |-------------------------|--------------------------------------------------------|
//! | a thread of a pool of ours | that pool                                           |
//! | a thread in [`Pool::run`] of a pool of one thread | itself                      |
//! | any other thread        | the common pool, while the thread sleeps               |
//! | a thread of a pool of the program | the common pool, while the thread sleeps: it takes no other work of its own pool, which might wait for a lock that our caller holds |

use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use sparsec_base::cancel::{Watched, checkpoint};

/// Work is cut into at most this many ranges.
const MOST_RANGES: usize = 64;

/// The common pool. `None` if the system refuses threads: then all work runs in place.
static COMMON: OnceLock<Option<ThreadPool>> = OnceLock::new();

thread_local! {
    /// Whether this is a thread of a pool of ours.
    static IS_OURS: Cell<bool> = const { Cell::new(false) };
    /// Whether all work runs in place here.
    static IS_ALONE: Cell<bool> = const { Cell::new(false) };
}

fn make_pool(threads: usize) -> Option<ThreadPool> {
    let builder = ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|number| format!("sparsec-{number}"))
        .start_handler(|_| IS_OURS.set(true));
    builder.build().ok()
}

fn common() -> Option<&'static ThreadPool> {
    COMMON.get_or_init(|| make_pool(0)).as_ref()
}

/// Runs `work` on a thread of `pool`.
fn run_on<R: Send>(pool: &ThreadPool, work: impl FnOnce() -> R + Send) -> R {
    let is_on_another = rayon::current_thread_index().is_some() && !IS_OURS.get();
    if !is_on_another {
        return pool.install(work);
    }
    // This thread belongs to another pool. If it waited by rayon's means, rayon would
    // have it run other work of that pool. It sleeps instead, while a thread of no pool
    // hands the work over.
    let work = Mutex::new(Some(work));
    let hand_over = || {
        let work = locked(&work).take()?;
        Some(pool.install(work))
    };
    let ended = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, hand_over);
        thread.map_or_else(|_| Ok(None), |thread| thread.join())
    });
    let done = ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    // Without a thread to hand it over, this one waits by rayon's means.
    done.or_else(hand_over).expect("it runs once")
}

/// Runs parallel `work` on the pool of this thread if that is ours, else on the common one.
fn on_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    match common() {
        Some(pool) if !IS_OURS.get() => run_on(pool, work),
        _ => work(),
    }
}

/// The work, which is cancelled with that of this thread wherever it runs.
fn watched<R: Send>(work: impl FnOnce() -> R + Send) -> impl FnOnce() -> R + Send {
    let watched = Watched::here();
    move || watched.enter(work)
}

/// Runs `work`, and all that it does in parallel, in place.
fn alone<R>(work: impl FnOnce() -> R) -> R {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            IS_ALONE.set(self.0);
        }
    }
    let _before = Before(IS_ALONE.replace(true));
    work()
}

/// How many threads parallel work runs on here.
pub fn threads() -> usize {
    match (IS_ALONE.get(), IS_OURS.get()) {
        (true, _) => 1,
        (false, true) => rayon::current_num_threads(),
        (false, false) => common().map_or(1, ThreadPool::current_num_threads),
    }
}

/// Sets the number of threads, once, before any parallel work; 0 is one thread
/// for each processor. Returns whether it took: afterwards the number is fixed.
pub fn set_threads(threads: usize) -> bool {
    let mut took = false;
    let pool = COMMON.get_or_init(|| {
        took = true;
        make_pool(threads)
    });
    took && pool.is_some()
}

/// A pool beside the common one, for work that is to run on so many threads. A clone
/// is the same pool, whose threads end with the last of them.
///
/// A pool of one thread has none of its own: work runs on the thread that asks. Handing it to
/// another and waiting takes 10 µs, longer than a small kernel.
///
/// ```
/// use sparsec_parallel::{Pool, threads};
/// assert_eq!(Pool::new(2).run(threads), 2);
/// assert_eq!(Pool::new(1).run(threads), 1);
/// ```
#[derive(Clone, Debug)]
pub struct Pool(Threads);

#[derive(Clone, Debug)]
enum Threads {
    /// The thread that asks.
    Asking,
    Own(Arc<ThreadPool>),
    Common,
}

impl Pool {
    /// A pool of `threads` threads; 0 is one for each processor. Where the system
    /// gives none, the common pool.
    pub fn new(threads: usize) -> Self {
        Self(match threads {
            1 => Threads::Asking,
            _ => make_pool(threads).map_or(Threads::Common, |pool| Threads::Own(Arc::new(pool))),
        })
    }

    /// Runs `work` on the threads of the pool, its parallel loops included.
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.0 {
            Threads::Asking => alone(work),
            Threads::Own(pool) => run_on(pool, watched(work)),
            Threads::Common => work(),
        }
    }
}

/// Runs `work` on a [`Pool`] of its own.
pub fn with_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    Pool::new(threads).run(work)
}

/// Runs both, in parallel where a thread is free, and returns both results.
pub fn join<A: Send, B: Send>(
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    match threads() {
        1 => (a(), b()),
        _ => {
            let (a, b) = (watched(a), watched(b));
            on_pool(|| rayon::join(a, b))
        }
    }
}

/// Cuts `0..len` into at most 64 ranges of about equal length, none shorter
/// than `grain` unless it is the only one. No range is empty; `len == 0` has none.
pub fn ranges(len: usize, grain: usize) -> Vec<Range<usize>> {
    if len == 0 {
        return Vec::new();
    }
    let n = (len / grain.max(1)).clamp(1, MOST_RANGES);
    // `len * k / n` without overflow: `len = n * each + rest`.
    let (each, rest) = (len / n, len % n);
    let cut = |k: usize| k * each + k.min(rest);
    (0..n).map(|k| cut(k)..cut(k + 1)).collect()
}

/// Applies `f` to each item, in parallel, with the results in order. One item
/// runs in place. Between items, work may be [cancelled](sparsec_base::Cancel::watch).
pub fn map<T: Send, R: Send>(items: Vec<T>, f: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
    if items.len() <= 1 || threads() == 1 {
        let begun = |item| {
            checkpoint();
            f(item)
        };
        return items.into_iter().map(begun).collect();
    }
    // Threads share numbers, not items: what runs in parallel is then compiled
    // once, and not for every `T`, `R` and `f`. Nobody waits for a lock.
    let items: Vec<_> = items
        .into_iter()
        .map(|item| Mutex::new(Some(item)))
        .collect();
    let results: Vec<_> = items.iter().map(|_| Mutex::new(None)).collect();
    run(items.len(), &|number| {
        checkpoint();
        if let Some(item) = locked(&items[number]).take() {
            *locked(&results[number]) = Some(f(item));
        }
    });
    let results = results.into_iter().map(Mutex::into_inner);
    results
        .filter_map(|result| result.unwrap_or_else(PoisonError::into_inner))
        .collect()
}

/// Calls `work(unit, chunk)` for every chunk below `n`, in parallel. Units are
/// numbered from 0, and each runs one chunk after another; one alone, or one
/// thread, runs in place.
///
/// # Errors
/// What the first chunk gave that failed: all before it ran, some after it may not
/// have.
///
/// ```
/// use sparsec_parallel::chunks;
/// let odd = |_, chunk| if chunk % 2 == 0 { Ok(()) } else { Err(chunk) };
/// assert_eq!(chunks(100, odd), Err(1));
/// ```
pub fn chunks<E: Send>(
    n: usize,
    work: impl Fn(usize, usize) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let units = if n <= 1 { 1 } else { threads().min(n) };
    if units == 1 {
        return (0..n).try_for_each(|chunk| work(0, chunk));
    }
    let next = AtomicUsize::new(0);
    let failed = AtomicUsize::new(n);
    let first = Mutex::new(None);
    run(units, &|unit| {
        // Chunks are taken in order, so those before a failed one were taken.
        loop {
            let chunk = next.fetch_add(1, Ordering::Relaxed);
            if chunk >= failed.load(Ordering::Relaxed) {
                return;
            }
            if let Err(error) = work(unit, chunk) {
                let mut first = locked(&first);
                if failed.fetch_min(chunk, Ordering::Relaxed) > chunk {
                    *first = Some(error);
                }
            }
        }
    });
    let first = first.into_inner();
    match first.unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Calls `work` with every number below `n`, in parallel.
fn run(n: usize, work: &(dyn Fn(usize) + Sync)) {
    let watched = Watched::here();
    let work = |number| watched.enter(|| work(number));
    on_pool(|| (0..n).into_par_iter().with_max_len(1).for_each(work));
}

/// A panic in `f` goes on in the thread that asked, so a poisoned lock is not seen.
fn locked<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Cuts `all` into consecutive chunks of the given lengths, which together are
/// not longer than `all`, so that each can be written by another thread.
///
/// # Panics
/// If the lengths add up to more than `all` has.
pub fn split_mut<T>(mut all: &mut [T], lengths: impl IntoIterator<Item = usize>) -> Vec<&mut [T]> {
    let mut chunks = Vec::new();
    for length in lengths {
        let (chunk, rest) = all.split_at_mut(length);
        chunks.push(chunk);
        all = rest;
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_without_gaps() {
        for len in [0, 1, 2, 63, 64, 65, 1000, 1001] {
            for grain in [0, 1, 3, 10_000] {
                let ranges = ranges(len, grain);
                assert!(ranges.len() <= MOST_RANGES);
                let mut at = 0;
                for range in ranges {
                    assert_eq!(range.start, at);
                    assert!(!range.is_empty());
                    at = range.end;
                }
                assert_eq!(at, len);
            }
        }
    }

    #[test]
    fn maps_keep_order_at_every_number_of_threads() {
        for n in [1, 2, 7] {
            let out = with_threads(n, || map((0..100).collect(), |i: i32| i * 2));
            assert_eq!(out, (0..100).map(|i| i * 2).collect::<Vec<_>>());
        }
    }

    #[test]
    fn chunks_run_once_each_and_the_first_failure_counts() {
        for threads in [1, 2, 5] {
            let ran = Mutex::new(vec![0; 100]);
            let all = with_threads(threads, || {
                chunks(100, |unit, chunk| {
                    assert!(unit < threads);
                    locked(&ran)[chunk] += 1;
                    Ok::<(), ()>(())
                })
            });
            assert_eq!((all, ran.into_inner().unwrap()), (Ok(()), vec![1; 100]));
            let fails = |_, chunk| match chunk {
                30.. => Err(chunk),
                _ => Ok(()),
            };
            assert_eq!(with_threads(threads, || chunks(100, fails)), Err(30));
        }
    }

    #[test]
    fn chunks_are_consecutive() {
        let mut all = [1, 2, 3, 4, 5];
        assert_eq!(split_mut(&mut all, [2, 0, 1]), [&[1, 2][..], &[], &[3]]);
    }
}
