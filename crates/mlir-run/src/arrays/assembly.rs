//! `assemble` and `disassemble`: tensors of arrays, and arrays of tensors.
//!
//! The arrays may be longer than the tensor needs: positions say how much of the coordinates is
//! read. Arrays that do not make up a tensor, such as unsorted coordinates, are refused.

use sparsec_base::{IndexWidth, Result, Scalar, code};
use sparsec_format::{LevelKind, Role};
use sparsec_mlir::{Encoding, Operation, Value};
use sparsec_tensor::{Array, Tensor};

use crate::datum::{Datum, TensorHandle, dense};
use crate::kernel::format_of;
use crate::machine::{Frame, Machine, set};

use super::{coords, positions, tuple_coords, tuples_from};

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

/// The arrays of a tensor's levels in the order of `assemble`.
struct Arrays {
    positions: Vec<Vec<i64>>,
    coords: Vec<Vec<i64>>,
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
        let values = self.array(frame, op, values)?;
        let (arrays, n) = self.taken_apart(op, encoding, &extents, given)?;
        if values.len() < n {
            let message = format!("{} values for {n} entries", values.len());
            return Err(self.not_assembled(op, message));
        }
        let mut vals = Array::zeroed(values.element(), n)?;
        for n in 0..n {
            vals.set(n, values.get(n));
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
                    arrays.positions[l].iter().step_by(2).copied().collect()
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

    /// The arrays of each level, without what lies behind their ends, and the number of values.
    fn taken_apart(
        &self,
        op: Operation<'a>,
        encoding: &Encoding,
        extents: &[u64],
        given: Vec<Vec<i64>>,
    ) -> Result<(Arrays, usize)> {
        let shape: Vec<Option<u64>> = extents.iter().copied().map(Some).collect();
        let sizes = encoding.level_shape(&shape);
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
        let tuples = tuples_from(encoding);
        let natural = |at: Option<&i64>| {
            let at = at.and_then(|at| usize::try_from(*at).ok());
            at.ok_or_else(|| self.not_assembled(op, "a position is negative"))
        };
        let mut n = 1usize;
        for (l, level) in encoding.levels.iter().enumerate() {
            let is_tuple = tuples.is_some_and(|from| l >= from);
            match level.kind {
                LevelKind::Dense | LevelKind::Batch => {
                    let size = sizes[l].ok_or_else(|| self.not_run(op))?;
                    let product = n.checked_mul(size as usize);
                    n = product.ok_or_else(|| self.not_assembled(op, "too many positions"))?;
                    continue;
                }
                LevelKind::Compressed => {
                    arrays.positions[l] = next("positions", n + 1)?;
                    n = natural(arrays.positions[l].last())?;
                }
                LevelKind::LooseCompressed => {
                    arrays.positions[l] = next("positions", 2 * n)?;
                    let ends = arrays.positions[l].iter().skip(1).step_by(2);
                    n = natural(ends.max())?;
                }
                LevelKind::Singleton => {}
                LevelKind::Structured { n: of, m } => {
                    let size = sizes[l].ok_or_else(|| self.not_run(op))?;
                    n = n * (size as usize).div_ceil(m as usize) * of as usize;
                }
                _ => return Err(self.not_run(op)),
            }
            match tuples {
                Some(from) if l == from => {
                    let width = n_levels - from;
                    let all = next("coordinates", n * width)?;
                    for part in 0..width {
                        let column = all.iter().skip(part).step_by(width);
                        arrays.coords[from + part] = column.copied().collect();
                    }
                }
                _ if is_tuple => {}
                _ => arrays.coords[l] = next("coordinates", n)?,
            }
        }
        Ok((arrays, n))
    }

    pub(super) fn disassemble(&mut self, frame: &mut Frame, op: Operation<'a>) -> Result<bool> {
        let (tensor, encoding) = self.with_encoding(frame, op)?;
        let tuples = tuples_from(encoding);
        let mut lists = Vec::new();
        for (l, level) in encoding.levels.iter().enumerate() {
            lists.extend(positions(&tensor, encoding, l));
            match tuples {
                Some(from) if l == from => lists.push(tuple_coords(&tensor, encoding, from)),
                Some(from) if l > from => {}
                _ if level.has_coordinates() => lists.push(coords(&tensor, l)),
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
            let numbers = list.iter().map(|number| Scalar::from_i64(element, *number));
            let numbers: Vec<Scalar> = numbers.collect();
            let datum = self.written(frame, op, *out, &numbers)?;
            set(frame, *ret, datum);
            self.set_length(frame, op, *len, list.len())?;
        }
        let vals = tensor.vals();
        let values: Vec<Scalar> = (0..vals.len()).map(|n| vals.get(n)).collect();
        let datum = self.written(frame, op, op.operand("out_values"), &values)?;
        set(frame, op.result("ret_values"), datum);
        self.set_length(frame, op, op.result("val_len"), values.len())?;
        Ok(true)
    }

    fn set_length(
        &self,
        frame: &mut Frame,
        op: Operation<'a>,
        value: Value,
        len: usize,
    ) -> Result<()> {
        let element = self.element(op, self.module.ty(value))?;
        set(
            frame,
            value,
            Datum::Number(Scalar::from_i64(element, len as i64)),
        );
        Ok(())
    }

    /// An output tensor that begins with these numbers.
    fn written(
        &mut self,
        frame: &Frame,
        op: Operation<'a>,
        out: Value,
        numbers: &[Scalar],
    ) -> Result<Datum> {
        let tensor = self.stored(frame, op, out)?;
        let mut array = tensor.vals().try_clone()?;
        if array.len() < numbers.len() {
            let message = format!("{} numbers for an output of {}", numbers.len(), array.len());
            return Err(self.outside(op, message));
        }
        for (n, number) in numbers.iter().enumerate() {
            array.set(n, *number);
        }
        Ok(Datum::Tensor(TensorHandle::new(dense(
            tensor.extents().to_vec(),
            array,
        )?)))
    }
}
