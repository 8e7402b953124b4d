//! A file that appears whole or not at all.
//!
//! The content goes to a temporary file in the same directory, which takes the
//! final name when it is complete. Devices and pipes have no such name to take,
//! so they are written directly.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use sparsec_base::{Diagnostic, Result, code};
use sparsec_parallel::{map, ranges};
use sparsec_tensor::{Entries, Tensor};
use tempfile::NamedTempFile;

use crate::number::push_digits;

/// Entries that are turned into text before any of them is written.
const BATCH: usize = 1 << 20;
/// Entries that one thread turns into text at a time.
const GRAIN: usize = 1 << 13;

/// A file that is complete and does not have its name yet. Dropped, it is gone.
#[derive(Debug)]
pub struct Staged {
    path: PathBuf,
    /// The file and its name; `None` for a device, which has taken the content.
    named: Option<(NamedTempFile, PathBuf)>,
}

impl Staged {
    /// Gives the file its name, in place of an older one that has it.
    ///
    /// # Errors
    /// `E0427` where the system refuses; then an older file is as it was.
    pub fn commit(self) -> Result<()> {
        let Some((file, target)) = self.named else {
            return Ok(());
        };
        let renamed = file.persist(target);
        renamed.map_err(|error| refused(&self.path, &error.error))?;
        Ok(())
    }
}

fn refused(path: &Path, error: &io::Error) -> Diagnostic {
    let message = format!("cannot write `{}`: {error}", path.display());
    Diagnostic::new(code::CANNOT_WRITE_FILE, message)
}

/// Where the content of a file goes.
pub(crate) struct Output {
    sink: Sink,
}

enum Sink {
    Plain(BufWriter<File>),
    Compressed(GzEncoder<BufWriter<File>>),
}

impl Output {
    /// Completes a file by `content` beside its name.
    pub(crate) fn stage(
        path: &Path,
        compressed: bool,
        content: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> Result<Staged> {
        let staged = |named| Staged {
            path: path.to_owned(),
            named,
        };
        match std::fs::metadata(path) {
            Ok(there) if there.is_dir() => Err(Diagnostic::new(
                code::CANNOT_WRITE_FILE,
                format!("cannot write `{}`: it is a directory", path.display()),
            )),
            Ok(there) if !there.is_file() => {
                let file = OpenOptions::new().write(true).open(path);
                let written = file.and_then(|file| Self::fill(file, compressed, content));
                written.map_err(|error| refused(path, &error))?;
                Ok(staged(None))
            }
            _ => {
                let named = Self::beside(path, compressed, content);
                Ok(staged(Some(named.map_err(|error| refused(path, &error))?)))
            }
        }
    }

    /// A complete file in the folder of `path`, and the name that it is to take.
    fn beside(
        path: &Path,
        compressed: bool,
        content: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<(NamedTempFile, PathBuf)> {
        // A link keeps pointing where it points; its target is replaced.
        let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        // The permissions of the older file, or those of any new file.
        let mode = std::fs::metadata(&target).map_or(0o666, |there| there.permissions().mode());
        let file = tempfile::Builder::new()
            .prefix(".sparsec-")
            .permissions(Permissions::from_mode(mode & 0o777))
            .tempfile_in(folder)?;
        Self::fill(file.as_file().try_clone()?, compressed, content)?;
        Ok((file, target))
    }

    fn fill(
        file: File,
        compressed: bool,
        content: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        let file = BufWriter::with_capacity(1 << 16, file);
        let sink = match compressed {
            true => Sink::Compressed(GzEncoder::new(file, Compression::default())),
            false => Sink::Plain(file),
        };
        let mut output = Self { sink };
        content(&mut output)?;
        match output.sink {
            Sink::Plain(mut file) => file.flush(),
            Sink::Compressed(encoder) => encoder.finish()?.flush(),
        }
    }

    /// Appends bytes.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.sink {
            Sink::Plain(file) => file.write_all(bytes),
            Sink::Compressed(encoder) => encoder.write_all(bytes),
        }
    }
}

/// Refuses a tensor whose entries that are not stored would read back as zero.
pub(crate) fn check_fill(tensor: &Tensor) -> Result<()> {
    if tensor.fill().is_zero() || tensor.format().is_all_dense() {
        return Ok(());
    }
    Err(Diagnostic::new(
        code::NOT_EXPRESSIBLE_IN_FILE,
        format!("a tensor whose fill is {} cannot be stated", tensor.fill()),
    )
    .note("entries that a `.mtx` or `.tns` file does not state are zero")
    .help("store the tensor in a dense format"))
}

/// Writes the stored entries, one a line, coordinates counted from 1.
pub(crate) fn write_entries(tensor: &Tensor, output: &mut Output) -> io::Result<()> {
    let entries = tensor.entries();
    let mut start = 0;
    while start < entries.len() {
        let end = entries.len().min(start + BATCH);
        let texts = map(ranges(end - start, GRAIN), |range| {
            lines(&entries, start + range.start..start + range.end)
        });
        for text in texts {
            output.put(&text)?;
        }
        start = end;
    }
    Ok(())
}

fn lines(entries: &Entries, range: std::ops::Range<usize>) -> Vec<u8> {
    let mut out = Vec::with_capacity(range.len() * (8 * entries.order() + 12));
    let mut value = String::new();
    for e in range {
        for &coord in entries.coords(e) {
            push_digits(&mut out, coord + 1);
            out.push(b' ');
        }
        value.clear();
        // Writing to a string does not fail.
        let _ = match entries.values.get(e) {
            sparsec_base::Scalar::Bool(truth) => write!(value, "{}", u8::from(truth)),
            scalar => write!(value, "{scalar}"),
        };
        out.extend_from_slice(value.as_bytes());
        out.push(b'\n');
    }
    out
}
