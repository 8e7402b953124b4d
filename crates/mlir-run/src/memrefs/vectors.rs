//! Operations of `vector`.

use std::rc::Rc;

use sparsec_base::{Result, Scalar};
use sparsec_index::Operator;
use sparsec_mlir::{AffineMap, Attribute, Operation, Type};

use crate::datum::{Datum, TensorHandle, dense};
use crate::machine::{Frame, Machine, set};
use crate::memory::advance;
use crate::numbers;
use crate::print::{self, Integers};

/// The sizes of a vector type.
fn sizes_of(ty: &Type) -> Vec<u64> {
    let shape = ty.shape().unwrap_or_default();
    shape.into_iter().map(|size| size.unwrap_or(0)).collect()
}

impl<'a> Machine<'a> {
    pub(super) fn vector_operation(
        &mut self,
        frame: &mut Frame,
        op: Operation<'a>,
    ) -> Result<bool> {
        let datum = match op.name() {
            "vector.print" => {
                self.print_vector(frame, op)?;
                return Ok(true);
            }
            "vector.transfer_read" => self.transfer_read(frame, op)?,
            "vector.transfer_write" => match self.transfer_write(frame, op)? {
                Some(datum) => datum,
                None => return Ok(true),
            },
            "vector.load" => self.load_vector(frame, op)?,
            "vector.store" => {
                self.store_vector(frame, op)?;
                return Ok(true);
            }
            "vector.shape_cast" => self.get(frame, op.operand("source"))?,
            "vector.bitcast" => {
                let element = self.element(op, op.result_type("result"))?;
                let entries = self.entries(frame, op, op.operand("source"))?;
                let found = numbers::bits::recast(&entries, element);
                Datum::Vector(Rc::new(found.ok_or_else(|| self.not_run(op))?))
            }
            "vector.splat" => {
                let value = self.number(frame, op, op.operand("input"))?;
                let n = crate::memory::count_of_vector(&sizes_of(op.result_type("aggregate")))?;
                Datum::Vector(Rc::new(vec![value; n]))
            }
            "vector.broadcast" => self.broadcast(frame, op)?,
            "vector.fma" => {
                let columns =
                    ["lhs", "rhs", "acc"].map(|name| self.entries(frame, op, op.operand(name)));
                let [a, b, c] = columns;
                let (a, b, c) = (a?, b?, c?);
                let lanes = a.iter().zip(b.iter()).zip(c.iter());
                let sums = lanes.map(|((a, b), c)| Operator::Fma.evaluate(&[*a, *b, *c]));
                let sums: Option<Vec<Scalar>> = sums.collect();
                Datum::Vector(Rc::new(sums.ok_or_else(|| self.not_run(op))?))
            }
            "vector.reduction" => self.reduction(frame, op)?,
            "vector.contract" => self.contract(frame, op)?,
            _ => return Ok(false),
        };
        set(frame, op.data().results[0], datum);
        Ok(true)
    }

    fn entries(
        &self,
        frame: &Frame,
        op: Operation<'a>,
        value: sparsec_mlir::Value,
    ) -> Result<Rc<Vec<Scalar>>> {
        match self.get(frame, value)? {
            Datum::Vector(entries) => Ok(entries),
            Datum::Number(number) => Ok(Rc::new(vec![number])),
            _ => Err(self.not_run(op)),
        }
    }

    fn print_vector(&mut self, frame: &Frame, op: Operation<'a>) -> Result<()> {
        let end = match op.attribute("punctuation") {
            Some(Attribute::Dialect(_, name)) => match name.as_str() {
                "no_punctuation" => "",
                "comma" => ", ",
                "open" => "( ",
                "close" => " )",
                _ => "\n",
            },
            _ => "\n",
        };
        let mut text = String::new();
        if let Some(Attribute::Text(literal)) = op.attribute("stringLiteral") {
            // Text alone ends no line.
            self.host.print(literal)?;
            return Ok(());
        } else if let [source] = &op.data().operands[..] {
            let ty = self.module.ty(*source);
            let integers = Integers::of(ty.element());
            let entries = self.entries(frame, op, *source)?;
            text = match ty {
                Type::Vector(_) => print::vector(&entries, &sizes_of(ty), integers),
                _ => print::number(entries[0], integers),
            };
        }
        text.push_str(end);
        self.host.print(&text)
    }

