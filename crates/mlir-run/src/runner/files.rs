//! Files of tensors, read and written entry by entry.
//!
//! ```text
//! reader = createSparseTensorReader(path)      getSparseTensorReaderRank, NNZ, DimSizes, …
//! getSparseTensorReaderNextF32(reader, coords, value)          the next entry
//! writer = createSparseTensorWriter(path)      outSparseTensorWriterMetaData(writer, …)
//! outSparseTensorWriterNextF32(writer, order, coords, value)   delSparseTensorWriter(writer)
//! ```

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use sparsec_base::{ElementType, Result, Scalar, Span, code};
use sparsec_mlir::Operation;
use sparsec_tensor::Entries;

use crate::datum::{Datum, array_of};
use crate::host::FileContent;
use crate::machine::Machine;
use crate::memory::MemRef;

/// A file that is read entry by entry.
#[derive(Debug)]
pub(crate) struct Reader {
    content: FileContent,
    /// The place of its deletion.
    released: Cell<Option<Span>>,
    /// How many entries were read.
    n_read: Cell<usize>,
}

/// A file that is written entry by entry; it is complete once the writer is deleted.
#[derive(Debug)]
pub(crate) struct Writer {
    path: Option<Rc<str>>,
    extents: RefCell<Vec<u64>>,
    coords: RefCell<Vec<u64>>,
    values: RefCell<Vec<Scalar>>,
    /// The place of its deletion.
    released: Cell<Option<Span>>,
}

impl<'a> Machine<'a> {
    /// Calls a function of files; `None` for other functions.
    ///
    /// # Errors
    /// Those of the file; `E1060` for arguments that are none of the function's; `E1061` past the
    /// last entry; `E1039` behind the deletion of a reader or a writer.
    pub(super) fn file_function(
        &mut self,
        op: Operation<'a>,
        name: &str,
        args: &[Datum],
    ) -> Result<Option<Vec<Datum>>> {
        let index = |n: u64| Ok(Some(vec![Datum::Number(Scalar::I64(n as i64))]));
        let done = Ok(Some(Vec::new()));
        match args.first() {
            Some(Datum::Reader(reader)) => self.live(op, "file", reader.released.get())?,
            Some(Datum::Writer(writer)) => self.live(op, "file", writer.released.get())?,
            _ => {}
        }
        match (name, args) {
            ("createsparsetensorreader", [Datum::Pointer(Some(path))])
            | ("createcheckedsparsetensorreader", [Datum::Pointer(Some(path)), ..]) => {
                let reader = Reader {
                    content: self.host.read(path, None, false)?,
                    released: Cell::new(None),
                    n_read: Cell::new(0),
                };
                Ok(Some(vec![Datum::Reader(Rc::new(reader))]))
            }
            ("createsparsetensorwriter", [Datum::Pointer(path)]) => {
                let writer = Writer {
                    path: path.clone(),
                    extents: RefCell::default(),
                    coords: RefCell::default(),
                    values: RefCell::default(),
                    released: Cell::new(None),
                };
                Ok(Some(vec![Datum::Writer(Rc::new(writer))]))
            }
            ("getsparsetensorreaderrank", [Datum::Reader(reader)]) => {
                index(reader.content.entries.extents.len() as u64)
            }
            ("getsparsetensorreadernnz" | "getsparsetensorreadernse", [Datum::Reader(reader)]) => {
                index(reader.content.entries.values.len() as u64)
            }
            ("getsparsetensorreaderissymmetric", [Datum::Reader(reader)]) => {
                let is_symmetric = Scalar::Bool(reader.content.is_symmetric);
                Ok(Some(vec![Datum::Number(is_symmetric)]))
            }
            ("getsparsetensorreaderdimsizes", [Datum::Reader(reader), Datum::MemRef(sizes)]) => {
                let extents = reader.content.entries.extents.iter();
                let extents = extents.map(|extent| Scalar::I64(*extent as i64));
                self.stored_in_front(op, sizes, extents).map(Some)
            }
            ("delsparsetensorreader", [Datum::Reader(reader)]) => {
                reader.released.set(Some(op.data().span));
                done
            }
            ("delsparsetensorwriter", [Datum::Writer(writer)]) => {
                self.finish(op, writer)?;
                writer.released.set(Some(op.data().span));
                done
            }
            (
                "outsparsetensorwritermetadata",
                [
                    Datum::Writer(writer),
                    Datum::Number(order),
                    _,
                    Datum::MemRef(sizes),
                ],
            ) => {
                let extents = self.first_numbers(op, sizes, *order)?;
                *writer.extents.borrow_mut() = extents;
                done
            }
            (
                name,
                [
                    Datum::Reader(reader),
                    Datum::MemRef(coords),
                    Datum::MemRef(value),
                ],
            ) if name.starts_with("getsparsetensorreadernext") => {
                self.next_entry(op, reader, coords, value)?;
                done
            }
            (
                name,
                [
                    Datum::Writer(writer),
                    Datum::Number(order),
                    Datum::MemRef(coords),
                    Datum::MemRef(value),
                ],
            ) if name.starts_with("outsparsetensorwriternext") => {
                let at = self.first_numbers(op, coords, *order)?;
                let value = value.get(&[]).ok_or_else(|| self.not_run(op))?;
                writer.coords.borrow_mut().extend(at);
                writer.values.borrow_mut().push(value);
                done
            }
            (name, _)
                if name.contains("sparsetensorreader") || name.contains("sparsetensorwriter") =>
            {
                let message = "a function of files that takes other arguments";
                let help = "declare it, and call it, as MLIR's runner has it";
                Err(self.fault(op, code::NOT_RUN, message).help(help))
            }
            _ => Ok(None),
        }
    }

