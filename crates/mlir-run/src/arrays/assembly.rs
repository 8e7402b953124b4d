//! `assemble` and `disassemble`: tensors of arrays, and arrays of tensors.
//!
//! The arrays may be longer than the tensor needs: positions say how much of the coordinates is
//! read. Arrays that do not make up a tensor, such as unsorted coordinates, are refused.

use sparsec_base::{IndexWidth, Result, Scalar, code};
use sparsec_format::{LevelKind, Role};
use sparsec_mlir::encoding::Level;
use sparsec_mlir::{Encoding, Operation, Type, Value};
use sparsec_tensor::{Array, Tensor};

use crate::datum::{Datum, TensorHandle, array_of, dense};
use crate::kernel::format_of;
use crate::machine::{Frame, Machine, set};
use crate::memory::count;

use super::{Batches, Rows};

/// An array of index numbers.
fn index_array(numbers: &[i64], width: Option<IndexWidth>) -> Option<Array> {
    fn as_type<T: TryFrom<i64>>(numbers: &[i64]) -> Option<Vec<T>> {
        numbers.iter().map(|it| T::try_from(*it).ok()).collect()
    }
    Some(match width {
        Some(IndexWidth::W8) => Array::from_index_vec::<u8>(as_type(numbers)?),
        Some(IndexWidth::W16) => Array::from_index_vec::<u16>(as_type(numbers)?),
        Some(IndexWidth::W32) => Array::from_index_vec::<i32>(as_type(numbers)?),
        _ => Array::from_index_vec::<i64>(numbers.to_vec()),
    })
}

/// Of each of `n` positions of a compressed level whether its parent is room. Equal shares of the
/// parents are room or not.
fn room_below(parents: &[bool], positions: &[i64], n: usize) -> Vec<bool> {
    let mut is_room = vec![false; n];
    let share = (positions.len().saturating_sub(1) / parents.len().max(1)).max(1);
    let parents = parents
        .iter()
        .flat_map(|room| std::iter::repeat_n(*room, share));
    for (segment, _) in positions.windows(2).zip(parents).filter(|(_, room)| *room) {
        // Positions that are out of bounds are refused with the tensor.
        let (from, to) = (segment[0].max(0) as usize, segment[1].max(0) as usize);
        if let Some(own) = is_room.get_mut(from..to) {
            own.fill(true);
        }
    }
    is_room
}

/// Of each of `n` positions whether it lies in no segment, given the begin and the end of each
/// segment.
fn room_of(positions: &[i64], n: usize) -> Vec<bool> {
    let mut is_room = vec![true; n];
    for segment in positions.chunks_exact(2) {
        // Positions that are out of bounds are refused with the tensor.
        let (from, to) = (segment[0].max(0) as usize, segment[1].max(0) as usize);
        if let Some(held) = is_room.get_mut(from..to) {
            held.fill(false);
        }
    }
    is_room
}

/// The values of one batch.
struct Values {
    n: usize,
    /// How many of them, the first ones, move behind the last one.
    lead: usize,
    /// Whether they are room for entries, in equal shares.
    is_room: Vec<bool>,
}

/// Moves the room in front of the first segment of loose positions behind the last one, where only
/// singletons are below: segments begin at 0. Gives its length.
fn room_to_the_end(encoding: &Encoding, arrays: &mut Arrays) -> usize {
    let is_last = |l: &usize| {
        let below = &encoding.levels[*l + 1..];
        encoding.levels[*l].kind == LevelKind::LooseCompressed
            && below.iter().all(|level| level.kind == LevelKind::Singleton)
    };
    let Some(l) = (0..encoding.n_levels()).find(is_last) else {
        return 0;
    };
    let first = arrays.positions[l].iter().copied().min().unwrap_or(0);
    let lead = first.clamp(0, arrays.coords[l].len() as i64) as usize;
    for at in &mut arrays.positions[l] {
        *at -= lead as i64;
    }
    for coords in &mut arrays.coords[l..] {
        coords.rotate_left(lead);
    }
    lead
}

/// The most batches: each is taken apart by itself.
const MOST_BATCHES: usize = 1 << 24;

/// The arrays of a tensor's levels in the order of `assemble`.
struct Arrays {
    positions: Vec<Vec<i64>>,
    coords: Vec<Vec<i64>>,
}

impl Arrays {
    fn of_no_batch(encoding: &Encoding) -> Self {
        let positions = |level: &Level| match level.kind {
            LevelKind::Compressed => vec![0],
            _ => Vec::new(),
        };
        Self {
            positions: encoding.levels.iter().map(positions).collect(),
            coords: vec![Vec::new(); encoding.n_levels()],
        }
    }

