//! Operations of `sparse_tensor` on whole tensors.
//!
//! | operations                                                 | are in    |
//! |------------------------------------------------------------|-----------|
//! | files, conversions, printing, concatenation, sizes         | here      |
//! | sorting of buffers                                         | `sorting` |
//! | insertion entry by entry, `expand` and `compress`, `load`  | `insert`  |
//! | arrays of levels, assembly                                 | `arrays`  |
//! | `foreach`, iteration spaces                                | `iterate` |

mod sorting;

use std::collections::BTreeMap;
use std::rc::Rc;

use sparsec_base::{ElementType, Result, Scalar, code};
use sparsec_format::{Format, LevelKind};
use sparsec_mlir::module::Origin;
use sparsec_mlir::{Attribute, Operation, Type, Value};
use sparsec_tensor::{Entries, Tensor};

use crate::arrays;
use crate::constants::constant_entry;
use crate::datum::{Datum, Source, State, TensorHandle, array_of, pack, repacked};
use crate::kernel::format_of;
use crate::machine::{Frame, Machine, set};
use crate::print::{self, Integers};
use crate::tensors::index;

/// `( 1, 2, 3 )`
fn list(numbers: Vec<String>) -> String {
    format!("( {} )", numbers.join(", "))
}

/// Rows in the extents of `batch` levels, as `( ( 1, 2 )( 3, 0 ) )`. Short rows end in zeros.
fn nested(sizes: &[u64], rows: Vec<Vec<String>>, zero: &str) -> String {
    let longest = rows.iter().map(Vec::len).max().unwrap_or(0);
    let whole = rows.into_iter().map(|mut row| {
        row.resize(longest, zero.to_owned());
        list(row)
    });
    let mut parts: Vec<String> = whole.collect();
    if parts.is_empty() {
        return list(Vec::new());
    }
    for size in sizes.iter().rev() {
        let groups = parts.chunks((*size).max(1) as usize);
        parts = groups
            .map(|group| format!("( {} )", group.concat()))
            .collect();
    }
    parts.concat()
}

impl<'a> Machine<'a> {
    /// Whether an operation of `sparse_tensor` was run.
    pub(crate) fn sparse_operation(
        &mut self,
        frame: &mut Frame,
        op: Operation<'a>,
    ) -> Result<bool> {
        let word = op.name().strip_prefix("sparse_tensor.").unwrap_or_default();
        let datum = match word {
            "new" => self.new_tensor(frame, op)?,
            "init" => self.empty(frame, op, op.operands("sizes"))?,
            "convert" => {
                let source = op.operand("source");
                if op.operand_type("source") == op.result_type("dest") {
                    let handle = self.tensor_handle(frame, op, source)?;
                    set(frame, op.result("dest"), Datum::Tensor(handle));
                    return Ok(true);
                }
                let (handle, is_sparse) = match self.listed_constant(source)? {
                    Some(entries) => (TensorHandle::new(entries), true),
                    None => {
                        let is_sparse = op.operand_type("source").encoding().is_some();
                        (self.tensor_handle(frame, op, source)?, is_sparse)
                    }
                };
                Datum::Tensor(self.converted(op, &handle, is_sparse, op.result_type("dest"))?)
            }
            "reorder_coo" => {
                let handle = self.tensor_handle(frame, op, op.operand("input_coo"))?;
                Datum::Tensor(self.converted(op, &handle, true, op.result_type("result_coo"))?)
            }
            "reinterpret_map" => self.reinterpreted(frame, op)?,
            "release" => {
                self.release(frame, op, op.operand("tensor"))?;
                return Ok(true);
            }
            "out" => {
                self.out(frame, op)?;
                return Ok(true);
            }
            "print" => {
                self.print_tensor(frame, op)?;
                return Ok(true);
            }
            "concatenate" => self.concatenated(frame, op)?,
            "number_of_entries" => {
                let tensor = self.stored(frame, op, op.operand("tensor"))?;
                let Some(encoding) = op.operand_type("tensor").encoding() else {
                    return Err(self.not_run(op));
                };
                index(arrays::Batches::of(&tensor, encoding).n_counted() as i64)
            }
            "lvl" => {
                let tensor = self.stored(frame, op, op.operand("source"))?;
                let sizes = arrays::level_sizes(&tensor);
                self.extent(frame, op, &sizes)?
            }
            "slice.offset" | "slice.stride" => self.slice_part(frame, op)?,
            "crd_translate" => {
                let data = self.translated(frame, op)?;
                self.set_results(frame, op, data)?;
                return Ok(true);
            }
            "has_runtime_library" => Datum::Number(Scalar::Bool(false)),
            "storage_specifier.init" => match op.operands("source") {
                [source] => self.get(frame, *source)?,
                _ => Datum::Specifier(Rc::new(BTreeMap::new())),
            },
            "storage_specifier.get" | "storage_specifier.set" => self.specifier(frame, op)?,
            "sort" | "sort_coo" => {
                self.sort(frame, op)?;
                return Ok(true);
            }
            "lex_insert" | "insert" | "load" | "expand" | "compress" => {
                return self.insertion(frame, op);
            }
            "foreach" | "extract_iteration_space" | "extract_value" | "iterate" | "coiterate" => {
                return self.iteration(frame, op);
            }
            _ => return self.array_operation(frame, op),
        };
        set(frame, op.data().results[0], datum);
        Ok(true)
    }

