//! One row of the table: a variable as a sum of free ones, in integers.
//!
//! ```text
//! x = (2 a - b) / 3        divisor 3, factors 2 and -1
//! ```
//!
//! Divisor and factors have no common factor, and the divisor is positive. Numbers
//! that grow too large are an error, never wrong.

/// A number grew too large, or a search too long.
pub(super) struct Stuck;

/// `divisor * variable = Σ factor * free variable`.
pub(super) struct TableRow {
    pub(super) variable: usize,
    pub(super) divisor: i64,
    pub(super) factors: Vec<i64>,
    /// The sum, for the values of the free variables.
    pub(super) total: i128,
}

impl TableRow {
    /// `self * a + other * b`, by factors.
    pub(super) fn combine(&mut self, a: i64, b: i64, other: &[i64]) -> Result<(), Stuck> {
        for (factor, with) in self.factors.iter_mut().zip(other) {
            if *with == 0 && (a == 1 || *factor == 0) {
                continue;
            }
            let sum = i128::from(*factor) * i128::from(a) + i128::from(*with) * i128::from(b);
            *factor = i64::try_from(sum).map_err(|_| Stuck)?;
        }
        Ok(())
    }

    pub(super) fn reduce(&mut self) {
        if self.divisor == 1 {
            return;
        }
        let mut common = self.divisor.unsigned_abs();
        for factor in &self.factors {
            common = gcd(common, factor.unsigned_abs());
        }
        if let Ok(common) = i64::try_from(common)
            && common > 1
        {
            self.divisor /= common;
            for factor in &mut self.factors {
                *factor /= common;
            }
        }
    }

    pub(super) fn sum_up(&mut self, values: &[i64]) -> Result<(), Stuck> {
        self.total = 0;
        for (factor, value) in self.factors.iter().zip(values) {
            if *factor != 0 && *value != 0 {
                let term = i128::from(*factor) * i128::from(*value);
                self.total = self.total.checked_add(term).ok_or(Stuck)?;
            }
        }
        Ok(())
    }
}

/// The greatest common divisor; of 0 and `b` it is `b`.
pub(super) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
