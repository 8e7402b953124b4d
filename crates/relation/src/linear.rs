//! Whether linear comparisons contradict each other, and which of them do.
//!
//! Products and calls are unknowns of their own. A row follows from other rows if they contradict
//! its opposite. The module `simplex` finds a contradiction and the rows that take part in it:
//!
//! ```text
//! 0: i < j    1: j <= k    2: 0 <= m      0 and 1 prove  i < k
//! ```
//!
//! The system keeps points that satisfy all rows. If a point also satisfies the opposite of a row,
//! the row does not follow, and no search is needed.
//!
//! All proofs are right for integers, but not every true row has one.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use rustc_hash::FxBuildHasher;

use crate::budget::Budget;
use crate::polynomial::{Atom, Polynomial, Product, Row, Sign};
use simplex::{Simplex, Verdict};
pub(crate) use table_row::gcd;

mod bound;
mod simplex;
mod table_row;

/// Points that are kept.
const MOST_POINTS: usize = 16;

/// The given rows from which a row follows, as a set of numbers. Rows from 127 on share a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sources(u128);

impl Sources {
    /// No given row: it always holds.
    pub(crate) const NONE: Self = Self(0);

    /// A given row.
    pub(crate) fn of(number: usize) -> Self {
        Self(1 << number.min(127))
    }

    /// Those of either.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether both have a row.
    pub(crate) fn meet(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether the other has all of them.
    pub(crate) fn are_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }
}

/// Rows that are not to be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Except {
    /// The consequences of these rows.
    pub(crate) sources: Sources,
    /// The given row with this number, but not its consequences.
    pub(crate) given: Option<usize>,
}

/// `Σ factor * unknown + constant`, and how it compares with 0.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Linear {
    /// By unknown; no factor is 0.
    terms: Rc<[(usize, i64)]>,
    constant: i64,
    sign: Sign,
}

impl Linear {
    /// The row of terms in any order; `None` if a factor overflows.
    pub(crate) fn sum(mut terms: Vec<(usize, i64)>, constant: i64, sign: Sign) -> Option<Self> {
        terms.sort_unstable_by_key(|(unknown, _)| *unknown);
        let mut fits = true;
        terms.dedup_by(|(next, n), (unknown, sum)| {
            let is_same = next == unknown;
            if is_same {
                let total = sum.checked_add(*n);
                fits &= total.is_some();
                *sum = total.unwrap_or(0);
            }
            is_same
        });
        terms.retain(|(_, factor)| *factor != 0);
        fits.then_some(Self {
            terms: terms.into(),
            constant,
            sign,
        })
    }

    /// The factors of the unknowns.
    pub(crate) fn terms(&self) -> &[(usize, i64)] {
        &self.terms
    }

    /// The number beside the unknowns.
    pub(crate) fn constant(&self) -> i64 {
        self.constant
    }

    /// Whether it holds whatever the unknowns are.
    pub(crate) fn is_true(&self) -> bool {
        self.terms.is_empty() && self.holds_at(&[])
    }

    /// The comparison that holds exactly where this does not.
    pub(crate) fn negated(&self) -> Option<Self> {
        Some(match self.sign {
            Sign::Zero => self.with(Sign::NonZero),
            Sign::NonZero => self.with(Sign::Zero),
            Sign::NonNegative => self.below()?,
        })
    }

    fn with(&self, sign: Sign) -> Self {
        Self {
            sign,
            ..self.clone()
        }
    }

    /// The sum is negative.
    fn below(&self) -> Option<Self> {
        let terms = self.terms.iter();
        let terms = terms.map(|(unknown, factor)| Some((*unknown, factor.checked_neg()?)));
        Some(Self {
            terms: terms.collect::<Option<_>>()?,
            constant: self.constant.checked_neg()?.checked_sub(1)?,
            sign: Sign::NonNegative,
        })
    }

