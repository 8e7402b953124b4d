//! Whether a system of linear comparisons has no solution.
//!
//! Products and calls count as unknowns of their own. Equalities with a factor
//! of 1 or -1 are substituted; what remains is eliminated one unknown after the
//! other, each lower bound against each upper bound (Fourier and Motzkin), with
//! constants rounded to integers on the way:
//!
//! ```text
//! 2 x - 1 >= 0, 2 - 3 x >= 0   rounds to   x >= 1, x <= 0   adds up to   -1 >= 0
//! ```
//!
//! Rational elimination with rounding proves only what holds for integers, but
//! does not prove all that does. It stops where rows multiply, and then proves
//! nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::polynomial::{Atom, Row, Sign};

/// Rows that elimination may hold at once.
const MOST_ROWS: usize = 300;

/// `Σ factor * unknown + constant`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Sum {
    factors: BTreeMap<usize, i128>,
    constant: i128,
}

impl Sum {
    /// `self * a + other * b`.
    fn combined(&self, a: i128, other: &Self, b: i128) -> Option<Self> {
        let mut factors = BTreeMap::new();
        for (unknown, factor) in &self.factors {
            factors.insert(*unknown, factor.checked_mul(a)?);
        }
        for (unknown, factor) in &other.factors {
            let entry: &mut i128 = factors.entry(*unknown).or_insert(0);
            *entry = entry.checked_add(factor.checked_mul(b)?)?;
        }
        factors.retain(|_, factor| *factor != 0);
        let constant = self.constant.checked_mul(a)?;
        Some(Self {
            factors,
            constant: constant.checked_add(other.constant.checked_mul(b)?)?,
        })
    }