    fn file(&self, frame: &Frame, op: Operation<'a>, value: Value) -> Result<Option<Rc<str>>> {
        match self.get(frame, value)? {
            Datum::Pointer(path) => Ok(path),
            // Releases had other types for the names of files.
            Datum::Number(number) if number.is_zero() => Ok(None),
            _ => Err(self.not_run(op)),
        }
    }

    fn new_tensor(&mut self, frame: &Frame, op: Operation<'a>) -> Result<Datum> {
        let ty = op.result_type("result");
        let Some(path) = self.file(frame, op, op.operand("source"))? else {
            return Err(self
                .fault(op, code::NO_TENSOR_FILE, "a tensor is read from no file")
                .help("pass the result of `@getTensorFilename`"));
        };
        let element = self.element(op, ty)?;
        // Releases up to 16 expand symmetric matrices; later ones if they are asked to.
        let mirrored = op.attribute("expandSymmetry").is_some()
            || self.module.dialect().reads_both_triangles();
        let entries = self.host.read(&path, Some(element), mirrored)?.entries;
        self.check_extents(op, &entries.extents, ty)?;
        let tensor = pack(&format_of(ty)?, entries)?;
        Ok(Datum::Tensor(TensorHandle::new(tensor)))
    }

    fn out(&mut self, frame: &Frame, op: Operation<'a>) -> Result<()> {
        let tensor = self.stored(frame, op, op.operand("tensor"))?;
        let path = self.file(frame, op, op.operand("dest"))?;
        let path = path.as_deref().filter(|path| !path.is_empty());
        self.host.write(path, &tensor)
    }

    /// A tensor in the format of a type. Of a dense tensor entries that are not zero are stored.
    pub(crate) fn converted(
        &mut self,
        op: Operation<'_>,
        handle: &TensorHandle,
        is_sparse: bool,
        ty: &Type,
    ) -> Result<TensorHandle> {
        self.check_extents(op, &handle.extents(), ty)?;
        let mut tensor = handle.tensor()?;
        let format = format_of(ty)?;
        let element = self.element(op, ty)?;
        if tensor.element() != element {
            tensor = Rc::new(self.of_type(op, &tensor, element)?);
        }
        if *tensor.format() == format {
            return Ok(TensorHandle::of_state(State::Stored(tensor)));
        }
        if is_sparse || ty.encoding().is_none() {
            return self.host.convert(&tensor, &format).map(TensorHandle::new);
        }
        let stored = |value: Scalar| (!value.is_zero()).then_some(value);
        repacked(&tensor, tensor.element(), &format, stored).map(TensorHandle::new)
    }

    /// The tensor with values of another type.
    fn of_type(&self, op: Operation<'_>, tensor: &Tensor, element: ElementType) -> Result<Tensor> {
        let mut is_held = true;
        // The entries of one place are one value, which is rounded once.
        let merged = match tensor.format().is_unique() {
            true => tensor,
            false => &repacked(tensor, tensor.element(), tensor.format(), Some)?,
        };
        let made = repacked(merged, element, tensor.format(), |value| {
            // `true` has a sign, as in `arith.sitofp`.
            let value = match value {
                Scalar::Bool(true) if element != ElementType::Bool => Scalar::I64(-1),
                value => value,
            };
            // Floats go towards zero, as in `arith.fptosi`.
            let value = match value.element().is_float() && !element.is_float() {
                true => Scalar::F64(value.to_f64().trunc()).cast(element),
                false => value.cast(element),
            };
            is_held &= value.is_some();
            value
        });
        match is_held {
            true => made,
            false => Err(self.placed(op, crate::numbers::undefined())),
        }
    }