    /// Appends the arrays of the next batch, whose positions begin at 0.
    /// `None` if they do not, or if they are beyond 2^63.
    fn append(&mut self, encoding: &Encoding, next: Self) -> Option<()> {
        for (l, next) in next.positions.into_iter().enumerate() {
            let first = self.coords[l].len() as i64;
            let mut next = next.into_iter();
            // The last position of the batch before is the first of this one.
            if encoding.levels[l].kind == LevelKind::Compressed && next.next() != Some(0) {
                return None;
            }
            for at in next {
                self.positions[l].push(at.checked_add(first)?);
            }
        }
        for (coords, next) in self.coords.iter_mut().zip(next.coords) {
            coords.extend(next);
        }
        Some(())
    }
}

impl<'a> Machine<'a> {
    fn not_assembled(
        &self,
        op: Operation<'a>,
        message: impl Into<String>,
    ) -> sparsec_base::Diagnostic {
        self.fault(op, code::BAD_ASSEMBLY, message)
            .help("give positions and coordinates that the encoding describes")
    }

    fn array(&self, frame: &Frame, op: Operation<'a>, value: Value) -> Result<Array> {
        match self.get(frame, value)? {
            Datum::MemRef(_) => {
                let memref = self.memref(frame, op, value)?;
                self.memref_entries(op, &memref)
            }
            _ => self.stored(frame, op, value)?.vals().try_clone(),
        }
    }

    /// The sizes of an array that is given as a tensor or a memref.
    fn sizes_of_array(&self, frame: &Frame, op: Operation<'a>, value: Value) -> Result<Vec<u64>> {
        match self.get(frame, value)? {
            Datum::MemRef(_) => Ok(self.memref(frame, op, value)?.sizes),
            _ => Ok(self.stored(frame, op, value)?.extents().to_vec()),
        }
    }

    pub(super) fn assemble(&mut self, frame: &Frame, op: Operation<'a>) -> Result<Datum> {
        let ty = op.result_type("result");
        let Some(encoding) = ty.encoding() else {
            return Err(self.not_run(op));
        };
        let (levels, values): (&[Value], Value) = match op.name() {
            // Of release 13: all memrefs, the values last.
            "sparse_tensor.tensor" => match op.operands("memrefs") {
                [levels @ .., values] => (levels, *values),
                [] => return Err(self.not_run(op)),
            },
            _ => (op.operands("levels"), op.operand("values")),
        };
        let mut given = Vec::new();
        for value in levels {
            let array = self.array(frame, op, *value)?;
            let numbers = (0..array.len()).map(|n| array.get(n).to_integer());
            let numbers: Option<Vec<i64>> = numbers.map(|it| it.map(|it| it as i64)).collect();
            given.push(numbers.ok_or_else(|| self.not_run(op))?);
        }
        let extents = self.extents_of(op, ty, &[])?;
        let values_of = values;
        let values = self.array(frame, op, values)?;
        let shape: Vec<Option<u64>> = extents.iter().copied().map(Some).collect();
        let sizes = encoding.level_shape(&shape);
        let n_batch = encoding.n_batch_levels();
        let batches: Option<Vec<u64>> = sizes[..n_batch].iter().copied().collect();
        let batches = batches.ok_or_else(|| self.not_run(op))?;
        let n_batches = count(&batches)?;
        // Each array has a row for each batch.
        if n_batches > MOST_BATCHES {
            return Err(self
                .fault(op, code::RUN_LIMIT, format!("{n_batches} batches"))
                .help("give the `batch` levels smaller extents, or none"));
        }
        for value in levels.iter().chain([&values_of]) {
            let found = self.sizes_of_array(frame, op, *value)?;
            if found.get(..n_batch) != Some(&batches[..]) {
                let message = format!("an array of {found:?} for batches of {batches:?}");
                return Err(self.not_assembled(op, message));
            }
        }
        let mut arrays = Arrays::of_no_batch(encoding);
        let mut places = Vec::new();
        for batch in 0..n_batches {
            let row = |numbers: &Vec<i64>| {
                let width = numbers.len() / n_batches;
                numbers[batch * width..][..width].to_vec()
            };
            let rows = given.iter().map(row).collect();
            let (own, Values { n, lead, is_room }) =
                self.taken_apart(op, encoding, &sizes, rows)?;
            let width = values.len() / n_batches;
            if width < n {
                let message = format!("{width} values for {n} entries");
                return Err(self.not_assembled(op, message));
            }
            match n_batch {
                0 => arrays = own,
                _ => arrays
                    .append(encoding, own)
                    .ok_or_else(|| self.not_assembled(op, "positions that do not begin at 0"))?,
            }
            let share = n / is_room.len().max(1);
            let is_room = is_room
                .into_iter()
                .flat_map(|room| std::iter::repeat_n(room, share));
            let place = |n_th: usize| batch * width + (n_th + lead) % n;
            let held = (0..n).zip(is_room);
            places.extend(held.map(|(n_th, is_room)| (!is_room).then(|| place(n_th))));
        }
        let mut vals = Array::zeroed(values.element(), places.len())?;
        for (n, place) in places.into_iter().enumerate() {
            if let Some(place) = place {
                vals.set(n, values.get(place));
            }
        }
        let format = format_of(ty)?;
        let mut made = Vec::new();
        let mut vals = Some(vals);
        for spec in format.arrays() {
            let width = format.declared_width(spec.role);
            let numbers: Vec<i64> = match spec.role {
                Role::Vals => {
                    made.extend(vals.take());
                    continue;
                }
                Role::Crd(l) => arrays.coords[l].clone(),
                Role::Pos(l) if encoding.levels[l].kind == LevelKind::LooseCompressed => {
                    // Behind the first positions stands the number of all coordinates.
                    let first = arrays.positions[l].iter().step_by(2).copied();
                    first.chain([arrays.coords[l].len() as i64]).collect()
                }
                Role::End(l) => arrays.positions[l]
                    .iter()
                    .skip(1)
                    .step_by(2)
                    .copied()
                    .collect(),
                Role::Pos(l) => arrays.positions[l].clone(),
                _ => return Err(self.not_run(op)),
            };
            let array = index_array(&numbers, width);
            made.push(array.ok_or_else(|| {
                self.not_assembled(op, "an index does not fit in the width of the encoding")
            })?);
        }
        let element = values.element();
        let tensor = Tensor::new(format, extents, element, element.zero(), made)?;
        Ok(Datum::Tensor(TensorHandle::new(tensor)))
    }

