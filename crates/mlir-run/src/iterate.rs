//! `foreach`, and loops over iteration spaces.
//!
//! ```text
//! foreach in %A do (%i, %j, %v)                      all stored entries
//! iterate %it in %rows at(%i)                        one level, or several, of a tensor
//! coiterate (%r, %s) at(%i) case %a, %b  case %a, _  several spaces along the same coordinates
//! ```

use std::collections::BTreeMap;
use std::rc::Rc;

use sparsec_base::Result;
use sparsec_mlir::{Attribute, Operation};

use crate::datum::{Datum, Place, Space};
use crate::machine::{Frame, Machine, set};
use crate::tensors::index;

impl<'a> Machine<'a> {
    pub(crate) fn iteration(&mut self, frame: &mut Frame, op: Operation<'a>) -> Result<bool> {
        match op.name() {
            "sparse_tensor.foreach" => self.foreach(frame, op)?,
            "sparse_tensor.extract_iteration_space" => self.space(frame, op)?,
            "sparse_tensor.extract_value" => {
                let tensor = self.stored(frame, op, op.operand("tensor"))?;
                let Datum::Iterator(place) = self.get(frame, op.operand("iterator"))? else {
                    return Ok(false);
                };
                if place.position >= tensor.vals().len() {
                    return Err(self.outside(op, "the iterator is not at a value"));
                }
                let value = tensor.vals().get(place.position);
                set(frame, op.result("result"), Datum::Number(value));
            }
            "sparse_tensor.iterate" => self.iterate(frame, op)?,
            "sparse_tensor.coiterate" => self.coiterate(frame, op)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn foreach(&mut self, frame: &mut Frame, op: Operation<'a>) -> Result<()> {
        let tensor = match self.listed_constant(op.operand("tensor"))? {
            Some(entries) => Rc::new(entries),
            None => self.stored(frame, op, op.operand("tensor"))?,
        };
        let mut carried = self.all_taken(frame, op, op.operands("initArgs"))?;
        let Some(block) = op.region("region").block else {
            return Err(self.not_run(op));
        };
        let mut entries = Vec::new();
        tensor.for_each_stored(|at, value| entries.push((at.to_vec(), value)));
        // Levels say in which order the entries of other tensors are visited.
        let is_annotated = op.operand_type("tensor").encoding().is_some();
        if let (Some(Attribute::Map(map)), false) = (op.attribute("order"), is_annotated) {
            let modes: Option<Vec<usize>> = map.results.iter().map(|it| it.dimension()).collect();
            let modes = modes.ok_or_else(|| self.not_run(op))?;
            entries.sort_by_key(|(at, _)| modes.iter().map(|mode| at[*mode]).collect::<Vec<_>>());
        }
        for (at, value) in entries {
            let mut args: Vec<Datum> = at.iter().map(|at| index(*at as i64)).collect();
            args.push(Datum::Number(value));
            args.append(&mut carried);
            carried = self.block(frame, block, args)?;
        }
        self.set_results(frame, op, carried)
    }

    fn space(&mut self, frame: &mut Frame, op: Operation<'a>) -> Result<()> {
        let tensor = self.stored(frame, op, op.operand("tensor"))?;
        let parent = match op.operands("parentIter") {
            [parent] => match self.get(frame, *parent)? {
                Datum::Iterator(place) => place.position,
                _ => return Err(self.not_run(op)),
            },
            _ => 0,
        };
        let level = |name: &str| op.attribute(name).and_then(Attribute::natural);
        let (Some(from), Some(to)) = (level("loLvl"), level("hiLvl")) else {
            return Err(self.not_run(op));
        };
        let space = Space {
            tensor,
            from: from as usize,
            to: to as usize,
            parent,
        };
        set(
            frame,
            op.result("extractedSpace"),
            Datum::Space(Rc::new(space)),
        );
        Ok(())
    }

    /// The places of a space, in order.
    fn places(&self, op: Operation<'a>, space: &Space) -> Result<Vec<Place>> {
        let root = Place {
            position: space.parent,
            coords: Vec::new(),
        };
        let mut places = vec![root];
        for level in space.from..space.to {
            let n_above = match level.checked_sub(1) {
                Some(above) => space.tensor.n_positions(above),
                None => 1,
            };
            if places.iter().any(|place| place.position >= n_above) {
                return Err(self
                    .outside(op, "the parent iterator is at no position of this tensor")
                    .help("extract the space from the tensor that the iterator goes through"));
            }
            let parents: Vec<usize> = places.iter().map(|place| place.position).collect();
            let mut below = Vec::new();
            space
                .tensor
                .for_each_child(level, &parents, |n, coord, position| {
                    let mut coords = places[n].coords.clone();
                    coords.push(coord);
                    below.push(Place { position, coords });
                });
            places = below;
        }
        Ok(places)
    }

    fn space_of(
        &self,
        frame: &Frame,
        op: Operation<'a>,
        value: sparsec_mlir::Value,
    ) -> Result<Rc<Space>> {
        match self.get(frame, value)? {
            Datum::Space(space) => Ok(space),
            _ => Err(self.not_run(op)),
        }
    }

    /// The coordinates that the body names.
    fn used(op: Operation<'_>, coords: &[u64]) -> Vec<Datum> {
        let used = match op.attribute("crdUsedLvls") {
            Some(Attribute::Integer(used, _)) => *used,
            _ => 0,
        };
        let named = coords
            .iter()
            .enumerate()
            .filter(|(n, _)| used >> n & 1 == 1);
        named.map(|(_, coord)| index(*coord as i64)).collect()
    }

    fn iterate(&mut self, frame: &mut Frame, op: Operation<'a>) -> Result<()> {
        let space = self.space_of(frame, op, op.operand("iterSpace"))?;
        let mut carried = self.all_taken(frame, op, op.operands("initArgs"))?;
        let Some(block) = op.region("region").block else {
            return self.set_results(frame, op, carried);
        };
        for place in self.places(op, &space)? {
            let mut args = Self::used(op, &place.coords);
            args.insert(0, Datum::Iterator(Rc::new(place)));
            args.append(&mut carried);
            carried = self.block(frame, block, args)?;
        }
        self.set_results(frame, op, carried)
    }

    fn coiterate(&mut self, frame: &mut Frame, op: Operation<'a>) -> Result<()> {
        let mut carried = self.all_taken(frame, op, op.operands("initArgs"))?;
        let spaces = op.operands("iterSpaces");
        let mut found: BTreeMap<Vec<u64>, Vec<Option<Place>>> = BTreeMap::new();
        for (n, value) in spaces.iter().enumerate() {
            let space = self.space_of(frame, op, *value)?;
            for place in self.places(op, &space)? {
                let places = found.entry(place.coords.clone()).or_default();
                places.resize(spaces.len(), None);
                places[n] = Some(place);
            }
        }
        let cases = match op.attribute("cases") {
            Some(Attribute::Array(cases)) => cases.as_slice(),
            _ => &[],
        };
        let regions = op.data().regions.clone();
        for (coords, places) in found {
            let bits = places
                .iter()
                .enumerate()
                .filter(|(_, place)| place.is_some());
            let bits = bits.fold(0i128, |bits, (n, _)| bits | 1 << n);
            let case = cases
                .iter()
                .position(|case| matches!(case, Attribute::Integer(known, _) if *known == bits));
            let Some(block) = case.and_then(|n| self.module.region(regions[n]).block) else {
                continue;
            };
            let mut args = Self::used(op, &coords);
            args.append(&mut carried);
            let places = places.into_iter().flatten();
            args.extend(places.map(|place| Datum::Iterator(Rc::new(place))));
            carried = self.block(frame, block, args)?;
        }
        self.set_results(frame, op, carried)
    }
}
