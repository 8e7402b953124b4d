//! Random programs agree with the oracle; see `sparsec_testing::random`.
//!
//! `SPARSEC_CASES=N` runs N programs, those of the seeds from `SPARSEC_SEED` on,
//! or from the same one each time.

use sparsec_testing::random::Random;

/// Programs run without `SPARSEC_CASES`.
const CASES: u64 = 1500;

#[test]
fn random_programs_agree_with_the_oracle() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let cases: u64 = number("SPARSEC_CASES").unwrap_or(CASES);
    let seed: u64 = number("SPARSEC_SEED").unwrap_or(7);
    let random = Random::new();
    for seed in (0..cases).map(|n| seed.wrapping_add(n)) {
        if let Err(failure) = random.run(seed) {
            panic!("{failure}\n{}", random.tally());
        }
    }
    let tally = random.tally();
    assert!(
        tally.agreed * 3 > tally.programs(),
        "enough programs mean something:\n{tally}"
    );
    assert!(
        tally.refused.is_empty(),
        "no program is refused: {}",
        tally.refused.join("\n")
    );
    assert!(
        tally.rescheduled >= tally.unscheduled,
        "most changed plans run:\n{tally}"
    );
}