    /// The arrays of the levels of one batch, without the numbers behind their ends, and its values.
    fn taken_apart(
        &self,
        op: Operation<'a>,
        encoding: &Encoding,
        sizes: &[Option<u64>],
        given: Rows,
    ) -> Result<(Arrays, Values)> {
        let n_levels = encoding.n_levels();
        let mut arrays = Arrays {
            positions: vec![Vec::new(); n_levels],
            coords: vec![Vec::new(); n_levels],
        };
        let mut given = given.into_iter();
        let mut next = |what: &str, n: usize| {
            let mut found = given.next().unwrap_or_default();
            if found.len() < n {
                let message = format!("{} {what}, where {n} are needed", found.len());
                return Err(self.not_assembled(op, message));
            }
            found.truncate(n);
            Ok(found)
        };
        let tuples = encoding.tuples_start();
        let product = |a: usize, b: usize| {
            let product = a.checked_mul(b).filter(|n| *n < 1 << 40);
            product.ok_or_else(|| self.not_assembled(op, "too many positions"))
        };
        let natural = |at: Option<&i64>| {
            let at = at.and_then(|at| usize::try_from(*at).ok());
            at.ok_or_else(|| self.not_assembled(op, "a position is negative"))
        };
        let mut n = 1usize;
        let mut is_room = vec![false];
        for (l, level) in encoding.levels.iter().enumerate() {
            let is_tuple = tuples.is_some_and(|from| l >= from);
            match level.kind {
                LevelKind::Batch => continue,
                LevelKind::Dense => {
                    let size = sizes[l].ok_or_else(|| self.not_run(op))?;
                    n = product(n, size as usize)?;
                    continue;
                }
                LevelKind::Compressed => {
                    arrays.positions[l] = next("positions", n + 1)?;
                    n = natural(arrays.positions[l].last())?;
                }
                LevelKind::LooseCompressed => {
                    arrays.positions[l] = next("positions", product(2, n)?)?;
                    let ends = arrays.positions[l].iter().skip(1).step_by(2);
                    n = natural(ends.max())?;
                }
                LevelKind::Singleton => {}
                LevelKind::Structured { n: of, m } => {
                    let size = sizes[l].ok_or_else(|| self.not_run(op))?;
                    n = product(n, (size as usize).div_ceil(m as usize))?;
                    n = product(n, of as usize)?;
                }
                _ => return Err(self.not_run(op)),
            }
            match tuples {
                Some(from) if l == from => {
                    let width = n_levels - from;
                    let all = next("coordinates", product(n, width)?)?;
                    for part in 0..width {
                        let column = all.iter().skip(part).step_by(width);
                        arrays.coords[from + part] = column.copied().collect();
                    }
                }
                _ if is_tuple => {}
                _ => arrays.coords[l] = next("coordinates", n)?,
            }
            match level.kind {
                LevelKind::Singleton => {}
                LevelKind::LooseCompressed => is_room = room_of(&arrays.positions[l], n),
                LevelKind::Compressed => is_room = room_below(&is_room, &arrays.positions[l], n),
                _ => {}
            }
            // Arrays may hold anything in the room between segments.
            for coords in &mut arrays.coords[l..] {
                for (at, _) in coords.iter_mut().zip(&is_room).filter(|(_, room)| **room) {
                    *at = 0;
                }
            }
        }
        let lead = room_to_the_end(encoding, &mut arrays);
        let turned = lead.min(is_room.len());
        is_room.rotate_left(turned);
        Ok((arrays, Values { n, lead, is_room }))
    }

