//! Values assigned to a part of a tensor, entry by entry.
//!
//! Every point of the variables on the left names an entry. Others are what they
//! were; what was stored stays stored. With an operator, an entry is what it was
//! (else the operator's identity) combined with all values that are assigned to it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sparsec_base::{Result, Scalar};
use sparsec_index::{IndexVar, Operator};

use crate::coordinate_map::CoordinateMap;
use crate::decided::decided;
use crate::placed;
use crate::point::{Entry, Fold, Value, same};
use crate::program::{Context, Operand, for_each_point};
use crate::rows::Rows;

impl Context<'_> {
    /// The result, given what the right side is at the points where it is stored,
    /// one column a variable of the left side, and elsewhere.
    ///
    /// Time: what is stored of the right side and of the value before; all points, if
    /// those where the right side is not stored are assigned something too.
    pub(crate) fn part(&self, rows: &Rows, unstored: Value) -> Result<CoordinateMap> {
        let data = &self.program.tensors[self.statement.lhs.tensor];
        let before = self.statement.before.map(|before| &self.operands[&before]);
        let mut entries: BTreeMap<Vec<u64>, Entry> = BTreeMap::new();
        if let Some(before) = before {
            before.for_each_stored(&mut |coords, entry| {
                entries.insert(coords.to_vec(), entry);
            });
        }
        let element = self.statement.rhs.element(&self.program.tensors);
        let nothing = match &self.statement.reduce {
            Some(op) => op.identity(element).expect("the operator reduces"),
            None => data.fill,
        };
        let mut folds: BTreeMap<Vec<u64>, Fold> = BTreeMap::new();
        let vars = self.statement.lhs.vars();
        let mut error = None;
        let mut assign = |point: &[u64]| {
            let at = |var| {
                let place = vars.iter().position(|known| *known == var);
                point[place.expect("a variable of the left side")]
            };
            let indices = self.statement.lhs.indices.iter();
            let coords = indices.map(|index| index.evaluate(&at).expect("inside") as u64);
            let coords: Vec<u64> = coords.collect();
            let entry = match rows.find(point) {
                Some(row) => rows.entry(row),
                None => Entry::unstored(unstored),
            };
            if let Err(failure) = entry.value {
                error.get_or_insert(failure);
            }
            let differs = entry.value.is_ok_and(|value| !same(value, nothing));
            let is_stored = entry.stored || differs;
            match &self.statement.reduce {
                Some(op) if is_stored => {
                    let fold = folds
                        .entry(coords)
                        .or_insert_with(|| Fold::new(op, element));
                    fold.add(op, entry);
                }
                None if is_stored || entries.contains_key(&coords) => {
                    let entry = Entry {
                        stored: true,
                        ..entry
                    };
                    entries.insert(coords, entry);
                }
                _ => {}
            }
        };
        match self.points_assigned(rows, unstored, nothing, before)? {
            Some(points) => points.iter().for_each(|point| assign(point)),
            None => for_each_point(&self.extents_of(&vars), &mut assign),
        }
        if let Some(failure) = error {
            return Err(self.diagnose(failure));
        }
        for (coords, fold) in folds {
            let op = self.statement.reduce.as_ref().expect("they are combined");
            let known = entries.get(&coords).copied();
            let fill = before.map(Operand::fill).map(Ok);
            // An unstored infinity stays what it is, whatever is added to it.
            if let (None, Some(fill)) = (known, fill) {
                let op = self.statement.reduce.as_ref().expect("they are combined");
                let added = Entry {
                    stored: true,
                    ..fold.entry()
                };
                let args = [Entry::unstored(fill), added];
                if decided(op, &[fill, Ok(nothing)], &args).is_some() {
                    continue;
                }
            }
            let known = known.map(|entry| entry.value).or(fill);
            let value = combined(op, known, fold.entry(), data.element, element);
            entries.insert(coords, value);
        }
        let mut all = Rows::new(self.statement.lhs.indices.len());
        for (coords, entry) in &entries {
            all.push(coords, *entry);
        }
        let extents = match before {
            Some(before) => before.extents().to_vec(),
            None => data
                .extents
                .iter()
                .map(|extent| extent.expect("follows from the variables"))
                .collect(),
        };
        Ok(CoordinateMap {
            extents,
            fill: data.fill,
            rows: Arc::new(all),
        })
    }
}

impl Context<'_> {
    /// The points at which an entry may change, in order; `None` where that is all of
    /// them.
    fn points_assigned(
        &self,
        rows: &Rows,
        unstored: Value,
        nothing: Scalar,
        before: Option<&Operand<'_>>,
    ) -> Result<Option<BTreeSet<Vec<u64>>>> {
        let vars = self.statement.lhs.vars();
        let stored = || (0..rows.len()).map(|n| rows.row(n).to_vec());
        let points = match (unstored, before, &self.statement.reduce) {
            (Ok(value), None, _) | (Ok(value), _, Some(_)) if same(value, nothing) => {
                Some(stored().collect())
            }
            // What was stored, and is assigned what is not.
            (Ok(value), Some(Operand::Map(map)), None) if same(value, nothing) => {
                let extent = |var: IndexVar| self.extents[&var];
                let replaced = placed::rows_read(map, &self.statement.lhs, &vars, &extent);
                replaced.map(|replaced| {
                    let replaced = (0..replaced.len()).map(|n| replaced.row(n).to_vec());
                    stored().chain(replaced).collect()
                })
            }
            _ => None,
        };
        if points.is_none() {
            let extents = self.extents_of(&vars).into_iter();
            self.refuse_beyond(extents.map(|extent| extent as f64).product())?;
        }
        Ok(points)
    }
}

/// An entry of a result of type `to`, combined with what it was in the type that is
/// computed with.
fn combined(
    op: &Operator,
    before: Option<Value>,
    fold: Entry,
    to: sparsec_base::ElementType,
    computed: sparsec_base::ElementType,
) -> Entry {
    let mut all = fold;
    if let Some(before) = before {
        let before = before.map(|value| value.cast(computed).unwrap_or(value));
        let mut sum = Fold::new(op, computed);
        sum.add(op, Entry::stored(before.unwrap_or(Scalar::Bool(false))));
        sum.add(op, fold);
        all = sum.entry();
    }
    Entry {
        stored: true,
        ..all.cast(to)
    }
}
