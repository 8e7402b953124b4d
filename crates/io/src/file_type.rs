//! Which types of files there are, and which one a name means.

use std::path::Path;

use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, Result, code};
use sparsec_tensor::Tensor;

use crate::compression::Compression;
use crate::content::FileTensor;
use crate::input::Input;
use crate::options::{ReadOptions, WriteOptions};
use crate::output::Output;
use crate::stream::is_stream;
use crate::{binsparse, mtx, npy, npz, rutherford_boeing, tns};

/// All types of files.
pub const FILE_TYPES: &[&FileType] = &[
    &mtx::TYPE,
    &tns::TYPE,
    &rutherford_boeing::TYPE,
    &npy::TYPE,
    &npz::TYPE,
    &binsparse::NPZ,
    &binsparse::HDF5,
];

/// How the files of one type are read and written.
#[derive(Debug)]
pub struct FileType {
    /// The ends of the names of such files, with the point: `.mtx`. The first is
    /// the one that messages name.
    pub endings: &'static [&'static str],
    /// What such files hold.
    pub summary: &'static str,
    /// Whether the content is text; then a further `.gz` or `.zst` says that
    /// it is compressed.
    pub is_text: bool,
    /// Whether a library reads and writes such files, which opens them by
    /// [`Input::path`] and [`Output::path`]. Their input has no bytes.
    pub by_path: bool,
    /// Reads the content.
    pub read: fn(&Input, &ReadOptions) -> Result<FileTensor>,
    /// How tensors are written, if they are.
    pub writer: Option<Writer>,
}

/// How a tensor is written to one type of file.
#[derive(Debug)]
pub struct Writer {
    /// Whether a tensor can be stated in such a file, checked before it is opened.
    pub check: fn(&Tensor, &WriteOptions) -> Result<()>,
    /// Writes a tensor that passed the check.
    pub write: fn(&Tensor, &WriteOptions, &mut Output) -> std::io::Result<()>,
}

/// The type of a file by its name, and how it is compressed: the type whose
/// ending is the longest that fits.
///
/// # Errors
/// `E0421` where the name does not say.
///
/// ```
/// use sparsec_io::{Compression, file_type};
/// let (file_type, compression) = file_type("web.mtx.gz".as_ref())?;
/// assert_eq!(file_type.endings, [".mtx"]);
/// assert_eq!(compression, Compression::Gzip);
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
///
/// A file of groups may be followed by one of them, `all.h5:web`. Pipes and
/// devices, as `/dev/stdout`, hold `.tns` text where their names do not say. A reader looks at
/// what comes out of them: it may be Matrix Market text, and text of both kinds may be compressed.
pub fn file_type(path: &Path) -> Result<(&'static FileType, Compression)> {
    by_name(path, &|_| true)
}

/// As [`file_type`], of a file that is to be written.
///
/// # Errors
/// `E0421` where the name does not say, `E0428` where it says what is only read.
///
/// ```
/// assert!(sparsec_io::written_type("web.mtx".as_ref()).is_ok());
/// let refused = sparsec_io::written_type("web.rb".as_ref()).unwrap_err();
/// assert_eq!(refused.message(), "`.rb` files are read only");
/// ```
pub fn written_type(path: &Path) -> Result<(&'static FileType, Compression)> {
    let is_written = |ty: &FileType| ty.writer.is_some();
    let (file_type, compression) = by_name(path, &is_written)?;
    if is_written(file_type) {
        return Ok((file_type, compression));
    }
    let message = format!("`{}` files are read only", file_type.endings[0]);
    let written = FILE_TYPES.iter().copied().filter(|ty| is_written(ty));
    let endings: Vec<String> = written.map(|ty| format!("`{}`", ty.endings[0])).collect();
    Err(
        Diagnostic::new(code::NOT_EXPRESSIBLE_IN_FILE, message).help(format!(
            "write a file whose name ends in one of {}",
            endings.join(" ")
        )),
    )
}