    pub(super) fn disassemble(&mut self, frame: &mut Frame, op: Operation<'a>) -> Result<bool> {
        let (tensor, encoding) = self.with_encoding(frame, op)?;
        let tuples = encoding.tuples_start();
        let batches = Batches::of(&tensor, encoding);
        let mut lists: Vec<Rows> = Vec::new();
        for (l, level) in encoding.levels.iter().enumerate() {
            lists.extend(batches.positions(l));
            match tuples {
                Some(from) if l == from => lists.push(batches.tuples(from)),
                Some(from) if l > from => {}
                _ if level.has_coordinates() => lists.push(batches.coords(l)),
                _ => {}
            }
        }
        let outs = op.operands("out_levels");
        if outs.len() != lists.len() {
            return Err(self.not_run(op));
        }
        let rets = op.results("ret_levels").iter().zip(op.results("lvl_lens"));
        for ((list, out), (ret, len)) in lists.iter().zip(outs).zip(rets) {
            let element = self.element(op, self.module.ty(*out))?;
            let row = |row: &Vec<i64>| {
                let numbers = row.iter().map(|number| Scalar::from_i64(element, *number));
                numbers.collect()
            };
            let datum = self.written(frame, op, *out, list.iter().map(row))?;
            set(frame, *ret, datum);
            let longest = list.iter().map(Vec::len).max();
            self.set_length(frame, op, *len, longest.unwrap_or(0))?;
        }
        let vals = tensor.vals();
        let places = batches.values();
        let longest = places.iter().map(ExactSizeIterator::len).max();
        let rows = places
            .into_iter()
            .map(|row| row.map(|n| vals.get(n)).collect());
        let datum = self.written(frame, op, op.operand("out_values"), rows)?;
        set(frame, op.result("ret_values"), datum);
        self.set_length(frame, op, op.result("val_len"), longest.unwrap_or(0))?;
        Ok(true)
    }

    fn set_length(
        &self,
        frame: &mut Frame,
        op: Operation<'a>,
        value: Value,
        len: usize,
    ) -> Result<()> {
        let ty = self.module.ty(value);
        let element = self.element(op, ty)?;
        let number = Scalar::from_i64(element, len as i64);
        let datum = match ty {
            Type::Tensor(_) => {
                let tensor = dense(Vec::new(), array_of(element, &[number])?)?;
                Datum::Tensor(TensorHandle::new(tensor))
            }
            _ => Datum::Number(number),
        };
        set(frame, value, datum);
        Ok(())
    }

    /// An output tensor whose rows, one for each batch, begin with these numbers.
    fn written(
        &mut self,
        frame: &Frame,
        op: Operation<'a>,
        out: Value,
        rows: impl ExactSizeIterator<Item = Vec<Scalar>>,
    ) -> Result<Datum> {
        let tensor = self.stored(frame, op, out)?;
        let encoding = op.operand_type("tensor").encoding();
        let n_batch = encoding.map_or(0, |encoding| encoding.n_batch_levels());
        let batches = tensor.extents()[..n_batch.min(tensor.extents().len())].iter();
        if batches.product::<u64>() != rows.len() as u64 {
            let message = format!(
                "{} batches for an output of {:?}",
                rows.len(),
                tensor.extents()
            );
            return Err(self
                .outside(op, message)
                .help("give the output the batches of the tensor"));
        }
        let mut array = tensor.vals().try_clone()?;
        let width = array.len().checked_div(rows.len()).unwrap_or(0);
        for (batch, row) in rows.enumerate() {
            if width < row.len() {
                let message = format!("{} numbers for an output of {width}", row.len());
                return Err(self.outside(op, message));
            }
            for (n, number) in row.into_iter().enumerate() {
                array.set(batch * width + n, number);
            }
        }
        Ok(Datum::Tensor(TensorHandle::new(dense(
            tensor.extents().to_vec(),
            array,
        )?)))
    }
}
