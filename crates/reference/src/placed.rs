//! Operands read at other coordinates than those of plain variables.
//!
//! Where each index has one variable, the entries are listed anew at the
//! values of the variables that read them:
//!
//! ```text
//! A(2*i + 1)     entries at 1, 4, 5  =>  i = 0 and i = 2; no i reads 4
//! A(i({4,4}))    the entry at 4      =>  i = 0 and i = 1
//! ```
//!
//! Else an entry is looked up where the coordinates are known.

use std::sync::Arc;

use sparsec_base::Scalar;
use sparsec_base::arena::Id;
use sparsec_index::{Access, IndexExpr, IndexVar};

use crate::coordinate_map::CoordinateMap;
use crate::point::Entry;
use crate::program::Operand;
use crate::rows::Rows;
use crate::scan::Source;

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
    let access = access.clone();
    Source::Computed {
        vars: access.vars().into_iter().map(Id::index).collect(),
        entry: Box::new(move |bound| entry_at(operand, &access, &|var| bound[var.index()])),
    }
}

/// The entries at the values of variables; `None` if an index has several.
fn listed<'a>(
    map: &CoordinateMap,
    access: &Access,
    extents: &dyn Fn(IndexVar) -> u64,
) -> Option<Source<'a>> {
    let mut readers = Vec::new();
    for (index, extent) in access.indices.iter().zip(&map.extents) {
        readers.push(Reader::of(index, *extent, extents)?);
    }
    let vars: Vec<IndexVar> = readers.iter().filter_map(|reader| reader.var).collect();
    let mut rows = Rows::new(vars.len());
    let mut row = Vec::new();
    for n in 0..map.rows.len() {
        let coords = map.rows.row(n);
        let values: Vec<&[u64]> = std::iter::zip(&readers, coords)
            .map(|(reader, coord)| reader.values(*coord))
            .collect();
        row.clear();
        list(&readers, &values, &mut row, &mut |row| {
            rows.push(row, map.rows.entry(n));
        });
    }
    rows.sort(|_, _| unreachable!("each point reads one entry"));
    let extents: Vec<u64> = vars.iter().map(|var| extents(*var)).collect();
    let vars: Vec<usize> = vars.into_iter().map(Id::index).collect();
    let fill = Ok(map.fill);
    Some(Source::of_rows(&Arc::new(rows), &vars, &extents, fill))
}

/// Calls `emit` with every choice of one value a variable.
fn list(readers: &[Reader], values: &[&[u64]], row: &mut Vec<u64>, emit: &mut dyn FnMut(&[u64])) {
    let ([reader, readers @ ..], [choices, values @ ..]) = (readers, values) else {
        return emit(row);
    };
    for value in *choices {
        if reader.var.is_some() {
            row.push(*value);
        }
        list(readers, values, row, emit);
        if reader.var.is_some() {
            row.pop();
        }
    }
}

/// Which values of a variable read a coordinate.
struct Reader {
    /// The variable; a constant has none and is read once.
    var: Option<IndexVar>,
    /// Coordinates with the values that read them, ascending.
    by_coord: Vec<(u64, Vec<u64>)>,
}

impl Reader {
    /// Time is linear in the extent of the variable.
    fn of(index: &IndexExpr, extent: u64, extents: &dyn Fn(IndexVar) -> u64) -> Option<Self> {
        let vars = index.vars();
        let var = vars.first().copied();
        if vars.len() > 1 {
            return None;
        }
        let mut found: Vec<(u64, u64)> = Vec::new();
        for value in 0..var.map_or(1, extents) {
            let coord = index.evaluate(&|_| value);
            let coord = coord.and_then(|coord| u64::try_from(coord).ok());
            found.extend(coord.filter(|coord| *coord < extent).map(|it| (it, value)));
        }
        found.sort_unstable();
        let mut by_coord: Vec<(u64, Vec<u64>)> = Vec::new();
        for (coord, value) in found {
            match by_coord.last_mut() {
                Some((last, values)) if *last == coord => values.push(value),
                _ => by_coord.push((coord, vec![value])),
            }
        }
        Some(Self { var, by_coord })
    }

    fn values(&self, coord: u64) -> &[u64] {
        match self
            .by_coord
            .binary_search_by_key(&coord, |(known, _)| *known)
        {
            Ok(at) => &self.by_coord[at].1,
            Err(_) => &[],
        }
    }
}
