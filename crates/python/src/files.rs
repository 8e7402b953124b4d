//! Files of tensors: read and written without the interpreter's lock.

use std::path::PathBuf;

use pyo3::prelude::*;
use sparsec::io::{self, Content, ReadOptions, WriteOptions};
use sparsec::{Format, PackOptions};

use crate::build;
use crate::element;
use crate::error::OrRaise;
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
    let read = State::get().run(py, || {
        let options = ReadOptions {
            element,
            ..ReadOptions::default()
        };
        let file = io::read(&path, &options)?;
        let order = file.order();
        let format = match (format, &file.content) {
            (Some(text), _) => build::format(text, order)?,
            (None, Content::Tensor(tensor)) => tensor.format().clone(),
            (None, Content::Relation(tensor)) => tensor.format().nearest(),
            (None, Content::Entries(_)) if order == 2 => Format::csr(),
            (None, Content::Entries(_)) => Format::csf(order),
        };
        file.into_tensor(&format, PackOptions::default())
    })?;
    Ok(read.into())
}

/// Writes a file, which appears whole or not at all.
#[pyfunction]
pub(crate) fn write(py: Python<'_>, path: PathBuf, stored: &Bound<'_, Stored>) -> PyResult<()> {
    let tensor = stored.get().tensor(py)?;
    State::get().run(py, || {
        // A plain `.tns` file would lose extents beyond its largest coordinates.
        let options = WriteOptions {
            states_extents: io::tns::loses_extents(tensor, &WriteOptions::default())?,
            ..WriteOptions::default()
        };
        io::stage(&path, tensor, &options)?.commit()
    })
}