    /// The sum is positive.
    fn above(&self) -> Option<Self> {
        Some(Self {
            constant: self.constant.checked_sub(1)?,
            ..self.with(Sign::NonNegative)
        })
    }

    /// The factor of an unknown.
    pub(crate) fn factor(&self, unknown: usize) -> i64 {
        let found = self.terms.iter().find(|(term, _)| *term == unknown);
        found.map_or(0, |(_, factor)| *factor)
    }

    /// Whether it holds at a point; unknowns that the point lacks are 0 there.
    fn holds_at(&self, point: &[i64]) -> bool {
        let mut sum = i128::from(self.constant);
        for (unknown, factor) in &*self.terms {
            let value = point.get(*unknown).copied().unwrap_or(0);
            match sum.checked_add(i128::from(*factor) * i128::from(value)) {
                Some(next) => sum = next,
                None => return false,
            }
        }
        match self.sign {
            Sign::Zero => sum == 0,
            Sign::NonNegative => sum >= 0,
            Sign::NonZero => sum != 0,
        }
    }
}

/// Rows that hold, with their products of atoms numbered.
#[derive(Clone, Default)]
pub(crate) struct System {
    unknowns: HashMap<Product, usize, FxBuildHasher>,
    /// The unknowns by their numbers.
    products: Vec<Product>,
    search: RefCell<Search>,
    n_added: usize,
}

#[derive(Clone, Default)]
struct Search {
    simplex: Simplex,
    /// Points that satisfy all rows.
    points: Vec<Vec<i64>>,
    /// Points that satisfy all rows but the excepted ones of the last search.
    others: (Except, Vec<Vec<i64>>),
    /// Whether a search reached its limit.
    is_stuck: bool,
}

impl System {
    /// The row in numbers.
    pub(crate) fn linear(&mut self, row: &Row) -> Linear {
        let linear = numbered(row, |product| Some(self.unknown(product)));
        linear.expect("all unknowns are numbered")
    }

    /// The number of a product, a new one if it has none.
    pub(crate) fn unknown(&mut self, product: &Product) -> usize {
        if let Some(number) = self.unknowns.get(product) {
            return *number;
        }
        let next = self.products.len();
        self.unknowns.insert(product.clone(), next);
        self.products.push(product.clone());
        next
    }

    /// The product of a number.
    pub(crate) fn product(&self, unknown: usize) -> &Product {
        &self.products[unknown]
    }

    /// The row of numbered products.
    pub(crate) fn row(&self, linear: &Linear) -> Row {
        let terms = linear.terms.iter();
        let terms = terms.map(|(unknown, factor)| (self.products[*unknown].clone(), *factor));
        let constant = (Product::One, linear.constant);
        let sum = Polynomial::sum(terms.chain([constant]).collect());
        Row {
            sum: sum.expect("each unknown has one factor"),
            sign: linear.sign,
        }
    }

    /// Calls `visit` with every atom of a row, arguments of calls included.
    pub(crate) fn visit<'a>(&'a self, linear: &Linear, visit: &mut impl FnMut(&'a Atom)) {
        for (unknown, _) in &*linear.terms {
            self.products[*unknown].visit(visit);
        }
    }

    /// The row in numbers; `None` if a product in it has none, and so is in no row.
    pub(crate) fn find(&self, row: &Row) -> Option<Linear> {
        numbered(row, |product| self.unknowns.get(product).copied())
    }

    /// The number of a product.
    pub(crate) fn number(&self, atoms: &[Atom]) -> Option<usize> {
        self.unknowns.get(atoms).copied()
    }

    /// Adds a row that follows from others, or is `given` under a number. `!=` is ignored, since it
    /// is no linear constraint.
    pub(crate) fn add(&mut self, row: &Linear, from: Sources, given: Option<usize>) {
        if row.sign == Sign::NonZero {
            return;
        }
        self.n_added += 1;
        let search = self.search.get_mut();
        search.points.retain(|point| row.holds_at(point));
        search.others.1.retain(|point| row.holds_at(point));
        search.simplex.add(row, from, given);
    }