    /// The map from the coordinates of memory to those of a vector.
    fn permutation(op: Operation<'_>, n_memory: usize, n_vector: usize) -> AffineMap {
        match op.attribute("permutation_map") {
            Some(Attribute::Map(map)) => map.clone(),
            _ => {
                let mut map = AffineMap::identity(n_memory);
                map.results.drain(..n_memory.saturating_sub(n_vector));
                map
            }
        }
    }

    /// The places in memory of all entries of a vector, in order.
    fn vector_places(
        &self,
        frame: &Frame,
        op: Operation<'a>,
        sizes: &[u64],
    ) -> Result<Vec<Vec<i64>>> {
        let from = self.integers(frame, op, op.operands("indices"))?;
        let map = Self::permutation(op, from.len(), sizes.len());
        let mut places = Vec::new();
        let mut at = vec![0; sizes.len()];
        for _ in 0..crate::memory::count_of_vector(sizes)? {
            let mut place = from.clone();
            for (result, at) in map.results.iter().zip(&at) {
                // A constant result is a broadcast.
                if let Some(place) = result.dimension().and_then(|mode| place.get_mut(mode)) {
                    *place = place.saturating_add(*at);
                }
            }
            places.push(place);
            advance(&mut at, sizes);
        }
        Ok(places)
    }

    fn load_vector(&self, frame: &Frame, op: Operation<'a>) -> Result<Datum> {
        let places = self.vector_places(frame, op, &sizes_of(op.result_type("result")))?;
        let memref = self.memref(frame, op, op.operand("base"))?;
        let entry = |at: &Vec<i64>| {
            let entry = memref.get(at);
            entry.ok_or_else(|| self.outside_of_memref(op, &memref, at))
        };
        let entries: Result<Vec<Scalar>> = places.iter().map(entry).collect();
        Ok(Datum::Vector(Rc::new(entries?)))
    }

    fn store_vector(&self, frame: &Frame, op: Operation<'a>) -> Result<()> {
        let value = op.operand("valueToStore");
        let entries = self.entries(frame, op, value)?;
        let places = self.vector_places(frame, op, &sizes_of(self.module.ty(value)))?;
        let memref = self.memref(frame, op, op.operand("base"))?;
        for (at, value) in places.iter().zip(entries.iter()) {
            if !memref.set(at, *value) {
                return Err(self.outside_of_memref(op, &memref, at));
            }
        }
        Ok(())
    }

    /// Whether each lane of a transfer is moved. From release 16 on, masks have the modes of memory
    /// in order.
    fn lanes_moved(&self, frame: &Frame, op: Operation<'a>, sizes: &[u64]) -> Result<Vec<bool>> {
        let n = crate::memory::count_of_vector(sizes)?;
        let [mask] = op.operands("mask") else {
            return Ok(vec![true; n]);
        };
        let entries = self.entries(frame, op, *mask)?;
        let shape = sizes_of(self.module.ty(*mask));
        let mut modes: Vec<(usize, usize)> = match op.attribute("permutation_map") {
            Some(Attribute::Map(map)) if self.module.dialect().release() >= 16 => {
                let modes = map.results.iter().enumerate();
                modes
                    .filter_map(|(lane, result)| Some((result.dimension()?, lane)))
                    .collect()
            }
            _ => (0..sizes.len()).map(|lane| (lane, lane)).collect(),
        };
        modes.sort_unstable();
        let mut at = vec![0; sizes.len()];
        let mut moved = Vec::new();
        for _ in 0..n {
            let own = modes.iter().zip(&shape);
            let place = own.fold(0, |place, ((_, lane), size)| {
                place * size + at[*lane] as u64
            });
            let entry = entries.get(place as usize);
            moved.push(entry.is_some_and(|entry| !entry.is_zero()));
            advance(&mut at, sizes);
        }
        Ok(moved)
    }

