//! Integer points between bounds of unknowns and of their sums.
//!
//! Each unknown is a variable, and so is each compared sum. A row is then a bound of one variable.
//! A table expresses some variables by the others, which are free:
//!
//! ```text
//! i < j, j <= k        s = i - j <= -1             i free   j free   k free
//!                      t = j - k <= 0         s      1       -1
//!                                             t               1       -1
//! ```
//!
//! A variable of the table that is out of its bounds changes places with a free one that may still
//! move. If none may, the bounds that stop them contradict each other. Free variables have integer
//! values. If a variable of the table has none, the search tries the integers below and above it
//! (branch and bound). Bounds can be suspended and restored; the table stays, so the next search
//! begins near the end of the last one.
//!
//! Source: Dutertre and de Moura, "A Fast Linear-Arithmetic Solver for DPLL(T)",
//! CAV 2006, §3, <https://doi.org/10.1007/11817963_11>.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::bound::{Bound, Place, Stated, Variable};
use super::table_row::{Stuck, TableRow, gcd};
use super::{Except, Linear, Sources};
use crate::polynomial::Sign;

/// Changes of places in one search.
const MOST_PIVOTS: usize = 400;
/// Those that are chosen for small numbers.
const FEW_PIVOTS: usize = 20;
/// Variables that one search may split.
const MOST_SPLITS: usize = 8;

/// The result of a search.
pub(super) enum Verdict {
    /// No integers satisfy the rows; these are why.
    Refuted(Sources),
    /// These do, by unknown.
    Point(Vec<i64>),
    /// Nothing binds an unknown.
    Unknown,
    /// The search reached its limit.
    Stuck,
}

/// Bounds of variables and the table.
#[derive(Clone, Default)]
pub(super) struct Simplex {
    variables: Vec<Variable>,
    /// All bounds, in the order of their rows.
    stated: Vec<Stated>,
    /// The variable of each unknown that is in a row.
    unknowns: Vec<Option<usize>>,
    /// The variables of sums, with the sums.
    sums: BTreeMap<Rc<[(usize, i64)]>, usize>,
    columns: Vec<usize>,
    values: Vec<i64>,
    rows: Vec<TableRow>,
    except: Except,
    /// Rows of numbers alone that do not hold.
    never: Vec<Bound>,
    /// Whether a row was dropped because its numbers are too large.
    pub(super) is_incomplete: bool,
}

/// A row as bounds of one variable; a row with several unknowns bounds their sum.
struct Bounded {
    sum: Vec<(usize, i64)>,
    lower: Option<i64>,
    upper: Option<i64>,
}

impl Simplex {
    /// Adds a row.
    pub(super) fn add(&mut self, row: &Linear, from: Sources, given: Option<usize>) {
        for (unknown, _) in &*row.terms {
            if self.unknowns.len() <= *unknown {
                self.unknowns.resize(*unknown + 1, None);
            }
            if self.unknowns[*unknown].is_none() {
                self.unknowns[*unknown] = Some(self.add_column());
            }
        }
        let bound = |value| Bound { value, from, given };
        let Some(bounded) = self.bounded(row) else {
            if !holds(row) {
                self.never.push(bound(0));
            }
            return;
        };
        let Ok(variable) = self.variable(&bounded.sum) else {
            self.is_incomplete = true;
            return;
        };
        for (value, is_lower) in [(bounded.lower, true), (bounded.upper, false)] {
            let Some(bound) = value.map(bound) else {
                continue;
            };
            let stated = Stated {
                variable,
                is_lower,
                bound,
            };
            self.stated.push(stated);
            if !bound.is_among(self.except) {
                self.variables[variable].tighten(&stated);
            }
        }
    }

    /// Looks for integers that satisfy the rows, without some, and `row`.
    pub(super) fn search(&mut self, row: &Linear, except: Except) -> Verdict {
        let never = self.never.iter().find(|bound| !bound.is_among(except));
        if let Some(bound) = never {
            return Verdict::Refuted(bound.from);
        }
        if row
            .terms
            .iter()
            .any(|(unknown, _)| self.variable_of(*unknown).is_none())
        {
            // Nothing binds the unknown that is in no row.
            return Verdict::Unknown;
        }
        if self.except != except {
            self.except = except;
            for variable in &mut self.variables {
                (variable.lower, variable.upper) = (None, None);
            }
            for stated in self.stated.iter().filter(|it| !it.bound.is_among(except)) {
                self.variables[stated.variable].tighten(stated);
            }
        }
        let Some(bounded) = self.bounded(row) else {
            return match holds(row) {
                true => self.searched(),
                false => Verdict::Refuted(Sources::NONE),
            };
        };
        let n_variables = self.variables.len();
        let Ok(variable) = self.variable(&bounded.sum) else {
            return Verdict::Stuck;
        };
        let before = self.tightened(variable, bounded.lower, bounded.upper);
        let verdict = self.searched();
        self.variables[variable].lower = before.0;
        self.variables[variable].upper = before.1;
        if variable >= n_variables {
            self.forget(&bounded.sum);
        }
        verdict
    }

