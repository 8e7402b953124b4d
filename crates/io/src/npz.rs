//! `.npz` files: archives of NumPy arrays that together are a tensor.
//!
//! What an archive holds is told by its members:
//!
//! | member      | is                                                | module      |
//! |-------------|---------------------------------------------------|-------------|
//! | `sparsec`   | a tensor in any format, as we write it            | `native`    |
//! | `binsparse` | a tensor of the interchange standard              | `binsparse` |
//! | `format`    | a sparse matrix of `scipy.sparse.save_npz`        | `scipy`     |
//!
//! A matrix in `csr`, `csc`, `coo` or `scoo` is written as SciPy does, so that
//! `scipy.sparse.load_npz` reads it; every other tensor in our own way, which
//! keeps format, type and fill, or the text of a format that is a relation.

use std::io;

use sparsec_base::{Diagnostic, Result, code};
use sparsec_tensor::{RelationTensor, Tensor};

mod archive;
mod native;
mod relational;
mod scipy;

pub use archive::{Archive, ArchiveWriter};

use crate::binsparse;
use crate::content::FileTensor;
use crate::file_type::{FileType, Writer};
use crate::input::Input;
use crate::npy::check_structure;
use crate::options::{ReadOptions, WriteOptions};
use crate::output::Output;

/// Archives of NumPy arrays.
pub(crate) const TYPE: FileType = FileType {
    endings: &[".npz"],
    summary: "a tensor as NumPy arrays: SciPy's, Binsparse's or our own",
    is_text: false,
    by_path: false,
    read,
    writer: Some(Writer { check, write }),
};

fn read(input: &Input, options: &ReadOptions) -> Result<FileTensor> {
    let archive = Archive::open(input.name(), input.bytes())?;
    let archive = archive.with_progress(options.progress.as_ref());
    if archive.has(native::MARK) {
        return native::read(&archive, options);
    }
    if archive.has(scipy::MARK) {
        return scipy::read(&archive, options);
    }
    if archive.has(binsparse::DESCRIPTOR) {
        return binsparse::read_archive(&archive, options);
    }
    let message = format!("`{}` is an archive that holds no tensor", input.name());
    Err(Diagnostic::new(code::UNKNOWN_ARCHIVE, message)
        .note(format!("it has {}", archive.listed()))
        .help("save sparse matrices with `scipy.sparse.save_npz`, dense arrays with `numpy.save`"))
}

fn check(_: &Tensor, options: &WriteOptions) -> Result<()> {
    check_structure(options)
}

fn write(tensor: &Tensor, _: &WriteOptions, output: &mut Output) -> io::Result<()> {
    match scipy::format_of(tensor) {
        Some(format) => scipy::write(tensor, format, output),
        None => native::write(tensor, output),
    }
}

/// Checks that a tensor stored as a relation says can be written so.
pub(crate) fn check_relation(options: &WriteOptions) -> Result<()> {
    check_structure(options)
}

/// Writes a tensor that is stored as a relation says.
pub(crate) fn write_relation(tensor: &RelationTensor, output: &mut Output) -> io::Result<()> {
    relational::write(tensor, output)
}