    fn transfer_read(&mut self, frame: &Frame, op: Operation<'a>) -> Result<Datum> {
        let padding = self.number(frame, op, op.operand("padding"))?;
        let sizes = sizes_of(op.result_type("vector"));
        let places = self.vector_places(frame, op, &sizes)?;
        let moved = self.lanes_moved(frame, op, &sizes)?;
        let source = op.operand("source");
        let mut entries: Vec<Scalar> = match self.get(frame, source)? {
            Datum::MemRef(_) => {
                let memref = self.memref(frame, op, source)?;
                let entry = |at: &Vec<i64>| memref.get(at).unwrap_or(padding);
                places.iter().map(entry).collect()
            }
            _ => {
                let tensor = self.stored(frame, op, source)?;
                let entry = |at: &Vec<i64>| {
                    let at = at.iter().zip(tensor.extents()).map(|(at, extent)| {
                        let at = u64::try_from(*at).ok()?;
                        (at < *extent).then_some(at)
                    });
                    let at: Option<Vec<u64>> = at.collect();
                    at.map_or(padding, |at| tensor.get(&at))
                };
                places.iter().map(entry).collect()
            }
        };
        for (entry, _) in entries.iter_mut().zip(moved).filter(|(_, moved)| !moved) {
            *entry = padding;
        }
        Ok(Datum::Vector(Rc::new(entries)))
    }

    fn transfer_write(&mut self, frame: &Frame, op: Operation<'a>) -> Result<Option<Datum>> {
        let entries = self.entries(frame, op, op.operand("vector"))?;
        let sizes = sizes_of(op.operand_type("vector"));
        let places = self.vector_places(frame, op, &sizes)?;
        let moved = self.lanes_moved(frame, op, &sizes)?;
        let lanes = places.iter().zip(entries.iter()).zip(moved);
        let lanes = lanes.filter_map(|(lane, is_moved)| is_moved.then_some(lane));
        let source = op.operand("source");
        if let Datum::MemRef(_) = self.get(frame, source)? {
            let memref = self.memref(frame, op, source)?;
            for (at, value) in lanes {
                // Lanes out of bounds are not written.
                memref.set(at, *value);
            }
            return Ok(None);
        }
        let tensor = self.stored(frame, op, source)?;
        let tensor = self.row_major(op, tensor)?;
        let sizes = tensor.extents().to_vec();
        let memref = self.new_memref(tensor.vals().try_clone()?, sizes.clone());
        for (at, value) in lanes {
            memref.set(at, *value);
        }
        let entries = self.memref_entries(op, &memref)?;
        let made = TensorHandle::new(dense(sizes, entries)?);
        self.in_format(op, made, op.result_type("result")).map(Some)
    }

    fn broadcast(&mut self, frame: &Frame, op: Operation<'a>) -> Result<Datum> {
        let source = op.operand("source");
        let entries = self.entries(frame, op, source)?;
        let (from, to) = (
            sizes_of(self.module.ty(source)),
            sizes_of(op.result_type("vector")),
        );
        let tail_fits = from.len() <= to.len() && {
            let tail = &to[to.len() - from.len()..];
            tail.iter()
                .zip(&from)
                .all(|(to, from)| to == from || *from == 1)
        };
        if !tail_fits {
            return Err(self.not_run(op));
        }
        let mut at = vec![0; to.len()];
        let mut found = Vec::new();
        for _ in 0..crate::memory::count_of_vector(&to)? {
            let tail = &at[to.len() - from.len()..];
            let place = tail.iter().zip(&from).fold(0, |place, (at, size)| {
                // Modes of size 1 are stretched.
                place * size + if *size == 1 { 0 } else { *at as u64 }
            });
            found.push(entries[place as usize]);
            advance(&mut at, &to);
        }
        Ok(Datum::Vector(Rc::new(found)))
    }