/// The endings of the types of files that can state a tensor, quoted.
pub(crate) fn that_state(tensor: &Tensor, options: &WriteOptions) -> Vec<String> {
    let writers = FILE_TYPES
        .iter()
        .filter_map(|ty| Some((ty, ty.writer.as_ref()?)));
    let able = writers.filter(|(_, writer)| (writer.check)(tensor, options).is_ok());
    able.map(|(ty, _)| format!("`{}`", ty.endings[0])).collect()
}

/// The type that a name says; where it says none, types that are `wanted` are named.
fn by_name(
    path: &Path,
    wanted: &dyn Fn(&FileType) -> bool,
) -> Result<(&'static FileType, Compression)> {
    let (file, _) = split_group(path);
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_ascii_lowercase();
    let (stem, compression) = Compression::of(&name);
    let compressed = compression != Compression::None;
    let fits = FILE_TYPES
        .iter()
        .filter(|ty| ty.is_text || !compressed)
        .flat_map(|ty| {
            ty.endings
                .iter()
                .map(move |ending| (ending.len(), ending, *ty))
        })
        .filter(|(_, ending, _)| stem.ends_with(**ending));
    match fits.max_by_key(|&(length, ..)| length) {
        Some((_, _, ty)) => Ok((ty, compression)),
        None if is_stream(path) => Ok((&tns::TYPE, Compression::None)),
        None => Err(unknown(path, stem, wanted)),
    }
}

/// The type of a file with this content: that of its name, and of a stream Matrix Market
/// where the text says so.
///
/// # Errors
/// `E0421` for Matrix Market text in a file whose name says that it is a list of entries.
pub(crate) fn type_of_content(
    named: &'static FileType,
    path: &Path,
    content: &[u8],
) -> Result<&'static FileType> {
    let is_list = named.endings == tns::TYPE.endings;
    match mtx::begins(content) {
        true if is_stream(path) => Ok(&mtx::TYPE),
        true if is_list => {
            let message = format!(
                "`{}` holds Matrix Market text, which its name does not say",
                path.display()
            );
            let error = Diagnostic::new(code::UNKNOWN_FILE_TYPE, message);
            Err(error.help("rename it to end in `.mtx`"))
        }
        _ => Ok(named),
    }
}

/// The file and the group in it that a path such as `all.h5:web` names.
pub(crate) fn split_group(path: &Path) -> (&Path, Option<&str>) {
    let whole = (path, None);
    let Some(text) = path.to_str() else {
        return whole;
    };
    let lower = text.to_ascii_lowercase();
    let endings = binsparse::HDF5.endings.iter();
    let found =
        endings.filter_map(|ending| Some(lower.find(&format!("{ending}:"))? + ending.len()));
    match found.min() {
        // A file may have any name, and is what is meant if there is one.
        Some(at) if !path.exists() => (Path::new(&text[..at]), Some(&text[at + 1..])),
        _ => whole,
    }
}

fn unknown(path: &Path, stem: &str, wanted: &dyn Fn(&FileType) -> bool) -> Diagnostic {
    let message = format!(
        "the name of `{}` does not say what it holds",
        path.display()
    );
    let error = Diagnostic::new(code::UNKNOWN_FILE_TYPE, message);
    let known = || FILE_TYPES.iter().flat_map(|ty| ty.endings).copied();
    if let Some(binary) = known().find(|ending| stem.ends_with(ending)) {
        return error.help(format!(
            "`{binary}` files are not compressed further: use `{stem}`, expanded if it is there already"
        ));
    }
    let ending = stem.rfind('.').map_or("", |at| &stem[at..]);
    let named = || {
        let wanted = FILE_TYPES.iter().filter(|ty| wanted(ty));
        wanted.map(|ty| ty.endings[0])
    };
    match closest(ending, named()) {
        Some(close) => error.help(format!("did you mean `{close}`?")),
        None => {
            let known: Vec<String> = named().map(|ending| format!("`{ending}`")).collect();
            error.help(format!(
                "files end in {}; text may be compressed, as in `.mtx.gz` or `.tns.zst`",
                known.join(" ")
            ))
        }
    }
}
