//! Insertion: entries added one by one, or row by row through a workspace.
//!
//! ```text
//! %0 = tensor.empty() : tensor<4x4xf64, #CSR>
//! %1 = tensor.insert %a into %0[%i, %j]             in the order of levels
//! %2 = sparse_tensor.load %1 hasInserts
//! ```
//!
//! `tensor.insert` has the coordinates of modes, the operations of `sparse_tensor` those of levels.
//! An entry that does not follow the one before is refused: the reference stores it at a wrong place.

use std::cmp::Ordering;
use std::rc::Rc;

use sparsec_base::{Result, Scalar, code};
use sparsec_format::LevelKind;
use sparsec_mlir::{Dialect, Encoding, Operation, Value};
use sparsec_tensor::{Array, Tensor};

use crate::arrays;
use crate::datum::{Datum, Growing, State, TensorHandle};
use crate::machine::{Frame, Machine, set};
use crate::memory::MemRef;
use crate::tensors::index;

impl<'a> Machine<'a> {
    pub(crate) fn insertion(&mut self, frame: &mut Frame, op: Operation<'a>) -> Result<bool> {
        match op.name() {
            "sparse_tensor.load" => {
                let datum = self.taken(frame, op, op.operand("tensor"))?;
                let handle = self.as_tensor(op, datum)?;
                let tensor = handle.tensor()?;
                *handle.0.state.borrow_mut() = State::Stored(tensor);
                set(frame, op.result("result"), Datum::Tensor(handle));
            }
            "sparse_tensor.lex_insert" => {
                let handle = self.tensor_handle(frame, op, op.operand("tensor"))?;
                let indices = self.memref(frame, op, op.operand("indices"))?;
                let levels = self.numbers_of(op, &indices)?;
                let n_levels = self.encoding(op, op.operand("tensor"))?.n_levels();
                if levels.len() < n_levels {
                    let message = format!("{} coordinates for {n_levels} levels", levels.len());
                    return Err(self
                        .outside(op, message)
                        .help("give the buffer a coordinate for each level"));
                }
                let value = self.number(frame, op, op.operand("value"))?;
                self.insert_in_place(op, &handle, op.operand("tensor"), &levels, value)?;
            }
            "sparse_tensor.insert" => {
                let value = self.number(frame, op, op.operand("value"))?;
                let at = self.integers(frame, op, op.operands("indices"))?;
                // Release 16 inserts into blocks at coordinates of modes.
                let encoding = self.encoding(op, op.operand("tensor"))?;
                let levels = match at.len() == encoding.n_levels() {
                    true => at,
                    false => arrays::to_levels(encoding, &at).ok_or_else(|| self.not_run(op))?,
                };
                let datum = self.taken(frame, op, op.operand("tensor"))?;
                let handle = own(self.as_tensor(op, datum)?)?;
                self.insert_in_place(op, &handle, op.operand("tensor"), &levels, value)?;
                set(frame, op.result("result"), Datum::Tensor(handle));
            }
            "sparse_tensor.expand" => self.expand(frame, op)?,
            "sparse_tensor.compress" => self.compress(frame, op)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `tensor.insert` into a sparse tensor.
    pub(crate) fn insert_entry(
        &mut self,
        op: Operation<'a>,
        handle: TensorHandle,
        at: &[i64],
        value: Scalar,
    ) -> Result<Datum> {
        let coords = self.checked(op, at, &handle.extents())?;
        let encoding = self.encoding(op, op.operand("dest"))?;
        let levels = is_ordered(encoding)
            .then(|| arrays::to_levels(encoding, at).ok_or_else(|| self.not_run(op)));
        let levels = levels.transpose()?;
        let handle = own(handle)?;
        let entry = Entry {
            coords,
            levels,
            value,
        };
        self.insert_at(op, &handle, encoding, entry)?;
        Ok(Datum::Tensor(handle))
    }

    fn encoding(&self, op: Operation<'a>, value: Value) -> Result<&'a Encoding> {
        match self.module.ty(value).encoding() {
            Some(encoding) => Ok(encoding),
            None => Err(self.not_run(op)),
        }
    }

    fn insert_in_place(
        &mut self,
        op: Operation<'a>,
        handle: &TensorHandle,
        tensor: Value,
        levels: &[i64],
        value: Scalar,
    ) -> Result<()> {
        let encoding = self.encoding(op, tensor)?;
        let modes = arrays::to_modes(encoding, levels).ok_or_else(|| self.not_run(op))?;
        let entry = Entry {
            coords: self.checked(op, &modes, &handle.extents())?,
            levels: is_ordered(encoding).then(|| levels.to_vec()),
            value,
        };
        self.insert_at(op, handle, encoding, entry)
    }

    fn insert_at(
        &mut self,
        op: Operation<'a>,
        handle: &TensorHandle,
        encoding: &Encoding,
        entry: Entry,
    ) -> Result<()> {
        handle.take_stores()?;
        handle.end_views(op.data().span);
        let has_sparse = match &*handle.0.state.borrow() {
            State::Growing(growing) => growing.format.has_sparse(),
            State::Stored(stored) => stored.format().has_sparse(),
            State::Splat { .. } | State::Listed(_) => false,
        };
        if let (Some(levels), false) = (&entry.levels, has_sparse) {
            return replace(handle, levels, entry.value);
        }
        let mut state = handle.0.state.borrow_mut();
        if let State::Stored(stored) = &*state {
            *state = State::Growing(Rc::new(self.regrown(op, stored, encoding)?));
        }
        let State::Growing(growing) = &mut *state else {
            return Err(self.not_run(op));
        };
        let growing = Rc::make_mut(growing);
        let Some(levels) = entry.levels else {
            if !growing.places.insert(entry.coords.clone()) {
                let message = format!("a second entry at coordinates {:?}", entry.coords);
                let fault = self.fault(op, code::INSERTION_ORDER, message);
                return Err(fault.help("insert each entry once"));
            }
            growing.coords.extend(entry.coords);
            growing.values.push(entry.value);
            return Ok(());
        };
        let order = growing.last.as_slice().cmp(&levels[..]);
        let is_unique = encoding.levels.last().is_none_or(|level| !level.nonunique)
            || growing.format.is_unique();
        let follows = growing.last.is_empty()
            || order == Ordering::Less
            || (order == Ordering::Equal && !is_unique);
        if !follows {
            let message = format!(
                "an entry at levels {levels:?} behind one at levels {:?}",
                growing.last
            );
            let fault = self.fault(op, code::INSERTION_ORDER, message);
            return Err(fault.help("insert entries in ascending order of their levels, each once"));
        }
        growing.last = levels;
        growing.coords.extend(entry.coords);
        growing.values.push(entry.value);
        Ok(())
    }

    /// The entries of a finished tensor, to which more are added.
    fn regrown(&self, op: Operation<'a>, stored: &Tensor, encoding: &Encoding) -> Result<Growing> {
        let mut growing = Growing::new(stored.format().clone(), stored.extents(), stored.element());
        let mut last = Some(Vec::new());
        // Entries of dense levels below others fill up blocks, and count as not inserted.
        let kinds = stored.format().levels().last().map(|level| level.kind);
        let is_filled = kinds == Some(LevelKind::Dense);
        stored.for_each_stored(|at, value| {
            if is_filled && value.is_zero() {
                return;
            }
            if is_ordered(encoding) {
                let modes: Vec<i64> = at.iter().map(|at| *at as i64).collect();
                let levels = arrays::to_levels(encoding, &modes);
                last = levels.and_then(|levels| Some(last.take()?.max(levels)));
            } else {
                growing.places.insert(at.to_vec());
            }
            growing.coords.extend(at);
            growing.values.push(value);
        });
        growing.last = last.ok_or_else(|| self.not_run(op))?;
        Ok(growing)
    }

    fn numbers_of(&self, op: Operation<'a>, memref: &MemRef) -> Result<Vec<i64>> {
        let entries = self.memref_entries(op, memref)?;
        let numbers = (0..entries.len()).map(|n| entries.get(n).to_integer());
        let numbers: Option<Vec<i64>> = numbers.map(|it| it.map(|it| it as i64)).collect();
        numbers.ok_or_else(|| self.not_run(op))
    }

    /// The workspace of the last level.
    fn expand(&mut self, frame: &mut Frame, op: Operation<'a>) -> Result<()> {
        let handle = self.tensor_handle(frame, op, op.operand("tensor"))?;
        let encoding = self.encoding(op, op.operand("tensor"))?;
        let extents: Vec<Option<u64>> = handle.extents().into_iter().map(Some).collect();
        let size = encoding.level_shape(&extents).last().copied().flatten();
        let size = size.ok_or_else(|| self.not_run(op))?;
        let n = crate::memory::count(&[size])?;
        let element = self.element(op, op.operand_type("tensor"))?;
        let columns = [
            (op.result("values"), element),
            (op.result("filled"), sparsec_base::ElementType::Bool),
            (op.result("added"), sparsec_base::ElementType::I64),
        ];
        for (result, element) in columns {
            let memref = self.new_memref(Array::zeroed(element, n)?, vec![size]);
            set(frame, result, Datum::MemRef(memref));
        }
        set(frame, op.result("count"), index(0));
        Ok(())
    }

    /// Inserts the entries of a workspace, and empties it.
    fn compress(&mut self, frame: &mut Frame, op: Operation<'a>) -> Result<()> {
        let memref = |this: &Self, name: &str| this.memref(frame, op, op.operand(name));
        let (values, filled) = (memref(self, "values")?, memref(self, "filled")?);
        let added = memref(self, "added")?;
        let count = self.integer(frame, op, op.operand("count"))?;
        let is_early = op.data().results.is_empty();
        let parents = match is_early {
            true => {
                let indices = memref(self, "indices")?;
                let mut levels = self.numbers_of(op, &indices)?;
                levels.pop();
                levels
            }
            false => self.integers(frame, op, op.operands("lvlCoords"))?,
        };
        let tensor = op.operand("tensor");
        let handle = match is_early {
            true => self.tensor_handle(frame, op, tensor)?,
            false => {
                let datum = self.taken(frame, op, tensor)?;
                own(self.as_tensor(op, datum)?)?
            }
        };
        let mut coords = Vec::new();
        for n in 0..count {
            let coord = added.get(&[n]).and_then(Scalar::to_integer);
            let coord =
                coord.ok_or_else(|| self.outside(op, format!("{count} added coordinates")))?;
            coords.push(coord as i64);
        }
        coords.sort_unstable();
        for coord in coords {
            let value = values.get(&[coord]);
            let value = value.ok_or_else(|| self.outside(op, format!("coordinate {coord}")))?;
            let mut levels = parents.clone();
            levels.push(coord);
            self.insert_in_place(op, &handle, tensor, &levels, value)?;
            values.set(&[coord], value.element().zero());
            filled.set(&[coord], Scalar::Bool(false));
        }
        if let Some(result) = op.data().results.first() {
            set(frame, *result, Datum::Tensor(handle));
        }
        Ok(())
    }
}

/// An entry on its way into a tensor.
struct Entry {
    coords: Vec<u64>,
    /// Its coordinates by levels, by which entries ascend; `None` if they may come in any order.
    levels: Option<Vec<i64>>,
    value: Scalar,
}

/// Whether entries are inserted in the order of levels, as releases ask. Formats that no release has
/// take them in any order.
fn is_ordered(encoding: &Encoding) -> bool {
    encoding.refusal(Dialect::Release(Dialect::USUAL)).is_none()
}

/// A tensor that no other value sees.
fn own(handle: TensorHandle) -> Result<TensorHandle> {
    match Rc::strong_count(&handle.0) {
        1 => Ok(handle),
        _ => handle.state().map(TensorHandle::of_state),
    }
}

/// Stores an entry of a tensor that has only dense levels.
fn replace(handle: &TensorHandle, levels: &[i64], value: Scalar) -> Result<()> {
    let tensor = handle.tensor()?;
    let sizes = arrays::level_sizes(&tensor);
    let extents = tensor.extents().to_vec();
    let levels = levels.iter().zip(&sizes);
    let place = levels.fold(0, |place, (at, size)| place * size + *at as u64);
    // The tensor alone has the arrays while one changes.
    *handle.0.state.borrow_mut() = State::Splat { value, extents };
    let tensor = Rc::try_unwrap(tensor).or_else(|shared| shared.try_clone())?;
    let (element, fill) = (tensor.element(), tensor.fill());
    let (format, extents, _, mut arrays) = tensor.into_parts();
    if let Some(values) = arrays.last_mut() {
        values.set(place as usize, value);
    }
    let changed = Tensor::new(format, extents, element, fill, arrays)?;
    *handle.0.state.borrow_mut() = State::Stored(Rc::new(changed));
    Ok(())
}
