//! Files of tensors: read and written without the interpreter's lock.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use sparsec::io::{self, Content, FileTensor, ReadOptions, WriteOptions};
use sparsec::{Format, PackOptions, Storage};

use crate::build;
use crate::element;
use crate::error::OrRaise;
use crate::held::Held;
use crate::session::State;
use crate::stored::Stored;

/// The tensor of a file. Without a format, the one that the file has; of files of entries, `csr`
/// for matrices and `csf` for other tensors.
#[pyfunction]
pub(crate) fn read(
    py: Python<'_>,
    path: PathBuf,
    format: Option<&str>,
    dtype: Option<&str>,
) -> PyResult<Stored> {
    let element = dtype.map(element::of_name).transpose().or_raise(py)?;
    let format = format.map(str::to_owned);
    let read = State::get().watched(py, (), move |state, cancel, ()| {
        let session = state.session.until(cancel);
        let options = ReadOptions {
            element,
            ..ReadOptions::default()
        };
        let file = io::read(&path, &options)?;
        let order = file.order();
        let storage = match (&format, &file.content) {
            (Some(text), _) => build::storage(text, order)?,
            (None, Content::Tensor(tensor)) => Storage::Levels(tensor.format().clone()),
            (None, Content::Relation(tensor)) => Storage::Relation(Arc::clone(tensor.format())),
            (None, Content::Entries(_)) if order == 2 => Storage::Levels(Format::csr()),
            (None, Content::Entries(_)) => Storage::Levels(Format::csf(order)),
        };
        match (&storage, file) {
            (Storage::Levels(format), file) => {
                let read = file.into_tensor(format, PackOptions::default())?;
                Ok(sparsec::Stored::Levels(read))
            }
            (
                Storage::Relation(_),
                FileTensor {
                    content: Content::Relation(tensor),
                    ..
                },
            ) => {
                let stored = sparsec::Stored::Relation(tensor);
                Ok(session.convert_stored_owned(stored, &storage)?.tensor)
            }
            (Storage::Relation(format), file) => {
                let read = file.into_tensor(&format.nearest(), PackOptions::default())?;
                build::stored_as(&session, read, &storage)
            }
        }
    })?;
    Ok(Held::from(read).into())
}

/// Writes a file, which appears whole or not at all.
#[pyfunction]
pub(crate) fn write(py: Python<'_>, path: PathBuf, stored: &Bound<'_, Stored>) -> PyResult<()> {
    let n_entries = match stored.get().held().related() {
        Some(related) => related.stored().n_stored(),
        None => stored.get().tensor(py)?.n_stored(),
    };
    let stored = stored.clone().unbind();
    State::get().run_over(py, n_entries, stored, move |_, cancel, stored| {
        let mut options = WriteOptions::default();
        let held = stored.get().held();
        let staged = match held.related() {
            Some(related) => io::stage_relation(&path, related.relation(), &options)?,
            None => {
                let tensor = held.known().expect("it was checked");
                // A plain `.tns` file would lose extents beyond its largest coordinates.
                options.states_extents = io::tns::loses_extents(tensor, &options)?;
                io::stage(&path, tensor, &options)?
            }
        };
        // The caller of a cancelled call does not expect the file.
        cancel.watch(|| staged.commit())?
    })
}