    /// The entries that a constant `sparse<…>` lists, zeros too, if the value is one.
    pub(crate) fn listed_constant(&self, value: Value) -> Result<Option<Tensor>> {
        let Origin::Result(op, _) = self.module.value(value).origin else {
            return Ok(None);
        };
        let (op, ty) = (self.module.op(op), self.module.ty(value));
        let Some(Attribute::Sparse(sparse)) = op.attribute("value") else {
            return Ok(None);
        };
        let (extents, element) = (self.static_extents(op, ty)?, self.element(op, ty)?);
        let values = sparse.entries.iter();
        let values: Option<Vec<Scalar>> = values
            .map(|entry| constant_entry(*entry, element))
            .collect();
        let entries = Entries {
            coords: sparse.coords.clone().into(),
            values: array_of(element, &values.ok_or_else(|| self.not_run(op))?)?,
            extents,
        };
        pack(&Format::coo(entries.extents.len()), entries).map(Some)
    }

    /// The same arrays under another map of levels.
    fn reinterpreted(&mut self, frame: &Frame, op: Operation<'a>) -> Result<Datum> {
        let source = self.tensor_handle(frame, op, op.operand("source"))?;
        let tensor = source.tensor()?;
        let ty = op.result_type("dest");
        let sizes = arrays::level_sizes(&tensor);
        let Some(encoding) = ty.encoding() else {
            return Err(self.not_run(op));
        };
        let extents = arrays::extents_of_levels(encoding, &sizes);
        let extents = extents.ok_or_else(|| self.not_run(op))?;
        let ty_extents = self.extents_of(op, ty, &[]).unwrap_or(extents);
        let copied = tensor.arrays().iter().map(sparsec_tensor::Array::try_clone);
        let tensor = Tensor::new(
            format_of(ty)?,
            ty_extents,
            tensor.element(),
            tensor.fill(),
            copied.collect::<Result<_>>()?,
        )?;
        let made = TensorHandle::new(tensor);
        made.made_from(Source::Same(source), Vec::new())
            .map(Datum::Tensor)
    }

    /// Prints the arrays of a tensor as the reference does.
    fn print_tensor(&mut self, frame: &Frame, op: Operation<'a>) -> Result<()> {
        let tensor = self.stored(frame, op, op.operand("tensor"))?;
        let Some(encoding) = op.operand_type("tensor").encoding() else {
            return Err(self.not_run(op));
        };
        let plain = |numbers: &[u64]| list(numbers.iter().map(ToString::to_string).collect());
        let batches = arrays::Batches::of(&tensor, encoding);
        let mut text = format!(
            "---- Sparse Tensor ----\nnse = {}\ndim = {}\nlvl = {}\n",
            batches.n_counted(),
            plain(tensor.extents()),
            plain(&arrays::level_sizes(&tensor)),
        );
        let sizes = &batches.sizes;
        let numbers = |rows: arrays::Rows| {
            let rows = rows
                .iter()
                .map(|row| row.iter().map(ToString::to_string).collect());
            nested(sizes, rows.collect(), "0")
        };
        let tuples = encoding.tuples_start();
        for (l, level) in encoding.levels.iter().enumerate() {
            if let Some(positions) = batches.positions(l) {
                text += &format!("pos[{l}] : {}\n", numbers(positions));
            }
            match tuples {
                Some(from) if l == from => {
                    let coords = batches.tuples(from);
                    text += &format!("crd[{l}] : {}\n", numbers(coords));
                }
                Some(from) if l > from => {}
                _ if level.kind == LevelKind::Range => {
                    let first = tensor.level(l).first().to_vec();
                    text += &format!("first[{l}] : {}\n", numbers(vec![first]));
                }
                _ if level.has_coordinates() => {
                    let coords = batches.coords(l);
                    text += &format!("crd[{l}] : {}\n", numbers(coords));
                }
                _ => {}
            }
        }
        let integers = Integers::of(op.operand_type("tensor").element());
        let word = |value: Scalar| match value {
            Scalar::C64(_) | Scalar::C128(_) => {
                let value = value.to_c128();
                format!(
                    "( {}, {} )",
                    print::general(value.re),
                    print::general(value.im)
                )
            }
            value => print::number(value, integers),
        };
        let rows = batches.values().into_iter();
        let rows = rows.map(|row| row.map(|n| word(tensor.vals().get(n))).collect());
        let zero = word(tensor.element().zero());
        text += &format!("values : {}\n----\n", nested(sizes, rows.collect(), &zero));
        self.host.print(&text)
    }