    fn searched(&mut self) -> Verdict {
        let mut splits = MOST_SPLITS;
        match self.search_integers(&mut splits) {
            Ok(verdict) => verdict,
            Err(Stuck) => {
                self.renew();
                Verdict::Stuck
            }
        }
    }

    fn search_integers(&mut self, splits: &mut usize) -> Result<Verdict, Stuck> {
        if let Some(sources) = self.contradiction()? {
            return Ok(Verdict::Refuted(sources));
        }
        let between = self
            .rows
            .iter()
            .find(|row| row.divisor != 1 && row.total % i128::from(row.divisor) != 0);
        let Some(between) = between else {
            let value = |variable: &Option<usize>| match self.variables[(*variable)?].place {
                Place::Column(column) => Some(self.values[column]),
                Place::Row(row) => {
                    let row = &self.rows[row];
                    i64::try_from(match row.divisor {
                        1 => row.total,
                        divisor => row.total / i128::from(divisor),
                    })
                    .ok()
                }
                Place::Nowhere => None,
            };
            let point = self
                .unknowns
                .iter()
                .map(|variable| value(variable).unwrap_or(0));
            return Ok(Verdict::Point(point.collect()));
        };
        *splits = splits.checked_sub(1).ok_or(Stuck)?;
        let variable = between.variable;
        let below = between.total.div_euclid(i128::from(between.divisor));
        let below = i64::try_from(below).map_err(|_| Stuck)?;
        let above = below.checked_add(1).ok_or(Stuck)?;
        let mut sources = Sources::NONE;
        for (lower, upper) in [(None, Some(below)), (Some(above), None)] {
            let before = self.tightened(variable, lower, upper);
            let verdict = self.search_integers(splits);
            self.variables[variable].lower = before.0;
            self.variables[variable].upper = before.1;
            match verdict? {
                Verdict::Refuted(these) => sources = sources.and(these),
                other => return Ok(other),
            }
        }
        Ok(Verdict::Refuted(sources))
    }

    /// Moves variables into their bounds, as fractions; or the rows why none fit.
    fn contradiction(&mut self) -> Result<Option<Sources>, Stuck> {
        for variable in &self.variables {
            if let (Some(lower), Some(upper)) = (variable.lower, variable.upper)
                && lower.value > upper.value
            {
                return Ok(Some(lower.from.and(upper.from)));
            }
        }
        for column in 0..self.columns.len() {
            let variable = &self.variables[self.columns[column]];
            let value = self.values[column];
            let low = variable.lower.map_or(value, |bound| value.max(bound.value));
            let within = variable.upper.map_or(low, |bound| low.min(bound.value));
            self.set(column, within)?;
        }
        for turn in 0..MOST_PIVOTS {
            let out = self.rows.iter().enumerate().filter_map(|(at, row)| {
                let variable = &self.variables[row.variable];
                let scaled = |bound: Bound| i128::from(bound.value) * i128::from(row.divisor);
                let below = variable.lower.filter(|bound| row.total < scaled(*bound));
                let above = variable.upper.filter(|bound| row.total > scaled(*bound));
                let bound = below.or(above)?;
                Some((row.variable, at, bound, below.is_some()))
            });
            // The least number comes first, so the search ends (Bland's rule). At first, pivots
            // that avoid fractions come before it.
            let Some((_, at, bound, up)) = out.min_by_key(|(variable, ..)| *variable) else {
                return Ok(None);
            };
            let moves = |column: usize, factor: i64| {
                let (variable, value) =
                    (&self.variables[self.columns[column]], self.values[column]);
                match (factor > 0) == up {
                    true => (
                        variable.upper,
                        variable.upper.is_none_or(|b| value < b.value),
                    ),
                    false => (
                        variable.lower,
                        variable.lower.is_none_or(|b| value > b.value),
                    ),
                }
            };
            let factors = self.rows[at].factors.iter().copied().enumerate();
            let factors = || factors.clone().filter(|(_, factor)| *factor != 0);
            let free = factors().filter(|(column, factor)| moves(*column, *factor).1);
            let cost = |(column, factor): &(usize, i64)| {
                let divides = turn < FEW_PIVOTS && factor.unsigned_abs() != 1;
                (divides, self.columns[*column])
            };
            let Some((column, _)) = free.min_by_key(cost) else {
                let mut sources = bound.from;
                for (column, factor) in factors() {
                    let held = moves(column, factor).0.expect("what cannot move is held");
                    sources = sources.and(held.from);
                }
                return Ok(Some(sources));
            };
            self.pivot(at, column, bound.value)?;
        }
        Err(Stuck)
    }