    /// How many rows were added: what is proved from all rows stays as it is until there are more.
    pub(crate) fn n_added(&self) -> usize {
        self.n_added
    }

    /// The budget that ran out in a search, if any.
    pub(crate) fn gave_up(&self) -> Option<Budget> {
        let search = self.search.borrow();
        (search.is_stuck || search.simplex.is_incomplete).then_some(Budget::Search)
    }

    /// The rows that contradict each other, if some are known to.
    pub(crate) fn contradiction(&self) -> Option<Sources> {
        let truth = Linear {
            terms: Rc::default(),
            constant: 0,
            sign: Sign::NonNegative,
        };
        self.search.borrow_mut().refuted(&truth, Except::default())
    }

    /// The rows that a row follows from, if it is known to follow.
    pub(crate) fn proof(&self, row: &Linear, except: Except) -> Option<Sources> {
        let mut search = self.search.borrow_mut();
        let mut refuted = |row: Option<Linear>| search.refuted(&row?, except);
        match row.sign {
            Sign::NonNegative => refuted(row.below()),
            Sign::Zero => Some(refuted(row.above())?.and(refuted(row.below())?)),
            Sign::NonZero => refuted(Some(row.with(Sign::Zero))),
        }
    }
}

/// The row with the numbers of its products.
fn numbered(row: &Row, mut number: impl FnMut(&Product) -> Option<usize>) -> Option<Linear> {
    let (mut terms, mut constant) = (Vec::new(), 0);
    for (product, factor) in row.sum.products() {
        match product {
            Product::One => constant = factor,
            _ => terms.push((number(product)?, factor)),
        }
    }
    terms.sort_unstable();
    Some(Linear {
        terms: terms.into(),
        constant,
        sign: row.sign,
    })
}