    fn common(&self) -> i128 {
        self.factors.values().fold(0, |a, b| gcd(a, b.abs()))
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Rows that hold, with their products of atoms numbered.
#[derive(Default)]
pub(crate) struct System {
    unknowns: BTreeMap<Vec<Atom>, usize>,
    rows: Vec<(Sum, Sign)>,
}

impl System {
    /// Adds a row.
    pub(crate) fn add(&mut self, row: &Row) {
        for (atoms, _) in row.sum.terms() {
            if !atoms.is_empty() && !self.unknowns.contains_key(atoms) {
                let next = self.unknowns.len();
                self.unknowns.insert(atoms.to_vec(), next);
            }
        }
        let sum = self.sum(row).expect("all unknowns are numbered");
        self.rows.push((sum, row.sign));
    }

    /// The row in numbers; `None` if a product in it is in no row.
    fn sum(&self, row: &Row) -> Option<Sum> {
        let mut sum = Sum {
            factors: BTreeMap::new(),
            constant: 0,
        };
        for (atoms, factor) in row.sum.terms() {
            if atoms.is_empty() {
                sum.constant = i128::from(factor);
            } else {
                sum.factors
                    .insert(*self.unknowns.get(atoms)?, i128::from(factor));
            }
        }
        Some(sum)
    }

    /// Whether no integers satisfy all rows. `!=` rows say nothing here.
    pub(crate) fn impossible(&self) -> bool {
        refuted(self.rows.to_vec())
    }

    /// Whether no integers satisfy all rows and `row`, the rows equal to
    /// `except` left out. What holds is supposed to be satisfiable: only rows
    /// that are linked to `row` by unknowns are looked at.
    pub(crate) fn refutes(&self, row: &Row, except: Option<&Row>) -> bool {
        let Some(sum) = self.sum(row) else {
            // Nothing binds the unknown that is in no row.
            return false;
        };
        let except = except.and_then(|row| Some((self.sum(row)?, row.sign)));
        let mut reached: BTreeSet<usize> = sum.factors.keys().copied().collect();
        let mut linked = vec![(sum, row.sign)];
        let mut others: Vec<&(Sum, Sign)> = self
            .rows
            .iter()
            .filter(|row| row.1 != Sign::NonZero && Some(*row) != except.as_ref())
            .collect();
        loop {
            let (near, far): (Vec<_>, Vec<_>) = others
                .into_iter()
                .partition(|(sum, _)| sum.factors.keys().any(|u| reached.contains(u)));
            if near.is_empty() {
                return refuted(linked);
            }
            for (sum, _) in &near {
                reached.extend(sum.factors.keys());
            }
            linked.extend(near.into_iter().cloned());
            others = far;
        }
    }
}

/// Whether rows are refuted. Overflow proves nothing.
fn refuted(rows: Vec<(Sum, Sign)>) -> bool {
    let (mut zero, mut nonnegative) = (Vec::new(), Vec::new());
    for (sum, sign) in rows {
        match sign {
            Sign::Zero => zero.push(sum),
            Sign::NonNegative => nonnegative.push(sum),
            Sign::NonZero => {}
        }
    }
    substitute(zero, nonnegative).unwrap_or(false)
}

fn substitute(mut zero: Vec<Sum>, mut nonnegative: Vec<Sum>) -> Option<bool> {
    while let Some(sum) = zero.pop() {
        let common = sum.common();
        if common == 0 {
            if sum.constant != 0 {
                return Some(true);
            }
            continue;
        }
        if sum.constant % common != 0 {
            return Some(true);
        }
        let unit = sum.factors.iter().find(|(_, f)| f.abs() == common);
        let Some((&unknown, &factor)) = unit else {
            nonnegative.push(sum.combined(-1, &sum, 0)?);
            nonnegative.push(sum);
            continue;
        };
        for row in zero.iter_mut().chain(&mut nonnegative) {
            if let Some(&here) = row.factors.get(&unknown) {
                // `row * |factor|` keeps the direction of an inequality.
                *row = row.combined(factor.abs(), &sum, -factor.signum() * here)?;
            }
        }
    }
    eliminate(nonnegative)
}

fn eliminate(rows: Vec<Sum>) -> Option<bool> {
    // Of rows with equal factors the one with the least constant is tightest.
    let mut tightest: BTreeMap<BTreeMap<usize, i128>, i128> = BTreeMap::new();
    for row in rows {
        if insert(&mut tightest, row) {
            return Some(true);
        }
    }
    loop {
        let unknowns: BTreeSet<usize> = tightest.keys().flat_map(|f| f.keys().copied()).collect();
        let cost = |unknown: &usize| {
            let lower = tightest
                .keys()
                .filter(|f| f.get(unknown) > Some(&0))
                .count();
            let all = tightest.keys().filter(|f| f.contains_key(unknown)).count();
            let upper = all - lower;
            (lower * upper).saturating_sub(all)
        };
        let Some(unknown) = unknowns.iter().copied().min_by_key(|u| (cost(u), *u)) else {
            return Some(false);
        };
        let (with, without): (BTreeMap<_, _>, BTreeMap<_, _>) = tightest
            .into_iter()
            .partition(|(factors, _)| factors.contains_key(&unknown));
        tightest = without;
        let sums = with
            .into_iter()
            .map(|(factors, constant)| Sum { factors, constant });
        let (lower, upper): (Vec<Sum>, Vec<Sum>) = sums.partition(|s| s.factors[&unknown] > 0);
        for low in &lower {
            for high in &upper {
                let (a, b) = (low.factors[&unknown], -high.factors[&unknown]);
                if insert(&mut tightest, low.combined(b, high, a)?) {
                    return Some(true);
                }
                if tightest.len() > MOST_ROWS {
                    return None;
                }
            }
        }
    }
}

/// Adds a row, rounded; true if it cannot hold.
fn insert(rows: &mut BTreeMap<BTreeMap<usize, i128>, i128>, row: Sum) -> bool {
    let common = row.common();
    if common == 0 {
        return row.constant < 0;
    }
    let constant = row.constant.div_euclid(common);
    let factors = row.factors.into_iter().map(|(u, f)| (u, f / common));
    let entry = rows.entry(factors.collect()).or_insert(constant);
    *entry = (*entry).min(constant);
    false
}