    fn set(&mut self, column: usize, value: i64) -> Result<(), Stuck> {
        let by = i128::from(value) - i128::from(self.values[column]);
        if by == 0 {
            return Ok(());
        }
        self.values[column] = value;
        for row in &mut self.rows {
            let factor = row.factors[column];
            if factor != 0 {
                let step = by.checked_mul(i128::from(factor)).ok_or(Stuck)?;
                row.total = row.total.checked_add(step).ok_or(Stuck)?;
            }
        }
        Ok(())
    }

    /// Gives the variable of a row and that of a column each other's place, and the
    /// former a value.
    fn pivot(&mut self, at: usize, column: usize, value: i64) -> Result<(), Stuck> {
        let row = &mut self.rows[at];
        let by = row.factors[column];
        let (leaving, entering) = (row.variable, self.columns[column]);
        let sign = by.signum();
        // `by * entering = divisor * leaving - Σ the others`
        for factor in &mut row.factors {
            *factor = factor.checked_mul(-sign).ok_or(Stuck)?;
        }
        row.factors[column] = row.divisor * sign;
        row.divisor = by.checked_abs().ok_or(Stuck)?;
        row.variable = entering;
        row.reduce();
        self.columns[column] = leaving;
        let before = std::mem::replace(&mut self.values[column], value);
        self.variables[leaving].place = Place::Column(column);
        self.variables[entering].place = Place::Row(at);
        row.sum_up(&self.values)?;
        let mut rows = std::mem::take(&mut self.rows);
        let (above, below) = rows.split_at_mut(at);
        let (pivot, below) = below.split_first_mut().expect("the row is one of them");
        let parts = pivot.parts();
        let mut others = above.iter_mut().chain(below);
        let ended = others.try_for_each(|row| row.put(column, before, pivot, &parts));
        self.rows = rows;
        ended
    }

    fn variable_of(&self, unknown: usize) -> Option<usize> {
        self.unknowns.get(unknown).copied().flatten()
    }

    /// The row as bounds; `None` if it has no unknowns, or a bound is too large.
    fn bounded(&self, row: &Linear) -> Option<Bounded> {
        let common = row
            .terms
            .iter()
            .fold(0, |a, (_, b)| gcd(a, b.unsigned_abs()));
        let common = i64::try_from(common).ok().filter(|common| *common > 0)?;
        let sign = row.terms[0].1.signum();
        let variable = |unknown: usize| self.variable_of(unknown).expect("each has one");
        let sum = row.terms.iter();
        let sum = sum.map(|(u, factor)| Some((variable(*u), (factor / common).checked_mul(sign)?)));
        let least = row.constant.div_euclid(common);
        let (lower, upper) = match (row.sign, sign) {
            (Sign::NonNegative, 1) => (Some(least.checked_neg()?), None),
            (Sign::NonNegative, _) => (None, Some(least)),
            _ => {
                // A sum that lies between two multiples has crossing bounds.
                let most = -((-i128::from(row.constant)).div_euclid(i128::from(common)));
                let most = i64::try_from(most).ok()?;
                match sign {
                    1 => (Some(least.checked_neg()?), Some(most.checked_neg()?)),
                    _ => (Some(most), Some(least)),
                }
            }
        };
        let sum = sum.collect::<Option<_>>()?;
        Some(Bounded { sum, lower, upper })
    }

