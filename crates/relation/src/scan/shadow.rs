//! Projection of rows onto some unknowns.
//!
//! The projection of `0 <= i < N && 0 <= j <= i` onto `j` is `0 <= j < N`. An equality with factor
//! 1 or -1 eliminates an unknown; otherwise each lower bound is combined with each upper bound
//! (Fourier-Motzkin). The rows imply the projection. Over integers, the projection may also hold
//! where they do not.

use std::collections::{BTreeMap, BTreeSet};

use crate::polynomial::{Atom, Polynomial, Row, Sign};

/// Rows that elimination may keep at once; further rows are dropped.
const MOST_ROWS: usize = 240;

/// The consequences of `rows` that have only products to `keep`.
pub(crate) fn shadow(rows: &[Row], keep: &impl Fn(&[Atom]) -> bool) -> Vec<Row> {
    let mut rows: Vec<Row> = rows
        .iter()
        .filter(|row| row.sign != Sign::NonZero)
        .cloned()
        .collect();
    while let Some((product, value)) = rows.iter().find_map(|row| given(row, keep)) {
        rows = rows
            .into_iter()
            .filter_map(|row| without(&row, &product, &value))
            .filter(|row| row.sum.value().is_none())
            .collect();
    }
    let mut bounds = Bounds::default();
    for row in rows {
        if row.sign == Sign::Zero {
            bounds.insert(Polynomial::default().plus(-1, &row.sum));
        }
        bounds.insert(Some(row.sum));
    }
    while let Some(product) = bounds.cheapest(keep) {
        bounds.eliminate(&product);
    }
    let rows = bounds.0.into_iter().filter_map(|(factors, constant)| {
        let sum = factors.plus(1, &Polynomial::integer(constant))?;
        let sign = Sign::NonNegative;
        Some(Row { sum, sign })
    });
    rows.collect()
}

/// A product to take out with its value, by an equality.
fn given(row: &Row, keep: &impl Fn(&[Atom]) -> bool) -> Option<(Vec<Atom>, Polynomial)> {
    if row.sign != Sign::Zero {
        return None;
    }
    let (product, factor) = row
        .sum
        .terms()
        .find(|(atoms, factor)| !atoms.is_empty() && factor.abs() == 1 && !keep(atoms))?;
    let product = product.to_vec();
    let rest = row.sum.plus(-factor, &monomial(&product))?;
    Some((product, Polynomial::default().plus(-factor, &rest)?))
}

fn monomial(product: &[Atom]) -> Polynomial {
    let atoms = product.iter().cloned().map(Polynomial::atom);
    atoms
        .reduce(|a, b| a.times(&b).unwrap_or_default())
        .unwrap_or_else(|| Polynomial::integer(1))
}

/// A row with the value of a product in its place.
pub(super) fn without(row: &Row, product: &[Atom], value: &Polynomial) -> Option<Row> {
    let factor = row.sum.factor(product);
    let less = row.sum.plus(factor.checked_neg()?, &monomial(product))?;
    Some(Row {
        sum: less.plus(factor, value)?,
        sign: row.sign,
    })
}

/// Nonnegative sums: for each set of factors, the tightest.
#[derive(Default)]
struct Bounds(BTreeMap<Polynomial, i64>);

impl Bounds {
    fn insert(&mut self, sum: Option<Polynomial>) {
        let Some(sum) = sum else { return };
        let constant = sum.factor(&[]);
        let Some(factors) = sum.plus(-1, &Polynomial::integer(constant)) else {
            return;
        };
        let common = factors.terms().fold(0, |a, (_, factor)| gcd(a, factor));
        if common == 0 || (self.0.len() >= MOST_ROWS && !self.0.contains_key(&factors)) {
            return;
        }
        let factors = factors.floor_divide(Polynomial::integer(common));
        let entry = self.0.entry(factors).or_insert(i64::MAX);
        *entry = (*entry).min(constant.div_euclid(common));
    }

    /// The product to take out that leaves the fewest rows.
    fn cheapest(&self, keep: &impl Fn(&[Atom]) -> bool) -> Option<Vec<Atom>> {
        let terms = self.0.keys().flat_map(Polynomial::terms);
        let products: BTreeSet<&[Atom]> = terms.map(|(atoms, _)| atoms).collect();
        let cost = |product: &[Atom]| {
            let signs = self.0.keys().map(|sum| sum.factor(product).signum());
            let (below, above) = signs.fold((0, 0), |(below, above), sign| match sign {
                1 => (below + 1, above),
                -1 => (below, above + 1),
                _ => (below, above),
            });
            (below * above, product.to_vec())
        };
        let gone = products.into_iter().filter(|product| !keep(product));
        gone.map(cost).min().map(|(_, product)| product)
    }

    fn eliminate(&mut self, product: &[Atom]) {
        let all = std::mem::take(&mut self.0);
        let (with, without): (BTreeMap<_, _>, BTreeMap<_, _>) = all
            .into_iter()
            .partition(|(sum, _)| sum.factor(product) != 0);
        self.0 = without;
        let sum = |(factors, constant): (&Polynomial, &i64)| {
            factors.plus(1, &Polynomial::integer(*constant))
        };
        let side = |sign: i64| {
            let side = with
                .iter()
                .filter(move |(sum, _)| sum.factor(product).signum() == sign);
            side.filter_map(sum).collect::<Vec<_>>()
        };
        let (lower, upper) = (side(1), side(-1));
        for low in &lower {
            for high in &upper {
                let (a, b) = (low.factor(product), -high.factor(product));
                let scaled = Polynomial::default().plus(b, low);
                self.insert(scaled.and_then(|scaled| scaled.plus(a, high)));
            }
        }
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 {
        a.saturating_abs()
    } else {
        gcd(b, a.checked_rem(b).unwrap_or(0))
    }
}
