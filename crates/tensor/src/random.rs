//! Numbers that look random and are the same on every machine.
//!
//! SplitMix64: a counter goes up by an odd constant, and each number is the
//! counter with its bits mixed. Any seed is good, and integer arithmetic alone
//! is used, so no library and no rounding mode changes a number.
//!
//! Source: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
//! Generators", OOPSLA 2014, <https://doi.org/10.1145/2660193.2660195>.

/// A stream of numbers.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    counter: u64,
}

impl Random {
    /// The stream of this seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self { counter: seed }
    }

    /// The next 64 bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.counter = self.counter.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.counter;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is not 0.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// A multiple of 2^-53 in `0..1`.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_never_changes() {
        let mut random = Random::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.bits()).collect();
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn numbers_stay_below_their_bound() {
        let mut random = Random::new(7);
        for n in [1, 2, 3, 1000, u64::MAX] {
            assert!((0..100).all(|_| random.below(n) < n));
        }
        assert!((0..1000).all(|_| (0.0..1.0).contains(&random.unit())));
    }
}
