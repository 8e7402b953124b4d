//! Tensor files: text and binary, plain and compressed.
//!
//! ```text
//! a.mtx.gz ──► Input: bytes ──► lines, in parallel ──► FileTensor ──► Tensor
//! Tensor ──► lines, in parallel ──► Output: a temporary file ──► a.mtx.gz
//! ```
//!
//! The end of a file's name says its type; [`FILE_TYPES`] lists them, and each
//! is a module. A new type is a module and a line in the list.
//!
//! | module        | holds                                                     |
//! |---------------|-----------------------------------------------------------|
//! | [`mtx`]       | Matrix Market                                             |
//! | [`tns`]       | FROSTT                                                    |
//! | [`rutherford_boeing`] | Rutherford–Boeing, read only                      |
//! | [`npy`]       | dense arrays of NumPy                                     |
//! | [`npz`]       | archives of arrays: SciPy's sparse matrices, and our own  |
//! | [`binsparse`] | Binsparse, in HDF5 files and in archives of arrays        |
//! | `file_type`   | what a file type is, and which one a name means           |
//! | `fill`        | text files of tensors whose fill is not zero              |
//! | `content`     | what a file holds: entries, or a tensor in its own format |
//! | `options`     | how files are read and written                            |
//! | `input`       | the bytes of a file; diagnostics that show a line         |
//! | `compression` | `.gz` and `.zst`                                          |
//! | `cursor`      | words of lines                                            |
//! | `decimal`     | doubles from common decimals, fast                        |
//! | `declared`    | comments that declare a type and extents                  |
//! | `number`      | values as text, read exactly                              |
//! | `lines`       | entries from lines, in parallel                           |
//! | `cast`        | values of binary files in the type asked for              |
//! | `hdf5`        | arrays and attributes of HDF5 files                       |
//! | `mirror`      | the images that a file with structure does not state      |
//! | `triangle`    | the same for tensors, and the triangle that is written    |
//! | `output`      | a file that appears whole or not at all                   |
//! | `progress`    | telling how far a long read has come                      |
//!
//! A file is data from strangers: every fault in it is a diagnostic with the
//! line and a caret, and memory is taken by what a file holds, never by what
//! its header promises.

use std::path::Path;

use sparsec_base::{Diagnostic, ElementType, Result, code};
use sparsec_format::Format;
use sparsec_tensor::{PackOptions, RelationTensor, Tensor};

pub mod binsparse;
pub mod mtx;
pub mod npy;
pub mod npz;
pub mod rutherford_boeing;
pub mod tns;

mod blank;
mod cast;
mod compression;
mod content;
mod cursor;
mod decimal;
mod declared;
mod file_type;
mod fill;
mod found;
mod hdf5;
mod input;
mod line;
mod lines;
mod mapping;
mod mirror;
mod number;
mod options;
mod output;
mod progress;
mod staged;
mod stream;
mod triangle;

pub use compression::Compression;
pub use content::{Content, FileTensor, Structure};
pub use file_type::{FILE_TYPES, FileType, Writer, file_type, written_type};

use file_type::{split_group, type_of_content};
pub use hdf5::expects_panic;
pub use input::{Input, cannot_read};
pub use mapping::Mapping;
pub use options::{ReadOptions, WriteOptions};
pub use output::{Output, Staged};
pub use progress::Progress;
pub use staged::remove_unfinished;

/// Reads the tensor of a file. Of an HDF5 file that holds several, a path such as
/// `all.h5:web` names one.
///
/// The bytes of a file are read into memory first, and `.gz` and `.zst` files are
/// expanded. With [`ReadOptions::mapping`], plain files are mapped instead. Entries take
/// `order + 1` words each; parsing takes a nanosecond or two a byte and thread.
///
/// # Errors
/// `E0420`, `E0421` and `E0426` for a file that cannot be opened; `E0401` and
/// `E0422` to `E0429` for what is wrong in it, with the line.
pub fn read(path: &Path, options: &ReadOptions) -> Result<FileTensor> {
    read_typed(path, options).map(|(_, tensor)| tensor)
}

/// As [`read`], with the type of the file: that of its name, or of a pipe whose name does not
/// say, of what comes out of it.
///
/// # Errors
/// As [`read`].
pub fn read_typed(path: &Path, options: &ReadOptions) -> Result<(&'static FileType, FileTensor)> {
    let (file_type, compression) = file_type(path)?;
    let (file, group) = split_group(path);
    let input = match file_type.by_path {
        true => Input::by_path(file)?,
        false => Input::open_with(file, compression, options)?,
    };
    let file_type = type_of_content(file_type, path, input.bytes())?;
    let read = match group {
        None => (file_type.read)(&input, options),
        Some(_) => {
            let options = ReadOptions {
                group: group.map(str::to_owned),
                ..options.clone()
            };
            (file_type.read)(&input, &options)
        }
    };
    let tensor = read.map_err(|fault| {
        let code = fault.code();
        fault.or_help(format!(
            "write the file again; `sparsec explain {code}` says what such a file holds"
        ))
    })?;
    Ok((file_type, tensor))
}