    fn concatenated(&mut self, frame: &Frame, op: Operation<'a>) -> Result<Datum> {
        let ty = op.result_type("result");
        let dimension = op.attribute("dimension").and_then(Attribute::natural);
        let dimension = dimension.unwrap_or(0) as usize;
        let (mut coords, mut values) = (Vec::new(), Vec::new());
        let mut extents: Option<Vec<u64>> = None;
        let mut before = 0;
        for input in op.operands("inputs") {
            let tensor = self.stored(frame, op, *input)?;
            let own = tensor.extents();
            if dimension >= own.len() {
                return Err(self.not_run(op));
            }
            let fits = |known: &Vec<u64>| {
                let others = (0..own.len()).filter(|mode| *mode != dimension);
                known.len() == own.len() && others.into_iter().all(|mode| known[mode] == own[mode])
            };
            if extents.as_ref().is_some_and(|known| !fits(known)) {
                return Err(self
                    .fault(
                        op,
                        code::NOT_CONCATENATED,
                        format!("a part has extents {own:?}"),
                    )
                    .help("give all parts the same extents in the other modes"));
            }
            let entries = tensor.try_nonfill()?;
            for (tuple, value) in entries.iter().filter(|(_, value)| !value.is_zero()) {
                coords.extend((0..own.len()).map(|mode| match mode == dimension {
                    true => tuple.at(mode) + before,
                    false => tuple.at(mode),
                }));
                values.push(value);
            }
            before += own[dimension];
            extents = Some(own.to_vec());
        }
        let mut extents = extents.ok_or_else(|| self.not_run(op))?;
        extents[dimension] = before;
        self.check_extents(op, &extents, ty)?;
        let entries = Entries {
            extents,
            coords: coords.into(),
            values: array_of(self.element(op, ty)?, &values)?,
        };
        Ok(Datum::Tensor(TensorHandle::new(pack(
            &format_of(ty)?,
            entries,
        )?)))
    }

    fn slice_part(&mut self, frame: &Frame, op: Operation<'a>) -> Result<Datum> {
        let handle = self.tensor_handle(frame, op, op.operand("slice"))?;
        let mode = op
            .attribute("dim")
            .and_then(Attribute::natural)
            .unwrap_or(0) as usize;
        let encoding = op.operand_type("slice").encoding();
        let declared = encoding.and_then(|it| it.slices.get(mode).copied().flatten());
        let is_offset = op.name().ends_with("offset");
        let declared = declared.and_then(|slice| match is_offset {
            true => slice.offset,
            false => slice.stride,
        });
        let held = handle
            .0
            .slice
            .get(mode)
            .map(|(offset, stride)| match is_offset {
                true => *offset,
                false => *stride,
            });
        match (held, declared) {
            (Some(value), _) => Ok(index(value)),
            (None, Some(value)) => Ok(index(value as i64)),
            (None, None) => Err(self.not_run(op)),
        }
    }

    fn translated(&mut self, frame: &Frame, op: Operation<'a>) -> Result<Vec<Datum>> {
        let Some(Attribute::Encoding(encoding)) = op.attribute("encoder") else {
            return Err(self.not_run(op));
        };
        let at = self.integers(frame, op, op.operands("in_crds"))?;
        let is_to_levels = matches!(
            op.attribute("direction"),
            Some(Attribute::Word("dim_to_lvl"))
        );
        let found = match is_to_levels {
            true => arrays::to_levels(encoding, &at),
            false => arrays::to_modes(encoding, &at),
        };
        let found = found.ok_or_else(|| self.not_run(op))?;
        Ok(found.into_iter().map(index).collect())
    }

    fn specifier(&mut self, frame: &Frame, op: Operation<'a>) -> Result<Datum> {
        let Datum::Specifier(fields) = self.get(frame, op.operand("specifier"))? else {
            return Err(self.not_run(op));
        };
        let Some(Attribute::Word(kind)) = op.attribute("specifierKind") else {
            return Err(self.not_run(op));
        };
        let level = op.attribute("level").or(op.attribute("dim"));
        let level = level.and_then(Attribute::natural).unwrap_or(0);
        if op.name().ends_with("get") {
            return Ok(index(fields.get(&(*kind, level)).copied().unwrap_or(0)));
        }
        let value = self.integer(frame, op, op.operand("value"))?;
        let mut fields = (*fields).clone();
        fields.insert((*kind, level), value);
        Ok(Datum::Specifier(Rc::new(fields)))
    }
}
