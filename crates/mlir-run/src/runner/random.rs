//! Random numbers of the runner.
//!
//! MLIR's runner draws them with `std::mt19937`, `std::uniform_int_distribution` and
//! `std::shuffle`. The C++ standard fixes the first; the other two follow GNU's library from GCC 11
//! on, so that a program prints the same here as there.
//!
//! Source: D. Lemire, "Fast random integer generation in an interval", ACM TOMACS 29(1), 2019,
//! section 4, for numbers below 2^32.

use rand_mt::Mt;

/// A generator that the program seeded.
#[derive(Debug)]
pub(crate) struct Generator(Mt);

impl Generator {
    /// A generator of the last 32 bits of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(Mt::new(seed as u32))
    }

    /// A number from 0 to `most`.
    pub(crate) fn up_to(&mut self, most: u64) -> u64 {
        const MOST_OF_ONE_DRAW: u64 = u32::MAX as u64;
        match most {
            MOST_OF_ONE_DRAW => u64::from(self.0.next_u32()),
            most if most < MOST_OF_ONE_DRAW => self.below(most as u32 + 1),
            most => loop {
                let high = self.up_to(most >> 32) << 32;
                let (found, overflows) = high.overflowing_add(u64::from(self.0.next_u32()));
                if found <= most && !overflows {
                    return found;
                }
            },
        }
    }

    fn below(&mut self, n: u32) -> u64 {
        let threshold = n.wrapping_neg() % n;
        loop {
            let product = u64::from(self.0.next_u32()) * u64::from(n);
            // Small low halves occur once too often for some numbers.
            if product as u32 >= threshold {
                return product >> 32;
            }
        }
    }

    /// Puts the numbers from 0 to `n - 1` in a random order.
    pub(crate) fn shuffled(&mut self, n: usize) -> Vec<i64> {
        let mut order: Vec<i64> = (0..n as i64).collect();
        if n < 2 {
            return order;
        }
        // One draw serves two exchanges where the product of their ranges fits into it.
        if u64::from(u32::MAX) / (n as u64) < n as u64 {
            for at in 1..n {
                order.swap(at, self.up_to(at as u64) as usize);
            }
            return order;
        }
        let mut at = 1;
        if n.is_multiple_of(2) {
            order.swap(1, self.up_to(1) as usize);
            at = 2;
        }
        while at < n {
            let (first, second) = (at as u64 + 1, at as u64 + 2);
            let both = self.up_to(first * second - 1);
            order.swap(at, (both / second) as usize);
            order.swap(at + 1, (both % second) as usize);
            at += 2;
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::Generator;

    // The numbers expected here are printed by a program of C++.
    #[test]
    fn orders_are_those_of_cpp() {
        assert_eq!(Generator::new(0).shuffled(1), [0]);
        assert_eq!(Generator::new(0).shuffled(5), [2, 4, 3, 0, 1]);
        assert_eq!(Generator::new(0).shuffled(8), [0, 2, 1, 5, 3, 6, 4, 7]);
        let hash = |hash: u64, n: &i64| hash.wrapping_mul(31).wrapping_add(*n as u64);
        let long = Generator::new(0).shuffled(100_000);
        assert_eq!(long.iter().fold(0, hash), 16_635_995_991_996_078_346);
    }

    #[test]
    fn numbers_are_those_of_cpp() {
        let mut generator = Generator::new(7);
        let most = [9, 99, u64::from(u32::MAX), 1 << 40, u64::MAX];
        let drawn = most.map(|most| generator.up_to(most));
        let expected = [
            0,
            22,
            3_349_725_721,
            349_775_304_259,
            18_045_027_414_730_670_999,
        ];
        assert_eq!(drawn, expected);
    }
}
