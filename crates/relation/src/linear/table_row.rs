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
#[derive(Clone)]
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

    /// The factors that are not 0, by column.
    pub(super) fn parts(&self) -> Vec<(usize, i64)> {
        let all = self.factors.iter().copied().enumerate();
        all.filter(|(_, factor)| *factor != 0).collect()
    }

    /// Replaces the free variable of a column by the row `other`, a sum of these parts. `before` is
    /// the factor of the variable so far.
    pub(super) fn put(
        &mut self,
        column: usize,
        before: i64,
        other: &Self,
        parts: &[(usize, i64)],
    ) -> Result<(), Stuck> {
        let factor = std::mem::take(&mut self.factors[column]);
        if factor == 0 {
            return Ok(());
        }
        if other.divisor == 1 {
            for (column, with) in parts {
                let sum = with.checked_mul(factor);
                let sum = sum.and_then(|sum| sum.checked_add(self.factors[*column]));
                self.factors[*column] = sum.ok_or(Stuck)?;
            }
        } else {
            self.combine(other.divisor, factor, &other.factors)?;
            self.divisor = self.divisor.checked_mul(other.divisor).ok_or(Stuck)?;
        }
        let rest = self.total - i128::from(factor) * i128::from(before);
        let scaled = rest.checked_mul(other.divisor.into());
        let added = other.total.checked_mul(factor.into());
        let total = scaled.zip(added).and_then(|(a, b)| a.checked_add(b));
        self.total = total.ok_or(Stuck)?;
        self.reduce();
        Ok(())
    }

    pub(super) fn reduce(&mut self) {
        if self.divisor == 1 {
            return;
        }
        let mut common = self.divisor.unsigned_abs();
        for factor in &self.factors {
            common = gcd(common, factor.unsigned_abs());
            if common == 1 {
                return;
            }
        }
        if let Ok(common) = i64::try_from(common)
            && common > 1
        {
            self.divisor /= common;
            self.total /= i128::from(common);
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
pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