    /// The first numbers of a memref of extents or coordinates.
    fn first_numbers(&self, op: Operation<'a>, from: &MemRef, n: Scalar) -> Result<Vec<u64>> {
        let n = n.to_integer().unwrap_or(0);
        let number = |at: i128| {
            let number = from.get(&[at as i64]).and_then(Scalar::to_integer);
            let number = number.and_then(|number| u64::try_from(number).ok());
            number.ok_or_else(|| self.outside_of_memref(op, from, &[at as i64]))
        };
        (0..n).map(number).collect()
    }

    /// Stores the first entries of a memref of one mode.
    fn stored_in_front(
        &self,
        op: Operation<'a>,
        memref: &MemRef,
        entries: impl Iterator<Item = Scalar>,
    ) -> Result<Vec<Datum>> {
        let element = memref.buffer.array.borrow().element();
        for (at, value) in (0..).zip(entries) {
            if value.element() != element {
                return Err(self.not_run(op));
            }
            if !memref.set(&[at], value) {
                return Err(self.outside_of_memref(op, memref, &[at]));
            }
        }
        Ok(Vec::new())
    }

    fn next_entry(
        &self,
        op: Operation<'a>,
        reader: &Reader,
        coords: &MemRef,
        value: &MemRef,
    ) -> Result<()> {
        let n = reader.n_read.get();
        if n >= reader.content.entries.values.len() {
            return Err(self
                .outside(op, format!("entry {n} of a file of {n}"))
                .help("read as many entries as the file has"));
        }
        reader.n_read.set(n + 1);
        let tuple = reader.content.entries.coords(n);
        let order = reader.content.entries.extents.len();
        let at = (0..order).map(|mode| Scalar::I64(tuple.at(mode) as i64));
        self.stored_in_front(op, coords, at)?;
        let element = value.buffer.array.borrow().element();
        let read = reader.content.entries.values.get(n);
        let Some(entry) = read.cast(element) else {
            let message = format!("an entry of {read}, which no {element} is");
            let help = "read entries by the function of a wider type";
            return Err(self.fault(op, code::NOT_RUN, message).help(help));
        };
        match value.set(&[], entry) {
            true => Ok(()),
            false => Err(self.not_run(op)),
        }
    }

    /// Writes the file of a writer.
    fn finish(&mut self, op: Operation<'a>, writer: &Writer) -> Result<()> {
        let (extents, values) = (writer.extents.borrow(), writer.values.borrow());
        let element = values
            .first()
            .map_or(ElementType::F64, |value| value.element());
        let coords = writer.coords.borrow().clone();
        let is_inside = |(n, at): (usize, &u64)| *at < extents[n % extents.len().max(1)];
        if coords.len() != extents.len() * values.len()
            || extents.is_empty()
            || !coords.iter().enumerate().all(is_inside)
        {
            return Err(self
                .fault(
                    op,
                    code::OUT_OF_BOUNDS_ACCESS,
                    "an entry outside of the extents of a file",
                )
                .help("write the extents of all modes first: `outSparseTensorWriterMetaData`"));
        }
        if let Some(other) = values.iter().find(|value| value.element() != element) {
            let message = format!("entries of {element} and {} in one file", other.element());
            return Err(self
                .fault(op, code::NOT_RUN, message)
                .help("write all entries of a file by the same function"));
        }
        let entries = Entries {
            coords: coords.into(),
            values: array_of(element, &values)?,
            extents: extents.clone(),
        };
        self.host.write_entries(writer.path.as_deref(), entries)
    }
}