    /// Sets tighter bounds temporarily, and returns the former ones.
    fn tightened(
        &mut self,
        variable: usize,
        lower: Option<i64>,
        upper: Option<i64>,
    ) -> (Option<Bound>, Option<Bound>) {
        let variable = &mut self.variables[variable];
        let before = (variable.lower, variable.upper);
        let bound = |value| Bound {
            value,
            from: Sources::NONE,
            given: None,
        };
        if let Some(lower) = lower.filter(|l| variable.lower.is_none_or(|b| b.value < *l)) {
            variable.lower = Some(bound(lower));
        }
        if let Some(upper) = upper.filter(|u| variable.upper.is_none_or(|b| b.value > *u)) {
            variable.upper = Some(bound(upper));
        }
        before
    }

    fn add_column(&mut self) -> usize {
        let variable = self.variables.len();
        self.variables.push(Variable {
            place: Place::Column(self.columns.len()),
            ..Variable::default()
        });
        self.columns.push(variable);
        self.values.push(0);
        for row in &mut self.rows {
            row.factors.push(0);
        }
        variable
    }

    /// The variable of a sum, in a new row unless the table has one.
    fn variable(&mut self, sum: &[(usize, i64)]) -> Result<usize, Stuck> {
        if let [(variable, 1)] = sum {
            return Ok(*variable);
        }
        if let Some(variable) = self.sums.get(sum) {
            return Ok(*variable);
        }
        let variable = self.variables.len();
        let row = self.row_of(variable, sum)?;
        self.variables.push(Variable {
            place: Place::Row(self.rows.len()),
            ..Variable::default()
        });
        self.rows.push(row);
        self.sums.insert(sum.into(), variable);
        Ok(variable)
    }

    fn row_of(&self, variable: usize, sum: &[(usize, i64)]) -> Result<TableRow, Stuck> {
        let mut row = TableRow {
            variable,
            divisor: 1,
            factors: vec![0; self.columns.len()],
            total: 0,
        };
        for (term, factor) in sum {
            match self.variables[*term].place {
                Place::Column(column) => {
                    let scaled = factor.checked_mul(row.divisor).ok_or(Stuck)?;
                    let sum = row.factors[column].checked_add(scaled);
                    row.factors[column] = sum.ok_or(Stuck)?;
                }
                Place::Row(other) => {
                    let other = &self.rows[other];
                    let scaled = factor.checked_mul(row.divisor).ok_or(Stuck)?;
                    row.combine(other.divisor, scaled, &other.factors)?;
                    row.divisor = row.divisor.checked_mul(other.divisor).ok_or(Stuck)?;
                    row.reduce();
                }
                Place::Nowhere => return Err(Stuck),
            }
        }
        row.sum_up(&self.values)?;
        Ok(row)
    }

    /// Takes the variable out that was added last, which is of a sum.
    fn forget(&mut self, sum: &[(usize, i64)]) {
        let Some(variable) = self.sums.remove(sum) else {
            return;
        };
        if let Place::Column(column) = self.variables[variable].place {
            let in_it = self.rows.iter().position(|row| row.factors[column] != 0);
            let at = in_it.expect("a sum of others is not free of them");
            let row = &self.rows[at];
            let value = row.total.div_euclid(i128::from(row.divisor));
            let value = i64::try_from(value).map_err(|_| Stuck);
            if value
                .and_then(|value| self.pivot(at, column, value))
                .is_err()
            {
                self.variables.pop();
                self.renew();
                return;
            }
        }
        if let Some(Place::Row(at)) = self.variables.pop().map(|variable| variable.place) {
            self.rows.swap_remove(at);
            if let Some(moved) = self.rows.get(at) {
                self.variables[moved.variable].place = Place::Row(at);
            }
        }
    }

    /// Begins the table anew: unknowns free, sums in rows.
    fn renew(&mut self) {
        self.columns = self.unknowns.iter().copied().flatten().collect();
        self.values = vec![0; self.columns.len()];
        self.rows.clear();
        for variable in &mut self.variables {
            variable.place = Place::Nowhere;
        }
        for (column, variable) in self.columns.iter().enumerate() {
            self.variables[*variable].place = Place::Column(column);
        }
        for (sum, variable) in &self.sums {
            if let Ok(row) = self.row_of(*variable, sum) {
                self.variables[*variable].place = Place::Row(self.rows.len());
                self.rows.push(row);
            }
        }
    }
}

/// Whether a row without unknowns, or with bounds that are too large, holds.
fn holds(row: &Linear) -> bool {
    !row.terms.is_empty()
        || match row.sign {
            Sign::Zero => row.constant == 0,
            Sign::NonNegative => row.constant >= 0,
            Sign::NonZero => row.constant != 0,
        }
}