/// Reads the tensor of a file, with values of the type given or the file's own.
///
/// # Errors
/// As [`read`].
pub fn read_as(path: &Path, element: Option<ElementType>) -> Result<FileTensor> {
    let options = ReadOptions {
        element,
        ..ReadOptions::default()
    };
    read(path, &options)
}

/// Writes every stored entry of a tensor.
///
/// The file is written beside its final name and renamed when it is complete.
/// In text, values are the shortest that read back as the same value of the
/// tensor's type.
///
/// # Errors
/// `E0421` for an unknown type of file, `E0428` for a tensor that it cannot
/// state, `E0427` where the system refuses; then the file is as it was.
///
/// ```
/// use sparsec_format::Format;
/// use sparsec_tensor::{PackOptions, Tensor};
/// let folder = tempfile::tempdir().expect("a temporary directory");
/// let path = folder.path().join("a.tns.gz");
/// let a = Tensor::pack(&Format::csf(3), &[2, 3, 4], &[1, 2, 3, 0, 0, 0], &[0.1, 7.0])?;
/// sparsec_io::write(&path, &a)?;
/// let file = sparsec_io::read_as(&path, None)?;
/// assert_eq!(file.extents(), [2, 3, 4]);
/// assert_eq!(file.into_tensor(&Format::csf(3), PackOptions::default())?, a);
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn write(path: &Path, tensor: &Tensor) -> Result<()> {
    stage(path, tensor, &WriteOptions::default())?.commit()
}

/// Completes a file beside its name, which it takes with [`Staged::commit`]: so
/// that of several files either all are written or none.
///
/// # Errors
/// As [`write()`].
pub fn stage(path: &Path, tensor: &Tensor, options: &WriteOptions) -> Result<Staged> {
    let (file_type, compression) = written_type(path)?;
    if let (file, Some(group)) = split_group(path) {
        let message = format!(
            "`{}` is written whole, not its group `{group}`",
            file.display()
        );
        return Err(
            Diagnostic::new(code::NOT_EXPRESSIBLE_IN_FILE, message).help(format!(
                "write `{}` alone: the tensor is in its root",
                file.display()
            )),
        );
    }
    let writer = file_type.writer.as_ref();
    let writer = writer.expect("a type that is written has a writer");
    (writer.check)(tensor, options).map_err(|error| {
        let able = file_type::that_state(tensor, options);
        match able.is_empty() {
            true => error,
            false => error.or_help(format!("write a file of another type: {}", able.join(" "))),
        }
    })?;
    let content = |output: &mut Output| (writer.write)(tensor, options, output);
    match file_type.by_path {
        true => Output::stage_by_path(path, compression, content),
        false => Output::stage(path, compression, content),
    }
}

/// Whether files of this name keep tensors as relations say: `.npz` files do.
pub fn keeps_relations(path: &Path) -> bool {
    written_type(path).is_ok_and(|(file_type, _)| file_type.endings == npz::TYPE.endings)
}

/// Whether files of this name are text, which lists entries and keeps no format.
pub fn lists_entries(path: &Path) -> bool {
    written_type(path).is_ok_and(|(file_type, _)| file_type.is_text)
}

/// As [`stage`], for a tensor that is stored as a relation says. The file has the text of the
/// format; one that [keeps no relations](keeps_relations) gets a list of the entries.
///
/// # Errors
/// As [`stage`] and [`RelationTensor::entries`].
pub fn stage_relation(
    path: &Path,
    tensor: &RelationTensor,
    options: &WriteOptions,
) -> Result<Staged> {
    if !keeps_relations(path) {
        let list = Format::scoo(tensor.order());
        let list = Tensor::pack_entries(&list, tensor.entries()?, PackOptions::default())?;
        return stage(path, &list, options);
    }
    let (_, compression) = written_type(path)?;
    npz::check_relation(options)?;
    Output::stage(path, compression, |output| {
        npz::write_relation(tensor, output)
    })
}

/// Writes a tensor to standard output as text: a matrix as `.mtx`, any other tensor as
/// `.tns`, with its extents where it is sparse. [`read`] tells the two apart in a pipe.
/// A reader that wants no more, such as `head`, is no error.
///
/// # Errors
/// `E0428` for a tensor that text cannot state, `E0427` where the system refuses.
pub fn write_to_stdout(tensor: &Tensor, options: &WriteOptions) -> Result<()> {
    let file_type = match tensor.order() {
        2 => &mtx::TYPE,
        _ => &tns::TYPE,
    };
    let options = WriteOptions {
        states_extents: options.states_extents || tensor.format().has_sparse(),
        ..options.clone()
    };
    let writer = file_type.writer.as_ref();
    let writer = writer.expect("text is written");
    (writer.check)(tensor, &options)
        .map_err(|error| error.or_help("write a file: `.npz` holds every tensor"))?;
    Output::print(|output| (writer.write)(tensor, &options, output))
}
