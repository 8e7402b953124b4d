//! Sums as lists of terms.

use crate::expression::Expression;

impl Expression {
    /// The terms of a sum, and whether each is subtracted. Any other expression is one term.
    pub fn terms(&self) -> Vec<(bool, &Self)> {
        let mut terms = Vec::new();
        self.add_terms(false, &mut terms);
        terms
    }

    fn add_terms<'e>(&'e self, is_negative: bool, terms: &mut Vec<(bool, &'e Self)>) {
        match self {
            Self::Add(a, b) => {
                a.add_terms(is_negative, terms);
                b.add_terms(is_negative, terms);
            }
            Self::Subtract(a, b) => {
                a.add_terms(is_negative, terms);
                b.add_terms(!is_negative, terms);
            }
            Self::Negate(a) => a.add_terms(!is_negative, terms),
            term => terms.push((is_negative, term)),
        }
    }

    /// The sum with its numbers added up, behind all other terms: first those that are added,
    /// then those that are subtracted. Terms that cancel are left out.
    ///
    /// ```
    /// use sparsec_relation::Expression;
    /// let [n, m] = ["N", "M"].map(|name| Box::new(Expression::Constant(name.to_owned())));
    /// let one = || Box::new(Expression::Integer(1));
    /// // (N - 1) - (1 - M)
    /// let sum = Expression::Subtract(
    ///     Box::new(Expression::Subtract(n.clone(), one())),
    ///     Box::new(Expression::Subtract(one(), m.clone())),
    /// );
    /// // N + M - 2
    /// let collected = Expression::Subtract(
    ///     Box::new(Expression::Add(n, m)),
    ///     Box::new(Expression::Integer(2)),
    /// );
    /// assert_eq!(sum.collected(), collected);
    /// ```
    #[must_use]
    pub fn collected(&self) -> Self {
        let mut number = 0_i64;
        let mut kept: Vec<(bool, &Self)> = Vec::new();
        for (is_negative, term) in self.terms() {
            if let Self::Integer(n) = term {
                let sum = match is_negative {
                    true => number.checked_sub(*n),
                    false => number.checked_add(*n),
                };
                let Some(sum) = sum else { return self.clone() };
                number = sum;
                continue;
            }
            let opposite = |(other, known): &(bool, &Self)| *other != is_negative && *known == term;
            match kept.iter().position(opposite) {
                // A term that may have no value must not vanish.
                Some(at) if !term.is_partial() => _ = kept.remove(at),
                _ => kept.push((is_negative, term)),
            }
        }
        kept.sort_by_key(|(is_negative, _)| *is_negative);
        let mut sum = Self::Integer(0);
        if kept.first().is_none_or(|(is_negative, _)| *is_negative) {
            sum = Self::Integer(std::mem::take(&mut number));
        }
        for (is_negative, term) in kept {
            let (left, right) = (Box::new(sum), Box::new(term.clone()));
            sum = match is_negative {
                true => Self::Subtract(left, right),
                false => Self::Add(left, right),
            };
        }
        let left = Box::new(sum);
        let right = |n: i64| Box::new(Self::Integer(n));
        match number {
            i64::MIN => self.clone(),
            0.. => Self::Add(left, right(number)).simplified(),
            _ => Self::Subtract(left, right(-number)).simplified(),
        }
    }

    /// Whether the expression may have no value: it has a call, a quotient or a remainder.
    fn is_partial(&self) -> bool {
        let mut is_partial = false;
        self.visit(&mut |e| {
            is_partial |= matches!(e, Self::Call(..) | Self::FloorDivide(..) | Self::Modulo(..));
        });
        is_partial
    }
}
