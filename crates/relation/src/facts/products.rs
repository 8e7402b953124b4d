//! Conclusions about products and quotients, which are unknowns of their own.
//!
//! ```text
//! 0 < B,   i floordiv B       i = B * (i floordiv B) + i mod B    0 <= i mod B < B
//! 0 <= N,  a <= x,  N * x     N * a <= N * x
//! 0 < N,   N * a + b >= 0     a >= 0 where b < N,  a > 0 where b < 0
//! ```
//!
//! The last rule finds the digits of numbers whose radix is a symbolic constant, or a product of
//! some: where `N * d + r = N * e + s`, and `r` and `s` are in `0..N`, it gives `d = e`.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::Facts;
use crate::linear::Sources;
use crate::polynomial::{Atom, Division, Polynomial, Row, Sign};

impl Facts {
    /// Adds the division rule for a quotient; `None` unless the divisor is known to be positive.
    pub(super) fn hold_division(&mut self, a: &Polynomial, b: &Polynomial) -> Option<bool> {
        let positive = Row {
            sum: b.plus(-1, &Polynomial::integer(1))?,
            sign: Sign::NonNegative,
        };
        let from = self.try_row(&positive)?;
        let (a, b) = (Rc::new(a.clone()), Rc::new(b.clone()));
        let quotient = Polynomial::atom(Atom::FloorDivide(a.clone(), b.clone()));
        let left = a.plus(-1, &b.times(&quotient)?)?;
        let rest = Polynomial::atom(Atom::Modulo(a, b.clone()));
        let row = |sum: Option<Polynomial>, sign| sum.map(|sum| Row { sum, sign });
        let mut new = self.hold(row(left.plus(-1, &rest), Sign::Zero), from);
        new |= self.hold(row(Some(rest.clone()), Sign::NonNegative), from);
        let below = b.plus(-1, &rest);
        let below = below.and_then(|sum| sum.plus(-1, &Polynomial::integer(1)));
        Some(new | self.hold(row(below, Sign::NonNegative), from))
    }

    /// Multiplies comparisons by a nonnegative symbolic constant, if a row contains such a product
    /// and did not result from a multiplication itself.
    pub(super) fn hold_products(&mut self) -> bool {
        let mut products: BTreeSet<(&Atom, &Atom)> = BTreeSet::new();
        let is_scaled = |at: usize| self.scaled.iter().any(|rows| rows.contains(&at));
        let rows = self.rows.iter().enumerate();
        let rows = rows.filter(|(at, _)| !is_scaled(*at));
        for (atoms, _) in rows.flat_map(|(_, row)| row.sum.terms()) {
            if let [a, b] = atoms {
                for (by, other) in [(a, b), (b, a)] {
                    if matches!(by, Atom::Constant(_)) {
                        products.insert((by, other));
                    }
                }
            }
        }
        let degree = |row: &Row| row.sum.terms().map(|(atoms, _)| atoms.len()).max();
        let greatest = self.rows.iter().filter_map(degree).max().unwrap_or(0);
        let mut new = false;
        let first = self.rows.len();
        let products = products
            .into_iter()
            .map(|(by, other)| (by.clone(), other.clone()));
        let products: Vec<(Atom, Atom)> = products.collect();
        for product in products {
            let (by, other) = product.clone();
            let by = Polynomial::atom(by);
            let sign = Row {
                sum: by.clone(),
                sign: Sign::NonNegative,
            };
            let Some(from) = self.try_row(&sign) else {
                continue;
            };
            let other = self.system.number(&[other]);
            let seen = self.multiplied.insert(product, (self.rows.len(), greatest));
            let seen = seen.map_or(0, |(n, degree)| if degree == greatest { n } else { 0 });
            let rows = self.rows.iter().zip(&self.linear).skip(seen);
            let rows = rows.filter(|(row, linear)| {
                row.sign != Sign::NonZero
                    && other.is_some_and(|other| linear.factor(other) != 0)
                    && degree(row).is_some_and(|degree| degree < greatest)
            });
            let scaled: Vec<(Row, Sources)> = rows
                .filter_map(|(row, linear)| {
                    let sign = row.sign;
                    let of = self.known.get(linear)?;
                    let sum = row.sum.times(&by)?;
                    Some((Row { sum, sign }, from.and(*of)))
                })
                .collect();
            for (row, from) in scaled {
                new |= self.hold(Some(row), from);
            }
        }
        self.scaled.push(first..self.rows.len());
        new
    }

    /// Divides comparisons by a product of symbolic constants that is positive. No row that resulted
    /// from a multiplication is divided.
    pub(super) fn hold_digits(&mut self) -> bool {
        let is_scaled = |at: usize| self.scaled.iter().any(|rows| rows.contains(&at));
        let rows = self.rows.iter().zip(&self.linear).enumerate();
        let rows = rows.filter(|(at, (row, _))| !is_scaled(*at) && row.sign != Sign::NonZero);
        let divisions = rows.flat_map(|(_, (row, linear))| {
            let of = self.known.get(linear).copied();
            let divisions = of.map(|of| row.sum.divisions().into_iter().map(move |it| (it, of)));
            divisions.into_iter().flatten().map(|it| (row.sign, it))
        });
        let divisions: Vec<(Sign, (Division, Sources))> = divisions.collect();
        let mut new = false;
        for (sign, (division, of)) in divisions {
            if let Some((rows, from)) = self.quotient(division, sign) {
                for row in rows {
                    new |= self.hold(Some(row), of.and(from));
                }
            }
        }
        new
    }

    /// The facts that follow for a quotient and its rest, and the rows that they follow from.
    fn quotient(&mut self, division: Division, sign: Sign) -> Option<(Vec<Row>, Sources)> {
        let Division { by, quotient, rest } = division;
        let (zero, one) = (Polynomial::default(), Polynomial::integer(1));
        let before = |a: &Polynomial, b: &Polynomial| {
            let sum = b.plus(-1, a)?.plus(-1, &one)?;
            let sign = Sign::NonNegative;
            Some(Row { sum, sign })
        };
        let positive = self.try_row(&before(&zero, &by)?)?;
        let below = |facts: &mut Self, end: &Polynomial| facts.try_row(&before(&rest, end)?);
        if sign == Sign::NonNegative {
            if let Some(from) = below(self, &zero) {
                return Some((vec![before(&zero, &quotient)?], positive.and(from)));
            }
            let from = below(self, &by)?;
            let sum = quotient;
            return Some((vec![Row { sum, sign }], positive.and(from)));
        }
        let from = below(self, &by)?;
        let above = self.try_row(&before(&zero.plus(-1, &by)?, &rest)?)?;
        let rows = [quotient, rest].map(|sum| Row { sum, sign });
        Some((rows.into(), positive.and(from).and(above)))
    }
}
