//! Operands read at other coordinates than those of plain variables.
//!
//! The entries are listed anew at the values of the variables that read them,
//! which are solved for, so that extents may be as large as they like:
//!
//! ```text
//! A(2*i + 1)     entries at 1, 4, 5  =>  i = 0 and i = 2; no i reads 4
//! A(i({4,4}))    the entry at 4      =>  i = 0 and i = 1
//! ```
//!
//! An index with one variable left comes before those with several; of these, the
//! values of all but the one that runs furthest are tried. Where that is too much, or an index has the variable
//! several times, an entry is looked up where the coordinates are known.

use std::collections::BTreeMap;
use std::sync::Arc;

use sparsec_base::Scalar;
use sparsec_base::arena::Id;
use sparsec_index::index_expr::Term;
use sparsec_index::{Access, IndexExpr, IndexVar};

use crate::coordinate_map::CoordinateMap;
use crate::point::Entry;
use crate::program::Operand;
use crate::rows::Rows;
use crate::scan::{Solved, Source};

/// The entry that an access reads, nothing being stored outside of a tensor.
pub(crate) fn entry_at(
    operand: &Operand<'_>,
    access: &Access,
    at: &dyn Fn(IndexVar) -> u64,
) -> Entry {
    let mut coords = Vec::with_capacity(access.indices.len());
    for (index, extent) in access.indices.iter().zip(operand.extents()) {
        let coord = index
            .evaluate(at)
            .and_then(|coord| u64::try_from(coord).ok());
        match coord.filter(|coord| coord < extent) {
            Some(coord) => coords.push(coord),
            None => return Entry::unstored(Ok(operand.fill())),
        }
    }
    operand.entry(&coords)
}

/// An index as a number.
pub(crate) fn index_at(index: &IndexExpr, at: &dyn Fn(IndexVar) -> u64) -> Entry {
    let value = index.evaluate(at).expect("indices were checked");
    Entry::stored(Scalar::I64(value))
}

/// The index as an operand that stores everything.
pub(crate) fn index_source<'a>(index: &IndexExpr) -> Source<'a> {
    let index = index.clone();
    Source::Computed {
        vars: index.vars().into_iter().map(Id::index).collect(),
        entry: Box::new(move |bound| index_at(&index, &|var| bound[var.index()])),
        solved: None,
    }
}

/// The operand of an access, given the extents of all variables.
pub(crate) fn source<'a>(
    operand: &'a Operand<'_>,
    access: &Access,
    extents: &dyn Fn(IndexVar) -> u64,
) -> Source<'a> {
    if let Operand::Map(map) = operand
        && let Some(source) = listed(map, access, extents)
    {
        return source;
    }
    let solved = match operand {
        Operand::Map(map) => solved(map, access, extents),
        Operand::Dense(..) => None,
    };
    let access = access.clone();
    Source::Computed {
        solved,
        vars: access.vars().into_iter().map(Id::index).collect(),
        entry: Box::new(move |bound| entry_at(operand, &access, &|var| bound[var.index()])),
    }
}

/// The entries that an access reads, with a column for each of its variables, in the
/// order of `vars`; `None` where they cannot be listed, or are too many.
pub(crate) fn rows_read(
    map: &CoordinateMap,
    access: &Access,
    vars: &[IndexVar],
    extents: &dyn Fn(IndexVar) -> u64,
) -> Option<Rows> {
    let mut rows = Rows::new(vars.len());
    let modes: Vec<usize> = (0..access.indices.len()).collect();
    for n in 0..map.rows.len() {
        let mut reading = Reading {
            indices: &access.indices,
            coords: map.rows.row(n),
            extents,
            bound: BTreeMap::new(),
            left: MOST_LISTED.checked_sub(rows.len())?,
        };
        reading.bind(&modes, &mut |bound| {
            let row: Vec<u64> = vars.iter().map(|var| bound[var]).collect();
            rows.push(&row, map.rows.entry(n));
        })?;
    }
    rows.sort(|_, _| unreachable!("each point reads one entry"));
    Some(rows)
}

/// The most rows that an access is listed in.
const MOST_LISTED: usize = 1 << 22;

/// The entries at the values of variables; `None` where they cannot be listed,
/// or are too many.
fn listed<'a>(
    map: &CoordinateMap,
    access: &Access,
    extents: &dyn Fn(IndexVar) -> u64,
) -> Option<Source<'a>> {
    let vars: Vec<IndexVar> = access.vars().into_iter().collect();
    let rows = rows_read(map, access, &vars, extents)?;
    let extents: Vec<u64> = vars.iter().map(|var| extents(*var)).collect();
    let vars: Vec<usize> = vars.into_iter().map(Id::index).collect();
    let fill = Ok(map.fill);
    Some(Source::of_rows(&Arc::new(rows), &vars, &extents, fill))
}

