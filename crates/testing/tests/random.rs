//! Random programs agree with the oracle; see `sparsec_testing::random`.
//!
//! `SPARSEC_CASES=N` runs N programs, those of the seeds from `SPARSEC_SEED` on,
//! or from the same one each time.

use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use sparsec_testing::random::{Random, Tally};

/// Programs run without `SPARSEC_CASES`.
const CASES: u64 = 1200;

#[test]
fn random_programs_agree_with_the_oracle() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let cases: u64 = number("SPARSEC_CASES").unwrap_or(CASES);
    let first: u64 = number("SPARSEC_SEED").unwrap_or(7);
    let next = AtomicU64::new(0);
    let tally = thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let running: Vec<_> = (0..threads)
            .map(|_| scope.spawn(|| share(&next, first, cases)))
            .collect();
        let mut tally = Tally::default();
        for share in running {
            tally += share
                .join()
                .unwrap_or_else(|failure| std::panic::resume_unwind(failure));
        }
        tally
    });
    assert!(
        tally.agreed * 3 > tally.programs(),
        "enough programs mean something:\n{tally}"
    );
    assert!(
        tally.rescheduled >= tally.unscheduled,
        "most changed plans run:\n{tally}"
    );
}

/// What became of the programs that one thread took from those of all.
fn share(next: &AtomicU64, first: u64, cases: u64) -> Tally {
    let random = Random::new();
    loop {
        let n = next.fetch_add(1, Ordering::Relaxed);
        if n >= cases {
            return random.tally();
        }
        if let Err(failure) = random.run(first.wrapping_add(n)) {
            // The others have no reason to go on.
            next.store(cases, Ordering::Relaxed);
            panic!("{failure}\n{}", random.tally());
        }
    }
}