impl Search {
    fn refuted(&mut self, row: &Linear, except: Except) -> Option<Sources> {
        if except != Except::default() && self.others.0 != except {
            self.others = (except, Vec::new());
        }
        let points = match except == Except::default() {
            true => &mut self.points,
            false => &mut self.others.1,
        };
        if points.iter().any(|point| row.holds_at(point)) {
            return None;
        }
        match self.simplex.search(row, except) {
            Verdict::Refuted(sources) => Some(sources),
            Verdict::Point(point) => {
                if points.len() == MOST_POINTS {
                    points.remove(0);
                }
                points.push(point);
                None
            }
            Verdict::Unknown => None,
            Verdict::Stuck => {
                self.is_stuck = true;
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::expression::Variable;
    use crate::polynomial::Polynomial;
    use sparsec_base::arena::Id;

    const BOX: i64 = 4;

    fn row(factors: [i64; 3], constant: i64, sign: Sign) -> Row {
        let terms = factors.into_iter().enumerate();
        let sum = terms.fold(Polynomial::integer(constant), |sum, (at, factor)| {
            let unknown = Polynomial::atom(Atom::Variable(Variable::from_index(at)));
            sum.plus(factor, &unknown).expect("small")
        });
        Row { sum, sign }
    }

    fn sign() -> impl Strategy<Value = Sign> {
        prop_oneof![Just(Sign::NonNegative), Just(Sign::Zero)]
    }

    fn any_row() -> impl Strategy<Value = Row> {
        ([-3i64..4, -3..4, -3..4], -9i64..10, sign()).prop_map(|(f, c, s)| row(f, c, s))
    }

    fn difference() -> impl Strategy<Value = Row> {
        let factors = prop::sample::select(vec![
            [1, -1, 0],
            [-1, 1, 0],
            [0, 1, -1],
            [0, -1, 1],
            [1, 0, -1],
            [-1, 0, 1],
            [1, 0, 0],
            [0, -1, 0],
        ]);
        (factors, -5i64..6, sign()).prop_map(|(f, c, s)| row(f, c, s))
    }

    /// The rows and the bounds of a box, the query, and the rows that prove it.
    fn proved(rows: &[Row], query: &Row, except: Except) -> (Vec<Linear>, Linear, Option<Sources>) {
        let mut system = System::default();
        let unit = |at: usize, factor: i64| {
            let mut factors = [0; 3];
            factors[at] = factor;
            row(factors, BOX, Sign::NonNegative)
        };
        let sides = (0..3).flat_map(|at| [unit(at, 1), unit(at, -1)]);
        let rows: Vec<Row> = rows.iter().cloned().chain(sides).collect();
        let linear: Vec<Linear> = rows.iter().map(|row| system.linear(row)).collect();
        for (number, row) in linear.iter().enumerate() {
            system.add(row, Sources::of(number), Some(number));
            // Searches in between leave the table in another state.
            system.contradiction();
        }
        let query = system.linear(query);
        system.proof(&query.negated().expect("small"), Except::default());
        let proof = system.proof(&query, except);
        (linear, query, proof)
    }

    /// Whether all points of the box at which the rows hold satisfy the query.
    fn holds(rows: &[&Linear], query: &Linear) -> bool {
        let side = || -BOX..=BOX;
        let points = side().flat_map(|a| side().flat_map(move |b| side().map(move |c| [a, b, c])));
        let mut within = points.filter(|point| rows.iter().all(|row| row.holds_at(point)));
        within.all(|point| query.holds_at(&point))
    }

    proptest! {
        #[test]
        fn what_is_proved_follows_from_its_sources(
            rows in prop::collection::vec(any_row(), 0..6),
            query in any_row(),
            put_aside in 0usize..6,
        ) {
            let excepts = [Sources::NONE, Sources::of(put_aside)];
            for sources in excepts {
                let except = Except { sources, given: None };
                let (rows, query, proof) = proved(&rows, &query, except);
                let Some(proof) = proof else { continue };
                prop_assert!(!proof.meet(sources));
                let numbered = rows.iter().enumerate();
                let used = numbered.filter(|(number, _)| Sources::of(*number).are_within(proof));
                let used: Vec<&Linear> = used.map(|(_, row)| row).collect();
                prop_assert!(holds(&used, &query));
            }
        }

        #[test]
        fn all_that_follows_from_differences_is_proved(
            rows in prop::collection::vec(difference(), 0..7),
            query in difference(),
        ) {
            let (rows, query, proof) = proved(&rows, &query, Except::default());
            prop_assert_eq!(proof.is_some(), holds(&rows.iter().collect::<Vec<_>>(), &query));
        }
    }

    #[test]
    fn the_least_factor_is_a_factor_like_others() {
        let rows = [
            row([i64::MIN, 1, 0], 0, Sign::Zero),
            row([1, 0, i64::MIN], 1, Sign::NonNegative),
        ];
        let (_, _, proof) = proved(&rows, &row([1, 1, 0], 1, Sign::Zero), Except::default());
        assert_eq!(proof, None);
        assert_eq!(
            rows[0]
                .sum
                .solved_for(&Atom::Variable(Variable::from_index(0))),
            None
        );
    }

    #[test]
    fn integers_between_fractions_are_none() {
        // 1 <= 2 x <= 2 and 0 <= 3 x <= 2
        let rows = [
            row([2, 0, 0], -1, Sign::NonNegative),
            row([-3, 0, 0], 2, Sign::NonNegative),
        ];
        let never = row([0, 0, 0], -1, Sign::NonNegative);
        let (_, _, proof) = proved(&rows, &never, Except::default());
        assert_eq!(proof, Some(Sources::of(0).and(Sources::of(1))));
        // 2 x + 2 y = 1 + 4 z
        let odd = [row([2, 2, -4], -1, Sign::Zero)];
        let (_, _, proof) = proved(&odd, &never, Except::default());
        assert_eq!(proof, Some(Sources::of(0)));
    }
}