/// Where sums of variables read entries along one variable, once others are known.
fn solved<'a>(
    map: &'a CoordinateMap,
    access: &Access,
    extents: &dyn Fn(IndexVar) -> u64,
) -> Option<Solved<'a>> {
    let is_var = |(term, _): &(Term, i64)| matches!(term, Term::Var(_));
    let mut indices = access.indices.iter();
    if !indices.all(|index| index.terms().iter().all(is_var)) {
        return None;
    }
    let access = access.clone();
    let modes: Vec<usize> = (0..access.indices.len()).collect();
    let vars = access.vars();
    let extents: BTreeMap<IndexVar, u64> = vars.iter().map(|var| (*var, extents(*var))).collect();
    let values = move |bound: &[u64], open: usize| {
        let known = vars.iter().filter(|var| var.index() != open);
        let known: BTreeMap<IndexVar, u64> = known.map(|var| (*var, bound[var.index()])).collect();
        let mut found = Vec::new();
        for n in 0..map.rows.len() {
            let mut reading = Reading {
                indices: &access.indices,
                coords: map.rows.row(n),
                extents: &|var| extents[&var],
                bound: known.clone(),
                left: MOST_LISTED,
            };
            // An index past 64 bits reads nothing.
            let _ = reading.bind(&modes, &mut |bound| {
                found.extend(
                    vars.iter()
                        .filter(|var| var.index() == open)
                        .map(|var| bound[var]),
                );
            });
        }
        found.sort_unstable();
        found.dedup();
        found
    };
    Some(Solved {
        n_entries: map.rows.len(),
        values: Box::new(values),
    })
}

/// The points that read one entry.
struct Reading<'r> {
    indices: &'r [IndexExpr],
    coords: &'r [u64],
    extents: &'r dyn Fn(IndexVar) -> u64,
    /// The variables that have a value.
    bound: BTreeMap<IndexVar, u64>,
    /// How many values may still be tried.
    left: usize,
}

impl Reading<'_> {
    /// Gives values to the variables of the indices of some modes, that with the fewest
    /// first: all those of small variables are tried, and the one that runs furthest is
    /// solved for.
    fn bind(
        &mut self,
        modes: &[usize],
        emit: &mut dyn FnMut(&BTreeMap<IndexVar, u64>),
    ) -> Option<()> {
        let open = |mode: usize| -> Vec<IndexVar> {
            let vars = self.indices[mode].vars().into_iter();
            vars.filter(|var| !self.bound.contains_key(var)).collect()
        };
        let Some(&mode) = modes.iter().min_by_key(|mode| open(**mode).len()) else {
            emit(&self.bound);
            return Some(());
        };
        let others: Vec<usize> = modes.iter().copied().filter(|it| *it != mode).collect();
        let (index, coord) = (&self.indices[mode], i128::from(self.coords[mode]));
        let mut open = open(mode);
        open.sort_by_key(|var| (self.extents)(*var));
        let (ranges, var) = match open[..] {
            [] => {
                let value = index.evaluate(&|var| self.bound[&var]).map(i128::from);
                return match value == Some(coord) {
                    true => self.bind(&others, emit),
                    false => Some(()),
                };
            }
            [var] => {
                let values = |var| {
                    let value = self.bound.get(&var)?;
                    i64::try_from(*value).ok().map(IndexExpr::constant)
                };
                let index = index.substitute(&values, &|_| None)?;
                (solve(&index, (coord, coord), (self.extents)(var))?, var)
            }
            [var, ..] => {
                let extent = (self.extents)(var);
                (ranges((0, i128::from(extent) - 1), extent), var)
            }
        };
        // What is left of an index is solved for when its other variables are bound.
        let next = match open.len() {
            1 => &others[..],
            _ => modes,
        };
        for (first, last) in ranges {
            let n = usize::try_from(last - first).ok()?.checked_add(1)?;
            self.left = self.left.checked_sub(n)?;
            for value in first..=last {
                self.bound.insert(var, value);
                self.bind(next, emit)?;
            }
        }
        self.bound.remove(&var);
        Some(())
    }
}

