//! Tensor files: Matrix Market and FROSTT, plain and gzipped.
//!
//! ```text
//! a.mtx.gz ──► bytes ──► lines, in parallel ──► Entries ──► Tensor::pack_entries
//! Tensor ──► entries ──► lines, in parallel ──► temporary file ──► a.mtx.gz
//! ```
//!
//! The end of a file's name says its type; [`FILE_TYPES`] lists them, and each
//! is a module: [`mtx`], [`tns`]. A new type is a module and a line in the list.
//!
//! | module   | holds                                                          |
//! |----------|----------------------------------------------------------------|
//! | `text`   | the bytes of a file where they lie; diagnostics that show a line |
//! | `number` | coordinates and values as text, read exactly                   |
//! | `lines`  | entries from lines, in parallel                                |
//! | `output` | a file that appears whole or not at all                        |
//!
//! A file is data from strangers: every fault in it is a diagnostic with the
//! line and a caret, and memory is taken by what a file holds, never by what
//! its header promises.

use std::path::Path;

use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, ElementType, Result, code};
use sparsec_tensor::{Entries, Tensor};

pub mod mtx;
pub mod tns;

mod lines;
mod number;
mod output;
mod text;

use output::Output;
pub use output::Staged;
use text::Text;

/// All types of files.
pub const FILE_TYPES: [&FileType; 2] = [&mtx::TYPE, &tns::TYPE];

/// How the files of one type are read and written.
#[derive(Debug)]
pub struct FileType {
    /// The end of the names of such files, after the point.
    pub extension: &'static str,
    /// What such files hold.
    pub summary: &'static str,
    read: fn(&Text, &ReadOptions) -> Result<FileTensor>,
    /// Whether a tensor can be stated in such a file, checked before it is opened.
    check: fn(&Tensor) -> Result<()>,
    write: fn(&Tensor, &mut Output) -> std::io::Result<()>,
}

/// What the reader of a file knows beforehand.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The type of the values; if not given, that of the file: `f64`, or `i64`
    /// where a header says `integer`.
    pub element: Option<ElementType>,
    /// Extents for a file that states none, one a mode; a mode without one
    /// has its largest coordinate's. Files that state their extents ignore it.
    pub extents: Option<Vec<Option<u64>>>,
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct FileTensor {
    /// The entries, both halves of a symmetric matrix included.
    pub entries: Entries,
    /// Whether the file states its extents; if not, they were given or are
    /// those of the largest coordinates.
    pub states_extents: bool,
    /// Whether the file states one triangle of a symmetric matrix.
    pub symmetric: bool,
    /// How many entries the file has, mirror images not counted.
    pub n_lines: usize,
}

/// Reads the entries of a file.
///
/// Plain files are parsed where they lie; `.gz` files are expanded first.
/// Entries take `order + 1` words each; parsing takes a few nanoseconds a byte
/// and thread, expanding about as much again.
///
/// # Errors
/// `E0420`, `E0421` and `E0426` for a file that cannot be opened; `E0401` and
/// `E0422` to `E0429` for what is wrong in it, with the line.
pub fn read(path: &Path, options: &ReadOptions) -> Result<FileTensor> {
    let (file_type, compressed) = file_type(path)?;
    let text = Text::open(path, compressed)?;
    (file_type.read)(&text, options)
}

/// Reads the entries of a file, with values of the type given or the file's own.
///
/// # Errors
/// As [`read`].
pub fn read_entries(path: &Path, element: Option<ElementType>) -> Result<FileTensor> {
    let options = ReadOptions {
        element,
        ..ReadOptions::default()
    };
    read(path, &options)
}

/// Writes every stored entry of a tensor.
///
/// The file is written beside its final name and renamed when it is complete.
/// Values are the shortest text that reads back as the same value of the
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
/// let file = sparsec_io::read_entries(&path, None)?;
/// assert_eq!(file.entries.extents, [2, 3, 4]);
/// let b = Tensor::pack_entries(&Format::csf(3), file.entries, PackOptions::default())?;
/// assert_eq!(a, b);
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn write(path: &Path, tensor: &Tensor) -> Result<()> {
    stage(path, tensor)?.commit()
}

/// Completes a file beside its name, which it takes with [`Staged::commit`]: so
/// that of several files either all are written or none.
///
/// # Errors
/// As [`write()`].
pub fn stage(path: &Path, tensor: &Tensor) -> Result<Staged> {
    let (file_type, compressed) = file_type(path)?;
    (file_type.check)(tensor)?;
    Output::stage(path, compressed, |output| (file_type.write)(tensor, output))
}

/// The type of a file by its name, and whether it is compressed.
///
/// # Errors
/// `E0421` where the name does not say.
pub fn file_type(path: &Path) -> Result<(&'static FileType, bool)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_ascii_lowercase();
    let (stem, compressed) = match name.strip_suffix(".gz") {
        Some(stem) => (stem, true),
        None => (name.as_str(), false),
    };
    let ending = stem.rsplit_once('.').map_or("", |(_, ending)| ending);
    let found = FILE_TYPES.into_iter().find(|ty| ty.extension == ending);
    found.map(|ty| (ty, compressed)).ok_or_else(|| {
        let known = FILE_TYPES.map(|ty| ty.extension);
        let message = format!(
            "the name of `{}` does not say what it holds",
            path.display()
        );
        let error = Diagnostic::new(code::UNKNOWN_FILE_TYPE, message);
        match closest(ending, known) {
            Some(close) => error.help(format!("did you mean `.{close}`?")),
            None => error.help("files end in `.mtx`, `.tns`, `.mtx.gz` or `.tns.gz`"),
        }
    })
}