    /// Two values combined by a kind of reduction, such as `add` or `minui`.
    fn combined(&self, op: Operation<'a>, kind: &str, a: Scalar, b: Scalar) -> Result<Scalar> {
        let (integers, floats) = match kind {
            "add" => ("addi", "addf"),
            "mul" => ("muli", "mulf"),
            "and" => ("andi", ""),
            "or" => ("ori", ""),
            "xor" => ("xori", ""),
            "max" => ("maxsi", "maxnumf"),
            "min" => ("minsi", "minnumf"),
            "maxf" => ("", "maxnumf"),
            "minf" => ("", "minnumf"),
            kind => (kind, kind),
        };
        let value = numbers::by_name(op, integers, floats, &[a, b]);
        let value = value.map_err(|fault| self.placed(op, fault))?;
        value.ok_or_else(|| self.not_run(op))
    }

    /// The kind of a reduction; sums if the text does not say.
    fn combining(op: Operation<'a>) -> &'a str {
        match op.attribute("kind") {
            Some(Attribute::Dialect(_, name)) => name.as_str(),
            Some(Attribute::Word(name)) => name,
            _ => "add",
        }
    }

    fn reduction(&mut self, frame: &Frame, op: Operation<'a>) -> Result<Datum> {
        let entries = self.entries(frame, op, op.operand("vector"))?;
        let kind = Self::combining(op);
        let mut values = entries.iter().copied();
        let first = match op.operands("acc") {
            [acc] => Some(self.number(frame, op, *acc)?),
            // Sums of floats begin with +0, which a sum of -0 alone shows.
            _ if kind == "add" && entries.len() > 1 => {
                entries.first().map(|it| it.element().zero())
            }
            _ => values.next(),
        };
        let first = first.ok_or_else(|| self.not_run(op))?;
        let found = values.try_fold(first, |found, value| self.combined(op, kind, found, value));
        found.map(Datum::Number)
    }

    fn contract(&mut self, frame: &Frame, op: Operation<'a>) -> Result<Datum> {
        let Some(Attribute::Array(maps)) = op.attribute("indexing_maps") else {
            return Err(self.not_run(op));
        };
        let maps = maps.iter().filter_map(|map| match map {
            Attribute::Map(map) => Some(map),
            _ => None,
        });
        let maps: Vec<&AffineMap> = maps.collect();
        let operands = [op.operand("lhs"), op.operand("rhs"), op.operand("acc")];
        let kind = Self::combining(op);
        let [left, right, out] = &maps[..] else {
            return Err(self.not_run(op));
        };
        let mut extents = vec![1u64; left.n_dimensions];
        for (map, value) in maps.iter().zip(operands) {
            for (result, size) in map.results.iter().zip(sizes_of(self.module.ty(value))) {
                if let Some(n) = result.dimension() {
                    extents[n] = size;
                }
            }
        }
        let place = |map: &AffineMap, at: &[i64]| {
            let modes = map.results.iter().filter_map(|result| result.dimension());
            modes.fold(0, |place, n| place * extents[n] as usize + at[n] as usize)
        };
        let a = self.entries(frame, op, operands[0])?;
        let b = self.entries(frame, op, operands[1])?;
        let mut found = (*self.entries(frame, op, operands[2])?).clone();
        let mut at = vec![0; extents.len()];
        for _ in 0..crate::memory::count_of_vector(&extents)? {
            let to = place(out, &at);
            let factors = (a.get(place(left, &at)), b.get(place(right, &at)));
            let ((Some(x), Some(y)), Some(before)) = (factors, found.get(to).copied()) else {
                return Err(self.not_run(op));
            };
            let wide = before.element();
            let (x, y) = (x.cast(wide), y.cast(wide));
            let (Some(x), Some(y)) = (x, y) else {
                return Err(self.not_run(op));
            };
            let product = self.combined(op, "mul", x, y)?;
            found[to] = self.combined(op, kind, before, product)?;
            advance(&mut at, &extents);
        }
        let is_number = !matches!(self.module.ty(operands[2]), Type::Vector(_));
        Ok(match is_number {
            true => Datum::Number(found[0]),
            false => Datum::Vector(Rc::new(found)),
        })
    }
}