/// The coordinates below `extent` of a range, as a list of none or one.
fn ranges((least, most): (i128, i128), extent: u64) -> Vec<(u64, u64)> {
    let (least, most) = (least.max(0), most.min(i128::from(extent) - 1));
    match (u64::try_from(least), u64::try_from(most)) {
        (Ok(first), Ok(last)) if first <= last => vec![(first, last)],
        _ => Vec::new(),
    }
}

/// The values of the variable of `index` for which it is no less than the first
/// number and no more than the second; `None` where several terms have the
/// variable, or where the values are too many ranges.
///
/// ```text
/// 2*i + 1 = 7       =>  i = 3             {4,1,4}[i] = 4  =>  i = 0, i = 2
/// i // 4 = 2        =>  i = 8, …, 11      i % 4 = 1       =>  i = 1, i = 5, …
/// ```
fn solve(index: &IndexExpr, within: (i128, i128), extent: u64) -> Option<Vec<(u64, u64)>> {
    let (least, most) = within;
    let offset = i128::from(index.offset());
    let [(term, factor)] = index.terms() else {
        let all = || ranges((0, i128::from(extent) - 1), extent);
        let holds = (least..=most).contains(&offset);
        return (index.as_constant().is_some()).then(|| if holds { all() } else { Vec::new() });
    };
    let (least, most) = match *factor > 0 {
        true => (least - offset, most - offset),
        false => (offset - most, offset - least),
    };
    let factor = i128::from(*factor).abs();
    let (least, most) = (-(-least).div_euclid(factor), most.div_euclid(factor));
    if least > most {
        return Some(Vec::new());
    }
    let mut found = Vec::new();
    match term {
        Term::Var(_) => found = ranges((least, most), extent),
        Term::FloorDiv(inner, by) => {
            let by = i128::from(*by);
            let most = most.checked_mul(by)?.checked_add(by - 1)?;
            found = solve(inner, (least.checked_mul(by)?, most), extent)?;
        }
        Term::Element(list, inner) => {
            let holds = |value: &u64| (least..=most).contains(&i128::from(*value));
            for (at, _) in list.iter().enumerate().filter(|(_, value)| holds(value)) {
                found.extend(solve(inner, (at as i128, at as i128), extent)?);
            }
        }
        // Statements of a program index by coordinates.
        Term::Place(..) => return None,
        Term::Mod(inner, by) => {
            let by = i128::from(*by);
            let (least, most) = (least.max(0), most.min(by - 1));
            let Some((low, high)) = inner.range(&|_| Some(extent)) else {
                return Some(found);
            };
            let (first, last) = (low.div_euclid(by), high.div_euclid(by));
            if last - first > MOST_LISTED as i128 {
                return None;
            }
            for n in first..=last {
                if least <= most {
                    let within = (n * by + least, n * by + most);
                    found.extend(solve(inner, within, extent)?);
                }
            }
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `solve` beside a table of all values, for every coordinate.
    fn check(index: Option<IndexExpr>) {
        const EXTENT: u64 = 40;
        let index = index.expect("small numbers");
        for coord in -50..200 {
            let at = |value: u64| index.evaluate(&|_| value).map(i128::from);
            let expect: Vec<u64> = (0..EXTENT)
                .filter(|value| at(*value) == Some(coord))
                .collect();
            let ranges = solve(&index, (coord, coord), EXTENT).expect("one term");
            let mut found: Vec<u64> = ranges.into_iter().flat_map(|(a, b)| a..=b).collect();
            found.sort_unstable();
            assert_eq!(found, expect, "{index:?} = {coord}");
        }
    }

    #[test]
    fn values_are_those_of_a_table() {
        let extent = |_| Some(40);
        let i = IndexExpr::from(IndexVar::from_index(0));
        let shifted = |factor, by| i.times(factor)?.plus(&IndexExpr::constant(by));
        check(Some(IndexExpr::constant(7)));
        check(shifted(1, 0));
        check(shifted(3, 2));
        check(shifted(-2, 11));
        let outer = shifted(3, -5).expect("small numbers");
        check(outer.floor_div(4, &extent).times(-2));
        check(outer.modulo(7, &extent).plus(&IndexExpr::constant(3)));
        check(Some(outer.element_of(vec![4, 1, 4, 90])));
        let nested = outer.modulo(7, &extent).element_of(vec![5, 5, 8]);
        check(Some(nested.floor_div(2, &extent)));
    }

    #[test]
    fn a_variable_in_several_terms_is_not_solved_for() {
        let i = IndexExpr::from(IndexVar::from_index(0));
        let both = i.plus(&i.floor_div(2, &|_| None)).expect("small numbers");
        assert_eq!(solve(&both, (3, 3), 10), None);
    }
}
